"""Other packages beside us: their time, ours, and how far the numbers lie apart.

What is not installed is left out. For all of them:

    pip install polarbearings scikit-learn evalstats inspect_ai matplotlib 'numpy<2.4'

fd-shifts is on no registry: the variable FD_SHIFTS is the folder of its checkout at c4467ae.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks import expressions
from benchmarks.logs import deflated
from benchmarks.measure import Figure, against

_Numbers = Callable[[], Any]
_Row = tuple[str, _Numbers, _Numbers]
"""What is computed, by us, by the other package: the same numbers in the same order."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    return [
        against(
            what, ours, theirs, called=package, rounds=1 if small else 5, note=_apart(ours, theirs)
        )
        for package, rows in _PEERS.items()
        if _is_here(package)
        for what, ours, theirs in rows(small)
    ]


def report(*, small: bool) -> str:
    """The table of all packages that are here, in Markdown."""
    lines = [
        "| package | what | there | here | times | numbers differ by |",
        "|---|---|---|---|---|---|",
    ]
    for f in run(small):
        assert f.seconds is not None
        assert f.limit_seconds is not None
        assert f.ratio is not None
        known = f"{f.limit} {_version(f.limit)}"
        cells = (
            known,
            f.name,
            _told(f.limit_seconds),
            _told(f.seconds),
            f"{1 / f.ratio:.2g}",
            f.note,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _polarbearings(small: bool) -> Iterator[_Row]:
    frame = expressions.rows(1_000 if small else 1_000_000, 100)
    for name, pair in expressions.pairs().items():
        mine, other = (
            partial(
                lambda expr: frame.group_by("group").agg(expr.alias("x")).sort("group")["x"], each
            )
            for each in pair
        )
        yield f"{name} of 100 groups, {len(frame):,} rows", mine, other


def _scikit_learn(small: bool) -> Iterator[_Row]:
    metrics = importlib.import_module("sklearn.metrics")
    frame = expressions.rows(1_000 if small else 1_000_000, 100).with_columns(
        pl.col("correct") == 1
    )
    right, chance, group = (frame[name].to_numpy() for name in ("correct", "chance", "group"))
    whole = {
        "AUROC": (ef.auroc("chance", "correct"), metrics.roc_auc_score),
        "Brier score": (ef.brier_score("chance"), metrics.brier_score_loss),
        "log loss": (ef.negative_log_likelihood("chance"), metrics.log_loss),
    }
    for name, (mine, other) in whole.items():
        yield (
            f"{name}, {len(frame):,} rows",
            partial(frame.select, mine),
            partial(other, right, chance),
        )

    def by_group() -> list[float]:
        return [metrics.roc_auc_score(right[group == g], chance[group == g]) for g in range(100)]

    metric = ef.auroc("chance", "correct")
    yield (
        f"AUROC of 100 groups, {len(frame):,} rows",
        lambda: frame.group_by("group").agg(metric).sort("group").drop("group"),
        by_group,
    )


def _evalstats(small: bool) -> Iterator[_Row]:
    peer = importlib.import_module("evalstats")
    systems, items, draws = (3, 50, 100) if small else (10, 500, 10_000)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(systems, items)) + rng.normal(size=items)
    names = [f"{number:02}" for number in range(systems)]
    frame = pl.DataFrame(
        {
            "system": np.repeat(names, items),
            "item": np.tile(np.arange(items), systems),
            "score": scores.ravel(),
        }
    )
    drawn = ef.Bootstrap(cluster="item", n=draws, seed=0)

    def ours() -> Any:
        pairs = ef.compare(frame, ef.mean("score"), between="system", resample=drawn)
        return pairs.sort("left", "right")["delta"]

    def theirs() -> list[float]:
        found = peer.all_pairwise(
            scores, names, method="bootstrap", n_bootstrap=draws, rng=np.random.default_rng(0)
        )
        return [-found.results[pair].point_diff for pair in sorted(found.results)]

    yield f"all pairs of {systems} systems, {items} items, {draws:,} draws", ours, theirs


def _inspect(small: bool) -> Iterator[_Row]:
    read = importlib.import_module("inspect_ai.analysis").samples_df
    samples = 200 if small else 20_000
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "one.eval")
        path.write_bytes(deflated(ef.logs.sample_log(samples=samples, epochs=1)))
        yield (
            f"a log of {samples:,} samples, how many are read",
            lambda: [ef.read_inspect(path).collect()["sample_id"].n_unique()],
            lambda: [len(read(str(path), quiet=True))],
        )


def _fd_shifts(small: bool) -> Iterator[_Row]:
    """The two files that are needed; the whole package wants PyTorch."""
    folder = types.ModuleType("fd_shifts_analysis")
    folder.__path__ = [str(Path(os.environ["FD_SHIFTS"], "fd_shifts", "analysis"))]
    sys.modules[folder.__name__] = folder
    peer = importlib.import_module(f"{folder.__name__}.rc_stats").RiskCoverageStats
    for items, draws in ((100, 0), (50, 10)) if small else ((100_000, 0), (1_000, 500)):
        frame = expressions.rows(items, 1).select("chance", loss=1 - pl.col("correct"))
        arrays = {"confids": frame["chance"].to_numpy(), "residuals": frame["loss"].to_numpy()}
        metrics = [
            metric(loss="loss", confidence="chance", convention="trapezoid_predicted")
            for metric in (ef.aurc, ef.augrc)
        ]
        drawn = ef.Bootstrap(n=draws, seed=0) if draws else None

        def theirs(arrays: Any = arrays, draws: int = draws) -> list[float]:
            stats = peer(**arrays)
            for risk in ("selective-risk", "generalized-risk") if draws else ():
                stats.evaluate_ci(risk=risk, n_bs=draws)
            return [stats.aurc / 1_000, stats.augrc / 1_000]

        yield (
            f"AURC and AUGRC of {items:,} items" + (f", {draws:,} draws" if draws else ""),
            partial(_estimates, frame, metrics, drawn),
            theirs,
        )


def _estimates(frame: pl.DataFrame, metrics: Any, drawn: Any) -> Any:
    return ef.evaluate(frame, metrics, resample=drawn)["estimate"]


_PEERS: dict[str, Callable[[bool], Iterator[_Row]]] = {
    "polarbearings": _polarbearings,
    "scikit-learn": _scikit_learn,
    "evalstats": _evalstats,
    "inspect_ai": _inspect,
    "fd-shifts": _fd_shifts,
}


def _is_here(package: str) -> bool:
    if package == "fd-shifts":
        return "FD_SHIFTS" in os.environ
    return find_spec({"scikit-learn": "sklearn"}.get(package, package)) is not None


def _version(package: str) -> str:
    return "c4467ae" if package == "fd-shifts" else version(package)


def _told(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1_000 * seconds:.3g} ms"


def _apart(ours: _Numbers, theirs: _Numbers) -> str:
    """The largest difference."""
    mine, other = (np.asarray(each(), dtype=float).ravel() for each in (ours, theirs))
    assert mine.shape == other.shape
    worst = float(np.nanmax(np.abs(mine - other)))  # a metric that is undefined is NaN there
    return "nothing" if worst == 0 else f"{worst:.0e}"
