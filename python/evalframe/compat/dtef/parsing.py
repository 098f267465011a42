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

from functools import partial

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

# Strict JSON.
_STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_JSON_SPACE = r"[ \t\n\r]"

_SCALAR = rf"{_NUMBER}|true|false|null"
_TOKENS = rf"^(?:{_STRING}|{_SCALAR}|[\[\]{{}}:,]|{_JSON_SPACE})*$"

_VALUE = '[0"]'
_INNERMOST = rf'\{{(?:":{_VALUE}(?:,":{_VALUE})*)?\}}|\[(?:{_VALUE}(?:,{_VALUE})*)?\]'
"""An object or array without another one in it, of a skeleton."""

_TOKEN = rf"{_STRING}|{_SCALAR}|[\[\]{{}}:,]"

# Plain answers.
_SEPARATED = rf"{DIGITS}{SPACE}*%?{SPACE}*[,;]{SPACE}*"
_LAST_OF_LINE = rf"[,;]{SPACE}*({DIGITS}){SPACE}*%?{SPACE}*$"
_LABELLED = rf"[a-zA-Z]\.{SPACE}*[^:]+:{SPACE}*{DIGITS}{SPACE}*%?"

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

# Letters of simulated individuals.
_FENCE = rf"```(?i-u:json)?{SPACE}*"
_ALL_STRINGS = r'^\["(?:,")*\]$'
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
    common = objects.select(plain_key & pl.col("object").str.contains(_OF_ARRAYS)).to_series()
    other = objects.filter(~common)
    valid = _is_value(_skeletons(other["object"]))
    strict, loose = other.filter(valid), other.filter(~valid)
    parts = [
        _of_arrays(objects.filter(common)),
        strict.select("row", vector=_number_members(strict["object"], strict["key"])),
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
    skeleton = _skeletons(arrays["array"])
    valid = _is_value(skeleton)
    strings = arrays.filter(valid & skeleton.str.contains(_ALL_STRINGS)).select(
        "row", "n", letters=_letters_of_strings()
    )
    quoted = arrays.filter(~valid).select(
        "row", "n", letters=pl.col("array").str.extract_all(_QUOTED_LETTERS)
    )
    loose = quoted.filter(pl.col("letters").list.len() >= 2).with_columns(
        pl.col("letters").list.eval(pl.element().str.slice(1, 1).str.to_lowercase())
    )
    lettered = pl.concat([strings.drop_nulls("letters"), loose])
    return per_row(shares_of_letters(lettered), len(rows))["vector"]


def _letters_of_strings() -> pl.Expr:
    """Each string in lower case and trimmed; null unless all of them are letters."""
    trimmed = rf"^{SPACE}*([a-z]){SPACE}*$"
    letter = _unescaped(pl.element()).str.to_lowercase().str.extract(trimmed)
    letters = pl.col("array").str.extract_all(_STRING).list.eval(letter)
    return pl.when(~letters.list.contains(None, nulls_equal=True)).then(letters)


def _skeletons(strings: pl.Series) -> pl.Series:
    """The tokens, with `"` for each string and `0` for other scalars; null if one is invalid."""
    text = pl.col("text")
    tokens = text.str.replace_all(_STRING, '"').str.replace_all(_SCALAR, "0")
    skeleton = pl.when(text.str.contains(_TOKENS)).then(tokens.str.replace_all(_JSON_SPACE, ""))
    return strings.to_frame("text").select(skeleton).to_series()


def _is_value(skeleton: pl.Series) -> pl.Series:
    """True if a skeleton is one value."""
    # The innermost objects and arrays become scalars until nothing is left to reduce: one round per
    # level of the deepest text.
    reduced = skeleton
    while True:
        shorter = reduced.str.replace_all(_INNERMOST, "0")
        if shorter.equals(reduced):
            return reduced.is_in(["0", '"']).fill_null(value=False)
        reduced = shorter


def _unescaped(strings: pl.Expr) -> pl.Expr:
    """The texts of string tokens; null for half a surrogate pair."""
    plain = strings.str.slice(1, strings.str.len_chars() - 2)
    return (
        pl.when(strings.str.contains("\\", literal=True))
        .then(strings.str.json_path_match("$"))
        .otherwise(plain)
    )


def _number_members(objects: pl.Series, keys: pl.Series) -> pl.Series:
    """The last member of a key in each object if it is an array of numbers alone, else null."""
    numbered = pl.DataFrame({"text": objects, "key": keys}).with_row_index("row")
    tokens = (
        numbered.with_columns(token=pl.col("text").str.extract_all(_TOKEN))
        .drop("text")
        .explode("token")
        .with_columns(depth=_depth(), place=pl.int_range(pl.len()))
    )
    # Brackets balance within each text, so that depths and places run through all of them.
    is_key = (
        pl.col("token").str.starts_with('"')
        & (pl.col("depth") == 1)
        & (pl.col("token").shift(-1) == ":")
    )
    keys_and_values = tokens.with_columns(value=pl.col("token").shift(-2)).filter(is_key)
    hit = keys_and_values.filter(_unescaped(pl.col("token")) == pl.col("key"))
    last = hit.unique("row", keep="last", maintain_order=True).filter(value="[")
    inside = _until_closed(last.select("row", "place"), tokens.select("token", "place"))
    numbers = inside.group_by("row", maintain_order=True).agg(
        vector=pl.col("token").filter(pl.col("token") != ",").cast(pl.Float64, strict=False)
    )
    empty = last.join(numbers, on="row", how="left", maintain_order="left").select(
        "row", pl.col("vector").fill_null(pl.lit([], dtype=pl.List(pl.Float64())))
    )
    complete = empty.filter(~pl.col("vector").list.contains(None, nulls_equal=True))
    joined = numbered.select("row").join(complete, on="row", how="left", maintain_order="left")
    return joined["vector"]


def _depth() -> pl.Expr:
    token = pl.col("token")
    opened = token.is_in(["[", "{"]).cast(pl.Int64)
    return (opened - token.is_in(["]", "}"]).cast(pl.Int64)).cum_sum()


def _until_closed(keys: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """The tokens between the bracket that follows each key and the next closing one."""
    closers = tokens.filter(token="]").select(end="place")
    spans = keys.join_asof(
        closers.set_sorted("end"), left_on="place", right_on="end", strategy="forward"
    )
    positions = spans.select("row", place=pl.int_ranges(pl.col("place") + 3, "end")).explode(
        "place", empty_as_null=False
    )
    return positions.join(tokens, on="place", how="left", maintain_order="left")
