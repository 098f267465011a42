"""Bayes factors against forty digits, and in order, over the whole range of what is possible."""

import math
from decimal import Decimal, localcontext

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.replication.bayes_factors.expressions import (
    bayes_factor_r,
    log_bayes_factor_binomial,
    log_bayes_factor_bound,
    log_bayes_factor_chi2,
    log_bayes_factor_f,
    log_bayes_factor_r,
    log_bayes_factor_t,
    log_bayes_factor_u,
    log_bayes_factor_variance_ratio,
)

TWO_PI = Decimal("6.283185307179586476925286766559005768394")
DIGITS = 40


def logs(make, *columns):
    """The values of an expression over columns by position."""
    names = [f"x{place}" for place in range(len(columns))]
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)), strict=False)
    return frame.select(make(*names)).to_series().to_list()


def near(exact):
    return pytest.approx(float(exact), abs=1e-9, rel=2e-15)


def exact_jzs(size, above, below, p, twice_b, scale):
    """The definition by the trapezoid rule over ln g, in a fixed fine step.

    The explained over the unexplained variance is `above / below`.
    """
    with localcontext(prec=DIGITS):
        signal = Decimal(above) / Decimal(below)
        explained, left = signal / (1 + signal), 1 / (1 + signal)
        reach, b = Decimal(size) * Decimal(str(scale)) ** 2, Decimal(twice_b) / 2
        # Many effects make a narrow peak, and need not go far.
        parts = 4 * math.isqrt(p + 3) // 2
        step, terms = 1 / Decimal(parts), []
        for place in range(-6 * parts, (70 if p < 20 else 20) * parts):
            u = place * step
            x = reach * u.exp()
            gain = b * (1 + x * explained / (1 + x * left)).ln()
            terms.append(gain - Decimal(p) / 2 * (1 + x).ln() - u / 2 - (-u).exp() / 2)
        most = max(terms)
        total = sum((term - most).exp() for term in terms if term - most > -60)
        return most + (total * step).ln() - TWO_PI.ln() / 2


def log_factorial(n):
    with localcontext(prec=DIGITS):
        if n < 1000:
            return Decimal(math.factorial(n)).ln()
        z = Decimal(n)
        series = 1 / (12 * z) - 1 / (360 * z**3) + 1 / (1260 * z**5) - 1 / (1680 * z**7)
        return (z + Decimal("0.5")) * z.ln() - z + TWO_PI.ln() / 2 + series


def exact_binomial(k, n, p0):
    with localcontext(prec=DIGITS):
        chosen = log_factorial(n) - log_factorial(k) - log_factorial(n - k)
        likelihood = k * Decimal(p0).ln() + (n - k) * (1 - Decimal(p0)).ln()
        return -Decimal(n + 1).ln() - chosen - likelihood


def exact_variance_ratio(f, df1, df2):
    """The upper tail of F as a finite sum, df1 even, far enough out to be the smaller one."""
    with localcontext(prec=DIGITS):
        a, b, f = Decimal(df2) / 2, df1 // 2, Decimal(f)
        x = df2 / (df2 + df1 * f)
        term = total = Decimal(1)
        for j in range(1, b):
            term *= (a + j - 1) / j * (1 - x)
            total += term
        log_p = Decimal(2).ln() + a * x.ln() + total.ln()
        return -log_p - 1 - (-log_p).ln()


@pytest.mark.parametrize(
    ("n", "t"), [(2, 0.0), (2, 1000.0), (3, 2.5), (30, 1000.0), (10**7, 0.0), (10**7, 2.5)]
)
def test_t_of_one_sample(n, t):
    exact = exact_jzs(n, t * t, n - 1, 1, n, 0.707)
    assert logs(log_bayes_factor_t, [t], [n]) == [near(exact)]


@pytest.mark.parametrize(("n1", "n2"), [(1, 2), (1, 10**7), (40, 60)])
def test_t_of_two_groups(n1, n2):
    with localcontext(prec=DIGITS):
        size = Decimal(n1) * n2 / (n1 + n2)
    exact = exact_jzs(size, 400, n1 + n2 - 2, 1, n1 + n2 - 1, 0.707)
    assert logs(log_bayes_factor_t, [-20.0], [n1], [n2]) == [near(exact)]


@pytest.mark.parametrize(
    ("f", "df1", "df2"),
    [
        (0.0, 1, 1),
        (4.0, 3, 50),
        (1e5, 1, 1),
        (1e5, 1, 10**7),
        (1e5, 40, 1),
        (1e5, 10, 10**4),
        (0.5, 150, 10**6),
        (3.0, 500, 700),
    ],
)
def test_f(f, df1, df2):
    n = df1 + df2 + 1
    exact = exact_jzs(n, df1 * f, df2, df1, n - 1, 0.5)
    assert logs(log_bayes_factor_f, [f], [df1], [df2], [n]) == [near(exact)]


@pytest.mark.parametrize(
    ("r", "n"), [(0.0, 4), (0.1, 4), (-0.9, 20), (-0.999, 50), (0.5, 3000), (0.03, 10**6)]
)
def test_r_of_an_even_number_by_its_series(r, n):
    """π/2 C(n, n/2) / 2^n 2F1(a, a; n/2 + 1; r²) with a = (n - 1)/2, for a flat prior."""
    with localcontext(prec=DIGITS):
        a, c, x = Decimal(n - 1) / 2, Decimal(n) / 2 + 1, Decimal(r) ** 2
        term = total = Decimal(1)
        k = 0
        while term > total * Decimal(10) ** -20:
            term *= (a + k) ** 2 / ((c + k) * (k + 1)) * x
            total += term
            k += 1
        chosen = log_factorial(n) - 2 * log_factorial(n // 2)
        exact = (TWO_PI / 4).ln() + chosen - n * Decimal(2).ln() + total.ln()
    assert logs(log_bayes_factor_r, [r], [n]) == [near(exact)]


WIDTHS = [
    (1.0, 0.9, 3, 0.12226323763341755),
    (1.0, 0.999999999999, 4, 3.6523639848944036),
    (1.0, 0.5, 1000000, 143833.77889869423),
    (1 / 3, 0.999999999, 7, 3.46548894216409),
    (1 / 3, 0.3, 300, 11.771645623383101),
    (3**-0.5, 0.5, 20, 1.2078941127186613),
    (2.0, 0.9999999999999999, 3, 2.8915836174398177),
    (2.0, 0.1, 62, -1.9885239487881479),
    (0.1, 0.95, 300, 322.8453356354986),
    (0.01, 0.9, 1000, 677.5336430930491),
    (0.001, 0.3, 10000, 391.4788014282391),
    (5.0, 0.9999999999999999, 1000000, 18021775.617797777),
    (100.0, 0.7, 20, 0.9071790708159898),
]
"""Width of the prior, r, n and the logarithm by mpmath, of 34 digits."""


@pytest.mark.parametrize(("kappa", "r", "n", "exact"), WIDTHS)
def test_r_by_priors_of_any_width(kappa, r, n, exact):
    found = logs(lambda r, n: log_bayes_factor_r(r, n, kappa=kappa), [r, -r], [n, n])
    assert found == [pytest.approx(exact, rel=1e-12, abs=2e-12)] * 2


def test_r_as_pingouin_has_it():
    found = logs(bayes_factor_r, [0.0, 0.3, 0.53], [30, 20, 122])
    assert found == pytest.approx([0.2269242244190843, 0.5996515690280951, 32202455.67643976])


def test_r_of_1_is_finite_for_few_pairs():
    assert logs(bayes_factor_r, [1.0, -1.0, 1.0], [3, 3, 4]) == [pytest.approx(2.0)] * 2 + [
        math.inf
    ]
    narrow = logs(lambda r, n: log_bayes_factor_r(r, n, kappa=1 / 3), [1.0, 1.0], [7, 8])
    assert narrow == [pytest.approx(3.465735902799727), math.inf]


@pytest.mark.parametrize(("z", "size"), [(0.0, 10**6), (2.5, 1), (40.0, 50), (1e3, 10**6)])
def test_a_score_is_a_t_of_endless_degrees_of_freedom(z, size):
    with localcontext(prec=DIGITS):
        reach, terms = Decimal(size) * Decimal("0.707") ** 2, []
        for place in range(-6 * 16, 70 * 16):
            u = Decimal(place) / 16
            x = reach * u.exp()
            gain = Decimal(z) ** 2 / 2 * x / (1 + x)
            terms.append(gain - (1 + x).ln() / 2 - u / 2 - (-u).exp() / 2)
        most = max(terms)
        total = sum((term - most).exp() for term in terms if term - most > -60)
        exact = most + (total / 16).ln() - TWO_PI.ln() / 2
    endless = lambda t, n, df: log_bayes_factor_t(t, n, df=df)  # noqa: E731
    assert logs(endless, [z], [size], [math.inf]) == [near(exact)]


def test_own_degrees_of_freedom():
    own = lambda t, n1, n2, df: log_bayes_factor_t(t, n1, n2, df=df)  # noqa: E731
    found = logs(own, [2.5, 2.5], [30, 30], [20, 20], [48.0, None])
    assert found[0] == found[1] == logs(log_bayes_factor_t, [2.5], [30], [20])[0]
    with localcontext(prec=DIGITS):
        exact = exact_jzs(12, Decimal("6.25"), Decimal("33.5"), 1, Decimal("34.5"), 0.707)
    assert logs(own, [2.5], [30], [20], [33.5]) == [near(exact)]


def test_a_narrow_prior_in_conflict_with_the_data():
    found = logs(lambda t, n: log_bayes_factor_t(t, n, scale=0.001), [6.0, 40.0], [4, 10**5])
    exact = [exact_jzs(n, t * t, n - 1, 1, n, 0.001) for t, n in ((6, 4), (40, 10**5))]
    assert found == [near(value) for value in exact]


@pytest.mark.parametrize(
    ("k", "n", "p0"),
    [
        (0, 0, 0.5),
        (0, 7, 0.3),
        (9, 9, 1e-9),
        (1100, 2000, 0.5),
        (5_000_100, 10**7, 0.5),
        (17, 10**7, 0.9),
        (10**7, 10**7, 0.1),
        (9_999_999, 10**7, 0.999999),
    ],
)
def test_binomial(k, n, p0):
    exact = exact_binomial(k, n, p0)
    found = logs(log_bayes_factor_binomial, [k], [n], [p0])
    assert found == [near(exact)]


@pytest.mark.parametrize(
    ("f", "df1", "df2"),
    [
        (3.0, 10, 15),
        (7.0, 200, 300),
        (1e5, 4, 10**6),
        (1e5, 1000, 1001),
        (40.0, 2, 10**7),
        (1.5, 2000, 40_000),
        (1e5, 2, 1),
        (20.0, 60, 90),
    ],
)
def test_variance_ratio_upwards_and_downwards(f, df1, df2):
    exact = exact_variance_ratio(f, df1, df2)
    ways = logs(log_bayes_factor_variance_ratio, [f, 1 / f], [df1, df2], [df2, df1])
    assert ways == [near(exact), near(exact)]


def test_bound_down_to_the_smallest_numbers():
    p = [0.5, 0.36787944117144233, 0.3678, 0.05, 1e-20, 1e-300, 5e-324]
    exact = [
        max(-math.log(x) - 1 - math.log(-math.log(x)), 0.0) if x < math.exp(-1) else 0.0 for x in p
    ]
    assert logs(log_bayes_factor_bound, p) == [near(value) for value in exact]


SIZES = st.floats(math.log(2), math.log(1e7)).map(lambda log: round(math.exp(log)))


def rises(values):
    """In order, but for the last digits of the quadrature and of large values."""
    values = np.array(values, dtype=np.float64)
    assert np.isfinite(values).all()
    return bool((np.diff(values) >= -2e-10 - 1e-14 * np.abs(values[1:])).all())


@settings(max_examples=8, deadline=None)
@given(SIZES, st.one_of(st.none(), SIZES))
def test_t_is_monotone_and_symmetric_without_cliffs(n1, n2):
    t = np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 150), [9.999999, 10.0, 10.000001]])
    t.sort()
    found = logs(log_bayes_factor_t, t, [n1] * len(t), [n2] * len(t))
    assert rises(found)
    assert logs(log_bayes_factor_t, -t, [n1] * len(t), [n2] * len(t)) == found
    if n2 is not None:
        assert logs(log_bayes_factor_t, t, [n2] * len(t), [n1] * len(t)) == found


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 60), SIZES, st.integers(0, 50))
def test_f_is_monotone(df1, df2, more):
    f = np.sort(np.concatenate([[0.0], np.geomspace(1e-6, 1e5, 150), [99.99999, 100, 100.00001]]))
    n = df1 + df2 + 1 + more
    assert rises(logs(log_bayes_factor_f, f, [df1] * len(f), [df2] * len(f), [n] * len(f)))


@settings(max_examples=10, deadline=None)
@given(SIZES, st.integers(1, 100), st.integers(1, 100))
def test_the_others_are_monotone(n, n1, n2):
    r = np.sort(np.concatenate([np.linspace(0, 1 - 1e-12, 80), 1 - np.geomspace(1e-12, 0.1, 40)]))
    found = logs(log_bayes_factor_r, r, [n + 1] * len(r))
    assert rises(found)
    assert logs(log_bayes_factor_r, -r, [n + 1] * len(r)) == found
    u = np.linspace(n1 * (n2 + 1) / 2, n1 * (n2 + 1), 60)
    assert rises(logs(log_bayes_factor_u, u, [n1] * 60, [n2 + 1] * 60))
    chi2 = np.geomspace(1e-3, 1e7, 60)
    assert rises(logs(log_bayes_factor_chi2, chi2, [3] * 60, [n] * 60))
    p = np.geomspace(1, 1e-300, 200)
    assert rises(logs(log_bayes_factor_bound, p))
    f = np.geomspace(1, 1e5, 200)
    ratios = logs(log_bayes_factor_variance_ratio, f, [n1] * 200, [n1] * 200)
    assert rises(ratios)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 10**7), st.floats(0, 1), st.floats(0.001, 0.999))
def test_binomial_of_any_size(n, share, p0):
    k = round(share * n)
    assert logs(log_bayes_factor_binomial, [k], [n], [p0]) == [near(exact_binomial(k, n, p0))]


def test_many_tests_give_what_few_do():
    rng = np.random.default_rng(0)
    t, n = rng.normal(0, 4, 50_000), rng.integers(2, 500, 50_000)
    found = np.array(logs(log_bayes_factor_t, t, n))
    few = np.array(logs(log_bayes_factor_t, t[::997], n[::997]))
    assert np.abs(found[::997] - few).max() < 1e-12
