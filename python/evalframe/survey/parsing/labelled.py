"""From pairs of labels and numbers to candidates: by the names, the letters, or the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments
from evalframe.survey.parsing.candidates import no_candidates
from evalframe.survey.parsing.characters import DASHES, QUOTES
from evalframe.survey.parsing.ladder import VECTOR
from evalframe.survey.parsing.lists import gap, new_block

if TYPE_CHECKING:
    from evalframe.core.segments import Ints

_ENUMERATOR = (
    r"^[^\p{L}\p{N}]*(?i-u:(?:option|answer|choice)\s+)?([a-zA-Z]|[0-9]{1,2})"
    rf"(?:[.):\]]|\s+[{DASHES}]\s|[^\p{{L}}\p{{N}}]*$)"
)

_MOST = 62
"""Options whose numbers fit as bits into one integer."""


def with_options(pairs: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The pairs with `option`, the place of the option that the label names, or null.

    The label must hold all words of the option, or be the same but for spaces. Of several options
    the longest is named, of two of the same length none.
    """
    if "options" not in rows.columns or pairs.is_empty():
        return pairs.with_columns(option=pl.lit(None, dtype=pl.Int64))
    numbered = pairs.with_row_index("pair")
    options = rows.with_row_index("row").select(
        pl.col("row").cast(pl.Int64),
        name="options",
        option=pl.int_ranges(pl.col("options").list.len()),
    )
    asked = options.filter(pl.col("row").is_in(pairs["row"].unique().implode()))
    named = asked.explode("name", "option").with_columns(name=_words(pl.col("name")))
    both = numbered.select("pair", "row", label=_words(pl.col("label"))).join(
        named.filter(pl.col("name").str.strip_chars() != ""), on="row"
    )
    same = _spaceless(pl.col("label")) == _spaceless(pl.col("name"))
    hits = both.filter(pl.col("label").str.contains(pl.col("name"), literal=True) | same)
    size = pl.col("name").str.len_chars()
    longest = hits.filter(size == size.max().over("pair"))
    single = longest.filter(pl.len().over("pair") == 1).select("pair", "option")
    return numbered.join(single, on="pair", how="left", maintain_order="left").drop("pair")


def by_options(pairs: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """As many pairs in a row as there are options, which name each of them once, in any order."""
    import numpy as np

    if pairs["option"].null_count() == len(pairs):
        return no_candidates()
    row, n = pairs["row"].to_numpy(), rows["n"].gather(pairs["row"]).to_numpy()
    option = pairs["option"].fill_null(-1).to_numpy()
    last = np.arange(len(pairs))
    first = np.maximum(last - n + 1, 0)
    fits = (last - n + 1 >= 0) & (row[first] == row) & (n <= _MOST)
    known = (option >= 0) & (option < np.minimum(n, _MOST))
    unknown = segments.starts_of(~known)
    # Powers of two that are as many as the bits of their sum are all different.
    powers = np.left_shift(1, np.where(known, option, 0)) * known
    sums = segments.starts_of(powers)
    every = sums[last + 1] - sums[first] == np.left_shift(1, np.minimum(n, _MOST)) - 1
    complete = fits & (unknown[last + 1] == unknown[first]) & every
    value = pairs["value"].fill_null(float("nan")).to_numpy()
    vectors = _gathered(value, option, first[complete], n[complete])
    return pl.DataFrame(
        {"row": row[complete], "vector": vectors}, schema_overrides={"row": pl.Int64}
    )


def by_letters(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs with the letters a, b, c... or the numbers 1, 2, 3... from the first on."""
    mark = pl.col("mark")
    letter = pl.lit("abcdefghijklmnopqrstuvwxyz").str.find(mark, literal=True).cast(pl.Int64)
    marks = pairs.with_columns(mark=pl.col("label").str.extract(_ENUMERATOR).str.to_lowercase())
    marked = marks.drop_nulls("mark").with_columns(
        index=pl.coalesce(letter, mark.cast(pl.Int64, strict=False) - 1),
        letter=letter.is_not_null(),
    )
    follows = (pl.col("index") == pl.col("index").shift() + 1) & (
        pl.col("letter") == pl.col("letter").shift()
    )
    return _blocks(marked, ~follows, pl.col("index") == 0)


def by_order(pairs: pl.DataFrame) -> pl.DataFrame:
    """Blocks of lines with nothing but pairs."""
    return _blocks(pairs, gap(), pl.lit(value=True))


def _blocks(pairs: pl.DataFrame, broken: pl.Expr, begins: pl.Expr) -> pl.DataFrame:
    """Blocks in the order of the text; none whose labels name options in another order.

    Args:
        pairs: With options.
        broken: Whether a block begins with a pair, apart from the first of a row.
        begins: What must hold for the first pair of a block.
    """
    import numpy as np

    if pairs.is_empty():
        return no_candidates()
    first = pairs.select("row", new=new_block(broken), begins=begins)
    starts = np.flatnonzero(first["new"])
    sizes = np.diff(starts, append=len(pairs))
    place = np.arange(len(pairs)) - np.repeat(starts, sizes)
    option = pairs["option"].fill_null(-1).to_numpy()
    moved = np.logical_or.reduceat((option >= 0) & (option != place), starts)
    kept = first["begins"].to_numpy()[starts] & ~moved
    vectors = segments.listed(pairs["value"], sizes, kept).cast(VECTOR)
    return first.select(pl.col("row").gather(starts), vector=vectors).drop_nulls()


def _gathered(value: object, option: Ints, first: Ints, n: Ints) -> pl.Series:
    """Vectors of the values of n pairs from the first on, each at the place of its option."""
    import numpy as np

    starts = segments.starts_of(n)
    offset = np.repeat(starts[:-1], n)
    pair = np.repeat(first, n) + np.arange(starts[-1]) - offset
    flat = np.empty(starts[-1])
    flat[offset + option[pair]] = np.asarray(value)[pair]
    return segments.listed(flat, n, np.ones(len(n), dtype=np.bool_)).cast(VECTOR)


def _words(text: pl.Expr) -> pl.Expr:
    """Lower-case words between spaces."""
    bare = text.str.to_lowercase().str.replace_all(f"[{QUOTES}]", "")
    return pl.concat_str(
        pl.lit(" "), bare.str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars(" "), pl.lit(" ")
    )


def _spaceless(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(" ", "", literal=True)
