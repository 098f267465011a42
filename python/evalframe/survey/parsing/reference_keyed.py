"""The answer to one question of a batched prompt, by the rules of the original program."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import SPACE, number
from evalframe.survey.parsing.ladder import VECTOR, per_row
from evalframe.survey.parsing.strict_json import (
    NUMBER,
    is_value,
    number_members,
    skeletons,
)
from evalframe.survey.parsing.strict_json import SPACE as JSON_SPACE

_OBJECT = r"(?s)\{.*\}"
"""From the first opening brace to the last closing one."""

_KEY = rf'{JSON_SPACE}*"[^"\\\x00-\x1f]*"{JSON_SPACE}*'
_NUMBERS = rf"{JSON_SPACE}*(?:{NUMBER}{JSON_SPACE}*(?:,{JSON_SPACE}*{NUMBER}{JSON_SPACE}*)*)?"
_MEMBER = rf"{_KEY}:{JSON_SPACE}*\[{_NUMBERS}\]{JSON_SPACE}*"
_OF_ARRAYS = rf"^\{{{_MEMBER}(?:,{_MEMBER})*\}}$"
"""The common form: an object of arrays of numbers, without escapes."""

_ARRAY = rf"^{JSON_SPACE}*:{JSON_SPACE}*\[([^\]]*)\]"
_AFTER_KEY = rf"^{SPACE}*:{SPACE}*\[([^\]]+)\]"


def keyed_numbers(rows: pl.DataFrame) -> pl.Series:
    """The array of numbers under the key, perhaps empty; null if there is none.

    Args:
        rows: `text` and `key`. Rows without a key, or with an empty one, have no answer.
    """
    asked = (
        rows.select(pl.int_range(pl.len()).alias("row"), "text", "key")
        .filter(pl.col("key") != "")
        .with_columns(object=pl.col("text").str.extract(_OBJECT, 0))
        .filter(pl.col("object").is_not_null())
    )
    plain_key = ~pl.col("key").str.contains(r'["\\\x00-\x1f]')
    common = asked.select(plain_key & pl.col("object").str.contains(_OF_ARRAYS)).to_series()
    other = asked.filter(~common)
    valid = is_value(skeletons(other["object"]))
    strict, loose = other.filter(valid), other.filter(~valid)
    parts = [
        _of_arrays(asked.filter(common)),
        strict.select("row", vector=number_members(strict["object"], strict["key"])),
        _after_key(loose),
    ]
    return per_row(pl.concat(parts).drop_nulls("vector"), len(rows))["vector"]


def _of_arrays(rows: pl.DataFrame) -> pl.DataFrame:
    """From objects of arrays, where the quoted key can stand for nothing else."""
    after = pl.col("object").str.split(_quoted())
    last = pl.when(after.list.len() > 1).then(after.list.last())
    inside = last.str.extract(_ARRAY).str.strip_chars(" \t\n\r")
    numbers = inside.str.split(",").list.eval(
        pl.element().str.strip_chars(" \t\n\r").cast(pl.Float64, strict=False)
    )
    # An empty array is split into one piece, which is no number.
    return rows.select("row", vector=numbers.list.drop_nulls())


def _after_key(rows: pl.DataFrame) -> pl.DataFrame:
    """From the first place where an array in brackets follows the quoted key, in any text.

    Every round moves the rows that are left on to the next place where the key stands.
    """
    found = [pl.DataFrame(schema={"row": pl.Int64, "vector": VECTOR})]
    left = rows.select("row", "key", rest="text")
    while not left.is_empty():
        place = pl.col("rest").str.find(_quoted(), literal=True)
        here = pl.col("rest").cast(pl.Binary).bin.slice(place).cast(pl.String)
        behind = pl.col("rest").str.strip_prefix(_quoted())
        next_quote = pl.col("rest").str.slice(1)
        left = (
            left.with_columns(rest=here)
            .drop_nulls("rest")
            .with_columns(inside=behind.str.extract(_AFTER_KEY))
        )
        done = left.filter(pl.col("inside").is_not_null())
        found.append(done.select("row", vector=_all_numbers(pl.col("inside"))))
        left = left.filter(pl.col("inside").is_null()).select("row", "key", rest=next_quote)
    return pl.concat(found)


def _quoted() -> pl.Expr:
    return pl.concat_str(pl.lit('"'), "key", pl.lit('"'))


def _all_numbers(inside: pl.Expr) -> pl.Expr:
    """The numbers between commas, null if a piece is none."""
    numbers = inside.str.split(",").list.eval(number(pl.element()))
    return pl.when(~numbers.list.contains(None, nulls_equal=True)).then(numbers)
