"""Lists of numbers: in brackets, on one line, or one number a line."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.candidates import no_candidates
from evalframe.survey.parsing.characters import DASHES, QUOTES
from evalframe.survey.parsing.ladder import VECTOR
from evalframe.survey.parsing.reference_individuals import shares_of_letters

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

_AND = r"(?:and\s+|&\s*)?"
_SEPARATOR = rf"(?:\s*[,;|]\s*{_AND}|\s+{_AND})"
_MANY = rf"{NUMBER}(?:{_SEPARATOR}{NUMBER})"

_DECORATION = rf"[{QUOTES}`*_~≈%\\\u{{200b}}\u{{feff}}]"
"""What may stand beside a number: quotes, bold, percent, about."""

_WHOLE = rf"^\s*{_MANY}*[\s,;|.]*$"
_NO_WORD = r"[^\p{L}\p{N}]*"
_BEFORE = rf"(?:^|[^\p{{L}}\p{{N}}.+{DASHES}])"
_TO_THE_END = rf"{_BEFORE}({_MANY}+){_NO_WORD}(?:respectively{_NO_WORD})?$"
_ALONE = rf"^\s*(?:[-•·>+]\s+)?({NUMBER})[\s,;.)\]}}]*$"

_BRACKETS = r"\[[^\[\]]+\]"
_INTERVAL = r"^\[\s*0\s*[,;]\s*1(?:00)?%?\s*\]$"
_LETTER = f"[{QUOTES}][a-zA-Z][{QUOTES}]"
_LETTERS = rf"^\[\s*{_LETTER}(?:\s*,\s*{_LETTER})+\s*,?\s*\]$"


def plain(text: pl.Expr) -> pl.Expr:
    """The text without what decorates numbers."""
    return text.str.replace_all(_DECORATION, " ")


def with_points(text: pl.Expr) -> pl.Expr:
    """Decimal commas as points; null where there are none, or where they may be separators."""
    comma = text.str.contains("[0-9],[0-9]") & ~text.str.contains(",[0-9]+,[0-9]")
    return pl.when(comma).then(text.str.replace_all("([0-9]),([0-9])", "${1}.${2}"))


def numbers(text: pl.Expr) -> pl.Expr:
    """All numbers of a list."""
    return text.str.extract_all(NUMBER).cast(VECTOR)


def bracket_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets that hold nothing but numbers, in either reading of their commas.

    `[0, 1]` and `[0, 100]` within a text are intervals and no answers.
    """
    held = _brackets(rows).filter(
        ~pl.col("bracket").str.contains(_INTERVAL)
        | (pl.col("text").str.strip_chars() == pl.col("bracket"))
    )
    content = plain(pl.col("bracket").str.slice(1, pl.col("bracket").str.len_chars() - 2))
    read = held.select("row", content=content)
    decimal = read.select("row", content=with_points(pl.col("content"))).drop_nulls()
    # Of two readings at most one has the right length, so that their order says nothing.
    readings = pl.concat([decimal, read]).sort("row", maintain_order=True)
    whole = readings.filter(pl.col("content").str.contains(_WHOLE))
    return whole.select("row", vector=numbers(pl.col("content")))


def individual_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets of quoted letters, one for each simulated individual, as percentages."""
    held = _brackets(rows).filter(pl.col("bracket").str.contains(_LETTERS))
    if held.is_empty():
        return no_candidates()
    letter = pl.element().str.to_lowercase()
    lettered = held.select(
        "row", "n", letters=pl.col("bracket").str.extract_all("[a-zA-Z]").list.eval(letter)
    )
    last = pl.lit([chr(ord("a") + k) for k in range(26)]).list.get(
        pl.col("n") - 1, null_on_oob=True
    )
    named = lettered.filter(pl.col("letters").list.max() <= last.fill_null("z"))
    return shares_of_letters(named)


def line_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Lists of numbers that a line ends with, then blocks of lines with one number each."""
    numbered = text_lines(rows).filter(has_digit())
    lines = numbered.with_columns(line=plain(pl.col("line")))
    return pl.concat([_columns_of_numbers(lines), _ends_of_lines(lines)])


def text_lines(rows: pl.DataFrame) -> pl.DataFrame:
    """The lines that hold a letter or a digit: `row`, `place` (a running number) and `line`.

    Places of neighbouring lines of a row follow upon each other.
    """
    return (
        rows.select(pl.int_range(pl.len()).alias("row"), line=pl.col("text").str.split("\n"))
        .explode("line")
        .filter(pl.col("line").str.contains(r"[\p{L}\p{N}]"))
        .with_columns(place=pl.int_range(pl.len()))
    )


def has_digit() -> pl.Expr:
    """Whether there is a digit in the line."""
    return pl.col("line").str.contains("[0-9]")


def new_block(broken: pl.Expr) -> pl.Expr:
    """Whether a block begins with a line: the first of a row, or where it is broken."""
    new_row = pl.col("row") != pl.col("row").shift()
    return (new_row | broken).fill_null(value=True)


def gap() -> pl.Expr:
    """Whether there is another line between this one and the last."""
    return pl.col("place") > pl.col("place").shift() + 1


def _brackets(rows: pl.DataFrame) -> pl.DataFrame:
    bracket = pl.col("text").str.extract_all(_BRACKETS)
    numbered = rows.select(pl.int_range(pl.len()).alias("row"), "n", "text", bracket=bracket)
    return numbered.explode("bracket").drop_nulls("bracket")


def _ends_of_lines(lines: pl.DataFrame) -> pl.DataFrame:
    """Lists outside of brackets, which are citations, or lists by a rule of their own."""
    cleaned = lines.select("row", "place", line=pl.col("line").str.replace_all(_BRACKETS, ""))
    decimal = cleaned.with_columns(line=with_points(pl.col("line"))).drop_nulls()
    readings = pl.concat([decimal, cleaned]).sort("place", maintain_order=True)
    ends = readings.select("row", end=pl.col("line").str.extract(_TO_THE_END)).drop_nulls()
    return ends.select("row", vector=numbers(pl.col("end")))


def _columns_of_numbers(lines: pl.DataFrame) -> pl.DataFrame:
    read = pl.coalesce(with_points(pl.col("line")), "line")
    alone = lines.with_columns(number=read.str.extract(_ALONE).cast(pl.Float64)).drop_nulls()
    blocks = alone.group_by(new_block(gap()).cum_sum().alias("block"), maintain_order=True)
    return blocks.agg(pl.col("row").first(), vector="number").drop("block")
