"""From sums per level to added-up terms: the one computation behind every curve metric.

Used by the expression (groups of a frame), by tables (groups of a sorted frame) and by the
bootstrap (replicates times groups): they differ only in what a segment is.

A group too large for one process is cut into ranges of its levels. The views of a range know what
lies before it and the totals of its group, so that each range gives its part of the terms (`found`,
`joined`). Only what depends on levels of several ranges, equal values and vertices of a hull, is
brought together first (`thinned`).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments
from evalframe.core.state import LEVEL, Axis, First, as_numbers
from evalframe.core.views import Views

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_CHUNK = 1 << 20
"""Rows of a chunk of groups, about."""

_REACHED, _EARLIER = ":reached", ":earlier"


def terms(views: Views, uses: Sequence[tuple[str, Axis]]) -> dict[str, Floats]:
    """Terms, maxima and firsts of axes that share their sums, per segment, by prefixed name."""
    # Views (running sums and their like) are computed once for all axes of one shape, and
    # elementwise expressions over them in one call, so that Polars shares their common parts. Each
    # term is then one number per segment: a segmented sum, a segmented maximum, or a search for the
    # first level.
    import numpy as np

    result: dict[str, Floats] = {}
    alone = np.arange(len(views.starts))
    with np.errstate(invalid="ignore"):  # infinite losses
        for alike in by_shape(uses):
            result |= joined(found(shaped(views, alike[0][1]), alike), alike, alone)
    return result


def by_shape(uses: Sequence[tuple[str, Axis]]) -> list[list[tuple[str, Axis]]]:
    """The axes in batches of one shape each."""
    shapes = dict.fromkeys(axis.shape for _, axis in uses)
    return [[use for use in uses if use[1].shape == shape] for shape in shapes]


def found(seen: Views, uses: Sequence[tuple[str, Axis]]) -> dict[str, Floats]:
    """What each segment of shaped views has of the terms, maxima and firsts of alike axes.

    A first is a value and, under names of their own, if its bound is reached and its earlier terms.
    """
    import numpy as np

    added = {f"{prefix}{name}": e for prefix, axis in uses for name, e in axis.terms.items()}
    peaks = {f"{prefix}{name}": e for prefix, axis in uses for name, e in axis.maxima.items()}
    firsts = _firsts(uses)
    rising = {str(first.rising): first.rising for first in firsts.values()}
    earlier = {n: f.earlier for n, f in firsts.items() if f.earlier is not None}
    exprs = {**added, **peaks, **rising, **earlier}
    result: dict[str, Floats] = {}
    if not exprs:
        return result
    values = seen.evaluate(exprs)
    for name in added:
        result[name] = segments.totals(_numpy(values[name]), seen.starts)
    for name in peaks:
        result[name] = segments.reduce(np.fmax, _numpy(values[name]), seen.starts, np.nan)
    for name, first in firsts.items():
        result |= _first(seen, first, values, name)
    return result


def joined(
    parts: Mapping[str, Floats], uses: Sequence[tuple[str, Axis]], starts: Ints
) -> dict[str, Floats]:
    """The terms of groups from what was found in their ranges, which are in order."""
    import numpy as np

    result = {}
    for prefix, axis in uses:
        for name in axis.terms:
            result[prefix + name] = segments.totals(parts[prefix + name], starts)
        for name in axis.maxima:
            result[prefix + name] = segments.reduce(np.fmax, parts[prefix + name], starts, np.nan)
    for name, first in _firsts(uses).items():
        ones = np.ones(len(starts) - 1)
        row = segments.first_reaching(parts[name + _REACHED], starts, ones)
        is_reached = row >= 0
        value = np.full(len(ones), np.nan if first.earlier is None else 0.0)
        value[is_reached] = parts[name][row[is_reached]]
        if first.earlier is not None:
            ends = np.where(is_reached, row + 1, starts[1:])
            value += segments.totals_until(parts[name + _EARLIER], starts, ends)
        result[name] = value
    return result


def _firsts(uses: Sequence[tuple[str, Axis]]) -> dict[str, First]:
    return {f"{prefix}{name}": f for prefix, axis in uses for name, f in axis.firsts.items()}


def _first(views: Views, first: First, values: pl.DataFrame, name: str) -> dict[str, Floats]:
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
    result = {name: np.full(len(rows), np.nan), name + _REACHED: reached.astype(np.float64)}
    result[name][reached] = views.evaluate({name: first.value}, rows[reached])[name].to_numpy()
    if first.earlier is not None:
        ends = np.where(reached, rows, starts[1:])
        result[name + _EARLIER] = segments.totals_until(_numpy(values[name]), starts, ends)
    return result


def shaped(views: Views, axis: Axis) -> Views:
    """The views that the terms of an axis are computed over."""
    views, _ = thinned(views, axis)
    return views.hull(*axis.hull) if axis.hull and axis.regroup is not None else views


def thinned(views: Views, axis: Axis) -> tuple[Views, Floats | None]:
    """The views of an axis up to the first step that looks across levels, and equal values."""
    if axis.centre is not None:
        views = views.centred(*axis.centre)
    if axis.regroup is not None:
        values = views.evaluate({"value": axis.regroup})["value"].to_numpy()
        return views.regrouped(values)
    return (views if axis.hull is None else views.hull(*axis.hull)), None


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
    sums, plain = _sums_of(uses), as_numbers(plain)
    values = _evaluated(rows, uses[0][1], {**plain, **sums})
    totals = {name: segments.totals(values[name].to_numpy(), starts) for name in {**plain, **sums}}
    levels, own, starts = _by_level(values, starts, uses[0][1], sums)
    return totals | terms(Views(own, starts, totals, levels), uses)


def levels_of_rows(
    rows: pl.DataFrame, starts: Ints, uses: Sequence[tuple[str, Axis]]
) -> tuple[Floats, dict[str, Floats], Ints]:
    """Levels in order, their sums, and the segments, of rows of segments in any order."""
    sums = _sums_of(uses)
    return _by_level(_evaluated(rows, uses[0][1], sums), starts, uses[0][1], sums)


def _sums_of(uses: Sequence[tuple[str, Axis]]) -> dict[str, pl.Expr]:
    return as_numbers({name: expr for _, axis in uses for name, expr in axis.sums.items()})


def _evaluated(rows: pl.DataFrame, axis: Axis, sums: Mapping[str, pl.Expr]) -> pl.DataFrame:
    # Lazy, so that the condition that all of them share is computed once.
    exprs = {":where": axis.where, LEVEL: axis.level.cast(pl.Float64), **sums}
    return rows.lazy().select(**exprs).collect(engine="in-memory")


def _by_level(
    values: pl.DataFrame, starts: Ints, axis: Axis, sums: Collection[str]
) -> tuple[Floats, dict[str, Floats], Ints]:
    inside = values[":where"].to_numpy()
    if not inside.all():
        values = values.filter(":where")
        starts = segments.starts_of(inside)[starts]
    levels = values[LEVEL].to_numpy()
    order = segments.order_within(levels, starts, descending=axis.descending)
    rows = values.select(LEVEL, *sums)[order].to_dict()  # numpy takes three times as long
    ordered = {name: column.to_numpy() for name, column in rows.items()}
    return collapse(ordered.pop(LEVEL), ordered, starts)


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
