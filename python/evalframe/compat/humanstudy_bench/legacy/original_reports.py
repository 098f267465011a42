"""Reports of tests as the original reads them, misreadings included.

It reads p-values and sizes, and no statistics. It takes any `p` for that of a p-value, any letter
before a bracket for a statistic, and whatever has digits and points for a number: at `p = .05.`,
which is none, it stops with an error.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

_VALUE = r"([0-9.]+)"
_EQUAL = rf"p\s*[=:]\s*{_VALUE}"
_BOUND = rf"p\s*([<>])\s*{_VALUE}"
_STRENGTHS = (
    (rf"t\s*\([^)]+\)\s*=\s*{_VALUE}", 2.0),
    (rf"f\s*\([^)]+\)\s*=\s*{_VALUE}", 4.0),
    (r"r\s*=\s*([-0-9.]+)", 0.3),
)
"""Statistics of reports without a p-value: above these, they count as significant."""
_LIKELY, _UNLIKELY = 0.10, 0.025

_COUNT = "([0-9]+)"
_TABLE_SIZE = 50.0


class Said(NamedTuple):
    """What the original reads of a report; all null where it stops."""

    p_value: pl.Expr
    is_significant: pl.Expr
    confidence: pl.Expr
    stops: pl.Expr
    """Whether what it takes for a number is none."""


def p_value_of(report: pl.Expr, level: pl.Expr) -> Said:
    """The p-value, which is made up from the statistic where a report has none.

    >>> reports = pl.DataFrame({"report": ["p > .10, then p < .01", "F(1, 78) = 17.7", "p = .05."]})
    >>> reports.select(p_value_of(pl.col("report"), pl.lit(0.05)).p_value).to_series().to_list()
    [0.1, 0.025, None]
    """
    text = report.str.to_lowercase()
    equal, sign, bound = (
        text.str.extract(_EQUAL),
        text.str.extract(_BOUND),
        text.str.extract(_BOUND, 2),
    )
    statistics = [text.str.extract(pattern) for pattern, _ in _STRENGTHS]
    taken = pl.coalesce(equal, bound, *statistics)
    is_number = taken.str.contains(r"^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$")
    value = pl.when(is_number).then(taken).cast(pl.Float64)
    limit = pl.coalesce(
        pl.when(found.is_not_null()).then(above)
        for found, (_, above) in zip(statistics, _STRENGTHS, strict=True)
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
    said = [pl.when(~stops).then(each) for each in (p_value, significant, confidence)]
    return Said._make([*said, stops])


def sizes_of(report: pl.Expr, groups: pl.Expr, of_f: pl.Expr) -> dict[str, pl.Expr]:
    """Degrees of freedom and what they say of sizes; tables have 50 subjects for each of df.

    Args:
        report: The text.
        groups: Whether t is of two groups.
        of_f: Whether the test is an F test, without which F says nothing of sizes.
    """
    degrees = [report.str.extract(rf"F\({_COUNT},\s*{_COUNT}\)", place) for place in (1, 2)]
    letters = [report.str.extract(rf"{name}\({_COUNT}\)") for name in ("t", "r", "chi2")]
    df1, df2, t, r, chi2 = (text.cast(pl.Float64) for text in (*degrees, *letters))
    # The first of F, t, r and chi-square counts, wherever it stands.
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
    """The number of trials of a binomial test, behind the first `n =`."""
    return report.str.extract(rf"n\s*=\s*{_COUNT}").cast(pl.Float64)
