"""Several responses to one question as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.rag.outcomes import not_missed

if TYPE_CHECKING:
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By

UNION = ("label", "n_responses", "any_of")
"""Columns of the result after the keys."""


@like_input
def union_labels(labelled: Frame, *, by: By) -> pl.LazyFrame:
    """Label several responses to one question as one: a group counts if any of them contains it.

    Each element is the largest of the labels that have it; a rejection is [-1], so any answer
    outweighs it.

    Args:
        labelled: Responses with `label`, as `evalframe.rag.label` gives them.
        by: Keys of responses that belong together, such as model, dataset, id.

    Returns:
        by..., `label` (List(Int8)), `n_responses` (Int64: those with a label) and `any_of`
        (Boolean: no group is missing; as in RGB also True for rejections only). Null if no response
        has a label. Sorted by the keys.

    Raises:
        MissingColumnsError: A key or the label is missing.
        ParameterError: A key has the name of a column of the result.

    References:
        RGB 65ec39e, its helper for several predictions.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tries = pl.DataFrame({"id": [0, 0, 1, 1], "label": [[1, 0], [0, 1], [-1], [0]]})
        >>> ef.rag.union_labels(tries, by="id").rows()
        [(0, [1, 1], 2, True), (1, [0], 2, False)]
    """
    from evalframe.core.tables import Keys, lazy

    frame, keys = lazy(labelled), Keys.of(by, taken=UNION)
    columns = frame.collect_schema().names()
    required = {"label", *(root for key in keys.exprs for root in key.meta.root_names())}
    if missing := required - {*columns}:
        raise MissingColumnsError.of("union_labels", missing, columns)
    label = pl.col("label").cast(pl.List(pl.Int8))
    rows = frame.select(*keys.select(), label, pl.lit(0).alias(_ALL))
    groups = [_ALL, *keys.inner]
    counts = rows.group_by(groups).agg(pl.col("label").count().cast(pl.Int64).alias("n_responses"))
    index = pl.int_ranges(pl.col("label").list.len()).alias(_PLACE)
    largest = (
        rows.filter(pl.col("label").is_not_null())
        .with_columns(index)
        .explode("label", _PLACE, empty_as_null=False)
        .group_by(*groups, _PLACE)
        .agg(pl.col("label").max())
        .group_by(groups)
        .agg(pl.col("label").sort_by(_PLACE))
    )
    joined = counts.join(largest, on=groups, how="left", nulls_equal=True)
    empty = pl.when(pl.col("n_responses") > 0).then(pl.lit([], dtype=pl.List(pl.Int8)))
    union = pl.coalesce("label", empty).alias("label")
    return (
        joined.with_columns(union)
        .sort(keys.inner or _ALL)
        .select(*keys.inner, "label", "n_responses", not_missed(pl.col("label")).alias("any_of"))
        .rename(keys.restore())
    )


_ALL, _PLACE = ":all", ":place"
