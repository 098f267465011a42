r"""Patterns of characters and numbers as in ECMAScript.

Rust's `\s`, `\d` and `(?i)` use the larger sets of Unicode, so they are not used here.
"""

from __future__ import annotations

import polars as pl

SPACE = r"[\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}]"
"""White space: with the no-break spaces and U+FEFF, without U+0085 and U+001C to U+001F."""

QUOTES = r"\"'\u{201c}\u{201d}\u{2018}\u{2019}"
"""Quotes, in a class of characters."""

DASHES = r"\-\u{2013}\u{2014}"
"""Dashes, in a class of characters."""

DIGITS = r"[0-9]+\.?[0-9]*"
"""A number without sign and exponent."""

BRACKET = r"\[([^\]]+)\]"
"""The first bracket with content, which can include opening brackets and line breaks."""

MARKER = rf"(?i-u:DISTRIBUTION:){SPACE}*{BRACKET}"

_NUMBER = (
    rf"^{SPACE}*([+-]?(?:Infinity|[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?))"
)


def text_where(searched: pl.Expr, column: str = "text") -> pl.Expr:
    """The text if it is to be searched, else an empty one."""
    # Polars matches a pattern against all rows, also those whose result is not used.
    return pl.when(searched).then(column).otherwise(pl.lit(""))


def number(text: pl.Expr) -> pl.Expr:
    """The number that a text begins with, after white space; null if it begins with none.

    >>> frame = pl.DataFrame({"text": [" 40px", "1/4", "-.5e1", "x1"]})
    >>> frame.select(number(pl.col("text"))).to_series().to_list()
    [40.0, 1.0, -5.0, None]
    """
    return text.str.extract(_NUMBER).cast(pl.Float64)


def listed_numbers(text: pl.Expr) -> pl.Expr:
    """The numbers between commas, without a percent sign each; null for what is none."""
    piece = pl.element().str.replace("%", "", literal=True)
    return text.str.split(",").list.eval(number(piece))


def is_blank(text: pl.Expr) -> pl.Expr:
    """True for white space alone."""
    return ~text.str.contains(rf"[^{SPACE[1:-1]}]")
