r"""The accepted notations of an answer, and their order.

A list of numbers is accepted if it has one for each option, all finite and none negative, with a
sum of 90 to 110, or of 0.9 to 1.1 for fractions. Numbers stay as written. Full-width characters are
read as plain ones. Text before `</think>`, and below a heading such as References, is not read. The
rules, in this order:

`marker`: a bracket right after the word distribution (`DISTRIBUTION: [60, 40]`, in any case, bold,
or with `=`), the last one. If the word has a colon but none of its brackets is accepted, all other
rules read the text after the last one first, and only then the complete text.

`bracket` after a word for the answer: `Final answer: [60, 40]`, the last one.

`table`: Markdown tables, with one option per row or all in one row, ordered by the names of the
options, or by letters or numbers. If a row has several numbers, the column is taken whose heading
is about shares; without a single such column, or if rows disagree, the table is ignored.

`options`: labels that name the options, in any order: `Yes: 60%`, `**No** - 40`, `"Yes": "60"`,
`Yes (60%)`, `Yes = about 60`, `Yes 60%`, `60% Yes`, `Yes,60%`, records in JSON, names with the
number on the next line. Names are compared without case, punctuation and multiple spaces; the
longest name counts. Another label with a share next to them is an option too many. Needs `options`.

`labelled`: the same by letters or numbers (`a.`, `a)`, `(a)`, `A:`, `1.`, `Option A`), from the
first without a gap; else by their order, if a block of lines contains nothing else. A block of
letters or numbers in another order is put in order. Labels that name options in another order are
refused, and, if options are given, labels most of which name none.

`bracket`: `[60, 40]` with commas, semicolons, bars or spaces; numbers can be quoted, bold, with
percent signs, decimal commas (`[60,5; 39,5]`) and on several lines. It must be at the start or on a
separate line, or after a colon or a verb, or contain percent signs or decimal places; not after a
number, or a word such as see, refs or interval. `[0, 1]` and `[0, 100]` are intervals unless they
are the complete text. If several disagree, none is accepted.

`lines`: lists at the end of a line after a word for the answer (`I predict 60%, 40%`), the last
one; else lines that are lists (`60, 40`, `60/40`), or blocks of lines with one number each. If
several of these disagree, none is accepted.

`individuals`: a bracket of quoted letters, one for each of several people, as percentages.

With a question key there is one rule, `keyed`: the text from the key to the end of its bracket,
brace, line or block of lines, read by the rules above. Nothing else is read, so an answer to
another question is never accepted.

Ranges (`55-65%`, `from 55% to 60%`), fractions (`1/4`) and words are not numbers. Citations,
intervals and sample sizes after a number are ignored.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from evalframe.survey.parsing.characters import (
    DASHES,
    QUOTES,
    text_where,
    without_reasoning,
    without_references,
)
from evalframe.survey.parsing.labelled import by_letters, by_options, by_order, with_options
from evalframe.survey.parsing.ladder import (
    NO_CANDIDATES,
    Finder,
    Length,
    Rule,
    accepted,
    completed,
    first_found,
    last_accepted,
    per_row,
)
from evalframe.survey.parsing.lists import (
    answer_vectors,
    bracket_vectors,
    bracketed_vectors,
    common_forms,
    individual_vectors,
    is_last_line,
    last_lists,
    line_vectors,
)
from evalframe.survey.parsing.pairs import (
    heading_pairs,
    line_pairs,
    record_pairs,
    reversed_pairs,
    spaced_pairs,
    table_vectors,
)

_LENGTHS: tuple[Length, ...] = ("right", "other")

_PLACE = "__single__"

_MARKER = "(?i-u:distribution)"
_MARKED = rf"{_MARKER}[\s*_\"'`:=#]*(\[[^\[\]]+\])"
_RECORD = r"\{"
_BELOW = r"\n[^\p{L}\p{N}\n]*[0-9]+(?:[.,][0-9]+)?[^\p{L}\p{N}\n]*(?:\n|$)"
_PAIRS: tuple[tuple[Finder, str], ...] = (
    (record_pairs, _RECORD),
    (line_pairs, "[0-9]"),
    (spaced_pairs, "[0-9]"),
    (reversed_pairs, "[0-9]"),
    (heading_pairs, _BELOW),
)
"""Finders of pairs with the names of options, each with a pattern that its texts contain."""

_AFTER_MARKER = rf"(?s)^.*{_MARKER}[\s*_\"'`]*[:=](.*)$"

# What follows the key of a question.
_ON_LINE = rf"[^\S\n]*[{QUOTES}*_`)\]]*[^\S\n]*"
_SIGN = rf"(?:[:=]|[{DASHES}]+>?|→)"
_BRACKET = r"\[[^\[\]]*\]"
_BRACE = r"\{[^{}]*\}"
_REST = rf"[^\n\[{{]+(?:{_BRACKET})?"
_HERE = rf"^{_ON_LINE}{_SIGN}{_ON_LINE}({_BRACKET}|{_BRACE}|{_REST})"
_IN_TABLE = rf"^{_ON_LINE}(\|[^\n]*[0-9][^\n]*)"
_LIST = r"[^\p{L}\n\[{]*[0-9][^\p{L}\n\[{]*"
_PAIR_LINES = r"(?:[^\n\[{]*\p{L}[^\n\[{]*[0-9][^\n\[{]*(?:\n|$))+"
_BLOCK_BELOW = (
    rf"^{_ON_LINE}{_SIGN}?{_ON_LINE}\n[\s*_`{QUOTES}#]*"
    rf"({_BRACKET}|{_BRACE}|{_LIST}|{_PAIR_LINES})"
)
"""On the lines below the key: a bracket, a brace, a list, or lines with a pair each."""

_DECORATION = rf"\n(?:[-•]\s+)?[#*_ `({{\[{QUOTES}|]+"
_COUNTED = r"[0-9]+$"
_NUMBER_CELL = r"\|\s*[0-9.,]+\s*%?\s*(?:\||$)"
_TABLE_ROW = r"(?m)^([^\n]*\|[^\n]*)$"


def read_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Vectors and the rules that read them; of another length only if none has the right one."""
    if rows["key"].null_count() == len(rows):
        return _single(rows)
    numbered = rows.with_row_index(_PLACE)
    has_key = pl.col("key").is_not_null()
    alone, batched = numbered.filter(~has_key), numbered.filter(has_key)
    keyed = [Rule("keyed", partial(_keyed, length=length)) for length in _LENGTHS]
    parts = [
        alone.select(_PLACE).hstack(_single(alone)),
        batched.select(_PLACE).hstack(first_found(batched, keyed)),
    ]
    return pl.concat(parts).sort(_PLACE).drop(_PLACE)


def _single(rows: pl.DataFrame) -> pl.DataFrame:
    """By common forms first, which can be read in one way only."""
    common = common_forms(rows, only=True)
    is_accepted = accepted(common["predicted"], rows["n"])
    settled = _settled(rows.select("text", "n").hstack(common), is_accepted)
    return completed(common.select("predicted", "parse_rule"), settled, rows, _without_brackets)


def _settled(common: pl.DataFrame, is_accepted: pl.Series) -> pl.Series:
    """True for accepted common forms that no other rule could read differently."""
    # All with a marker; a bare bracket if it is last and not an interval.
    indices = ((common["parse_rule"] == "bracket") & is_accepted).arg_true()
    bare = common.select(pl.all().gather(indices))
    interval = bare.select((pl.col("n") == 2) & (pl.col("predicted").list.first() == 0)).to_series()
    settled = is_accepted.to_numpy(writable=True)
    settled[indices] = is_last_line(bare) & ~interval
    return pl.Series(settled)


def _without_brackets(rows: pl.DataFrame) -> pl.DataFrame:
    """By the common form of a line first."""
    listed = last_lists(rows)
    return completed(listed, accepted(listed["predicted"], rows["n"]), rows, _closely)


def _closely(rows: pl.DataFrame) -> pl.DataFrame:
    """By all rules, those of the marker first."""
    complete = without_reasoning(rows["text"])
    body = without_references(complete)
    # Each pattern is searched once in a column, so rules share `text` if it equals the body.
    searched = "text" if body is complete else "body"
    parts = rows.with_columns(text=complete, body=body)
    marked = complete.str.contains(_MARKER)
    if marked.any():
        parts = parts.with_columns(tail=_tails(complete, marked))
    has_options = "options" in rows.columns
    rules = []
    for length in _LENGTHS:
        if marked.any():
            find = partial(last_accepted, find=_marked, length=length, marked=True)
            rules.append(Rule("marker", find, needs=_MARKER))
            rules += _formats(length, "tail", has_options=has_options)
        answers = partial(last_accepted, find=answer_vectors, length=length)
        rules.append(Rule("bracket", answers, needs=r"\["))
        rules += _formats(length, searched, has_options=has_options)
    return first_found(parts, rules)


def _tails(strings: pl.Series, marked: pl.Series) -> pl.Series:
    """The text after the last marker and its colon, before a heading of references, or null."""
    behind = text_where(pl.lit(marked)).str.extract(_AFTER_MARKER)
    return without_references(strings.to_frame("text").select(behind).to_series())


def _formats(length: Length, text: str = "text", *, has_options: bool) -> list[Rule]:
    """The rules that need neither a marker nor a key."""
    agreed = partial(last_accepted, length=length, agreed=True)
    last = partial(last_accepted, length=length)
    rules = [Rule("table", partial(agreed, find=table_vectors), r"\|", text)]
    # With an option too many no other candidate is an answer to these options.
    lengths = _LENGTHS if length == "right" else (length,)
    for pairs, needs in _PAIRS if has_options else ():
        for size in lengths:
            find = partial(last_accepted, find=partial(_named, pairs), length=size)
            rules.append(Rule("options", find, needs, text))
    return [
        *rules,
        Rule("labelled", partial(last, find=_of_lines), "[0-9]", text),
        Rule("labelled", partial(last, find=_of_records), _RECORD, text),
        Rule("labelled", partial(last, find=_of_headings), _BELOW, text),
        Rule("bracket", partial(agreed, find=bracket_vectors), r"\[", text),
        Rule("lines", partial(agreed, find=line_vectors), "[0-9]", text),
        Rule("individuals", partial(last, find=individual_vectors), r"\[", text),
    ]


def _marked(rows: pl.DataFrame) -> pl.DataFrame:
    brackets = pl.col("text").str.extract_all(_MARKED)
    nested = rows.select(pl.int_range(pl.len()).alias("row"), "n", text=brackets)
    flat = nested.explode("text").drop_nulls("text")
    vectors = bracketed_vectors(flat.with_columns(pl.col("text").str.extract(_MARKED)))
    return vectors.with_columns(row=flat["row"].gather(vectors["row"]))


def _named(find: Finder, rows: pl.DataFrame) -> pl.DataFrame:
    """Candidates by the options that labels name."""
    # Only `line_pairs` have a sign between label and number; in other pairs names must be exact,
    # since any word could be a label.
    index = rows["options"].is_not_null().arg_true().cast(pl.Int64)
    with_labels = rows.drop_nulls("options")
    if with_labels.is_empty():
        return NO_CANDIDATES
    pairs = with_options(find(with_labels), with_labels)
    if find is not line_pairs:
        pairs = pairs.with_columns(option=pl.when("exact").then("option"))
    candidates = by_options(pairs, with_labels)
    return candidates.with_columns(row=index.gather(candidates["row"]))


def _of_lines(rows: pl.DataFrame) -> pl.DataFrame:
    """By letters, else by order."""
    pairs = with_options(line_pairs(rows), rows)
    letters = by_letters(pairs)
    complete = letters.filter(pl.col("vector").list.len() == rows["n"].gather(letters["row"]))
    others = pairs.join(complete, on="row", how="anti", maintain_order="left")
    return pl.concat([by_order(others, rows), letters])


def _of_records(rows: pl.DataFrame) -> pl.DataFrame:
    return by_order(with_options(record_pairs(rows), rows), rows)


def _of_headings(rows: pl.DataFrame) -> pl.DataFrame:
    return by_letters(with_options(heading_pairs(rows), rows))


def _keyed(rows: pl.DataFrame, length: Length) -> pl.Series:
    """The last vector that a rule reads from the key to the end of its bracket or lines."""
    rules = _formats(length, has_options="options" in rows.columns)
    keyed = rows.with_columns(
        row=pl.int_range(pl.len()), text=without_reasoning(rows["text"])
    ).filter(pl.col("key").is_not_null())
    text, key = pl.col("text"), pl.col("key")
    parts = (
        keyed.with_columns(header=text.str.extract(_TABLE_ROW), text=text.str.split(key))
        .explode("text")
        .with_columns(before=text.shift().over("row"))
    )
    behind = parts.filter(
        pl.col("before").is_not_null() & ~pl.col("before").str.contains(r"[\p{L}\p{N}_]$")
    )
    # The key of another question ends a block of lines, if both keys count the questions.
    begins = pl.concat_str(pl.lit("\n"), key.str.replace(_COUNTED, ""))
    block = (pl.lit("\n") + text.str.extract(_BLOCK_BELOW)).str.replace_all(_DECORATION, "\n")
    until_next_key = pl.when(key.str.contains(_COUNTED)).then(block.str.split(begins).list.first())
    # In a table the header goes with the row of the key, unless it is a row of numbers.
    headed = pl.when(~pl.col("header").str.contains(_NUMBER_CELL)).then("header")
    in_table = pl.concat_str(headed.fill_null(""), pl.lit("\n| "), key, text.str.extract(_IN_TABLE))
    answers = behind.with_columns(
        text=pl.coalesce(text.str.extract(_HERE), in_table, until_next_key, block)
    ).drop_nulls("text")
    results = first_found(answers.drop("row", "before", "header"), rules)
    vectors = answers.select("row", vector=results["predicted"]).drop_nulls()
    return per_row(vectors.unique("row", keep="last", maintain_order=True), len(rows))["vector"]
