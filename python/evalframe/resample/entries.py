"""Entries of boards, such as models of a leaderboard, with the uncertainty of scores and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.states import States
from evalframe.core.tables import Keys
from evalframe.resample import intervals
from evalframe.resample.contraction import GROUP
from evalframe.resample.draws import BOARD, Boards, pools
from evalframe.resample.ranks import RANKS, rank_limits
from evalframe.resample.uncertainty import estimated

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap


SPREAD = intervals.Spread._fields
"""What is told of the uncertainty of each score."""


class Ranking(NamedTuple):
    """The score that entries are ranked by.

    Attributes:
        name: The metric.
        among: For each entry the number of the set that it is ranked in, within its board.
    """

    name: str
    among: Ints


class Entries(NamedTuple):
    """Results of a bootstrap, one number for each entry.

    Attributes:
        spread: For each metric the uncertainty of its scores.
        counts: Number of clusters.
        ranks: Limits of ranks, if requested.
    """

    spread: dict[str, intervals.Spread]
    counts: Ints
    ranks: dict[str, Floats]

    def join(self, other: Entries, chosen: Ints) -> None:
        """Copy the results of another bootstrap for some of the entries."""
        for name, spread in other.spread.items():
            for mine, theirs in zip(self.spread[name], spread, strict=True):
                mine[chosen] = theirs
        self.counts[chosen] = other.counts
        for name, limits in other.ranks.items():
            self.ranks[name][chosen] = limits

    def of(self, chosen: Ints) -> Entries:
        """The results of some of the entries."""
        spread = {
            name: intervals.Spread(*(values[chosen] for values in values_by_metric))
            for name, values_by_metric in self.spread.items()
        }
        ranks = {name: limits[chosen] for name, limits in self.ranks.items()}
        return Entries(spread, self.counts[chosen], ranks)


def unknown(names: Sequence[str], entries: int, *, ranked: bool) -> Entries:
    """Entries without results."""

    def nothing() -> Floats:
        return np.full(entries, np.nan)

    spread = {name: intervals.Spread(*(nothing() for _ in SPREAD)) for name in names}
    ranks = {name: nothing() for name in RANKS} if ranked else {}
    return Entries(spread, np.zeros(entries, dtype=np.int64), ranks)


def entry_spreads(
    method: Bootstrap,
    rows: pl.LazyFrame,
    metrics: Sequence[MetricExpr],
    table: pl.DataFrame,
    *,
    entry: str,
    cluster: pl.Expr,
    boards: Ints | None = None,
    ranking: Ranking | None = None,
    counted: pl.Expr | None = None,
) -> Entries:
    """Uncertainty of scores of entries; entries of one board see the same draws.

    Args:
        method: The bootstrap.
        rows: Rows of the entries.
        metrics: The scores.
        table: One row for each entry, with the estimates by name.
        entry: The column of the rows with the number of the entry.
        cluster: What is drawn; within strata the result of `strata.within`.
        boards: The board of each entry, one of which has two clusters; by default one for all.
        ranking: The score to rank entries by.
        counted: Rows of the first block that make a cluster one of its entry; by default all.
    """
    bounds = [metric.bound for metric in metrics]
    names = [bound.name for bound in bounds]
    keys = Keys((entry,), (pl.col(entry).cast(pl.UInt32),))
    states = States.of(rows, bounds, keys, cluster).collected()
    states = states.with_tables([t.rename({keys.inner[0]: GROUP}) for t in states.tables])
    result = unknown(names, len(table), ranked=ranking is not None)
    points = table.select(pl.col(names).cast(pl.Float64).fill_null(float("nan"))).to_numpy().T
    board = np.zeros(len(table), dtype=np.int64) if boards is None else boards
    shared = Boards(pl.Series(BOARD, board), enough=boards is not None)
    for pool in pools(method, states, shared, counted):
        here = pool.groups.to_numpy()
        estimates = estimated(method, pool, points[:, here])
        spread = {
            name: intervals.Spread(*(values[number] for values in estimates.spread))
            for number, name in enumerate(names)
        }
        ranks: dict[str, Floats] = {}
        if ranking is not None:
            assert estimates.drawn is not None
            number = names.index(ranking.name)
            ranks = rank_limits(
                points[number, here],
                estimates.drawn[number],
                ranking.among[here],
                method.level,
                pool.varying,
            )
        result.join(Entries(spread, pool.counts, ranks), here)
    return result
