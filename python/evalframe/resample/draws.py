"""Draws: how often each cluster is drawn in each replicate.

A replicate is a vector of weights of clusters; which groups share them is in `pools`. Weights come
in chunks of replicates by clusters, to bound memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.resample.intervals import INTERVALS

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap


Hashes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

Chunk: TypeAlias = "Floats | Bumped"

_STEP = np.uint64(0x9E3779B97F4A7C15)
_POISSON_TERMS = 20

_BLOCK = 1 << 15
"""Hashes that are turned into counts at a time."""

GROUPS = 200
"""Most groups of clusters that are left out for an expanded BCa interval."""

STRATUM, MEMBER = ":stratum", ":member"
"""The fields of a cluster that is drawn within a stratum."""


@dataclass(frozen=True)
class Weights:
    """Weights of clusters in replicates.

    Attributes:
        total: Number of replicates.
        held: Numbers that a replicate's weights take in memory.
        chunks: From a chunk size to chunks of weights, each replicates by clusters.
        hashes: Hashes of the ids of the clusters, if weights belong to ids.
    """

    total: int
    held: int
    chunks: Callable[[int], Iterator[Chunk]]
    hashes: Hashes | None = None


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
    """Number of times that each cluster is drawn; `ids` are the clusters in order."""
    clusters = len(ids)
    if method.draws == "poisson":
        check_text(ids)
        return poisson_weights(method, stable_hash(ids))

    def counts(chunk: int) -> Iterator[Chunk]:
        for drawn in indices(method, clusters, chunk):
            yield times_drawn(drawn, clusters)

    return Weights(method.n, clusters, counts)


def poisson_weights(method: Bootstrap, hashes: Hashes) -> Weights:
    """Poisson(1) weights of clusters by the hashes of their ids."""

    def counts(chunk: int) -> Iterator[Chunk]:
        for first in range(0, method.n, chunk):
            rows = min(chunk, method.n - first)
            yield poisson_counts(_streams(method.seed, first, rows), _keys(hashes))

    return Weights(method.n, len(hashes), counts, hashes)


def poisson_by_cluster(method: Bootstrap, hashes: Hashes, first: int, stop: int) -> Floats:
    """The same weights of some replicates, clusters by replicates."""
    return poisson_counts(_keys(hashes), _streams(method.seed, first, stop - first))


def poisson_counts(left: Hashes, right: Hashes) -> Floats:
    """A Poisson(1) number for each pair of numbers, a hash of both."""
    # The first 16 bits of a hash tell the count, unless a step of the distribution function lies
    # among the hashes that begin with them. A block's numbers stay in the cache.
    cdf = _poisson_cdf()
    steps = np.searchsorted(cdf, np.arange((1 << 16) + 1) * 2.0**-16, side="right")
    table = np.where(np.diff(steps) > 0, -1, steps[:-1]).astype(np.int8)
    result = np.empty((len(left), len(right)))
    wide = max(1, min(len(right), _BLOCK))
    high = _BLOCK // wide
    for top, begin in product(range(0, len(left), high), range(0, len(right), wide)):
        here = slice(top, top + high), slice(begin, begin + wide)
        bits = _mix(left[here[0], None] ^ right[here[1]])
        counts = table[bits >> np.uint64(48)]
        row, column = np.nonzero(counts < 0)
        unclear = _uniform(bits[row, column])
        counts[row, column] = np.searchsorted(cdf, unclear, side="right")
        result[here] = counts
    return result


def times_drawn(drawn: Ints, clusters: int) -> Floats:
    """Counts of each cluster in each replicate, from the numbers of the drawn clusters."""
    rows = len(drawn)
    # One count over (replicate, cluster) cells is faster than one for each replicate.
    cells = drawn + np.arange(rows)[:, None] * clusters
    counts = np.bincount(cells.ravel(), minlength=rows * clusters)
    return counts.reshape(rows, clusters).astype(np.float64)


@dataclass(frozen=True)
class Bumped:
    """Weights of 1 except for one cluster in each replicate, replicates by clusters."""

    # Never written out: leaving out each of a million clusters costs their sums only.

    first: int
    rows: int
    by: float

    def __len__(self) -> int:
        return self.rows

    def __matmul__(self, matrix: Floats) -> Floats:
        """The product with clusters by anything."""
        product: Floats = matrix.sum(axis=0) + self.by * matrix[self.first :][: self.rows]
        return product

    def __getitem__(self, index: tuple[slice, Ints]) -> Floats:
        """The columns of some clusters, `weights[:, owner]`."""
        bumped = np.arange(self.first, self.first + self.rows)
        columns: Floats = 1.0 + self.by * (bumped[:, None] == index[1])
        return columns


def nudged(clusters: int, by: float) -> Weights:
    """Each cluster's weight changed once, the others 1."""

    def rows(chunk: int) -> Iterator[Chunk]:
        for first in range(0, clusters, chunk):
            yield Bumped(first, min(chunk, clusters - first), by)

    return Weights(clusters, 1, rows)


def left_out(method: Bootstrap, clusters: int, hashes: Hashes | None = None) -> Weights:
    """The clusters that an interval leaves out: each, or of many each of some groups."""
    # Sums of influences over arbitrary groups are as skewed as the influences, as far as BCa needs.
    if INTERVALS[method.interval].needs == "groups" and (hashes is not None or clusters > GROUPS):
        return groups_left_out(clusters, hashes)
    return nudged(clusters, -1.0)


def groups_left_out(clusters: int, hashes: Hashes | None = None) -> Weights:
    """Each of at most `GROUPS` groups of clusters left out once, written out."""
    # By the hash of its id a cluster is of the same group in any shard.
    group = np.arange(clusters) % GROUPS if hashes is None else left_out_group(hashes)
    groups = np.unique(group)

    def rows(chunk: int) -> Iterator[Chunk]:
        for first in range(0, len(groups), chunk):
            yield (group != groups[first : first + chunk, None]).astype(np.float64)

    return Weights(len(groups), clusters, rows)


def left_out_group(hashes: Hashes) -> Ints:
    """The group of each cluster among those that are left out, by the hash of its id."""
    return (hashes % np.uint64(GROUPS)).astype(np.int64)


def check_text(ids: pl.Series) -> None:
    """Raise ParameterError if the text of an id depends on more than its value."""
    if _has_floats(ids.dtype):
        raise ParameterError(
            f"Poisson draws belong to the text of an id, and ids are {ids.dtype} here, whose text "
            "is not that of equal integers (7.0 and 7); cast the cluster to integers or text"
        )


def _has_floats(dtype: pl.DataType) -> bool:
    if isinstance(dtype, pl.Struct):
        return any(_has_floats(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return dtype.is_float()


def stable_hash(ids: pl.Series) -> Hashes:
    """A 64-bit hash of each id's text (FNV-1a), the same in every version and on every machine.

    >>> [hex(h) for h in stable_hash(pl.Series(["a", "b"]))]
    ['0xaf63dc4c8601ec8c', '0xaf63df4c8601f1a5']
    """
    # All texts in a row, then one step for each position, of the texts that reach so far.
    text = ids.cast(pl.String)
    length = text.str.len_bytes().fill_null(0).to_numpy().astype(np.int64)
    letters = np.frombuffer((text.str.join("").item() or "").encode(), dtype=np.uint8)
    place = np.cumsum(length) - length
    result = np.full(len(text), 0xCBF29CE484222325, dtype=np.uint64)
    prime = np.uint64(0x100000001B3)
    for position in range(int(length.max(initial=0))):
        longer = length > position
        if longer.all():
            result = (result ^ letters[place + position]) * prime
        else:
            result[longer] = (result[longer] ^ letters[place[longer] + position]) * prime
    return result


def uniform_draws(seed: int, first: int, rows: int, keys: Hashes) -> Floats:
    """Uniforms in [0, 1), each a hash of seed, replicate and key."""
    return _uniform(_mix(_streams(seed, first, rows)[:, None] ^ _keys(keys)))


def _streams(seed: int, first: int, rows: int) -> Hashes:
    """A number for each replicate."""
    replicate = np.arange(first, first + rows, dtype=np.uint64)
    return _mix(_mix(np.array([seed], dtype=np.uint64)) + replicate * _STEP)


def _keys(keys: Hashes) -> Hashes:
    """A number for each key."""
    return _mix(keys + _STEP)


def _uniform(bits: Hashes) -> Floats:
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(x: Hashes) -> Hashes:
    """The finaliser of splitmix64."""
    x = x + _STEP
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def _poisson_cdf() -> Floats:
    terms = np.exp(-1.0) / np.cumprod(np.maximum(np.arange(_POISSON_TERMS), 1.0))
    return np.cumsum(terms)
