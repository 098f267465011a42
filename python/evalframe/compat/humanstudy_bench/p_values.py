"""P-values and directions of tests, and the posteriors that they repair, as in HumanStudy-Bench.

It compares names of tests and words of directions as they are written, by lists that differ from
function to function: `t_test` and `sign_test` have effects and no p-values, `ttest_ind` and
`mann-whitney` p-values and no effects, and `greater` is an alternative, but not a positive
direction.

| input | `evalframe.replication` | here |
|---|---|---|
| upper tails | survival functions, down to 1e-308 | one less the probability below |
| a Mann-Whitney statistic | U | z if above a tenth of the pairs, else U |
| degrees of freedom of F | `df1`, `df2` | the sizes of the groups |
| p of chi-square | upper tail | none |
| p of counts without `k` or `p0` | `stat` and 0.5 | none |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.effects import EFFECT_KINDS
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.by_kind import agrees
from evalframe.replication.effects.kinds import among
from evalframe.replication.numbers import number, over_numbers
from evalframe.replication.p_values import GREATER, LESS, TWO_SIDED, binomial_p_value, or_usual

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


_WITH_P_VALUES = {
    **dict.fromkeys(("t-test", "ttest", "ttest_ind", "ttest_rel", "ttest_1samp"), "t"),
    **dict.fromkeys(("f-test", "f_test", "anova"), "f"),
    **dict.fromkeys(("correlation", "pearson", "spearman"), "correlation"),
    **dict.fromkeys(("mannwhitneyu", "mann-whitney", "wilcoxon"), "rank"),
    **dict.fromkeys(("binomial", "binomtest"), "binomial"),
}

_FACTOR = 100.0
_EPSILON = 1e-6
_UNKNOWN = 0.5
_SHARE_OF_PAIRS = 0.1
"""A statistic above this share of the pairs is taken for z, else for U."""


def repaired_posterior(
    pi_human: IntoExpr = "pi_human", is_significant: IntoExpr = "is_significant_human"
) -> pl.Expr:
    """A human posterior whose odds are multiplied or divided by 100 to agree with the p-value.

    It stays if it is 0.5 or more and the human result significant, or 0.5 or less and not
    significant. There is no reason for the number 100.

    Args:
        pi_human: Posterior probability of an effect.
        is_significant: Boolean; null is not significant.

    Returns:
        Float64, named `repaired_posterior`, never null: 0.5 if the posterior is null or NaN.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import repaired_posterior
        >>> tests = pl.DataFrame({"pi_human": [0.8], "is_significant_human": [False]})
        >>> round(tests.select(repaired_posterior()).item(), 4)
        0.0385
    """
    pi, significant = number(pi_human), as_expr(is_significant).fill_null(value=False)
    agrees = pl.when(significant).then(pi >= 0.5).otherwise(pi <= 0.5)
    factor = pl.when(significant).then(_FACTOR).otherwise(1.0 / _FACTOR)
    repaired = pi * factor / (pi * factor + 1.0 - pi)
    posterior = pl.when(agrees).then(pi).otherwise(repaired)
    return posterior.fill_null(_UNKNOWN).alias("repaired_posterior")


def scalar_pas(pi_human: pl.Expr, pi_agent: pl.Expr) -> pl.Expr:
    """The two-way PAS after a repair, for which 0 is a missing posterior and NaN is 1.

    >>> sides = pl.DataFrame({"human": [1.0], "agent": [0.0]})
    >>> sides.select(scalar_pas(pl.col("human"), pl.col("agent"))).item()
    0.5
    """
    agent = pl.when(pi_agent != 0).then(pi_agent).fill_nan(1.0).fill_null(_UNKNOWN)
    human, agent = (pi.clip(_EPSILON, 1.0 - _EPSILON) for pi in (pi_human, agent))
    return human * agent + (1.0 - human) * (1.0 - agent)


def kind_of_effect(test_type: pl.Expr) -> pl.Expr:
    """The kind of a test whose effect is derived.

    >>> tests = pl.DataFrame({"test_type": ["t_test", "T-Test", "ttest_ind", "binomtest"]})
    >>> tests.select(kind_of_effect(pl.col("test_type"))).to_series().to_list()
    ['t', None, None, 'binomial']
    """
    return among(test_type.cast(pl.String), EFFECT_KINDS | {"binomtest": "binomial"})


def side_of(expected: pl.Expr) -> pl.Expr:
    """The side of the alternative in words: two-sided for all others, and for null.

    >>> words = pl.DataFrame({"expected": ["positive", "<", "Positive", "pos", None]})
    >>> words.select(side_of(pl.col("expected"))).to_series().to_list()
    [1, -1, 0, 0, 0]
    """
    return (
        pl.when(expected.is_in(["positive", "greater", ">"]))
        .then(GREATER)
        .when(expected.is_in(["negative", "less", "<"]))
        .then(LESS)
        .otherwise(TWO_SIDED)
    )


def p_value(
    test_type: IntoExpr = "test_type",
    stat: IntoExpr | None = None,
    n1: IntoExpr | None = None,
    n2: IntoExpr | None = None,
    *,
    df1: IntoExpr | None = None,
    df2: IntoExpr | None = None,
    k: IntoExpr | None = None,
    n: IntoExpr | None = None,
    p0: IntoExpr | None = None,
    independent: IntoExpr | None = None,
    alternative: IntoExpr | None = None,
) -> pl.Expr:
    """`replication.p_value` with the differences of this module.

    F has 1 and n - 2 degrees of freedom for one group, and a p-value of 1 if it is negative; r of 1
    and -1 gives 0. `df1`, `df2` and `independent` are ignored.
    """
    stat, n1 = or_usual(stat, "stat", k), or_usual(n1, "n1", n)
    words = pl.lit(None, pl.String) if alternative is None else as_expr(alternative)
    stat, n1, n2, k, n, p0 = map(number, (stat, n1, n2, k, n, p0))
    of_trials = kind_of_effect(as_expr(test_type)).is_in(["correlation", "binomial"])
    size = pl.when(of_trials).then(pl.coalesce(n, n1)).otherwise(n1)
    side = side_of(words.cast(pl.String))
    return p_value_of(as_expr(test_type), [stat, size, n2, k, p0], side).alias("p_value")


def direction(
    test_type: IntoExpr = "test_type",
    stat: IntoExpr = "stat",
    *,
    expected: IntoExpr | None = None,
    cells: Sequence[IntoExpr] = (),
) -> pl.Expr:
    """The direction of an effect: 1 up, -1 down, 0 neither.

    The sign of t and r, which go down if they are 0; for a table of two groups and two outcomes the
    sign of the difference of the shares of the first outcome. If the statistic is missing, and for
    U and binomial tests, the expected direction is used: up for `positive`, `pos` and `+`, 0 if
    null (but up for F and chi-square), and down for all other words.

    Args:
        test_type: Name of the test.
        stat: The statistic.
        expected: The expected direction, as words.
        cells: Cells `a`, `b`, `c`, `d` of the table of a chi-square test.

    Returns:
        Int8, named `direction`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import direction
        >>> tests = pl.DataFrame({"test_type": ["t-test", "f-test"], "stat": [-2.0, 9.0]})
        >>> tests.select(direction()).to_series().to_list()
        [-1, 1]
    """
    words = pl.lit(None, pl.String) if expected is None else as_expr(expected).cast(pl.String)
    table = [number(cell) for cell in cells]
    return direction_of(as_expr(test_type), number(stat), table, words).alias("direction")


def direction_match(
    direction_human: IntoExpr = "direction_human", direction_agent: IntoExpr = "direction_agent"
) -> pl.Expr:
    """True if the agent's effect goes where the human one does: both up, or both down.

    Args:
        direction_human: 1, -1 or 0.
        direction_agent: The same of the agent's side; 0 matches nothing.

    Returns:
        Boolean, named `direction_match`; false if a direction is missing.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import direction_match
        >>> sides = pl.DataFrame({"direction_human": [1, 0], "direction_agent": [1, 0]})
        >>> sides.select(direction_match()).to_series().to_list()
        [True, False]
    """
    match = agrees(number(direction_human), number(direction_agent))
    return match.fill_null(value=False).alias("direction_match")


def p_value_of(test_type: pl.Expr, numbers: Sequence[pl.Expr], side: pl.Expr) -> pl.Expr:
    """The p-value of a statistic, sizes of groups, hits and their chance; counts must be whole."""
    stat, n1, n2, k, p0 = numbers
    kind = among(test_type.cast(pl.String), _WITH_P_VALUES)

    def of(name: str, value: pl.Expr) -> pl.Expr:
        return pl.when(kind == name).then(value)

    degrees = pl.when(n2.is_null()).then(n1 - 1.0).otherwise(n1 + n2 - 2.0)
    above = pl.when(n2.is_null()).then(1.0).otherwise(n1)
    below = pl.when(n2.is_null()).then(n1 - 2.0).otherwise(n2)
    pairs = n1 * n2
    variance = pairs * (n1 + n2 + 1.0) / 12.0
    of_u = pl.when(variance > 0).then((stat - pairs / 2.0) / variance.sqrt())
    is_z = (stat.abs() > _SHARE_OF_PAIRS * pairs) | pairs.is_null()
    r = pl.when((stat.abs() < 1) & (n1 > 2)).then(stat)
    t_of_r = r * ((n1 - 2.0) / (1.0 - r**2)).sqrt()
    whole_r = pl.when((stat.abs() == 1) & n1.is_not_null()).then(0.0)
    return pl.coalesce(
        _t_p_value(of("t", stat), degrees, side),
        over_numbers(_f, [of("f", stat.clip(0.0)), above, below]),
        of("correlation", whole_r),
        _t_p_value(of("correlation", t_of_r), n1 - 2.0, side),
        normal_p_value(of("rank", pl.when(is_z).then(stat).otherwise(of_u)), side),
        binomial_p_value(of("binomial", k), n1, p0, side),
    )


def direction_of(
    test_type: pl.Expr, stat: pl.Expr, cells: Sequence[pl.Expr], expected: pl.Expr
) -> pl.Expr:
    """The direction: t and r of 0 go down, as do all expected words that are not positive.

    >>> tests = pl.DataFrame({"stat": [2.0, 0.0, None], "expected": ["-", "+", "greater"]})
    >>> made = direction_of(pl.lit("t-test"), pl.col("stat"), [], pl.col("expected"))
    >>> tests.select(made).to_series().to_list()
    [1, -1, -1]
    """
    kind = kind_of_effect(test_type)
    expects = (
        pl.when(expected.str.to_lowercase().is_in(["positive", "pos", "+"]))
        .then(1)
        .when(expected != "")
        .then(-1)
        .otherwise(0)
    )
    signed = pl.when(stat > 0).then(1).when(stat.is_not_null()).then(-1)
    # Without an expected direction, a statistic without a sign goes up.
    unsigned = pl.when(stat < 0).then(-1).when(stat.is_not_null() & (expects == 0)).then(1)
    of_kind = (
        pl.when(kind.is_in(["t", "correlation"]))
        .then(signed)
        .when(kind.is_in(["f", "chi_square"]))
        .then(unsigned)
    )
    of_table = pl.when(kind == "chi_square").then(_of_table(cells)) if cells else None
    return pl.coalesce(*([] if of_table is None else [of_table]), of_kind, expects).cast(pl.Int8)


def _of_table(cells: Sequence[pl.Expr]) -> pl.Expr:
    """The sign of the difference of shares; that of an empty group is 0."""
    a, b, c, d = cells
    first, second = (
        pl.when(hits + misses > 0).then(hits / (hits + misses)).otherwise(0.0 * (hits + misses))
        for hits, misses in ((a, b), (c, d))
    )
    return (first - second).sign()


def normal_p_value(z: pl.Expr, side: pl.Expr) -> pl.Expr:
    """The p-value of a standard normal statistic, upper tails as one less the rest."""
    return over_numbers(_normal, [z, side.cast(pl.Float64)])


def chi2_p_value(chi2: pl.Expr, df: pl.Expr) -> pl.Expr:
    """The upper tail of chi-square as one less the rest."""
    return over_numbers(_chi2, [chi2, df.cast(pl.Float64)])


def _t_p_value(t: pl.Expr, df: pl.Expr, side: pl.Expr) -> pl.Expr:
    return over_numbers(_t, [t, df, side.cast(pl.Float64)])


def _normal(z: Floats, side: Floats) -> Floats:
    from scipy.special import ndtr

    return _sided(ndtr, z, side)


def _t(t: Floats, df: Floats, side: Floats) -> Floats:
    import numpy as np
    from scipy.special import stdtr

    degrees = np.where(df > 0, df, np.nan)
    return _sided(lambda x: stdtr(degrees, x), t, side)


def _sided(cdf: Callable[[Floats], Floats], x: Floats, side: Floats) -> Floats:
    import numpy as np

    outward = np.where(side == TWO_SIDED, np.abs(x), side * x)
    tail = np.where(side == LESS, cdf(-outward), 1.0 - cdf(outward))
    return np.where(side == TWO_SIDED, 2.0, 1.0) * tail


def _f(f: Floats, df1: Floats, df2: Floats) -> Floats:
    import numpy as np
    from scipy.special import fdtr

    return np.where((f >= 0) & (df1 > 0) & (df2 > 0), 1.0 - fdtr(df1, df2, f), np.nan)


def _chi2(chi2: Floats, df: Floats) -> Floats:
    import numpy as np
    from scipy.special import chdtr

    return np.where((chi2 >= 0) & (df > 0), 1.0 - chdtr(df, chi2), np.nan)
