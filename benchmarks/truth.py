"""How often intervals hold the true value, and how often equal systems are told apart.

Many simulated worlds are the groups of one table, so that one call computes the intervals of all.
They share the draws of a bootstrap; the clusters of a world stand in no order, so that this makes
no two of them alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure
from benchmarks.worlds import CLUSTER, SYSTEM, WORLD, Family, families
from evalframe.core.asked import states_of
from evalframe.evaluation import estimates_of
from evalframe.resample.corrections import adjusted_p_values
from evalframe.resample.draws import GROUPS, Weights, groups_left_out, left_out
from evalframe.resample.independence import cluster_of
from evalframe.resample.intervals import INTERVALS, Sample, bootstrap_spread
from evalframe.resample.pools import Pool, pools
from evalframe.resample.replicates import replicates
from evalframe.resample.uncertainty import flattened, number_groups, where_touched
from evalframe.survey.boards.leaderboard import leaderboard

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.core.states import States
    from evalframe.resample.methods import Interval


LEVEL = 0.95
DRAWS = 1_000
WORLDS = {30: 2_000, 100: 1_000, 300: 500}
"""How many worlds there are of so many clusters."""

SMALL_DRAWS, SMALL_WORLDS = 50, {12: 20}

ROWS = 1 << 18
"""Rows of worlds held at a time, about."""

OTHERS: dict[str, type[ef.Linearized] | type[ef.Jackknife]] = {
    "Linearized": ef.Linearized,
    "Jackknife": ef.Jackknife,
}
TESTS = ("percentile", "expanded", "permutation")


@dataclass(frozen=True)
class Share:
    """How often something happened in simulated worlds.

    Attributes:
        family: Of the metric.
        metric: What was estimated or compared.
        clusters: How many each world has.
        method: The interval, or the test.
        share: How often the interval held the true value, or the test found a difference.
        worlds: How many worlds there were.
        undefined: In how many of them nothing was known, which counts as not held, not found.
    """

    family: str
    metric: str
    clusters: int
    method: str
    share: float
    worlds: int
    undefined: float = 0.0

    @property
    def error(self) -> float:
        """The Monte-Carlo standard error of the share."""
        share = (self.share * self.worlds + 1.0) / (self.worlds + 2.0)
        return float(np.sqrt(share * (1.0 - share) / self.worlds))


def bootstrap(
    name: str, draws: int, seed: int, within: str | None = None, cluster: str = CLUSTER
) -> ef.Bootstrap:
    """A bootstrap with the interval of this name."""
    return ef.Bootstrap(
        cluster=cluster,
        within=within,
        n=draws,
        seed=seed,
        interval=cast("Interval", name),
        level=LEVEL,
        progress=_silent,
    )


def _silent(done: int, total: int) -> None:
    """Say nothing of thousands of short calls."""


def coverages(family: Family, clusters: int, worlds: int, draws: int) -> list[Share]:
    """How often each interval of each metric of a family holds the true value."""
    parts = []
    truth = pl.DataFrame({"metric": [*family.truth], "true": [*family.truth.values()]})
    for seed, count in _chunks(family, clusters, worlds):
        rows = family.sample(count, clusters, seed=seed)
        methods = {name: bootstrap(name, draws, seed, family.within) for name in INTERVALS}
        cluster = cluster_of(methods["bca"])
        states = states_of(rows, family.metrics, by=WORLD, cluster=cluster).collected()
        for name, made in _from_shared_draws(states, methods):
            parts.append(_held(made.join(truth, on="metric"), name))
        for name, method in OTHERS.items():
            other = method(cluster=CLUSTER, within=family.within, level=LEVEL, progress=_silent)
            made = estimates_of(states, other)
            parts.append(_held(made.join(truth, on="metric"), name))
        if family.name == "survey":
            parts += [
                _held(board.with_columns(metric=pl.lit("leaderboard score"), true=0.85), name)
                for name, board in _leaderboards(rows, draws, seed)
            ]
    return _shares(parts, family, clusters)


def _from_shared_draws(
    states: States[pl.DataFrame], methods: Mapping[Interval, ef.Bootstrap]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every interval, as `evaluate` gives it, but from one set of replicates, which is faster."""
    numbered = number_groups(states, states.groups())
    names = [metric.name for metric in states.metrics]
    for pool in pools(methods["bca"], numbered):
        clusters, held = pool.clusters, len(pool.groups)
        points = pool.points().ravel()
        sizes = [np.tile(each, len(names)) for each in pool.free]

        def without_some(weights: Weights, pool: Pool = pool) -> Floats:
            values = replicates(pool.contraction, weights, _silent)
            return flattened(where_touched(values, pool.touched(weights)))

        drawn = flattened(pool.replicates(_silent))
        without = without_some(left_out(methods["bca"], clusters))
        grouped = without if clusters <= GROUPS else without_some(groups_left_out(clusters))
        for name, method in methods.items():
            needs_each = INTERVALS[method.interval].needs == "each"
            left = without if needs_each else grouped
            made = bootstrap_spread(method, Sample(points, drawn, left, *sizes))
            yield (
                name,
                pl.DataFrame(
                    {"metric": np.repeat(names, held), "lower": made.lower, "upper": made.upper}
                ),
            )


def _leaderboards(rows: pl.DataFrame, draws: int, seed: int) -> Iterator[tuple[str, pl.DataFrame]]:
    """The leaderboard of each world with each interval: of one model, so only its score is read."""
    scored = rows.select(
        WORLD,
        pl.col(CLUSTER).cast(pl.String).alias("segment_id"),
        pl.int_range(pl.len()).cast(pl.String).alias("question_id"),
        "score",
        model=pl.lit("model"),
    )
    for name in INTERVALS:
        method = bootstrap(name, draws, seed, cluster="segment_id")
        yield name, leaderboard(scored, by=WORLD, resample=method)


def _held(made: pl.DataFrame, method: str) -> pl.DataFrame:
    held = pl.col("true").is_between("lower", "upper")
    return made.select("metric", method=pl.lit(method), happened=held)


def false_alarms(family: Family, clusters: int, worlds: int, draws: int) -> list[Share]:
    """How often `compare` finds a difference between equal systems: of two, and any of three.

    The three comparisons of a world are one family of tests, so Holm corrects them by world.
    """
    parts = []
    metric, alpha = family.metrics[0], 1.0 - LEVEL
    for seed, count in _chunks(family, clusters, worlds, systems=3):
        rows = family.sample(count, clusters, systems=3, seed=seed)
        for name in TESTS:
            permutes = name == "permutation"
            made = ef.compare(
                rows,
                metric,
                between=SYSTEM,
                by=WORLD,
                resample=bootstrap("percentile" if permutes else name, draws, seed, family.within),
                test="permutation" if permutes else "bootstrap",
                correction="none",
            )
            two = made.filter(left=0, right=1).select("metric", p="p_value")
            every = made.group_by("metric", WORLD).agg("p_value")
            least = [_least_by_holm(p) for p in every["p_value"].to_list()]
            three = every.select("metric", p=pl.Series(least, dtype=pl.Float64).fill_nan(None))
            for systems, found in (("two", two), ("three", three)):
                happened = (pl.col("p") <= alpha).alias("happened")
                parts.append(found.select("metric", happened, method=pl.lit(f"{name}, {systems}")))
    return _shares(
        [part.select("metric", "method", "happened") for part in parts], family, clusters
    )


def false_ranks(family: Family, clusters: int, worlds: int, draws: int) -> list[Share]:
    """How often `rank` leaves one of ten equal systems untied with the best."""
    parts = []
    for seed, count in _chunks(family, clusters, worlds, systems=10):
        rows = family.sample(count, clusters, systems=10, seed=seed)
        made = ef.rank(
            rows,
            family.metrics[0],
            between=SYSTEM,
            by=WORLD,
            best="highest",
            resample=bootstrap("expanded", draws, seed, family.within),
        )
        every = made.group_by("metric", WORLD).agg(happened=~pl.col("tied_with_best").all())
        parts.append(every.select("metric", "happened", method=pl.lit("rank sets, ten")))
    return _shares(parts, family, clusters)


def _least_by_holm(p_values: list[float]) -> float:
    return float(adjusted_p_values(np.array(p_values, dtype=np.float64), "holm").min())


def _chunks(
    family: Family, clusters: int, worlds: int, systems: int = 1
) -> Iterator[tuple[int, int]]:
    """Seeds and numbers of worlds that bound the rows held."""
    size = sum(family.sizes) / 2 * clusters * systems
    step = max(1, min(worlds, int(ROWS / size)))
    for number, first in enumerate(range(0, worlds, step)):
        yield number, min(step, worlds - first)


def _shares(parts: Sequence[pl.DataFrame], family: Family, clusters: int) -> list[Share]:
    happened = pl.col("happened")
    counted = (
        pl.concat(parts)
        .group_by("metric", "method", maintain_order=True)
        .agg(
            share=happened.fill_null(value=False).mean(),
            worlds=pl.len(),
            undefined=happened.is_null().mean(),
        )
    )
    return [Share(family.name, clusters=clusters, **row) for row in counted.iter_rows(named=True)]


def simulated(*, small: bool) -> tuple[list[Share], list[Share]]:
    """All coverages, and all false alarms."""
    draws, worlds = (SMALL_DRAWS, SMALL_WORLDS) if small else (DRAWS, WORLDS)
    cases = [(family, *size) for family in families() for size in worlds.items()]
    held = [share for case in cases for share in coverages(*case, draws)]
    found = [
        share
        for case in cases
        for told in (false_alarms, false_ranks)
        for share in told(*case, draws)
    ]
    return held, found


def run(small: bool) -> list[Figure]:
    """The range of the coverages and of the false alarms of what is asked for by default."""
    started = time.perf_counter()
    held, found = simulated(small=small)
    seconds = time.perf_counter() - started
    default = ef.Bootstrap(cluster=CLUSTER)
    figures = [Figure("simulated worlds: intervals and comparisons", seconds)]
    for told, shares, method in (
        (f"coverage of {LEVEL:.0%} intervals", held, default.interval),
        ("equal systems told apart", found, f"{default.of_differences.interval}, two"),
    ):
        mine = [share for share in shares if share.method == method]
        for clusters in dict.fromkeys(share.clusters for share in mine):
            values = [share.share for share in mine if share.clusters == clusters]
            note = f"{min(values):.1%} to {max(values):.1%}"
            figures.append(Figure(f"{told}, {method}, {clusters} clusters", note=note))
    return figures


def report(*, small: bool) -> str:
    """Both tables, each once to read and once as Markdown."""
    held, found = simulated(small=small)
    sizes = {share.clusters: f"{share.worlds:,} of {share.clusters} clusters" for share in held}
    told = f"worlds: {', '.join(sizes.values())}; a percentage and its Monte-Carlo standard error"
    parts = [
        f"How often {LEVEL:.0%} intervals hold the true value ({told})",
        aligned(held),
        f"How often p <= {1 - LEVEL:.2f} for equal systems; of three, any by Holm; of ten, how "
        f"often one is not tied with the best ({told})",
        aligned(found),
        markdown(held),
        markdown(found),
    ]
    return "\n\n".join(parts)


def aligned(shares: Sequence[Share]) -> str:
    """One line for each metric and number of clusters, one column for each method."""
    methods = [*dict.fromkeys(share.method for share in shares)]
    cells = {
        (share.metric, share.clusters, share.method): f"{share.share:.1%} ±{100 * share.error:.1f}"
        for share in shares
    }
    lines = [["metric", "clusters", *methods]]
    for metric, clusters in dict.fromkeys((share.metric, share.clusters) for share in shares):
        found = [cells.get((metric, clusters, method), "") for method in methods]
        lines.append([metric, str(clusters), *found])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return "\n".join(padded)


def markdown(shares: Sequence[Share]) -> str:
    """One line for each metric, one percentage for each number of clusters in each cell.

    The last column has the largest Monte-Carlo standard error among the methods.
    """
    methods = [*dict.fromkeys(share.method for share in shares)]
    sizes = [*dict.fromkeys(share.clusters for share in shares)]
    known = {(share.metric, share.clusters, share.method): share for share in shares}
    lines = [["family", "metric", *methods, "error"], ["---"] * (len(methods) + 3)]
    for family, metric in dict.fromkeys((share.family, share.metric) for share in shares):
        row, error = [], dict.fromkeys(sizes, 0.0)
        for method in methods:
            found = [known[key] for size in sizes if (key := (metric, size, method)) in known]
            row.append(" / ".join(f"{100 * share.share:.1f}" for share in found))
            error |= {s.clusters: max(error[s.clusters], s.error) for s in found}
        errors = " / ".join(f"{100 * worst:.1f}" for worst in error.values())
        lines.append([family, f"`{metric}`", *row, errors])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
