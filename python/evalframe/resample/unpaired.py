"""Unpaired differences: the sides of a pair have no cluster in common and are drawn apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import Argument, ParameterError
from evalframe.resample import intervals, standard_errors
from evalframe.resample.contraction import GROUP
from evalframe.resample.methods import Bootstrap, Method, check_enough, check_known
from evalframe.resample.paired import (
    DIFFERENCE,
    MISSING,
    Comparison,
    delta_of,
    one_family,
    range_of,
    rounding,
    undefined,
)
from evalframe.resample.pools import BATCH, Boards, Source, cluster_columns, pools
from evalframe.resample.sides import pairs_of, shared_clusters
from evalframe.resample.uncertainty import estimated, number_groups

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.states import States
    from evalframe.resample.intervals import Spread


UNPAIRED_RESULT = [*DIFFERENCE, "n_clusters_left", "n_clusters_right", "drop_rate"]


def unpaired_spread(
    method: Method,
    states: States[pl.DataFrame],
    comparison: Comparison,
    source: Source = pools,
) -> pl.DataFrame:
    """Differences of all metrics between all pairs of sides (the last key) within each group."""
    # The sides of a pair share no cluster, so each is drawn by a stream of its own: replicates of
    # the difference are differences of independent replicates, and nothing cancels.
    if isinstance(method, Bootstrap):
        method = method.of_differences
    keys, metrics = states.keys.inner, states.metrics
    *by, side = keys
    named, on = cluster_columns(states.tables)
    present = pl.concat([table.select(*keys, *on) for table in named]).unique()
    check_known(present[on[-1]])
    groups = present.select(keys).unique().sort(keys)
    pairs = pairs_of(groups, by, side, comparison)
    if method.cluster is not None:
        _check_apart(present, pairs, by, side, on)
    numbers = groups.with_row_index(GROUP).with_columns(pl.col(GROUP).cast(pl.Int64))
    for name in ("left", "right"):
        side_numbers = numbers.rename({side: name, GROUP: f":{name}"})
        pairs = pairs.join(side_numbers, on=[*by, name], how="left", nulls_equal=True)
    sizes = present.group_by(keys).len().sort(keys)["len"].to_numpy()
    complete = pairs.drop_nulls([":left", ":right"])
    if len(complete):
        least = np.minimum(sizes[complete[":left"]], sizes[complete[":right"]])
        check_enough(pl.Series(least), present[on[-1]])
    numbered = number_groups(states, groups)
    lacking = pairs.filter(pl.any_horizontal(pl.col(":left", ":right").is_null()))
    none = ["n_clusters_left", "n_clusters_right", *MISSING]
    parts = [undefined(lacking, metrics, none)]
    replicates = method.n if isinstance(method, Bootstrap) else 1
    for some in complete.iter_slices(max(1, BATCH // replicates // len(metrics))):
        left, right = (
            _side(_of_side(method, number), numbered, some[f":{name}"], source)
            for number, name in enumerate(("left", "right"))
        )
        for bound, columns in zip(metrics, _differences(method, left, right, metrics), strict=True):
            metric = pl.lit(bound.name).alias("metric")
            series = [pl.Series(name, values) for name, values in columns.items()]
            counts = [
                pl.Series(f"n_clusters_{name}", of_side.counts, dtype=pl.Int64)
                for name, of_side in (("left", left), ("right", right))
            ]
            parts.append(some.with_columns(metric, *series, *counts))
    result = pl.concat(parts, how="diagonal_relaxed")
    result = one_family(result, metrics, by, comparison.correction)
    return result.select(*by, *UNPAIRED_RESULT, *MISSING)


class _Side(NamedTuple):
    """One side of some pairs.

    Attributes:
        points: The estimates, metrics by pairs.
        errors: Their standard errors, likewise.
        counts: Number of clusters.
        missing: Rows that are left out, metrics by pairs.
        varying: Number of clusters that could have been others.
        free: Without those that are alone in their stratum, and the number of strata.
        drawn: Replicates of a bootstrap, metrics by replicates by pairs.
        left_out: Estimates without some clusters, if needed, likewise; NaN beyond those of a side.
    """

    points: Floats
    errors: Floats
    counts: Ints
    missing: Ints
    varying: Ints
    free: Ints
    drawn: Floats | None
    left_out: Floats | None


def _check_apart(
    present: pl.DataFrame, pairs: pl.DataFrame, by: list[str], side: str, names: list[str]
) -> None:
    """Raise ParameterError if a cluster is on both sides: they are not independent."""
    shared = shared_clusters(present, pairs, by, side, names)
    if len(shared):
        first = shared.row(0, named=True)
        raise ParameterError(
            Argument("paired", False),
            f" takes the sides as independent, but {len(shared):,} clusters are on both sides of "
            f"a pair, such as {first[names[-1]]!r} of {first['left']!r} and {first['right']!r}. "
            "Leave it out to compare the clusters that both have; or, if equal ids mean "
            "different clusters, make them differ, such as by cluster=pl.struct('group', 'id')",
        )


def _of_side(method: Method, number: int) -> Method:
    """The method with a stream of draws of its own: the left side's are those of the seed."""
    if not isinstance(method, Bootstrap) or number == 0:
        return method
    seed = np.random.SeedSequence([method.seed, number]).generate_state(1)
    return replace(method, seed=int(seed[0]))


def _side(method: Method, states: States[pl.DataFrame], groups: pl.Series, source: Source) -> _Side:
    """One side of pairs, by the number of its group in each."""
    numbers = groups.unique().sort()
    renumber = pl.DataFrame({GROUP: numbers.cast(pl.UInt32)}).with_row_index(":own")
    own_states = states.with_tables(
        [t.join(renumber, on=GROUP).drop(GROUP).rename({":own": GROUP}) for t in states.tables]
    )
    boards = Boards(pl.int_range(len(numbers), dtype=pl.Int64, eager=True), enough=True)
    shape = len(states.metrics), len(numbers)
    points, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    counts, varying = np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.int64)
    missing = np.zeros(shape, dtype=np.int64)
    free = np.zeros((2, len(numbers)), dtype=np.int64)
    drawn: list[tuple[Ints, Floats | None]] = []
    left_out: list[tuple[Ints, Floats | None]] = []
    for pool in source(method, own_states, boards):
        here = pool.groups.to_numpy()
        result = estimated(method, pool)
        points[:, here], errors[:, here] = result.points, result.spread.std_error
        counts[here], varying[here] = pool.counts, pool.varying
        missing[:, here] = result.counts["n_missing"]
        free[:, here] = pool.free
        drawn.append((here, result.drawn))
        left_out.append((here, result.left_out))
    which = np.searchsorted(numbers.to_numpy(), groups.to_numpy())
    return _Side(
        points[:, which],
        errors[:, which],
        counts[which],
        missing[:, which],
        varying[which],
        free[:, which],
        _side_by_side(drawn, which),
        _side_by_side(left_out, which),
    )


def _side_by_side(parts: Sequence[tuple[Ints, Floats | None]], which: Ints) -> Floats | None:
    """Values of groups of several pools, NaN where one has fewer, of chosen groups."""
    filled = [(here, values) for here, values in parts if values is not None]
    if not filled:
        return None
    most = max(values.shape[1] for _, values in filled)
    groups = sum(len(here) for here, _ in filled)
    result = np.full((len(filled[0][1]), most, groups), np.nan)
    for here, values in filled:
        result[:, : values.shape[1], here] = values
    return result[:, :, which]


def _differences(
    method: Method, left: _Side, right: _Side, bounds: Sequence[AnyBound]
) -> Iterator[dict[str, Floats]]:
    """Columns of the result for each metric, one number for each pair."""
    varying = np.minimum(left.varying, right.varying)
    for number, bound in enumerate(bounds):
        least = rounding(bound)
        point = delta_of(left.points[number], right.points[number], least)
        if isinstance(method, Bootstrap):
            spread, p_value = _drawn(method, left, right, number, point, least)
        else:
            spread, p_value = _welch(method, left, right, number, point)
        spread = intervals.without_lone(spread, varying)
        spread = intervals.within_range(method, spread, point, *range_of(bound))
        yield {
            "estimate_left": left.points[number],
            "estimate_right": right.points[number],
            "delta": point,
            # Where nothing varies, nothing is tested.
            "p_value": np.where(varying < 2, np.nan, p_value),
            **spread._asdict(),
            "n_missing_left": left.missing[number],
            "n_missing_right": right.missing[number],
        }


def _drawn(
    method: Bootstrap, left: _Side, right: _Side, number: int, point: Floats, least: float
) -> tuple[Spread, Floats]:
    """Spread and p-values from replicates of the right side minus those of the left one."""
    # For BCa each cluster of either side is left out in turn.
    assert left.drawn is not None
    assert right.drawn is not None
    deltas = delta_of(left.drawn[number], right.drawn[number], least)
    without = None
    if left.left_out is not None and right.left_out is not None:
        without_left = delta_of(left.left_out[number], right.points[number], least)
        without_right = delta_of(left.points[number], right.left_out[number], least)
        without = np.concatenate([without_left, without_right])
    is_smaller = left.free[0] - left.free[1] <= right.free[0] - right.free[1]
    sample = intervals.Sample(point, deltas, without, *np.where(is_smaller, left.free, right.free))
    p_value = intervals.p_values(method.interval, sample)
    return intervals.bootstrap_spread(method, sample), p_value


def _welch(
    method: Method, left: _Side, right: _Side, number: int, point: Floats
) -> tuple[Spread, Floats]:
    """From standard errors of both sides, by Student's t with Welch's degrees of freedom."""
    from scipy.special import stdtr

    squares = [side.errors[number] ** 2 for side in (left, right)]
    spare = [np.maximum(side.free[0] - side.free[1], 1) for side in (left, right)]
    error = np.sqrt(squares[0] + squares[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [square**2 / freedom for square, freedom in zip(squares, spare, strict=True)]
        freedom = np.where(error == 0.0, 1.0, error**4 / (parts[0] + parts[1]))
        p_value = 2.0 * stdtr(freedom, -np.abs(point / error))
    ends = standard_errors.student_interval(point, error, freedom, method.level)
    return intervals.Spread(error, *ends, np.zeros(len(point))), p_value
