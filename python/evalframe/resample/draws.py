"""Draws: which groups share them, and how often each cluster is drawn in each replicate.

A replicate is a vector of weights of clusters. Groups with the same number of clusters share their
draws, as a *pool*, so that models on the same items are resampled alike and the weights are
computed once. Weights come in chunks of replicates by clusters, to bound memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from evalframe.core.states import CLUSTER, States
from evalframe.resample.contraction import GROUP
from evalframe.resample.intervals import INTERVALS
from evalframe.resample.levels import check_terms, with_levels
from evalframe.resample.methods import Bootstrap, Method, check_enough, check_known

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints


Hashes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

Chunk: TypeAlias = "Floats | Bumped"

_STEP = np.uint64(0x9E3779B97F4A7C15)
_POISSON_TERMS = 20

GROUPS = 200
"""Most groups of clusters that are left out for an expanded BCa interval."""

BATCH = 1 << 24
"""Replicate values held at a time."""

MIXED = 16
"""Groups resampled at a time if each has a few of the clusters that are drawn."""

BOARD = ":board"
STRATUM, MEMBER = ":stratum", ":member"
"""The fields of a cluster that is drawn within a stratum."""

_PLACE, _ALIKE, _NEW, _KNOWN = ":place", ":alike", ":new", ":known"


@dataclass(frozen=True)
class Weights:
    """Weights of clusters in replicates.

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
    """Number of times that each cluster is drawn; `ids` are the clusters in order."""
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
            yield times_drawn(drawn, clusters)

    return Weights(method.n, clusters, counts)


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


def left_out(method: Bootstrap, clusters: int) -> Weights:
    """The clusters that an interval leaves out: each, or of many each of some groups."""
    # Sums of influences over arbitrary groups are as skewed as the influences, as far as BCa needs.
    if INTERVALS[method.interval].needs == "groups" and clusters > GROUPS:
        return groups_left_out(clusters)
    return nudged(clusters, -1.0)


def groups_left_out(clusters: int) -> Weights:
    """Each of at most `GROUPS` groups of clusters left out once, written out."""
    groups = min(clusters, GROUPS)
    group = np.arange(clusters) % groups

    def rows(chunk: int) -> Iterator[Chunk]:
        for first in range(0, groups, chunk):
            left = np.arange(first, min(first + chunk, groups))
            yield (group != left[:, None]).astype(np.float64)

    return Weights(groups, clusters, rows)


def stable_hash(ids: pl.Series) -> Hashes:
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


def uniform_draws(seed: int, first: int, rows: int, keys: Hashes) -> Floats:
    """Uniforms in [0, 1), each a hash of seed, replicate and key."""
    replicate = np.arange(first, first + rows, dtype=np.uint64)
    stream = _mix(_mix(np.array([seed], dtype=np.uint64)) + replicate * _STEP)
    bits = _mix(stream[:, None] ^ _mix(keys + _STEP)[None, :])
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(x: Hashes) -> Hashes:
    """The finaliser of splitmix64."""
    x = x + _STEP
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _poisson_cdf() -> Floats:
    terms = np.exp(-1.0) / np.cumprod(np.maximum(np.arange(_POISSON_TERMS), 1.0))
    return np.cumsum(terms)


@dataclass(frozen=True)
class Boards:
    """Groups that see the same draws; without boards each group sees its own.

    Attributes:
        of: The number of the board of each group.
        clusters: `BOARD` and cluster of what is drawn, if that is more than the groups have.
        enough: True if the caller knows that some board has two clusters, here or elsewhere.
    """

    of: pl.Series
    clusters: pl.DataFrame | None = None
    enough: bool = False


@dataclass(frozen=True)
class Pool:
    """Groups that share their draws.

    Attributes:
        groups: Numbers of the groups, board by board.
        counts: Number of clusters of each group.
        varying: Number of them that could have been others: all, or at most one.
        states: States of clusters of those groups, groups and clusters numbered from 0.
        clusters: Number of clusters.
        weights: How often each of them is drawn; of a bootstrap.
        owned: The clusters of each group, clusters by groups; None if each group has all.
        strata: The stratum of each cluster, if they have one.
    """

    groups: pl.Series
    counts: Ints
    varying: Ints
    states: States[pl.DataFrame]
    clusters: int
    weights: Weights | None
    owned: Floats | None
    strata: Ints | None = None

    @property
    def drawn(self) -> Weights:
        """The weights of a bootstrap."""
        assert self.weights is not None
        return self.weights

    def touched(self, left_out: Weights) -> Bools | None:
        """True if a group lacks a cluster that it has; None if each lacks one each time."""
        if self.owned is None:
            return None
        chunk = max(1, BATCH // max(self.owned.shape))
        remaining = np.concatenate([rows @ self.owned for rows in left_out.chunks(chunk)])
        touched: Bools = remaining < self.owned.sum(axis=0)
        return touched


def cluster_columns(tables: Sequence[pl.DataFrame]) -> tuple[list[pl.DataFrame], list[str]]:
    """Tables of clusters, and the columns that name a cluster: perhaps a stratum, and itself."""
    if STRATUM in tables[0].columns:
        return [*tables], [STRATUM, MEMBER]
    dtype = tables[0].schema[CLUSTER]
    if isinstance(dtype, pl.Struct) and [f.name for f in dtype.fields] == [STRATUM, MEMBER]:
        return [table.unnest(CLUSTER) for table in tables], [STRATUM, MEMBER]
    return [*tables], [CLUSTER]


def pools(
    method: Method,
    states: States[pl.DataFrame],
    boards: Boards | None = None,
    counted: pl.Expr | None = None,
) -> Iterator[Pool]:
    """Groups in batches that share their draws and fit in memory; boards are not split."""
    # `counted` selects the rows of the first table that make a cluster one of its group, by default
    # all. Draws are shared by boards with the same number of clusters; with Poisson draws and
    # strata boards have different subsets of all clusters, and get the weights of theirs.
    tables, on = cluster_columns(states.tables)
    states = states.with_tables(tables)
    cells = pl.concat([table.select(GROUP, *on) for table in tables]).unique()
    check_known(cells[on[-1]])
    states = with_levels(method, states, on)
    if boards is None:
        cells = cells.with_columns(pl.col(GROUP).alias(BOARD))
    else:
        owner = pl.DataFrame({BOARD: boards.of}).with_row_index(GROUP)
        cells = cells.join(owner, on=GROUP)
    if counted is None:
        cells = cells.with_columns(pl.lit(value=True).alias(_KNOWN))
    else:
        rows = tables[0].filter(counted).select(GROUP, *on).unique()
        rows = rows.with_columns(pl.lit(value=True).alias(_KNOWN))
        cells = cells.join(rows, on=[GROUP, *on], how="left")
    drawn = cells.select(BOARD, *on).unique()
    if boards is not None and boards.clusters is not None:
        drawn = boards.clusters.unique()
    sizes = cells.group_by(BOARD).agg(pl.col(GROUP).n_unique().alias(":groups"))
    if boards is None or not boards.enough:
        check_enough(drawn.group_by(BOARD).len()["len"], drawn[on[-1]])
    check_terms(method, states, on)
    for run in _runs(method, drawn, on):
        run_sizes = sizes.join(run.clusters.select(BOARD).unique(), on=BOARD).sort(BOARD)
        limit = max(1, BATCH // max(run.replicates, run.total) // len(tables))
        if run.mixed and len(run_sizes) > 1:
            limit = min(limit, MIXED)
        batch = (pl.col(":groups").cum_sum() - pl.col(":groups")) // limit
        for _, part in run_sizes.group_by(batch.alias(":batch"), maintain_order=True):
            yield _pool(run, states, cells.join(part.select(BOARD), on=BOARD), on)


class _Run(NamedTuple):
    """Boards that share their draws.

    Attributes:
        clusters: Their clusters: `BOARD`, the cluster, its place among the weights, and the number
            of clusters that could have been drawn in its place.
        total: Number of places.
        replicates: Number of replicates.
        mixed: True if boards have some of the places each.
        weights: Of chosen places; all in order, unless they are mixed.
        strata: The stratum of each place, if clusters have one.
    """

    clusters: pl.DataFrame
    total: int
    replicates: int
    mixed: bool
    weights: Callable[[Ints], Weights] | None
    strata: Ints | None = None


def _runs(method: Method, drawn: pl.DataFrame, on: list[str]) -> Iterator[_Run]:
    replicates = method.n if isinstance(method, Bootstrap) else 1
    if len(on) > 1:
        from evalframe.resample.strata import SLOT, STRATUM_SIZE, strata_of, stratified_weights

        strata = strata_of(method, drawn, [BOARD], *on)
        renamed = strata.members.rename({SLOT: _PLACE, STRATUM_SIZE: _ALIKE})
        chosen = None
        if isinstance(method, Bootstrap):
            chosen = partial(_chosen, stratified_weights(method, strata))
        yield _Run(renamed, len(strata.names), replicates, True, chosen, strata.firsts)
        return
    (cluster,) = on
    drawn = drawn.with_columns(pl.len().over(BOARD).alias(_ALIKE)).sort(BOARD, cluster)
    place = pl.col(cluster).rank("dense").cast(pl.Int64) - 1
    if isinstance(method, Bootstrap) and method.draws == "poisson":
        # Weights belong to ids, so that all groups share one run, whatever clusters they have.
        drawn = drawn.with_columns(place.alias(_PLACE))
        ids = drawn.unique(_PLACE).sort(_PLACE)[cluster]
        yield _Run(drawn, len(ids), replicates, True, lambda p: bootstrap_weights(method, ids[p]))
        return
    # Weights belong to the rank of a cluster in its board: boards of one size share a run.
    drawn = drawn.with_columns(place.over(BOARD).alias(_PLACE)).sort(_ALIKE, maintain_order=True)
    for (size,), alike in drawn.group_by(_ALIKE, maintain_order=True):
        ids = pl.Series(range(int(size)), dtype=pl.Int64)
        chosen = None
        if isinstance(method, Bootstrap):
            chosen = partial(_chosen, bootstrap_weights(method, ids))
        yield _Run(alike, len(ids), replicates, False, chosen)


def _chosen(weights: Weights, places: Ints) -> Weights:
    """The weights of some places."""
    if len(places) == weights.held:
        return weights

    def chunks(size: int) -> Iterator[Chunk]:
        for rows in weights.chunks(size):
            yield np.ascontiguousarray(np.asarray(rows)[:, places])

    return Weights(weights.total, weights.held, chunks)


def _pool(run: _Run, states: States[pl.DataFrame], cells: pl.DataFrame, on: list[str]) -> Pool:
    groups = cells.select(BOARD, GROUP).unique().sort(BOARD, GROUP).with_row_index(_NEW)
    placed = cells.join(run.clusters, on=[BOARD, *on]).join(groups.drop(BOARD), on=GROUP)
    places, total = np.arange(run.total), run.total
    if run.mixed:
        places = placed[_PLACE].unique().sort().to_numpy()
        total = len(places)
        placed = placed.with_columns(pl.col(_PLACE).rank("dense").cast(pl.Int64) - 1)
    chosen = [
        table.join(placed.select(GROUP, *on, _NEW, _PLACE), on=[GROUP, *on])
        .drop(GROUP, *on)
        .rename({_NEW: GROUP, _PLACE: CLUSTER})
        for table in states.tables
    ]
    new, place = placed[_NEW].to_numpy(), placed[_PLACE].to_numpy()
    owned = None
    if len(placed) < total * len(groups):
        owned = np.zeros((total, len(groups)))
        owned[place, new] = 1.0
    free = placed.filter(_KNOWN)
    counts = np.bincount(free[_NEW].to_numpy(), minlength=len(groups))
    alternatives = free.filter(pl.col(_ALIKE) > 1)[_NEW].to_numpy()
    # A cluster that is alone in its stratum is always drawn.
    varies = np.bincount(alternatives, minlength=len(groups)) > 0
    varying = np.where(varies, counts, np.minimum(counts, 1))
    weights = None if run.weights is None else run.weights(places)
    strata = None if run.strata is None else run.strata[places]
    placed_states = states.with_tables(chosen)
    return Pool(groups[GROUP], counts, varying, placed_states, total, weights, owned, strata)
