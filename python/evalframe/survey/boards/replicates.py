"""Bootstrap of leaderboards, with the same draws of clusters for all models of a leaderboard.

A score is a metric of units: the mean over segments, or questions, of their mean scores. Draws of
clusters in which units lie change the weights of units; draws of clusters that cut through units,
as questions do, change the means within them (see `resample.levels`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.per import per
from evalframe.resample.entries import (
    SPREAD,
    Entries,
    Ranking,
    entry_spreads,
    unknown,
)
from evalframe.resample.ranks import rank_columns
from evalframe.standard.summaries import mean
from evalframe.survey.boards.rows import CLUSTER, MASS, SIZE

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.resample.methods import Bootstrap


_BOARD, _ENTRY, _WHOLE = "leaderboard", ":entry", ":whole"


class Units(NamedTuple):
    """What the scores of a table are computed from.

    Attributes:
        items: Items with `score`, `:cluster`, `:size` and `:mass`.
        group: Columns that identify a leaderboard, whose entries have the same draws.
        unit: Columns of the units that are averaged last; none for items.
        fixed: True if units are all there are.
    """

    items: pl.LazyFrame
    group: Sequence[str]
    unit: Sequence[str]
    fixed: bool

    @property
    def columns(self) -> list[str]:
        """Columns that identify a unit, which is one of its leaderboard, for all models."""
        return [*([_BOARD] if self.group else []), *self.unit]

    def metric(self, *, is_sized: bool, then: MetricExpr | None = None) -> MetricExpr:
        """The metric over units, by default their mean, of the means of their items."""
        within = mean("score", weight=MASS)
        if not self.unit:
            return within
        weight = SIZE if is_sized else None
        return per(self.columns, within, weight=weight, then=then, fixed=self.fixed)


def with_spread(method: Bootstrap, table: pl.DataFrame, units: Units) -> pl.DataFrame:
    """Add intervals of scores and ranks to a sorted leaderboard."""
    entries = _entries(method, table, units, [*units.group, "model"], "score", ranked=True)
    return table.with_columns(*_columns(entries, "score"), *rank_columns(entries.ranks))


def with_errors(
    method: Bootstrap,
    table: pl.LazyFrame,
    units: Units,
    entry: Sequence[str],
    then: MetricExpr,
) -> pl.LazyFrame:
    """Add intervals of a column of a table, a metric over units named as the column is."""
    name, collected = then.bound.name, table.collect()
    entries = _entries(method, collected, units, entry, name, then=then)
    return collected.with_columns(_columns(entries, name)).lazy()


def _columns(entries: Entries, name: str) -> list[pl.Series]:
    """Columns of the result."""
    columns = [pl.Series(n, v).fill_nan(None) for n, v in entries.spread[name]._asdict().items()]
    columns.insert(SPREAD.index("drop_rate"), pl.Series("n_clusters", entries.counts))
    return columns


def _entries(
    method: Bootstrap,
    table: pl.DataFrame,
    units: Units,
    entry: Sequence[str],
    name: str,
    *,
    then: MetricExpr | None = None,
    ranked: bool = False,
) -> Entries:
    """Spreads of the rows of a table, each identified by `entry`."""
    numbered = table.with_row_index(_ENTRY)
    board = pl.struct(units.group).rank("dense") - 1 if units.group else pl.lit(0)
    numbered = numbered.with_columns(board.cast(pl.UInt32).alias(_BOARD))
    items = _items(numbered.select(*entry, _ENTRY, _BOARD), units)
    _check_clusters(method, items)
    # Poisson draws are by the text of a cluster, others by its rank.
    if items.schema[CLUSTER] == pl.String and method.draws != "poisson":
        items = items.with_columns(pl.col(CLUSTER).cast(pl.Categorical))
    boards = numbered[_BOARD].to_numpy().astype(np.int64)
    entries = unknown([name], len(table), ranked=ranked)
    is_sized = items[SIZE].n_unique() > 1
    # Each leaderboard decides for itself what a draw means.
    for _, rows in items.group_by(_WHOLE):
        spreads = entry_spreads(
            method,
            rows.lazy(),
            [units.metric(is_sized=is_sized, then=then).alias(name)],
            table,
            entry=_ENTRY,
            cluster=pl.col(CLUSTER).alias(str(method.cluster)),
            boards=boards,
            ranking=Ranking(name, boards) if ranked else None,
        )
        here = rows[_ENTRY].unique().to_numpy()
        entries.join(spreads.of(here), here)
    return entries


def _items(entries: pl.DataFrame, units: Units) -> pl.DataFrame:
    """The items of leaderboards by entry and unit; `:whole` is True if units lie in one cluster."""
    on = [name for name in entries.columns if name not in (_ENTRY, _BOARD)]
    items = units.items.join(entries.lazy(), on=on, nulls_equal=True)
    columns = [_ENTRY, _BOARD, CLUSTER, "score", MASS, SIZE]
    if not units.unit:
        return items.select(*columns, pl.lit(value=True).alias(_WHOLE)).collect()
    sizes = pl.col(SIZE).is_finite().any().over(_ENTRY, *units.unit)
    ids = pl.col(units.unit).fill_null("(null)").cast(pl.Categorical)  # no id is an id, too
    numbered = items.select(*columns, ids).filter(sizes).collect()
    parts = numbered.lazy().group_by(_BOARD, *units.unit).agg(pl.col(CLUSTER).n_unique())
    is_whole = (pl.col(CLUSTER).max() == 1).alias(_WHOLE)
    return numbered.join(parts.group_by(_BOARD).agg(is_whole).collect(), on=_BOARD)


def _check_clusters(method: Bootstrap, items: pl.DataFrame) -> None:
    """Raise ParameterError if nothing, a null cluster, or a single one can be drawn."""
    if not len(items):
        raise ParameterError(
            "leaderboard: there is nothing to resample, as no item has a score (or a sample size,"
            " if weighted by that)"
        )
    if items[CLUSTER].null_count():
        raise ParameterError(
            "leaderboard: the cluster of the bootstrap is null in "
            f"{items[CLUSTER].null_count():,} items; fill it in, or drop these rows"
        )
    sizes = items.group_by(_BOARD).agg(pl.col(CLUSTER).n_unique())
    if not (sizes[CLUSTER] > 1).any():
        raise ParameterError(
            "leaderboard: a bootstrap needs two clusters, but no leaderboard has more than one of "
            f"{str(method.cluster)!r}; name another cluster"
        )
