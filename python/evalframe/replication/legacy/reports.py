"""P-values and statistics that stand in the text of a report. Not a primary result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.replication.effects.rules import check_rules

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr
    from evalframe.replication.effects.rules import Rules

_NUMBER = r"((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_SIGNED = rf"([-+]?{_NUMBER[1:-1]})"
_DEGREES = r"\s*(?:\([^)]*\))?\s*"
_LIKELY, _UNLIKELY = 0.10, 0.025
_LIMITS = {"t": 2.0, "f": 4.0, "r": 0.3}
"""Above these, t, F and r count as significant where a report has no p-value."""


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
            level. `reference`: `p < x` gives half of x and is significant at any level, `p > x`
            gives x, and where there is no p-value one is made up: 0.025 where |t| > 2, F > 4 or
            |r| > 0.3, else 0.10.

    Returns:
        Struct, named `reported_p_value`: `p_value` (Float64), `is_significant` (Boolean) and
        `confidence` (String: `high` for `=`, `medium` for bounds, `low` for none). The first two
        null where the report does not say; by the original's rules what does not say is not
        significant.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.legacy import reported_p_value
        >>> reports = pl.DataFrame({"report": ["p = .01", "p < .10", "n.s."]})
        >>> reports.select(reported_p_value()).unnest("reported_p_value").rows()
        [(0.01, True, 'high'), (0.1, None, 'medium'), (None, None, 'low')]
    """
    check_rules(rules)
    text = as_expr(report).cast(pl.String)
    level = pl.lit(0.05)
    if significance_level is not None:
        level = as_expr(significance_level).cast(pl.Float64).fill_nan(None).fill_null(0.05)
    below = "[<≤]=?" if rules == "documented" else "<"
    above = "[>≥]=?" if rules == "documented" else ">"
    exact, upper, lower = (
        _extracted(text, rf"(?i)\bp\s*{sign}\s*{_NUMBER}") for sign in ("=", below, above)
    )
    if rules == "documented":
        p = pl.coalesce(exact, upper)
        significant: pl.Expr = (
            pl.when(exact.is_not_null())
            .then(exact < level)
            .when(upper <= level)
            .then(pl.lit(True))
            .when(upper.is_null() & (lower >= level))
            .then(pl.lit(False))
        )
    else:
        strong = _is_strong(text)
        made_up = pl.when(strong).then(_UNLIKELY).when(strong.is_not_null()).then(_LIKELY)
        p = pl.coalesce(exact, upper / 2.0, lower, made_up)
        significant = (
            pl.when(exact.is_not_null())
            .then(exact <= level)
            .when(upper.is_not_null())
            .then(pl.lit(True))
            .when(lower.is_not_null())
            .then(lower < level)
            .otherwise(strong.fill_null(value=False))
        )
    confidence = (
        pl.when(exact.is_not_null())
        .then(pl.lit("high"))
        .when(upper.is_not_null() | lower.is_not_null())
        .then(pl.lit("medium"))
        .otherwise(pl.lit("low"))
    )
    return pl.struct(p_value=p, is_significant=significant, confidence=confidence).alias(
        "reported_p_value"
    )


def reported_statistic(
    report: IntoExpr = "report",
    *,
    independent: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The statistic that a report states, with its degrees of freedom and sizes of groups.

    Sizes are those stated (`n1 = 20, n2 = 21`, `nA`, `nB`, `n = 40`), or follow from degrees of
    freedom: t(df) has df + 2 subjects in two halves, or df + 1 that are measured twice; F(a, b) has
    a + b + 1 in two halves; r(df) has df + 2.

    Args:
        report: String, as `F(1, 78) = 17.7` or `17.7`.
        independent: Whether t is of two groups; yes by default, and where it is null.
        rules: `reference`: chi-square of df degrees of freedom is taken to be of 50 df subjects,
            and at least 50, where the documented rules only read `chi2(1, N = 90)`.

    Returns:
        Struct, named `reported_statistic`: `stat`, `df1`, `df2`, `n1` and `n2`, all Float64, null
        where the report does not say.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.legacy import reported_statistic
        >>> reports = pl.DataFrame({"report": ["t(79) = 2.66, p < .05"]})
        >>> reports.select(reported_statistic()).unnest("reported_statistic").row(0)
        (2.66, 79.0, None, 40.0, 41.0)
    """
    check_rules(rules)
    text = as_expr(report).cast(pl.String)
    letter = text.str.extract(r"(?i)(?:^|[^a-z])(t|f|r|chi2|χ²|χ2|x2)\s*\(", 1).str.to_lowercase()
    one = _extracted(text, rf"(?i)(?:t|f|r|chi2|χ²|χ2|x2)\s*\(\s*{_NUMBER}")
    two = _extracted(text, rf"(?i)\bf\s*\(\s*[\d.]+\s*,\s*{_NUMBER}")
    named = rf"(?i)(?:^|[^a-z])(?:t|f|r|z|u|w|chi2|χ²|χ2|x2){_DEGREES}=\s*{_SIGNED}"
    stat = pl.coalesce(
        text.str.strip_chars().cast(pl.Float64, strict=False), _extracted(text, named)
    )
    groups = (
        pl.lit(True)
        if independent is None
        else as_expr(independent).cast(pl.Boolean).fill_null(value=True)
    )
    of_t = letter == "t"
    total = pl.when(of_t & groups).then(one + 2.0).when(letter == "f").then(one + two + 1.0)
    alone: pl.Expr = pl.when(of_t & ~groups).then(one + 1.0).when(letter == "r").then(one + 2.0)
    if rules == "reference":
        of_table = letter.is_in(["chi2", "χ²", "χ2", "x2"])
        alone = pl.coalesce(alone, pl.when(of_table).then((50.0 * one).clip(50.0)))
    first, second, stated = (
        _extracted(text, rf"(?i)\bn{which}\s*=\s*{_NUMBER}") for which in ("[1a]", "[2b]", "")
    )
    half = (total / 2.0).floor()
    return pl.struct(
        stat=stat,
        df1=one,
        df2=two,
        n1=pl.coalesce(first, stated, half, alone),
        n2=pl.when(first.is_null() & stated.is_null())
        .then(pl.coalesce(second, total - half))
        .otherwise(second),
    ).alias("reported_statistic")


def _extracted(text: pl.Expr, pattern: str) -> pl.Expr:
    return text.str.extract(pattern, 1).cast(pl.Float64, strict=False)


def _is_strong(text: pl.Expr) -> pl.Expr:
    """Whether the first of t, F and r in a text is above its limit; null where there is none."""
    return pl.coalesce(
        (_extracted(text, rf"(?i)\b{letter}{_DEGREES}=\s*{_SIGNED}").abs() > limit)
        for letter, limit in _LIMITS.items()
    )
