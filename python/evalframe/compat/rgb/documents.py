"""Documents as RGB shows them: mostly the first passages of the lists, in a fixed order.

RGB seeds Python's generator anew for every item. So the order depends on the kind of the data set
and the lengths of the lists only: each such shape is arranged once, for all its rows.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate, pairwise, zip_longest

import numpy as np
import polars as pl

from evalframe.core import segments
from evalframe.core.frames import like_input
from evalframe.core.typing import Frame
from evalframe.rag.contract import is_counterfactual, is_integration
from evalframe.rag.documents.orders import NEGATIVE, POSITIVE, WRONG, Order, Places, within
from evalframe.rag.documents.selecting import selected

_COUNTS = ("n_pos", "n_wrong", "n_correct", "n_neg")


@like_input
def select_documents(
    instances: Frame,
    *,
    noise_rate: float | Sequence[float] = 0.0,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    seed: int = 2333,
) -> pl.LazyFrame:
    """Select the documents that RGB shows with each question, in its order.

    `id` is not needed, and `seed` is that of every item. There are as many documents of each kind,
    but they are the first passages of the lists, except for `_int` and `_fact`, and their order is
    the same for all items with equally long lists. RGB fails or drops items whose `status` is not
    `ok`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import rgb
        >>> lists = {"positive": [["p0", "p1", "p2", "p3"]], "negative": [["n0", "n1"]]}
        >>> instances = pl.DataFrame({"dataset": ["en"], **lists})
        >>> shown = rgb.select_documents(instances, noise_rate=0.25, passage_num=4)
        >>> shown["documents"].to_list()
        [['p2', 'n0', 'p1', 'p0']]
    """
    return selected(instances, _ORIGINAL, noise_rate, passage_num, correct_rate, seed)


def _original(rows: pl.DataFrame, seed: int) -> Places:
    """The documents of all rows, arranged once for each shape."""
    dataset = pl.col("dataset")
    integration, counterfactual = is_integration(dataset), is_counterfactual(dataset)
    keys = rows.select(
        *(integration.alias("integration"), counterfactual.alias("counterfactual")),
        # In other data sets, only the counts depend on the lengths of the lists.
        pl.when(integration | counterfactual).then("group_sizes").alias("group_sizes"),
        *_COUNTS,
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
    """Lists and positions of the documents of one shape, by the same calls as in RGB."""
    # This relies on `shuffle` and `sample` of CPython, equal in 3.11 to 3.13: both draw by
    # `getrandbits` with rejection, `shuffle` from the last position down, and what `sample` draws
    # depends on the size of the population only.
    generator = random.Random(seed)  # the same stream as that of the module, seeded
    sizes = group_sizes or ()
    if integration:
        groups = [[*range(*ends)] for ends in pairwise(accumulate(sizes, initial=0))]
        for group in groups:
            generator.shuffle(group)
        sweep = [
            position for rank in zip_longest(*groups) for position in rank if position is not None
        ]
        documents = [(POSITIVE, position) for position in sweep[:n_pos]]
    elif counterfactual:
        passages = range(sum(sizes))
        wrong = generator.sample(passages, n_wrong)
        others = sorted({*passages} - {*wrong})
        documents = [(WRONG, position) for position in wrong]
        documents += [(POSITIVE, position) for position in generator.sample(others, n_correct)]
    else:
        documents = [(POSITIVE, position) for position in range(n_pos)]
    documents += [(NEGATIVE, position) for position in range(n_neg)]
    generator.shuffle(documents)
    return documents


_ORIGINAL = Order("original", ("dataset",), _original)
