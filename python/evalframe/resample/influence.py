"""Derivatives of metrics by the weight of each cluster, for all clusters at once.

Leaving out each of C clusters costs C times the levels. Here one pass serves all clusters: a metric
follows from sums by elementwise expressions, so its derivative is a chain: of the finish by totals
and terms, of the terms by the views of the sums at their level, of the views by the rows up to that
level. A row moves all running sums from its level on, so its influence is the sum of derivatives
from there to the last level, which one running sum backwards over the levels gives for all rows.

Expressions are Polars', so elementwise derivatives are differences of fourth order, about as exact
as the values. At a kink or a jump they are undefined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core import segments
from evalframe.core.state import BEFORE, LEVEL, OWN, TOTAL, Axis
from evalframe.core.views import Views

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.resample.contraction import Contraction, Levels


_STEPS = (2.0**-12, 2.0**-24)
"""Of the sums: the first is the more exact, the second the one that a kink nearby disturbs less."""

_ROUGH = 1e-8
"""Fourth differences above this, relative to the values, show a kink or a jump."""

_EQUAL, _TIED = 1e-6, 1e-9
"""Relative differences of derivatives, and of values, that count as rounding."""


def is_carried(axis: Axis) -> bool:
    """True if its results have derivatives by the chain rule: levels do not form new ones."""
    return axis.regroup is None and axis.hull is None


def influences(contraction: Contraction) -> Floats:
    """Derivatives by the weights of clusters, metrics by clusters by groups; NaN if undefined."""
    columns = contraction.columns(np.ones((1, contraction.clusters)))
    moves: dict[str, _Moves] = {}
    for block, (names, totals) in enumerate(zip(contraction.sums, contraction.totals, strict=True)):
        by_name = dict(zip(names, np.moveaxis(totals, -1, 0), strict=True))
        nowhere = np.zeros(contraction.groups, dtype=np.bool_)
        moves |= {f"{block}:{name}": _Moves(by.T, nowhere) for name, by in by_name.items()}
        levels = contraction.levels[block]
        if levels is not None:
            uses = contraction.terms[block]
            for shape in {axis.shape for _, axis in uses}:
                alike = [(prefix, axis) for prefix, axis in uses if axis.shape == shape]
                curve = _Curve.of(levels.filled, by_name, alike[0][1])
                moves |= {f"{block}:{name}": each for name, each in curve.moves(alike)}
    frame = pl.DataFrame(columns)
    # What jumps and does not move otherwise, such as a threshold, must still reach the finish.
    scales = {n: np.abs(m.by).sum(axis=1) for n, m in moves.items()}
    scales = {n: np.where(moves[n].rough & (s == 0.0), 1.0, s) for n, s in scales.items()}
    named = {str(number): finish for number, finish in enumerate(contraction.finishes)}
    return np.stack(
        [_chained(partials, moves) for partials in _partials(frame, scales, named).values()]
    )


class _Moves(NamedTuple):
    """Derivatives of a sum or a result, groups by clusters; `rough` groups have none."""

    by: Floats
    rough: Bools


@dataclass
class _Partials:
    """An expression's values, and its derivatives by the columns that it reads.

    Attributes:
        values: One for each row; NaN where it is undefined.
        by: The derivatives, by column.
        rough: Where it has a kink or a jump.
        most: The largest value beside a kink or a jump.
    """

    values: Floats
    by: dict[str, Floats]
    rough: Bools
    most: Floats


def _chained(partials: _Partials, moves: Mapping[str, _Moves]) -> Floats:
    """The derivatives of a metric, clusters by groups, from those of its finish."""
    shape = next(iter(moves.values())).by.shape
    total, rough = np.zeros(shape), partials.rough | np.isnan(partials.values)
    for name, slope in partials.by.items():
        total += slope[:, None] * moves[name].by
        rough = rough | (moves[name].rough & (slope != 0.0))
    total[rough] = np.nan
    return total.T


def _partials(
    frame: pl.DataFrame, scales: Mapping[str, Floats], exprs: Mapping[str, pl.Expr]
) -> dict[str, _Partials]:
    """Derivatives of elementwise expressions by the columns that have a scale."""
    # The scale is the size of the sum in a column: the unit of its steps. With scale 0 it never
    # moves.
    result = {
        name: _Partials(values, {}, np.zeros(len(values), dtype=np.bool_), values.copy())
        for name, values in _values(frame, exprs).items()
    }
    for column, scale in scales.items():
        reading = {n: e for n, e in exprs.items() if column in e.meta.root_names()}
        centre = {name: result[name].values for name in reading}
        for name, (slope, rough, most) in _slopes(frame, column, scale, reading, centre).items():
            result[name].by[column] = slope
            result[name].rough |= rough
            result[name].most = np.fmax(result[name].most, most)
    return result


def _slopes(
    frame: pl.DataFrame,
    column: str,
    scale: Floats,
    exprs: Mapping[str, pl.Expr],
    centre: Mapping[str, Floats],
    steps: Sequence[float] = _STEPS,
) -> dict[str, tuple[Floats, Bools, Floats]]:
    """Derivatives by one column, where there are none, and the largest value there."""
    with np.errstate(divide="ignore"):
        # A power of two is added to a number without rounding.
        step = np.where(scale > 0.0, np.exp2(np.floor(np.log2(scale * steps[0]))), 0.0)
    here = frame[column].to_numpy()
    near = [
        _values(frame.with_columns(pl.Series(column, here + k * step)), exprs)
        for k in (-2, -1, 1, 2)
    ]
    result = {}
    for name in exprs:
        values = np.stack([each[name] for each in near])
        far_below, below, above, far_above = values
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = (8.0 * (above - below) - (far_above - far_below)) / (12.0 * step)
            fourth = far_above + far_below - 4.0 * (above + below) + 6.0 * centre[name]
            smooth = np.abs(fourth) <= _ROUGH * np.abs(values).max(axis=0)
        nowhere = np.isnan(values).all(axis=0) & np.isnan(centre[name])
        rough = (step > 0.0) & ~smooth & ~nowhere
        slope = np.where((step > 0.0) & ~nowhere, slope, 0.0)
        most = np.where(rough, np.fmax.reduce(values), -np.inf)
        result[name] = np.where(rough, 0.0, slope), rough, most
    again = np.flatnonzero(np.any([rough for _, rough, _ in result.values()], axis=0))
    if len(again) and len(steps) > 1:
        values_there = {name: values[again] for name, values in centre.items()}
        closer = _slopes(frame[again], column, scale[again], exprs, values_there, steps[1:])
        for name, parts in closer.items():
            for total, part in zip(result[name], parts, strict=True):
                total[again] = part
    return result


def _values(frame: pl.DataFrame, exprs: Mapping[str, pl.Expr]) -> dict[str, Floats]:
    """Elementwise expressions, NaN where they are null."""
    lazy = frame.lazy().select(
        expr.cast(pl.Float64).fill_null(float("nan")).alias(name) for name, expr in exprs.items()
    )
    values = lazy.collect(engine="in-memory")
    return {name: values[name].to_numpy() for name in exprs}


@dataclass
class _Curve:
    """Sums at the levels of all groups, with every cluster once.

    Attributes:
        levels: The entries of clusters at levels.
        totals: Totals of clusters by name, clusters by groups.
        views: The views of the sums, about the group's mean if they are centred.
        sizes: The size of the terms of a level, by sum.
        means: Of the groups, if centred, with the names of the two sums.
    """

    levels: Levels
    totals: Mapping[str, Floats]
    views: Views
    sizes: dict[str, Floats]
    means: tuple[str, str, Floats] | None

    @classmethod
    def of(cls, levels: Levels, totals: Mapping[str, Floats], axis: Axis) -> _Curve:
        """The curve of one axis, and of those of the same shape."""
        lengths = np.diff(levels.starts)
        own_sums = {
            name: _by_level(values, levels.first) for name, values in levels.entries.items()
        }
        sums = {name: values.sum(axis=0) for name, values in totals.items()}
        views = Views(own_sums, levels.starts, sums, levels.levels)
        sizes = {n: _by_level(np.abs(v), levels.first) for n, v in levels.entries.items()}
        means = None
        if axis.centre is not None:
            value, mass = axis.centre
            views = views.centred(value, mass)
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.nan_to_num(sums[value] / sums[mass], posinf=0.0, neginf=0.0)
            sizes[value] = sizes[value] + np.repeat(np.abs(mean), lengths) * sizes[mass]
            means = value, mass, mean
        return cls(levels, totals, views, sizes, means)

    def _scale(self, view: str) -> Floats:
        """The size of the terms of a view, at each level."""
        starts = self.levels.starts
        if view.endswith(TOTAL):
            total = np.abs(self.totals[view.removesuffix(TOTAL)]).sum(axis=0)
            return np.repeat(total, np.diff(starts))
        if view.endswith(OWN):
            return self.sizes[view.removesuffix(OWN)]
        running = segments.running(self.sizes[view.removesuffix(BEFORE)], starts)
        return segments.before(running, starts) if view.endswith(BEFORE) else running

    def moves(self, uses: Sequence[tuple[str, Axis]]) -> Iterator[tuple[str, _Moves]]:
        """Derivatives of the results of axes of this shape, by name."""
        exprs: dict[str, pl.Expr] = {}
        for prefix, axis in uses:
            exprs |= {prefix + n: expr for n, expr in {**axis.terms, **axis.maxima}.items()}
            for name, first in axis.firsts.items():
                parts = {"value": first.value, "margin": first.rising - first.bound}
                parts |= {} if first.earlier is None else {"earlier": first.earlier}
                exprs |= {f"{prefix}{name}:{part}": expr for part, expr in parts.items()}
        roots = {root for expr in exprs.values() for root in expr.meta.root_names()}
        # A column of its own, since there may be no view.
        frame = pl.DataFrame({"": self.levels.levels, **{n: self.views[n] for n in sorted(roots)}})
        scales = {name: self._scale(name) for name in sorted(roots - {LEVEL})}
        partials = _partials(frame, scales, exprs)
        everywhere = np.ones(len(frame), dtype=np.bool_)
        for prefix, axis in uses:
            for name in axis.terms:
                yield prefix + name, self._moved((partials[prefix + name], everywhere))
            for name in axis.maxima:
                yield prefix + name, self._maximum(partials[prefix + name])
            for name in axis.firsts:
                key = f"{prefix}{name}:"
                of = (
                    partials[key + "value"],
                    partials[key + "margin"],
                    partials.get(key + "earlier"),
                )
                yield prefix + name, self._first(*of)

    def _moved(self, *chosen: tuple[_Partials, Bools]) -> _Moves:
        """Derivatives of values that are added up over some levels each."""
        starts = self.levels.starts
        by_view: dict[str, Floats] = {}
        rough = np.zeros(len(starts) - 1, dtype=np.bool_)
        for partials, mask in chosen:
            rough |= _any(partials.rough & mask, starts)
            for view, slope in partials.by.items():
                by_view[view] = by_view.get(view, 0.0) + np.where(mask, slope, 0.0)
        by_sum: dict[str, Floats] = {}
        moved = np.zeros((len(rough), len(next(iter(self.totals.values())))))
        for view, slope in by_view.items():
            if view.endswith(TOTAL):
                moved += self._by_total(view.removesuffix(TOTAL), segments.totals(slope, starts))
                continue
            # A row moves the running sums from its level on.
            name, share = view.removesuffix(OWN).removesuffix(BEFORE), slope
            if not view.endswith(OWN):
                share = _running_back(slope, starts)
            if view.endswith(BEFORE):
                share = share - slope
            by_sum[name] = by_sum.get(name, 0.0) + share
        if self.means is not None and self.means[0] in by_sum:
            moved += self._by_mean(by_sum)
        for name, share in by_sum.items():
            moved += self.levels.spread(name, share, moved.shape)
        return _Moves(moved, rough)

    def _by_total(self, name: str, slope: Floats) -> Floats:
        return slope[:, None] * self.totals[name].T

    def _by_mean(self, by_sum: dict[str, Floats]) -> Floats:
        """Derivatives of centred sums by their mean, which every cluster moves."""
        # A centred sum is value - mean * mass. Its part of the mass joins the shares of `mass` in
        # `by_sum`; the rest, by which the mean itself moves, is a derivative by totals.
        assert self.means is not None
        value, mass, mean = self.means
        starts = self.levels.starts
        share = by_sum[value]
        by_sum[mass] = by_sum.get(mass, 0.0) - share * np.repeat(mean, np.diff(starts))
        total = self.totals[mass].sum(axis=0)
        by_mean = -segments.totals(share * self.views[mass + OWN], starts)
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = np.where(total != 0.0, by_mean / total, 0.0)
        return self._by_total(value, slope) - self._by_total(mass, slope * mean)

    def _maximum(self, partials: _Partials) -> _Moves:
        """The largest value; no level but the largest may come near it."""
        starts = self.levels.starts
        peak = np.repeat(segments.reduce(np.fmax, partials.values, starts, np.nan), np.diff(starts))
        near = np.where(partials.rough, partials.most, partials.values) >= peak - _TIED * np.abs(
            peak
        )
        first, last = _first_of(near, starts), _last_of(near, starts)
        moves, others = (self._moved((partials, self._only(rows))) for rows in (first, last))
        rough = _any(near & partials.rough, starts) | _apart(moves.by, others.by)
        return _Moves(moves.by, rough)

    def _first(self, value: _Partials, margin: _Partials, earlier: _Partials | None) -> _Moves:
        """Derivative of the value at the first level that reaches a bound."""
        # If that level, or the one before, just reaches the bound, a small change makes it another
        # one: then the value and the derivative there must be the same.
        starts = self.levels.starts
        rows = _first_of(margin.values >= 0.0, starts)
        if not len(value.values):  # no group has a level
            return self._moved((value, self._only(rows)))
        ends = np.where(rows >= 0, rows, starts[1:])
        below = np.where(ends > starts[:-1], ends - 1, -1)
        above = np.where((rows >= 0) & (rows + 1 < starts[1:]), rows + 1, -1)
        other = np.where(self._just(margin, below), below, rows)
        other = np.where(self._just(margin, rows), above, other)
        moves, worth = self._until(rows, value, earlier)
        if (other != rows).any():
            others, theirs = self._until(other, value, earlier)
            jumps = _apart(worth[:, None], theirs[:, None]) | _apart(moves.by, others.by)
            moves = _Moves(moves.by, moves.rough | others.rough | jumps)
        return moves

    def _until(
        self, rows: Ints, value: _Partials, earlier: _Partials | None
    ) -> tuple[_Moves, Floats]:
        """Derivatives and sum of the value at a level of each group and the terms before it."""
        starts = self.levels.starts
        chosen = [(value, self._only(rows))]
        worth = np.where(rows >= 0, value.values[rows], np.nan if earlier is None else 0.0)
        if earlier is not None:
            ends = np.where(rows >= 0, rows, starts[1:])
            index = np.arange(len(value.values))
            chosen.append((earlier, index < np.repeat(ends, np.diff(starts))))
            worth = worth + segments.totals_until(earlier.values, starts, ends)
        return self._moved(*chosen), worth

    def _just(self, margin: _Partials, rows: Ints) -> Bools:
        """True if a small change of weights could take a level over its bound."""
        # That is, its margin is 0 but for rounding, and some cluster moves it.
        moves = np.abs(self._moved((margin, self._only(rows))).by)
        size = sum(np.abs(slope) * self._scale(view) for view, slope in margin.by.items())
        most = moves.max(axis=1)
        movable = most * moves.shape[1] > _TIED * np.broadcast_to(size, margin.values.shape)[rows]
        just: Bools = movable & (np.abs(margin.values[rows]) < _EQUAL * most)
        return just & (rows >= 0)

    def _only(self, rows: Ints) -> Bools:
        mask = np.zeros(len(self.levels.levels), dtype=np.bool_)
        mask[rows[rows >= 0]] = True
        return mask


def _by_level(values: Floats, first: Ints) -> Floats:
    """Entries added up by level."""
    sums: Floats = np.add.reduceat(values, first) if len(first) else values
    return sums


def _running_back(values: Floats, starts: Ints) -> Floats:
    """The running sum of each segment from its end."""
    return segments.running(values[::-1], (len(values) - starts)[::-1])[::-1]


def _any(flags: Bools, starts: Ints) -> Bools:
    counted = segments.starts_of(flags)
    return counted[starts[1:]] > counted[starts[:-1]]


def _first_of(flags: Bools, starts: Ints) -> Ints:
    """The first flagged row of each segment, or -1."""
    rows = np.append(np.flatnonzero(flags), len(flags))
    result = rows[np.searchsorted(rows, starts[:-1])]
    return np.where(result < starts[1:], result, -1)


def _last_of(flags: Bools, starts: Ints) -> Ints:
    """The last flagged row of each segment, or -1."""
    rows = np.append(-1, np.flatnonzero(flags))
    result = rows[np.searchsorted(rows, starts[1:]) - 1]
    return np.where(result >= starts[:-1], result, -1)


def _apart(some: Floats, others: Floats) -> Bools:
    """True for groups whose two rows of values differ by more than rounding."""
    gap = np.abs(some - others).max(axis=1)
    same: Bools = gap <= _EQUAL * np.fmax(np.abs(some), np.abs(others)).max(axis=1)
    return ~same
