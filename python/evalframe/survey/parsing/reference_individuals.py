"""Answers of simulated individuals, a letter each, by the rules of the original program."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import BRACKET, SPACE
from evalframe.survey.parsing.ladder import VECTOR, per_row
from evalframe.survey.parsing.strict_json import STRING, is_value, skeletons, unescaped

_FENCE = rf"```(?i-u:json)?{SPACE}*"
_ALL_STRINGS = r'^\["(?:,")*\]$'
_QUOTED_LETTERS = "'[a-zA-Z]'|\"[a-zA-Z]\""
_LETTERS = 26
_MOST_OPTIONS = 10_000


def individual_answers(rows: pl.DataFrame) -> pl.Series:
    """The shares of the letters in the first bracket, in percent; null if there are none.

    Args:
        rows: `text` and `n`, the number of options. Letters of other options are left out.
    """
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
    skeleton = skeletons(arrays["array"])
    valid = is_value(skeleton)
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
    letter = unescaped(pl.element()).str.to_lowercase().str.extract(trimmed)
    letters = pl.col("array").str.extract_all(STRING).list.eval(letter)
    return pl.when(~letters.list.contains(None, nulls_equal=True)).then(letters)


def shares_of_letters(lettered: pl.DataFrame) -> pl.DataFrame:
    """Percentages by option, of those letters that name one; rows without such are left out.

    So are rows of more options than a question can have, whose zeros would fill the memory.

    Args:
        lettered: `row`, `n` (the number of options) and `letters` (a to z).
    """
    import numpy as np

    from evalframe.core import segments

    lettered = lettered.filter(pl.col("n") <= _MOST_OPTIONS)
    options = lettered["n"].to_numpy()
    owner = np.repeat(np.arange(len(options)), lettered["letters"].list.len().to_numpy())
    letters = lettered["letters"].explode(empty_as_null=False).cast(pl.Binary)
    index = letters.bin.reinterpret(dtype=pl.UInt8).to_numpy().astype(np.int64) - ord("a")
    named = index < options[owner]
    counts = np.bincount(
        owner[named] * _LETTERS + index[named], minlength=len(options) * _LETTERS
    ).reshape(len(options), _LETTERS)
    totals = counts.sum(axis=1)
    kept = totals > 0
    lengths = options[kept]
    starts = segments.starts_of(lengths)
    row = np.repeat(np.flatnonzero(kept), lengths)
    option = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    count = np.where(option < _LETTERS, counts[row, np.minimum(option, _LETTERS - 1)], 0)
    vectors = segments.listed(count / totals[row] * 100.0, lengths, np.ones(len(lengths), bool))
    return lettered.select("row").filter(pl.Series(kept)).with_columns(vector=vectors.cast(VECTOR))
