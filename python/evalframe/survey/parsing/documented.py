"""The documented rules: stricter than the original's, and for more ways of writing an answer.

A list of numbers counts if it has one for each option, all finite and none negative, with a sum
of 90 to 110, or of 0.9 to 1.1 for fractions. Numbers stay as they are written. Of several lists
that count, the last one of the first rule that finds any is taken. The rules, in this order:

`marker`: a bracket right after the word distribution (`DISTRIBUTION: [60, 40]`, in any case, bold,
or with `=`). If the word stands there with a colon and none of them counts, the text after the
last one is searched by all other rules first, and only then the whole text.

`bracket`: `[60, 40]` with commas, semicolons, bars or spaces; numbers may be quoted, bold, with
percent signs, decimal commas (`[60,5; 39,5]`) and on several lines. `[0, 1]` and `[0, 100]` are
taken for intervals unless they are the whole text.

`table`: Markdown tables, with an option a row (its last number counts) or all in one row.

`options`: labels that name the options, in any order: `Yes: 60%`, `**No** - 40`, `"Yes": "60"`,
`Yes (60%)`, `Yes = about 60`, `Yes 60%`, on lines of their own or in one. Names are compared
without case, punctuation and multiple spaces; the longest name counts. Needs `options`.

`labelled`: the same by letters or numbers (`a.`, `a)`, `(a)`, `A:`, `1.`, `Option A`), from the
first without a gap; else by their order, if a block of lines holds nothing else. Labels that name
options in another order are refused.

`lines`: numbers at the end of a line (`Answer: 60, 40`), or one a line, in a block of lines.

`individuals`: a bracket of quoted letters, one for each of several people, as percentages.

With a question key there is one rule, `keyed`: what stands between the key and the end of its
bracket, brace or line, read by the rules above. Nothing else is read, so that an answer to
another question is never taken.

Ranges (`55-65%`) and fractions (`1/4`) are no numbers, words neither.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.parsing.candidates import accepted, last_accepted, no_candidates
from evalframe.survey.parsing.characters import text_where
from evalframe.survey.parsing.common_forms import common_forms
from evalframe.survey.parsing.keyed import last_keyed
from evalframe.survey.parsing.labelled import by_letters, by_options, by_order, with_options
from evalframe.survey.parsing.ladder import Rule, completed, first_found
from evalframe.survey.parsing.lists import bracket_vectors, individual_vectors, line_vectors
from evalframe.survey.parsing.pairs import line_pairs, spaced_pairs, table_pairs, table_vectors

if TYPE_CHECKING:
    from evalframe.survey.parsing.candidates import Finder, Length

_LENGTHS: tuple[Length, ...] = ("right", "other")

_PLACE = "__single__"

_MARKER = "(?i-u:distribution)"
_MARKED = rf"{_MARKER}[\s*_\"'`:=#]*(\[[^\[\]]+\])"
_AFTER_MARKER = rf"(?s)^.*{_MARKER}[\s*_\"'`]*[:=](.*)$"


def documented_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Vectors and the rules that found them; of another length only where none has the right one.

    Args:
        rows: `text`, `n` (the number of options), `key` (of a batched prompt, or null), and perhaps
            `options` (their labels).
    """
    if rows["key"].null_count() == len(rows):
        return _single(rows)
    numbered = rows.with_row_index(_PLACE)
    alone, batched = (
        numbered.filter(pl.col("key").is_null()),
        numbered.filter(pl.col("key").is_not_null()),
    )
    keyed = [Rule("keyed", partial(_keyed, length=length)) for length in _LENGTHS]
    parts = [
        alone.select(_PLACE).hstack(_single(alone)),
        batched.select(_PLACE).hstack(first_found(batched, keyed)),
    ]
    return pl.concat(parts).sort(_PLACE).drop(_PLACE)


def _single(rows: pl.DataFrame) -> pl.DataFrame:
    """By the common forms first. What may be an interval in them is left to a closer look."""
    found = common_forms(rows, only=True).with_columns(rows["n"])
    bare = pl.col("parse_rule") == "bracket"
    interval = bare & (pl.col("n") == 2) & (pl.col("predicted").list.first() == 0)
    certain = pl.when(accepted("predicted") & ~interval)
    common = found.select(certain.then("predicted").alias("predicted"), "parse_rule")
    return completed(common, rows, _closely)


def _closely(rows: pl.DataFrame) -> pl.DataFrame:
    """By all rules, those of the marker first."""
    marked = pl.col("text").str.contains(_MARKER)
    tails = rows.with_columns(tail=text_where(marked).str.extract(_AFTER_MARKER))
    some_marked = tails["tail"].null_count() < len(tails)
    rules = []
    for length in _LENGTHS:
        find = partial(last_accepted, find=_marked, length=length, marked=True)
        rules.append(Rule("marker", find, needs=_MARKER))
        rules += _formats(length, "tail") if some_marked else []
        rules += _formats(length)
    return first_found(tails, rules)


def _formats(length: Length, text: str = "text") -> list[Rule]:
    """The rules that need neither a marker nor a key, for one column of texts."""
    finders: list[tuple[str, Finder, str]] = [
        ("bracket", bracket_vectors, r"\["),
        ("table", _of_table, r"\|"),
        ("options", _of_options, "[0-9]"),
        ("labelled", _of_labels, "[0-9]"),
        ("lines", line_vectors, "[0-9]"),
        ("individuals", individual_vectors, r"\["),
    ]
    return [
        Rule(name, partial(last_accepted, find=find, length=length), needs, text)
        for name, find, needs in finders
    ]


def _marked(rows: pl.DataFrame) -> pl.DataFrame:
    brackets = pl.col("text").str.extract_all(_MARKED)
    found = rows.select(pl.int_range(pl.len()).alias("row"), "n", text=brackets)
    flat = found.explode("text").drop_nulls("text")
    vectors = bracket_vectors(flat.with_columns(pl.col("text").str.extract(_MARKED)))
    return vectors.with_columns(row=flat["row"].gather(vectors["row"]))


def _keyed(rows: pl.DataFrame, length: Length) -> pl.Series:
    return last_keyed(rows, _formats(length))


def _of_table(rows: pl.DataFrame) -> pl.DataFrame:
    """In the order of preference, the last one first."""
    pairs = with_options(table_pairs(rows), rows)
    return pl.concat(
        [table_vectors(rows), by_order(pairs), by_letters(pairs), by_options(pairs, rows)]
    )


def _of_options(rows: pl.DataFrame) -> pl.DataFrame:
    """None without options; pairs with a sign between them are preferred to those without."""
    if "options" not in rows.columns:
        return no_candidates()
    spaced = with_options(spaced_pairs(rows), rows)
    return pl.concat(
        [by_options(spaced, rows), by_options(with_options(line_pairs(rows), rows), rows)]
    )


def _of_labels(rows: pl.DataFrame) -> pl.DataFrame:
    """By letters is preferred to by order."""
    pairs = with_options(line_pairs(rows), rows)
    return pl.concat([by_order(pairs), by_letters(pairs)])
