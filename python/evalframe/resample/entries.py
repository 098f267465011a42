"""Entries of boards, such as models of a leaderboard, with the uncertainty of scores and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.special import DECIMALS, ranks
from evalframe.core.states import States
from evalframe.core.tables import Keys
from evalframe.resample import intervals
from evalframe.resample.contraction import GROUP
from evalframe.resample.draws import BATCH, BOARD, Boards, Pool, left_out, pools
from evalframe.resample.paired import delta_of, rounding
from evalframe.resample.uncertainty import Estimated, estimated, number_groups

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap


RANKS = ("rank_lower", "rank_upper", "rank_set_lower", "rank_set_upper")
"""What is known of the rank of an entry: its central ranks, and those that it may have."""

_HELD = 1 << 23


def rank_limits(
    points: Floats, drawn: Floats, group: Ints, level: float, clusters: Ints
) -> dict[str, Floats]:
    """The `RANKS` of each entry, NaN if undefined; `group` is the board of an entry."""
    # With one cluster nothing varies, so nothing is certain: such an entry has no central ranks,
    # and any rank can be its own.
    points, drawn = (np.round(scores, DECIMALS) for scores in (points, drawn))
    blank = np.where(clusters < 2, np.nan, 0.0)
    central = [ends + blank for ends in rank_intervals(drawn, group, level)]
    sets = rank_sets(points, drawn + blank, group, level)
    return dict(zip(RANKS, (*central, *sets), strict=True))


def rank_columns(limits: Mapping[str, Floats]) -> list[pl.Series]:
    """The `RANKS` as columns, and `tied_with_best`: no other is better beyond doubt."""
    ranks = [pl.Series(name, limits[name]).fill_nan(None).cast(pl.Int64) for name in RANKS]
    return [*ranks, (ranks[RANKS.index("rank_set_lower")] == 1).alias("tied_with_best")]


def rank_intervals(drawn: Floats, group: Ints, level: float) -> tuple[Floats, Floats]:
    """Central ranks of each entry over the replicates, 1 is best; NaN has no rank."""
    lower, upper = (np.full(len(group), np.nan) for _ in range(2))
    tail = (1.0 - level) / 2.0
    for grid in _grids(group, len(drawn)):
        ranks = ranked(drawn[:, grid]).reshape(len(drawn), -1)
        entries = grid.ravel()
        valid = ~np.isnan(ranks).all(axis=0)
        ordered = np.sort(ranks, axis=0)[:, valid]
        count = (~np.isnan(ordered)).sum(axis=0)
        # The outer ranks, so that at least the level is covered.
        first = np.floor(tail * (count - 1)).astype(np.int64)
        last = np.ceil((1.0 - tail) * (count - 1)).astype(np.int64)
        column = np.arange(ordered.shape[1])
        indices = entries[valid]
        lower[indices], upper[indices] = ordered[first, column], ordered[last, column]
    return lower, upper


def rank_sets(points: Floats, drawn: Floats, group: Ints, level: float) -> tuple[Floats, Floats]:
    """The ranks that each entry can have, at a simultaneous level."""
    # A difference of two entries is certain if it exceeds c of its standard errors, where c is the
    # quantile of the largest such deviation of a replicate over all pairs of a board. Then with the
    # chance of `level` every entry's true rank lies in its set. Mogstad, Romano, Shaikh and Wilhelm
    # (2024), Inference for ranks with applications to mobility across neighbourhoods and academic
    # achievement across countries.
    lower, upper = (np.full(len(group), np.nan) for _ in range(2))
    for grid in _grids(group, 1):
        score = points[grid]
        delta = score[:, :, None] - score[:, None, :]
        error = _errors(drawn, grid)
        worst = _largest_deviations(drawn, grid, delta, error)
        bound = _quantile(worst, level)[:, None, None] * error
        with np.errstate(invalid="ignore"):
            better = delta > bound + 1e-12
        valid = ~np.isnan(score)
        above = 1.0 + better.sum(axis=1)
        below = valid.sum(axis=1)[:, None] - better.sum(axis=2)
        lower[grid] = np.where(valid, above, np.nan)
        upper[grid] = np.where(valid, below, np.nan)
    return lower, upper


def ranked(scores: Floats) -> Floats:
    """Ranks along the last axis, the largest first; ties share the better, NaN has none."""
    order = np.argsort(-scores, axis=-1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=-1)
    new = np.ones(scores.shape, dtype=np.bool_)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    position = np.maximum.accumulate(np.where(new, np.arange(scores.shape[-1]), 0), axis=-1)
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, position + 1.0, axis=-1)
    return np.where(np.isnan(scores), np.nan, ranks)


def _grids(group: Ints, replicates: int) -> Iterator[Ints]:
    """Entries of leaderboards of one size, as leaderboards by places, some at a time."""
    order = np.argsort(group, kind="stable")
    _, sizes = np.unique(group, return_counts=True)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        batch = max(1, _HELD // (size * max(replicates, size)))
        for first in range(0, len(same), batch):
            chosen = same[first : first + batch]
            yield order[starts[chosen][:, None] + np.arange(size)]


def _chunks(drawn: Floats, grid: Ints) -> Iterator[Floats]:
    """Differences of all pairs, some replicates at a time."""
    rows = max(1, _HELD // (grid.size * grid.shape[1]))
    for first in range(0, len(drawn), rows):
        part = drawn[first : first + rows][:, grid]
        yield part[..., :, None] - part[..., None, :]


def _errors(drawn: Floats, grid: Ints) -> Floats:
    """Standard errors of the differences of all pairs, over replicates in which both are known."""
    shape = (grid.shape[0], grid.shape[1], grid.shape[1])
    first = drawn[0][grid]
    shift = np.nan_to_num(first[..., :, None] - first[..., None, :])
    count, total, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for pairs in _chunks(drawn, grid):
        valid = ~np.isnan(pairs)
        away = np.where(valid, pairs - shift, 0.0)
        count += valid.sum(axis=0)
        total += away.sum(axis=0)
        squares += (away**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (squares - total**2 / count) / (count - 1)
        return np.where(count > 1, np.sqrt(np.maximum(variance, 0.0)), np.nan)


def _largest_deviations(drawn: Floats, grid: Ints, delta: Floats, error: Floats) -> Floats:
    """The largest deviation of each replicate over all pairs of a leaderboard, in errors."""
    varies = error > 1e-12
    scale = np.where(varies, error, 1.0)
    parts = []
    for pairs in _chunks(drawn, grid):
        away = np.where(varies, np.abs(pairs - delta) / scale, 0.0)
        parts.append(np.nan_to_num(away, nan=0.0).max(axis=(-2, -1)))
    return np.concatenate(parts)


def _quantile(worst: Floats, level: float) -> Floats:
    position = int(np.ceil(level * len(worst))) - 1
    quantile: Floats = np.sort(worst, axis=0)[position]
    return quantile


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


RANKED = (
    "rank",
    "metric",
    "estimate",
    *("std_error", "lower", "upper", "n_clusters", "drop_rate"),
    *RANKS,
    *("tied_with_best", "p_value", "p_adjusted"),
)
"""Columns of ranked systems, the first before the system."""


def ranked_systems(
    method: Bootstrap, states: States[pl.DataFrame], correction: str, *, is_lowest: bool
) -> pl.DataFrame:
    """Ranks of systems (the last key) within groups by a metric, under internal names of keys."""
    *by, system = states.keys.inner
    groups = states.groups()
    number = (
        pl.struct(by).rank("dense").cast(pl.Int64) if by else pl.repeat(0, pl.len(), dtype=pl.Int64)
    )
    boards = groups.select(number.alias(BOARD))[BOARD]
    board, (metric,) = boards.to_numpy(), states.metrics
    sign = -1.0 if is_lowest else 1.0
    rows, tests = [], []
    for pool in pools(method, number_groups(states, groups), Boards(boards)):
        result, here = estimated(method, pool), pool.groups.to_numpy()
        assert result.drawn is not None
        points, drawn = sign * result.points[0], sign * result.drawn[0]
        limits = rank_limits(points, drawn, board[here], method.level, pool.varying)
        spread = {name: values[0] for name, values in result.spread._asdict().items()}
        columns = {"estimate": result.points[0], **spread, "n_clusters": pool.counts}
        rows.append(
            groups[pool.groups].with_columns(
                pool.groups.alias(GROUP),
                boards[pool.groups],
                *(pl.Series(name, values) for name, values in columns.items()),
                *rank_columns(limits),
            )
        )
        tests.append(_pair_tests(method, pool, result, boards, rounding(metric)))
    pairs = pl.concat(tests)
    adjusted = intervals.adjusted_p_values(pairs["p_value"].to_numpy(), correction)
    pairs = pairs.with_columns(pl.Series("p_adjusted", adjusted)).fill_nan(None)
    floats = ["estimate", *SPREAD]
    table = pl.concat(rows).with_columns(pl.col(floats).fill_nan(None))
    table = table.with_columns(
        ranks(sign * pl.col("estimate"), [BOARD]).alias("rank"), metric=pl.lit(metric.name)
    )
    best = table.filter(pl.col("rank") == 1).select(best=GROUP)
    against = pl.concat([pairs, pairs.rename({"left": "right", "right": "left"})], how="diagonal")
    against = against.join(best, left_on="right", right_on="best")
    against = against.join(best, left_on="left", right_on="best", how="anti")
    largest = against.group_by("left").agg(pl.col("p_value", "p_adjusted").max())
    table = table.join(largest, left_on=GROUP, right_on="left", how="left")
    table = table.sort(*by, "rank", system, nulls_last=[*[False] * len(by), True, False])
    return table.select(*by, RANKED[0], system, *RANKED[1:])


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
        without, touched = result.left_out[0], pool.touched(left_out(method, pool.clusters))
        if touched is not None:  # without a cluster that it lacks an entry is what it was
            without = np.where(touched, without, points)
    counts, varying = (np.minimum(n[first], n[second]) for n in (pool.counts, pool.varying))
    p_values = np.full(len(pairs), np.nan)
    chunk = max(1, BATCH // len(drawn))
    for start in range(0, len(pairs), chunk):
        here = slice(start, start + chunk)
        left, right = first[here], second[here]
        gaps = None
        if without is not None:
            gaps = delta_of(without[:, left], without[:, right], least)
            if touched is not None:
                gaps = np.where(touched[:, left] | touched[:, right], gaps, np.nan)
        sample = intervals.Sample(
            delta_of(points[left], points[right], least),
            delta_of(drawn[:, left], drawn[:, right], least),
            gaps,
            counts[here],
        )
        p_values[here] = intervals.p_values(method.interval, sample)
    # Where nothing varies, nothing is tested.
    p_values[varying < 2] = np.nan
    return pl.DataFrame(
        {"left": pool.groups[first], "right": pool.groups[second], "p_value": p_values}
    )
