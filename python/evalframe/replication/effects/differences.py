"""Standardised differences of means: Cohen's d from t and F, and its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.rules import check_rules
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def cohens_d_t(
    t: IntoExpr = "stat",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    independent: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """Cohen's d from t: t sqrt(1/n1 + 1/n2) of two groups, t / sqrt(n1) of pairs or one sample.

    The second is d of the differences (d_z), on another scale than d of two groups.

    Args:
        t: The statistic; its sign is kept.
        n1: Size of the first group, or number of pairs.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        independent: Boolean: whether there are two groups. By default, and where it is null, there
            are two where `n2` is not null. False: `n2` is not looked at.
        rules: `reference`: sizes of 0 or less give 0.

    Returns:
        Float64, named `cohens_d`. Null where an input is null or NaN, or two groups lack `n2`;
        documented also where t is infinite or a size is not above 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        Lakens (2013), Calculating and reporting effect sizes; HumanStudy-Bench (HEAD of February
        2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import cohens_d_t
        >>> tests = pl.DataFrame({"stat": [2.0, 2.0], "n1": [8, 16], "n2": [8, None]})
        >>> tests.select(cohens_d_t("stat", "n1", "n2")).to_series().to_list()
        [1.0, 0.5]
    """
    check_rules(rules)
    first, second = number(n1, rules), number(n2, rules)
    two = has_groups(second, independent)
    return standardised(number(t, rules), first, second, two, rules).alias("cohens_d")


def cohens_d_f(
    f: IntoExpr = "stat",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    df1: IntoExpr | None = None,
    direction: IntoExpr | None = None,
    independent: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """Cohen's d from F of one contrast: that of the t whose square F is.

    F has no sign and, with several degrees of freedom, is about no single difference. So d is
    positive unless the direction says otherwise, and there is none where `df1` is not 1.

    Args:
        f: The statistic. The original's agents report it as negative where the effect goes against
            what was expected; so does d, then.
        n1: Size of the first group, or number of subjects that were measured twice.
        n2: Size of the second group; null, or None, for measurements of the same subjects.
        df1: Degrees of freedom of the numerator; null, or None, is taken for 1.
        direction: Of the effect: a negative one makes d negative; null, or None, does not.
        independent: As for `cohens_d_t`.
        rules: `reference`: always positive, for any `df1`; sizes of 0 or less give 0.

    Returns:
        Float64, named `cohens_d`. Null where `cohens_d_t` is null; documented also where `df1` is
        not 1.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import cohens_d_f
        >>> tests = pl.DataFrame({"f": [4.0, 4.0, 4.0], "df1": [1, 1, 2], "direction": [1, -1, 1]})
        >>> of_groups = cohens_d_f("f", pl.lit(8), pl.lit(8), df1="df1", direction="direction")
        >>> tests.select(of_groups).to_series().to_list()
        [1.0, -1.0, None]
    """
    check_rules(rules)
    value, first, second = (number(column, rules) for column in (f, n1, n2))
    t = t_of_f(value, number(df1, rules), number(direction, rules), rules)
    two = has_groups(second, independent)
    return standardised(t, first, second, two, rules).alias("cohens_d")


def cohens_d_std_error(
    d: IntoExpr = "cohens_d",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    independent: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The large-sample standard error of d.

    sqrt((n1 + n2) / (n1 n2) + d² / (2 (n1 + n2))) of two groups, sqrt(1/n1 + d² / (2 n1)) of pairs
    or one sample.

    Args:
        d: Cohen's d.
        n1: Size of the first group, or number of pairs.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        independent: As for `cohens_d_t`.
        rules: `reference`: infinite where `n1` is 0 or less, and that of one sample where `n2` is.

    Returns:
        Float64, named `cohens_d_std_error`. Null where an input is null or NaN, or two groups
        lack `n2`; documented also where d is infinite or a size is not above 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        Hedges and Olkin (1985), Statistical methods for meta-analysis; HumanStudy-Bench (HEAD of
        February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import cohens_d_std_error
        >>> tests = pl.DataFrame({"cohens_d": [0.0, 0.0], "n1": [8, 4], "n2": [8, None]})
        >>> tests.select(cohens_d_std_error(n2="n2")).to_series().to_list()
        [0.5, 0.5]
    """
    check_rules(rules)
    effect, first, second = (number(column, rules) for column in (d, n1, n2))
    two = has_groups(second, independent)
    error = standardised_error(effect, first, second, two, rules)
    return error.alias("cohens_d_std_error")


def has_groups(n2: pl.Expr, independent: IntoExpr | None) -> pl.Expr:
    """Whether a test is of two groups, where the second has this size."""
    given = n2.is_not_null()
    return given if independent is None else as_expr(independent).cast(pl.Boolean).fill_null(given)


def t_of_f(f: pl.Expr, df1: pl.Expr, direction: pl.Expr, rules: Rules) -> pl.Expr:
    """The t whose square F is, of numbers."""
    t = f.abs().sqrt()
    if rules == "reference":
        return t
    against = (f < 0) | (direction < 0).fill_null(value=False)
    sign = pl.when(against).then(-1.0).otherwise(1.0)
    return pl.when((df1 == 1).fill_null(value=True)).then(sign) * t


def standardised(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr, rules: Rules) -> pl.Expr:
    """Cohen's d of numbers, where it is known whether there are two groups."""
    d = t / _size(n1, n2, two).sqrt()
    sizes = _are_sizes(n1, n2, two)
    if rules == "reference":
        of_nobody = pl.when(t.is_not_null()).then(0.0)
        return pl.when(sizes.fill_null(value=True)).then(d).otherwise(of_nobody).fill_nan(None)
    return pl.when(sizes).then(d)


def standardised_error(d: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr, rules: Rules) -> pl.Expr:
    """The standard error of Cohen's d of numbers."""
    if rules == "reference":
        two = two & (n2 > 0).fill_null(value=True)
    total = pl.when(two).then(n1 + n2).otherwise(n1)
    error = (1.0 / _size(n1, n2, two) + d**2 / (2.0 * total)).sqrt()
    if rules == "reference":
        return pl.when(n1 <= 0).then(pl.lit(float("inf"))).otherwise(error).fill_nan(None)
    return pl.when(_are_sizes(n1, n2, two)).then(error)


def _size(n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """How many observations of one sample tell as much."""
    return pl.when(two).then(n1 * n2 / (n1 + n2)).otherwise(n1)


def _are_sizes(n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    return (n1 > 0) & (~two | (n2 > 0))
