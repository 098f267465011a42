"""Prediction files of the original, against `json.loads` of their lines; and rates of labels."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, against
from evalframe.compat import rgb

_DOCUMENTS, _WORDS = 5, 150
"""What a record holds: passages of some 900 characters."""

_RECORDS = 25_000
"""Records of some 5,000 characters: 130 MB."""

_RATES = 1_000_000


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "prediction_en_model_temp0.2_noise0.4_passage5_correct0.0.json")
        lines = records(200 if small else _RECORDS)
        path.write_text("\n".join(lines))
        read = against(
            f"rgb.read, {path.stat().st_size / 1e6:.0f} MB",
            partial(rgb.read, path),
            partial(loaded, path),
            called="json.loads of the lines",
            rounds=rounds,
        )
        doubtful = lines[0].replace("{", '{"id": 0, ', 1)
        path.write_text("\n".join([doubtful, *lines[1:]]))
        exact = against(
            "rgb.read of the same, exactly, as one line repeats a key",
            partial(rgb.read, path),
            partial(loaded, path),
            called="json.loads of the lines",
            rounds=rounds,
            note="one line in doubt sends all files of the call through the standard library",
        )
    labels = labelled(2_000 if small else _RATES)
    keys = ["model", "noise_rate"]
    rates = against(
        f"rates, {len(labels):,} responses, {labels.select(keys).n_unique()} groups",
        lambda: ef.rag.rates(labels, by=keys),
        lambda: labels.lazy().group_by(keys).agg(pl.col("label").list.first().mean()).collect(),
        called="one mean of each group",
        rounds=rounds,
    )
    return [read, exact, rates]


def records(count: int, seed: int = 0) -> list[str]:
    """Lines with a question, its answers, five passages and a response."""
    rng = np.random.default_rng(seed)
    words = [f"{a}{b}" for a in ("Ra", "no", "mi", "Tel") for b in ("kor", "sa", "ven", '"Lu"')]
    passages = [" ".join(rng.choice(words, _WORDS)) for _ in range(500)]
    drawn = rng.integers(0, len(passages), (count, _DOCUMENTS + 1)).tolist()
    return [
        json.dumps(
            {
                "id": place,
                "query": "Which of them is it?",
                "ans": [["Rano", "Mikor"], "Telsa"],
                "label": [1, 0],
                "prediction": passages[said][:400],
                "docs": [passages[number] for number in shown],
                "noise_rate": 0.4,
                "factlabel": 0,
            }
        )
        for place, (said, *shown) in enumerate(drawn)
    ]


def loaded(path: Path) -> Sequence[Any]:
    """What bounds it in the original."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def labelled(count: int, seed: int = 0) -> pl.DataFrame:
    """Labels of 24 models at five noise rates."""
    rng = np.random.default_rng(seed)
    place = pl.int_range(count)
    made = pl.select(
        model=pl.format("model-{}", place % 24),
        dataset=pl.lit("en"),
        noise_rate=place // 24 % 5 / 5,
        id=place // 120,
    )
    return made.with_columns(
        label=pl.Series(rng.integers(-1, 2, (count, 1)).astype(np.int8)).arr.to_list(),
        factlabel=pl.Series(rng.integers(0, 2, count).astype(np.int8)),
    )
