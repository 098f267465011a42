"""Selection of the documents that a model is shown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

import polars as pl

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.rag.documents.columns import ORDERS, SELECTION, Settings, selection_of
from evalframe.rag.documents.counts import checked_passage_num, checked_rate
from evalframe.rag.documents.instances import check, lists_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame
    from evalframe.rag.documents.columns import Order

_MADE = "__evalframe_selection__"


def select_documents(
    instances: Frame,
    *,
    noise_rate: float | Sequence[float] = 0.0,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: Order = "original",
    seed: int = 2333,
) -> pl.LazyFrame:
    """Select the documents that a model is shown with each question.

    The name of the data set decides. With `_int` in it the answer is spread over groups of
    passages, and one of every group is always shown. With `_fact` wrong passages are shown, and
    `correct_rate` of unaltered ones from other sources. In all others positive passages are shown,
    and a list that is too short is made up for by the other one. `document_counts` has the counts.

    `order="original"` shows what the original program shows, the first passages of the lists
    mostly, in its order, which is the same for all items whose lists are equally long.
    `order="seeded"` shows as many of each kind, but draws which ones, and their order, for each
    item by its data set and id: whatever else is in the table, an item is shown the same, and at
    a higher noise rate the same noise and more, in the same order.

    Args:
        instances: One row per question, with columns `dataset` (text), `positive` and `negative`
            (lists of passages), for `_fact` `positive_wrong` (as long as `positive`: the same
            passages, altered), and for `order="seeded"` `id` (integer or text). `positive` of
            `_int` is a list of groups, List(List(String)). In a table with such a column, the
            groups of other data sets are read as one list, so that one group of all passages and
            a group for each passage mean the same.
        noise_rate: Share of noise, 0 to 1. Of several rates each makes a row of its own: those of
            a question follow each other, in the order of the rates.
        passage_num: Number of documents, 0 or more. With 0 there are none, and lists are not read.
        correct_rate: Share of unaltered passages, 0 to 1; only used for `_fact`.
        order: As above.
        seed: 0 or more, below 2**64.

    Returns:
        The columns of `instances`, then `noise_rate` (Float64), `passage_num` (Int64),
        `correct_passage_rate` (Float64), `order` (String), `seed` (UInt64), `documents`
        (List(String)), the counts of `document_counts` and `status` (`ok`, or why there are no
        documents, which together with the counts are null then; such items fail in the original,
        or are dropped by it). Lazy; rows keep their order.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, a column has another type, or the
            table has a column of a name that is added.

    References:
        Chen et al. (2024), Benchmarking large language models in retrieval-augmented generation.
        Documents and their order match RGB 65ec39e.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag.documents import select_documents
        >>> instances = pl.DataFrame(
        ...     {
        ...         "dataset": ["en", "en"],
        ...         "id": [0, 1],
        ...         "positive": [["p0", "p1", "p2", "p3"], ["p0"]],
        ...         "negative": [["n0", "n1", "n2", "n3"], ["n0", "n1"]],
        ...     }
        ... )
        >>> shown = select_documents(instances, noise_rate=0.25, passage_num=4)
        >>> shown.select("documents", "n_neg", "realised_noise_rate").collect()
        shape: (2, 3)
        ┌──────────────────────┬───────┬─────────────────────┐
        │ documents            ┆ n_neg ┆ realised_noise_rate │
        │ ---                  ┆ ---   ┆ ---                 │
        │ list[str]            ┆ i64   ┆ f64                 │
        ╞══════════════════════╪═══════╪═════════════════════╡
        │ ["p2", "n0", … "p0"] ┆ 1     ┆ 0.25                │
        │ ["n1", "n0", "p0"]   ┆ 2     ┆ 0.666667            │
        └──────────────────────┴───────┴─────────────────────┘
    """
    if not isinstance(order, str) or order not in ORDERS:
        raise UnknownNameError.of("order", str(order), ORDERS)
    if (
        isinstance(seed, bool)
        or not isinstance(seed, SupportsIndex)
        or not 0 <= index(seed) < 2**64
    ):
        raise ParameterError(f"seed must be an integer from 0 to 2**64 - 1, got {seed!r}")
    settings = Settings(
        noise_rates=_rates(noise_rate),
        passage_num=checked_passage_num(passage_num),
        correct_rate=checked_rate("correct_rate", correct_rate),
        order=order,
        seed=index(seed),
    )
    lazy = instances.lazy()
    schema = lazy.collect_schema()
    needed = ("dataset", "id") if order == "seeded" else ("dataset",)
    check(schema, needed=needed, added=SELECTION)

    one = pl.Struct(SELECTION)
    several = len(settings.noise_rates) > 1
    made = pl.struct(*needed, *lists_in(schema).values()).map_batches(
        partial(selection_of, settings=settings),
        return_dtype=pl.List(one) if several else one,
        is_elementwise=True,
    )
    # A frame is unnested, since an expression would be evaluated once for each field.
    selected = lazy.with_columns(made.alias(_MADE))
    return (selected.explode(_MADE) if several else selected).unnest(_MADE)


def _rates(noise_rate: float | Sequence[float]) -> list[float]:
    """The noise rates, each once.

    Raises:
        ParameterError: None, one twice, or one that is no number from 0 to 1.
    """
    if not isinstance(noise_rate, Iterable):
        return [checked_rate("noise_rate", noise_rate)]
    rates = [checked_rate("noise_rate", rate) for rate in noise_rate]
    if repeated := [rate for rate in rates if rates.count(rate) > 1]:
        raise ParameterError(f"noise_rate has {repeated[0]:g} twice; give each rate once")
    if not rates:
        raise ParameterError("noise_rate is empty; give at least one rate")
    return rates
