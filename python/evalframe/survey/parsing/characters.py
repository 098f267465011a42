r"""Patterns of characters and numbers as in ECMAScript.

Rust's `\s`, `\d` and `(?i)` use the larger sets of Unicode, so they are not used here.

Also text that is not part of an answer: thoughts, references, and asides next to a number such as
citations, intervals and sample sizes.
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

_AMOUNT = r"[0-9]+(?:[.,][0-9]+)*"
_ANY = r"[\[(±]|[nN]\s*=|\+/-"
_SIGNS = r"[\[(=±]|\+/-"
"""A sign of every aside, fast to search."""

_REPLACED = (
    # Citations and intervals in brackets.
    (rf"\[[\s0-9.,;%to{DASHES}]+\]", ""),
    (r"([0-9]\s*%?[*_]*)\s*\[[^\[\]]*\]", "${1}"),
    (r"\(?\s*(?:±|\+/-)\s*[0-9][0-9.,]*\s*%?(?:\s*(?:pp|points?))?\s*\)?", ""),
    # A count before its share: 1,200 (60%).
    (rf"{_AMOUNT}\s*\(\s*({_AMOUNT}\s*%)\s*\)", "${1}"),
    (r"([0-9]\s*%[*_]*)\s*\([^()]*[0-9][^()]*\)", "${1}"),
    (rf"([0-9][*_]*)\s*\(\s*{_AMOUNT}\s*%?\s*(?:[{DASHES},;]|to)\s*{_AMOUNT}\s*%?\s*\)", "${1}"),
    (r"(?i)([0-9]\s*%?[*_]*)\s*\([^()]*(?:n\s*=|\bCI\b|interval|margin)[^()]*\)", "${1}"),
    (r"[,;]?\s*\(?\b[nN]\s*=\s*[0-9][0-9.,]*\)?", ""),
)


_FULL_WIDTH = {chr(ord(plain) + 0xFEE0): plain for plain in ":%,;|[]()0123456789"}
"""Characters of East Asian width, which are in another block in the same order."""

_REASONED = r"(?s)^.*</think(?:ing)?>"
_REFERENCES = (
    r"(?ims)^[\s#*_]*(?:references|sources|bibliography|citations|works cited|footnotes)[\s*_:]*$.*"
)
# A search for few letters in both cases is several times as fast as one that ignores case.
_ANY_REFERENCES = (
    "[Rr]eference|REFERENCE|[Ss]ources|SOURCES|[Bb]ibliog|BIBLIOG|[Cc]itation|CITATION"
    "|[Cc]ited|CITED|[Ff]ootnote|FOOTNOTE"
)


def text_where(searched: pl.Expr) -> pl.Expr:
    """The text if it is to be searched, else an empty one."""
    # Polars matches a pattern against all rows, also those whose result is not used.
    return pl.when(searched).then("text").otherwise(pl.lit(""))


def number(text: pl.Expr) -> pl.Expr:
    """The number at the start of a text, after white space; null without one.

    >>> frame = pl.DataFrame({"text": [" 40px", "1/4", "-.5e1", "x1"]})
    >>> frame.select(number(pl.col("text"))).to_series().to_list()
    [40.0, 1.0, -5.0, None]
    """
    return text.str.extract(_NUMBER).cast(pl.Float64)


def listed_numbers(text: pl.Expr) -> pl.Expr:
    """The numbers between commas, without a percent sign each; null for other pieces."""
    piece = pl.element().str.replace("%", "", literal=True)
    return text.str.split(",").list.eval(number(piece))


def is_blank(text: pl.Expr) -> pl.Expr:
    """True for white space alone."""
    return ~text.str.contains(rf"[^{SPACE[1:-1]}]")


def without_reasoning(strings: pl.Series) -> pl.Series:
    """The texts after the end of a marked line of thought, in plain characters."""
    thought = strings.str.contains("</think", literal=True)
    # Far quicker than a search for these characters; few texts have any beyond ASCII.
    some = thought | (strings.str.len_bytes() > strings.str.len_chars())
    text = pl.col("text").str.replace_many(_FULL_WIDTH).str.replace(_REASONED, "")
    return replaced(strings, some, text)


def may_have_references(text: pl.Expr) -> pl.Expr:
    """True if a text has a word that begins a heading of references; fast."""
    return text.str.contains(_ANY_REFERENCES)


def without_references(strings: pl.Series) -> pl.Series:
    """The texts before a heading of references."""
    some = strings.to_frame("text").select(may_have_references(pl.col("text"))).to_series()
    return replaced(strings, some, pl.col("text").str.replace(_REFERENCES, ""))


def replaced(strings: pl.Series, some: pl.Series, by: pl.Expr) -> pl.Series:
    """The texts, some of them replaced by an expression of `text`; the same series if none is."""
    # The expression sees these texts only: patterns cost time even in empty ones.
    index = some.arg_true()
    if index.is_empty():
        return strings
    changed = strings.gather(index).to_frame("text").select(by).to_series()
    place = (some.cum_sum().cast(pl.Int64) - 1).set(~some, None)
    return pl.select(pl.coalesce(changed.gather(place), strings)).to_series()


def without_asides(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines without brackets or parentheses after a number."""
    cleaned = pl.col("text")
    for pattern, replacement in _REPLACED:
        cleaned = cleaned.str.replace_all(pattern, replacement)
    cleaned = pl.when(pl.col("text").str.contains(_ANY)).then(cleaned).otherwise("text")
    line = replaced(lines["line"], lines["line"].str.contains(_SIGNS), cleaned)
    return lines.with_columns(line=line)
