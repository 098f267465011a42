"""Bootstraps of Poisson draws whose replicates are added up by shards.

Which clusters a group has is known here; what the draws weigh is known to the workers. So pools of
groups come without states, and their replicates with their values. They come in passes, whose
cells times replicates stay below `_HELD`, which bounds the memory of workers.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.engine.clusters import COUNT, LEFT, OWN, Clusters, distinct_tables
from evalframe.engine.protocol import Engine, run, tree
from evalframe.engine.replicate_sums import (
    Columns,
    Finished,
    Pass,
    finished,
    joined,
    summed,
)
from evalframe.resample import draws
from evalframe.resample.contraction import GROUP
from evalframe.resample.draws import GROUPS, STRATUM
from evalframe.resample.levels import with_levels
from evalframe.resample.methods import Bootstrap, check_enough, check_known
from evalframe.resample.pools import BATCH, BOARD, Boards, Pool, cluster_columns
from evalframe.resample.strata import text_of

if TYPE_CHECKING:
    from evalframe.core.progress import Progress
    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.core.states import States
    from evalframe.resample.pools import Source

_HELD = 1 << 22
"""Cells times replicates of a pass."""

_ALIKE, _NEW = ":alike", ":new"


@dataclass(frozen=True, kw_only=True)
class Summed(Pool):
    """Groups whose replicates have been added up elsewhere.

    Attributes:
        known: Values of all columns: once, without some clusters, and of the draws.
        before: Number of columns before the draws.
        touches: True where a group has a cluster of those left out, groups of clusters by groups.
        varied: What `free` says.
    """

    known: Finished
    before: int
    touches: Bools
    varied: tuple[Ints, Ints]

    def points(self) -> Floats:
        """See `Pool`, and so all others."""
        assert self.known.points is not None
        return self.known.points

    def rows_and_units(self) -> dict[str, Ints]:
        """Numbers of rows and units."""
        assert self.known.counts is not None
        return self.known.counts

    def replicates(self, progress: Progress) -> Floats:
        """Values of the draws."""
        return self.known.values[:, self.before :]

    def unit_drop_rate(self) -> dict[str, Floats]:
        """Of nested metrics: the share of units that a draw leaves without rows."""
        units = self.known.units
        if units is None:
            return {}
        once = units[:, 0]
        share = 1.0 - units[:, self.before :].mean(axis=1) / np.maximum(once, 1.0)
        return {"unit_drop_rate": np.where(once > 0, share, 0.0)}

    def left_out(self, method: Bootstrap, progress: Progress) -> tuple[Floats, Bools | None]:
        """Values without some clusters."""
        return self.known.values[:, 1 : self.before], self.touches

    @functools.cached_property
    def free(self) -> tuple[Ints, Ints]:
        """Clusters that could have been others, and their strata."""
        return self.varied


def source_of(engine: Engine, clusters: Clusters) -> Source:
    """Pools of Poisson replicates that shards add up, in place of `pools`."""

    def source(
        method: Bootstrap,
        states: States[pl.DataFrame],
        boards: Boards | None = None,
        counted: pl.Expr | None = None,
    ) -> Iterator[Pool]:
        assert counted is None, "all rows make a cluster one of its group"
        most = max(1, BATCH // (Columns.of(method).total * len(states.metrics)))
        found: _Listed | _Counted
        if clusters.left is not None:
            assert boards is None, "boards need lists of clusters"
            found = _Counted(states.tables[0], clusters.left)
        else:
            tables, on = cluster_columns(states.tables)
            states = with_levels(method, states.with_tables(tables), on)
            found = _Listed.of(distinct_tables(states), on, boards, clusters.members)
            if boards is None or not boards.enough:
                check_enough(found.rows[_ALIKE], found.rows[on[-1]])
        for some in found.batches(most):
            yield _pool(engine, clusters, method, states, some.facts())

    return source


class _Facts(NamedTuple):
    """What is known of the clusters of some groups.

    Attributes:
        groups: `GROUP` and `OWN`, in the order of all else.
        counts: How many clusters each has.
        varying: Those that could have been others: all, or at most one.
        free: See `Pool.free`.
        touches: True where a group has one of those that are left out, `GROUPS` by groups.
        part: `OWN`, place and clusters of groups that lack clusters of their keys, if any do.
    """

    groups: pl.DataFrame
    counts: Ints
    varying: Ints
    free: tuple[Ints, Ints]
    touches: Bools
    part: pl.DataFrame | None


def _facts(
    groups: pl.DataFrame, sizes: pl.DataFrame, left: pl.DataFrame, part: pl.DataFrame | None
) -> _Facts:
    """From the clusters of each group and stratum, and those that are left out."""
    # `sizes` and `left` have the place of the group, `_NEW`.
    number = len(groups)
    new = sizes[_NEW].to_numpy()

    def total(weights: Ints | Bools) -> Ints:
        return np.bincount(new, weights, minlength=number).astype(np.int64)

    size = sizes[COUNT].to_numpy()
    counts, varies = total(size), total(sizes[_ALIKE].to_numpy() > 1) > 0
    several = size > 1
    free = counts, np.ones_like(counts)
    if STRATUM in sizes.columns:
        free = total(size * several), total(several)
    touches = np.zeros((GROUPS, number), dtype=np.bool_)
    touches[left[LEFT].to_numpy(), left[_NEW].to_numpy()] = True
    varying = np.where(varies, counts, np.minimum(counts, 1))
    return _Facts(groups, counts, varying, free, touches, part)


@dataclass(frozen=True)
class _Counted:
    """Groups whose clusters have been counted.

    Attributes:
        sizes: `GROUP`, `OWN`, perhaps the stratum, and `COUNT`.
    """

    sizes: pl.DataFrame
    left: pl.DataFrame

    def batches(self, most: int) -> Iterator[_Counted]:
        """So many groups at a time."""
        for _, part in self.sizes.group_by(pl.col(GROUP) // most, maintain_order=True):
            yield _Counted(part, self.left)

    def facts(self) -> _Facts:
        """What is known of them."""
        groups = self.sizes.select(GROUP, OWN).unique().sort(GROUP)
        place = groups.select(OWN).with_row_index(_NEW)
        sizes = self.sizes.with_columns(pl.col(COUNT).alias(_ALIKE)).join(place, on=OWN)
        return _facts(groups, sizes, self.left.join(place, on=OWN), None)


@dataclass(frozen=True)
class _Listed:
    """Groups whose clusters are listed.

    Attributes:
        rows: `GROUP`, `OWN`, `BOARD`, the cluster, how many could have been drawn in its place
            (`:alike`), and with which it is left out (`LEFT`).
        on: The columns of a cluster.
        members: See `Clusters.members`.
    """

    rows: pl.DataFrame
    on: list[str]
    members: pl.DataFrame

    @classmethod
    def of(
        cls,
        tables: Sequence[pl.DataFrame],
        on: list[str],
        boards: Boards | None,
        members: pl.DataFrame,
    ) -> _Listed:
        """From the tables of groups and clusters."""
        rows = pl.concat([table.select(GROUP, OWN, *on) for table in tables]).unique()
        check_known(rows[on[-1]])
        if boards is None:
            rows = rows.with_columns(pl.col(GROUP).cast(pl.Int64).alias(BOARD))
        else:
            owner = pl.DataFrame({BOARD: boards.of}).with_row_index(GROUP)
            rows = rows.join(owner.cast({GROUP: rows.schema[GROUP]}), on=GROUP)
        drawn = rows.select(BOARD, *on).unique()
        drawn = drawn.with_columns(pl.len().over(BOARD, *on[:-1]).alias(_ALIKE))
        ids = drawn.select(on).unique()
        left = draws.left_out_group(draws.stable_hash(text_of(ids, on)))
        ids = ids.with_columns(pl.Series(LEFT, left))
        return cls(rows.join(drawn, on=[BOARD, *on]).join(ids, on=on), on, members)

    def batches(self, most: int) -> Iterator[_Listed]:
        """About so many groups at a time; boards are not split."""
        sizes = self.rows.group_by(BOARD).agg(pl.col(GROUP).n_unique().alias(":groups")).sort(BOARD)
        batch = (pl.col(":groups").cum_sum() - pl.col(":groups")) // most
        for _, part in sizes.group_by(batch.alias(":batch"), maintain_order=True):
            yield replace(self, rows=self.rows.join(part.select(BOARD), on=BOARD))

    def facts(self) -> _Facts:
        """What is known of them."""
        groups = self.rows.select(BOARD, GROUP, OWN).unique().sort(BOARD, GROUP).drop(BOARD)
        place = groups.with_row_index(_NEW)
        rows = self.rows.join(place.drop(OWN), on=GROUP)
        strata = self.on[:-1]
        sizes = rows.group_by(_NEW, *strata).agg(pl.len().alias(COUNT), pl.col(_ALIKE).max())
        # A group that has all clusters of its keys needs no list of them.
        mine = rows.group_by(_NEW, OWN).len(":mine").join(self.members, on=OWN)
        lacking = mine.filter(pl.col(":mine") < pl.col("len")).select(_NEW)
        part = rows.join(lacking, on=_NEW).select(OWN, _NEW, *self.on) if len(lacking) else None
        return _facts(groups, sizes, rows.select(_NEW, LEFT).unique(), part)


def _pool(
    engine: Engine,
    clusters: Clusters,
    method: Bootstrap,
    states: States[pl.DataFrame],
    facts: _Facts,
) -> Summed:
    """The replicates of some groups."""
    columns = Columns.of(method)
    return Summed(
        groups=facts.groups[GROUP],
        counts=facts.counts,
        varying=facts.varying,
        states=states,
        clusters=0,
        weights=None,
        owned=None,
        known=_values(engine, clusters, columns, states, facts),
        before=1 + columns.left_out,
        touches=facts.touches,
        varied=facts.free,
    )


def _values(
    engine: Engine,
    clusters: Clusters,
    columns: Columns,
    states: States[pl.DataFrame],
    facts: _Facts,
) -> Finished:
    """All columns of some groups, computed on an engine, pass by pass."""
    asked, slots = clusters.asked, engine.check()
    keys = asked.keys.inner
    named = clusters.groups.with_row_index(OWN)
    number = pl.col(_NEW).cast(pl.UInt32).alias(GROUP)
    whole = named.join(facts.groups.select(OWN).with_row_index(_NEW), on=OWN)
    part = None
    if facts.part is not None:
        whole = whole.join(facts.part, on=_NEW, how="anti")
        part = named.join(facts.part, on=OWN).drop(OWN).with_columns(number).drop(_NEW)
    whole = whole.select(*keys, number)
    share = len(facts.groups) / max(len(named), 1)
    # Without a folder, sums of all shards of a pass are in this process.
    held = _HELD if clusters.folder is not None else _HELD >> 4
    step = max(1, int(held / max(1.0, max(clusters.cells) * share)))
    results: list[Finished] = []
    for first in range(0, columns.total, step):
        stop = min(first + step, columns.total)
        folder = None if clusters.folder is None else Path(mkdtemp(dir=clusters.folder))
        of = Pass(asked, whole, part, columns, first, stop, folder)
        made = run(engine, asked.task("replicates", partial(summed, of)), clusters.stored)
        total = tree(engine, asked.task("merge", partial(joined, of)), made)
        ends = np.linspace(0, stop - first, min(slots, stop - first) + 1).astype(int).tolist()
        items = [(total, a, b) for a, b in pairwise(ends)]
        finish = partial(finished, of, dict(states.drawn), len(facts.groups))
        results += run(engine, asked.task("finish", finish), items)
        if folder is not None:
            shutil.rmtree(folder)
    units = [each.units for each in results if each.units is not None]
    return Finished(
        np.concatenate([each.values for each in results], axis=1),
        np.concatenate(units, axis=1) if units else None,
        results[0].points,
        results[0].counts,
    )
