"""The general path: any expression, bootstrapped by joining its rows with the draws.

Much slower than states, since every replicate reads the rows again, but it needs nothing of the
expression: a median, a difference of two metrics, anything that Polars can aggregate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ParameterError
from evalframe.core.progress import bar, within
from evalframe.core.states import CLUSTER
from evalframe.resample import draws, intervals
from evalframe.resample.contraction import GROUP
from evalframe.resample.methods import Bootstrap, Method, check_enough, check_known

if TYPE_CHECKING:
    from evalframe.core.progress import Progress
    from evalframe.core.segments import Floats
    from evalframe.core.tables import Keys


_ROWS = 1 << 22
"""Resampled rows held at a time."""


def spread_of_rows(
    method: Method,
    frame: pl.LazyFrame,
    keys: Keys,
    cluster: pl.Expr,
    exprs: Sequence[pl.Expr],
) -> pl.DataFrame:
    """The long result with uncertainty of expressions that declare no state."""
    rows = frame.with_columns(*keys.select(), cluster.alias(CLUSTER)).collect()
    check_known(rows[CLUSTER])
    points = tables.stateless(rows.lazy(), keys, exprs)
    groups = rows.select(keys.inner).unique().sort(keys.inner) if keys.inner else None
    if groups is None:
        rows = rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias(GROUP))
    else:
        rows = tables.matched(rows, groups.with_row_index(GROUP), keys.inner, "inner")
        points = tables.matched(groups.with_row_index(GROUP), points, keys.inner, "inner")
        points = points.sort(GROUP).drop(GROUP)
    count = 1 if groups is None else len(groups)
    owned = rows.group_by(GROUP).agg(pl.col(CLUSTER).n_unique().cast(pl.Int64)).sort(GROUP)
    if not len(owned):
        return points.with_columns(
            pl.lit(0, dtype=pl.Int64).alias("n_clusters"), pl.lit(0.0).alias("drop_rate")
        )
    check_enough(owned[CLUSTER], rows[CLUSTER])
    if method.within is not None:
        raise ParameterError(
            f"draws within {str(method.within)!r} need metrics that declare a state; "
            f"{exprs[0].meta.output_name()!r} does not. Declare it with @ef.metric"
        )
    if not isinstance(method, Bootstrap) or intervals.INTERVALS[method.interval].needs == "each":
        raise ParameterError(
            f"the jackknife and its intervals need metrics that declare a state; "
            f"{exprs[0].meta.output_name()!r} does not. Use ef.Bootstrap with another interval"
        )
    clusters = owned[CLUSTER].to_numpy()
    left_out = None
    further = draws.GROUPS if intervals.INTERVALS[method.interval].needs == "groups" else 0
    with bar("bootstrap") as report:
        progress = method.progress or report
        values = replicates(method, rows, exprs, count, within(progress, 0, further))
        if further:
            progress = within(progress, method.n, 0)
            left_out = replicates(method, rows, exprs, count, progress, jackknife=True)
    parts = []
    for number, expr in enumerate(exprs):
        result = points.filter(pl.col("metric") == expr.meta.output_name())
        flat = result["estimate"].fill_null(float("nan")).to_numpy()
        without = None if left_out is None else left_out[number]
        sample = intervals.Sample(flat, values[number], without, clusters)
        spreads = intervals.without_lone(intervals.bootstrap_spread(method, sample), clusters)
        spread = [pl.Series(name, v).fill_nan(None) for name, v in spreads._asdict().items()]
        parts.append(result.with_columns(*spread, owned[CLUSTER].alias("n_clusters")))
    return pl.concat(parts)


def replicates(
    method: Bootstrap,
    rows: pl.DataFrame,
    exprs: Sequence[pl.Expr],
    groups: int,
    progress: Progress,
    *,
    jackknife: bool = False,
) -> Floats:
    """Values of expressions, NaN if null: expressions by replicates by groups."""
    # With `jackknife`, groups of clusters are left out in place of draws.
    names = [f":value{i}" for i in range(len(exprs))]
    aggregates = [
        expr.cast(pl.Float64).alias(name) for expr, name in zip(exprs, names, strict=True)
    ]
    each = draws.GROUPS if jackknife else method.n
    values = np.full((len(exprs), each, groups), np.nan)
    # Poisson weights belong to clusters, so that groups with other clusters share a table of them.
    mixed = method.draws == "poisson"
    clusters = rows.select(GROUP, CLUSTER).unique().sort(GROUP, CLUSTER)
    sizes = clusters.group_by(GROUP).agg(CLUSTER, pl.len().alias("size")).sort("size", GROUP)
    if mixed:
        sizes = sizes.with_columns(pl.lit(0).alias("size"))
    done, total = 0, each * len(sizes)
    for (_,), pool in sizes.group_by("size", maintain_order=True):
        pool_rows = rows.join(pool.select(GROUP), on=GROUP)
        numbered = pool.select(GROUP, CLUSTER).explode(CLUSTER)
        if mixed:
            ids = numbered[CLUSTER].unique().sort()
            numbered = numbered.with_columns(
                (pl.col(CLUSTER).rank("dense") - 1).cast(pl.Int64).alias(":place")
            )
        else:
            ids = pool[CLUSTER][0]
            numbered = numbered.with_columns(pl.int_range(pl.len()).over(GROUP).alias(":place"))
        first = 0
        chunk = max(1, _ROWS // max(len(pool_rows), 1))
        drawing = draws.bootstrap_weights(method, ids)
        if jackknife:
            drawing = draws.groups_left_out(len(ids), drawing.hashes)
        for weights in drawing.chunks(chunk):
            drawn = _repeated(np.asarray(weights), first)
            sample = drawn.join(numbered, on=":place").join(pool_rows, on=[GROUP, CLUSTER])
            result = sample.group_by(":replicate", GROUP).agg(aggregates)
            index = (result[":replicate"].to_numpy(), result[GROUP].to_numpy())
            for number, name in enumerate(names):
                values[(number, *index)] = result[name].fill_null(float("nan")).to_numpy()
            if jackknife and mixed:
                # A group that has none of the clusters left out is no value without them.
                place, group = (numbered[name].to_numpy() for name in (":place", GROUP))
                touched = np.zeros((len(weights), groups))
                np.add.at(touched.T, group, 1.0 - np.asarray(weights)[:, place].T)
                values[:, first : first + len(weights)][:, touched == 0.0] = np.nan
            first += len(weights)
            done += len(weights) * len(pool)
            progress(each * done // total, each)
    return values


def _repeated(weights: Floats, first: int) -> pl.DataFrame:
    """One row per drawn copy of a cluster: its replicate and the cluster's number."""
    replicate, cluster = np.nonzero(weights)
    copies = weights[replicate, cluster].astype(np.int64)
    return pl.DataFrame(
        {":replicate": np.repeat(replicate + first, copies), ":place": np.repeat(cluster, copies)}
    )
