"""From pairs of labels and numbers to candidates: by the names, the letters, or the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core import segments
from evalframe.survey.parsing.characters import DASHES, QUOTES
from evalframe.survey.parsing.ladder import NO_CANDIDATES, SLACK, VECTOR
from evalframe.survey.parsing.lists import gap, new_block

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints


_ENUMERATOR = (
    r"^[^\p{L}\p{N}]*(?i-u:(?:option|answer|choice)\s+)?([a-zA-Z]|[0-9]{1,2})"
    rf"(?:[.):\]]|\s+[{DASHES}]\s|[^\p{{L}}\p{{N}}]*$)"
)
_ENUMERATED = r"^ ?(?:option|answer|choice)? ?(?:[a-z]|[0-9]{1,2})?$"
_DENIED = r"(?:^| )(?:not|dont|doesnt|never|no|neither|nor|non|without)$"
_FILLER = (
    r"^(?: (?:percentage|percent|share|shares|proportion|value|probability|is|are|at|be|would be"
    r"|will be|about|around|approximately|roughly|respondents|people|voters|answers|votes|say|would"
    r"|get|gets|with|option|[0-9]+))* ?$"
)


def with_options(pairs: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Add `option`: the index of the option that the label names, or null."""
    # The label must end with all words of the option, or be the same except for spaces. The longest
    # option is named; if two have that length, none is. `exact` is true if only a letter or number
    # precedes the words, and `near` if the label contains an option but is another.
    if "options" not in rows.columns or pairs.is_empty():
        no = pl.lit(value=False)
        return pairs.with_columns(option=pl.lit(None, dtype=pl.Int64), exact=no, near=no)
    numbered = pairs.with_row_index("pair")
    options = rows.with_row_index("row").select(
        pl.col("row").cast(pl.Int64),
        name="options",
        option=pl.int_ranges(pl.col("options").list.len()),
    )
    candidates = options.filter(pl.col("row").is_in(pairs["row"].unique().implode()))
    words = candidates.explode("name", "option").with_columns(name=_words(pl.col("name")))
    label, name, before = (pl.col(column) for column in ("label", "name", "before"))
    both = numbered.select("pair", "row", label=_words(label)).join(
        words.filter(name.str.strip_chars() != ""), on="row"
    )
    spaceless = [text.str.replace_all(" ", "", literal=True) for text in (label, name)]
    same = spaceless[0] == spaceless[1]
    held = both.with_columns(same=same).filter(
        pl.col("same") | label.str.contains(name, literal=True)
    )
    size = name.str.len_chars()
    single = (
        held.filter(size == size.max().over("pair"))
        .filter(pl.len().over("pair") == 1)
        .with_columns(before=label.str.split(name).list.first())
        .with_columns(behind=label.str.slice(before.str.len_chars() + size - 1))
    )
    meant = ~before.str.contains(_DENIED) & pl.col("behind").str.contains(_FILLER)
    alone = before.str.contains(_ENUMERATED) & (pl.col("behind") == " ")
    matches = single.select(
        "pair", option=pl.when(pl.col("same") | meant).then("option"), exact=pl.col("same") | alone
    )
    joined = numbered.join(matches, on="pair", how="left", maintain_order="left")
    near = joined.select(pl.col("exact").is_not_null() & pl.col("option").is_null()).to_series()
    return joined.drop("pair").with_columns(pl.col("exact").fill_null(value=False), near=near)


def with_marks(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add `mark`, the letter or number of the label from 0, and `lettered`; null without one."""
    enumerator = pl.col("label").str.extract(_ENUMERATOR).str.to_lowercase()
    letter = pl.lit("abcdefghijklmnopqrstuvwxyz").str.find(pl.col("mark"), literal=True)
    number = pl.col("mark").cast(pl.Int64, strict=False) - 1
    return pairs.with_columns(mark=enumerator).with_columns(
        mark=pl.coalesce(letter.cast(pl.Int64), number), lettered=letter.is_not_null()
    )


def _words(text: pl.Expr) -> pl.Expr:
    """Lower-case words between spaces."""
    bare = text.str.to_lowercase().str.replace_all(f"[{QUOTES}]", "")
    return pl.concat_str(
        pl.lit(" "), bare.str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars(" "), pl.lit(" ")
    )


_MOST = 62
"""Options whose numbers fit as bits into one integer."""

_ROUNDING = 0.02
"""Relative distance of a sum from 100 percent by rounding."""

_HUGE = 1e4
"""More than any share."""

_SHORT = r"^[^\p{L}]*\p{L}+(?:[^\p{L}]+\p{L}+){0,2}[^\p{L}]*$"
"""A label of up to three words."""


def by_options(pairs: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Pairs in succession that name each option once, in any order."""
    # If another label next to them has a share as well, the answer is not complete: the vector then
    # has one number more.
    if pairs["option"].null_count() == len(pairs):
        return NO_CANDIDATES
    row, n = pairs["row"].to_numpy(), rows["n"].gather(pairs["row"]).to_numpy()
    option = pairs["option"].fill_null(-1).to_numpy()
    last = np.arange(len(pairs))
    first = np.maximum(last - n + 1, 0)
    fits = (last - n + 1 >= 0) & (row[first] == row) & (n <= _MOST)
    is_option = (option >= 0) & (option < np.minimum(n, _MOST))
    unknown = segments.starts_of(~is_option)
    # Powers of two that are as many as the bits of their sum are all different.
    powers = np.left_shift(1, np.where(is_option, option, 0)) * is_option
    sums = segments.starts_of(powers)
    every = sums[last + 1] - sums[first] == np.left_shift(1, np.minimum(n, _MOST)) - 1
    complete = np.flatnonzero(fits & (unknown[last + 1] == unknown[first]) & every)
    value = pairs["value"].fill_null(float("nan")).to_numpy()
    begin, size = first[complete], n[complete]
    more = _beside(pairs, begin, complete)
    vectors = _gathered(value, option, begin, size, more)
    return pl.DataFrame(
        {"row": row[complete], "vector": vectors}, schema_overrides={"row": pl.Int64}
    )


def by_letters(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs with the letters a, b, c... or the numbers 1, 2, 3... from the first on."""
    marked = with_marks(pairs).drop_nulls("mark")
    if marked.is_empty():
        return NO_CANDIDATES
    mark, lettered = pl.col("mark"), pl.col("lettered")
    follows = (mark == mark.shift() + 1) & (lettered == lettered.shift())
    starts, sizes, position = _blocks(marked, ~follows)
    begins = (marked["mark"].gather(starts) == 0).to_numpy()
    is_valid = begins & ~_are_moved(marked, position, starts)
    vectors = segments.listed(marked["value"], sizes, is_valid).cast(VECTOR)
    return pl.DataFrame({"row": marked["row"].gather(starts), "vector": vectors}).drop_nulls()


def by_order(pairs: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Blocks of lines that contain only pairs."""
    # If all labels are letters or numbers, these give the order, and must start at the first
    # without a gap. If options are given, most labels must name them, and none may be another label
    # that contains one.
    if pairs.is_empty():
        return NO_CANDIDATES
    marked = with_marks(pairs)
    starts, sizes, position = _blocks(marked, gap())
    row = marked["row"].gather(starts)
    mark, by_mark = _places_of_marks(marked, starts, sizes)
    position = np.where(np.repeat(by_mark, sizes), mark, position)
    moved = _are_moved(marked, position, starts)
    named = marked["option"].is_not_null().to_numpy()
    mostly_named = np.add.reduceat(named, starts, dtype=np.int64) * 2 > sizes
    has_options = np.zeros(len(row), dtype=np.bool_)
    if "options" in rows.columns:
        has_options = rows["options"].is_not_null().gather(row).to_numpy()
    near = np.logical_or.reduceat(marked["near"].to_numpy(), starts)
    all_marked = np.logical_and.reduceat(marked["mark"].is_not_null().to_numpy(), starts)
    is_valid = ~moved & ~near & np.where(all_marked, by_mark, mostly_named | ~has_options)
    value = np.empty(len(pairs))
    value[np.repeat(starts, sizes) + position] = marked["value"].fill_null(float("nan")).to_numpy()
    return pl.DataFrame(
        {"row": row, "vector": segments.listed(value, sizes, is_valid).cast(VECTOR)}
    ).drop_nulls()


def _places_of_marks(marked: pl.DataFrame, starts: Ints, sizes: Ints) -> tuple[Ints, Bools]:
    """The index by the letter or number of each pair, and the blocks that it orders."""
    kind = marked["lettered"].fill_null(value=False).to_numpy()
    mark = marked["mark"].fill_null(-_MOST).to_numpy()
    lowest = np.minimum.reduceat(mark, starts)
    position = mark - np.repeat(lowest, sizes)
    lettered = np.add.reduceat(kind, starts, dtype=np.int64)
    alike = (lettered == sizes) | (lettered == 0)
    # Numbers may count from 0.
    begins = (lowest == 0) | ((lowest == -1) & (lettered == 0))
    bits = np.left_shift(1, np.clip(position, 0, _MOST - 1))
    every = np.add.reduceat(bits, starts) == np.left_shift(1, np.minimum(sizes, _MOST)) - 1
    small = (np.maximum.reduceat(position, starts) < sizes) & (sizes <= _MOST)
    return position, alike & begins & every & small


def _beside(pairs: pl.DataFrame, first: Ints, last: Ints) -> Ints:
    """The index of the pair with another label in the same list as these pairs, or -1."""
    # It is on their last line, or on the next if the sum with it is still about 100 percent; or on
    # their first line, or on the line before if only with it the sum is 100 percent.
    # Running sums over all texts: a huge number in one must not leave the others without digits.
    share = pl.col("value").fill_null(0.0).clip(-_HUGE, _HUGE)
    is_short = pl.col("label").str.contains(_SHORT)
    other = pl.col("option").is_null() & is_short & (share > 0) & (share <= 100)
    is_other, shares = pairs.select(is_other=other, share=share).get_columns()
    sums = np.concatenate([[0.0], np.cumsum(shares)])
    lacking = _distance(sums[last + 1] - sums[first])
    row, line = pairs["row"].to_numpy(), pairs["place"].to_numpy()
    before, behind = np.maximum(first - 1, 0), np.minimum(last + 1, len(pairs) - 1)
    same_list = (line[before] == line[first]) | (
        (line[before] >= line[first] - 1)
        & (lacking > _ROUNDING)
        & (_distance(sums[last + 1] - sums[before]) <= _ROUNDING)
    )
    has_before = (row[before] == row[first]) & is_other.gather(before).to_numpy() & same_list
    still_whole = _distance(sums[behind + 1] - sums[first]) <= SLACK
    goes_on = (line[behind] == line[last]) | ((line[behind] == line[last] + 1) & still_whole)
    has_behind = (row[behind] == row[last]) & is_other.gather(behind).to_numpy() & goes_on
    return np.where(has_behind, behind, np.where(has_before, before, -1))


def _distance(total: Floats) -> Floats:
    """Relative distance of a sum from 100 percent."""
    return np.abs(total / np.where(total > 2, 100.0, 1.0) - 1.0)


def _blocks(pairs: pl.DataFrame, broken: pl.Expr) -> tuple[Ints, Ints, Ints]:
    """First pairs and sizes of blocks, and the index of each pair in its block."""
    starts = np.flatnonzero(pairs.select(new_block(broken)).to_series())
    sizes = np.diff(starts, append=len(pairs))
    return starts, sizes, np.arange(len(pairs)) - np.repeat(starts, sizes)


def _are_moved(pairs: pl.DataFrame, position: Ints, starts: Ints) -> Bools:
    """True for blocks whose labels name options in another order."""
    option = pairs["option"].fill_null(-1).to_numpy()
    return np.logical_or.reduceat((option >= 0) & (option != position), starts)


def _gathered(value: Floats, option: Ints, first: Ints, n: Ints, more: Ints) -> pl.Series:
    """The values of n pairs from the first on, each at the index of its option."""
    # The value of the pair `more` is added at the end, unless it is -1.
    lengths = n + (more >= 0)
    starts = segments.starts_of(lengths)
    pair_starts = segments.starts_of(n)
    pair = np.repeat(first - pair_starts[:-1], n) + np.arange(pair_starts[-1])
    flat = np.empty(starts[-1])
    flat[np.repeat(starts[:-1], n) + option[pair]] = value[pair]
    flat[starts[1:][more >= 0] - 1] = value[more[more >= 0]]
    return segments.listed(flat, lengths, np.ones(len(n), dtype=np.bool_)).cast(VECTOR)
