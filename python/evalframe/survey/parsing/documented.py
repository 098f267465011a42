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
from evalframe.survey.parsing.common_forms import bare_form, marked_form
from evalframe.survey.parsing.keyed import last_keyed
from evalframe.survey.parsing.labelled import by_letters, by_options, by_order, with_options
from evalframe.survey.parsing.ladder import first_found
from evalframe.survey.parsing.lists import bracket_vectors, individual_vectors, line_vectors
from evalframe.survey.parsing.pairs import line_pairs, spaced_pairs, table_pairs, table_vectors

if TYPE_CHECKING:
    from evalframe.survey.parsing.candidates import Finder, Length
    from evalframe.survey.parsing.ladder import Rule

_LENGTHS: tuple[Length, ...] = ("right", "other")

_PLACE = "__single__"

_ANY_ANSWER = r"[0-9]|\["

_MARKED = r"(?i-u:distribution)[\s*_\"'`:=#]*(\[[^\[\]]+\])"
_AFTER_MARKER = r"(?s)^.*(?i-u:distribution)[\s*_\"'`]*[:=](.*)$"


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
    keyed: list[tuple[str, Rule]] = [
        ("keyed", partial(_keyed, length=length)) for length in _LENGTHS
    ]
    parts = [
        alone.select(_PLACE).hstack(_single(alone)),
        batched.select(_PLACE).hstack(first_found(batched, keyed)),
    ]
    return pl.concat(parts).sort(_PLACE).drop(_PLACE)


def _single(rows: pl.DataFrame) -> pl.DataFrame:
    common: list[tuple[str, Rule]] = [("marker", _marked_form), ("bracket", _bare_form)]
    return first_found(rows, common, otherwise=_closely)


def _closely(rows: pl.DataFrame) -> pl.DataFrame:
    """By all rules, those of the marker first."""
    readable = pl.when(pl.col("text").str.contains(_ANY_ANSWER)).then("text")
    tail = readable.str.extract(_AFTER_MARKER)
    tails = rows.with_columns(text=readable, tail=tail)
    some_marked = tails["tail"].null_count() < len(tails)
    rules: list[tuple[str, Rule]] = []
    for length in _LENGTHS:
        marked = partial(last_accepted, find=_marked, length=length, marked=True)
        formats = _formats(length)
        rules.append(("marker", marked))
        if some_marked:
            rules += [(name, partial(_behind_marker, rule=rule)) for name, rule in formats]
        rules += formats
    return first_found(tails, rules)


def _formats(length: Length) -> list[tuple[str, Rule]]:
    """The rules that need neither a marker nor a key."""
    finders: dict[str, Finder] = {
        "bracket": bracket_vectors,
        "table": _of_table,
        "options": _of_options,
        "labelled": _of_labels,
        "lines": line_vectors,
        "individuals": individual_vectors,
    }
    return [
        (name, partial(last_accepted, find=find, length=length)) for name, find in finders.items()
    ]


def _marked_form(rows: pl.DataFrame) -> pl.Series:
    read = rows.select("n", vector=marked_form(rows, only=True))
    return read.select(pl.when(accepted("vector")).then("vector")).to_series()


def _bare_form(rows: pl.DataFrame) -> pl.Series:
    """Vectors of two that begin with 0 may be intervals, and are left to a closer look."""
    read = rows.select("n", vector=bare_form(rows, only=True))
    certain = (pl.col("n") != 2) | (pl.col("vector").list.first() != 0)
    return read.select(pl.when(accepted("vector") & certain).then("vector")).to_series()


def _marked(rows: pl.DataFrame) -> pl.DataFrame:
    brackets = pl.col("text").str.extract_all(_MARKED)
    found = rows.select(pl.int_range(pl.len()).alias("row"), "n", text=brackets)
    flat = found.explode("text").drop_nulls("text")
    vectors = bracket_vectors(flat.with_columns(pl.col("text").str.extract(_MARKED)))
    return vectors.with_columns(row=flat["row"].gather(vectors["row"]))


def _behind_marker(rows: pl.DataFrame, rule: Rule) -> pl.Series:
    return rule(rows.with_columns(text="tail"))


def _keyed(rows: pl.DataFrame, length: Length) -> pl.Series:
    return last_keyed(rows, _formats(length))


def _of_table(rows: pl.DataFrame) -> pl.DataFrame:
    """In the order of preference, the last one first."""
    if not rows["text"].str.contains("|", literal=True).any():
        return no_candidates()
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
