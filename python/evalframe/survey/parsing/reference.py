"""The rules of the original program, each with its faults: dtef-app 52d79c0."""

from __future__ import annotations

from functools import partial

import polars as pl

from evalframe.survey.parsing.characters import BRACKET, DIGITS, MARKER, SPACE, listed_numbers
from evalframe.survey.parsing.common_forms import common_forms
from evalframe.survey.parsing.ladder import VECTOR, Rule, completed, first_found, per_row
from evalframe.survey.parsing.reference_individuals import individual_answers
from evalframe.survey.parsing.reference_keyed import keyed_numbers

_SEPARATED = rf"{DIGITS}{SPACE}*%?{SPACE}*[,;]{SPACE}*"
_LAST_OF_LINE = rf"[,;]{SPACE}*({DIGITS}){SPACE}*%?{SPACE}*$"
_LABELLED = rf"[a-zA-Z]\.{SPACE}*[^:]+:{SPACE}*{DIGITS}{SPACE}*%?"


def reference_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Vectors of any length, and the rules that found them.

    Args:
        rows: `text`, `n` (the number of options), and `key` (of a batched prompt, or null).
    """
    if rows["key"].null_count() == len(rows):
        return _single(rows)
    keyed = first_found(rows, [Rule("keyed", keyed_numbers)])
    return completed(keyed, keyed["predicted"].is_not_null(), rows, _single)


def _single(rows: pl.DataFrame) -> pl.DataFrame:
    common = common_forms(rows)
    finite = pl.col("predicted").list.eval(pl.element().is_finite().fill_null(value=False))
    settled = common.select(finite.list.all().fill_null(value=False)).to_series()
    return completed(common.select("predicted", "parse_rule"), settled, rows, _closely)


def _closely(rows: pl.DataFrame) -> pl.DataFrame:
    rules = [
        Rule("marker", partial(_bracketed, pattern=MARKER), needs=r"\["),
        Rule("bracket", partial(_bracketed, pattern=BRACKET), needs=r"\["),
        Rule("lines", _line, needs="[,;]"),
        Rule("labelled", _labelled, needs=":"),
        Rule("individuals", individual_answers, needs=r"\["),
    ]
    return first_found(rows, rules)


def _bracketed(rows: pl.DataFrame, pattern: str) -> pl.Series:
    """The numbers in the first match; no second match is tried."""
    numbers = listed_numbers(pl.col("text").str.extract(pattern)).list.drop_nulls()
    return rows.select(pl.when(numbers.list.len() > 0).then(numbers)).to_series()


def _line(rows: pl.DataFrame) -> pl.Series:
    """The first line with two numbers beside commas or semicolons."""
    line = pl.col("line")
    separated = line.str.extract_all(_SEPARATED).list.eval(
        pl.element().str.extract(f"^{DIGITS}", 0).cast(pl.Float64)
    )
    last = pl.concat_list(line.str.extract(_LAST_OF_LINE).cast(pl.Float64)).list.drop_nulls()
    lines = (
        rows.select(pl.int_range(pl.len()).alias("row"), line=pl.col("text").str.split("\n"))
        .explode("line")
        .filter(line.str.contains("[,;]"))
        .select("row", vector=pl.concat_list(separated, last))
        .filter(pl.col("vector").list.len() >= 2)
        .unique("row", keep="first", maintain_order=True)
    )
    return per_row(lines, len(rows))["vector"]


def _labelled(rows: pl.DataFrame) -> pl.Series:
    """The numbers of two or more `a. Label: 45%`, where any word may end in the letter."""
    after_colon = pl.element().str.extract(f":{SPACE}*({DIGITS})").cast(pl.Float64)
    numbers = pl.col("text").str.extract_all(_LABELLED).list.eval(after_colon)
    found = rows.select(pl.when(numbers.list.len() >= 2).then(numbers))
    return found.to_series().cast(VECTOR)
