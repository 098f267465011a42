"""Responses as dtef-app 52d79c0 reads them, with its faults.

| | evalframe.survey | dtef |
|---|---|---|
| first list of numbers | must be a distribution over the options | is taken, whatever it contains |
| a key that is missing | unparsed | the first bracket, even if it answers another question |
| a blank response | failed | unparsed |
| a vector of another length | dropped | kept |
| labels of options | order the numbers | are not read |

The runner of dtef-app never passes on a blank response. To reproduce its leaderboards, leave these
out before. Its search takes the key for a pattern; here it stands for itself.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.parsing.characters import (
    BRACKET,
    DIGITS,
    MARKER,
    SPACE,
    listed_numbers,
    number,
)
from evalframe.survey.parsing.ladder import VECTOR, Rule, completed, first_found, per_row
from evalframe.survey.parsing.lists import common_forms, shares_of_letters
from evalframe.survey.parsing.parse import PARSED, with_parsed, with_status

# Plain answers.
_SEPARATED = rf"{DIGITS}{SPACE}*%?{SPACE}*[,;]{SPACE}*"
_LAST_OF_LINE = rf"[,;]{SPACE}*({DIGITS}){SPACE}*%?{SPACE}*$"
_LABELLED = rf"[a-zA-Z]\.{SPACE}*[^:]+:{SPACE}*{DIGITS}{SPACE}*%?"

_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_JSON_SPACE = r"[ \t\n\r]"

# The answer to one question of a batched prompt, in JSON.
_OBJECT = r"(?s)\{.*\}"
"""From the first opening brace to the last closing one."""

_KEY = rf'{_JSON_SPACE}*"[^"\\\x00-\x1f]*"{_JSON_SPACE}*'
_NUMBERS = rf"{_JSON_SPACE}*(?:{_NUMBER}{_JSON_SPACE}*(?:,{_JSON_SPACE}*{_NUMBER}{_JSON_SPACE}*)*)?"
_MEMBER = rf"{_KEY}:{_JSON_SPACE}*\[{_NUMBERS}\]{_JSON_SPACE}*"
_OF_ARRAYS = rf"^\{{{_MEMBER}(?:,{_MEMBER})*\}}$"
"""The common form: an object of arrays of numbers, without escapes."""

_ARRAY = rf"^{_JSON_SPACE}*:{_JSON_SPACE}*\[([^\]]*)\]"
_AFTER_KEY = rf"^{SPACE}*:{SPACE}*\[([^\]]+)\]"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_int=float, parse_constant=_refuse)
_NOT_JSON = object()

# Letters of simulated individuals.
_FENCE = rf"```(?i-u:json)?{SPACE}*"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SPACES = "".join(map(chr, [*range(9, 14), 32, 160, 0x1680, *range(0x2000, 0x200B)]))
_SPACES += "\u2028\u2029\u202f\u205f\u3000\ufeff"
_QUOTED_LETTERS = "'[a-zA-Z]'|\"[a-zA-Z]\""


@like_input
def parse(
    frame: Frame,
    *,
    response: IntoExpr = "response",
    n_options: IntoExpr = "n_options",
    question_key: IntoExpr | None = None,
    options: IntoExpr | None = None,
) -> pl.LazyFrame:
    """Read the first list of each response; `options` are ignored.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import dtef
        >>> responses = pl.DataFrame({"response": ["As in [1]: [60, 40]"], "n_options": [2]})
        >>> dtef.parse(responses).select("predicted", "status").row(0)
        ([1.0], 'length_mismatch')
    """
    columns = {"response": response, "n_options": n_options}
    columns |= {} if question_key is None else {"question_key": question_key}
    return with_parsed(frame, columns, _parsed)


def _parsed(rows: pl.Series) -> pl.Series:
    return with_status(rows, _vectors).select(PARSED.keys()).to_struct()


def _vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Vectors of any length, and the rules that read them."""
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
    vectors = rows.select(pl.when(numbers.list.len() >= 2).then(numbers))
    return vectors.to_series().cast(VECTOR)


def keyed_numbers(rows: pl.DataFrame) -> pl.Series:
    """The array of numbers under the `key` of a batched response; null without one."""
    objects = (
        rows.select(pl.int_range(pl.len()).alias("row"), "text", "key")
        .filter(pl.col("key") != "")
        .with_columns(object=pl.col("text").str.extract(_OBJECT, 0))
        .filter(pl.col("object").is_not_null())
    )
    plain_key = ~pl.col("key").str.contains(r'["\\\x00-\x1f]')
    is_common = objects.select(plain_key & pl.col("object").str.contains(_OF_ARRAYS)).to_series()
    other = objects.filter(~is_common)
    vectors = [_member(*row) for row in other.select("object", "key").iter_rows()]
    is_json = pl.Series([vector is not _NOT_JSON for vector in vectors], dtype=pl.Boolean)
    members = pl.Series([vector for vector in vectors if vector is not _NOT_JSON], dtype=VECTOR)
    parts = [
        _of_arrays(objects.filter(is_common)),
        other.filter(is_json).select("row", vector=members),
        _after_key(other.filter(~is_json)),
    ]
    return per_row(pl.concat(parts).drop_nulls("vector"), len(rows))["vector"]


def _member(text: str, key: str) -> Any:
    """The member of an object in JSON if it is an array of numbers alone, else None."""
    content = _json(text)
    if content is _NOT_JSON:
        return _NOT_JSON
    values = content.get(key)
    is_numeric = isinstance(values, list) and all(isinstance(value, float) for value in values)
    return values if is_numeric else None


def _json(text: str) -> Any:
    """The value of a text in strict JSON, numbers as floats, or `_NOT_JSON`."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


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
    """The first array in brackets that follows the quoted key, in any text."""
    # Each round moves the remaining rows on to the next position of the key.
    arrays = [pl.DataFrame(schema={"row": pl.Int64, "vector": VECTOR})]
    left = rows.select("row", "key", rest="text")
    while not left.is_empty():
        offset = pl.col("rest").str.find(_quoted(), literal=True)
        here = pl.col("rest").cast(pl.Binary).bin.slice(offset).cast(pl.String)
        behind = pl.col("rest").str.strip_prefix(_quoted())
        next_quote = pl.col("rest").str.slice(1)
        left = (
            left.with_columns(rest=here)
            .drop_nulls("rest")
            .with_columns(inside=behind.str.extract(_AFTER_KEY))
        )
        done = left.filter(pl.col("inside").is_not_null())
        arrays.append(done.select("row", vector=_all_numbers(pl.col("inside"))))
        left = left.filter(pl.col("inside").is_null()).select("row", "key", rest=next_quote)
    return pl.concat(arrays)


def _quoted() -> pl.Expr:
    return pl.concat_str(pl.lit('"'), "key", pl.lit('"'))


def _all_numbers(inside: pl.Expr) -> pl.Expr:
    """The numbers between commas, null if a piece is not a number."""
    numbers = inside.str.split(",").list.eval(number(pl.element()))
    return pl.when(~numbers.list.contains(None, nulls_equal=True)).then(numbers)


def individual_answers(rows: pl.DataFrame) -> pl.Series:
    """The shares of the letters in the first bracket, in percent; null without letters."""
    inside = (
        pl.col("text")
        .str.replace_all(_FENCE, "")
        .str.replace_all("```", "", literal=True)
        .str.extract(BRACKET)
    )
    arrays = (
        rows.select(pl.int_range(pl.len()).alias("row"), "n", inside=inside)
        .drop_nulls("inside")
        .with_columns(array=pl.format("[{}]", "inside"))
    )
    contents = [_json(text) for text in arrays["array"]]
    is_json = pl.Series([content is not _NOT_JSON for content in contents], dtype=pl.Boolean)
    listed = [_letters_of(content) for content in contents if content is not _NOT_JSON]
    strings = arrays.filter(is_json).select(
        "row", "n", letters=pl.Series(listed, dtype=pl.String).str.extract_all("[a-z]")
    )
    quoted = arrays.filter(~is_json).select(
        "row", "n", letters=pl.col("array").str.extract_all(_QUOTED_LETTERS)
    )
    loose = quoted.filter(pl.col("letters").list.len() >= 2).with_columns(
        pl.col("letters").list.eval(pl.element().str.slice(1, 1).str.to_lowercase())
    )
    lettered = pl.concat([strings.drop_nulls("letters"), loose])
    return per_row(shares_of_letters(lettered), len(rows))["vector"]


def _letters_of(array: list[Any]) -> str | None:
    """The letters of an array of letters alone, in lower case."""
    if not all(isinstance(element, str) for element in array):
        return None
    letters = [element.lower().strip(_SPACES) for element in array]
    return "".join(letters) if letters and _LETTERS.issuperset(letters) else None
