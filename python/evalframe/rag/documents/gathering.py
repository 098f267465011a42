"""From places of passages to lists of documents, whole columns at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.segments import Ints
    from evalframe.rag.documents.places import Places


def documents_of(
    lists: Sequence[pl.Series], places: Places, instance: Ints, shown: Ints
) -> pl.Series:
    """The documents of each row; null where a passage that is shown is null.

    Args:
        lists: Lists of positive, negative and wrong passages of each instance.
        places: Where the documents of all rows stand in these lists.
        instance: The instance of each row.
        shown: How many documents each row has.
    """
    import numpy as np

    flat = [_flat(passages) for passages in lists]
    lengths = np.array([len(passages) for passages, _ in flat], dtype=np.int64)
    first = np.stack([starts[:-1] for _, starts in flat])
    first += segments.starts_of(lengths)[:-1, None]
    pool = pl.concat([passages for passages, _ in flat], rechunk=False)
    owner = np.repeat(np.arange(len(shown)), shown)
    documents = pool.gather(first[places.source, instance[owner]] + places.place)
    known = np.ones(len(shown), dtype=np.bool_)
    if documents.null_count():
        known[owner[documents.is_null().to_numpy()]] = False
    return segments.listed(documents, shown, known)


def _flat(lists: pl.Series) -> tuple[pl.Series, Ints]:
    """All passages of a column of lists, of groups too, and where those of each row start."""
    starts = segments.starts_of(lists.list.len().fill_null(0).to_numpy())
    inner = lists.explode(empty_as_null=False, keep_nulls=False)
    if isinstance(inner.dtype, pl.List):
        passages, first = _flat(inner)
        return passages, first[starts]
    return inner, starts
