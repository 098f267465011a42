"""Bootstrap of leaderboards, with the same draws of clusters for all models of a leaderboard.

If each unit of the last mean (a segment of an overall leaderboard) lies in one cluster, draws
change the weights of units: a unit that is drawn twice has twice the weight. If clusters cut
through units, as questions do, draws change the means within them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import Metric, MetricExpr
from evalframe.core.state import Axis, State, own, ratio
from evalframe.resample.entries import (
    SPREAD,
    Entries,
    Ranking,
    entry_spreads,
    rank_columns,
    unknown,
)
from evalframe.survey.boards.rows import CLUSTER, MASS, SIZE
from evalframe.survey.scoring import mean_score

if TYPE_CHECKING:
    from evalframe.core.segments import Ints
    from evalframe.resample.methods import Bootstrap


_GROUP, _ENTRY, _UNIT, _WHOLE = ":group", ":entry", ":unit", ":whole"


def with_spread(
    method: Bootstrap,
    table: pl.DataFrame,
    detail: pl.LazyFrame,
    group: Sequence[str],
    unit: Sequence[str] | None,
) -> pl.DataFrame:
    """Add intervals of scores and ranks to a sorted leaderboard.

    `detail` has its items with `:cluster`, `:size` and `:mass`; `group` identifies a leaderboard,
    and `unit` what is averaged last, None for items.
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
    _check_clusters(method, cells)
    boards = numbered[_GROUP].to_numpy().astype(np.int64)
    entries = _entries(method, table, boards, _with_whole(cells, unit))
    columns = [pl.Series(n, v).fill_nan(None) for n, v in entries.spread["score"]._asdict().items()]
    columns.insert(SPREAD.index("drop_rate"), pl.Series("n_clusters", entries.counts))
    return table.with_columns(*columns, *rank_columns(entries.ranks))


def _cells(detail: pl.LazyFrame, group: Sequence[str], unit: Sequence[str] | None) -> pl.DataFrame:
    """Mean scores and masses by entry, unit and cluster.

    Without a unit each cluster is one, whose weight is its number of items.
    """
    names = list(dict.fromkeys([*group, "model", *(unit or [])]))
    mass, size = pl.col(MASS), pl.col(SIZE)
    sums = detail.group_by([*names, CLUSTER]).agg(
        score=(pl.col("score") * mass).sum() / mass.sum(),
        mass=mass.sum(),
        size=size.sum(),
        sized=size.count(),
    )
    cells = sums.collect()
    if unit is None:
        return cells.with_columns(size="mass")
    numbers = pl.struct(names).rank("dense").cast(pl.UInt32) - 1
    mean_size = pl.col("size").sum().over(_UNIT) / pl.col("sized").sum().over(_UNIT)
    cells = cells.with_columns(numbers.alias(_UNIT)).with_columns(size=mean_size)
    return cells.filter(pl.col("size").is_finite())


def _check_clusters(method: Bootstrap, cells: pl.DataFrame) -> None:
    """Raise ParameterError if a cluster is null, or every leaderboard has a single cluster."""
    if cells[CLUSTER].null_count():
        raise ParameterError(
            "leaderboard: the cluster of the bootstrap is null in "
            f"{cells[CLUSTER].null_count():,} sums of items; fill it in, or drop these rows"
        )
    sizes = cells.group_by(_GROUP).agg(pl.col(CLUSTER).n_unique())
    if not (sizes[CLUSTER] > 1).any():
        raise ParameterError(
            "leaderboard: a bootstrap needs two clusters, but no leaderboard has more than one of "
            f"{str(method.cluster)!r}; name another cluster"
        )


def _with_whole(cells: pl.DataFrame, unit: Sequence[str] | None) -> pl.DataFrame:
    """Add `:whole`, True if each unit of the leaderboard lies in one cluster for all models."""
    if unit is None:
        return cells.with_columns(pl.lit(value=True).alias(_WHOLE))
    parts = cells.lazy().group_by(_GROUP, *unit).agg(pl.col(CLUSTER).n_unique())
    is_whole = (pl.col(CLUSTER).max() == 1).alias(_WHOLE)
    return cells.join(parts.group_by(_GROUP).agg(is_whole).collect(), on=_GROUP)


def _entries(method: Bootstrap, table: pl.DataFrame, boards: Ints, cells: pl.DataFrame) -> Entries:
    """Spreads of the entries of leaderboards, of those with complete units and of the others."""
    entries = unknown(["score"], len(table), ranked=True)
    for (is_whole_unit,), board_cells in cells.group_by(_WHOLE):
        spreads = entry_spreads(
            method,
            board_cells.lazy(),
            [
                mean_score(weight="size").alias("score")
                if is_whole_unit
                else _mean_of_units(board_cells)
            ],
            table,
            entry=_ENTRY,
            cluster=pl.col(CLUSTER),
            boards=boards,
            ranking=Ranking("score", boards),
        )
        here = board_cells[_ENTRY].unique().to_numpy()
        entries.join(spreads.of(here), here)
    return entries


def _mean_of_units(cells: pl.DataFrame) -> MetricExpr:
    """The weighted mean over units of the means of each unit."""
    sized = cells["size"].min() != cells["size"].max()
    roles = {"score": "score", "mass": "mass", "unit": _UNIT, "size": "size" if sized else None}
    declared = Metric(
        name="score",
        define=_by_unit,
        direction="maximize",
        range=(0.0, 1.0),
        roles=roles,
        labels=frozenset(),
        params={},
        family="survey",
    )
    return declared.bind()


def _by_unit(
    score: pl.Expr, mass: pl.Expr, unit: pl.Expr, size: pl.Expr | None, *, weight: pl.Expr
) -> State:
    sums = {"mass": weight * mass, "scores": weight * mass * score}
    # 0 / 0 if no item of a unit is drawn.
    mean = (own.scores / own.mass).fill_nan(0.0)
    terms = {"top": mean, "bottom": (own.mass > 0).cast(pl.Float64)}
    if size is not None:
        sums["sizes"] = weight * mass * size
        share = (own.sizes / own.mass).fill_nan(0.0)
        terms = {"top": mean * share, "bottom": share}
    by_unit = Axis(level=unit, sums=sums, terms=terms)
    return State(axes=(by_unit,), finish=lambda t: ratio(t.top, t.bottom))
