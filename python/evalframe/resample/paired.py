"""Paired differences: both sides of a pair are resampled by the same draws of shared clusters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.states import CLUSTER, States
from evalframe.resample import draws, intervals
from evalframe.resample.contraction import GROUP
from evalframe.resample.draws import BATCH, BOARD, Boards, Pool, cluster_columns, pools
from evalframe.resample.levels import drawn_of
from evalframe.resample.methods import Bootstrap, reporter
from evalframe.resample.nested import contract
from evalframe.resample.strata import free_clusters
from evalframe.resample.uncertainty import replicates
from evalframe.resample.units import apart, shared_units

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.segments import Floats, Ints


DIFFERENCE = [
    "metric",
    "left",
    "right",
    "estimate_left",
    "estimate_right",
    "delta",
    "std_error",
    "lower",
    "upper",
    "p_value",
    "p_adjusted",
]
"""Columns of every comparison, paired or not."""

PAIRED_RESULT = [*DIFFERENCE, "n_clusters", "drop_rate"]

PAIRED_UNITS = ("n_units", "drawn")
"""Further columns if a metric over units is among the metrics: units that both sides use."""


class Matching(NamedTuple):
    """Matching of the sides of a pair by another column than their clusters.

    All pairs then see the draws of all clusters, also of those that a pair does not share.

    Attributes:
        shared: The column to match by: a cluster, or its stratum.
        counted: Rows of the first table that say that a side has it.
    """

    shared: str
    counted: pl.Expr


class Comparison(NamedTuple):
    """Sides to compare, and the test.

    Attributes:
        sides: The two sides if they are known beforehand; else those in the tables, in all pairs.
        baseline: The side that all others are compared with.
        test: `bootstrap` or `permutation`.
        correction: `holm`, `bonferroni` or `none`.
        matching: How sides are matched. By default by their clusters, with separate draws for
            each pair.
    """

    sides: tuple[str, str] | None = None
    baseline: Any = None
    test: str = "bootstrap"
    correction: str = "holm"
    matching: Matching | None = None


def paired_spread(
    method: Bootstrap, states: States[pl.DataFrame], comparison: Comparison
) -> pl.DataFrame:
    """Differences of all metrics between all pairs of sides (the last key) within each group."""
    # Both sides of a pair are groups 2i and 2i + 1 of one board, and the groups of a board see the
    # same draws: what the sides have in common cancels in every replicate. A side is reduced to the
    # clusters that it shares with the other one, so that it can differ between pairs; sides with
    # the same content are contracted once, see `_contents`.
    method = method.of_differences
    matching, metrics = comparison.matching, states.metrics
    keys = states.keys.inner
    *by, side = keys
    tables, on = cluster_columns(states.tables)
    present = pl.concat([table.select(*keys, *on) for table in tables]).unique()
    pairs = pairs_of(present.select(keys).unique().sort(keys), by, side, comparison)
    names = on
    if matching is not None:
        names = [matching.shared]
        present = tables[0].filter(matching.counted).select(*keys, *names).unique()
    shared = shared_clusters(present, pairs, by, side, names)
    if not len(shared) and matching is None:
        raise ParameterError(
            "the two sides share no cluster; check the column to pair on. Sides of different "
            "people or items are compared by paired=False"
        )
    numbered = states.with_tables([_number(table, shared, by, side, names) for table in tables])
    boards = _boards(tables, on, len(pairs), together=matching is not None)
    contents = _contents(present, pairs, shared, by, side)
    reduced = []
    for table, block in zip(numbered.tables, states.blocks, strict=True):
        both, lacking = shared_units(table, block.units, states.forest.outer)
        reduced.append(both)
        contents[lacking] = -1 - lacking
    numbered = numbered.with_tables(reduced)
    numbers = pairs.with_row_index(":pair")
    apart = numbers.join(shared, on=":pair", how="anti").drop(":pair")
    parts = [undefined(apart, metrics, ["n_clusters"])]
    counted = None if matching is None else matching.counted
    sizes = shared.group_by(":pair").len("n_clusters").cast({"n_clusters": pl.Int64})
    counts = pairs.with_row_index(":pair").join(sizes, on=":pair", how="left").sort(":pair")
    for pool in pools(method, numbered, boards, counted) if len(shared) else []:
        content = contents[pool.groups.to_numpy()]
        chosen = pool.groups.gather_every(2) // 2
        for number, differences in enumerate(_of_pool(method, pool, content, comparison.test)):
            columns = [pl.Series(name, values) for name, values in differences.items()]
            named = pl.lit(metrics[number].name).alias("metric")
            parts.append(counts[chosen].drop(":pair").with_columns(named, *columns))
    result = pl.concat(parts, how="diagonal_relaxed")
    units = PAIRED_UNITS if "drawn" in result.columns else ()
    result = one_family(result, metrics, by, comparison.correction)
    return result.select(*by, *PAIRED_RESULT, *units)


def one_family(
    result: pl.DataFrame, bounds: Sequence[AnyBound], by: list[str], correction: str
) -> pl.DataFrame:
    """All differences in order, with p-values that are corrected for each other."""
    order = {bound.name: number for number, bound in enumerate(bounds)}
    rank = pl.col("metric").replace_strict(order, return_dtype=pl.Int64)
    floats = ["estimate_left", "estimate_right", "delta", "std_error", "lower", "upper", "p_value"]
    result = result.with_columns(pl.col(floats).fill_nan(None))
    family = intervals.adjusted_p_values(result["p_value"].to_numpy(), correction)
    result = result.with_columns(pl.Series("p_adjusted", family).fill_nan(None))
    return result.sort(*by, rank, "left", "right")


def _boards(tables: Sequence[pl.DataFrame], on: list[str], pairs: int, *, together: bool) -> Boards:
    """Each pair a board of two groups, or all one."""
    pair = pl.int_range(2 * pairs, dtype=pl.Int64, eager=True) // 2
    if not together:
        return Boards(pair)
    drawn = pl.concat([table.select(pl.lit(0, pl.Int64).alias(BOARD), *on) for table in tables])
    return Boards(pair * 0, drawn)


def pairs_of(
    groups: pl.DataFrame, by: list[str], side: str, comparison: Comparison
) -> pl.DataFrame:
    """The pairs of sides to compare: the keys, `left` and `right`."""
    if comparison.sides is not None:
        named = [
            pl.lit(name).alias(column)
            for name, column in zip(comparison.sides, ("left", "right"), strict=True)
        ]
        return groups.select(by).unique().sort(by).with_columns(named) if by else pl.select(named)
    left = groups.rename({side: "left"}).with_row_index(":left")
    right = groups.rename({side: "right"}).with_row_index(":right")
    crossed = left.join(right, on=by, nulls_equal=True) if by else left.join(right, how="cross")
    if comparison.baseline is None:
        selected = pl.col(":left") < pl.col(":right")
    else:
        selected = _is(comparison.baseline, groups[side]) & (pl.col(":left") != pl.col(":right"))
    pairs = crossed.filter(selected).sort(":left", ":right").drop(":left", ":right")
    if not len(pairs):
        values = groups[side].unique().sort().to_list()
        where = " in each group, of whose keys they may not be one" if by else ""
        raise ParameterError(f"a comparison needs two systems{where}, found {values}")
    if by and len(alone := groups.join(pairs, on=by, how="anti", nulls_equal=True)):
        example = ", ".join(map(str, alone.select(by).row(0)))
        reasons = "hold a single system", "lack the baseline or all else"
        reason = reasons[comparison.baseline is not None]
        warnings.warn(
            f"groups that {reason} are not compared: {len(alone):,}, such as {example}",
            stacklevel=5,
        )
    return pairs


def _is(baseline: Any, systems: pl.Series) -> pl.Expr:
    """True if the left side is the baseline; ParameterError if no side is."""
    try:
        named = pl.Series([baseline], dtype=systems.dtype)
    except (TypeError, pl.exceptions.PolarsError):
        named = None
    if named is None or not systems.is_in(named.implode()).any():
        values = systems.unique().sort().to_list()
        raise ParameterError(f"baseline {baseline!r} is none of the systems {values}; name one")
    return pl.col("left") == pl.lit(named).first()


def shared_clusters(
    present: pl.DataFrame, pairs: pl.DataFrame, by: list[str], side: str, names: list[str]
) -> pl.DataFrame:
    """Clusters of each pair that stand on both of its sides."""
    numbered = pairs.with_row_index(":pair")
    left = numbered.join(present.rename({side: "left"}), on=[*by, "left"], nulls_equal=True)
    return left.join(
        present.rename({side: "right"}), on=[*by, "right", *names], how="semi", nulls_equal=True
    )


def _number(
    table: pl.DataFrame, shared: pl.DataFrame, by: list[str], side: str, names: list[str]
) -> pl.DataFrame:
    """The states of shared clusters, each pair's left and right as groups 2i and 2i + 1."""
    parts = []
    for offset, name in enumerate(("left", "right")):
        clusters = shared.select(*by, pl.col(name).alias(side), *names, ":pair")
        rows = table.join(clusters, on=[*by, side, *names], nulls_equal=True)
        parts.append(rows.with_columns((pl.col(":pair") * 2 + offset).alias(GROUP)))
    return pl.concat(parts).drop(*by, side, ":pair")


def _contents(
    present: pl.DataFrame, pairs: pl.DataFrame, shared: pl.DataFrame, by: list[str], side: str
) -> Ints:
    """A number for the content of each pair's left and right; equal content, equal number."""
    # A side that shares all its clusters is the same in every pair, and is computed once.
    contents_by_side = present.group_by(*by, side).len(":all").with_row_index(":content")
    sizes = shared.group_by(":pair").len(":shared")
    numbered = pairs.with_row_index(":pair").join(sizes, on=":pair", how="left")
    contents = np.empty(2 * len(pairs), dtype=np.int64)
    for offset, name in enumerate(("left", "right")):
        sides = numbered.join(
            contents_by_side.rename({side: name}), on=[*by, name], how="left", nulls_equal=True
        ).sort(":pair")
        separate = -1 - offset - 2 * pl.col(":pair").cast(pl.Int64)
        same = pl.when(pl.col(":shared") == pl.col(":all")).then(":content").otherwise(separate)
        contents[offset::2] = sides.select(same.cast(pl.Int64)).to_series().to_numpy()
    return contents


def _distinct(pool: Pool, content: Ints) -> tuple[States[pl.DataFrame], Ints]:
    """The states of a pool's distinct groups, and the distinct group of each group."""
    _, first, which = np.unique(content, return_index=True, return_inverse=True)
    renumber = pl.DataFrame({GROUP: first, ":new": np.arange(len(first))})
    renumber = renumber.with_columns(pl.col(GROUP).cast(pl.UInt32))
    tables = [
        table.join(renumber, on=GROUP).drop(GROUP).rename({":new": GROUP})
        for table in pool.states.tables
    ]
    return pool.states.with_tables(tables), which


def undefined(
    pairs: pl.DataFrame, metrics: Sequence[AnyBound], counts: Sequence[str]
) -> pl.DataFrame:
    """Rows for pairs that cannot be compared: nulls, no clusters and a drop rate of 1."""
    names = pl.DataFrame({"metric": [metric.name for metric in metrics]})
    values = ("estimate_left", "estimate_right", "delta", "std_error", "lower", "upper", "p_value")
    return pairs.join(names, how="cross").with_columns(
        *(pl.lit(None, dtype=pl.Float64).alias(name) for name in values),
        *(pl.lit(0, dtype=pl.Int64).alias(name) for name in counts),
        pl.lit(1.0).alias("drop_rate"),
    )


def _of_pool(method: Bootstrap, pool: Pool, content: Ints, test: str) -> Iterator[dict[str, Any]]:
    """Columns of the result for each metric, one number for each pair."""
    states, which = _distinct(pool, content)
    contraction = contract(states, int(which.max()) + 1, pool.clusters)
    points = contraction.values(np.ones((1, pool.clusters)))[:, 0]
    progress = method.progress or reporter("bootstrap of differences")
    drawn = replicates(contraction, pool.drawn, progress)
    left_out, touched = None, None
    if intervals.INTERVALS[method.interval].needs != "none":
        weights = draws.left_out(method, pool.clusters)
        left_out, touched = replicates(contraction, weights, progress), pool.touched(weights)
    swapped = _permuted(method, pool) if test == "permutation" else None
    varying, *sizes = (np.minimum(n[0::2], n[1::2]) for n in (pool.varying, *free_clusters(pool)))
    left, right = which[0::2], which[1::2]
    paths = drawn_of(states)
    chunk = max(1, BATCH // len(drawn[0]))
    for number, bound in enumerate(states.metrics):
        least = rounding(bound)
        parts: list[dict[str, Floats]] = []
        for first in range(0, len(left), chunk):
            here = slice(first, first + chunk)
            deltas, point = (
                _gap(v[number], left[here], right[here], least) for v in (drawn, points)
            )
            without = None
            if left_out is not None:
                without = _gap(left_out[number], left[here], right[here], least)
                if touched is not None:
                    both = touched[:, 0::2][:, here] | touched[:, 1::2][:, here]
                    without = np.where(both, without, np.nan)
            sample = intervals.Sample(point, deltas, without, *(n[here] for n in sizes))
            spread = intervals.bootstrap_spread(method, sample)
            spread = intervals.without_lone(spread, varying[here])
            spread = intervals.within_range(method, spread, point, *range_of(bound))
            if swapped is None:
                p_value = intervals.p_values(method.interval, sample)
            else:
                p_value = intervals.permutation_p_values(swapped[number][:, here], point)
            # Where nothing varies, nothing is tested.
            p_value = np.where(varying[here] < 2, np.nan, p_value)
            parts.append({"delta": point, "p_value": p_value, **spread._asdict()})
        estimates = {"estimate_left": points[number, left], "estimate_right": points[number, right]}
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        units: dict[str, Any] = {}
        if (path := paths[number]) is not None:
            used = contraction.counts()["n_units"][number]
            units = {"n_units": np.minimum(used[left], used[right]), "drawn": [path] * len(left)}
        yield estimates | joined | units


_ROUNDING = 1e-12


def rounding(bound: AnyBound) -> float:
    """Differences up to this are of values that are equal but for the order of their sums."""
    least, most = bound.range
    scale = max(abs(least), abs(most))
    return _ROUNDING * scale if np.isfinite(scale) else 0.0


def range_of(bound: AnyBound) -> Floats:
    """Smallest and largest possible difference."""
    least, most = bound.range
    return np.array([least - most, most - least])


def _gap(values: Floats, left: Ints, right: Ints, least: float) -> Floats:
    """Differences of entries."""
    return delta_of(values[..., left], values[..., right], least)


def delta_of(left: Floats, right: Floats, least: float) -> Floats:
    """Differences; equal values would else be tested by rounding."""
    gap = right - left
    return np.where(np.abs(gap) <= least, 0.0, gap)


def swaps(method: Bootstrap, clusters: int, side: int) -> draws.Weights:
    """Weights of left and right selves of clusters; `side` is 0 for the left, 1 for the right."""
    slots = np.arange(clusters, dtype=np.uint64)

    def rows(chunk: int) -> Iterator[draws.Chunk]:
        for first in range(0, method.n, chunk):
            swap = (
                draws.uniform_draws(method.seed, first, min(chunk, method.n - first), slots) < 0.5
            )
            from_left = swap if side else ~swap
            yield np.concatenate([from_left, ~from_left], axis=1).astype(np.float64)

    return draws.Weights(method.n, 2 * clusters, rows)


def _permuted(method: Bootstrap, pool: Pool) -> Floats:
    """Differences after swapping the sides of random clusters."""
    # Each pair is one group with every cluster twice, as its left and as its right self. A swap
    # moves the weight from one self to the other.
    clusters = pool.clusters
    states = apart(pool.states, pl.col(GROUP) % 2)
    doubled = [
        table.with_columns(
            (pl.col(CLUSTER) + clusters * (pl.col(GROUP) % 2).cast(pl.Int64)).alias(CLUSTER),
            (pl.col(GROUP) // 2).alias(GROUP),
        )
        for table in states.tables
    ]
    pairs = len(pool.groups) // 2
    contraction = contract(states.with_tables(doubled), pairs, 2 * clusters)
    progress = method.progress or reporter("permutation")
    left, right = (
        replicates(contraction, swaps(method, clusters, side), progress) for side in (0, 1)
    )
    permuted: Floats = right - left
    return permuted
