"""Replicates of scores, and the columns that say how uncertain the scores are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from evalframe.resample import intervals
from evalframe.resample.progress import reporter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.replication.uncertainty.sampling import Sample
    from evalframe.resample.draws import Weights
    from evalframe.resample.methods import Bootstrap, Progress

ENTRY = ":entry"
"""Number of a row of the result."""

SPREAD = ("std_error", "lower", "upper", "drop_rate")
"""What stands beside each score, after its name."""

_HELD = 1 << 22
"""Numbers per array in a chunk of replicates."""

_SPARSE = 4
"""A dense product does this many multiplications in the time of one entry of a sparse one."""


class Estimator(Protocol):
    """Scores for any weights of clusters."""

    @property
    def width(self) -> int:
        """Numbers held per replicate."""

    def values(self, weights: Floats) -> dict[str, Floats]:
        """Scores by name, each replicates by entries, from replicates by clusters."""


def replicates(estimator: Estimator, weights: Weights, progress: Progress) -> dict[str, Floats]:
    """The scores of all replicates, each replicates by entries; NaN where undefined."""
    chunk = max(1, min(_HELD // max(estimator.width, weights.held), weights.total))
    parts: list[dict[str, Floats]] = []
    done = 0
    for rows in weights.chunks(chunk):
        parts.append(estimator.values(np.asarray(rows)))
        done += len(rows)
        progress(done, weights.total)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def drawn_scores(method: Bootstrap, sample: Sample, estimator: Estimator) -> dict[str, Floats]:
    """The scores of the replicates of a bootstrap."""
    return replicates(estimator, sample.weights, method.progress or reporter("bootstrap"))


def spreads(
    method: Bootstrap,
    sample: Sample,
    estimator: Estimator,
    drawn: Mapping[str, Floats],
    points: Mapping[str, Floats],
    clusters: Ints,
    owned: Bools | None,
) -> dict[str, intervals.Spread]:
    """The uncertainty of scores, by name.

    Args:
        method: The bootstrap.
        sample: What is drawn.
        estimator: The scores.
        drawn: Those of the replicates.
        points: Their estimates, one for each entry.
        clusters: How many clusters vary in each entry.
        owned: Which clusters each entry has, entries by clusters; for BCa.
    """
    left: dict[str, Floats] = {}
    if method.interval == "bca":
        assert owned is not None
        progress = method.progress or reporter("bootstrap")
        made = replicates(estimator, sample.left_out(), progress)
        left = {name: np.where(owned.T, values, np.nan) for name, values in made.items()}
    return {
        name: spread_of(method, point, drawn[name], left.get(name), clusters)
        for name, point in points.items()
    }


def spread_of(
    method: Bootstrap, point: Floats, drawn: Floats, left: Floats | None, clusters: Ints
) -> intervals.Spread:
    """The uncertainty of one score; none where it has no estimate, or a single cluster."""
    made = intervals.bootstrap_spread(method, point, drawn, left)
    return intervals.without_lone(method, made, np.where(np.isnan(point), 0, clusters))


def with_spreads(
    table: pl.DataFrame,
    spread: Mapping[str, intervals.Spread],
    clusters: Ints,
    bias: Mapping[str, Floats] | None = None,
) -> pl.DataFrame:
    """The table with the uncertainty of each score beside it, and the number of clusters last.

    Args:
        table: Has the scores.
        spread: Their uncertainty.
        clusters: Their number.
        bias: Of the replicates, where it is told.
    """
    columns: list[pl.Series] = []
    for column in table.iter_columns():
        columns.append(column)
        if column.name in spread:
            made = spread[column.name]._asdict()
            if bias is not None:
                made["bias"] = bias[column.name]
            columns += [
                pl.Series(f"{column.name}_{name}", values, dtype=pl.Float64).fill_nan(None)
                for name, values in made.items()
            ]
    return pl.DataFrame([*columns, pl.Series("n_clusters", clusters, dtype=pl.Int64)])


def numbers(column: pl.Series) -> Floats:
    """A column as numbers, null as NaN."""
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def matrix(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """The matrix of these entries, those of one place added up; sparse if most are 0."""
    from scipy import sparse

    made = sparse.csr_array((values, (row, column)), shape=shape)
    return made.toarray() if _SPARSE * made.nnz >= shape[0] * shape[1] else made


def owners(entry: Ints, slot: Ints, entries: int, slots: int) -> Bools:
    """Which clusters each entry has, entries by clusters."""
    made = np.zeros((entries, slots), dtype=np.bool_)
    made[entry, slot] = True
    return made


def varying(cells: pl.DataFrame, sizes: Ints, slot: str, entries: int) -> tuple[Ints, Ints]:
    """How many clusters each entry has, and how many of them could have been others.

    Args:
        cells: Cells that count, with `:entry` and the slot.
        sizes: Of each slot, how many clusters there are in its stratum.
        slot: Name of that column.
        entries: How many entries there are.
    """
    known = cells.select(ENTRY, slot).unique()
    entry, place = (known[name].to_numpy().astype(np.int64) for name in (ENTRY, slot))
    count = np.bincount(entry, minlength=entries)
    # Where each cluster is alone in its stratum it is always drawn.
    free = np.bincount(entry, sizes[place] > 1, minlength=entries)
    return count, np.where(free > 0, count, np.minimum(count, 1))
