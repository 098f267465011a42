"""Uncertainty on an engine: of groups, of differences and of ranks.

Two ways lead to the same numbers. *Replicates*: shards add up the replicates of Poisson draws. It
needs no rows of a group in one place, and moves cells x replicates numbers a shard. *Clusters*: the
sums of all clusters of a group are brought together and resampled there, as in a single process. It
is for all other draws and methods, and for nearly unique levels, of which sums save nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.progress import tell, untold
from evalframe.engine.clusters import COUNT, Asked, Bucket, Clusters, clusters_of, distinct_tables
from evalframe.engine.protocol import Engine, run
from evalframe.engine.replicate_sums import Columns
from evalframe.engine.replicates import source_of
from evalframe.engine.shards import Shard
from evalframe.engine.shuffle import folder_of
from evalframe.engine.states import check_read, collected
from evalframe.resample.contraction import GROUP
from evalframe.resample.draws import check_text
from evalframe.resample.intervals import INTERVALS
from evalframe.resample.levels import lone_terms, with_levels
from evalframe.resample.methods import Bootstrap, Method, check_enough, check_known
from evalframe.resample.pools import Boards, Pool, cluster_columns, pools
from evalframe.resample.uncertainty import number_groups, spread

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.states import States
    from evalframe.core.tables import Keys
    from evalframe.engine.shards import Shards

_HERE = 1 << 22
"""Rows of states by cluster that are finished in this process."""


def resampled_on(
    engine: Engine,
    shards: Shards,
    metrics: Sequence[AnyBound],
    keys: Keys,
    cluster: pl.Expr,
    method: Method,
    finish: Callable[..., pl.DataFrame] = spread,
    *,
    summed: bool = True,
) -> pl.DataFrame:
    """What `finish` makes of the rows of shards, as of the states of all rows in one process.

    Args:
        engine: Where shards are read.
        shards: The rows.
        metrics: The metrics.
        keys: The group keys; for pairs and ranks the last is the side or system.
        cluster: What is drawn, perhaps within strata (`resample.strata.within`).
        method: The resampling.
        finish: Called with method, states and `source`, such as `pools`: `spread`, or differences
            or ranks with all that they need but those.
        summed: False if it needs more than replicates, such as permutations.
    """

    def here() -> pl.DataFrame:
        states = collected(engine, shards, metrics, keys, cluster)
        return finish(method, states, source=pools)

    is_poisson = isinstance(method, Bootstrap) and method.draws == "poisson"
    by_group = finish is spread and bool(keys.inner) and method.within is None
    if not (is_poisson and summed) and not by_group:
        return here()
    if is_poisson:
        check_text(shards.outline.select(cluster).head(0).collect().to_series())
    asked = Asked(tuple(metrics), keys, cluster)
    batches = shards.batches(engine.check())
    with nullcontext() if engine.scratch is None else folder_of(engine) as folder:
        listed = finish is not spread
        clusters = clusters_of(engine, batches, asked, folder, listed=listed)
        check_read(shards)
        if not clusters.stored:
            return finish(method, asked.of_rows(Shard("none", shards.outline, 0)), source=pools)
        clusters = _checked(method, clusters)
        way = way_of(method, clusters)
        tell(way.told)
        if way.by_shards:
            result = finish(method, clusters.known, source=source_of(engine, clusters))
            shards.check_unchanged()  # without a folder they are read again
            return result
        if clusters.folder is None:
            return here()
        buckets = clusters.buckets
        if not by_group or len(buckets) < 2 or sum(clusters.entries) <= _HERE:
            return finish(method, clusters.bucket(buckets).states(), source=pools)
        task = asked.task("resampling", partial(_of_bucket, replace(method, progress=untold)))
        items = [clusters.bucket([number]) for number in buckets]
        parts: list[pl.DataFrame] = run(engine, task, items)
        return pl.concat(parts, how="diagonal")


def _of_bucket(method: Method, bucket: Bucket) -> pl.DataFrame:
    """The long result of the groups of a bucket, on a worker."""
    return spread(method, bucket.states(), source=_enough)


def _enough(method: Method, states: States[pl.DataFrame]) -> Iterator[Pool]:
    """Pools of some of all groups, of which it is known that one has two clusters."""
    groups = states.tables[0].select(pl.col(GROUP).max() + 1).item()
    return pools(
        method, states, Boards(pl.int_range(groups, dtype=pl.Int64, eager=True), enough=True)
    )


def _checked(method: Method, clusters: Clusters) -> Clusters:
    """With what is drawn of nested metrics; ParameterError if no group can be resampled."""
    if clusters.left is not None:  # too many to list, of flat metrics
        counts = clusters.known.tables[0][COUNT]
        check_enough(counts, counts.clear())
        return clusters
    numbered = number_groups(clusters.known, clusters.groups)
    tables, on = cluster_columns(numbered.tables)
    numbered = numbered.with_tables(tables)
    for table in distinct_tables(numbered):
        check_known(table[on[-1]])
        groups = table.select(GROUP, *on).unique().group_by(GROUP, *on[:-1]).len()
        check_enough(groups["len"], table[on[-1]])
    drawn = with_levels(method, numbered, on).drawn
    return replace(clusters, known=replace(clusters.known, drawn=drawn))


class Way(NamedTuple):
    """How replicates are made.

    Attributes:
        by_shards: True if shards add up replicates, False if clusters are brought together.
        told: What is moved, for the user.
    """

    by_shards: bool
    told: str


def way_of(method: Method, clusters: Clusters) -> Way:
    """The way that moves fewer bytes, of those that a method allows."""
    size = _bytes(clusters.bytes)
    if not isinstance(method, Bootstrap) or method.draws != "poisson":
        what = f"draws={method.draws!r}" if isinstance(method, Bootstrap) else type(method).__name__
        return Way(False, f"{what}: clusters of a group are brought together, {size}")
    columns = Columns.of(method).total
    cells = sum(clusters.cells)
    numbers = sum(n * sums for n, sums in zip(clusters.cells, clusters.sums, strict=True))
    each = _bytes(8 * numbers * columns)
    estimate = f"{cells:,} cells x {columns:,} draws = {each} a shard (clusters: {size})"
    if reason := _hindrance(method, clusters):
        return Way(False, f"replicates: {estimate}; {reason}, so clusters are brought together")
    if 8 * numbers * columns > clusters.bytes:
        return Way(False, f"replicates: {estimate}; clusters are brought together")
    return Way(True, f"replicates: {estimate}; Poisson states")


def _hindrance(method: Bootstrap, clusters: Clusters) -> str | None:
    """Why shards cannot add up replicates."""
    if INTERVALS[method.interval].needs == "each":
        return f"interval={method.interval!r} leaves out each cluster"
    if any(clusters.known.drawn.values()):
        return "units are drawn whole"
    if any(lone_terms(use.axis) for block in clusters.known.blocks for use in block.uses):
        return "a metric has terms of single levels"
    return None


def _bytes(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size //= 1000
    return f"{size:,} GB"
