"""Markdown tables with one option per row, or all options in one row."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.labelled import by_labels
from evalframe.survey.parsing.labels import with_marks, with_options
from evalframe.survey.parsing.ladder import VECTOR, no_candidates
from evalframe.survey.parsing.lists import gap, new_block, plain, text_lines

_NUMBER = r"^\s*(?i-u:about\s+)?([+-]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+))\s*$"
_ROW = r"\S\s*\|\s*\S|^\s*\|"
_PAIRS = r"^[^|]*\p{L}[^|]*[:=][^|]*[0-9]"
"""A line with bars between pairs: `Yes: 60% | No: 40%`."""

_TOTAL = r"(?i)^[^\p{L}\p{N}]*(?:grand\s+|overall\s+)?(?:totals?|sum)\b"
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
    return line.str.contains(_ROW) & ~line.str.contains(_PAIRS)


def table_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Options of each table by rows, else by columns, in the order of the labels."""
    # If several columns have numbers, the one is taken whose heading is about shares.
    cells = _cells(rows)
    if cells.is_empty():
        return no_candidates()
    long = by_labels(_pairs(cells, rows), rows)
    fits = long.filter(pl.col("vector").list.len() == rows["n"].gather(long["row"]))
    wide = _by_columns(cells, rows)
    return pl.concat([wide.join(fits, on="row", how="anti", maintain_order="left"), long])


def _cells(rows: pl.DataFrame) -> pl.DataFrame:
    """The cells below the heading of each table, with the heading of their column."""
    cell, value, option = pl.col("label"), pl.col("value"), pl.col("option")
    number = plain(cell).str.extract(_NUMBER).str.replace(",", ".", literal=True)
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
    columns = (
        numbers.group_by("table", "column", maintain_order=True)
        .agg(pl.col("heading", "heading_option").first(), pl.col("is_percent").all())
        .with_columns(
            about=pl.col("heading").str.contains(_SHARES)
            & ~pl.col("heading").str.contains(_OTHERS),
            rest=~pl.col("heading").str.contains(_OTHERS) & pl.col("heading_option").is_null(),
            only=pl.lit(value=True),
        )
        .sort("table", "column")
    )
    single = [
        pl.col(sign).fill_null(value=False)
        & (pl.col(sign).fill_null(value=False).sum().over("table") == 1)
        for sign in ("only", "about", "rest", "is_percent")
    ]
    rank = pl.coalesce(
        *(pl.when(sign).then(pl.lit(number)) for number, sign in enumerate(single)), pl.lit(9)
    )
    chosen = (
        columns.with_columns(rank=rank)
        .filter(pl.col("rank") < 9)
        .filter(pl.col("rank") == pl.col("rank").min().over("table"))
        .select("table", "column")
    )
    value = numbers.join(chosen, on=["table", "column"], how="semi", maintain_order="left")
    text = pl.col("label").str.strip_chars()
    words = pl.when(pl.col("value").is_null()).then(text)
    labels = (
        cells.filter("is_label")
        .group_by("place", maintain_order=True)
        .agg(
            label=pl.when(words.is_not_null().any())
            .then(words.drop_nulls().str.join(" "))
            .otherwise(text.str.join(" "))
        )
    )
    pairs = value.select("row", "place", "value").join(
        labels, on="place", how="left", maintain_order="left"
    )
    labelled_pairs = pairs.with_columns(pl.col("label").fill_null("")).filter(
        ~pl.col("label").str.contains(_TOTAL)
    )
    return with_options(labelled_pairs.select("row", "place", "label", "value"), rows)


def _by_columns(cells: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with all numbers in them, if their labels are no options; by the headings."""
    labelled = pl.col("is_label") & pl.col("option").is_not_null()
    wide = cells.filter(~labelled.any().over("table"))
    others = (pl.col("is_label") & pl.col("label").str.contains(_OTHERS)).any().over("place")
    cells_of_numbers = wide.with_columns(others=others).filter(
        ~pl.col("is_label") & (~pl.col("others") | pl.col("others").all().over("table"))
    )
    numbers = cells_of_numbers.with_columns(label=pl.col("heading").fill_null(""))
    has_names = pl.col("heading_option").is_not_null().any().over("place")
    counted = numbers.with_columns(named=has_names).filter(
        (~pl.col("named") & ~pl.col("label").str.contains(_ASIDE))
        | pl.col("heading_option").is_not_null()
    )
    size = pl.len().over("place")
    marked = with_marks(counted).with_columns(
        marks=(pl.col("mark").n_unique().over("place") == size)
        & (pl.col("mark").min().over("place") == 0)
        & (pl.col("mark").max().over("place") == size - 1)
    )
    order = (
        pl.when("named")
        .then("heading_option")
        .when(pl.col("marks").fill_null(value=False))
        .then("mark")
        .otherwise("column")
    )
    vectors = (
        marked.with_columns(order=order)
        .sort("place", "order", maintain_order=True)
        .group_by("place", maintain_order=True)
        .agg(
            pl.col("row").first(),
            vector="value",
            named=pl.col("named").first(),
            twice=pl.col("order").is_duplicated().any(),
        )
    )
    several = (pl.col("vector").list.len() > 1) & ~pl.col("twice")
    return vectors.filter(several).select("row", pl.col("vector").cast(VECTOR))
