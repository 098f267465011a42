"""Statistics and p-values in reports as the original reads them, misreadings included.

It takes any letter before a bracket for the name of a statistic, also that of "Experiment (1)", and
ends numbers at commas.
"""

from __future__ import annotations

import polars as pl

from evalframe.replication.legacy.wordings import extracted

_NUMBER = r"((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_SIGNED = rf"([-+]?{_NUMBER[1:-1]})"
_DEGREES = r"\s*(?:\([^)]*\))?\s*"
_LETTERS = "t|f|r|chi2|χ²|χ2|x2"
_TABLE_SIZE = 50.0
_LIKELY, _UNLIKELY = 0.10, 0.025
_LIMITS = {"t": 2.0, "f": 4.0, "r": 0.3}
"""Above these, t, F and r count as significant where a report has no p-value."""


def p_value_of(text: pl.Expr, level: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """The p-value, whether it is significant, and the confidence; a p-value is made up for none."""
    exact, upper, lower = (extracted(text, rf"(?i)\bp\s*{sign}\s*{_NUMBER}") for sign in "=<>")
    strong = _is_strong(text)
    made_up = pl.when(strong).then(_UNLIKELY).when(strong.is_not_null()).then(_LIKELY)
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
    return pl.coalesce(exact, upper / 2.0, lower, made_up), significant, confidence


def statistic_of(text: pl.Expr, groups: pl.Expr) -> dict[str, pl.Expr]:
    """The statistic, its degrees of freedom and sizes; tables have 50 subjects for each of df."""
    letter = text.str.extract(rf"(?i)(?:^|[^a-z])({_LETTERS})\s*\(", 1).str.to_lowercase()
    one = extracted(text, rf"(?i)(?:{_LETTERS})\s*\(\s*{_NUMBER}")
    two = extracted(text, rf"(?i)\bf\s*\(\s*[\d.]+\s*,\s*{_NUMBER}")
    named = rf"(?i)(?:^|[^a-z])(?:t|f|r|z|u|w|chi2|χ²|χ2|x2){_DEGREES}=\s*{_SIGNED}"
    whole = text.str.strip_chars().cast(pl.Float64, strict=False)
    of_t = letter == "t"
    total = pl.when(of_t & groups).then(one + 2.0).when(letter == "f").then(one + two + 1.0)
    alone = (
        pl.when(of_t & ~groups)
        .then(one + 1.0)
        .when(letter == "r")
        .then(one + 2.0)
        .when(letter.is_in(["chi2", "χ²", "χ2", "x2"]))
        .then((_TABLE_SIZE * one).clip(_TABLE_SIZE))
    )
    first, second, stated = (
        extracted(text, rf"(?i)\bn{which}\s*=\s*{_NUMBER}") for which in ("[1a]", "[2b]", "")
    )
    half = (total / 2.0).floor()
    return {
        "stat": pl.coalesce(whole, extracted(text, named)),
        "df1": one,
        "df2": two,
        "n1": pl.coalesce(first, stated, half, alone),
        "n2": pl.when(first.is_null() & stated.is_null())
        .then(pl.coalesce(second, total - half))
        .otherwise(second),
    }


def _is_strong(text: pl.Expr) -> pl.Expr:
    """Whether the first of t, F and r in a text is above its limit; null where there is none."""
    return pl.coalesce(
        (extracted(text, rf"(?i)\b{letter}{_DEGREES}=\s*{_SIGNED}").abs() > limit)
        for letter, limit in _LIMITS.items()
    )
