"""Bootstrap of leaderboards: all models of a leaderboard see the same draws of clusters.

A replicate is one more weight. Clusters that are made of whole units of the last mean (segments of
an overall leaderboard) change the weight of these; others (questions) change the means within them.
Either way replicates are products of the draws with a sparse table of sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.resample import draws, intervals
from evalframe.survey.leaderboards.leaderboard import CLUSTER
from evalframe.survey.leaderboards.ranks import rank_intervals, rank_sets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.draws import Weights
    from evalframe.resample.methods import Bootstrap

_HELD = 1 << 24
_GROUP, _ENTRY, _UNIT, _PLACE = ":group", ":entry", ":unit", ":place"


class Sums(NamedTuple):
    """Sums of one pool of leaderboards, which share their draws.

    Attributes:
        total: Sum of scores by unit and cluster, sparse.
        count: Number of items, likewise.
        owner: Weights of units by entry, sparse.
        whole: Whether clusters are made of whole units.
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
        detail: The items behind it, with `:cluster` and `:size`.
        group: What names a leaderboard among several.
        unit: What is averaged last; None for items.

    Raises:
        ParameterError: A cluster is null, or all leaderboards have a single one.
    """
    cells = _cells(detail, [*group, "model"], unit)
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
    whole = unit is None or {*_roots(method)} <= {*unit}
    return _filled(method, table, numbered[_GROUP].to_numpy().astype(np.int64), cells, whole=whole)


def _roots(method: Bootstrap) -> list[str]:
    from evalframe.core.rows import as_expr

    return as_expr(method.cluster).meta.root_names()


def _cells(detail: pl.LazyFrame, entry: Sequence[str], unit: Sequence[str] | None) -> pl.DataFrame:
    """Sums of items by entry, unit and cluster; a unit of items is each of their clusters."""
    names = list(dict.fromkeys([*entry, *(unit or [])]))
    sums = detail.group_by([*names, CLUSTER]).agg(
        total=pl.col("score").sum(), count=pl.len().cast(pl.Float64), size=pl.col(":size").sum()
    )
    cells = sums.collect()
    if unit is None:
        # The mean of items: a cluster weighs as many items as it has.
        return cells.with_row_index(_UNIT).with_columns(size=pl.col("count"))
    numbers = pl.struct(names).rank("dense").cast(pl.UInt32) - 1
    mean_size = pl.col("size").sum().over(_UNIT) / pl.col("count").sum().over(_UNIT)
    return cells.with_columns(numbers.alias(_UNIT)).with_columns(size=mean_size)


def _filled(
    method: Bootstrap, table: pl.DataFrame, group: Ints, cells: pl.DataFrame, *, whole: bool
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
    made = {name: np.full(len(table), np.nan) for name in (*_SCORE, *_RANKS)}
    n_clusters = np.zeros(len(table), dtype=np.int64)
    n_clusters[cells[_ENTRY].to_numpy()] = cells["n_clusters"].to_numpy()
    pool = pl.col("n_clusters") if apart else pl.lit(0)
    points = table["score"].to_numpy()
    for _, same in cells.group_by(pool, maintain_order=True):
        _pool(method, same, points, group, made, whole=whole)
    columns = [pl.Series(name, made[name]).fill_nan(None) for name in _SCORE]
    columns.insert(3, pl.Series("n_clusters", n_clusters))
    ranks = [pl.Series(name, made[name]).fill_nan(None).cast(pl.Int64) for name in _RANKS]
    tied = (ranks[2] == 1).alias("tied_with_best")
    return table.with_columns(*columns, *ranks, tied)


_SCORE = ("std_error", "lower", "upper", "drop_rate")
_RANKS = ("rank_lower", "rank_upper", "rank_set_lower", "rank_set_upper")


def _pool(
    method: Bootstrap,
    cells: pl.DataFrame,
    points: Floats,
    group: Ints,
    made: dict[str, Floats],
    *,
    whole: bool,
) -> None:
    """Fill in the columns of leaderboards that share their draws, some of them at a time."""
    ids = cells.select(_PLACE, CLUSTER).unique(subset=_PLACE).sort(_PLACE)[CLUSTER]
    units = cells.group_by(_GROUP).agg(pl.col(_UNIT).n_unique().alias("units")).sort(_GROUP)
    batch = (units["units"].cum_sum() * max(method.n, len(ids)) // _HELD).to_frame("batch")
    cells = cells.join(pl.concat([units, batch], how="horizontal"), on=_GROUP)
    for _, part in cells.group_by("batch", maintain_order=True):
        sums, entries = _sums(part, whole=whole)
        drawn = replicates(sums, draws.bootstrap_weights(method, ids))
        jackknife = None
        if method.interval == "bca":
            jackknife = replicates(sums, _left_out(len(ids)))
        spread = intervals.bootstrap_spread(method, points[entries], drawn, jackknife)
        lone = np.repeat(len(ids), len(entries))
        spread = intervals.without_lone(method, spread, lone)
        for name in _SCORE:
            made[name][entries] = getattr(spread, name)
        if len(ids) < 2:
            continue
        made["rank_lower"][entries], made["rank_upper"][entries] = rank_intervals(
            drawn, group[entries], method.level
        )
        made["rank_set_lower"][entries], made["rank_set_upper"][entries] = rank_sets(
            points[entries], drawn, group[entries], method.level
        )


def _sums(cells: pl.DataFrame, *, whole: bool) -> tuple[Sums, Ints]:
    from scipy import sparse

    entries, entry = np.unique(cells[_ENTRY].to_numpy(), return_inverse=True)
    units, first, unit = np.unique(cells[_UNIT].to_numpy(), return_index=True, return_inverse=True)
    place = cells[_PLACE].to_numpy()
    shape = (len(units), int(place.max()) + 1)
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
