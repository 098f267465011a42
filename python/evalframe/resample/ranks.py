"""Ranks under uncertainty: central ranks of replicates, and sets of ranks that hold at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.special import DECIMALS

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


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
