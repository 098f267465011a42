"""Bootstrap of leaderboards, with the same draws of clusters for all models of a leaderboard.

A score is a metric of units: the mean over segments, or questions, of their mean scores. Draws of
clusters in which units lie change the weights of units; draws of clusters that cut through units,
as questions do, change the means within them (see `resample.levels`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.per import per
from evalframe.resample.entries import SPREAD, Ranking, entry_spreads, rank_columns, unknown
from evalframe.standard.summaries import mean
from evalframe.survey.boards.rows import CLUSTER, MASS, SIZE

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.resample.methods import Bootstrap


_GROUP, _ENTRY, _UNIT, _WHOLE = ":group", ":entry", ":unit", ":whole"


def with_spread(
    method: Bootstrap,
    table: pl.DataFrame,
    detail: pl.LazyFrame,
    group: Sequence[str],
    unit: Sequence[str] | None,
    *,
    fixed: bool = False,
) -> pl.DataFrame:
    """Add intervals of scores and ranks to a sorted leaderboard.

    `detail` has its items with `:cluster`, `:size` and `:mass`; `group` identifies a leaderboard,
    and `unit` what is averaged last, None for items.
    """
    numbered = table.with_row_index(_ENTRY)
    board = pl.struct(group).rank("dense") - 1 if group else pl.lit(0)
    numbered = numbered.with_columns(board.cast(pl.UInt32).alias(_GROUP))
    items = _items(detail, numbered.select(*group, "model", _ENTRY, _GROUP), unit)
    _check_clusters(method, items)
    boards = numbered[_GROUP].to_numpy().astype(np.int64)
    entries = unknown(["score"], len(table), ranked=True)
    metric = _score(items, unit, fixed=fixed)
    cluster = pl.col(CLUSTER).alias(str(method.cluster))
    # Each leaderboard decides for itself what a draw means.
    for _, rows in items.group_by(_WHOLE):
        spreads = entry_spreads(
            method,
            rows.lazy(),
            [metric],
            table,
            entry=_ENTRY,
            cluster=cluster,
            boards=boards,
            ranking=Ranking("score", boards),
        )
        here = rows[_ENTRY].unique().to_numpy()
        entries.join(spreads.of(here), here)
    columns = [pl.Series(n, v).fill_nan(None) for n, v in entries.spread["score"]._asdict().items()]
    columns.insert(SPREAD.index("drop_rate"), pl.Series("n_clusters", entries.counts))
    return table.with_columns(*columns, *rank_columns(entries.ranks))


def _score(items: pl.DataFrame, unit: Sequence[str] | None, *, fixed: bool) -> MetricExpr:
    """The score of a model, over its items."""
    within = mean("score", weight=MASS)
    if unit is None:
        return within.alias("score")
    is_sized = items[SIZE].n_unique() > 1
    units = pl.col(_UNIT).alias(unit[-1])
    weight = SIZE if is_sized else None
    return per(units, within, weight=weight, fixed=fixed).alias("score")


def _items(detail: pl.LazyFrame, entries: pl.DataFrame, unit: Sequence[str] | None) -> pl.DataFrame:
    """The items of leaderboards by entry and unit; `:whole` is True if units lie in one cluster."""
    on = [name for name in entries.columns if name not in (_ENTRY, _GROUP)]
    items = detail.join(entries.lazy(), on=on, nulls_equal=True)
    columns = [_ENTRY, _GROUP, CLUSTER, "score", MASS, SIZE]
    if unit is None:
        return items.select(*columns, pl.lit(value=True).alias(_WHOLE)).collect()
    # A unit is one of its leaderboard, for all models.
    numbered = items.select(*columns, pl.struct(_GROUP, *unit).alias(_UNIT))
    sizes = pl.col(SIZE).is_finite().any().over(_ENTRY, _UNIT)
    numbered = numbered.filter(sizes).collect()
    parts = numbered.lazy().group_by(_GROUP, _UNIT).agg(pl.col(CLUSTER).n_unique())
    is_whole = (pl.col(CLUSTER).max() == 1).alias(_WHOLE)
    return numbered.join(parts.group_by(_GROUP).agg(is_whole).collect(), on=_GROUP)


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
    sizes = items.group_by(_GROUP).agg(pl.col(CLUSTER).n_unique())
    if not (sizes[CLUSTER] > 1).any():
        raise ParameterError(
            "leaderboard: a bootstrap needs two clusters, but no leaderboard has more than one of "
            f"{str(method.cluster)!r}; name another cluster"
        )
