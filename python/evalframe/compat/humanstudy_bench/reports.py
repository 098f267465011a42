"""Reports of tests as HumanStudy-Bench reads them, misreadings included.

It reads p-values and sizes, and no statistics. It takes any `p` for that of a p-value, any letter
before a bracket for a statistic, and any digits and points for a number: at `p = .05.`, which is
no number, it stops with an error.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.rates import level_of
from evalframe.replication.reports import are_groups

_VALUE = r"([0-9.]+)"
_EQUAL = rf"p\s*[=:]\s*{_VALUE}"
_BOUND = rf"p\s*([<>])\s*{_VALUE}"
_STRENGTHS = (
    (rf"t\s*\([^)]+\)\s*=\s*{_VALUE}", 2.0),
    (rf"f\s*\([^)]+\)\s*=\s*{_VALUE}", 4.0),
    (r"r\s*=\s*([-0-9.]+)", 0.3),
)
"""Statistics of reports without a p-value are significant above these."""
_LIKELY, _UNLIKELY = 0.10, 0.025

_COUNT = "([0-9]+)"
_TABLE_SIZE = 50.0


def reported_p_value(
    report: IntoExpr = "report", *, significance_level: IntoExpr | None = None
) -> pl.Expr:
    """P-value that a report states, or one that is made up from its statistic.

    Numbers are digits and points alone, so that `p = 1e-5` is 1; `p: x` is `p = x`. Otherwise the
    first bound is used: `p < x` gives half of x and is significant at any level, `p > x` gives x.
    Without a bound the p-value is 0.025 if `t(...) = x` is above 2, `F(...) = x` above 4 or `r = x`
    beyond 0.3, else 0.10, and null for other wordings or a negative t. All is null if the original
    stops, as at `p = .05.`; without a p-value `is_significant` is false.

    Args:
        report: String, as `t(79) = 2.66, p = .01`.
        significance_level: 0.05 by default and if null.

    Returns:
        Struct, named `reported_p_value`, as that of `replication.reported_p_value`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import reported_p_value
        >>> reports = pl.DataFrame({"report": ["p < .10"]})
        >>> reports.select(reported_p_value()).item()
        {'p_value': 0.05, 'is_significant': True, 'confidence': 'medium'}
    """
    report = as_expr(report).cast(pl.String)
    p, significant, confidence, _ = p_value_of(report, level_of(significance_level))
    return pl.struct(p_value=p, is_significant=significant, confidence=confidence).alias(
        "reported_p_value"
    )


def reported_statistic(
    report: IntoExpr = "report", *, independent: IntoExpr | None = None
) -> pl.Expr:
    """Degrees of freedom of a report, and sizes that follow from them; never a statistic.

    Those behind `F(`, else `t(`, `r(` or `chi2(` as written here, whole numbers alone. Chi-square
    of df degrees of freedom is taken to be of 50 df subjects, and at least 50.

    Args:
        report: String, as `F(1, 78) = 17.7`.
        independent: True for t of two groups; true by default and if null.

    Returns:
        Struct, named `reported_statistic`, as that of `replication.reported_statistic`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import reported_statistic
        >>> reports = pl.DataFrame({"report": ["chi2(2) = 27.2, N = 80"]})
        >>> reports.select(reported_statistic()).unnest("reported_statistic").row(0)
        (None, 2.0, None, 100.0, None)
    """
    text, groups = as_expr(report).cast(pl.String), are_groups(independent)
    sizes = sizes_of(text, groups, of_f=pl.lit(True))
    fields = {"stat": pl.lit(None, pl.Float64), **sizes}
    return pl.struct([value.alias(name) for name, value in fields.items()]).alias(
        "reported_statistic"
    )


class Stated(NamedTuple):
    """The p-value that is read from a report; null if the original stops."""

    p_value: pl.Expr
    is_significant: pl.Expr
    confidence: pl.Expr
    stops: pl.Expr
    """True if what it takes for a number is none."""


def p_value_of(report: pl.Expr, level: pl.Expr) -> Stated:
    """The p-value, made up from the statistic if a report has none."""
    text = report.str.to_lowercase()
    equal, sign, bound = (
        text.str.extract(_EQUAL),
        text.str.extract(_BOUND),
        text.str.extract(_BOUND, 2),
    )
    statistics = [text.str.extract(pattern) for pattern, _ in _STRENGTHS]
    number_text = pl.coalesce(equal, bound, *statistics)
    is_number = number_text.str.contains(r"^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$")
    value = pl.when(is_number).then(number_text).cast(pl.Float64)
    limit = pl.coalesce(
        pl.when(value_text.is_not_null()).then(above)
        for value_text, (_, above) in zip(statistics, _STRENGTHS, strict=True)
    )
    strong = value.abs() > limit
    of_bound = pl.when(sign == "<").then(value / 2.0).when(sign == ">").then(value)
    made_up = pl.when(strong).then(_UNLIKELY).when(strong.is_not_null()).then(_LIKELY)
    p_value = pl.when(equal.is_not_null()).then(value).otherwise(pl.coalesce(of_bound, made_up))
    significant = (
        pl.when(equal.is_not_null())
        .then(value <= level)
        .when(sign.is_not_null())
        .then((sign == "<") | (value < level))
        .otherwise(strong.fill_null(value=False))
    )
    confidence = (
        pl.when(equal.is_not_null())
        .then(pl.lit("high"))
        .when(sign.is_not_null())
        .then(pl.lit("medium"))
        .otherwise(pl.lit("low"))
    )
    stops = (~is_number).fill_null(value=False)
    stated = [pl.when(~stops).then(each) for each in (p_value, significant, confidence)]
    return Stated._make([*stated, stops])


def sizes_of(report: pl.Expr, groups: pl.Expr, of_f: pl.Expr) -> dict[str, pl.Expr]:
    """Degrees of freedom and sizes; F has sizes if the test is an F test."""
    degrees = [report.str.extract(rf"F\({_COUNT},\s*{_COUNT}\)", group) for group in (1, 2)]
    letters = [report.str.extract(rf"{name}\({_COUNT}\)") for name in ("t", "r", "chi2")]
    df1, df2, t, r, chi2 = (text.cast(pl.Float64) for text in (*degrees, *letters))
    # The first of F, t, r and chi-square is used, in this order.
    r, chi2 = pl.when(t.is_null()).then(r), pl.when(t.is_null() & r.is_null()).then(chi2)
    t, r, chi2 = (pl.when(df1.is_null()).then(df) for df in (t, r, chi2))
    total = pl.coalesce(pl.when(of_f).then(df1 + df2 + 1.0), pl.when(groups).then(t + 2.0))
    half = (total / 2.0).floor()
    return {
        "df1": pl.coalesce(df1, t, r, chi2),
        "df2": df2,
        "n1": pl.coalesce(half, t + 1.0, r + 2.0, (_TABLE_SIZE * chi2).clip(_TABLE_SIZE)),
        "n2": total - half,
    }


def trials_of(report: pl.Expr) -> pl.Expr:
    """The number of trials of a binomial test, after the first `n =`."""
    return report.str.extract(rf"n\s*=\s*{_COUNT}").cast(pl.Float64)
