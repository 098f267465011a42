"""Estimates with their uncertainty, from cluster states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.metric import Bound
from evalframe.core.nested import estimates
from evalframe.core.progress import Progress, within
from evalframe.core.tables import NESTED, matched
from evalframe.resample import draws, intervals, standard_errors
from evalframe.resample.contraction import GROUP, Contraction
from evalframe.resample.influence import influences, is_carried
from evalframe.resample.levels import drawn_of
from evalframe.resample.methods import Bootstrap, Jackknife, Method
from evalframe.resample.nested import Contractions, contract
from evalframe.resample.pools import Pool, Source, pools
from evalframe.resample.replicates import moved

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.core.states import States


_STEPS = (2.0**-10, 2.0**-20)
"""Changes of a cluster's weight; the first gives the more exact derivative."""

_ROUGH = 1e-9
"""Fourth differences above this, relative to the values, show a kink or a jump."""


def spread(method: Method, states: States[pl.DataFrame], source: Source = pools) -> pl.DataFrame:
    """The long result with uncertainty, from states by cluster."""
    if not any(len(table) for table in states.tables):
        return _without_rows(states)
    groups = states.groups()
    parts = []
    for pool in source(method, number_groups(states, groups)):
        result = estimated(method, pool)
        drawn = drawn_of(pool.states)
        values = {"estimate": result.points, **result.spread._asdict(), **result.counts}
        keys = groups[pool.groups]
        for number, metric in enumerate(states.metrics):
            columns = [
                pl.Series(name, rows[number])
                for name, rows in values.items()
                if drawn[number] is not None or name not in NESTED
            ]
            named = keys.with_columns(pl.lit(metric.name).alias("metric"))
            if drawn[number] is not None:
                named = named.with_columns(pl.lit(drawn[number]).alias("drawn"))
            counts = pl.Series("n_clusters", pool.counts, dtype=pl.Int64)
            parts.append(named.with_columns(counts, *columns))
    return pl.concat(parts, how="diagonal")


def number_groups(states: States[pl.DataFrame], groups: pl.DataFrame) -> States[pl.DataFrame]:
    """The states with the number of the group in place of the keys."""
    keys = states.keys.inner
    if keys:
        numbered = groups.with_row_index(GROUP)
        tables = [matched(t, numbered, keys, "inner").drop(keys) for t in states.tables]
    else:
        number = pl.lit(0, dtype=pl.UInt32).alias(GROUP)
        tables = [table.with_columns(number) for table in states.tables]
    return states.with_tables(tables)


def _without_rows(states: States[pl.DataFrame]) -> pl.DataFrame:
    """Result for an empty table: no rows if grouped, otherwise one row without clusters."""
    return estimates(replace(states, cluster=None)).with_columns(
        *(pl.lit(None, dtype=pl.Float64).alias(n) for n in ("std_error", "lower", "upper")),
        pl.lit(0, dtype=pl.Int64).alias("n_clusters"),
        pl.lit(0.0).alias("drop_rate"),
    )


def flattened(values: Floats) -> Floats:
    """Replicates by (metrics times groups)."""
    return values.transpose(1, 0, 2).reshape(values.shape[1], -1)


class Estimated(NamedTuple):
    """Estimates of the groups of a pool with their uncertainty.

    Attributes:
        points: The estimates, metrics by groups.
        spread: Their uncertainty, likewise.
        drawn: Replicates of a bootstrap, metrics by replicates by groups.
        left_out: Estimates without some clusters, if the interval needs them, likewise.
        touched: True where a group has some of these clusters; None if each group has.
        counts: Numbers of rows and units used and left out, metrics by groups.
    """

    points: Floats
    spread: intervals.Spread
    drawn: Floats | None
    left_out: Floats | None
    touched: Bools | None
    counts: Mapping[str, Ints | Floats]


def estimated(method: Method, pool: Pool, points: Floats | None = None) -> Estimated:
    """The estimates of a pool; `points` (metrics by groups) if they are known already."""
    metrics, groups = pool.states.metrics, len(pool.groups)
    points = pool.points() if points is None else points
    flat = points.ravel()
    counts: dict[str, Ints | Floats] = {**pool.rows_and_units()}
    varying = np.tile(pool.varying, len(metrics))
    drawn = left_out = touched = None
    if isinstance(method, Bootstrap):
        without, first = None, 0
        if intervals.INTERVALS[method.interval].needs != "none":
            left_out, touched = pool.left_out(method, within(pool.progress, 0, method.n))
            first = left_out.shape[1]
            left_out = where_touched(left_out, touched)
            without = flattened(left_out)
        drawn = pool.replicates(within(pool.progress, first, 0))
        counts |= pool.unit_drop_rate()
        sizes = (np.tile(each, len(metrics)) for each in pool.free)
        sample = intervals.Sample(flat, flattened(drawn), without, *sizes)
        result = intervals.bootstrap_spread(method, sample)
    elif isinstance(method, Jackknife):
        left_out = moved(pool.contraction, -1.0, pool.progress)
        everywhere = pool.touched(draws.nudged(pool.clusters, -1.0))
        values = flattened(where_touched(left_out, everywhere))
        result = standard_errors.jackknife_spread(flat, values, method.level, pool.strata)
        defined = (~np.isnan(values)).sum(axis=0)
        result = result._replace(
            drop_rate=1.0 - defined / np.maximum(np.tile(pool.counts, len(metrics)), 1)
        )
    else:
        influence = _influence(pool, points)
        owned = None if pool.owned is None else np.tile(pool.owned, len(metrics))
        result = standard_errors.linear_spread(
            flat, flattened(influence), method.level, pool.strata, owned
        )
    result = intervals.without_lone(result, varying)
    ends = np.repeat([metric.range for metric in metrics], groups, axis=0).T
    result = intervals.within_range(method, result, flat, *ends)
    spread = intervals.Spread(*(values.reshape(points.shape) for values in result))
    return Estimated(points, spread, drawn, left_out, touched, counts)


def _influence(pool: Pool, points: Floats) -> Floats:
    """Derivatives of all metrics by the weights of clusters: metrics by clusters by groups."""
    # If levels form new ones, as those of a hull do, there is no derivative by the chain rule:
    # these metrics are computed anew for each cluster, with its weight nudged up and down.
    metrics, groups = pool.states.metrics, len(pool.groups)
    has_derivative = [
        isinstance(metric, Bound) and all(map(is_carried, metric.state.axes)) for metric in metrics
    ]
    influence = np.full((len(metrics), pool.clusters, groups), np.nan)
    for carried in (True, False):
        chosen = [number for number, each in enumerate(has_derivative) if each == carried]
        if not chosen:
            continue
        part = pool.contraction
        if len(chosen) < len(metrics):
            part = contract(pool.states.of_metrics(chosen), groups, pool.clusters)
        if carried:
            assert isinstance(part, Contraction)
            influence[chosen] = influences(part)
        else:
            influence[chosen] = _slopes(part, points[chosen][:, None], pool.clusters, pool.progress)
    return influence


def _slopes(
    contraction: Contraction | Contractions, points: Floats, clusters: int, progress: Progress
) -> Floats:
    """Derivatives by each cluster's weight, from metrics with the weight moved up and down."""
    # Differences of fourth order. At a kink or a jump the fourth difference is large: NaN, unless
    # it is gone at a smaller step.
    result = np.full((len(points), clusters, points.shape[-1]), np.nan)
    for step in _STEPS:
        far_below, below, above, far_above = (
            moved(contraction, k * step, within(progress, i * clusters, (3 - i) * clusters))
            for i, k in enumerate((-2, -1, 1, 2))
        )
        slope = (8.0 * (above - below) - (far_above - far_below)) / (12.0 * step)
        fourth = far_above + far_below - 4.0 * (above + below) + 6.0 * points
        size = np.maximum(np.abs(far_above), np.abs(far_below))
        is_smooth = np.abs(fourth) <= _ROUGH * np.maximum(size, np.abs(points))
        result = np.where(np.isnan(result) & is_smooth, slope, result)
        if not np.isnan(result).any():
            break
    return result


def where_touched(values: Floats, touched: Bools | None) -> Floats:
    """Values without some clusters, NaN for the groups that had none of these anyway."""
    return values if touched is None else np.where(touched, values, np.nan)
