"""Texts as strict JSON: whether they are, and the members of their objects."""

from __future__ import annotations

import polars as pl

STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
SPACE = r"[ \t\n\r]"

_SCALAR = rf"{NUMBER}|true|false|null"
_TOKENS = rf"^(?:{STRING}|{_SCALAR}|[\[\]{{}}:,]|{SPACE})*$"

_VALUE = '[0"]'
_INNERMOST = rf'\{{(?:":{_VALUE}(?:,":{_VALUE})*)?\}}|\[(?:{_VALUE}(?:,{_VALUE})*)?\]'
"""An object or array without another one in it, of a skeleton."""

TOKEN = rf"{STRING}|{_SCALAR}|[\[\]{{}}:,]"


def skeletons(texts: pl.Series) -> pl.Series:
    """The tokens, with `"` for each string and `0` for other scalars; null if one is invalid."""
    text = pl.col("text")
    tokens = text.str.replace_all(STRING, '"').str.replace_all(_SCALAR, "0")
    made = pl.when(text.str.contains(_TOKENS)).then(tokens.str.replace_all(SPACE, ""))
    return texts.to_frame("text").select(made).to_series()


def is_value(skeleton: pl.Series) -> pl.Series:
    """True if a skeleton is one value."""
    # The innermost objects and arrays become scalars until nothing is left to reduce: one round per
    # level of the deepest text.
    reduced = skeleton
    while True:
        shorter = reduced.str.replace_all(_INNERMOST, "0")
        if shorter.equals(reduced):
            return reduced.is_in(["0", '"']).fill_null(value=False)
        reduced = shorter


def unescaped(strings: pl.Expr) -> pl.Expr:
    """The texts of string tokens; null for half a surrogate pair."""
    plain = strings.str.slice(1, strings.str.len_chars() - 2)
    return (
        pl.when(strings.str.contains("\\", literal=True))
        .then(strings.str.json_path_match("$"))
        .otherwise(plain)
    )


def number_members(texts: pl.Series, keys: pl.Series) -> pl.Series:
    """The last member of a key in each object if it is an array of numbers alone, else null."""
    numbered = pl.DataFrame({"text": texts, "key": keys}).with_row_index("row")
    tokens = (
        numbered.with_columns(token=pl.col("text").str.extract_all(TOKEN))
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
    named = tokens.with_columns(value=pl.col("token").shift(-2)).filter(is_key)
    hit = named.filter(unescaped(pl.col("token")) == pl.col("key"))
    last = hit.unique("row", keep="last", maintain_order=True).filter(value="[")
    inside = _until_closed(last.select("row", "place"), tokens.select("token", "place"))
    numbers = inside.group_by("row", maintain_order=True).agg(
        vector=pl.col("token").filter(pl.col("token") != ",").cast(pl.Float64, strict=False)
    )
    empty = last.join(numbers, on="row", how="left", maintain_order="left").select(
        "row", pl.col("vector").fill_null(pl.lit([], dtype=pl.List(pl.Float64())))
    )
    whole = empty.filter(~pl.col("vector").list.contains(None, nulls_equal=True))
    joined = numbered.select("row").join(whole, on="row", how="left", maintain_order="left")
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
    places = spans.select("row", place=pl.int_ranges(pl.col("place") + 3, "end")).explode(
        "place", empty_as_null=False
    )
    return places.join(tokens, on="place", how="left", maintain_order="left")
