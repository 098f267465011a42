"""How papers word statistics: the parts of `F(1, 1,234) = 17.7, N = 1,236, p < .001`."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

_PLAIN = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?\b|{_PLAIN})"
"""With commas between thousands, or without."""

_APART = r"(?:^|[^\p{L}\p{N}_])"
_CHI = r"chi-?\s?squared?|chi\^?[2²]|[χx]\^?[2²]"
_DASHES = r"[\x{2010}-\x{2015}\x{2212}\x{FE63}\x{FF0D}]"
_EACH = r"(?:per|each|in each)\b"


class Statistic(NamedTuple):
    """The first statistic of a text, as numbers; null where the text does not say."""

    letter: pl.Expr
    """`t`, `f`, `r`, `z`, `u`, `w` or `chi`."""
    stat: pl.Expr
    df1: pl.Expr
    df2: pl.Expr


class Stated(NamedTuple):
    """Sizes that a text states."""

    first: pl.Expr
    second: pl.Expr
    each: pl.Expr
    total: pl.Expr


def plain(report: pl.Expr) -> pl.Expr:
    """The text, with a hyphen for every sort of minus sign and dash."""
    return report.cast(pl.String).str.replace_all(_DASHES, "-")


def extracted(text: pl.Expr, pattern: str) -> pl.Expr:
    """The number that a pattern finds."""
    return _number(text.str.extract(pattern, 1))


def _number(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)


def statistic(text: pl.Expr) -> Statistic:
    """The first statistic: a letter that stands apart, degrees of freedom in brackets, a value.

    Other text before brackets, as in "Experiment (1)", has no value and is none.
    """
    degrees = r"(?:[(\[]([^)\]]*)[)\]])?"
    value = rf"(?:=\s*([-+]?{_NUMBER})|[<>≤≥])"
    clause = rf"(?i){_APART}(?:(t|f|r|z|u|w)|({_CHI}))\s*{degrees}\s*{value}"
    parts = text.str.extract_groups(clause).struct
    letter, chi, inside, found = (parts[place] for place in range(4))
    letter = pl.coalesce(letter.str.to_lowercase(), pl.when(chi.is_not_null()).then(pl.lit("chi")))
    alone = extracted(text, rf"^\s*([-+]?{_NUMBER})\s*$")
    # A comma ends the first number of two, so that only one that is alone may have thousands.
    single = letter.is_in(["t", "r"])
    first = extracted(inside, rf"^\s*({_PLAIN})")
    return Statistic(
        letter,
        pl.coalesce(alone, _number(found)),
        pl.when(single).then(extracted(inside, rf"^\s*({_NUMBER})")).otherwise(first),
        pl.when(letter == "f").then(extracted(inside, rf"^\s*{_PLAIN}\s*,\s*({_NUMBER})")),
    )


def stated_sizes(text: pl.Expr) -> Stated:
    """Sizes of groups (`n1 = 20, nB = 21`), of each (`n = 20 per group`), and of all (`N = 40`)."""

    def of(which: str, end: str = "") -> pl.Expr:
        return extracted(text, rf"(?i){_APART}n{which}\s*=\s*({_NUMBER}){end}")

    return Stated(of("[1a]"), of("[2b]"), of("", rf"\s*{_EACH}"), of(""))


def p_value(text: pl.Expr, sign: str) -> pl.Expr:
    """The p-value behind a sign, null for what is none."""
    p = extracted(text, rf"(?i){_APART}p\s*{sign}\s*({_PLAIN})")
    return pl.when(p <= 1).then(p)
