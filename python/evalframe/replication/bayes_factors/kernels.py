"""Kernels of Bayes factors over whole columns: binomial shares, tails of F, JZS, correlations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
from scipy.special import betainc, betaln, gammaln, roots_laguerre

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints

    LogIntegrand: TypeAlias = Callable[[Floats, Floats], Floats]
    Window: TypeAlias = tuple[Floats, Floats, Ints]


_HALF_LOG_2PI = 0.9189385332046727

_ASYMPTOTIC = 12.0
"""From here on five terms of Stirling's series give all digits."""

_DEEP = 1e-60
"""Tails below this are integrated here: those of scipy end at 1e-308, and lose digits before."""

_TAIL_NODES = 32

_ROWS = (1 << 15) // _TAIL_NODES
"""Tails that are worked on at a time, few enough for the caches."""


def log_beta_binomial_factor(k: Floats, n: Floats, p0: Floats) -> Floats:
    """Logarithm of the Bayes factor of a uniform share against the share p0: k of n, 0 < p0 < 1."""
    return -np.log1p(n) - log_binomial(k, n, p0)


def log_binomial(k: Floats, n: Floats, p0: Floats) -> Floats:
    """Logarithm of the probability of k of n at the share p0 (Loader 2000)."""
    rest = n - k
    ends = np.where(k == 0, n * np.log1p(-p0), n * np.log(p0))
    inner = (k > 0) & (rest > 0)
    k, rest = np.where(inner, k, 1.0), np.where(inner, rest, 1.0)
    n = k + rest
    distance = _surprise(k, n * p0) + _surprise(rest, n * (1.0 - p0))
    correction = stirling_error(n) - stirling_error(k) - stirling_error(rest)
    spread = 0.5 * (np.log(n) - np.log(k) - np.log(rest)) - _HALF_LOG_2PI
    return np.where(inner, spread + correction - distance, ends)


def log_choose(k: Floats, n: Floats) -> Floats:
    """Logarithm of the number of ways to choose k of n."""
    return log_binomial(k, n, np.full_like(n, 0.5)) + n * np.log(2.0)  # type: ignore[no-any-return]


def log_two_sided_f(f: Floats, df1: Floats, df2: Floats) -> Floats:
    """Logarithm of the two-sided p-value of a ratio of variances; f ≥ 0, degrees above 0."""
    a, b = df2 / 2.0, df1 / 2.0
    ratio = df1 * f / df2
    upper = betainc(a, b, 1.0 / (1.0 + ratio))
    lower = betainc(b, a, 1.0 / (1.0 + 1.0 / ratio))
    log_p = np.log(np.minimum(2.0 * np.minimum(upper, lower), 1.0))
    # At 0 and infinity p is 0.
    deep = np.flatnonzero((np.minimum(upper, lower) < _DEEP) & (f > 0) & np.isfinite(f))
    if len(deep):
        f, df1, df2 = f[deep], df1[deep], df2[deep]
        above = upper[deep] < lower[deep]
        f = np.where(above, f, 1.0 / f)
        df1, df2 = np.where(above, df1, df2), np.where(above, df2, df1)
        parts = [slice(start, start + _ROWS) for start in range(0, len(deep), _ROWS)]
        tails = [_log_deep_upper_f(f[part], df1[part], df2[part]) for part in parts]
        log_p[deep] = np.log(2.0) + np.concatenate(tails)
    return log_p  # type: ignore[no-any-return]


def _log_deep_upper_f(f: Floats, df1: Floats, df2: Floats) -> Floats:
    """Logarithm of the upper tail of F, far out, where it falls nearly exponentially.

    The tail is x^a (1 - x)^(b - 1)/B(a, b) ∫ e^(-a v) (1 + (1 - e^(-v)) x/(1 - x))^(b - 1) dv from
    0, with x = df2/(df2 + df1 f), a = df2/2, b = df1/2; its first slope scales the nodes.
    """
    a, b = df2 / 2.0, df1 / 2.0
    odds = df2 / (df1 * f)
    slope = a - (b - 1.0) * odds
    nodes, weights = _laguerre()
    v = nodes[:, None] / slope
    bend = (b - 1.0) * np.log1p(-odds * np.expm1(-v)) - a * v + nodes[:, None]
    integral = (weights[:, None] * np.exp(bend)).sum(axis=0) / slope
    total = df2 + df1 * f
    density = (
        a * _log_ratio(df1 + df2, total, df1 * (1.0 - f))
        + b * _log_ratio((df1 + df2) * f, total, df2 * (f - 1.0))
        + 0.5 * (np.log(a) + np.log(b) - np.log(a + b))
        - _HALF_LOG_2PI
        + (stirling_error(a + b) - stirling_error(a) - stirling_error(b))
    )
    return density + np.log1p(odds) + np.log(integral)  # type: ignore[no-any-return]


@cache
def _laguerre() -> tuple[Floats, Floats]:
    nodes, weights = roots_laguerre(_TAIL_NODES)
    return nodes, weights


def stirling_error(z: Floats) -> Floats:
    """Logarithm of the gamma function minus Stirling's formula for it, for z > 0."""
    large = np.maximum(z, _ASYMPTOTIC)
    inverse = 1.0 / (large * large)
    series = 1 / 1260 - inverse * (1 / 1680 - inverse * (1 / 1188))
    tail = (1 / 12 - inverse * (1 / 360 - inverse * series)) / large
    small = np.minimum(z, _ASYMPTOTIC)
    direct = gammaln(small) - ((small - 0.5) * np.log(small) - small + _HALF_LOG_2PI)
    return np.where(z < _ASYMPTOTIC, direct, tail)


def _surprise(observed: Floats, expected: Floats) -> Floats:
    """Return o log(o / e) + e - o of observed and expected numbers, exact if they are near."""
    excess = observed - expected
    return observed * _log_ratio(observed, expected, excess) - excess


def _log_ratio(above: Floats, below: Floats, excess: Floats) -> Floats:
    """The logarithm of above over below, from their difference where they are near each other."""
    near = np.abs(excess) < below / 2.0
    return np.where(near, np.log1p(np.where(near, excess / below, 0.0)), np.log(above / below))


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


def log_jzs(reach: Floats, explained: Floats, unexplained: Floats, p: Floats, b: Floats) -> Floats:
    """The logarithm of the JZS integral, to about 1e-10 or the last digits of a large value.

    All of t, z, F and U have Bayes factors of one form. With y = 1/g, where g is the prior
    variance,

        BF = (2π)^(-1/2) ∫ y^(1/2) e^(-y/2) (1 + a/y)^(b - p/2) (1 + a w/y)^(-b) d(ln y)

    for a = N r² (t, U, z: N the effective size, p = 1, b = (ν + 1)/2; F: b = (N - 1)/2), and w the
    share of the variance that is left unexplained; q = 1 - w comes separately, as the difference
    would lose its digits. The trapezoid rule over ln y converges exponentially, as the integrand is
    analytic and falls off at both ends: doubly exponentially to large y, and as y^c with c = (p +
    1)/2 to small y, where the nodes that are left out form a geometric series, which is added.
    """
    # reach is a = N r², explained is q, unexplained w, b half of the degrees of freedom plus one.
    # If a is 0 the data say nothing and the result is 0; if w is 0 it is infinite; it is NaN so far
    # from any test that the integral has no window.
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
    for count in np.unique(nodes[nodes > 0]):
        rows = np.flatnonzero(nodes == count)
        size = max(_CELLS // int(count), 1)
        for start in range(0, len(rows), size):
            yield rows[start : start + size], int(count)


def _window(tests: Floats) -> Window:
    """The ends of the window in ln y, and how many nodes it takes: 0 if there is no window."""
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
    nodes = _NODES * np.ceil((high - low) / (_NODES * step))
    possible = np.isfinite(low) & np.isfinite(high) & (nodes > 0) & (nodes <= _MOST_NODES)
    return np.where(possible, nodes, 0.0).astype(np.int64)


def _lower_cut(c: Floats) -> Floats:
    """Where, for a rate of 1, the mass below times its distance from a power is negligible.

    The mass below y is y^c/Γ(c + 1), and it is off from the geometric series by a share of y, or
    by all of it where y is 1 or more.
    """
    room = gammaln(c + 1.0) - _TAIL
    return np.where(room < 0, room / (c + 1.0), room / c)  # type: ignore[no-any-return]


def _log_integrand(log_y: Floats, tests: Floats) -> Floats:
    """Of d(ln y): no two large terms are subtracted, however large the sample."""
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


_TAIL_OF_R = 36.0
"""Digits, as a natural logarithm, to which the integral is cut off above; below it is a power."""

_STEP_OF_R = 0.33
"""Step in ln y for p = 1; narrower peaks get less."""


def log_exact_r(r: Floats, n: Floats, kappa: float) -> Floats:
    """The logarithm of the exact factor, to about 1e-13 or the last digits of a large value.

    With the stretched beta prior of width κ, a = (n - 1)/2, b = 1/κ + 1/2 and w = 1 - r², it is

        2^(1 - 2/κ) sqrt(π) / B(1/κ, 1/κ) · Γ(a + b - 1/2) / Γ(a + b) · 2F1(a, a; a + b; r²).

    Euler's transformation turns 2F1(a, a) into w^(b - a) 2F1(b, b), so that the smaller of a and b
    can be taken, p, and the larger, q: 2F1(p, p; p + q; r²) never grows with n. Its integral is

        B(p, q) 2F1(p, p; p + q; r²) = ∫ y^p (1 + w y)^(-p) (1 + y)^(-q) d(ln y),

    whose logarithm is concave in ln y. The nearest singularities lie at a distance of π throughout,
    so that the trapezoid rule takes one step for all r and n.
    """
    width = 1.0 / kappa
    a, b = (n - 1.0) / 2.0, width + 0.5
    p, q = np.minimum(a, b), np.maximum(a, b)
    w = (1.0 - r) * (1.0 + r)
    log_w = np.log1p(-r) + np.log1p(r)
    # At 1 and -1 little data can be outdone by the prior: then the Bayes factor is finite.
    log_integral = np.where(a < b, betaln(p, np.where(a < b, q - p, 1.0)), np.inf)
    rows = np.flatnonzero(w > 0)
    tests: Floats = np.stack([p, q, w])[:, rows]
    low, high = _window_of_r(tests, log_w[rows])
    step = _STEP_OF_R / np.sqrt(np.maximum(tests[0], 1.0))
    window = low, high, node_counts(low, high, step)
    log_integral[rows] = log_integrals(_log_integrand_of_r, tests, tests[0], window)
    prior = (1.0 - 2.0 * width) * math.log(2.0) - betaln(width, width) + math.log(math.pi) / 2.0
    power = np.where((a > b) & (w > 0), (b - a) * np.where(w > 0, log_w, 0.0), 0.0)
    return prior + _log_gamma_ratio(q, p - 0.5) - gammaln(p) + power + log_integral  # type: ignore[no-any-return]


def _window_of_r(tests: Floats, log_w: Floats) -> tuple[Floats, Floats]:
    """Where the integrand falls far below its mode, by bounds of its two sides."""
    p, q, w = tests
    apart = q - p
    mode = np.log(2.0 * p / (apart + np.sqrt(apart * apart + 4.0 * p * q * w)))
    enough = _log_integrand_of_r(mode, tests) - _TAIL_OF_R
    # It is at most y^p, and at most w^(-p) (1 + y)^(-q).
    log_reach = -(p * log_w + enough) / q
    return enough / p, np.where(log_reach > 1.0, log_reach, np.log(np.expm1(log_reach)))


def _log_integrand_of_r(log_y: Floats, tests: Floats) -> Floats:
    p, q, w = tests
    y: Floats = np.exp(log_y)
    value: Floats = p * (log_y - np.log1p(w * y)) - q * np.log1p(y)
    return value


def _log_gamma_ratio(z: Floats, more: Floats) -> Floats:
    """The logarithm of Γ(z + more) / Γ(z), without a difference of large logarithms."""
    total = z + more
    main = (z - 0.5) * np.log1p(more / z) + more * np.log(total) - more
    return main + stirling_error(total) - stirling_error(z)
