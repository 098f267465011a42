"""Entries of boards, such as models of a leaderboard, with the uncertainty of scores and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.special import ranks
from evalframe.core.states import States
from evalframe.core.tables import NESTED, Keys
from evalframe.resample import intervals
from evalframe.resample.contraction import GROUP
from evalframe.resample.corrections import adjusted_p_values
from evalframe.resample.levels import drawn_of
from evalframe.resample.paired import Replicates, rounding
from evalframe.resample.pools import BOARD, Boards, Pool, Source, pools
from evalframe.resample.ranks import MARGIN, RANKS, max_t_p_values, rank_columns, rank_limits
from evalframe.resample.uncertainty import Estimated, estimated, number_groups

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
    ranks = {name: nothing() for name in (*RANKS, MARGIN)} if ranked else {}
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
                *pool.free,
            )
        result.join(Entries(spread, pool.counts, ranks), here)
    return result


RANKED = (
    "rank",
    "metric",
    "estimate",
    *("std_error", "lower", "upper", "n_clusters", "drop_rate"),
    *RANKS,
    *("tied_with_best", MARGIN, "p_value", "p_adjusted", "n_missing"),
)
"""Columns of ranked systems, the first before the system."""


def ranked_systems(
    method: Bootstrap,
    states: States[pl.DataFrame],
    correction: str,
    *,
    is_lowest: bool,
    source: Source = pools,
) -> pl.DataFrame:
    """Ranks of systems (the last key) within groups by a metric, under internal names of keys."""
    *by, system = states.keys.inner
    groups = states.groups()
    _check_systems(groups, states.keys.inner)
    number = (
        pl.struct(by).rank("dense").cast(pl.Int64) if by else pl.repeat(0, pl.len(), dtype=pl.Int64)
    )
    boards = groups.select(number.alias(BOARD))[BOARD]
    board, (metric,) = boards.to_numpy(), states.metrics
    sign = -1.0 if is_lowest else 1.0
    rows, tests = [], []
    for pool in source(method, number_groups(states, groups), Boards(boards)):
        result, here = estimated(method, pool), pool.groups.to_numpy()
        assert result.drawn is not None
        points, drawn = sign * result.points[0], sign * result.drawn[0]
        free = pool.free
        limits = rank_limits(points, drawn, board[here], method.level, *free)
        columns = {"estimate": result.points[0], "n_clusters": pool.counts}
        columns["n_missing"] = result.counts["n_missing"][0]
        columns |= {name: values[0] for name, values in result.spread._asdict().items()}
        (of_units,) = drawn_of(pool.states)
        if of_units is not None:
            columns |= {name: result.counts[name][0] for name in NESTED if name in result.counts}
        rows.append(
            groups[pool.groups].with_columns(
                pool.groups.alias(GROUP),
                boards[pool.groups],
                *(pl.Series(name, values) for name, values in columns.items()),
                *rank_columns(limits),
                drawn=pl.lit(of_units),
            )
        )
        pairs = _pair_tests(method, pool, result, boards, rounding(metric))
        if correction == "max_t":
            left, right, p = max_t_p_values(points, drawn, board[here], *free)
            ends = {"left": pool.groups[left], "right": pool.groups[right], "p_adjusted": p}
            pairs = pairs.join(pl.DataFrame(ends), on=["left", "right"])
        tests.append(pairs)
    floats = ["estimate", *SPREAD]
    table = pl.concat(rows).with_columns(pl.col(floats).fill_nan(None))
    table = table.with_columns(
        ranks(sign * pl.col("estimate"), [BOARD]).alias("rank"), metric=pl.lit(metric.name)
    )
    pairs = _adjusted(pl.concat(tests), boards, correction)
    against = _against_best(pairs, table.filter(pl.col("rank") == 1)[GROUP])
    table = table.join(against, left_on=GROUP, right_on="left", how="left")
    table = table.sort(*by, "rank", system, nulls_last=[*[False] * len(by), True, False])
    return table.select(*by, RANKED[0], system, *RANKED[1:], *(NESTED if of_units else ()))


def _check_systems(groups: pl.DataFrame, keys: Sequence[str]) -> None:
    """Raise ParameterError if every group has a single system."""
    *by, system = keys
    sizes = groups.group_by(by).len()["len"] if by else pl.Series([len(groups)])
    if not (sizes > 1).any():
        where = " in a group, of whose keys they may not be one" if by else ""
        raise ParameterError(
            f"a rank needs two systems{where}, found {groups[system].unique().sort().to_list()}; "
            "name the column of the systems, between=..., or use ef.evaluate for one"
        )


def _adjusted(pairs: pl.DataFrame, boards: pl.Series, correction: str) -> pl.DataFrame:
    """Pairs with `p_adjusted`, which `max_t` has brought along for each board."""
    if correction == "max_t":
        # Draws are joint within a board; boards are corrected by Bonferroni.
        tested = pairs.filter(pl.col("p_value").is_not_nan())["left"]
        joint = (pl.col("p_adjusted") * boards[tested].n_unique()).clip(upper_bound=1.0)
        pairs = pairs.with_columns(pl.max_horizontal("p_value", joint).alias("p_adjusted"))
    else:
        adjusted = adjusted_p_values(pairs["p_value"].to_numpy(), correction)
        pairs = pairs.with_columns(pl.Series("p_adjusted", adjusted))
    return pairs.fill_nan(None)


def _against_best(pairs: pl.DataFrame, best: pl.Series) -> pl.DataFrame:
    """For each group but the best ones, `left`, the largest p-values of its pairs with these."""
    both = pl.concat([pairs, pairs.rename({"left": "right", "right": "left"})], how="diagonal")
    left, right = (pl.col(name).is_in(best.implode()) for name in ("left", "right"))
    tests = both.filter(~left & right)
    return tests.group_by("left").agg(pl.col("p_value", "p_adjusted").max())


def _pair_tests(
    method: Bootstrap, pool: Pool, result: Estimated, boards: pl.Series, least: float
) -> pl.DataFrame:
    """P-values that two entries of a board are equal, `left` and `right` by their groups."""
    method = method.of_differences
    entries = pl.DataFrame({BOARD: boards[pool.groups]}).with_row_index("left")
    pairs = entries.join(entries.rename({"left": "right"}), on=BOARD)
    pairs = pairs.filter(pl.col("left") < pl.col("right")).sort("left", "right")
    first, second = (pairs[name].to_numpy() for name in ("left", "right"))
    assert result.drawn is not None
    points, drawn = result.points[0], result.drawn[0]
    without, touched = None, None
    if intervals.INTERVALS[method.interval].needs != "none":
        assert result.left_out is not None
        without, touched = result.left_out[0], result.touched
        if touched is not None:  # without a cluster that it lacks an entry is what it was
            without = np.where(touched, without, points)
    known = Replicates(points, drawn, without, touched, pool.free)
    p_values = np.full(len(pairs), np.nan)
    for here, sample in known.gaps(first, second, least):
        p_values[here] = intervals.p_values(method.interval, sample)
    # Where nothing varies, nothing is tested.
    p_values[np.minimum(pool.varying[first], pool.varying[second]) < 2] = np.nan
    return pl.DataFrame(
        {"left": pool.groups[first], "right": pool.groups[second], "p_value": p_values}
    )
