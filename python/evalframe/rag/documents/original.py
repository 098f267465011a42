"""The order of documents in the original program.

It seeds the generator of Python anew for every item, so that the order follows from the kind of
the data set and the lengths of the lists alone: each shape is arranged once, for all its rows.
"""

from __future__ import annotations

import random
from itertools import accumulate, pairwise, zip_longest
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments
from evalframe.rag.datasets import is_counterfactual, is_integration
from evalframe.rag.documents.places import NEGATIVE, POSITIVE, WRONG, Places, within

if TYPE_CHECKING:
    from collections.abc import Sequence

_COUNTED = ("n_pos", "n_wrong", "n_correct", "n_neg")


def original_order(rows: pl.DataFrame, *, seed: int) -> Places:
    """The documents of all rows, as the original shows them.

    Args:
        rows: `dataset`, `group_sizes` (of other data sets than `_int` that of their only group) and
            the counts, 0 for what does not apply.
        seed: Of the generator, the same for every item.
    """
    import numpy as np

    dataset = pl.col("dataset")
    integration, counterfactual = is_integration(dataset), is_counterfactual(dataset)
    keys = rows.select(
        *(integration.alias("integration"), counterfactual.alias("counterfactual")),
        # Of other data sets the lengths of the lists show in the counts only.
        pl.when(integration | counterfactual).then("group_sizes").alias("group_sizes"),
        *_COUNTED,
    )
    shapes = keys.with_row_index("row").group_by(keys.columns, maintain_order=True).agg("row")
    documents = [_arranged(*shape, seed=seed) for shape in shapes.drop("row").iter_rows()]

    members = shapes["row"].list.len().to_numpy()
    shape = np.empty(len(rows), dtype=np.int64)
    shape[shapes["row"].explode().to_numpy()] = np.repeat(np.arange(len(shapes)), members)
    lengths = np.array([len(shown) for shown in documents], dtype=np.int64)
    flat = np.array([pair for shown in documents for pair in shown], dtype=np.int64).reshape(-1, 2)
    shown = lengths[shape]
    at = np.repeat(segments.starts_of(lengths)[shape], shown) + within(shown)
    return Places(source=flat[at, 0], place=flat[at, 1])


def _arranged(
    integration: bool | None,
    counterfactual: bool | None,
    group_sizes: Sequence[int] | None,
    n_pos: int,
    n_wrong: int,
    n_correct: int,
    n_neg: int,
    *,
    seed: int,
) -> list[tuple[int, int]]:
    """Sources and places of one shape, by the same calls in the same order.

    Relies on `shuffle` and `sample` of CPython, alike in 3.11 to 3.13: both draw by `getrandbits`
    with rejection, `shuffle` from the last place down, and what `sample` draws depends on how many
    there are to sample from, not on what they are.
    """
    generator = random.Random(seed)  # the same stream as that of the module, seeded
    sizes = group_sizes or ()
    if integration:
        groups = [[*range(*ends)] for ends in pairwise(accumulate(sizes, initial=0))]
        for group in groups:
            generator.shuffle(group)
        sweep = [place for rank in zip_longest(*groups) for place in rank if place is not None]
        documents = [(POSITIVE, place) for place in sweep[:n_pos]]
    elif counterfactual:
        passages = range(sum(sizes))
        wrong = generator.sample(passages, n_wrong)
        others = sorted({*passages} - {*wrong})
        documents = [(WRONG, place) for place in wrong]
        documents += [(POSITIVE, place) for place in generator.sample(others, n_correct)]
    else:
        documents = [(POSITIVE, place) for place in range(n_pos)]
    documents += [(NEGATIVE, place) for place in range(n_neg)]
    generator.shuffle(documents)
    return documents
