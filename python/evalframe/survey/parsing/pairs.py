"""Labels with their numbers: `a. Yes: 60%`, `**No** - 40`, `| Yes | 60% |`, `"Yes": 60`."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import DASHES, QUOTES
from evalframe.survey.parsing.lists import has_digit, plain, text_lines

_ABOUT = r"(?i-u:(?:about|around|approximately|approx\.?|roughly|circa|ca\.)\s*)?"
_BESIDE = rf"[\s*_{QUOTES}`~≈]*"
_NUMBER = r"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)"
_RANGE = rf"\s*%?\s*(?:[{DASHES}]|to\s)\s*[0-9][0-9.,]*"
_END = rf"(?:\s*%|[{QUOTES}*_`]*(?:[\s,;)}}\]|<(]|\.(?:\s|$)|$))"

_COLON = rf"(?:[:=]|→|\s[{DASHES}]{{1,2}}>?\s|\t|\.{{3,}}|…){_BESIDE}{_ABOUT}"
_PAIR = rf"(?:{_COLON}(?:{_NUMBER})(?:{_RANGE})?{_END})"
_IN_PARENTHESES = rf"\({_BESIDE}{_ABOUT}{_NUMBER}(?:{_RANGE})?\s*%{_BESIDE}\)"
_NUMBERED = (
    rf"(?:^|[\s,;(])(?:[a-zA-Z]|[0-9]{{1,2}})[.)]\s+{_BESIDE}{_ABOUT}{_NUMBER}(?:\s*%|\s*[,;]|\s*$)"
)
_PAIRS = rf".*?(?:{_PAIR}|{_IN_PARENTHESES}|{_NUMBERED})"
_BEHIND_LABEL = (
    rf"(?:{_COLON}|\({_BESIDE}{_ABOUT}|[.)]\s+{_BESIDE}{_ABOUT})"
    rf"(?P<number>{_NUMBER})(?P<range>{_RANGE})?(?:{_END}|\s*%{_BESIDE}\)|\s*[,;]|\s*)$"
)
_SPACED = rf"(?:^|[,;/])[^,;:/0-9%]*?\p{{L}}[^,;:/0-9%]*?\s+{_NUMBER}\s*%"
_SPACED_PARTS = rf"^[,;/]?(?P<label>.*?)\s+(?P<number>{_NUMBER})\s*%$"

_CELL = rf"^\s*(?i-u:about\s+)?({_NUMBER})\s*$"
_TOTAL = r"(?i)^[^\p{L}\p{N}]*(?:the\s+)?(?:grand\s+|overall\s+)?(?:totals?|sum)\b"

PAIRS = {"row": pl.Int64, "place": pl.Int64, "label": pl.String, "value": pl.Float64}


def line_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """The pairs of lines that are no rows of a table: `row`, `place` (of the line), both parts.

    The label is all that stands before the number, from the number before it on. A range has no
    value. Totals are left out.
    """
    pairs = (
        _lines_with_digits(rows)
        .select("row", "place", pair=pl.col("line").str.extract_all(_PAIRS))
        .explode("pair", empty_as_null=False)
        .with_columns(
            label=pl.col("pair").str.replace(_BEHIND_LABEL, ""),
            parts=pl.col("pair").str.extract_groups(_BEHIND_LABEL),
        )
        .unnest("parts")
    )
    value = pl.when(pl.col("range").is_null()).then(_value(pl.col("number")))
    return _without_totals(pairs.drop_nulls("number").select("row", "place", "label", value=value))


def spaced_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Pairs with nothing but a space between, `Yes 60%`, which need a label that is known."""
    lines = _lines_with_digits(rows)
    line = pl.col("line").str.replace_all(f"[{QUOTES}`*_~≈]", "")
    pairs = (
        lines.filter(~pl.col("line").str.contains(_PAIRS))
        .with_columns(pair=line.str.extract_all(_SPACED))
        .explode("pair")
        .with_columns(parts=pl.col("pair").str.extract_groups(_SPACED_PARTS))
        .unnest("parts")
    )
    value = _value(pl.col("number"))
    return _without_totals(pairs.drop_nulls("pair").select("row", "place", "label", value=value))


def table_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """The pairs of a table, one a row: its cells that are no numbers, and its last number."""
    cells = _cells(rows).with_columns(
        label=pl.col("label").list.drop_nulls().list.join(" "),
        value=pl.col("values").list.last(),
    )
    return _without_totals(cells.drop_nulls("value").select(list(PAIRS)))


def table_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a table with all numbers in them, and at most one other cell."""
    cells = _cells(rows).filter(pl.col("label").list.drop_nulls().list.len() <= 1)
    return cells.select("row", vector="values").filter(pl.col("vector").list.len() > 1)


def _lines_with_digits(rows: pl.DataFrame) -> pl.DataFrame:
    """Those that are no rows of a table."""
    return text_lines(rows).filter(has_digit()).filter(~_is_table_row())


def _cells(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of tables, with numbers in `values` and other cells in `label`."""
    lines = text_lines(rows).filter(_is_table_row())
    cells = lines.with_columns(cell=pl.col("line").str.strip_chars(" \t\r|").str.split("|"))
    number = plain(pl.element()).str.extract(_CELL)
    other = pl.when(number.is_null()).then(pl.element().str.strip_chars())
    return cells.select(
        "row",
        "place",
        label=pl.col("cell").list.eval(other),
        values=pl.col("cell").list.eval(_value(number)).list.drop_nulls(),
    )


def _is_table_row() -> pl.Expr:
    return pl.col("line").str.contains(r"\S\s*\|\s*\S")


def _value(number: pl.Expr) -> pl.Expr:
    return number.str.replace(",", ".", literal=True).cast(pl.Float64)


def _without_totals(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(~pl.col("label").str.contains(_TOTAL))
