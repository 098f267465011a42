"""Labelling responses: strictly, against a Python loop; leniently, against strictly."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, against, memory
from evalframe.rag.sample.responses import sample_responses

if TYPE_CHECKING:
    from evalframe.core.choices import LabelMode


_AT_MOST = 6.5 / 8
"""An eighth of what the original takes for a million answers."""

_WITHIN = 6
"""Times the strict labels that lenient ones may take, all their columns included."""

_IMPORTS = "import pathlib; from benchmarks.labelling import labelled"

_WORDS = 49
"""Words of a response, of some eight characters each with the space."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    frame = responses(2_000 if small else 1_000_000)
    others = {
        "with accents, all aliases missed": missed(2_000 if small else 200_000),
        "of the sample": sample(2_000 if small else 200_000),
    }
    rounds = 1 if small else 5
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder, "responses.parquet"), Path(folder, "others.parquet")
        frame.write_parquet(path)
        figures = [
            against(
                f"label, {len(frame):,} responses from Parquet, 3 aliases",
                partial(labelled, path),
                partial(loop, frame["response"].to_list(), frame["answers"].to_list()),
                called="a loop over them in memory",
                at_most=_AT_MOST,
                rounds=min(rounds, 3),
            ),
            _peak("strict", path, frame, small, within=3.0),
            _lenient(f"of the same {len(frame):,} responses", path, rounds),
            _peak("lenient", path, frame, small),
        ]
        for told, responses_of_kind in others.items():
            responses_of_kind.write_parquet(other)
            figures.append(_lenient(f"{len(responses_of_kind):,} {told}", other, rounds))
        return figures


def _lenient(told: str, path: Path, rounds: int) -> Figure:
    return against(
        f"lenient labels, {told}",
        partial(labelled, path, mode="lenient"),
        partial(labelled, path),
        called="strict labels",
        within=_WITHIN,
        rounds=rounds,
    )


def _peak(
    mode: LabelMode, path: Path, frame: pl.DataFrame, small: bool, within: float | None = None
) -> Figure:
    """Memory is held against the texts alone."""
    return memory(
        f"peak memory of {mode} labels, the whole process",
        f"{_IMPORTS}; labelled(pathlib.Path({str(path)!r}), {mode!r})",
        float(frame["response"].str.len_bytes().sum()) / 2**20,
        called="the texts",
        within=within,
        small=small,
    )


def responses(count: int, seed: int = 0) -> pl.DataFrame:
    """Responses of some 400 characters with three aliases each, found in a fifth of them."""
    rng = np.random.default_rng(seed)
    syllables = ["Ra", "no", "mi", "Tel", "kor", "sa", "ven", "Lu"]
    words = pl.Series([a + b + c for a in syllables for b in syllables for c in syllables])
    names = [f"w{k}" for k in range(_WORDS)]
    frame = pl.DataFrame({name: words.gather(rng.integers(0, len(words), count)) for name in names})
    hidden = pl.when(pl.int_range(pl.len()) % 5 == 0).then(pl.lit("")).otherwise(pl.lit("x"))
    aliases = [pl.concat_str(pl.col(f"w{3 * k}") + " ", f"w{3 * k + 1}", hidden) for k in range(3)]
    return frame.select(
        dataset=pl.lit("en"),
        response=pl.concat_str(names, separator=" "),
        answers=pl.concat_list(aliases).reshape((-1, 1, 3)).cast(pl.List(pl.List(pl.String))),
    )


def missed(count: int) -> pl.DataFrame:
    """Such responses with accents in about a third of the words, of which no alias is found."""
    accents = pl.col("response").str.replace_many(
        ["ano", "eno", "ra", "sa"], ["áno", "éno", "rà", "sâ"]
    )
    nowhere = pl.element().list.eval(pl.element() + "x")
    return responses(count).with_columns(accents, pl.col("answers").list.eval(nowhere))


def sample(count: int) -> pl.DataFrame:
    """Responses with the troubles of real ones, repeated."""
    said = sample_responses().select("dataset", "response", "answers")
    return said.select(pl.all().gather(pl.int_range(count) % pl.len()))


def labelled(path: Path, mode: LabelMode = "strict") -> pl.DataFrame:
    """All columns of labels, streamed."""
    scan = pl.scan_parquet(path)
    made = ef.rag.label(scan, mode=mode).drop(scan.collect_schema().names())
    return made.collect(engine="streaming")


def loop(texts: Sequence[str], answers: Sequence[Sequence[Sequence[str]]]) -> list[list[int]]:
    """The same rules, response by response."""
    labels = []
    for text, groups in zip(texts, answers, strict=True):
        _flag = "factual errors" in text or "事实性错误" in text
        if "insufficient information" in text or "信息不足" in text:
            labels.append([-1])
            continue
        lower = text.lower()
        labels.append([int(any(a.lower() in lower for a in group)) for group in groups])
    return labels
