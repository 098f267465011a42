"""Selection of the documents that a model is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from operator import index
from typing import SupportsIndex

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.typing import Frame
from evalframe.rag.contract import is_counterfactual, is_integration
from evalframe.rag.documents.counts import (
    COUNTS,
    OK,
    checked_passage_num,
    checked_rate,
    document_counts,
    first_of,
)
from evalframe.rag.documents.orders import SEEDED, Order, documents_of

_PASSAGES = pl.List(pl.String())
_GROUPS = pl.List(_PASSAGES)
_SIZES = pl.List(pl.Int64())

SELECTION = {
    "passage_num": pl.Int64(),
    "correct_passage_rate": pl.Float64(),
    "order": pl.String(),
    "seed": pl.UInt64(),
    "documents": _PASSAGES,
    **COUNTS,
    "status": pl.String(),
}
"""The columns that `select_documents` adds after the noise rate."""

_ARRANGED = ("n_pos", "n_wrong", "n_correct", "n_neg", "n_docs", "n_negative")


@like_input
def select_documents(
    instances: Frame,
    *,
    noise_rate: float | Sequence[float] = 0.0,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    seed: int = 42,
) -> pl.LazyFrame:
    """Draw the documents that a model is shown with each question.

    The name of the data set decides. With `_int` the answer is spread over groups of passages, and
    one of every group is always shown. With `_fact` wrong passages are shown, and `correct_rate` of
    unaltered ones from other sources. All others show positive passages; if a list is too short,
    the other one fills the gap. `document_counts` has the counts.

    Documents and their order are drawn for each item by its data set and id: they do not depend on
    other rows, and a higher noise rate keeps the noise and adds more. For the documents that RGB
    itself shows, see `evalframe.compat.rgb.select_documents`.

    Args:
        instances: One row per question, with columns `dataset` (text), `id` (integer or text),
            `positive` and `negative` (lists of passages), and for `_fact` `positive_wrong` (as long
            as `positive`: the same passages, altered). `positive` of `_int` is a list of groups,
            List(List(String)). In a table with such a column, the groups of other data sets are
            read as one list.
        noise_rate: Share of noise, 0 to 1. Several rates give one row each, in their order.
        passage_num: Number of documents, 0 or more. With 0 the lists are not read.
        correct_rate: Share of unaltered passages, 0 to 1; only used for `_fact`.
        seed: 0 or more, below 2**64.

    Returns:
        The columns of `instances`, then `noise_rate` (Float64), `passage_num` (Int64),
        `correct_passage_rate` (Float64), `order` (String), `seed` (UInt64), `documents`
        (List(String)), the counts of `document_counts` and `status`: `ok`, or the reason why
        documents and counts are null. Rows keep their order.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> lists = {"positive": [["p0"]], "negative": [["n0", "n1", "n2"]]}
        >>> instances = pl.DataFrame({"dataset": ["en"], "id": [1], **lists})
        >>> shown = ef.rag.select_documents(instances, noise_rate=0.25, passage_num=4)
        >>> shown.select("n_pos", "n_neg", "realised_noise_rate").row(0)
        (1, 3, 0.75)
    """
    return selected(instances, SEEDED, noise_rate, passage_num, correct_rate, seed)


def selected(
    instances: Frame,
    order: Order,
    noise_rate: float | Sequence[float],
    passage_num: int,
    correct_rate: float,
    seed: int,
) -> pl.LazyFrame:
    """The instances with documents in this order."""
    valid = isinstance(seed, SupportsIndex) and not isinstance(seed, bool)
    if not valid or not 0 <= index(seed) < 2**64:
        raise ParameterError(f"seed must be an integer from 0 to 2**64 - 1, got {seed!r}")
    rates = pl.lit(_rates(noise_rate), dtype=pl.List(pl.Float64))
    lazy = instances.lazy()
    schema = lazy.collect_schema()
    _check(schema, order.columns)
    rows = pl.struct(*order.columns, *_lists(schema), "noise_rate")
    selection = rows.map_batches(
        partial(
            _selection,
            order=order,
            passage_num=checked_passage_num(passage_num),
            correct_rate=checked_rate("correct_rate", correct_rate),
            seed=index(seed),
        ),
        return_dtype=pl.Struct(SELECTION),
        is_elementwise=True,
    )
    # A frame is unnested, since an expression would be evaluated once for each field.
    result = lazy.with_columns(noise_rate=rates).explode("noise_rate")
    return result.with_columns(selection.alias(":selection")).unnest(":selection")


def _rates(noise_rate: float | Sequence[float]) -> list[float]:
    """The noise rates, checked; each can occur once."""
    if not isinstance(noise_rate, Iterable):
        return [checked_rate("noise_rate", noise_rate)]
    rates = [checked_rate("noise_rate", rate) for rate in noise_rate]
    if repeated := [rate for rate in rates if rates.count(rate) > 1]:
        raise ParameterError(f"noise_rate has {repeated[0]:g} twice; give each rate once")
    if not rates:
        raise ParameterError("noise_rate is empty; give at least one rate")
    return rates


def _check(schema: pl.Schema, columns: Sequence[str]) -> None:
    """Check the names and types of the columns, without reading a row."""
    if missing := {*columns, "positive", "negative"} - schema.keys():
        raise MissingColumnsError.of("select_documents", missing, schema)
    if reserved := [name for name in ("noise_rate", *SELECTION) if name in schema]:
        raise ParameterError(
            f"select_documents adds a column {reserved[0]!r}; rename the one in the table"
        )
    faults = [] if schema["dataset"] in (pl.String, pl.Null) else [("dataset", "text")]
    if "id" in columns and not (schema["id"].is_integer() or schema["id"] in (pl.String, pl.Null)):
        faults.append(("id", "an integer or text"))
    flat = (_PASSAGES, pl.List(pl.Null), pl.Null)
    if schema["positive"] not in (*flat, _GROUPS, pl.List(pl.List(pl.Null))):
        faults.append(("positive", "lists of passages, or lists of groups of passages"))
    faults += [
        (name, "lists of passages")
        for name in ("negative", "positive_wrong")
        if name in schema and schema[name] not in flat
    ]
    for name, expected in faults:
        raise ParameterError(
            f"select_documents: {name} must be {expected}, but is {schema[name]}; cast it"
        )


def _lists(schema: pl.Schema) -> list[pl.Expr]:
    """The lists of passages, null if the table lacks them."""
    flat = schema["positive"] == _PASSAGES
    wrong = pl.col("positive_wrong") if "positive_wrong" in schema else pl.lit(None)
    return [
        pl.col("positive").cast(_PASSAGES if flat else _GROUPS),
        pl.col("negative").cast(_PASSAGES),
        wrong.cast(_PASSAGES).alias("positive_wrong"),
    ]


def _selection(
    rows: pl.Series, *, order: Order, passage_num: int, correct_rate: float, seed: int
) -> pl.Series:
    """A struct of `SELECTION` for each row."""
    table = rows.struct.unnest()
    identity = [name for name in ("dataset", "id") if name in table.columns]
    counts = document_counts(
        group_sizes="group_sizes",
        noise_rate="noise_rate",
        passage_num=passage_num,
        correct_rate=correct_rate,
    )
    counted = (
        table.lazy()
        .select(*identity, "noise_rate", **_lengths(table.schema))
        .with_columns(counts.alias("counts"))
        .unnest("counts")
        .collect(engine="in-memory")
    )
    if passage_num:  # else the lists are not read
        counted = counted.with_columns(_status(*_faults(order)))
    arranged = counted.with_columns(_arranged())
    documents = documents_of(
        [table[name] for name in ("positive", "negative", "positive_wrong")],
        order.arrange(arranged, seed),
        arranged["n_docs"].to_numpy(),
    )
    incomplete = pl.col("documents").is_null(), "a passage to be shown is null"
    valid = pl.col("status") == OK
    return (
        counted.with_columns(
            passage_num=pl.lit(passage_num, pl.Int64),
            correct_passage_rate=pl.lit(correct_rate),
            order=pl.lit(order.name),
            seed=pl.lit(seed, pl.UInt64),
            documents=documents,
        )
        .with_columns(_status(incomplete))
        .with_columns(pl.when(valid).then(name).alias(name) for name in ("documents", *COUNTS))
        .select(SELECTION.keys())
        .to_struct("selection")
    )


def _lengths(schema: pl.Schema) -> dict[str, pl.Expr]:
    """Lengths of the lists and sizes of groups, null if a list or a group is null."""
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


def _faults(order: Order) -> list[tuple[pl.Expr, str | pl.Expr]]:
    """Reasons why documents cannot be selected although their numbers are known."""
    altered, positives = pl.col("n_altered"), pl.col("n_positive")
    counterfactual = is_counterfactual(pl.col("dataset"))
    different = pl.format(
        "positive and positive_wrong differ in length: {} and {}", positives, altered
    )
    faults: list[tuple[pl.Expr, str | pl.Expr]] = [
        (counterfactual & altered.is_null(), "no list of wrong passages"),
        (counterfactual & (altered != positives), different),
    ]
    if "id" in order.columns:
        faults.append((pl.col("id").is_null(), "the id is null, which the seeded order needs"))
    return faults


def _status(*faults: tuple[pl.Expr, str | pl.Expr]) -> pl.Expr:
    """The status; if it is ok so far, the first of these faults."""
    status = pl.col("status")
    return pl.when(status == OK).then(first_of(*faults)).otherwise(status).alias("status")


def _arranged() -> list[pl.Expr]:
    """Sizes and counts for an order; without documents all are 0 or null."""
    has_documents = (pl.col("status") == OK) & (pl.col("n_docs") > 0)
    return [
        pl.when(has_documents & is_integration(pl.col("dataset")))
        .then("group_sizes")
        .when(has_documents)
        .then(pl.concat_list("n_positive"))
        .alias("group_sizes"),
        *(
            pl.when(has_documents).then(pl.col(n).fill_null(0)).otherwise(0).alias(n)
            for n in _ARRANGED
        ),
    ]
