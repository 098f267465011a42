"""Estimates with their uncertainty, from cluster states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.resample import draws, intervals
from evalframe.resample.contraction import CLUSTER, GROUP, Contraction
from evalframe.resample.methods import Bootstrap, Jackknife, Method, Progress
from evalframe.resample.progress import reporter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalframe.core.blocks import Block
    from evalframe.core.metric import Bound
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.draws import Weights

CELLS = 1 << 18
"""Numbers per array in a chunk of replicates: small enough for the caches."""

WEIGHTS = 1 << 22
"""Weights per chunk of replicates."""

BATCH = 1 << 24
"""Replicate values held at a time."""

_NUDGE = 1e-4
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


def spread(
    method: Method,
    groups: pl.DataFrame,
    tables: Sequence[pl.DataFrame],
    blocks: Sequence[Block],
    bounds: Sequence[Bound],
    keys: Sequence[str],
) -> pl.DataFrame:
    """The long result with uncertainty.

    Args:
        method: What uncertainty to give.
        groups: All groups, one row each, sorted by the keys.
        tables: For each block its cluster states, with the keys and `:cluster`.
        blocks: What the metrics share.
        bounds: The metrics.
        keys: Names of the key columns.
    """
    numbered = [number_groups(table, groups, keys) for table in tables]
    parts = []
    for pool in pools(method, numbered):
        made = _of_pool(method, pool, blocks, bounds)
        chosen = groups[pool.groups]
        for number, bound in enumerate(bounds):
            columns = [pl.Series(name, values[number]) for name, values in made.items()]
            named = chosen.with_columns(pl.lit(bound.name).alias("metric"))
            parts.append(named.with_columns(clusters_of(pool), *columns))
    return pl.concat(parts).with_columns(pl.selectors.float().fill_nan(None))


def clusters_of(pool: Pool) -> pl.Series:
    """The column `n_clusters` of the groups of a pool."""
    return pl.Series("n_clusters", pool.sizes, dtype=pl.Int64)


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
    shared = isinstance(method, Bootstrap) and method.draws == "poisson"
    rank = pl.col(CLUSTER).rank("dense")
    place = ((rank if shared else rank.over(GROUP)) - 1).cast(pl.Int64).alias(_PLACE)
    clusters = clusters.with_columns(place).sort(_PLACE)
    sizes = clusters.group_by(GROUP).agg(pl.len().alias("size")).sort("size", GROUP)
    if len(sizes) and sizes["size"].to_numpy().max() < 2 and not _lenient(method):
        raise ParameterError(
            f"the resampling needs at least two clusters, and every group has one "
            f"(first id: {clusters[CLUSTER][0]!r}); name a finer `cluster` column, "
            "or leave out `resample`"
        )
    ranked = [table.join(clusters, on=[GROUP, CLUSTER], nulls_equal=True) for table in tables]
    rows = method.n if isinstance(method, Bootstrap) else 1
    alike = [sizes] if shared else [same for _, same in sizes.group_by("size", maintain_order=True)]
    for same in alike:
        count = clusters[_PLACE].n_unique() if shared else int(same["size"][0])
        batch = max(1, BATCH // max(rows, count) // len(tables) // together) * together
        for first in range(0, len(same), batch):
            members = same[first : first + batch]
            renumber = members.select(GROUP).with_row_index(":new")
            chosen = [
                table.join(renumber, on=GROUP)
                .drop(GROUP, CLUSTER)
                .rename({":new": GROUP, _PLACE: CLUSTER})
                for table in ranked
            ]
            known = clusters if shared else clusters.filter(pl.col(GROUP) == members[GROUP][0])
            ids = known.unique(_PLACE, keep="first", maintain_order=True)[CLUSTER]
            yield Pool(members[GROUP], members["size"], chosen, ids)


def check_known(clusters: pl.Series) -> None:
    """Raise where rows belong to no cluster.

    Raises:
        ParameterError: An id is null.
    """
    if clusters.has_nulls():
        raise ParameterError(
            "the cluster column has null ids, and a row without a cluster cannot be resampled; "
            "fill them in or filter those rows"
        )


def _lenient(method: Method) -> bool:
    return isinstance(method, Bootstrap) and method.rules == "reference"


def number_groups(table: pl.DataFrame, groups: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The table with the number of its group instead of the keys."""
    if not keys:
        return table.with_columns(pl.lit(0, dtype=pl.UInt32).alias(GROUP))
    numbered = groups.with_row_index(GROUP)
    return table.join(numbered, on=list(keys), nulls_equal=True).drop(keys)


def replicates(
    contraction: Contraction, weights: Weights, total: int, progress: Progress
) -> Floats:
    """Values of all metrics for all weights: metrics by replicates by groups."""
    chunk = max(1, min(CELLS // contraction.width, WEIGHTS // contraction.clusters, total))
    made: list[Floats] = []
    done = 0
    for part in weights(chunk):
        made.append(contraction.values(part))
        done += len(part)
        progress(done, total)
    return np.concatenate(made, axis=1)


def flattened(values: Floats) -> Floats:
    """Replicates by (metrics times groups)."""
    return values.transpose(1, 0, 2).reshape(values.shape[1], -1)


def _of_pool(
    method: Method, pool: Pool, blocks: Sequence[Block], bounds: Sequence[Bound]
) -> Mapping[str, Floats | Ints]:
    """Columns of the result, each metrics by groups."""
    clusters, groups = len(pool.ids), len(pool.groups)
    contraction = Contraction(blocks, pool.tables, bounds, groups, clusters)
    points = contraction.values(np.ones((1, clusters)))[:, 0]
    flat = points.ravel()
    progress = method.progress or reporter(type(method).__name__.lower())

    def all_of(weights: Weights, total: int) -> Floats:
        return flattened(replicates(contraction, weights, total, progress))

    if isinstance(method, Bootstrap):
        jackknife = None
        if method.interval == "bca":
            jackknife = all_of(draws.leave_one_out(clusters), clusters)
        drawn = all_of(draws.bootstrap_weights(method, pool.ids), method.n)
        made = intervals.bootstrap_spread(method, flat, drawn, jackknife)
    elif isinstance(method, Jackknife):
        left_out = all_of(draws.leave_one_out(clusters), clusters)
        made = intervals.jackknife_spread(flat, left_out, method.level)
    else:
        up = all_of(draws.nudged(clusters, _NUDGE), clusters)
        down = all_of(draws.nudged(clusters, -_NUDGE), clusters)
        made = intervals.linear_spread(flat, (up - down) / (2 * _NUDGE), method.level)
    spread = {name: values.reshape(points.shape) for name, values in made._asdict().items()}
    return {"estimate": points, **spread, **contraction.counts()}
