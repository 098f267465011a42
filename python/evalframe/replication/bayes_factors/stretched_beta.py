"""The logarithm of the exact Bayes factor of a correlation, over whole columns.

With the stretched beta prior of width κ, a = (n - 1)/2, b = 1/κ + 1/2 and w = 1 - r², it is

    2^(1 - 2/κ) sqrt(π) / B(1/κ, 1/κ) · Γ(a + b - 1/2) / Γ(a + b) · 2F1(a, a; a + b; r²).

Euler's transformation turns 2F1(a, a) into w^(b - a) 2F1(b, b), so that the smaller of a and b can
be taken, p, and the larger, q: 2F1(p, p; p + q; r²) never grows with n. Its integral is

    B(p, q) 2F1(p, p; p + q; r²) = ∫ y^p (1 + w y)^(-p) (1 + y)^(-q) d(ln y),

whose logarithm is concave in ln y. The nearest singularities lie at a distance of π throughout, so
that the trapezoid rule takes one step for all r and n.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalframe.replication.bayes_factors.likelihoods import stirling_error
from evalframe.replication.bayes_factors.quadrature import log_integrals, node_counts

if TYPE_CHECKING:
    from evalframe.core.segments import Floats

_TAIL = 36.0
"""Digits, as a natural logarithm, to which the integral is cut off above; below it is a power."""

_STEP = 0.33
"""Step in ln y for p = 1; narrower peaks get less."""


def log_exact_r(r: Floats, n: Floats, kappa: float) -> Floats:
    """The logarithm of the Bayes factor, to about 1e-13 or the last digits of a large value."""
    import numpy as np
    from scipy.special import betaln, gammaln

    width = 1.0 / kappa
    a, b = (n - 1.0) / 2.0, width + 0.5
    p, q = np.minimum(a, b), np.maximum(a, b)
    w = (1.0 - r) * (1.0 + r)
    log_w = np.log1p(-r) + np.log1p(r)
    # At 1 and -1 little data can be outdone by the prior: then the Bayes factor is finite.
    log_integral = np.where(a < b, betaln(p, np.where(a < b, q - p, 1.0)), np.inf)
    rows = np.flatnonzero(w > 0)
    tests: Floats = np.stack([p, q, w])[:, rows]
    low, high = _window(tests, log_w[rows])
    step = _STEP / np.sqrt(np.maximum(tests[0], 1.0))
    window = low, high, node_counts(low, high, step)
    log_integral[rows] = log_integrals(_log_integrand, tests, tests[0], window)
    prior = (1.0 - 2.0 * width) * math.log(2.0) - betaln(width, width) + math.log(math.pi) / 2.0
    power = np.where((a > b) & (w > 0), (b - a) * np.where(w > 0, log_w, 0.0), 0.0)
    return prior + _log_gamma_ratio(q, p - 0.5) - gammaln(p) + power + log_integral  # type: ignore[no-any-return]


def _window(tests: Floats, log_w: Floats) -> tuple[Floats, Floats]:
    """Where the integrand falls far below its mode, by bounds of its two sides."""
    import numpy as np

    p, q, w = tests
    apart = q - p
    mode = np.log(2.0 * p / (apart + np.sqrt(apart * apart + 4.0 * p * q * w)))
    enough = _log_integrand(mode, tests) - _TAIL
    # It is at most y^p, and at most w^(-p) (1 + y)^(-q).
    log_reach = -(p * log_w + enough) / q
    return enough / p, np.where(log_reach > 1.0, log_reach, np.log(np.expm1(log_reach)))


def _log_integrand(log_y: Floats, tests: Floats) -> Floats:
    import numpy as np

    p, q, w = tests
    y: Floats = np.exp(log_y)
    value: Floats = p * (log_y - np.log1p(w * y)) - q * np.log1p(y)
    return value


def _log_gamma_ratio(z: Floats, more: Floats) -> Floats:
    """The logarithm of Γ(z + more) / Γ(z), without a difference of large logarithms."""
    import numpy as np

    total = z + more
    main = (z - 0.5) * np.log1p(more / z) + more * np.log(total) - more
    return main + stirling_error(total) - stirling_error(z)
