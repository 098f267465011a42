"""Labels with their numbers, in lines as in `a. Yes: 60%`, `Yes 60%`, `60% Yes`, and in tables.

Pairs are a frame of `row`, `place` (of the line), `label` and `value` (null for a range).
"""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import DASHES, QUOTES, without_asides
from evalframe.survey.parsing.labelled import (
    by_letters,
    by_options,
    by_order,
    with_marks,
    with_options,
)
from evalframe.survey.parsing.ladder import NO_CANDIDATES, VECTOR
from evalframe.survey.parsing.lists import gap, has_digit, new_block, plain, text_lines

_CELL = r"^\s*(?i-u:about\s+)?([+-]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+))\s*$"
_TABLE_ROW = r"\S\s*\|\s*\S|^\s*\|"
_PAIRS_IN_CELLS = r"^[^|]*\p{L}[^|]*[:=][^|]*[0-9]"
"""A line with bars between pairs: `Yes: 60% | No: 40%`."""

_TOTAL_ROW = r"(?i)^[^\p{L}\p{N}]*(?:grand\s+|overall\s+)?(?:totals?|sum)\b"
_OTHERS = (
    r"(?i)\b(?:population|overall|national|totals?|sum|all|others?|previous|prior|last|baseline"
    r"|counts?|frequency|rank|id|no|n|margin|error|ci|confidence|difference|change)\b|^\W*#\W*$"
)
_ASIDE = r"(?i)^[^\p{L}\p{N}]*(?:n|total|sum|counts?|base|sample(?: size)?)[^\p{L}\p{N}]*$"
_SHARES = (
    r"(?i)percent|share|segment|predict|estimate|proportion|distribut|probab|response|answer|%"
)


def is_table_row() -> pl.Expr:
    """True if the line has bars between cells."""
    line = pl.col("line")
    return line.str.contains(_TABLE_ROW) & ~line.str.contains(_PAIRS_IN_CELLS)


def table_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Options of each table by rows, else by columns, in the order of the labels."""
    # If several columns have numbers, the one is taken whose heading is about shares.
    cells = _cells(rows)
    if cells.is_empty():
        return NO_CANDIDATES
    pairs = _pairs(cells, rows)
    # The best way is last.
    long = pl.concat([by_order(pairs, rows), by_letters(pairs), by_options(pairs, rows)])
    fits = long.filter(pl.col("vector").list.len() == rows["n"].gather(long["row"]))
    wide = _by_columns(cells)
    return pl.concat([wide.join(fits, on="row", how="anti", maintain_order="left"), long])


def _cells(rows: pl.DataFrame) -> pl.DataFrame:
    """The cells below the heading of each table, with the heading of their column."""
    cell, value, option = pl.col("label"), pl.col("value"), pl.col("option")
    number = plain(cell).str.extract(_CELL).str.replace(",", ".", literal=True)
    inner = pl.col("line").str.strip_chars(" \t\r").str.replace(r"^\|", "").str.replace(r"\|$", "")
    cells = (
        text_lines(rows)
        .filter(is_table_row())
        .with_columns(table=new_block(gap()).cum_sum(), label=inner.str.split("|"))
        .drop("line")
        .with_columns(column=pl.int_ranges(cell.list.len()))
        .explode("label", "column")
        .with_columns(value=number.cast(pl.Float64), is_percent=cell.str.contains("%"))
    )
    # A number names an option only without a percent sign.
    names = value.is_null() | (pl.col("exact") & ~pl.col("is_percent"))
    with_names = with_options(cells, rows).with_columns(option=pl.when(names).then("option"))
    first = pl.col("place") == pl.col("place").min().over("table")
    no_numbers = (value.is_null() | option.is_not_null()).all().over("place")
    heads = with_names.with_columns(is_head=first & no_numbers)
    heading = heads.filter("is_head").select(
        "table", "column", heading="label", heading_option="option"
    )
    body = heads.filter(~pl.col("is_head")).drop("is_head")
    with_heading = body.join(heading, on=["table", "column"], how="left", maintain_order="left")
    return with_heading.with_columns(is_label=value.is_null() | _is_index())


def _is_index() -> pl.Expr:
    """True if the first column has numbers that count or name the rows."""
    column = ["table", "column"]
    size = pl.len().over(column)
    counts = (
        (pl.col("value").n_unique().over(column) == size)
        & (pl.col("value").min().over(column) == 1)
        & (pl.col("value").max().over(column) == size)
        & (size > 1)
    )
    names = pl.col("option").is_not_null().all().over(column)
    several = pl.col("column").max().over("table") > 0
    return (pl.col("column") == 0) & (names | counts) & several


def _pairs(cells: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """One pair per row: the labels, and the number of the column that is taken."""
    # A number that counts the row is its label only if there is no other.
    numbers = cells.filter(~pl.col("is_label"))
    columns = numbers.group_by("table", "column").agg(
        pl.col("heading", "heading_option").first(), pl.col("is_percent").all()
    )
    heading = pl.col("heading")
    own = ~heading.str.contains(_OTHERS)
    about, rest = heading.str.contains(_SHARES) & own, own & pl.col("heading_option").is_null()
    signs = (pl.col("column").is_not_null(), about, rest, pl.col("is_percent"))
    held = [sign.fill_null(value=False) for sign in signs]
    ranks = [
        pl.when(sign & (sign.sum().over("table") == 1)).then(pl.lit(number))
        for number, sign in enumerate(held)
    ]
    chosen = columns.with_columns(rank=pl.coalesce(ranks)).filter(
        pl.col("rank") == pl.col("rank").min().over("table")
    )
    value = numbers.join(chosen, on=["table", "column"], how="semi", maintain_order="left")
    text = pl.col("label").str.strip_chars()
    words = pl.when(pl.col("value").is_null()).then(text)
    named = pl.when(words.is_not_null().any()).then(words.drop_nulls().str.join(" "))
    labels = (
        cells.filter("is_label").group_by("place").agg(label=named.otherwise(text.str.join(" ")))
    )
    pairs = value.select("row", "place", "value").join(
        labels, on="place", how="left", maintain_order="left"
    )
    pairs = pairs.select("row", "place", pl.col("label").fill_null(""), "value")
    return with_options(pairs.filter(~pl.col("label").str.contains(_TOTAL_ROW)), rows)


def _by_columns(cells: pl.DataFrame) -> pl.DataFrame:
    """The rows with all numbers in them, if their labels are no options; by the headings."""
    is_label, others = pl.col("is_label"), pl.col("others")
    wide = cells.filter(~(is_label & pl.col("option").is_not_null()).any().over("table"))
    about_others = (is_label & pl.col("label").str.contains(_OTHERS)).any().over("place")
    numbers = (
        wide.with_columns(others=about_others)
        .filter(~is_label & (~others | others.all().over("table")))
        .with_columns(label=pl.col("heading").fill_null(""))
    )
    has_name = pl.col("heading_option").is_not_null()
    counted = numbers.with_columns(named=has_name.any().over("place")).filter(
        (~pl.col("named") & ~pl.col("label").str.contains(_ASIDE)) | has_name
    )
    size = pl.len().over("place")
    marked = with_marks(counted).with_columns(
        marks=(pl.col("mark").n_unique().over("place") == size)
        & (pl.col("mark").min().over("place") == 0)
        & (pl.col("mark").max().over("place") == size - 1)
    )
    by_heading = pl.when("named").then("heading_option")
    order = by_heading.when(pl.col("marks").fill_null(value=False)).then("mark").otherwise("column")
    ordered = marked.with_columns(order=order).sort("place", "order", maintain_order=True)
    vectors = ordered.group_by("place", maintain_order=True).agg(
        pl.col("row").first(), vector="value", twice=pl.col("order").is_duplicated().any()
    )
    several = (pl.col("vector").list.len() > 1) & ~pl.col("twice")
    return vectors.filter(several).select("row", pl.col("vector").cast(VECTOR))


_ABOUT = r"(?i-u:(?:about|around|approximately|approx\.?|roughly|circa|ca\.)\s*)?"
_BESIDE = rf"[\s*_{QUOTES}`~≈]*"
_NUMBER = r"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)"
_RANGE = rf"\s*%?\s*(?:[{DASHES}]+>?|→|(?:to|or|and)\s)\s*[0-9][0-9.,]*"
_END = rf"(?:\s*%|[{QUOTES}*_`]*(?:[\s,;)}}\]|<(]|\.(?:\s|$)|$))"

_COLON = rf"(?:[:=]|→|\s[{DASHES}]{{1,2}}>?\s|\t|\.{{3,}}|…){_BESIDE}{_ABOUT}"
_PAIR = rf"(?:{_COLON}(?:{_NUMBER})(?:{_RANGE})?{_END})"
_IN_PARENTHESES = rf"\({_BESIDE}{_ABOUT}{_NUMBER}(?:{_RANGE})?\s*%{_BESIDE}\)"
_POINT = r"(?:\)\s*|\.\s+)"
_NUMBERED = (
    rf"(?:^|[\s,;(])(?:[a-zA-Z]|[0-9]{{1,2}}){_POINT}{_BESIDE}{_ABOUT}{_NUMBER}"
    r"(?:\s*%|\s*[,;]|\s*$)"
)
_LETTERED = rf"^[\s*_(-]*[a-zA-Z]\s+{_NUMBER}\s*%?\s*$"
_PAIRS = rf".*?(?:{_PAIR}|{_IN_PARENTHESES}|{_NUMBERED}|{_LETTERED})"
_BEHIND_LABEL = (
    rf"(?:{_COLON}|\({_BESIDE}{_ABOUT}|{_POINT}{_BESIDE}{_ABOUT}|\s+)"
    rf"{_NUMBER}(?:{_RANGE})?(?:{_END}|\s*%{_BESIDE}\)|\s*[,;]|\s*)$"
)

_CLOCK = r"^:[0-9]{2}[^0-9%]*$"

_LABEL_BEHIND = r"[^,;|/()\[\]0-9%]*\p{L}[^,;|/()\[\]0-9%]*"
_LABEL = r"(?:[^,;:/0-9%|]*?\p{L}[^,;:/0-9%|]*?)"
_SPACED = rf"(?:^|[,;/|])?{_LABEL}\s+\(?{_NUMBER}(?:{_RANGE})?\s*(?:%?\)|%|[,;/|]|$)"
_SPACED_PARTS = (
    rf"^[,;/|]?(?P<label>{_LABEL})\s+\(?(?P<number>{_NUMBER})(?P<range>{_RANGE})?\s*[%,;/|)]*$"
)
_OF_CSV = rf"^(?P<label>.*\p{{L}}[^,]*?),\s*(?P<number>{_NUMBER})(?P<range>{_RANGE})?\s*%?\s*$"
_SAY = r"(?i:(?:of\s+\S+\s+)?(?:would\s+)?(?:say|said|answer|answered|choose|chose|for)\s+)?"
_TO_LABEL = rf"(?:\s*%)?(?:\s*\(|\s*[{DASHES}:=]\s*|\s+)\s*"
_REVERSED = rf"{_NUMBER}(?:{_RANGE})?{_TO_LABEL}{_LABEL_BEHIND}"
_REVERSED_PARTS = (
    rf"^(?P<number>{_NUMBER})(?P<range>{_RANGE})?{_TO_LABEL}{_SAY}(?P<label>.*?)(?i:\s+and\s*)?$"
)

_RECORD = r"\{[^{}]*\}"
_TEXTS = r':\s*"([^"]*\p{L}[^"]*)"'
_SHARE = rf'(?i)"[^"]*(?:percent|share|probab|%)[^"]*"\s*:\s*"?({_NUMBER})\s*%?"?\s*[,}}]'
_MEMBER = rf'"\s*:\s*"?({_NUMBER})\s*%?"?\s*[,}}]'
_ALONE = rf"^[^\p{{L}}\p{{N}}+-]*({_NUMBER})\s*%?[^\p{{L}}\p{{N}}]*$"

_TOTAL = (
    r"(?i)^[^\p{L}\p{N}]*(?:(?:the\s+)?(?:grand\s+|overall\s+)?(?:totals?|sum)\b"
    r"|(?:sample(?: size)?|base|margin(?: of error)?|moe|ci|confidence(?: level| interval)?"
    r"|certainty|respondents|population)\W*$)"
)


def line_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """The pairs of lines that are not rows of a table."""
    # The label is all text from the number before it on. A range has no value. Totals are left out.
    pairs = (
        _lines_with_digits(rows)
        .select("row", "place", pair=pl.col("line").str.extract_all(_PAIRS))
        .explode("pair", empty_as_null=False)
        .with_columns(label=pl.col("pair").str.replace(_BEHIND_LABEL, ""))
    )
    # Groups of the whole pair would take three times as long as the numbers in its end.
    end, numbers = pl.col("end"), pl.col("numbers")
    undotted = (
        pl.when(end.str.starts_with("...")).then(end.str.strip_chars_start(".")).otherwise(end)
    )
    ends = pairs.with_columns(end=pl.col("pair").str.strip_prefix(pl.col("label"))).filter(
        end != ""
    )
    clock = ends["end"].str.contains(_CLOCK)
    if clock.any():
        ends = ends.filter(~(clock & ends["label"].str.contains("[0-9]$")))
    ends = ends.with_columns(numbers=undotted.str.extract_all(_NUMBER))
    value = pl.when(numbers.list.len() == 1).then(_value(numbers.list.first()))
    return _without_totals(ends.select("row", "place", "label", value=value))


def spaced_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Pairs with a space between, `Yes 60%`, or a comma, `Yes,60%`; labels must be known."""
    lines = _bare_lines(rows)
    line = pl.col("line")
    spaced = lines.with_columns(pair=line.str.extract_all(_SPACED)).explode("pair")
    separated = lines.filter(line.str.contains(_OF_CSV)).with_columns(pair="line")
    return pl.concat([_parted(separated, _OF_CSV), _parted(spaced, _SPACED_PARTS)])


def reversed_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Numbers with the label behind, `60% Yes`, `60 (Yes)`; labels must be known."""
    lines = _bare_lines(rows)
    pairs = lines.with_columns(pair=pl.col("line").str.extract_all(_REVERSED)).explode("pair")
    return _parted(pairs, _REVERSED_PARTS)


def record_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """JSON objects with a label and a number each, which can span several lines."""
    record = pl.col("record")
    records = (
        rows.select(
            pl.int_range(pl.len()).alias("row"), record=pl.col("text").str.extract_all(_RECORD)
        )
        .explode("record", empty_as_null=False)
        .filter(record.str.contains(_TEXTS))
        .with_columns(
            place=pl.int_range(pl.len()),
            label=record.str.extract(_TEXTS),
            members=record.str.extract_all(_MEMBER),
        )
    )
    single = pl.when(pl.col("members").list.len() == 1).then(record.str.extract(_MEMBER))
    number = pl.coalesce(record.str.extract(_SHARE), single)
    return _without_totals(records.select("row", "place", "label", value=_value(number)))


def heading_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Labels with the number on the next line, in places that follow upon each other."""
    line = pl.col("line")
    lines = text_lines(rows).with_columns(number=line.str.extract(_ALONE))
    same_row = pl.col("row") == pl.col("row").shift()
    heading = pl.when(same_row & pl.col("number").shift().is_null()).then(line.shift())
    pairs = lines.with_columns(label=heading).drop_nulls(["number", "label"])
    value = _value(pl.col("number"))
    index = pl.col("place") - pl.int_range(pl.len())
    return _without_totals(pairs.select("row", index, "label", value=value))


def _lines_with_digits(rows: pl.DataFrame) -> pl.DataFrame:
    """Lines with digits outside of tables, without asides such as intervals."""
    lines = text_lines(rows).filter(has_digit())
    if rows["text"].str.contains("|", literal=True).any():
        lines = lines.filter(~is_table_row())
    return without_asides(lines)


def _bare_lines(rows: pl.DataFrame) -> pl.DataFrame:
    bare = pl.col("line").str.replace_all(f"[{QUOTES}`*_~≈]", "")
    return _lines_with_digits(rows).with_columns(line=bare)


def _parted(pairs: pl.DataFrame, pattern: str) -> pl.DataFrame:
    """Pairs with their label and value, where the pattern holds."""
    parts = pairs.with_columns(parts=pl.col("pair").str.extract_groups(pattern)).unnest("parts")
    value = pl.when(pl.col("range").is_null()).then(_value(pl.col("number")))
    return _without_totals(parts.drop_nulls("number").select("row", "place", "label", value=value))


def _value(number: pl.Expr) -> pl.Expr:
    return number.str.replace(",", ".", literal=True).cast(pl.Float64)


def _without_totals(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(~pl.col("label").str.contains(_TOTAL))
