"""P-values and statistics stated in the text of reports: `F(1, 1,234) = 17.7, N = 1,236`."""

from __future__ import annotations

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.rates import level_of


def reported_p_value(
    report: IntoExpr = "report", *, significance_level: IntoExpr | None = None
) -> pl.Expr:
    """P-value that a report states, as in `p < .05`.

    `p = x` and `p < x` give x, in the second case an upper bound. `p > x` gives no p-value. A
    number above 1 is no p-value.

    Args:
        report: String, as `t(79) = 2.66, p = .01`.
        significance_level: 0.05 by default and if null.

    Returns:
        Struct, named `reported_p_value`: `p_value` (Float64), `is_significant` (Boolean: x is below
        the level, or at it for an upper bound; false if a lower bound reaches the level; else null)
        and `confidence` (String: `high` for `=`, `medium` for bounds, `low` without a p-value).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import reported_p_value
        >>> pl.DataFrame({"report": ["p < .10"]}).select(reported_p_value()).item()
        {'p_value': 0.1, 'is_significant': None, 'confidence': 'medium'}
    """
    text, level = _plain(as_expr(report)), level_of(significance_level)
    exact, upper, lower = (_p_value(text, sign) for sign in ("=", "[<≤]=?", "[>≥]=?"))
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
    p = pl.coalesce(exact, upper)
    return pl.struct(p_value=p, is_significant=significant, confidence=confidence).alias(
        "reported_p_value"
    )


def reported_statistic(
    report: IntoExpr = "report", *, independent: IntoExpr | None = None
) -> pl.Expr:
    """Statistic that a report states, with its degrees of freedom and sizes of groups.

    The first separate letter of a statistic that has a value. Degrees of freedom imply the number
    of subjects: t(df) has df + 2 in two groups, or df + 1 that are measured twice; F(a, b) has
    a + b + 1 in two groups; r(df) has df + 2. Stated sizes of groups (`n1 = 20, n2 = 21`, `nA`,
    `nB`) go before these, and a missing one is the rest. Without degrees of freedom
    `n = 20 per group` is the size of both groups and `N = 40` that of all. Groups of which only the
    sum is known are halves of it, the first one rounded down.

    Args:
        report: String, as `F(1, 78) = 17.7` or `17.7`. Numbers can have commas between thousands.
        independent: True for t of two groups; true by default and if null.

    Returns:
        Struct, named `reported_statistic`: `stat`, `df1`, `df2`, `n1` and `n2`, all Float64, null
        if the report does not state them.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import reported_statistic
        >>> reports = pl.DataFrame({"report": ["t(79) = 2.66, p < .05"]})
        >>> reports.select(reported_statistic()).unnest("reported_statistic").row(0)
        (2.66, 79.0, None, 40.0, 41.0)
    """
    text, groups = _plain(as_expr(report)), are_groups(independent)
    letter, stat, df1, df2 = _statistic(text)
    first, second, each, total = _stated_sizes(text)
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
    fields = {
        "stat": stat,
        "df1": df1,
        "df2": df2,
        "n1": pl.coalesce(first, rest_of_second, half, alone, total),
        "n2": pl.coalesce(second, rest_of_first, pl.when(first.is_null()).then(together - half)),
    }
    return pl.struct([value.alias(name) for name, value in fields.items()]).alias(
        "reported_statistic"
    )


def are_groups(independent: IntoExpr | None) -> pl.Expr:
    """True for a test of two groups, the default."""
    if independent is None:
        return pl.lit(True)
    return as_expr(independent).cast(pl.Boolean).fill_null(value=True)


_PLAIN = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?\b|{_PLAIN})"
"""With commas between thousands, or without."""

_APART = r"(?:^|[^\p{L}\p{N}_])"
_CHI = r"chi-?\s?squared?|chi\^?[2²]|[χx]\^?[2²]"
_DASHES = r"[\x{2010}-\x{2015}\x{2212}\x{FE63}\x{FF0D}]"
_EACH = r"(?:per|each|in each)\b"


def _plain(report: pl.Expr) -> pl.Expr:
    """The text with a hyphen for every minus sign and dash."""
    return report.cast(pl.String).str.replace_all(_DASHES, "-")


def _extracted(text: pl.Expr, pattern: str) -> pl.Expr:
    """The number that matches a pattern."""
    return _number(text.str.extract(pattern, 1))


def _number(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)


def _statistic(text: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """The letter (`t f r z u w chi`), the value, df1 and df2 of the first statistic, or null."""
    # Other text before brackets, as in "Experiment (1)", has no value.
    degrees = r"(?:[(\[]([^)\]]*)[)\]])?"
    value = rf"(?:=\s*([-+]?{_NUMBER})|[<>≤≥])"
    clause = rf"(?i){_APART}(?:(t|f|r|z|u|w)|({_CHI}))\s*{degrees}\s*{value}"
    parts = text.str.extract_groups(clause).struct
    letter, chi, inside, value_text = (parts[index] for index in range(4))
    letter = pl.coalesce(letter.str.to_lowercase(), pl.when(chi.is_not_null()).then(pl.lit("chi")))
    alone = _extracted(text, rf"^\s*([-+]?{_NUMBER})\s*$")
    # A comma ends the first of two numbers, so only a single one can have thousands.
    single = letter.is_in(["t", "r"])
    first = _extracted(inside, rf"^\s*({_PLAIN})")
    return (
        letter,
        pl.coalesce(alone, _number(value_text)),
        pl.when(single).then(_extracted(inside, rf"^\s*({_NUMBER})")).otherwise(first),
        pl.when(letter == "f").then(_extracted(inside, rf"^\s*{_PLAIN}\s*,\s*({_NUMBER})")),
    )


def _stated_sizes(text: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """Sizes of groups (`n1 = 20, nB = 21`), of each (`n = 20 per group`), and of all (`N = 40`)."""

    def of(which: str, end: str = "") -> pl.Expr:
        return _extracted(text, rf"(?i){_APART}n{which}\s*=\s*({_NUMBER}){end}")

    return of("[1a]"), of("[2b]"), of("", rf"\s*{_EACH}"), of("")


def _p_value(text: pl.Expr, sign: str) -> pl.Expr:
    """The p-value after a sign, null if it is above 1."""
    p = _extracted(text, rf"(?i){_APART}p\s*{sign}\s*({_PLAIN})")
    return pl.when(p <= 1).then(p)
