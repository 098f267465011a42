"""P-values and statistics that stand in the text of a report. Not a primary result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.legacy import original_reports, wordings
from evalframe.core.rows import as_expr
from evalframe.core.rules import check_rules
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

_LEVEL = 0.05


def reported_p_value(
    report: IntoExpr = "report",
    *,
    significance_level: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The p-value that a report states, as in `p < .05`.

    Args:
        report: String, as `t(79) = 2.66, p = .01`.
        significance_level: By default, and where it is null, 0.05.
        rules: `documented`: `p = x` and `p < x` give x, which in the second case bounds it; the
            test is significant where x is below the level (or at it, of a bound), and that is not
            known of larger bounds; `p > x` gives none, and is not significant where x reaches the
            level; a number above 1 is no p-value. `reference`: numbers are digits and points alone,
            so that `p = 1e-5` is 1, and `p: x` is as `p = x`. Else the first bound counts: `p < x`
            gives half of x and is significant at any level, `p > x` gives x. Where there is none
            a p-value is made up: 0.025 where `t(...) = x` is above 2, `F(...) = x` above 4 or
            `r = x` beyond 0.3, else 0.10, and none for other wordings or a negative t.

    Returns:
        Struct, named `reported_p_value`: `p_value` (Float64), `is_significant` (Boolean) and
        `confidence` (String: `high` for `=`, `medium` for bounds, `low` for none). The first two
        null where the report does not say; by the original's rules what does not say is not
        significant, and all three are null where the original stops, as at `p = .05.`.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import reported_p_value
        >>> reports = pl.DataFrame({"report": ["p = .01", "p < .10", "n.s."]})
        >>> reports.select(reported_p_value()).unnest("reported_p_value").rows()
        [(0.01, True, 'high'), (0.1, None, 'medium'), (None, None, 'low')]
    """
    check_rules(rules)
    level = number(significance_level, "documented").fill_null(_LEVEL)
    if rules == "reference":
        said = original_reports.p_value_of(as_expr(report).cast(pl.String), level)
        p, significant, confidence = said.p_value, said.is_significant, said.confidence
    else:
        p, significant, confidence = _p_value_of(wordings.plain(as_expr(report)), level)
    return pl.struct(p_value=p, is_significant=significant, confidence=confidence).alias(
        "reported_p_value"
    )


def _p_value_of(text: pl.Expr, level: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    exact, upper, lower = (wordings.p_value(text, sign) for sign in ("=", "[<≤]=?", "[>≥]=?"))
    significant = (
        pl.when(exact.is_not_null())
        .then(exact < level)
        .when(upper <= level)
        .then(pl.lit(True))
        .when(upper.is_null() & (lower >= level))
        .then(pl.lit(False))
    )
    confidence = (
        pl.when(exact.is_not_null())
        .then(pl.lit("high"))
        .when(upper.is_not_null() | lower.is_not_null())
        .then(pl.lit("medium"))
        .otherwise(pl.lit("low"))
    )
    return pl.coalesce(exact, upper), significant, confidence


def reported_statistic(
    report: IntoExpr = "report",
    *,
    independent: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The statistic that a report states, with its degrees of freedom and sizes of groups.

    It is the first letter of a statistic that stands by itself and has a value. Degrees of freedom
    say how many subjects there were: t(df) has df + 2 in two groups, or df + 1 that are measured
    twice; F(a, b) has a + b + 1 in two groups; r(df) has df + 2. Sizes of groups that are stated
    (`n1 = 20, n2 = 21`, `nA`, `nB`) go before these, and one that is lacking is the rest. Without
    degrees of freedom `n = 20 per group` is the size of both groups and `N = 40` that of all.
    Groups of which only the sum is known are halves of it, the first one rounded down.

    Args:
        report: String, as `F(1, 78) = 17.7` or `17.7`. Numbers may have commas between thousands.
        independent: Whether t is of two groups; yes by default, and where it is null.
        rules: `reference`: degrees of freedom and sizes as the original reads them, which takes no
            statistic and no stated size from a report: behind `F(`, and else `t(`, `r(` and `chi2(`
            as they are written there, whole numbers alone; chi-square of df degrees of freedom is
            taken to be of 50 df subjects, and at least 50.

    Returns:
        Struct, named `reported_statistic`: `stat`, `df1`, `df2`, `n1` and `n2`, all Float64, null
        where the report does not say.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import reported_statistic
        >>> reports = pl.DataFrame({"report": ["t(79) = 2.66, p < .05"]})
        >>> reports.select(reported_statistic()).unnest("reported_statistic").row(0)
        (2.66, 79.0, None, 40.0, 41.0)
    """
    check_rules(rules)
    groups = (
        pl.lit(True)
        if independent is None
        else as_expr(independent).cast(pl.Boolean).fill_null(value=True)
    )
    if rules == "reference":
        text = as_expr(report).cast(pl.String)
        sizes = original_reports.sizes_of(text, groups, of_f=pl.lit(True))
        fields = {"stat": pl.lit(None, pl.Float64), **sizes}
    else:
        fields = _statistic_of(wordings.plain(as_expr(report)), groups)
    return pl.struct([value.alias(name) for name, value in fields.items()]).alias(
        "reported_statistic"
    )


def _statistic_of(text: pl.Expr, groups: pl.Expr) -> dict[str, pl.Expr]:
    letter, stat, df1, df2 = wordings.statistic(text)
    first, second, each, total = wordings.stated_sizes(text)
    of_t, of_f = letter == "t", letter == "f"
    of_groups = pl.when(of_t & groups).then(df1 + 2.0).when(of_f).then(df1 + df2 + 1.0)
    alone = pl.when(of_t & ~groups).then(df1 + 1.0).when(letter == "r").then(df1 + 2.0)
    together: pl.Expr = (
        pl.when(of_f | (of_t & groups))
        .then(pl.coalesce(of_groups, 2.0 * each, total))
        .when(letter.is_in(["z", "u", "w"]))
        .then(2.0 * each)
    )
    half = (together / 2.0).floor()
    rest_of_first, rest_of_second = (
        pl.when(size < together).then(together - size) for size in (first, second)
    )
    return {
        "stat": stat,
        "df1": df1,
        "df2": df2,
        "n1": pl.coalesce(first, rest_of_second, half, alone, total),
        "n2": pl.coalesce(second, rest_of_first, pl.when(first.is_null()).then(together - half)),
    }
