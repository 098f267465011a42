"""The logarithm of the JZS integral, over whole columns.

All of t, z, F and U have Bayes factors of one form. With y = 1/g, where g is the prior variance,

    BF = (2π)^(-1/2) ∫ y^(1/2) e^(-y/2) (1 + a/y)^(b - p/2) (1 + a w/y)^(-b) d(ln y)

for a = N r² (t, U, z: N the effective size, p = 1, b = (ν + 1)/2; F: b = (N - 1)/2), and w the
share of the variance that is left unexplained; q = 1 - w comes separately, as the difference would
lose its digits. The trapezoid rule over ln y converges exponentially, as the integrand is analytic
and falls off at both ends: doubly exponentially to large y, and as y^c with c = (p + 1)/2 to small
y, where the nodes that are left out form a geometric series, which is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints

    LogIntegrand: TypeAlias = Callable[[Floats, Floats], Floats]
    Window: TypeAlias = tuple[Floats, Floats, Ints]

_TAIL = 26.0
"""Digits, as a natural logarithm, to which both ends of the window are cut off."""

_STEP = 0.37
"""Step in ln y for c = 1; the error falls as exp(-π²/step). Narrow peaks (large c) get less."""

_NARROWING = 0.4
_NODES = 16
"""Nodes come in multiples of these, so that few numbers of nodes occur."""

_MOST_NODES = 1 << 20
"""Far more than any test needs; this bounds the memory for numbers far from any test."""

_MODE_STEPS, _END_STEPS = 8, 6
"""Bisections of the mode and of the upper end; a window may be too wide, by a little."""

_CELLS = 1 << 15
"""Values that are worked on at a time, few enough for the caches."""

_FEW = 8
"""So many times as many are shared out among threads."""

_HALF_LOG_2PI = 0.9189385332046727


def log_jzs(reach: Floats, explained: Floats, unexplained: Floats, p: Floats, b: Floats) -> Floats:
    """The logarithm of the Bayes factor, to about 1e-10 or the last digits of a large value."""
    # reach is a = N r², explained is q, unexplained w, b half of the degrees of freedom plus one.
    # If a is 0 the data say nothing and the result is 0; if w is 0 it is infinite; it is NaN so far
    # from any test that the integral has no window.
    import numpy as np

    values = np.where(reach > 0, np.inf, 0.0)
    rows = np.flatnonzero((reach > 0) & (unexplained > 0))
    tests: Floats = np.stack([reach, explained, unexplained, p, b])[:, rows]
    rate = (tests[3] + 1.0) / 2.0
    values[rows] = log_integrals(_log_integrand, tests, rate, _window(tests)) - _HALF_LOG_2PI
    return values


def log_integrals(
    log_integrand: LogIntegrand, tests: Floats, rate: Floats, window: Window
) -> Floats:
    """Logarithms of integrals over ln y, a few at a time, on as many threads as Polars has.

    The threads do numpy's work alone. One that called Polars could wait for a thread of Polars that
    waits for it.
    """
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    values = np.full(tests.shape[1], np.nan)
    low, high, nodes = window

    def fill(part: tuple[Ints, int]) -> None:
        rows, count = part
        with np.errstate(all="ignore"):
            step = (high[rows] - low[rows]) / (count - 1)
            terms = log_integrand(low[rows] + step * np.arange(count)[:, None], tests[:, rows])
            most = terms.max(axis=0)
            np.exp(np.subtract(terms, most, out=terms), out=terms)
            terms[0] /= -np.expm1(-step * rate[rows])
            values[rows] = most + np.log(terms.sum(axis=0) * step)

    parts = list(_parts(nodes))
    if len(parts) < _FEW:  # as in the streaming engine, which has threads of its own
        for part in parts:
            fill(part)
    else:
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            list(pool.map(fill, parts))
    return values


def _parts(nodes: Ints) -> Iterator[tuple[Ints, int]]:
    """Tests that take the same number of nodes, few enough at a time."""
    import numpy as np

    for count in np.unique(nodes[nodes > 0]):
        rows = np.flatnonzero(nodes == count)
        size = max(_CELLS // int(count), 1)
        for start in range(0, len(rows), size):
            yield rows[start : start + size], int(count)


def _window(tests: Floats) -> Window:
    """The ends of the window in ln y, and how many nodes it takes: 0 if there is no window."""
    import numpy as np

    a, q, w, p, b = tests
    c = (p + 1.0) / 2.0
    # Below the mode the integrand is at most y^c and at least y^c e^(-rate y), up to a factor.
    rate = 0.5 + (b * q / w + p / 2.0) / a
    low = _lower_cut(c) - np.log(rate)
    # The slope is c - rate y or more, and c - y/2 or less, so that the mode lies between.
    mode, beyond = np.log(c / rate), np.log(2.0 * c)
    for _ in range(_MODE_STEPS):
        middle = (mode + beyond) / 2.0
        y = np.exp(middle)
        rising = c - y / 2.0 + (b - p / 2.0) * y / (y + a) - b * y / (y + a * w) > 0
        mode, beyond = np.where(rising, middle, mode), np.where(rising, beyond, middle)
    inside = mode
    enough = _log_integrand(mode, tests) - _TAIL
    # Without any data y/2 has a gamma distribution with the shape c; this bounds its upper end.
    high = np.log(2.0 * (c + _TAIL + np.sqrt(2.0 * c * _TAIL)))
    for _ in range(_END_STEPS):
        middle = (inside + high) / 2.0
        above = _log_integrand(middle, tests) > enough
        inside, high = np.where(above, middle, inside), np.where(above, high, middle)
    return low, high, node_counts(low, high, _STEP / c**_NARROWING)


def node_counts(low: Floats, high: Floats, step: Floats) -> Ints:
    """Number of nodes in a window by this step; 0 for an empty one."""
    import numpy as np

    nodes = _NODES * np.ceil((high - low) / (_NODES * step))
    possible = np.isfinite(low) & np.isfinite(high) & (nodes > 0) & (nodes <= _MOST_NODES)
    return np.where(possible, nodes, 0.0).astype(np.int64)


def _lower_cut(c: Floats) -> Floats:
    """Where, for a rate of 1, the mass below times its distance from a power is negligible.

    The mass below y is y^c/Γ(c + 1), and it is off from the geometric series by a share of y, or
    by all of it where y is 1 or more.
    """
    import numpy as np
    from scipy.special import gammaln

    room = gammaln(c + 1.0) - _TAIL
    return np.where(room < 0, room / (c + 1.0), room / c)  # type: ignore[no-any-return]


def _log_integrand(log_y: Floats, tests: Floats) -> Floats:
    """Of d(ln y): no two large terms are subtracted, however large the sample."""
    import numpy as np

    a, q, w, p, b = tests
    y: Floats = np.exp(log_y)
    value: Floats = np.add(y, a * w)
    np.divide(a * q, value, out=value)
    np.multiply(np.log1p(value, out=value), b, out=value)
    shrinkage = np.log1p(a / y)
    shrinkage *= p / 2.0
    value -= shrinkage
    y -= log_y
    y /= 2.0
    value -= y
    return value
