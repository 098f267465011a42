"""Estimates with their uncertainty, from cluster states."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import Bound
from evalframe.core.nested import estimates
from evalframe.core.tables import NESTED
from evalframe.resample import draws, intervals, standard_errors
from evalframe.resample.contraction import GROUP, Contraction, Weighable
from evalframe.resample.draws import Chunk, Pool, Weights, pools
from evalframe.resample.influence import influences, is_carried
from evalframe.resample.levels import drawn_of
from evalframe.resample.methods import Bootstrap, Jackknife, Method, Progress, reporter
from evalframe.resample.nested import Contractions, contract
from evalframe.resample.strata import free_clusters

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.states import States


CELLS = 1 << 19
"""Numbers per array in a chunk of replicates: large enough that calls do not count."""

WEIGHTS = 1 << 22
"""Weights per chunk of replicates."""

THREADS = min(os.cpu_count() or 1, 4)
"""Chunks at work at a time: kernels run outside the interpreter's lock."""

HOPELESS = 1 << 35
"""Levels of all replicates that nobody would wait for."""

_STEPS = (2.0**-10, 2.0**-20)
"""Changes of a cluster's weight; the first gives the more exact derivative."""

_ROUGH = 1e-9
"""Fourth differences above this, relative to the values, show a kink or a jump."""


def spread(method: Method, states: States[pl.DataFrame]) -> pl.DataFrame:
    """The long result with uncertainty, from states by cluster."""
    if not any(len(table) for table in states.tables):
        return _without_rows(states)
    groups = states.groups()
    parts = []
    for pool in pools(method, number_groups(states, groups)):
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
        tables = [t.join(numbered, on=keys, nulls_equal=True).drop(keys) for t in states.tables]
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


def replicates(contraction: Weighable, weights: Weights, progress: Progress) -> Floats:
    """Values of all metrics for all weights: metrics by replicates by groups."""
    # Kernels release the interpreter's lock, so chunks run in threads; results keep their order.
    if weights.held == 1 and weights.total * contraction.width > HOPELESS:
        raise ParameterError(
            f"leaving out each of {weights.total:,} clusters at {contraction.width:,} levels is "
            "hours of work; name a coarser cluster, or use ef.Bootstrap with another interval"
        )
    chunk = max(1, min(CELLS // max(1, contraction.width), WEIGHTS // weights.held, weights.total))
    parts: list[Floats] = []
    done = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for values in _in_order(pool, contraction, weights.chunks(chunk)):
            parts.append(values)
            done += values.shape[1]
            progress(done, weights.total)
    return np.concatenate(parts, axis=1)


def moved(contraction: Contraction | Contractions, by: float, progress: Progress) -> Floats:
    """Values with each cluster's weight changed: metrics by clusters by groups."""

    def one_by_one(each: Weighable) -> Floats:
        return replicates(each, draws.nudged(each.clusters, by), progress)

    if isinstance(contraction, Contractions):
        return contraction.moved(by, one_by_one)
    return one_by_one(contraction)


def _in_order(
    pool: ThreadPoolExecutor, contraction: Weighable, chunks: Iterable[Chunk]
) -> Iterator[Floats]:
    """The values of chunks, a few at a time in work and in memory."""
    pending: deque[Future[Floats]] = deque()
    for part in chunks:
        pending.append(pool.submit(contraction.values, part))
        if len(pending) > THREADS:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


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
        counts: Numbers of rows and units used and left out, metrics by groups.
    """

    points: Floats
    spread: intervals.Spread
    drawn: Floats | None
    left_out: Floats | None
    counts: Mapping[str, Ints | Floats]


def estimated(method: Method, pool: Pool, points: Floats | None = None) -> Estimated:
    """The estimates of a pool; `points` (metrics by groups) if they are known already."""
    metrics, groups = pool.states.metrics, len(pool.groups)
    contraction = contract(pool.states, groups, pool.clusters)
    points = contraction.points() if points is None else points
    flat = points.ravel()
    counts: dict[str, Ints | Floats] = {**contraction.counts()}
    progress = method.progress or reporter(type(method).__name__.lower())
    varying = np.tile(pool.varying, len(metrics))

    def all_of(weights: Weights) -> Floats:
        return replicates(contraction, weights, progress)

    drawn = left_out = None
    if isinstance(method, Bootstrap):
        without = None
        if intervals.INTERVALS[method.interval].needs != "none":
            weights = draws.left_out(method, pool.clusters)
            left_out = only_touched(all_of(weights), pool, weights)
            without = flattened(left_out)
        if isinstance(contraction, Contractions):
            contraction.count_absent(counting=True)
        drawn = all_of(pool.drawn)
        if isinstance(contraction, Contractions):
            counts |= {"unit_drop_rate": contraction.unit_drop_rate()}
        sizes = (np.tile(each, len(metrics)) for each in free_clusters(pool))
        sample = intervals.Sample(flat, flattened(drawn), without, *sizes)
        result = intervals.bootstrap_spread(method, sample)
    elif isinstance(method, Jackknife):
        left_out = moved(contraction, -1.0, progress)
        weights = draws.nudged(pool.clusters, -1.0)
        values = flattened(only_touched(left_out, pool, weights))
        result = standard_errors.jackknife_spread(flat, values, method.level, pool.strata)
        defined = (~np.isnan(values)).sum(axis=0)
        result = result._replace(
            drop_rate=1.0 - defined / np.maximum(np.tile(pool.counts, len(metrics)), 1)
        )
    else:
        influence = _influence(contraction, pool, points, progress)
        owned = None if pool.owned is None else np.tile(pool.owned, len(metrics))
        result = standard_errors.linear_spread(
            flat, flattened(influence), method.level, pool.strata, owned
        )
    result = intervals.without_lone(result, varying)
    ends = np.repeat([metric.range for metric in metrics], groups, axis=0).T
    result = intervals.within_range(method, result, flat, *ends)
    spread = intervals.Spread(*(values.reshape(points.shape) for values in result))
    return Estimated(points, spread, drawn, left_out, counts)


def _influence(
    contraction: Contraction | Contractions, pool: Pool, points: Floats, progress: Progress
) -> Floats:
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
        part = contraction
        if len(chosen) < len(metrics):
            part = contract(pool.states.of_metrics(chosen), groups, pool.clusters)
        if carried:
            assert isinstance(part, Contraction)
            influence[chosen] = influences(part)
        else:
            influence[chosen] = _slopes(part, points[chosen][:, None], pool.clusters, progress)
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
            moved(contraction, k * step, progress) for k in (-2, -1, 1, 2)
        )
        slope = (8.0 * (above - below) - (far_above - far_below)) / (12.0 * step)
        fourth = far_above + far_below - 4.0 * (above + below) + 6.0 * points
        size = np.maximum(np.abs(far_above), np.abs(far_below))
        is_smooth = np.abs(fourth) <= _ROUGH * np.maximum(size, np.abs(points))
        result = np.where(np.isnan(result) & is_smooth, slope, result)
        if not np.isnan(result).any():
            break
    return result


def only_touched(values: Floats, pool: Pool, left_out: Weights) -> Floats:
    """Values without some clusters, NaN for the groups that had none of these anyway."""
    touched = pool.touched(left_out)
    return values if touched is None else np.where(touched, values, np.nan)
