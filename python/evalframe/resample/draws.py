"""Weights of clusters in replicates: arrays of replicates by clusters, a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap

Weights: TypeAlias = Callable[[int], "Iterator[Floats]"]
"""From a chunk size to chunks of weights, each replicates by clusters."""

_STEP = np.uint64(0x9E3779B97F4A7C15)
_POISSON_TERMS = 20


def indices(method: Bootstrap, clusters: int, chunk: int) -> Iterator[Ints]:
    """The numbers of the drawn clusters, in chunks of replicates by draws."""
    legacy = np.random.RandomState(method.seed)
    for first in range(0, method.n, chunk):
        size = (min(chunk, method.n - first), clusters)
        if method.draws == "reference":
            yield legacy.randint(0, clusters, size=size)
        else:
            slots = np.arange(clusters, dtype=np.uint64)
            uniform = _uniform(method.seed, first, size[0], slots)
            yield (uniform * clusters).astype(np.int64)


def bootstrap_weights(method: Bootstrap, ids: pl.Series) -> Weights:
    """How often each cluster stands in each replicate.

    Args:
        method: The bootstrap.
        ids: The clusters' ids, in order.
    """
    clusters = len(ids)

    def counts(chunk: int) -> Iterator[Floats]:
        if method.draws == "poisson":
            keys = stable_hash(ids)
            cdf = _poisson_cdf()
            for first in range(0, method.n, chunk):
                uniform = _uniform(method.seed, first, min(chunk, method.n - first), keys)
                yield np.searchsorted(cdf, uniform, side="right").astype(np.float64)
            return
        for drawn in indices(method, clusters, chunk):
            rows = len(drawn)
            drawn += np.arange(rows)[:, None] * clusters
            counted = np.bincount(drawn.ravel(), minlength=rows * clusters)
            yield counted.reshape(rows, clusters).astype(np.float64)

    return counts


def swaps(method: Bootstrap, clusters: int, side: int) -> Weights:
    """Weights of the left and of the right selves of clusters whose sides are swapped at random.

    Args:
        method: Number of replicates and seed.
        clusters: Number of clusters.
        side: 0 for what stands left after the swaps, 1 for what stands right.
    """
    slots = np.arange(clusters, dtype=np.uint64)

    def rows(chunk: int) -> Iterator[Floats]:
        for first in range(0, method.n, chunk):
            swap = _uniform(method.seed, first, min(chunk, method.n - first), slots) < 0.5
            from_left = swap if side else ~swap
            yield np.concatenate([from_left, ~from_left], axis=1).astype(np.float64)

    return rows


def leave_one_out(clusters: int) -> Weights:
    """Each cluster left out once."""
    return _bumped(clusters, 1.0, -1.0)


def nudged(clusters: int, by: float) -> Weights:
    """Each cluster's weight changed a little, the others 1."""
    return _bumped(clusters, 1.0, by)


def _bumped(clusters: int, base: float, by: float) -> Weights:
    def rows(chunk: int) -> Iterator[Floats]:
        for first in range(0, clusters, chunk):
            size = min(chunk, clusters - first)
            weights = np.full((size, clusters), base)
            weights[np.arange(size), first + np.arange(size)] += by
            yield weights

    return rows


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


def _uniform(
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
