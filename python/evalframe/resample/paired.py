"""Paired differences: both sides of a pair are resampled by the same draws of shared clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import Argument, ParameterError
from evalframe.core.progress import Progress, within
from evalframe.core.states import CLUSTER, States
from evalframe.resample import draws, intervals
from evalframe.resample.contraction import GROUP
from evalframe.resample.corrections import adjusted_p_values
from evalframe.resample.levels import drawn_of
from evalframe.resample.nested import contract
from evalframe.resample.pools import BATCH, BOARD, Boards, Pool, Source, cluster_columns, pools
from evalframe.resample.replicates import replicates
from evalframe.resample.sides import (
    Sides,
    boards_of,
    pairs_of,
    shared_clusters,
    shared_counts,
)
from evalframe.resample.units import apart, shared_units

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.resample.methods import Bootstrap


_NUMBERS = ("estimate_left", "estimate_right", "delta", "std_error", "lower", "upper", "p_value")
DIFFERENCE = ["metric", "left", "right", *_NUMBERS, "p_adjusted"]
"""Columns of every comparison, paired or not."""

MISSING = ["n_missing_left", "n_missing_right"]
"""Rows of the compared clusters that each side leaves out."""

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
    method: Bootstrap,
    states: States[pl.DataFrame],
    comparison: Comparison,
    source: Source = pools,
) -> pl.DataFrame:
    """Differences of all metrics between all pairs of sides (the last key) within each group."""
    # The sides of a pair are groups of one board, and the groups of a board see the same draws:
    # what the sides have in common cancels in every replicate. Sides with the same content, such
    # as a system that shares all its clusters with all others, are one group.
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
    sides = Sides.of(present, pairs, by, side, names)
    if not sides.shared.any() and matching is None:
        raise ParameterError(
            "the two sides share no cluster; check the column to pair on. Sides of different "
            "people or items are compared by ",
            Argument("paired", False),
        )
    contents = sides.contents
    alike = _alike(states, tables, sides, pairs, by, side)
    reduced = pairs.with_row_index(":pair").join(sides.reduced(), on=":pair", how="semi")
    shared = shared_clusters(present, reduced, by, side, names)
    whole, rows = sides.of_pairs(alike).first(), []
    for table, block in zip(tables, states.blocks, strict=True):
        others = sides.of_pairs(~alike).rows(table, shared, by, side, names)
        others, lacking = shared_units(others, block.units, states.forest.outer)
        contents[lacking] = -1 - lacking
        rows.append(pl.concat([whole.rows(table, shared, by, side, names), others]))
    _, first, which = np.unique(contents, return_index=True, return_inverse=True)
    kept = pl.Series(first).implode()
    rows = [table.filter(pl.col(GROUP).is_in(kept)) for table in rows]
    boards = _boards(tables, on, contents, together=matching is not None)
    numbered = pairs.with_columns(n_clusters=pl.Series(sides.shared, dtype=pl.Int64))
    none = ["n_clusters", *MISSING]
    is_apart = sides.shared == 0
    parts = [undefined(numbered.filter(is_apart).drop("n_clusters"), metrics, none)]
    counted = None if matching is None else matching.counted
    states = states.with_tables(rows)
    # No name for the pools: they then close their bar as soon as an error leaves the loop.
    for pool in [] if is_apart.all() else source(method, states, boards, counted):
        place = np.full(len(contents), -1)
        place[pool.groups.to_numpy()] = np.arange(len(pool.groups))
        left, right = place[first[which[0::2]]], place[first[which[1::2]]]
        here = (left >= 0) & (right >= 0)
        differences = _of_pool(method, pool, left[here], right[here], comparison.test)
        for metric, values in zip(metrics, differences, strict=True):
            columns = [pl.Series(name, each) for name, each in values.items()]
            named = pl.lit(metric.name).alias("metric")
            parts.append(numbered.filter(here).with_columns(named, *columns))
    result = pl.concat(parts, how="diagonal_relaxed")
    units = PAIRED_UNITS if "drawn" in result.columns else ()
    result = one_family(result, metrics, by, comparison.correction)
    return result.select(*by, *PAIRED_RESULT, *MISSING, *units)


def one_family(
    result: pl.DataFrame, bounds: Sequence[AnyBound], by: list[str], correction: str
) -> pl.DataFrame:
    """All differences in order, with p-values that are corrected for each other."""
    order = {bound.name: number for number, bound in enumerate(bounds)}
    rank = pl.col("metric").replace_strict(order, return_dtype=pl.Int64)
    result = result.with_columns(pl.col(_NUMBERS).fill_nan(None))
    family = adjusted_p_values(result["p_value"].to_numpy(), correction)
    result = result.with_columns(pl.Series("p_adjusted", family).fill_nan(None))
    return result.sort(*by, rank, "left", "right")


def _alike(
    states: States[pl.DataFrame],
    tables: Sequence[pl.DataFrame],
    sides: Sides,
    pairs: pl.DataFrame,
    by: list[str],
    side: str,
) -> Bools:
    """True for pairs of which no side has units that the other lacks; of flat metrics all are."""
    alike = np.ones(len(pairs), dtype=bool)
    for table, block in zip(tables, states.blocks, strict=True):
        for prefix in dict.fromkeys(states.forest.outer[name] for name in block.units):
            present = table.select(*by, side, *prefix).unique()
            both, *each = shared_counts(present, pairs, by, side, prefix)
            alike &= (sides.contents.reshape(-1, 2) >= 0).all(axis=1)
            alike &= (both == each[0]) & (both == each[1])
    return alike


def _boards(
    tables: Sequence[pl.DataFrame], on: list[str], contents: Ints, *, together: bool
) -> Boards:
    """Pairs and all with which they share a side on one board, or all pairs."""
    if not together:
        return Boards(boards_of(contents))
    drawn = pl.concat([table.select(pl.lit(0, pl.Int64).alias(BOARD), *on) for table in tables])
    return Boards(pl.zeros(len(contents), pl.Int64, eager=True), drawn)


def undefined(
    pairs: pl.DataFrame, metrics: Sequence[AnyBound], counts: Sequence[str]
) -> pl.DataFrame:
    """Rows for pairs that cannot be compared: nulls, no clusters and a drop rate of 1."""
    names = pl.DataFrame({"metric": [metric.name for metric in metrics]})
    return pairs.join(names, how="cross").with_columns(
        *(pl.lit(None, dtype=pl.Float64).alias(name) for name in _NUMBERS),
        *(pl.lit(0, dtype=pl.Int64).alias(name) for name in counts),
        pl.lit(1.0).alias("drop_rate"),
    )


class Replicates(NamedTuple):
    """What is known of a metric in the groups of a pool, one column for each group.

    Attributes:
        points: The estimates.
        drawn: Replicates of a bootstrap.
        left_out: Estimates without some clusters, if the interval needs them.
        touched: True if a group has some of these clusters; None if each group has.
        sizes: The clusters and strata of `Pool.free`.
    """

    points: Floats
    drawn: Floats
    left_out: Floats | None
    touched: Bools | None
    sizes: tuple[Ints, Ints]

    def gaps(
        self, left: Ints, right: Ints, least: float
    ) -> Iterator[tuple[slice, intervals.Sample]]:
        """Differences of right and left groups, some pairs at a time."""
        chunk = max(1, BATCH // len(self.drawn))
        for first in range(0, len(left), chunk):
            here = slice(first, first + chunk)
            a, b = left[here], right[here]
            without = None
            if self.left_out is not None:
                without = delta_of(self.left_out[:, a], self.left_out[:, b], least)
                if self.touched is not None:
                    without = np.where(self.touched[:, a] | self.touched[:, b], without, np.nan)
            point = delta_of(self.points[a], self.points[b], least)
            drawn = delta_of(self.drawn[:, a], self.drawn[:, b], least)
            sizes = (np.minimum(size[a], size[b]) for size in self.sizes)
            yield here, intervals.Sample(point, drawn, without, *sizes)


def _of_pool(
    method: Bootstrap, pool: Pool, left: Ints, right: Ints, test: str
) -> Iterator[dict[str, Any]]:
    """Columns of the result for each metric, one number for each pair of groups."""
    points = pool.points()
    left_out, touched, swapped, first = None, None, None, 0
    further = 2 * method.n if test == "permutation" else 0
    if intervals.INTERVALS[method.interval].needs != "none":
        left_out, touched = pool.left_out(method, within(pool.progress, 0, method.n + further))
        first = left_out.shape[1]
    drawn = pool.replicates(within(pool.progress, first, further))
    if further:
        swapped = _permuted(method, pool, left, right, within(pool.progress, first + method.n, 0))
    varying = np.minimum(pool.varying[left], pool.varying[right])
    paths, counts = drawn_of(pool.states), pool.rows_and_units()
    for number, bound in enumerate(pool.states.metrics):
        known = Replicates(
            points[number],
            drawn[number],
            None if left_out is None else left_out[number],
            touched,
            pool.free,
        )
        parts: list[dict[str, Floats]] = []
        for here, sample in known.gaps(left, right, rounding(bound)):
            point = sample.points
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
        missing = counts["n_missing"][number]
        units: dict[str, Any] = dict(zip(MISSING, (missing[left], missing[right]), strict=True))
        if (path := paths[number]) is not None:
            used = counts["n_units"][number]
            units |= {"n_units": np.minimum(used[left], used[right]), "drawn": [path] * len(left)}
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


def _permuted(method: Bootstrap, pool: Pool, left: Ints, right: Ints, progress: Progress) -> Floats:
    """Differences after swapping the sides of random clusters."""
    # Each pair is one group with every cluster twice, as its left and as its right self. A swap
    # moves the weight from one self to the other.
    clusters, group = pool.clusters, pool.states.tables[0].schema[GROUP]
    selves = pl.DataFrame(
        {
            GROUP: np.concatenate([left, right]),
            ":pair": np.tile(np.arange(len(left)), 2),
            ":self": np.repeat([0, 1], len(left)),
        },
        schema_overrides={GROUP: group, ":pair": group},
    )
    doubled = pool.states.with_tables(
        [
            table.join(selves, on=GROUP)
            .drop(GROUP)
            .with_columns(pl.col(CLUSTER) + clusters * pl.col(":self"))
            .rename({":pair": GROUP})
            for table in pool.states.tables
        ]
    )
    states = apart(doubled, pl.col(":self"))
    states = states.with_tables([table.drop(":self") for table in states.tables])
    contraction = contract(states, len(left), 2 * clusters)
    from_left, from_right = (
        replicates(
            contraction,
            swaps(method, clusters, side),
            within(progress, side * method.n, (1 - side) * method.n),
        )
        for side in (0, 1)
    )
    permuted: Floats = from_right - from_left
    return permuted
