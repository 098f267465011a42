"""Run documents to item tables, against `json.load` of the same file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Figure, against, peak_mebibytes
from evalframe.compat.ai_psychiatrist import read_run, write_run
from evalframe.selective.signals import SIGNALS
from evalframe.selective.total_score import ITEM_NAMES

_IMPORTS = "import json, pathlib; from evalframe.compat.ai_psychiatrist import read_run"
_OURS = "{imports}; read_run({path!r}, mode='few_shot')"
_THEIRS = "{imports}; json.load(pathlib.Path({path!r}).open())"
_SAID = "asked about sleep the participant says that it is hard to tell since last winter"


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 5
    size = 300_000 if small else 100_000_000
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        for kind, modes, texts in (
            ("numbers only", ["few_shot"], False),
            ("texts", ["few_shot"], True),
            ("texts, 2 modes", ["zero_shot", "few_shot"], True),
        ):
            write_document(path, size, modes, texts=texts)
            megabytes = path.stat().st_size / 1e6
            figures.append(reading(f"read_run, {megabytes:.0f} MB, {kind}", path, rounds))
        items = read_run(path, mode="few_shot")
        name = f"write_run, {len(items):,} items"
        figures.append(
            against(name, lambda: write_run(items, path, mode="few_shot"), rounds=rounds)
        )
    return figures


def reading(name: str, path: Path, rounds: int) -> Figure:
    """The whole of `read_run`, into a table; and the peak memory of both."""
    figure = against(
        name,
        lambda: read_run(path, mode="few_shot"),
        lambda: load(path),
        called="json.load",
        within=2.0,
        rounds=rounds,
    )
    ours, theirs = (
        peak_mebibytes(code.format(imports=_IMPORTS, path=str(path))) for code in (_OURS, _THEIRS)
    )
    note = f"peak memory {ours:,.0f} MiB, json.load {theirs:,.0f} MiB"
    return replace(figure, note=note)


def load(path: Path) -> Any:
    """What bounds it in the original."""
    with path.open(encoding="utf-8") as file:
        return json.load(file)


def write_document(path: Path, size: int, modes: list[str], *, texts: bool) -> None:
    """A run document of about `size` bytes: eight items of ten signals per participant."""
    rng = np.random.default_rng(0)
    one = len(json.dumps(next(entries(rng, 1, texts=texts))))
    experiments = [
        {
            "provenance": {"mode": mode},
            "results": {
                "mode": mode,
                "results": list(entries(rng, max(1, size // one // len(modes)), texts=texts)),
            },
        }
        for mode in modes
    ]
    metadata = {"run_id": "benchmark", "git_commit": "0"}
    path.write_text(json.dumps({"run_metadata": metadata, "experiments": experiments}))


def entries(
    rng: np.random.Generator, participants: int, *, texts: bool
) -> Iterator[dict[str, Any]]:
    """Successful entries: half the items abstained, a tenth of the similarities null."""
    quotes = [" ".join(rng.choice(_SAID.split(), size=60)) for _ in range(100)]
    each = len(ITEM_NAMES)
    for participant in range(participants):
        grades = rng.integers(0, 4, (2, each)).tolist()
        answered, lacking = rng.random(each) < 0.5, rng.random(each) < 0.1
        floats = rng.random((each, len(SIGNALS))).round(4).tolist()
        signals = [dict(zip(SIGNALS, row, strict=True)) for row in floats]
        for item, signal in enumerate(signals):
            signal["llm_evidence_count"] = int(6 * signal["llm_evidence_count"])
            signal["verbalized_confidence"] = 1 + int(5 * signal["verbalized_confidence"])
            if lacking[item]:
                signal["retrieval_similarity_mean"] = None
            if texts:
                signal["reasoning"] = quotes[(participant + item) % 100]
        entry = {
            "participant_id": 300 + participant,
            "success": True,
            "ground_truth_items": dict(zip(ITEM_NAMES, grades[0], strict=True)),
            "predicted_items": {
                name: grade if known else None
                for name, grade, known in zip(ITEM_NAMES, grades[1], answered, strict=True)
            },
            "item_signals": dict(zip(ITEM_NAMES, signals, strict=True)),
        }
        if texts:
            entry["evidence"] = {
                name: [quotes[(participant + place) % 100], quotes[place][:90]]
                for place, name in enumerate(ITEM_NAMES)
            }
        yield entry
