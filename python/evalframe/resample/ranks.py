"""Ranks of entries of boards from replicates, and which differences of them are certain.

Entries are numbered; `group` is the board of each, whose entries have joint draws. Boards of one
size are worked on together, as a grid of boards by places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.special import DECIMALS

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints


RANKS = ("rank_lower", "rank_upper", "rank_set_lower", "rank_set_upper")
"""What is known of the rank of an entry: its central ranks, and those that it may have."""

MARGIN = "margin_to_best"
"""The difference from the best beyond which an entry would be told apart from it."""

_HELD = 1 << 23
"""Numbers held at a time: of pairs of entries, in some replicates of some boards."""

_VARIES = 1e-12
"""Differences and standard errors of at most this are 0 but for rounding."""


def rank_limits(
    points: Floats, drawn: Floats, group: Ints, level: float, clusters: Ints, strata: Ints
) -> dict[str, Floats]:
    """The `RANKS` and `MARGIN` of each entry, NaN if undefined; `group` is its board."""
    # With one cluster nothing varies: such an entry has no central ranks, and any rank can be its
    # own.
    points, drawn = (np.round(scores, DECIMALS) for scores in (points, drawn))
    blank = np.where(clusters < 2, np.nan, 0.0)
    central = [ends + blank for ends in rank_intervals(drawn, group, level)]
    sets = rank_sets(points, drawn, group, level, clusters, strata)
    return dict(zip((*RANKS, MARGIN), (*central, *sets), strict=True))


def rank_columns(limits: Mapping[str, Floats]) -> list[pl.Series]:
    """The `RANKS` as columns, `tied_with_best` (no other is better beyond doubt), the `MARGIN`."""
    ranks = [pl.Series(name, limits[name]).fill_nan(None).cast(pl.Int64) for name in RANKS]
    tied = (ranks[RANKS.index("rank_set_lower")] == 1).alias("tied_with_best")
    return [*ranks, tied, pl.Series(MARGIN, limits[MARGIN]).fill_nan(None)]


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


def rank_sets(
    points: Floats,
    drawn: Floats,
    group: Ints,
    level: float,
    clusters: Floats | Ints,
    strata: Ints | int = 1,
) -> tuple[Floats, Floats, Floats]:
    """The ranks that each entry can have, at a simultaneous level, and its `MARGIN`."""
    # A difference of two entries is certain if it exceeds c of its standard errors, where c is the
    # quantile of the largest such deviation of a replicate over all pairs of a board, in steps:
    # what is certain leaves the pairs, which lowers c for the others. Then with the chance of
    # `level` every entry's true rank lies in its set. Mogstad, Romano, Shaikh and Wilhelm (2024),
    # Inference for ranks; Romano and Wolf (2005), of the steps.
    from scipy.special import ndtri

    lower, upper, margin = (np.full(len(group), np.nan) for _ in range(3))
    for grid in _grids(group, 1):
        pairs = _Pairs.of(points, drawn, grid, clusters, strata)
        better = np.zeros(pairs.delta.shape, dtype=np.bool_)
        boards, bounds = np.arange(len(grid)), np.zeros(pairs.delta.shape)
        while len(boards):
            worst = _largest_deviations(drawn, pairs.some(boards), ~better[boards])
            bound = _quantile(worst, level)
            few, left = pairs.few()[boards], pairs.left(better)[boards]
            bound = np.where(few, np.fmax(bound, -ndtri((1.0 - level) / left)), bound)
            bound = bound[:, None, None]
            bounds[boards] = np.where(better[boards], bounds[boards], bound)
            with np.errstate(invalid="ignore"):
                found = (pairs.size[boards] > bound + 1e-12) & ~better[boards]
            better[boards] |= found
            boards = boards[found.any(axis=(1, 2))]
        margin[grid] = pairs.margins(bounds, points[grid])
        valid = ~np.isnan(points[grid])
        above = 1.0 + better.sum(axis=1)
        below = valid.sum(axis=1)[:, None] - better.sum(axis=2)
        lower[grid] = np.where(valid, above, np.nan)
        upper[grid] = np.where(valid, below, np.nan)
    return lower, upper, margin


def max_t_p_values(
    points: Floats,
    drawn: Floats,
    group: Ints,
    clusters: Floats | Ints,
    strata: Ints | int = 1,
) -> tuple[Ints, Ints, Floats]:
    """All pairs of each board and their p-values, corrected by the largest deviation in steps.

    Romano and Wolf (2005): the share of replicates in which some pair, of those that differ no
    more than this one, deviates as far as this one differs. Pairs are first and second entry.
    """
    from scipy.special import ndtr

    points, drawn = (np.round(scores, DECIMALS) for scores in (points, drawn))
    parts = []
    for grid in _grids(group, 1):
        pairs = _Pairs.of(points, drawn, grid, clusters, strata)
        first, second = np.triu_indices(grid.shape[1], 1)
        size = np.abs(pairs.size[:, first, second])
        order = np.argsort(-size, axis=1, kind="stable")  # NaN stands last
        size = np.take_along_axis(size, order, axis=1)
        count = np.ones(size.shape)
        for away in pairs.deviations(drawn):
            placed = np.take_along_axis(np.abs(away[..., first, second]), order[None], axis=2)
            most = np.maximum.accumulate(placed[..., ::-1], axis=2)[..., ::-1]
            count += (most >= size - 1e-12).sum(axis=0)
        p = count / (len(drawn) + 1)
        tests = (~np.isnan(size)).sum(axis=1, keepdims=True) - np.arange(size.shape[1])
        holm = np.fmin(2 * ndtr(-size) * tests, 1.0)
        p = np.where(pairs.few()[:, None], np.fmax(p, holm), p)
        p = np.maximum.accumulate(p, axis=1)
        p[np.isnan(size)] = np.nan
        left, right = (np.take_along_axis(grid[:, k], order, axis=1) for k in (first, second))
        parts.append((left.ravel(), right.ravel(), p.ravel()))
    left, right, p = (np.concatenate(each) for each in zip(*parts, strict=True))
    return left, right, p


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


class _Pairs(NamedTuple):
    """All ordered pairs of entries of boards of one size: boards by entries by entries.

    Attributes:
        grid: The entries of each board.
        delta: Differences of the points.
        error: Their standard errors.
        free: Degrees of freedom of these errors.
        widened: By what errors are multiplied, since clusters are few.
        size: The differences in standard errors, as normal quantiles; NaN if nothing varies.
    """

    grid: Ints
    delta: Floats
    error: Floats
    free: Floats
    widened: Floats
    size: Floats

    @classmethod
    def of(
        cls,
        points: Floats,
        drawn: Floats,
        grid: Ints,
        clusters: Floats | Ints,
        strata: Ints | int,
    ) -> _Pairs:
        """The pairs; the errors of few clusters are widened as those of expanded intervals are."""
        from scipy.special import ndtri, stdtr

        score = points[grid]
        free, lost = (
            np.minimum(each[grid][:, :, None], each[grid][:, None, :]).astype(np.float64)
            for each in (clusters - strata, np.broadcast_to(strata, clusters.shape))
        )
        delta = score[:, :, None] - score[:, None, :]
        error = np.where(free > 0, _errors(drawn, grid), np.nan)
        # Equal but for rounding is equal, and what does not vary is as certain as flips of the
        # signs of so many clusters can make it.
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(error > _VARIES, delta / error, np.copysign(np.inf, delta) + error)
            t = np.where((np.abs(delta) <= _VARIES) & ~np.isnan(error), 0.0, t)
            widened = np.sqrt(1.0 + lost / free)
            t = t / widened
            size = -ndtri(np.where(np.isinf(t), 0.5 ** (free + lost), stdtr(free, -np.abs(t))))
            size = np.copysign(size, delta)
        size = np.where(np.isnan(t + delta), np.nan, size)
        return cls(grid, delta, error, free, widened, size)

    def margins(self, bounds: Floats, score: Floats) -> Floats:
        """Differences of these sizes from the best of each board; NaN for the best."""
        from scipy.special import ndtr, stdtrit

        best = np.where(np.isnan(score), -np.inf, score).argmax(axis=1)
        boards = np.arange(len(score))
        free, widened, error, delta, bound = (
            each[boards, best] for each in (self.free, self.widened, self.error, self.delta, bounds)
        )
        with np.errstate(invalid="ignore"):
            margin = -stdtrit(free, ndtr(-bound)) * widened * error
        return np.where(np.isnan(score) | (np.abs(delta) <= _VARIES), np.nan, margin)

    def few(self) -> Bools:
        """True for boards of fewer clusters than entries, or of differences that do not vary.

        Replicates then have fewer dimensions than differences, and the largest deviation of one is
        too small: of ten equal entries on 5 clusters, one was not tied with the best in 0.2 of all
        simulated worlds. Bonferroni's bound of the pairs takes its place.
        """
        entries = (~np.isnan(np.diagonal(self.size, axis1=1, axis2=2))).sum(axis=1)
        free = np.where(np.isnan(self.size), np.inf, self.free).min(axis=(1, 2))
        is_same = (self.error <= _VARIES) & (np.abs(self.delta) > _VARIES)
        few: Bools = (free < entries - 1) | is_same.any(axis=(1, 2))
        return few

    def left(self, better: Bools) -> Ints:
        """Number of ordered pairs of each board that are known, and not certain yet."""
        known = ~np.isnan(self.size) & ~np.eye(self.size.shape[1], dtype=np.bool_)
        left: Ints = np.maximum((known & ~better).sum(axis=(1, 2)), 1)
        return left

    def some(self, boards: Ints) -> _Pairs:
        """The pairs of some boards."""
        grid, *others = self
        return _Pairs(grid[boards], *(each[boards] for each in others))

    def deviations(self, drawn: Floats) -> Iterator[Floats]:
        """How far replicates lie from the points, in standard errors, some replicates at a time."""
        varies = self.error > _VARIES
        scale = np.where(varies, self.error, 1.0)
        for pairs in _chunks(drawn, self.grid):
            away = np.where(varies, (pairs - self.delta) / scale, 0.0)
            yield np.nan_to_num(away, nan=0.0)


def _largest_deviations(drawn: Floats, pairs: _Pairs, among: Bools) -> Floats:
    """The largest deviation of each replicate over some pairs of each board."""
    parts = [np.where(among, away, 0.0).max(axis=(-2, -1)) for away in pairs.deviations(drawn)]
    return np.concatenate(parts)


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


def _quantile(worst: Floats, level: float) -> Floats:
    position = int(np.ceil(level * len(worst))) - 1
    quantile: Floats = np.sort(worst, axis=0)[position]
    return quantile
