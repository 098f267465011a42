"""Estimates with their uncertainty, from cluster states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    from evalframe.core.blocks import Block
    from evalframe.core.metric import Bound
    from evalframe.core.segments import Floats
    from evalframe.resample.draws import Weights

CELLS = 1 << 18
"""Numbers per array in a chunk of replicates: small enough for the caches."""

WEIGHTS = 1 << 22
"""Weights per chunk of replicates."""

BATCH = 1 << 24
"""Replicate values held at a time."""

_NUDGE = 1e-4


@dataclass(frozen=True)
class Pool:
    """Groups that share their draws: those with the same number of clusters.

    Attributes:
        groups: Numbers of the groups.
        tables: Cluster states of those groups, groups and clusters numbered from 0.
        ids: The clusters' ids in order (of the first group, where groups differ).
    """

    groups: pl.Series
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
    parts = []
    for pool in pools(method, groups, tables, keys):
        part = _of_pool(method, pool, blocks, bounds)
        chosen = groups[pool.groups]
        for number, bound in enumerate(bounds):
            row = {name: pl.Series(name, values[number]) for name, values in part.items()}
            parts.append(
                chosen.with_columns(
                    pl.lit(bound.name).alias("metric"),
                    *(
                        values.fill_nan(None)
                        if values.dtype == pl.Float64
                        else values
                        for values in row.values()
                    ),
                    pl.lit(len(pool.ids), dtype=pl.Int64).alias("n_clusters"),
                )
            )
    return pl.concat(parts)


def pools(
    method: Method, groups: pl.DataFrame, tables: Sequence[pl.DataFrame], keys: Sequence[str]
) -> Iterator[Pool]:
    """Groups in batches that share their draws and fit in memory."""
    numbered = groups.with_row_index(GROUP)
    owned = [_number_groups(table, numbered, keys) for table in tables]
    clusters = pl.concat([table.select(GROUP, CLUSTER) for table in owned]).unique()
    shared = isinstance(method, Bootstrap) and method.draws == "poisson"
    rank = pl.col(CLUSTER).rank("dense")
    clusters = clusters.with_columns(
        ((rank if shared else rank.over(GROUP)) - 1).cast(pl.Int64).alias(":place")
    ).sort(":place")
    sizes = clusters.group_by(GROUP).agg(pl.len().alias("size")).sort("size", GROUP)
    if len(sizes) and int(sizes["size"].max() or 0) < 2 and not _reference(method):  # type: ignore[call-overload]
        raise ParameterError(
            f"the resampling needs at least two clusters, and every group has one "
            f"(first id: {clusters[CLUSTER][0]!r}); name a finer `cluster` column, "
            "or leave out `resample`"
        )
    if shared:
        sizes = sizes.with_columns(pl.lit(0, dtype=pl.UInt32).alias("size"))
    ranked = [table.join(clusters, on=[GROUP, CLUSTER], nulls_equal=True) for table in owned]
    rows = max(method.n, 1) if isinstance(method, Bootstrap) else 0
    for (_,), same in sizes.group_by("size", maintain_order=True):
        count = int(clusters[":place"].max()) + 1 if shared else int(same["size"][0])  # type: ignore[call-overload]
        batch = max(1, BATCH // max(rows, count, 1) // max(len(tables), 1))
        for first in range(0, len(same), batch):
            members = same[GROUP][first : first + batch]
            renumber = pl.DataFrame({GROUP: members}).with_row_index(":new")
            chosen = [_renumbered(table, renumber) for table in ranked]
            known = clusters if shared else clusters.filter(pl.col(GROUP) == members[0])
            ids = known.unique(":place", keep="first", maintain_order=True)[CLUSTER]
            yield Pool(members, chosen, ids)


def _reference(method: Method) -> bool:
    return isinstance(method, Bootstrap) and method.rules == "reference"


def _number_groups(
    table: pl.DataFrame, numbered: pl.DataFrame, keys: Sequence[str]
) -> pl.DataFrame:
    if not keys:
        return table.with_columns(pl.lit(0, dtype=pl.UInt32).alias(GROUP))
    return table.join(numbered, on=list(keys), nulls_equal=True).drop(keys)


def _renumbered(table: pl.DataFrame, renumber: pl.DataFrame) -> pl.DataFrame:
    return (
        table.join(renumber, on=GROUP)
        .drop(GROUP, CLUSTER)
        .rename({":new": GROUP, ":place": CLUSTER})
    )


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


def _of_pool(
    method: Method, pool: Pool, blocks: Sequence[Block], bounds: Sequence[Bound]
) -> dict[str, Floats]:
    """Columns of the result, each metrics by groups."""
    clusters, groups = len(pool.ids), len(pool.groups)
    contraction = Contraction(blocks, pool.tables, bounds, groups, clusters)
    points = contraction.values(np.ones((1, clusters)))[:, 0]
    flat = points.ravel()
    progress = method.progress or reporter(type(method).__name__.lower())

    def all_of(weights: Weights, total: int) -> Floats:
        values = replicates(contraction, weights, total, progress)
        return values.transpose(1, 0, 2).reshape(total, -1)

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
    result = {"estimate": points}
    result |= {name: values.reshape(points.shape) for name, values in made._asdict().items()}
    return result | contraction.counts()
