"""Text next to a number that is not part of the answer: citations, intervals, sample sizes."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import DASHES, text_where

_NUMBER = r"[0-9]+(?:[.,][0-9]+)*"
_ANY = r"[\[(±]|[nN]\s*=|\+/-"
_SIGNS = r"[\[(=±]|\+/-"
"""A sign of every aside, fast to search."""

_REPLACED = (
    # Citations and intervals in brackets.
    (rf"\[[\s0-9.,;%to{DASHES}]+\]", ""),
    (r"([0-9]\s*%?[*_]*)\s*\[[^\[\]]*\]", "${1}"),
    (r"\(?\s*(?:±|\+/-)\s*[0-9][0-9.,]*\s*%?(?:\s*(?:pp|points?))?\s*\)?", ""),
    # A count before its share: 1,200 (60%).
    (rf"{_NUMBER}\s*\(\s*({_NUMBER}\s*%)\s*\)", "${1}"),
    (r"([0-9]\s*%[*_]*)\s*\([^()]*[0-9][^()]*\)", "${1}"),
    (rf"([0-9][*_]*)\s*\(\s*{_NUMBER}\s*%?\s*(?:[{DASHES},;]|to)\s*{_NUMBER}\s*%?\s*\)", "${1}"),
    (r"(?i)([0-9]\s*%?[*_]*)\s*\([^()]*(?:n\s*=|\bCI\b|interval|margin)[^()]*\)", "${1}"),
    (r"[,;]?\s*\(?\b[nN]\s*=\s*[0-9][0-9.,]*\)?", ""),
)


_FULL_WIDTH = {chr(ord(plain) + 0xFEE0): plain for plain in ":%,;|[]()0123456789"}
"""Characters of East Asian width, which stand in another block in the same order."""

_REASONED = r"(?s)^.*</think(?:ing)?>"
_REFERENCES = (
    r"(?ims)^[\s#*_]*(?:references|sources|bibliography|citations|works cited|footnotes)[\s*_:]*$.*"
)
# A search for few letters in both cases is several times as fast as one that ignores case.
_ANY_REFERENCES = (
    "[Rr]eference|REFERENCE|[Ss]ources|SOURCES|[Bb]ibliog|BIBLIOG|[Cc]itation|CITATION"
    "|[Cc]ited|CITED|[Ff]ootnote|FOOTNOTE"
)


def without_reasoning(strings: pl.Series) -> pl.Series:
    """The texts after the end of a marked line of thought, in plain characters."""
    thought = strings.str.contains("</think", literal=True)
    # Far quicker than a search for these characters; few texts have any beyond ASCII.
    some = thought | (strings.str.len_bytes() > strings.str.len_chars())
    if not some.any():
        return strings
    text = text_where(pl.lit(some)).str.replace_many(_FULL_WIDTH).str.replace(_REASONED, "")
    return strings.to_frame("text").select(pl.when(some).then(text).otherwise("text")).to_series()


def may_have_references(text: pl.Expr) -> pl.Expr:
    """True if a text has a word that begins a heading of references; fast."""
    return text.str.contains(_ANY_REFERENCES)


def without_references(strings: pl.Series) -> pl.Series:
    """The texts before a heading of references."""
    some = strings.to_frame("text").select(may_have_references(pl.col("text"))).to_series()
    if not some.any():
        return strings
    cut = text_where(pl.lit(some)).str.replace(_REFERENCES, "")
    return strings.to_frame("text").select(pl.when(some).then(cut).otherwise("text")).to_series()


def without_asides(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines without brackets or parentheses after a number."""
    if not lines["line"].str.contains(_SIGNS).any():
        return lines
    some = lines["line"].str.contains(_ANY)
    cleaned = text_where(pl.lit(some), "line")
    for pattern, replacement in _REPLACED:
        cleaned = cleaned.str.replace_all(pattern, replacement)
    return lines.with_columns(line=pl.when(some).then(cleaned).otherwise("line"))
