"""Weights of clusters in replicates: arrays of replicates by clusters, a chunk at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from evalframe.resample.intervals import INTERVALS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap

Chunk: TypeAlias = "Floats | Bumped"

_STEP = np.uint64(0x9E3779B97F4A7C15)
_POISSON_TERMS = 20

GROUPS = 200
"""So many groups of clusters are left out at most for an expanded BCa interval."""


@dataclass(frozen=True)
class Weights:
    """How much each cluster counts in each replicate.

    Attributes:
        total: Number of replicates.
        held: Numbers that a replicate's weights take in memory.
        chunks: From a chunk size to chunks of weights, each replicates by clusters.
    """

    total: int
    held: int
    chunks: Callable[[int], Iterator[Chunk]]


def indices(method: Bootstrap, clusters: int, chunk: int) -> Iterator[Ints]:
    """The numbers of the drawn clusters, in chunks of replicates by draws."""
    legacy = np.random.RandomState(method.seed)
    for first in range(0, method.n, chunk):
        size = (min(chunk, method.n - first), clusters)
        if method.draws == "reference":
            yield legacy.randint(0, clusters, size=size)
        else:
            slots = np.arange(clusters, dtype=np.uint64)
            uniform = uniform_draws(method.seed, first, size[0], slots)
            yield (uniform * clusters).astype(np.int64)


def bootstrap_weights(method: Bootstrap, ids: pl.Series) -> Weights:
    """How often each cluster stands in each replicate.

    Args:
        method: The bootstrap.
        ids: The clusters' ids, in order.
    """
    clusters = len(ids)

    def counts(chunk: int) -> Iterator[Chunk]:
        if method.draws == "poisson":
            keys = stable_hash(ids)
            cdf = _poisson_cdf()
            for first in range(0, method.n, chunk):
                uniform = uniform_draws(method.seed, first, min(chunk, method.n - first), keys)
                yield np.searchsorted(cdf, uniform, side="right").astype(np.float64)
            return
        for drawn in indices(method, clusters, chunk):
            rows = len(drawn)
            drawn += np.arange(rows)[:, None] * clusters
            counted = np.bincount(drawn.ravel(), minlength=rows * clusters)
            yield counted.reshape(rows, clusters).astype(np.float64)

    return Weights(method.n, clusters, counts)


def swaps(method: Bootstrap, clusters: int, side: int) -> Weights:
    """Weights of the left and of the right selves of clusters whose sides are swapped at random.

    Args:
        method: Number of replicates and seed.
        clusters: Number of clusters.
        side: 0 for what stands left after the swaps, 1 for what stands right.
    """
    slots = np.arange(clusters, dtype=np.uint64)

    def rows(chunk: int) -> Iterator[Chunk]:
        for first in range(0, method.n, chunk):
            swap = uniform_draws(method.seed, first, min(chunk, method.n - first), slots) < 0.5
            from_left = swap if side else ~swap
            yield np.concatenate([from_left, ~from_left], axis=1).astype(np.float64)

    return Weights(method.n, 2 * clusters, rows)


@dataclass(frozen=True)
class Bumped:
    """Weights of 1 except for one cluster in each replicate, as an array of replicates by clusters.

    Never written out, so that leaving out each of a million clusters costs their sums only.
    """

    first: int
    rows: int
    by: float

    def __len__(self) -> int:
        return self.rows

    def __matmul__(self, matrix: Floats) -> Floats:
        """The product with clusters by anything."""
        product: Floats = matrix.sum(axis=0) + self.by * matrix[self.first :][: self.rows]
        return product

    def __getitem__(self, place: tuple[slice, Ints]) -> Floats:
        """The columns of some clusters, `weights[:, owner]`."""
        bumped = np.arange(self.first, self.first + self.rows)
        columns: Floats = 1.0 + self.by * (bumped[:, None] == place[1])
        return columns


def leave_one_out(clusters: int) -> Weights:
    """Each cluster left out once."""
    return nudged(clusters, -1.0)


def left_out(method: Bootstrap, clusters: int) -> Weights:
    """The clusters that an interval leaves out: each, or of many each of some groups.

    Sums of influences over arbitrary groups are as skewed as the influences, as far as BCa needs.
    """
    if INTERVALS[method.interval].needs == "groups" and clusters > GROUPS:
        return groups_left_out(clusters)
    return leave_one_out(clusters)


def groups_left_out(clusters: int) -> Weights:
    """Each of at most `GROUPS` groups of clusters left out once, written out."""
    groups = min(clusters, GROUPS)
    place = np.arange(clusters) % groups

    def rows(chunk: int) -> Iterator[Chunk]:
        for first in range(0, groups, chunk):
            group = np.arange(first, min(first + chunk, groups))
            yield (place != group[:, None]).astype(np.float64)

    return Weights(groups, clusters, rows)


def nudged(clusters: int, by: float) -> Weights:
    """Each cluster's weight changed once, the others 1."""

    def rows(chunk: int) -> Iterator[Chunk]:
        for first in range(0, clusters, chunk):
            yield Bumped(first, min(chunk, clusters - first), by)

    return Weights(clusters, 1, rows)


def stable_hash(ids: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """A 64-bit hash of each id's text (FNV-1a), the same in every version and on every machine.

    >>> [hex(h) for h in stable_hash(pl.Series(["a", "b"]))]
    ['0xaf63dc4c8601ec8c', '0xaf63df4c8601f1a5']
    """
    text = np.char.encode(ids.cast(pl.String).to_numpy().astype(np.str_), "utf-8")
    width = max(text.dtype.itemsize, 1)
    letters = text.astype(f"S{width}").view(np.uint8).reshape(len(text), width)
    length = np.char.str_len(text)
    result = np.full(len(text), 0xCBF29CE484222325, dtype=np.uint64)
    for position in range(width):
        mixed = (result ^ letters[:, position]) * np.uint64(0x100000001B3)
        result = np.where(position < length, mixed, result)
    return result


def uniform_draws(
    seed: int, first: int, rows: int, keys: np.ndarray[tuple[int], np.dtype[np.uint64]]
) -> Floats:
    """Uniforms in [0, 1), each a hash of seed, replicate and key."""
    replicate = np.arange(first, first + rows, dtype=np.uint64)
    stream = _mix(_mix(np.array([seed], dtype=np.uint64)) + replicate * _STEP)
    bits = _mix(stream[:, None] ^ _mix(keys + _STEP)[None, :])
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(
    x: np.ndarray[tuple[int, ...], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """The finaliser of splitmix64."""
    x = x + _STEP
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _poisson_cdf() -> Floats:
    terms = np.exp(-1.0) / np.cumprod(np.maximum(np.arange(_POISSON_TERMS), 1.0))
    return np.cumsum(terms)
