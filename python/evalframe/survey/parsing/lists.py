"""Lists of numbers outside of brackets: on one line, or one number a line."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import QUOTES
from evalframe.survey.parsing.ladder import VECTOR

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

_AND = r"(?:and\s+|&\s*)?"
_SEPARATOR = rf"(?:\s*[,;|]\s*{_AND}|\s+{_AND})"
_MANY = rf"{NUMBER}(?:{_SEPARATOR}{NUMBER})"

_DECORATION = rf"[{QUOTES}`*_~≈%\\\u{{200b}}\u{{feff}}]"
"""Decoration of a number: quotes, bold, percent, about."""

_WHOLE = rf"^\s*{_MANY}*[\s,;|.]*$"
_NO_WORD = r"[^\p{L}\p{N}]*"
_END = rf"{_NO_WORD}(?:respectively{_NO_WORD})?"
_SLASHED = rf"{NUMBER}(?:\s*/\s*{NUMBER})+"
_ABOUT = r"(?i-u:(?:about|around|approximately|roughly)\s+)?"
_LIST = rf"{_ABOUT}\(?({_MANY}+|{_SLASHED}){_END}$"
_OF_LINE = rf"^\s*(?:[-•·>+]\s+)?{_ABOUT}\(?(?:{_MANY}+|{_SLASHED}){_END}$"
_CUE = (
    r"(?:answer|distribut|predict|estimat|percent|share|split|guess|probabilit|response|proportion"
    r"|expect|final|result|say )"
)
_CUED = rf"(?i-u:{_CUE})[^\n0-9]*[0-9.]"

_SAYS = r"(?:predict|estimate|guess|expect|answer|say|split|distribution|prediction|percentages)"
_ANSWERS = (
    rf"(?i){_CUE}[^\n]*?(?::\s|=|\b(?:is|are|be|as)\s)\s*{_LIST}",
    rf"(?i)\b{_SAYS}[\s:]+{_LIST}",
)
_NO_ANSWER = (
    r"(?i)\b(?:between|from|aged?|ages|years?|sections?|chapters?|pages?|figures?|tables?|items?"
    r"|questions?|refs?|references?|sources?|intervals?|ranges?)\b"
)
_ALONE = rf"^\s*(?:[-•·>+]\s+)?({NUMBER})[\s,;.)\]}}]*$"

_BRACKETS = r"\[[^\[\]]+\]"


def plain(text: pl.Expr) -> pl.Expr:
    """The text without what decorates numbers."""
    return text.str.replace_all(_DECORATION, " ")


def with_points(text: pl.Expr) -> pl.Expr:
    """Decimal commas as points; null where there are none, or where they may be separators."""
    comma = text.str.contains("[0-9],[0-9]") & ~text.str.contains(",[0-9]+,[0-9]")
    return pl.when(comma).then(text.str.replace_all("([0-9]),([0-9])", "${1}.${2}"))


def is_list(text: pl.Expr) -> pl.Expr:
    """True if a text has only numbers and separators."""
    return text.str.contains(_WHOLE)


def numbers(column: str) -> pl.Expr:
    """All numbers of a list."""
    return pl.col(column).str.extract_all(NUMBER).cast(VECTOR)


def line_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Lists behind a word for the answer, else lines that are lists, or have one number each."""
    lines = _lines(rows)
    lists = _readings(lines).filter(pl.col("line").str.contains(_OF_LINE))
    others = pl.concat([_columns_of_numbers(lines), lists.select("row", vector=numbers("line"))])
    answered = _answered(lines)
    n = rows["n"].gather(answered["row"])
    fits = answered.filter(pl.col("vector").list.len() == n)
    last = fits.unique("row", keep="last", maintain_order=True)
    rest = pl.concat([others, answered]).join(last, on="row", how="anti", maintain_order="left")
    return pl.concat([rest, last])


def text_lines(rows: pl.DataFrame) -> pl.DataFrame:
    """Lines with a letter or a digit: `row`, `place` (consecutive within a row) and `line`."""
    return (
        rows.select(pl.int_range(pl.len()).alias("row"), line=pl.col("text").str.split("\n"))
        .explode("line")
        .filter(pl.col("line").str.contains(r"[\p{L}\p{N}]"))
        .with_columns(place=pl.int_range(pl.len()))
    )


def has_digit() -> pl.Expr:
    """True if the line has a digit."""
    return pl.col("line").str.contains("[0-9]")


def new_block(broken: pl.Expr) -> pl.Expr:
    """True for the first line of a block: of a row, or after a break."""
    new_row = pl.col("row") != pl.col("row").shift()
    return (new_row | broken).fill_null(value=True)


def gap() -> pl.Expr:
    """True if another line is between this one and the previous one."""
    return pl.col("place") > pl.col("place").shift() + 1


def _lines(rows: pl.DataFrame) -> pl.DataFrame:
    """Those with digits, without what decorates numbers."""
    return text_lines(rows).filter(has_digit()).with_columns(line=plain(pl.col("line")))


def _answered(lines: pl.DataFrame) -> pl.DataFrame:
    """Lists that a line ends with, behind a word for the answer, `I predict 60%, 40%`."""
    line = pl.col("line")
    cued = lines.filter(line.str.contains(_CUED) & ~line.str.contains(_NO_ANSWER))
    lists = [line.str.extract(pattern) for pattern in _ANSWERS]
    ends = _readings(cued).select("row", end=pl.coalesce(lists)).drop_nulls()
    return ends.select("row", vector=numbers("end"))


def _readings(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines without brackets, in either reading of their commas."""
    cleaned = lines.select("row", "place", line=pl.col("line").str.replace_all(_BRACKETS, ""))
    decimal = cleaned.with_columns(line=with_points(pl.col("line"))).drop_nulls()
    return pl.concat([decimal, cleaned]).sort("place", maintain_order=True)


def _columns_of_numbers(lines: pl.DataFrame) -> pl.DataFrame:
    read = pl.coalesce(with_points(pl.col("line")), "line")
    alone = lines.with_columns(number=read.str.extract(_ALONE).cast(pl.Float64)).drop_nulls()
    blocks = alone.group_by(new_block(gap()).cum_sum().alias("block"), maintain_order=True)
    return blocks.agg(pl.col("row").first(), vector="number").drop("block")
