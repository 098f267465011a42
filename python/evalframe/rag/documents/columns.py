"""Selection for a whole column of instances at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import segments
from evalframe.rag.datasets import is_counterfactual, is_integration
from evalframe.rag.documents.counts import (
    COUNTS,
    OK,
    document_counts,
    first_of,
)
from evalframe.rag.documents.gathering import documents_of
from evalframe.rag.documents.instances import PASSAGES, lengths_of
from evalframe.rag.documents.original import original_order
from evalframe.rag.documents.seeded import seeded_order

if TYPE_CHECKING:
    from collections.abc import Sequence

Order: TypeAlias = Literal["original", "seeded"]

ORDERS = {"original": original_order, "seeded": seeded_order}

SELECTION = {
    "noise_rate": pl.Float64(),
    "passage_num": pl.Int64(),
    "correct_passage_rate": pl.Float64(),
    "order": pl.String(),
    "seed": pl.UInt64(),
    "documents": PASSAGES,
    **COUNTS,
    "status": pl.String(),
}
"""The columns that `select_documents` adds."""

_READ = ("n_pos", "n_wrong", "n_correct", "n_neg", "n_docs", "n_negative")


@dataclass(frozen=True)
class Settings:
    """How documents are selected; see `select_documents`."""

    noise_rates: Sequence[float]
    passage_num: int
    correct_rate: float
    order: Order
    seed: int


def selection_of(rows: pl.Series, *, settings: Settings) -> pl.Series:
    """The columns of `SELECTION` for each row: a struct, or of several noise rates a list of them.

    Args:
        rows: Structs of `dataset`, `positive`, `negative`, `positive_wrong` and, for the seeded
            order, `id`.
        settings: How to select.
    """
    import numpy as np

    instances = rows.struct.unnest()
    rates = len(settings.noise_rates)
    counted = _counted(instances, settings)
    arranged = counted.with_columns(_as_read())
    shown = arranged["n_docs"].to_numpy()
    documents = documents_of(
        [instances[name] for name in ("positive", "negative", "positive_wrong")],
        ORDERS[settings.order](arranged, seed=settings.seed),
        np.repeat(np.arange(len(instances)), rates),
        shown,
    )
    lacking = pl.col("documents").is_null(), "a passage to be shown is null"
    selected = pl.col("status") == OK
    made = (
        counted.with_columns(
            passage_num=pl.lit(settings.passage_num, pl.Int64),
            correct_passage_rate=pl.lit(settings.correct_rate),
            order=pl.lit(settings.order),
            seed=pl.lit(settings.seed, pl.UInt64),
            documents=documents,
        )
        .with_columns(_unless_broken(lacking))
        .with_columns(pl.when(selected).then(name).alias(name) for name in ("documents", *COUNTS))
        .select(SELECTION.keys())
        .to_struct("selection")
    )
    if rates == 1:
        return made
    every = np.ones(len(instances), dtype=np.bool_)
    return segments.listed(made, np.full(len(instances), rates), every)


def _counted(instances: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """The numbers of documents and the status, a row per instance and noise rate."""
    identity = [name for name in ("dataset", "id") if name in instances.columns]
    counts = document_counts(
        group_sizes="group_sizes",
        noise_rate="noise_rate",
        passage_num=settings.passage_num,
        correct_rate=settings.correct_rate,
    )
    rates = pl.lit(settings.noise_rates, dtype=pl.List(pl.Float64))
    counted = (
        instances.lazy()
        .select(*identity, **lengths_of(instances.schema))
        .with_columns(noise_rate=rates)
        .explode("noise_rate")
        .with_columns(counts.alias("counts"))
        .unnest("counts")
        .collect(engine="in-memory")
    )
    if settings.passage_num == 0:  # the lists are not looked at
        return counted
    return counted.with_columns(_unless_broken(*_unreadable(settings.order)))


def _unreadable(order: Order) -> list[tuple[pl.Expr, str | pl.Expr]]:
    """What keeps documents from being selected although their numbers are known."""
    altered, positives = pl.col("n_altered"), pl.col("n_positive")
    counterfactual = is_counterfactual(pl.col("dataset"))
    unlike = pl.format(
        "positive and positive_wrong differ in length: {} and {}", positives, altered
    )
    broken: list[tuple[pl.Expr, str | pl.Expr]] = [
        (counterfactual & altered.is_null(), "no list of wrong passages"),
        (counterfactual & (altered != positives), unlike),
    ]
    if order == "seeded":
        broken.append((pl.col("id").is_null(), "the id is null, which the seeded order needs"))
    return broken


def _unless_broken(*broken: tuple[pl.Expr, str | pl.Expr]) -> pl.Expr:
    """The status; if it is ok so far, the first of these conditions that is true."""
    status = pl.col("status")
    return pl.when(status == OK).then(first_of(*broken)).otherwise(status).alias("status")


def _as_read() -> list[pl.Expr]:
    """What an order reads; rows without documents have none of anything."""
    shown = (pl.col("status") == OK) & (pl.col("n_docs") > 0)
    return [
        pl.when(shown & is_integration(pl.col("dataset")))
        .then("group_sizes")
        .when(shown)
        .then(pl.concat_list("n_positive"))
        .alias("group_sizes"),
        *(pl.when(shown).then(pl.col(n).fill_null(0)).otherwise(0).alias(n) for n in _READ),
    ]
