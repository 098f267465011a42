"""The lists of passages in a table of instances, whatever shape they come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

PASSAGES = pl.List(pl.String())
"""Passages, one list of them per row."""

_GROUPS = pl.List(PASSAGES)
_SIZES = pl.List(pl.Int64())


def lists_in(schema: pl.Schema) -> dict[str, pl.Expr]:
    """The lists of passages in a table with this schema, under their names; all null if absent."""
    flat = schema["positive"] == PASSAGES
    wrong = pl.col("positive_wrong") if "positive_wrong" in schema else pl.lit(None)
    return {
        "positive": pl.col("positive").cast(PASSAGES if flat else _GROUPS),
        "negative": pl.col("negative").cast(PASSAGES),
        "positive_wrong": wrong.cast(PASSAGES).alias("positive_wrong"),
    }


def lengths_of(schema: pl.Schema) -> dict[str, pl.Expr]:
    """The lengths of these lists, null where they or a group are, and the sizes of groups, if any.

    Positive passages are those of all groups.
    """
    positive = pl.col("positive")
    n_positive, sizes = positive.list.len().cast(pl.Int64), pl.lit(None, _SIZES)
    if schema["positive"] == _GROUPS:
        sizes = positive.list.eval(pl.element().list.len()).cast(_SIZES)
        n_positive = pl.when(sizes.list.contains(None)).then(None).otherwise(sizes.list.sum())
    return {
        "n_positive": n_positive,
        "n_negative": pl.col("negative").list.len().cast(pl.Int64),
        "n_altered": pl.col("positive_wrong").list.len().cast(pl.Int64),
        "group_sizes": sizes,
    }


def check(schema: pl.Schema, *, needed: Sequence[str], added: Collection[str]) -> None:
    """Check the names and types of the columns, without reading a row.

    Args:
        schema: Of the instances.
        needed: Columns besides `positive` and `negative` that are read.
        added: Columns that the selection adds.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A column has another type, or the name of one that is added.
    """
    if missing := {*needed, "positive", "negative"} - schema.keys():
        raise MissingColumnsError.of("select_documents", missing, schema)
    if taken := [name for name in added if name in schema]:
        raise ParameterError(
            f"select_documents adds a column {taken[0]!r}; rename the one in the table"
        )
    text = schema["dataset"] in (pl.String, pl.Null)
    faults = [] if text else [("dataset", "text")]
    if "id" in needed and not (schema["id"].is_integer() or schema["id"] in (pl.String, pl.Null)):
        faults.append(("id", "an integer or text"))
    if not (_is_passages(schema["positive"]) or _is_groups(schema["positive"])):
        faults.append(("positive", "lists of passages, or lists of groups of passages"))
    faults += [
        (name, "lists of passages")
        for name in ("negative", "positive_wrong")
        if name in schema and not _is_passages(schema[name])
    ]
    for name, meant in faults:
        raise ParameterError(
            f"select_documents: {name} must be {meant}, but is {schema[name]}; cast it"
        )


def _is_passages(dtype: pl.DataType) -> bool:
    return dtype in (PASSAGES, pl.List(pl.Null), pl.Null)


def _is_groups(dtype: pl.DataType) -> bool:
    return dtype in (_GROUPS, pl.List(pl.List(pl.Null)))
