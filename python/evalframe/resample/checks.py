"""What a resampling cannot do without: clusters that are known, and two of them."""

from __future__ import annotations

import polars as pl

from evalframe.core.errors import Argument, ParameterError


def check_known(clusters: pl.Series) -> None:
    """Raise where rows belong to no cluster.

    Raises:
        ParameterError: An id is null or NaN, or a field of it.
    """
    if _some_unknown(clusters):
        raise ParameterError(
            "the cluster column has null or NaN ids, and a row without a cluster cannot be "
            "resampled; fill them in or filter those rows"
        )


def check_enough(sizes: pl.Series, clusters: pl.Series) -> None:
    """Raise ParameterError if no group has two clusters; `sizes` are numbers of clusters."""
    if sizes.to_numpy().max(initial=0) < 2:
        raise ParameterError(
            "the resampling needs at least two clusters in a group, or on each side of a pair, and "
            f"none has two (first id: {clusters[0]!r}); name a finer column by ",
            Argument("cluster"),
            ", or leave out ",
            Argument("resample"),
        )


def _some_unknown(clusters: pl.Series) -> bool:
    if isinstance(clusters.dtype, pl.Struct):
        fields = clusters.struct.unnest()
        return clusters.has_nulls() or any(_some_unknown(field) for field in fields)
    return clusters.has_nulls() or bool(clusters.dtype.is_float() and clusters.is_nan().any())
