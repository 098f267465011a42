"""Pools: groups that share their draws, and all that is computed from those.

Groups with the same number of clusters share their draws, as a *pool*, so that models on the same
items are resampled alike and the weights are computed once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from evalframe.core.progress import Progress, bar, untold
from evalframe.core.states import CLUSTER, States
from evalframe.resample.contraction import GROUP, Contraction
from evalframe.resample.draws import MEMBER, STRATUM, Chunk, Weights, bootstrap_weights, left_out
from evalframe.resample.levels import check_terms, with_levels
from evalframe.resample.methods import Bootstrap, Method, check_enough, check_known
from evalframe.resample.nested import Contractions, contract
from evalframe.resample.replicates import replicates

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints


BATCH = 1 << 24
"""Replicate values held at a time."""

MIXED = 16
"""Groups resampled at a time if each has a few of the clusters that are drawn."""

BOARD = ":board"

_PLACE, _ALIKE, _NEW, _KNOWN = ":place", ":alike", ":new", ":known"


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
        progress: Told of the replicates that are made.
    """

    groups: pl.Series
    counts: Ints
    varying: Ints
    states: States[pl.DataFrame]
    clusters: int
    weights: Weights | None
    owned: Floats | None
    strata: Ints | None = None
    progress: Progress = untold

    @property
    def drawn(self) -> Weights:
        """The weights of a bootstrap."""
        assert self.weights is not None
        return self.weights

    @functools.cached_property
    def contraction(self) -> Contraction | Contractions:
        """Values of the metrics for any weights of the clusters."""
        return contract(self.states, len(self.groups), self.clusters)

    def points(self) -> Floats:
        """The estimates, metrics by groups; NaN where a metric is undefined."""
        return self.contraction.points()

    def rows_and_units(self) -> dict[str, Ints]:
        """Numbers of rows and units used and left out, metrics by groups."""
        return self.contraction.counts()

    def replicates(self, progress: Progress) -> Floats:
        """Values of the replicates of a bootstrap: metrics by replicates by groups."""
        if isinstance(self.contraction, Contractions):
            self.contraction.count_absent()
        return replicates(self.contraction, self.drawn, progress)

    def unit_drop_rate(self) -> dict[str, Floats]:
        """Mean share of units without rows in the replicates; of flat metrics nothing."""
        if isinstance(self.contraction, Contractions):
            return {"unit_drop_rate": self.contraction.unit_drop_rate()}
        return {}

    def left_out(self, method: Bootstrap, progress: Progress) -> tuple[Floats, Bools | None]:
        """Values without some clusters, likewise, and `touched` of those."""
        weights = left_out(method, self.clusters, self.drawn.hashes)
        return replicates(self.contraction, weights, progress), self.touched(weights)

    @functools.cached_property
    def free(self) -> tuple[Ints, Ints]:
        """Of each group the clusters that could have been others, and their number of strata.

        Clusters that are alone in their stratum do not vary, and neither makes intervals wider.
        """
        if self.strata is None:
            return self.counts, np.ones_like(self.counts)
        _, which = np.unique(self.strata, return_inverse=True)
        belongs = np.arange(which.max() + 1)[:, None] == which
        everywhere = np.ones((self.clusters, len(self.groups)))
        sizes = belongs @ (everywhere if self.owned is None else self.owned)
        sizes[sizes < 2] = 0
        return sizes.sum(axis=0).astype(np.int64), (sizes > 0).sum(axis=0)

    def touched(self, left_out: Weights) -> Bools | None:
        """True if a group lacks a cluster that it has; None if each lacks one each time."""
        if self.owned is None:
            return None
        chunk = max(1, BATCH // max(self.owned.shape))
        remaining = np.concatenate([rows @ self.owned for rows in left_out.chunks(chunk)])
        touched: Bools = remaining < self.owned.sum(axis=0)
        return touched


Source: TypeAlias = Callable[..., Iterator[Pool]]
"""What gives pools of states: `pools`, or sums of replicates that were made elsewhere."""


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
    done, total = 0, cells[GROUP].n_unique()
    with bar(type(method).__name__.lower()) as report:
        for run in _runs(method, drawn, on):
            run_sizes = sizes.join(run.clusters.select(BOARD).unique(), on=BOARD).sort(BOARD)
            limit = max(1, BATCH // max(run.replicates, run.total) // len(tables))
            if run.mixed and len(run_sizes) > 1:
                limit = min(limit, MIXED)
            batch = (pl.col(":groups").cum_sum() - pl.col(":groups")) // limit
            for _, part in run_sizes.group_by(batch.alias(":batch"), maintain_order=True):
                pool = _pool(run, states, cells.join(part.select(BOARD), on=BOARD), on)
                own = partial(_of_all, report, total, done, len(pool.groups))
                yield replace(pool, progress=method.progress or own)
                done += len(pool.groups)


def _of_all(
    report: Callable[[float, float], None],
    groups: int,
    before: int,
    these: int,
    done: int,
    total: int,
) -> None:
    """Report what is done of these groups as a part of all groups."""
    report(before + these * done / max(total, 1), groups)


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

    hashes = None if weights.hashes is None else weights.hashes[places]
    return Weights(weights.total, weights.held, chunks, hashes)


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
