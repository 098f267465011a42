"""How often intervals and tests hold in hard worlds: few clusters, unequal ones, skewed ones.

The true mean is 0 in each. Worlds are the groups of one table, as in `truth`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure
from benchmarks.truth import OTHERS, bootstrap
from benchmarks.worlds import CLUSTER, SYSTEM, WORLD

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.float64]
    Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, int]], Array]

WORLDS, DRAWS, CLUSTERS = 1_000, 1_000, (3, 5, 8, 30)
RANKED = ((10, 3), (10, 5), (10, 8), (10, 30), (50, 10), (50, 30))
"""Numbers of equal systems, and of clusters."""

SMALL_WORLDS, SMALL_DRAWS = 10, 50
METHODS = ("percentile", "bca", "expanded", "expanded_bca")


def _normal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return rng.normal(size=shape)


def _lognormal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    skewed: Array = np.exp(rng.normal(size=shape)) - np.exp(0.5)
    return skewed


def _rare(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return np.where(rng.random(shape) < 0.05, 0.95, -0.05)


def _equal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return np.ones(shape)


def _lognormal_sizes(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return np.ceil(np.exp(rng.normal(1.5, 1.0, shape)))


def _one_large(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    sizes = np.ones(shape)
    sizes[:, 0] = 9 * (shape[1] - 1)
    return sizes


MEANS: dict[str, tuple[Draw, Draw]] = {
    "normal": (_normal, _equal),
    "lognormal": (_lognormal, _equal),
    "events of 5%": (_rare, _equal),
    "sizes lognormal": (_normal, _lognormal_sizes),
    "one of 90% of rows": (_normal, _one_large),
}
"""Effects of clusters, and their numbers of rows."""


def _world(draw: Draw, sizes: Draw, worlds: int, clusters: int) -> pl.DataFrame:
    """Clusters of worlds with their effects; rows of a cluster are alike but for a half as much."""
    rng = np.random.default_rng(clusters)
    shape = (worlds, clusters)
    effect, rows = draw(rng, shape), sizes(rng, shape)
    noise = np.where(rows.max() > 1, rng.normal(size=shape) * 0.5 / np.sqrt(rows), 0.0)
    return pl.DataFrame(
        {
            WORLD: np.repeat(np.arange(worlds), clusters),
            CLUSTER: np.tile(np.arange(clusters), worlds),
            "score": (effect + noise).ravel(),
            "rows": rows.ravel(),
        }
    )


def coverages(worlds: int, draws: int) -> Iterator[tuple[str, str, list[float]]]:
    """The world, the method, and how often its interval held the true mean, by clusters."""
    methods: dict[str, ef.Bootstrap | ef.Jackknife | ef.Linearized] = {
        name: bootstrap(name, draws, 1) for name in METHODS
    }
    methods |= {name: method(cluster=CLUSTER) for name, method in OTHERS.items()}
    for name, (draw, sizes) in MEANS.items():
        made = {clusters: _world(draw, sizes, worlds, clusters) for clusters in CLUSTERS}
        for told, method in methods.items():
            found = [
                ef.evaluate(rows, ef.mean("score"), by=WORLD, weight="rows", resample=method)
                for rows in made.values()
            ]
            held = pl.lit(0.0).is_between("lower", "upper").fill_null(value=False).mean()
            yield name, told, [each.select(held).item() for each in found]


def untied(worlds: int, draws: int) -> Iterator[tuple[int, int, float]]:
    """Systems, clusters, and how often one of these equal systems is not tied with the best."""
    for systems, clusters in RANKED:
        rng = np.random.default_rng([systems, clusters])
        told = []
        for _ in range(max(1, worlds // 100)):
            some = 10
            common = rng.normal(size=(some, 1, clusters))
            scores = common + rng.normal(size=(some, systems, clusters))
            index = np.indices(scores.shape).reshape(3, -1)
            names = (WORLD, SYSTEM, CLUSTER)
            rows = pl.DataFrame(dict(zip(names, index, strict=True)) | {"score": scores.ravel()})
            method = bootstrap("expanded", draws, 1)
            ranks = ef.rank(
                rows, ef.mean("score"), between=SYSTEM, by=WORLD, best="highest", resample=method
            )
            told.append(ranks.group_by(WORLD).agg(~pl.col("tied_with_best").all()))
        yield systems, clusters, pl.concat(told)["tied_with_best"].mean()  # type: ignore[misc]


def run(small: bool) -> list[Figure]:
    """The time of the smallest tables."""
    started = time.perf_counter()
    report(small=small)
    return [Figure("hard worlds: intervals and ranks", time.perf_counter() - started)]


def report(*, small: bool) -> str:
    """Both tables as Markdown."""
    worlds, draws = (SMALL_WORLDS, SMALL_DRAWS) if small else (WORLDS, DRAWS)
    cells: dict[str, dict[str, list[float]]] = {}
    for name, method, shares in coverages(worlds, draws):
        cells.setdefault(name, {})[method] = shares
    methods = [*METHODS, *OTHERS]
    lines = [["clusters", *methods], ["---"] * (len(methods) + 1)]
    for name, found in cells.items():
        lines.append([name, *(" / ".join(_percent(x) for x in found[m]) for m in methods)])
    lines += [[""], ["systems", "clusters", "not tied with the best"], ["---"] * 3]
    lines += [[str(s), str(c), _percent(share)] for s, c, share in untied(worlds, draws)]
    return "\n".join(f"| {' | '.join(line)} |" if line != [""] else "" for line in lines)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
