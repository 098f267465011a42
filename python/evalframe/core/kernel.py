"""From sums per level to added-up terms: the one computation behind every curve metric.

Used by the expression (groups of a frame), by tables (groups of a sorted frame) and by the
bootstrap (replicates times groups): they differ only in what a segment is.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments
from evalframe.core.state import BEFORE, LEVEL, OWN, TOTAL, Axis, First, as_numbers

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_SPLIT = 2.0**27 + 1.0
"""Factor that splits a number x into its upper half, x * _SPLIT - (x * _SPLIT - x)."""

_CHUNK = 1 << 20
"""Rows of a chunk of groups, about."""


class Views:
    """The views of sums at levels (`at`, `before`, `own`, `total`), made when first asked for."""

    def __init__(
        self,
        own: Mapping[str, Floats],
        starts: Ints,
        totals: Mapping[str, Floats],
        levels: Floats | None = None,
    ) -> None:
        self.starts = starts
        self._totals = totals
        self._made: dict[str, Floats] = {f"{name}{OWN}": values for name, values in own.items()}
        if levels is not None:
            self._made[LEVEL] = levels

    def __getitem__(self, name: str) -> Floats:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Floats:
        import numpy as np

        if name.endswith(BEFORE):
            return segments.before(self[name.removesuffix(BEFORE)], self.starts)
        if name.endswith(TOTAL):
            total = self._totals[name.removesuffix(TOTAL)]
            return np.repeat(total, np.diff(self.starts))
        if name.endswith(OWN):  # only of thinned views: others have been given them
            running = name.removesuffix(OWN)
            return self[running] - self[running + BEFORE]
        return segments.running(self[name + OWN], self.starts)

    def evaluate(self, exprs: Mapping[str, pl.Expr], rows: Ints | None = None) -> pl.DataFrame:
        """Elementwise expressions over the views, one row per level (or per level of `rows`)."""
        needed = {name for expr in exprs.values() for name in expr.meta.root_names()}
        seen = {name: self[name] for name in sorted(needed)}
        if rows is not None:
            seen = {name: values[rows] for name, values in seen.items()}
        frame = pl.DataFrame(seen)
        # Lazy, since only then are subexpressions that the terms share computed once.
        return frame.lazy().select(**exprs).collect(engine="in-memory")

    def centred(self, value: str, mass: str) -> Views:
        """The views with running sums of `value` taken about the mean of each segment."""
        # First about the mean in half its digits, which times a count is exact; then about the rest
        # of the mean, so that sums in another order are taken about the same value.
        import numpy as np

        shifted = self[value + OWN]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            mean = self._totals[value] / self._totals[mass]
            rounded = mean * _SPLIT - (mean * _SPLIT - mean)
            shifted = self._about(rounded, shifted, mass)
            rest = segments.totals(shifted, self.starts) / self._totals[mass]
            shifted = self._about(rest, shifted, mass)
        own = {name.removesuffix(OWN): v for name, v in self._made.items() if name.endswith(OWN)}
        return Views(own | {value: shifted}, self.starts, self._totals, self._made.get(LEVEL))

    def _about(self, centre: Floats, values: Floats, mass: str) -> Floats:
        import numpy as np

        centre = np.nan_to_num(centre, posinf=0.0, neginf=0.0)
        return values - self[mass + OWN] * np.repeat(centre, np.diff(self.starts))

    def regrouped(self, value: pl.Expr) -> Views:
        """The views with consecutive levels of equal value added up into the first of them."""
        import numpy as np

        values = self.evaluate({"value": value})["value"].to_numpy()
        first = segments.boundaries(values, self.starts)
        ends = np.append(first, len(values))
        own = {
            name.removesuffix(OWN): segments.totals(sums, ends)
            for name, sums in self._made.items()
            if name.endswith(OWN)
        }
        levels = self._made.get(LEVEL)
        starts = np.searchsorted(first, self.starts)
        return Views(own, starts, self._totals, None if levels is None else levels[first])

    def hull(self, abscissa: pl.Expr, ordinate: pl.Expr) -> Views:
        """The views at the vertices of each segment's lower convex hull."""
        import numpy as np

        points = self.evaluate({"x": abscissa, "y": ordinate})
        x, y = points["x"].to_numpy(), points["y"].to_numpy()
        # A level without mass repeats the point before it.
        new = np.flatnonzero(x > segments.before(x, self.starts))
        vertices = new[segments.lower_hull(x[new], y[new], np.searchsorted(new, self.starts))]
        thinned = Views({}, np.searchsorted(vertices, self.starts), self._totals)
        for name in list(self._made):
            if name.endswith(OWN):
                running = name.removesuffix(OWN)
                thinned._made[running] = self[running][vertices]
            elif name == LEVEL:
                thinned._made[name] = self[name][vertices]
        return thinned


def terms(views: Views, uses: Sequence[tuple[str, Axis]]) -> dict[str, Floats]:
    """Terms, maxima and firsts of axes that share their sums, per segment, by prefixed name."""
    # Views (running sums and their like) are computed once for all axes of one shape, and
    # elementwise expressions over them in one call, so that Polars shares their common parts. Each
    # term is then one number per segment: a segmented sum, a segmented maximum, or a search for the
    # first level.
    import numpy as np

    result: dict[str, Floats] = {}
    with np.errstate(invalid="ignore"):  # infinite losses
        for shape in {axis.shape for _, axis in uses}:
            alike = [(prefix, axis) for prefix, axis in uses if axis.shape == shape]
            seen = _shaped(views, alike[0][1])
            added = {
                f"{prefix}{name}": e for prefix, axis in alike for name, e in axis.terms.items()
            }
            peaks = {
                f"{prefix}{name}": e for prefix, axis in alike for name, e in axis.maxima.items()
            }
            firsts = {
                f"{prefix}{name}": f for prefix, axis in alike for name, f in axis.firsts.items()
            }
            rising = {str(first.rising): first.rising for first in firsts.values()}
            earlier = {n: f.earlier for n, f in firsts.items() if f.earlier is not None}
            exprs = {**added, **peaks, **rising, **earlier}
            if not exprs:
                continue
            values = seen.evaluate(exprs)
            for name in added:
                result[name] = segments.totals(_numpy(values[name]), seen.starts)
            for name in peaks:
                peak = segments.reduce(np.fmax, _numpy(values[name]), seen.starts, np.nan)
                result[name] = peak
            for name, first in firsts.items():
                result[name] = _first(seen, first, values, name)
    return result


def _first(views: Views, first: First, values: pl.DataFrame, name: str) -> Floats:
    """The value at the first level that reaches the bound, per segment; see `First`."""
    # `values` has its `rising` by its text, and its term of earlier levels, if any, by `name`.
    import numpy as np

    starts = views.starts
    filled = starts[1:] > starts[:-1]
    bound = np.full(len(filled), np.nan)
    if isinstance(first.bound, pl.Expr):
        bounds = views.evaluate({"bound": first.bound}, starts[:-1][filled])
        bound[filled] = bounds["bound"].to_numpy()
    else:
        bound[:] = first.bound
    rows = segments.first_reaching(_numpy(values[str(first.rising)]), starts, bound)
    reached = rows >= 0
    result = np.full(len(rows), np.nan if first.earlier is None else 0.0)
    result[reached] = views.evaluate({name: first.value}, rows[reached])[name].to_numpy()
    if first.earlier is not None:
        ends = np.where(reached, rows, starts[1:])
        result += segments.totals_until(_numpy(values[name]), starts, ends)
    return result


def _shaped(views: Views, axis: Axis) -> Views:
    if axis.centre is not None:
        views = views.centred(*axis.centre)
    if axis.regroup is not None:
        views = views.regrouped(axis.regroup)
    return views if axis.hull is None else views.hull(*axis.hull)


def _numpy(values: pl.Series) -> Floats:
    return values.to_numpy()


def collapse(
    levels: Floats, sums: Mapping[str, Floats], starts: Ints
) -> tuple[Floats, dict[str, Floats], Ints]:
    """Add up rows of equal level: sorted rows of segments become one row per level."""
    import numpy as np

    first = segments.boundaries(levels, starts)
    if len(first) == len(levels):
        return levels, dict(sums), starts
    ends = np.append(first, len(levels))
    collapsed = {name: segments.totals(values, ends) for name, values in sums.items()}
    return levels[first], collapsed, np.searchsorted(first, starts)


def level_of(axis: Axis) -> pl.Expr:
    """The level of each row, null if the row has none; adding 0 turns -0.0 into 0.0."""
    return pl.when(axis.where).then(axis.level.cast(pl.Float64) + 0.0)


def summary_of_rows(
    rows: pl.DataFrame,
    starts: Ints,
    plain: Mapping[str, pl.Expr],
    uses: Sequence[tuple[str, Axis]],
) -> dict[str, Floats]:
    """Totals and terms per segment of rows in any order, a chunk of segments at a time."""
    # The axes of `uses` share level, direction and rows; `plain` are the sums without a level.
    import numpy as np

    parts = []
    for first, last in chunks(starts):
        begin, end = int(starts[first]), int(starts[last])
        part, within = rows.slice(begin, end - begin), starts[first : last + 1] - begin
        parts.append(_summary_of_chunk(part, within, plain, uses))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _summary_of_chunk(
    rows: pl.DataFrame,
    starts: Ints,
    plain: Mapping[str, pl.Expr],
    uses: Sequence[tuple[str, Axis]],
) -> dict[str, Floats]:
    axis = uses[0][1]
    sums = as_numbers({name: expr for _, axis in uses for name, expr in axis.sums.items()})
    plain = as_numbers(plain)
    # Lazy, so that the condition that all of them share is computed once.
    exprs = {":where": axis.where, ":level": axis.level.cast(pl.Float64), **plain, **sums}
    values = rows.lazy().select(**exprs).collect(engine="in-memory")
    totals = {name: segments.totals(values[name].to_numpy(), starts) for name in {**plain, **sums}}
    inside = values[":where"].to_numpy()
    if not inside.all():
        values = values.filter(":where")
        starts = segments.starts_of(inside)[starts]
    levels = values[":level"].to_numpy()
    order = segments.order_within(levels, starts, descending=axis.descending)
    own = {name: values[name].to_numpy()[order] for name in sums}
    levels, own, starts = collapse(levels[order], own, starts)
    return totals | terms(Views(own, starts, totals, levels), uses)


def summary_of_levels(
    levels: pl.DataFrame,
    starts: Ints,
    plain: Collection[str],
    uses: Sequence[tuple[str, Axis]],
) -> dict[str, Floats]:
    """Totals and terms per segment of an additive table sorted by level, one row per level."""
    sums = {name: None for _, axis in uses for name in axis.sums}
    totals = {
        n: segments.totals(levels[n].to_numpy(), starts) for n in {**dict.fromkeys(plain), **sums}
    }
    if not uses:
        return totals
    inside = levels[LEVEL].is_not_null().to_numpy()
    starts = segments.starts_of(inside)[starts]
    levels = levels.filter(pl.col(LEVEL).is_not_null())
    own = {name: levels[name].to_numpy() for name in sums}
    return totals | terms(Views(own, starts, totals, levels[LEVEL].to_numpy()), uses)


def chunks(starts: Ints, rows: int = _CHUNK) -> list[tuple[int, int]]:
    """Consecutive ranges of segments of about this many rows (at least one segment each)."""
    import numpy as np

    groups = len(starts) - 1
    cuts = np.searchsorted(starts, np.arange(rows, int(starts[-1]), rows))
    edges = np.unique(np.concatenate([[0], np.clip(cuts, 0, groups), [groups]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(edges)] or [(0, groups)]
