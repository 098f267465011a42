"""Pools: groups that share their draws, in batches that fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.resample.contraction import CLUSTER, GROUP
from evalframe.resample.methods import Bootstrap, Method

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BATCH = 1 << 24
"""Replicate values held at a time."""

MIXED = 16
"""Groups resampled at a time where weights belong to clusters and not to places."""

_PLACE = ":place"


@dataclass(frozen=True)
class Pool:
    """Groups that share their draws: those with the same number of clusters.

    Attributes:
        groups: Numbers of the groups.
        sizes: How many clusters each group has.
        tables: Cluster states of those groups, groups and clusters numbered from 0.
        ids: The clusters' ids in order (of the first group, where groups differ).
    """

    groups: pl.Series
    sizes: pl.Series
    tables: list[pl.DataFrame]
    ids: pl.Series

    @property
    def n_clusters(self) -> pl.Series:
        """The column `n_clusters` of the groups."""
        return pl.Series("n_clusters", self.sizes, dtype=pl.Int64)


def pools(method: Method, tables: Sequence[pl.DataFrame], together: int = 1) -> Iterator[Pool]:
    """Groups in batches that share their draws and fit in memory.

    Args:
        method: What the pools are for.
        tables: For each block its cluster states, with `:group` and `:cluster`.
        together: So many consecutive groups have the same clusters and must not be parted.

    Raises:
        ParameterError: No group has two clusters, or one of them is null.
    """
    clusters = pl.concat([table.select(GROUP, CLUSTER) for table in tables]).unique()
    check_known(clusters[CLUSTER])
    sizes = clusters.group_by(GROUP).agg(pl.len().alias("size")).sort("size", GROUP)
    check_enough(method, sizes["size"], clusters[CLUSTER])
    draws = method.n if isinstance(method, Bootstrap) else 1
    apart = not (isinstance(method, Bootstrap) and method.draws == "poisson")
    alike = [same for _, same in sizes.group_by("size", maintain_order=True)] if apart else [sizes]
    for same in alike:
        batch = max(1, BATCH // max(draws, same["size"][-1]) // len(tables) // together) * together
        if not apart:  # a batch's clusters are those of all its groups
            batch = min(batch, MIXED)
        for first in range(0, len(same), batch):
            members = same[first : first + batch]
            known = clusters.join(members.select(GROUP).with_row_index(":new"), on=GROUP)
            place = pl.col(CLUSTER).rank("dense")
            place = (place.over(":new") if apart else place).cast(pl.Int64) - 1
            known = known.with_columns(place.alias(_PLACE)).sort(_PLACE, ":new")
            chosen = [
                table.join(known, on=[GROUP, CLUSTER], nulls_equal=True)
                .drop(GROUP, CLUSTER)
                .rename({":new": GROUP, _PLACE: CLUSTER})
                for table in tables
            ]
            ids = known.unique(_PLACE, keep="first", maintain_order=True)[CLUSTER]
            yield Pool(members[GROUP], members["size"], chosen, ids)


def check_known(clusters: pl.Series) -> None:
    """Raise where rows belong to no cluster.

    Raises:
        ParameterError: An id is null or NaN.
    """
    if clusters.has_nulls() or (clusters.dtype.is_float() and clusters.is_nan().any()):
        raise ParameterError(
            "the cluster column has null or NaN ids, and a row without a cluster cannot be "
            "resampled; fill them in or filter those rows"
        )


def number_groups(table: pl.DataFrame, groups: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The table with the number of its group instead of the keys."""
    if not keys:
        return table.with_columns(pl.lit(0, dtype=pl.UInt32).alias(GROUP))
    numbered = groups.with_row_index(GROUP)
    return table.join(numbered, on=list(keys), nulls_equal=True).drop(keys)


def check_enough(method: Method, sizes: pl.Series, clusters: pl.Series) -> None:
    """Raise where nothing can vary.

    Args:
        method: What the clusters are for.
        sizes: How many clusters each group has.
        clusters: Their ids, for the message.

    Raises:
        ParameterError: No group has two clusters.
    """
    if not method.lenient and sizes.to_numpy().max(initial=0) < 2:
        raise ParameterError(
            "the resampling needs at least two clusters, and every group has one "
            f"(first id: {clusters[0]!r}); name a finer `cluster` column, or leave out `resample`"
        )
