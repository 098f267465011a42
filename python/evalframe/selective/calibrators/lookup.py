"""Parameters looked up by row, as elementwise expressions that stream."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import polars as pl

Knots: TypeAlias = tuple[Sequence[float], Sequence[float]]
"""The abscissas and ordinates of a piecewise-linear map."""


def pick(values: Sequence[float], index: pl.Expr | None) -> pl.Expr:
    """The value that `index` numbers, null where it is null; without an index the only one."""
    floats = [float(value) for value in values]
    if index is None:
        return pl.lit(floats[0])
    # A list literal, since `gather` from a column literal does not count as elementwise.
    return pl.lit(floats, dtype=pl.List(pl.Float64)).list.get(index, null_on_oob=True)


def group_index(keys: Sequence[pl.Expr], groups: pl.DataFrame) -> pl.Expr:
    """The number of each row's group, null for keys of no group; a null key is a key."""
    number = _number(keys, groups)
    if len(keys) == 1:
        return number
    known = groups.select(_number([pl.col(name) for name in groups.columns], groups)).to_series()
    return _place(number, known)


def _number(keys: Sequence[pl.Expr], groups: pl.DataFrame) -> pl.Expr:
    """One number per combination of keys: their places among the values of each, as digits."""
    number = pl.lit(0, dtype=pl.Int64)
    for key, column in zip(keys, groups.iter_columns(), strict=True):
        values = column.unique(maintain_order=True)
        number = number * len(values) + _place(key, values)
    return number


def _place(key: pl.Expr, values: pl.Series) -> pl.Expr:
    places = pl.Series(range(len(values)), dtype=pl.Int64)
    return key.replace_strict(values, places, default=None, return_dtype=pl.Int64)


def piecewise(x: pl.Expr, maps: Sequence[Knots], index: pl.Expr | None) -> pl.Expr:
    """Linear interpolation between the knots of the map that `index` numbers."""
    chords = [_chords(*knots) for knots in maps]
    starts = sorted({start for own in chords for start, *_ in own})
    rank = {start: place for place, start in enumerate(starts, start=1)}
    cell = x.bin_intervals(starts, labels=False).cast(pl.Int64)
    width = len(starts) + 1
    # Every map has its own stretch of cells, so that one search finds the chord of any map.
    breaks = [
        number * width + (rank[start] if place else 0)
        for number, own in enumerate(chords)
        for place, (start, *_) in enumerate(own)
    ]
    place = cell if index is None else cell + index * width
    chord = place.bin_intervals(breaks[1:], labels=False)
    left, low, run, rise = (
        pick(column, chord) for column in zip(*itertools.chain(*chords), strict=True)
    )
    return low + ((x - left) / run).clip(0, 1) * rise


def _chords(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float, float, float]]:
    """Abscissa and ordinate where each chord starts, its run and rise; the last one is flat."""
    ends = [*zip(x, y, strict=True)]
    chords = [
        (start, low, stop - start, high - low)
        for (start, low), (stop, high) in itertools.pairwise(ends)
        if stop > start
    ]
    # A map that jumps at its first knot is constant up to there.
    flat = [(*ends[0], 1.0, 0.0)] if [*x[:1]] == [*x[1:2]] else []
    return [*flat, *chords, (*ends[-1], 1.0, 0.0)]
