"""Pools: groups that share their draws, in batches that fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.states import CLUSTER, States
from evalframe.resample import draws
from evalframe.resample.checks import check_enough, check_known
from evalframe.resample.contraction import GROUP
from evalframe.resample.draws import Weights
from evalframe.resample.methods import Bootstrap, Method
from evalframe.resample.strata import (
    MEMBER,
    SLOT,
    STRATUM,
    STRATUM_SIZE,
    strata_of,
    stratified_weights,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.resample.draws import Chunk

BATCH = 1 << 24
"""Replicate values held at a time."""

MIXED = 16
"""Groups resampled at a time where each has a few of the clusters that are drawn."""

BOARD = ":board"
_PLACE, _ALIKE, _NEW, _KNOWN = ":place", ":alike", ":new", ":known"


@dataclass(frozen=True)
class Boards:
    """Which groups see the same draws; else each group sees its own.

    Attributes:
        of: The number of the board of each group.
        clusters: `BOARD` and cluster of what is drawn, where that is more than the groups have.
        enough: Whether the caller knows that some board has two clusters, here or elsewhere.
    """

    of: pl.Series
    clusters: pl.DataFrame | None = None
    enough: bool = False


@dataclass(frozen=True)
class Pool:
    """Groups that share their draws.

    Attributes:
        groups: Numbers of the groups, board by board.
        counts: How many clusters each group has.
        varying: How many of them could have been others: all, or at most one.
        states: States of clusters of those groups, groups and clusters numbered from 0.
        clusters: Number of clusters.
        weights: How often each of them is drawn; of a bootstrap.
        owned: Which of them each group has, clusters by groups; None where each has all.
    """

    groups: pl.Series
    counts: Ints
    varying: Ints
    states: States[pl.DataFrame]
    clusters: int
    weights: Weights | None
    owned: Floats | None

    @property
    def n_clusters(self) -> pl.Series:
        """The column `n_clusters` of the groups."""
        return pl.Series("n_clusters", self.counts, dtype=pl.Int64)

    @property
    def drawn(self) -> Weights:
        """The weights of a bootstrap."""
        assert self.weights is not None
        return self.weights

    def touched(self, left_out: Weights) -> Bools | None:
        """Whether a group lacks a cluster that it has; None where each lacks one each time."""
        if self.owned is None:
            return None
        chunk = max(1, BATCH // max(self.owned.shape))
        kept = np.concatenate([rows @ self.owned for rows in left_out.chunks(chunk)])
        touched: Bools = kept < self.owned.sum(axis=0)
        return touched


def flat(tables: Sequence[pl.DataFrame]) -> tuple[list[pl.DataFrame], list[str]]:
    """Cluster states, and the columns that name a cluster: its stratum and itself, or itself."""
    if STRATUM in tables[0].columns:
        return [*tables], [STRATUM, MEMBER]
    if isinstance(tables[0].schema[CLUSTER], pl.Struct) and _is_stratified(tables[0]):
        return [table.unnest(CLUSTER) for table in tables], [STRATUM, MEMBER]
    return [*tables], [CLUSTER]


def _is_stratified(table: pl.DataFrame) -> bool:
    return table.select(pl.col(CLUSTER).struct.unnest()).columns == [STRATUM, MEMBER]


def pools(
    method: Method,
    states: States[pl.DataFrame],
    boards: Boards | None = None,
    counted: pl.Expr | None = None,
) -> Iterator[Pool]:
    """Groups in batches that share their draws and fit in memory; boards are not parted.

    Args:
        method: What the pools are for.
        states: States of clusters, with `:group` for the keys.
        boards: Which groups see the same draws.
        counted: Which states of the first table count as a cluster of their group; by default all.

    Raises:
        ParameterError: No board has two clusters, or one of them is null.
    """
    tables, on = flat(states.tables)
    states = states.with_tables(tables)
    cells = pl.concat([table.select(GROUP, *on) for table in tables]).unique()
    check_known(cells[on[-1]])
    if boards is None:
        cells = cells.with_columns(pl.col(GROUP).alias(BOARD))
    else:
        owner = pl.DataFrame({BOARD: boards.of}).with_row_index(GROUP)
        cells = cells.join(owner, on=GROUP)
    if counted is None:
        cells = cells.with_columns(pl.lit(value=True).alias(_KNOWN))
    else:
        known = tables[0].filter(counted).select(GROUP, *on).unique()
        known = known.with_columns(pl.lit(value=True).alias(_KNOWN))
        cells = cells.join(known, on=[GROUP, *on], how="left")
    drawn = cells.select(BOARD, *on).unique()
    if boards is not None and boards.clusters is not None:
        drawn = boards.clusters.unique()
    sizes = cells.group_by(BOARD).agg(pl.col(GROUP).n_unique().alias(":groups"))
    if boards is None or not boards.enough:
        check_enough(drawn.group_by(BOARD).len()["len"], drawn[on[-1]])
    for run in _runs(method, drawn, on):
        mine = sizes.join(run.clusters.select(BOARD).unique(), on=BOARD).sort(BOARD)
        limit = max(1, BATCH // max(run.replicates, run.total) // len(tables))
        if run.mixed and len(mine) > 1:
            limit = min(limit, MIXED)
        batch = (pl.col(":groups").cum_sum() - pl.col(":groups")) // limit
        for _, part in mine.group_by(batch.alias(":batch"), maintain_order=True):
            yield _pool(run, states, cells.join(part.select(BOARD), on=BOARD), on)


class _Run(NamedTuple):
    """Boards that share their draws.

    Attributes:
        clusters: Their clusters: `BOARD`, the cluster, its place among the weights, and how many
            there are that could have been drawn in its place.
        total: Number of places.
        replicates: Their number.
        mixed: Whether boards have some of the places each.
        weights: Of chosen places; all in order, unless they are mixed.
    """

    clusters: pl.DataFrame
    total: int
    replicates: int
    mixed: bool
    weights: Callable[[Ints], Weights] | None


def _runs(method: Method, drawn: pl.DataFrame, on: list[str]) -> Iterator[_Run]:
    replicates = method.n if isinstance(method, Bootstrap) else 1
    if len(on) > 1:
        assert isinstance(method, Bootstrap)
        strata = strata_of(method, drawn, [BOARD], *on)
        renamed = strata.members.rename({SLOT: _PLACE, STRATUM_SIZE: _ALIKE})
        weights = stratified_weights(method, strata)
        yield _Run(renamed, len(strata.names), replicates, True, lambda p: _chosen(weights, p))
        return
    cluster = on[0]
    drawn = drawn.with_columns(pl.len().over(BOARD).alias(_ALIKE)).sort(BOARD, cluster)
    place = pl.col(cluster).rank("dense").cast(pl.Int64) - 1
    if isinstance(method, Bootstrap) and method.draws == "poisson":
        drawn = drawn.with_columns(place.alias(_PLACE))
        ids = drawn.unique(_PLACE).sort(_PLACE)[cluster]
        yield _Run(
            drawn, len(ids), replicates, True, lambda p: draws.bootstrap_weights(method, ids[p])
        )
        return
    drawn = drawn.with_columns(place.over(BOARD).alias(_PLACE))
    for (size,), alike in drawn.sort(_ALIKE, maintain_order=True).group_by(
        _ALIKE, maintain_order=True
    ):
        ids = pl.Series(range(int(size)), dtype=pl.Int64)
        weights_of = None
        if isinstance(method, Bootstrap):
            weights_of = _fixed(draws.bootstrap_weights(method, ids))
        yield _Run(alike, len(ids), replicates, False, weights_of)


def _fixed(weights: Weights) -> Callable[[Ints], Weights]:
    return lambda _: weights


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
    # Where each cluster is alone in its stratum it is always drawn.
    varies = np.bincount(alternatives, minlength=len(groups)) > 0
    varying = np.where(varies, counts, np.minimum(counts, 1))
    weights = None if run.weights is None else run.weights(places)
    return Pool(groups[GROUP], counts, varying, states.with_tables(chosen), total, weights, owned)


def number_groups(states: States[pl.DataFrame], groups: pl.DataFrame) -> States[pl.DataFrame]:
    """The states with the number of the group in place of the keys."""
    keys = states.keys.inner
    if keys:
        numbered = groups.with_row_index(GROUP)
        tables = [t.join(numbered, on=keys, nulls_equal=True).drop(keys) for t in states.tables]
    else:
        number = pl.lit(0, dtype=pl.UInt32).alias(GROUP)
        tables = [table.with_columns(number) for table in states.tables]
    return states.with_tables(tables)
