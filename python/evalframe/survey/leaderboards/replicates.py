"""Bootstrap of leaderboards: all models of a leaderboard see the same draws of clusters.

A replicate is one more weight. Where each unit of the last mean (a segment of an overall
leaderboard) lies in one cluster, the draws change the weight of units; where clusters cut through
units (questions do), the means within them. Either way replicates are products of the draws with a
sparse table of sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.resample import draws, intervals
from evalframe.resample.ranks import RANKS, rank_columns, rank_limits
from evalframe.survey.leaderboards.leaderboard import CLUSTER, MASS, SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.draws import Weights
    from evalframe.resample.methods import Bootstrap

_HELD = 1 << 24
_GROUP, _ENTRY, _UNIT, _PLACE, _WHOLE = ":group", ":entry", ":unit", ":place", ":whole"


class Sums(NamedTuple):
    """Sums of one pool of leaderboards, which share their draws.

    Attributes:
        total: Sum of scores by unit and cluster, sparse.
        count: Number of items, likewise.
        owner: Weights of units by entry, sparse.
        whole: Whether each unit lies in one cluster.
    """

    total: Any
    count: Any
    owner: Any
    whole: bool


def with_spread(
    method: Bootstrap,
    table: pl.DataFrame,
    detail: pl.LazyFrame,
    group: Sequence[str],
    unit: Sequence[str] | None,
) -> pl.DataFrame:
    """A leaderboard with intervals of scores and ranks.

    Args:
        method: The bootstrap.
        table: The leaderboard, sorted.
        detail: The items behind it, with `:cluster`, `:size` and `:mass`.
        group: What names a leaderboard among several.
        unit: What is averaged last; None for items.

    Raises:
        ParameterError: There are no items, a cluster is null, or all leaderboards have one alone.
    """
    cells = _cells(detail, group, unit)
    if not len(cells):
        raise ParameterError(
            "leaderboard: there is nothing to resample, as no item has a score (or a sample size,"
            " if weighted by that)"
        )
    numbered = table.with_row_index(_ENTRY)
    if group:
        numbered = numbered.with_columns(pl.struct(group).rank("dense").alias(_GROUP) - 1)
    else:
        numbered = numbered.with_columns(pl.lit(0, dtype=pl.UInt32).alias(_GROUP))
    on = [*group, "model"]
    cells = cells.join(numbered.select(*on, _ENTRY, _GROUP), on=on, nulls_equal=True)
    if cells[CLUSTER].null_count():
        raise ParameterError(
            "leaderboard: the cluster of the bootstrap is null in "
            f"{cells[CLUSTER].null_count():,} sums of items; fill it in, or drop these rows"
        )
    leaderboards = numbered[_GROUP].to_numpy().astype(np.int64)
    return _filled(method, table, leaderboards, _with_whole(cells, unit))


def _cells(detail: pl.LazyFrame, group: Sequence[str], unit: Sequence[str] | None) -> pl.DataFrame:
    """Sums of items by entry, unit and cluster; a unit of items is each of their clusters."""
    names = list(dict.fromkeys([*group, "model", *(unit or [])]))
    mass, size = pl.col(MASS), pl.col(SIZE)
    sums = detail.group_by([*names, CLUSTER]).agg(
        total=(pl.col("score") * mass).sum(),
        count=mass.sum(),
        size=size.sum(),
        sized=size.count(),
    )
    cells = sums.collect()
    if unit is None:
        # The mean of items: a cluster weighs as many items as it has.
        return cells.with_row_index(_UNIT).with_columns(size="count")
    numbers = pl.struct(names).rank("dense").cast(pl.UInt32) - 1
    mean_size = pl.col("size").sum().over(_UNIT) / pl.col("sized").sum().over(_UNIT)
    cells = cells.with_columns(numbers.alias(_UNIT)).with_columns(size=mean_size)
    return cells.filter(pl.col("size").is_finite())


def _with_whole(cells: pl.DataFrame, unit: Sequence[str] | None) -> pl.DataFrame:
    """Whether each unit of a leaderboard lies in one cluster, whatever the model, in `:whole`."""
    if unit is None:
        return cells.with_columns(pl.lit(value=True).alias(_WHOLE))
    parts = cells.lazy().group_by(_GROUP, *unit).agg(pl.col(CLUSTER).n_unique())
    is_whole = (pl.col(CLUSTER).max() == 1).alias(_WHOLE)
    return cells.join(parts.group_by(_GROUP).agg(is_whole).collect(), on=_GROUP)


def _filled(
    method: Bootstrap, table: pl.DataFrame, group: Ints, cells: pl.DataFrame
) -> pl.DataFrame:
    clusters = cells.select(_GROUP, CLUSTER).unique().sort(_GROUP, CLUSTER)
    apart = method.draws != "poisson"
    place = pl.col(CLUSTER).rank("dense")
    place = (place.over(_GROUP) if apart else place).cast(pl.Int64) - 1
    clusters = clusters.with_columns(place.alias(_PLACE))
    sizes = clusters.group_by(_GROUP).len("n_clusters").sort(_GROUP)
    if method.rules == "documented" and not (sizes["n_clusters"] > 1).any():
        raise ParameterError(
            "leaderboard: a bootstrap needs two clusters, but no leaderboard has more than one of "
            f"{str(method.cluster)!r}; name another cluster"
        )
    cells = cells.join(clusters, on=[_GROUP, CLUSTER]).join(sizes, on=_GROUP)
    made = {name: np.full(len(table), np.nan) for name in (*_SCORE, *RANKS)}
    n_clusters = np.zeros(len(table), dtype=np.int64)
    own = cells.group_by(_ENTRY).agg(pl.col(CLUSTER).n_unique())
    n_clusters[own[_ENTRY].to_numpy()] = own[CLUSTER].to_numpy()
    pool = pl.col("n_clusters") if apart else pl.lit(0)
    points = table["score"].to_numpy()
    for _, same in cells.group_by(pool, maintain_order=True):
        _pool(method, same, Entries(points, group, n_clusters), made)
    columns = [pl.Series(name, made[name]).fill_nan(None) for name in _SCORE]
    columns.insert(3, pl.Series("n_clusters", n_clusters))
    return table.with_columns(*columns, *rank_columns(made))


_SCORE = ("std_error", "lower", "upper", "drop_rate")


class Entries(NamedTuple):
    """The entries of all leaderboards.

    Attributes:
        score: The score of each.
        group: The leaderboard of each.
        clusters: How many clusters have items of each.
    """

    score: Floats
    group: Ints
    clusters: Ints


def _pool(
    method: Bootstrap, cells: pl.DataFrame, entries: Entries, made: dict[str, Floats]
) -> None:
    """Fill in the columns of leaderboards that share their draws, some of them at a time."""
    ids = cells.select(_PLACE, CLUSTER).unique(subset=_PLACE).sort(_PLACE)[CLUSTER]
    units = cells.group_by(_GROUP).agg(pl.col(_UNIT).n_unique().alias("units")).sort(_GROUP)
    batch = (units["units"].cum_sum() * max(method.n, len(ids)) // _HELD).to_frame("batch")
    cells = cells.join(pl.concat([units, batch], how="horizontal"), on=_GROUP)
    for (_, whole), part in cells.group_by("batch", _WHOLE, maintain_order=True):
        sums, here = _sums(part, len(ids), whole=bool(whole))
        group, score = entries.group[here], entries.score[here]
        drawn = replicates(sums, draws.bootstrap_weights(method, ids))
        jackknife = None
        if method.interval == "bca":
            jackknife = replicates(sums, _left_out(len(ids)))
        spread = intervals.bootstrap_spread(method, score, drawn, jackknife)
        spread = intervals.without_lone(method, spread, entries.clusters[here])
        found = {name: getattr(spread, name) for name in _SCORE}
        found |= rank_limits(score, drawn, group, method.level, entries.clusters[here])
        for name, values in found.items():
            made[name][here] = values


def _sums(cells: pl.DataFrame, clusters: int, *, whole: bool) -> tuple[Sums, Ints]:
    from scipy import sparse

    entries, entry = np.unique(cells[_ENTRY].to_numpy(), return_inverse=True)
    units, first, unit = np.unique(cells[_UNIT].to_numpy(), return_index=True, return_inverse=True)
    place = cells[_PLACE].to_numpy()
    shape = (len(units), clusters)
    total = sparse.csr_array((cells["total"].to_numpy(), (unit, place)), shape=shape)
    count = sparse.csr_array((cells["count"].to_numpy(), (unit, place)), shape=shape)
    owned = (cells["size"].to_numpy()[first], (entry[first], np.arange(len(units))))
    owner = sparse.csr_array(owned, shape=(len(entries), len(units)))
    return Sums(total, count, owner, whole), entries


def replicates(sums: Sums, weights: Weights) -> Floats:
    """Scores of replicates by entries, NaN where nothing was drawn.

    Args:
        sums: What is weighted.
        weights: Of clusters, in chunks of replicates.
    """
    chunk = max(1, _HELD // max(sums.total.shape[0], weights.held))
    return np.concatenate([_weighted(sums, np.asarray(rows)) for rows in weights.chunks(chunk)])


def _weighted(sums: Sums, drawn: Floats) -> Floats:
    if sums.whole:
        means = np.asarray(sums.total.sum(axis=1)) / np.asarray(sums.count.sum(axis=1))
        # A unit lies in one cluster, so each of its rows holds a single entry.
        inside = sums.count.copy()
        inside.data[:] = 1.0
        top = (sums.owner * means[None, :]) @ inside @ drawn.T
        bottom = sums.owner @ inside @ drawn.T
    else:
        counts = sums.count @ drawn.T
        known = counts > 0
        means = np.divide(sums.total @ drawn.T, counts, out=np.zeros_like(counts), where=known)
        top, bottom = sums.owner @ means, sums.owner @ known.astype(np.float64)
    means = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)
    return np.asarray(means.T, dtype=np.float64)


def _left_out(clusters: int) -> Weights:
    def rows(chunk: int) -> Iterator[Floats]:
        for first in range(0, clusters, chunk):
            size = min(chunk, clusters - first)
            yield 1.0 - np.eye(size, clusters, first)

    return draws.Weights(clusters, clusters, rows)
