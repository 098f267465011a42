"""Entries of boards, such as models of a leaderboard, with the uncertainty of scores and ranks."""

from __future__ import annotations

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
    from collections.abc import Sequence

    from evalframe.core.metric import MetricExpr
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap

SPREAD = intervals.Spread._fields
"""What is told of the uncertainty of each score."""


class Ranking(NamedTuple):
    """By what entries are ranked.

    Attributes:
        name: The metric.
        among: For each entry the number of those that it is ranked among, who share a board.
    """

    name: str
    among: Ints


class Entries(NamedTuple):
    """What a bootstrap says of entries, one number for each.

    Attributes:
        spread: For each metric the uncertainty of its scores.
        counts: How many clusters each entry has.
        ranks: The limits of ranks, where they are asked for.
    """

    spread: dict[str, intervals.Spread]
    counts: Ints
    ranks: dict[str, Floats]

    def join(self, other: Entries, chosen: Ints) -> None:
        """Take over what another says of some of the entries."""
        for name, spread in other.spread.items():
            for mine, theirs in zip(self.spread[name], spread, strict=True):
                mine[chosen] = theirs
        self.counts[chosen] = other.counts
        for name, limits in other.ranks.items():
            self.ranks[name][chosen] = limits

    def of(self, chosen: Ints) -> Entries:
        """What is said of some of the entries."""
        spread = {
            name: intervals.Spread(*(values[chosen] for values in told))
            for name, told in self.spread.items()
        }
        ranks = {name: limits[chosen] for name, limits in self.ranks.items()}
        return Entries(spread, self.counts[chosen], ranks)


def unknown(names: Sequence[str], entries: int, *, ranked: bool) -> Entries:
    """Entries of which nothing is known."""

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
    """The uncertainty of scores of entries; those of one board see the same draws.

    Args:
        method: The bootstrap.
        rows: What the scores are of.
        metrics: The scores.
        table: One row for each entry, with the estimates by name.
        entry: The column of the rows with the number of the entry.
        cluster: What is drawn; within strata what `pools.within` gives.
        boards: The board of each entry, some of which has two clusters; by default all are of one.
        ranking: By what entries are ranked.
        counted: Which sums of a cluster say that it counts as one of its entry; by default all.

    Raises:
        ParameterError: There are no two clusters, or one of them is null.
    """
    bounds = [metric.bound for metric in metrics]
    names = [bound.name for bound in bounds]
    keys = Keys((entry,), (pl.col(entry).cast(pl.UInt32),))
    states = States.of(rows, bounds, keys, cluster).collected()
    states = states.with_tables([t.rename({keys.inner[0]: GROUP}) for t in states.tables])
    made = unknown(names, len(table), ranked=ranking is not None)
    known = table.select(pl.col(names).cast(pl.Float64).fill_null(float("nan"))).to_numpy().T
    board = np.zeros(len(table), dtype=np.int64) if boards is None else boards
    shared = Boards(pl.Series(BOARD, board), enough=boards is not None)
    for pool in pools(method, states, shared, counted):
        here = pool.groups.to_numpy()
        found = estimated(method, pool, known[:, here])
        spread = {
            name: intervals.Spread(*(values[place] for values in found.spread))
            for place, name in enumerate(names)
        }
        ranks: dict[str, Floats] = {}
        if ranking is not None:
            assert found.drawn is not None
            place = names.index(ranking.name)
            ranks = rank_limits(
                known[place, here],
                found.drawn[place],
                ranking.among[here],
                method.level,
                pool.varying,
            )
        made.join(Entries(spread, pool.counts, ranks), here)
    return made
