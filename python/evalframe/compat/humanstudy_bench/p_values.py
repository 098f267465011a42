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
from evalframe.replication import p_values as sound
from evalframe.replication.effects.by_kind import agrees
from evalframe.replication.effects.kinds import among
from evalframe.replication.numbers import number, over_numbers
from evalframe.replication.p_values import GREATER, LESS, TWO_SIDED

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


_WITH_P_VALUES = {
    **dict.fromkeys(("t-test", "ttest", "ttest_ind", "ttest_rel", "ttest_1samp"), "t"),
    **dict.fromkeys(("f-test", "f_test", "anova"), "f"),
    **dict.fromkeys(("correlation", "pearson", "spearman"), "correlation"),
    **dict.fromkeys(("mannwhitneyu", "mann-whitney", "wilcoxon"), "rank"),
    **dict.fromkeys(("binomial", "binomtest"), "binomial"),
}
_WITH_EFFECTS = EFFECT_KINDS | {"binomtest": "binomial"}

_FACTOR = 100.0
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
        Float64, named `repaired_posterior`: 0.5 if the posterior is null or NaN, never null.

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


def kind_of_effect(test_type: IntoExpr) -> pl.Expr:
    """The kind of a test whose effect is derived."""
    return among(as_expr(test_type).cast(pl.String), _WITH_EFFECTS)


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
    stat, n1 = sound.or_usual(stat, "stat", k), sound.or_usual(n1, "n1", n)
    stat, n1, n2, k, n, p0 = map(number, (stat, n1, n2, k, n, p0))
    of_trials = kind_of_effect(test_type).is_in(["correlation", "binomial"])
    n1 = pl.when(of_trials).then(pl.coalesce(n, n1)).otherwise(n1)
    words = _as_text(alternative)
    side = (
        pl.when(words.is_in(["positive", "greater", ">"]))
        .then(GREATER)
        .when(words.is_in(["negative", "less", "<"]))
        .then(LESS)
        .otherwise(TWO_SIDED)
    )
    kind = among(as_expr(test_type).cast(pl.String), _WITH_P_VALUES)

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
        sound.t_p_value(of("t", stat), degrees, side, _sided),
        over_numbers(_f, [of("f", stat.clip(0.0)), above, below]),
        of("correlation", whole_r),
        sound.t_p_value(of("correlation", t_of_r), n1 - 2.0, side, _sided),
        normal_p_value(of("rank", pl.when(is_z).then(stat).otherwise(of_u)), side),
        sound.binomial_p_value(of("binomial", k), n1, p0, side),
    ).alias("p_value")


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
    stat, words, kind = number(stat), _as_text(expected), kind_of_effect(test_type)
    expects = (
        pl.when(words.str.to_lowercase().is_in(["positive", "pos", "+"]))
        .then(1)
        .when(words != "")
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
    of_table = [pl.when(kind == "chi_square").then(_of_table(cells))] if cells else []
    return pl.coalesce(*of_table, of_kind, expects).cast(pl.Int8).alias("direction")


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
        >>> pl.select(direction_match(pl.lit(1), pl.lit(1))).item()
        True
    """
    match = agrees(number(direction_human), number(direction_agent))
    return match.fill_null(value=False).alias("direction_match")


def _as_text(words: IntoExpr | None) -> pl.Expr:
    return (pl.lit(None) if words is None else as_expr(words)).cast(pl.String)


def _of_table(cells: Sequence[IntoExpr]) -> pl.Expr:
    """The sign of the difference of shares; that of an empty group is 0."""
    a, b, c, d = map(number, cells)
    first, second = (
        pl.when(hits + misses > 0).then(hits / (hits + misses)).otherwise(0.0 * (hits + misses))
        for hits, misses in ((a, b), (c, d))
    )
    return (first - second).sign()


def normal_p_value(z: pl.Expr, side: pl.Expr) -> pl.Expr:
    """The p-value of a standard normal statistic, upper tails as one less the rest."""
    return sound.normal_p_value(z, side, _sided)


def chi2_p_value(chi2: pl.Expr, df: pl.Expr) -> pl.Expr:
    """The upper tail of chi-square as one less the rest."""
    return over_numbers(_chi2, [chi2, df.cast(pl.Float64)])


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
