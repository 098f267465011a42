"""Whole-column kernels over segments: runs of rows of one flat array.

Segment `s` is the rows `starts[s]:starts[s + 1]`; `starts` has one entry more than there are
segments and ends with the number of rows. Segments may be empty.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats: TypeAlias = npt.NDArray[np.float64]
    Ints: TypeAlias = npt.NDArray[np.int64]
    Bools: TypeAlias = npt.NDArray[np.bool_]

_BLOCK = 1024
_LONG = 1 << 16
_MANY_ROUNDS = 64
_FEW = 16
"""Rows of a segment, below which sorting it by itself does not pay."""


def starts_of(lengths: Ints | Bools) -> Ints:
    """Offsets of consecutive segments with these lengths: how many rows, or flags, come before."""
    import numpy as np

    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def listed(values: pl.Series | npt.NDArray[Any], lengths: Ints, known: Bools) -> pl.Series:
    """Consecutive values as lists of these lengths, null where they are not known."""
    import polars as pl
    import pyarrow as pa

    if isinstance(values, pl.Series):
        flat = values.to_arrow(compat_level=pl.CompatLevel.newest())  # texts are not copied
    else:
        flat = pa.array(values)
    offsets = pa.array(starts_of(lengths))
    lists = pa.LargeListArray.from_arrays(offsets, flat, mask=pa.array(~known))
    return pl.Series(pl.from_arrow(lists))


def reduce(ufunc: Any, values: Floats, starts: Ints, empty: float) -> Floats:
    """Reduce each segment by a numpy ufunc; `empty` where it has no rows."""
    import numpy as np

    filled = starts[1:] > starts[:-1]
    result = np.full(len(filled), empty)
    if filled.any():
        result[filled] = ufunc.reduceat(values, starts[:-1][filled])
    return result


def totals(values: Floats, starts: Ints) -> Floats:
    """The sum of each segment, 0 for an empty one (pairwise summation)."""
    import numpy as np

    return reduce(np.add, values, starts, 0.0)


def running(values: Floats, starts: Ints) -> Floats:
    """The running sum within each segment."""
    # One running sum serves all segments: before each segment stands minus the sum of the one
    # before, which leaves only a rounding error, subtracted afterwards. Long segments are summed in
    # blocks, so that the error grows with a block and not with the segment.
    import numpy as np

    lengths = np.diff(starts)
    if not len(values):
        return values
    if lengths[0] <= _LONG and (lengths == lengths[0]).all():
        result = np.cumsum(values.reshape(len(lengths), lengths[0]), axis=1).ravel()
        return cast("Floats", result)
    apart = np.flatnonzero(lengths > _LONG)
    if len(apart) and lengths[apart].sum() == len(values):
        result = np.empty_like(values)
    else:
        ends = totals(values, starts)
        wild = ~np.isfinite(ends)
        if wild.any():  # An infinity would spoil all segments after its own.
            apart = np.flatnonzero(wild | (lengths > _LONG))
            tame = np.where(np.repeat(wild, lengths), 0.0, values)
            result = _reset(tame, starts, np.where(wild, 0.0, ends))
        else:
            result = _reset(values, starts, ends)
    for start, stop in zip(starts[apart], starts[apart + 1], strict=True):
        result[start:stop] = _blocked(values[start:stop])
    return result


def _reset(values: Floats, starts: Ints, ends: Floats) -> Floats:
    import numpy as np

    filled = starts[1:] > starts[:-1]
    first = starts[:-1][filled]
    slots = first + np.arange(len(first))
    rows = np.ones(len(values) + len(first), dtype=np.bool_)
    rows[slots] = False
    padded = np.empty(len(rows))
    padded[rows] = values
    padded[slots[0]] = 0.0
    padded[slots[1:]] = -ends[filled][:-1]
    np.cumsum(padded, out=padded)
    residue = np.repeat(padded[slots], np.diff(starts)[filled])
    inner = padded[rows]
    inner -= residue
    return inner


def _blocked(values: Floats) -> Floats:
    import numpy as np

    full = len(values) // _BLOCK * _BLOCK
    if full <= _BLOCK:
        return np.cumsum(values)
    result = np.empty_like(values)
    blocks = result[:full].reshape(-1, _BLOCK)
    np.cumsum(values[:full].reshape(-1, _BLOCK), axis=1, out=blocks)
    ends = np.cumsum(blocks[:, -1])
    blocks[1:] += ends[:-1, None]
    np.cumsum(values[full:], out=result[full:])
    result[full:] += ends[-1]
    return result


def before(values: Floats, starts: Ints, first: Floats | float = 0.0) -> Floats:
    """Each segment shifted by one row; its first is given, one for all or one for each."""
    import numpy as np

    result = np.empty_like(values)
    result[1:] = values[:-1]
    filled = starts[1:] > starts[:-1]
    result[starts[:-1][filled]] = np.broadcast_to(first, filled.shape)[filled]
    return result


def totals_until(values: Floats, starts: Ints, ends: Ints) -> Floats:
    """The sum of each segment's rows before `ends`, 0 without rows."""
    import numpy as np

    cuts = np.column_stack([starts[:-1], ends]).ravel()
    inside = cuts < len(values)
    parts = np.zeros(len(cuts))
    if inside.any():
        parts[inside] = np.add.reduceat(values, cuts[inside])
    return np.where(ends > starts[:-1], parts[::2], 0.0)


def first_reaching(rising: Floats, starts: Ints, bound: Floats) -> Ints:
    """The first row of each segment that reaches the segment's bound, or -1."""
    # Within a segment the values never fall, so all segments are searched at once by bisection.
    import numpy as np

    low, high = starts[:-1].copy(), starts[1:].copy()
    while (open_ := low < high).any():
        middle = (low + high) // 2
        below = rising[np.where(open_, middle, 0)] < bound
        low = np.where(open_ & below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)
    reached = low < starts[1:]
    reached[reached] = rising[low[reached]] >= bound[reached]  # NaN is not
    return np.where(reached, low, -1)


def order_within(levels: Floats, starts: Ints, *, descending: bool) -> Ints:
    """The rows of each segment in the order of their levels, NaN last."""
    import numpy as np
    import polars as pl

    rising = -levels if descending else levels
    lengths = np.diff(starts)
    if len(levels) >= max(_LONG, _FEW * len(lengths)):
        # Polars sorts each segment by itself, in the processor's cache, and each core its share.
        apart = listed(rising, lengths, lengths >= 0).to_frame()
        share = -(-len(apart) // pl.thread_pool_size())
        parts = [
            part.lazy().select(pl.first().list.eval(pl.element().arg_sort()))
            for part in apart.iter_slices(share)
        ]
        places = pl.concat(pl.collect_all(parts)).to_series().explode(empty_as_null=False)
        return cast("Ints", places.to_numpy() + np.repeat(starts[:-1], lengths))
    # All levels are sorted at once, and then brought back to their segments, 16 bits of a segment's
    # number at a time: numpy's stable sort of short integers is a radix sort, which takes one pass.
    order = np.argsort(rising)
    segment = np.repeat(np.arange(len(lengths)), lengths)
    for shift in range(0, max(len(lengths) - 1, 0).bit_length(), 16):
        digits = (segment >> shift).astype(np.uint16)  # the upper bits are cut off
        order = order[np.argsort(digits[order], kind="stable")]
    return order


def boundaries(levels: Floats, starts: Ints) -> Ints:
    """First rows of all runs of equal levels within segments."""
    import numpy as np

    changed = np.empty(len(levels), dtype=np.bool_)
    changed[:1] = True
    np.not_equal(levels[1:], levels[:-1], out=changed[1:])
    changed[starts[:-1][starts[1:] > starts[:-1]]] = True
    return np.flatnonzero(changed)


def lower_hull(x: Floats, y: Floats, starts: Ints) -> Ints:
    """Rows of the vertices of each segment's lower convex hull; x increases."""
    # A stack (Andrew's scan) is sequential: too slow in numpy for millions of points. Instead every
    # round drops all points on or above the chord of their neighbours. Such a point is no vertex,
    # whatever else is dropped, so the rounds end at the hull, mostly after a dozen. Only a long
    # convex arc that ends in a low point loses one point a round; what is left after many rounds
    # goes through pool-adjacent-violators over the slopes instead: the hull is the curve whose
    # slopes are their isotonic regression.
    import numpy as np

    index = np.arange(len(x))
    segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for round_ in itertools.count(1):
        px, py, owner = x[index], y[index], segment[index]
        dx, dy = np.diff(px), np.diff(py)
        above = np.zeros(len(index), dtype=np.bool_)
        above[1:-1] = (owner[2:] == owner[:-2]) & (dx[:-1] * dy[1:] <= dy[:-1] * dx[1:])
        if not above.any():
            break
        index = index[~above]
        if round_ == _MANY_ROUNDS:
            index = index[_isotonic_vertices(x[index], y[index], segment[index])]
    return index


def _isotonic_vertices(x: Floats, y: Floats, segment: Ints) -> Ints:
    import numpy as np
    from scipy.optimize import isotonic_regression

    inner = segment[1:] == segment[:-1]
    width = np.diff(x)[inner]
    slope = np.diff(y)[inner] / width
    owner = segment[1:][inner]
    last = np.append(owner[1:] != owner[:-1], True)
    # Slopes of a later segment are lifted above those before it, so that none is pooled across.
    lift = (slope.max() - slope.min() + 1.0) * (owner - owner[0]) if len(slope) else slope
    blocks = isotonic_regression(slope + lift, weights=width).blocks if len(slope) else [0]
    ends = np.zeros(len(slope), dtype=np.bool_)
    ends[np.asarray(blocks[1:], dtype=np.int64) - 1] = True
    vertex = np.ones(len(x), dtype=np.bool_)
    vertex[1:][inner] = ends | last
    return np.flatnonzero(vertex)
