"""Logarithms of binomial probabilities and of tails of F, accurate at any size.

Differences of log-gamma functions lose eight digits at ten million. Both formulas are written
around their mode instead, so that only the distance from it, and small corrections, are added.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalframe.core.segments import Floats

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
    import numpy as np

    return -np.log1p(n) - log_binomial(k, n, p0)


def log_binomial(k: Floats, n: Floats, p0: Floats) -> Floats:
    """Logarithm of the probability of k of n at the share p0 (Loader 2000)."""
    import numpy as np

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
    import numpy as np

    return log_binomial(k, n, np.full_like(n, 0.5)) + n * np.log(2.0)  # type: ignore[no-any-return]


def log_two_sided_f(f: Floats, df1: Floats, df2: Floats) -> Floats:
    """Logarithm of the two-sided p-value of a ratio of variances; f ≥ 0, degrees above 0."""
    import numpy as np
    from scipy.special import betainc

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
    import numpy as np

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
    from scipy.special import roots_laguerre

    nodes, weights = roots_laguerre(_TAIL_NODES)
    return nodes, weights


def stirling_error(z: Floats) -> Floats:
    """What Stirling's formula lacks of the logarithm of the gamma function, for z > 0."""
    import numpy as np
    from scipy.special import gammaln

    large = np.maximum(z, _ASYMPTOTIC)
    inverse = 1.0 / (large * large)
    series = 1 / 1260 - inverse * (1 / 1680 - inverse * (1 / 1188))
    tail = (1 / 12 - inverse * (1 / 360 - inverse * series)) / large
    small = np.minimum(z, _ASYMPTOTIC)
    direct = gammaln(small) - ((small - 0.5) * np.log(small) - small + _HALF_LOG_2PI)
    return np.where(z < _ASYMPTOTIC, direct, tail)


def _surprise(observed: Floats, expected: Floats) -> Floats:
    """Found times the logarithm of found over expected, plus expected minus found."""
    excess = observed - expected
    return observed * _log_ratio(observed, expected, excess) - excess


def _log_ratio(above: Floats, below: Floats, excess: Floats) -> Floats:
    """The logarithm of above over below, from their difference where they are near each other."""
    import numpy as np

    near = np.abs(excess) < below / 2.0
    return np.where(near, np.log1p(np.where(near, excess / below, 0.0)), np.log(above / below))
