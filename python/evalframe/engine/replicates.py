"""Bootstraps of Poisson draws whose replicates are added up by shards.

Which clusters a group has is known here; what the draws weigh is known to the workers. So pools of
groups come without states, and their replicates with their values. They come in passes, whose
cells times replicates stay below `_HELD`, which bounds the memory of workers.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.engine.clusters import OWN, Clusters, distinct_tables
from evalframe.engine.protocol import Engine, Progress, run, tree
from evalframe.engine.replicate_sums import (
    Columns,
    Finished,
    Pass,
    finished,
    joined,
    summed,
    text_of,
)
from evalframe.resample import draws
from evalframe.resample.contraction import GROUP
from evalframe.resample.draws import STRATUM
from evalframe.resample.levels import with_levels
from evalframe.resample.methods import Bootstrap, check_enough, check_known
from evalframe.resample.pools import BATCH, BOARD, Boards, Pool, cluster_columns

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.core.states import States
    from evalframe.resample.methods import Progress as OfReplicates
    from evalframe.resample.pools import Source

_HELD = 1 << 22
"""Cells times replicates of a pass."""

_ALIKE, _LEFT, _NEW = ":alike", ":left", ":new"


@dataclass(frozen=True)
class Summed(Pool):
    """Groups whose replicates have been added up elsewhere.

    Attributes:
        known: Values of all columns: once, without some clusters, and of the draws.
        before: Number of columns before the draws.
        touches: True where a group has a cluster of those left out, groups of clusters by groups.
        varied: What `free` says.
    """

    known: Finished | None = None
    before: int = 1
    touches: Bools | None = None
    varied: tuple[Ints, Ints] | None = None

    @property
    def _known(self) -> Finished:
        assert self.known is not None
        return self.known

    def points(self) -> Floats:
        """See `Pool`, and so all others."""
        assert self._known.points is not None
        return self._known.points

    def rows_and_units(self) -> dict[str, Ints]:
        """Numbers of rows and units."""
        assert self._known.counts is not None
        return self._known.counts

    def replicates(self, progress: OfReplicates) -> Floats:
        """Values of the draws."""
        return self._known.values[:, self.before :]

    def unit_drop_rate(self) -> dict[str, Floats]:
        """Of nested metrics: the share of units that a draw leaves without rows."""
        units = self._known.units
        if units is None:
            return {}
        once = units[:, 0]
        share = 1.0 - units[:, self.before :].mean(axis=1) / np.maximum(once, 1.0)
        return {"unit_drop_rate": np.where(once > 0, share, 0.0)}

    def left_out(self, method: Bootstrap, progress: OfReplicates) -> tuple[Floats, Bools | None]:
        """Values without some clusters."""
        return self._known.values[:, 1 : self.before], self.touches

    @functools.cached_property
    def free(self) -> tuple[Ints, Ints]:
        """Clusters that could have been others, and their strata."""
        assert self.varied is not None
        return self.varied


def source_of(engine: Engine, clusters: Clusters, progress: Progress | None) -> Source:
    """Pools of Poisson replicates that shards add up, in place of `pools`."""

    def source(
        method: Bootstrap,
        states: States[pl.DataFrame],
        boards: Boards | None = None,
        counted: pl.Expr | None = None,
    ) -> Iterator[Pool]:
        assert counted is None, "all rows make a cluster one of its group"
        tables, on = cluster_columns(states.tables)
        states = with_levels(method, states.with_tables(tables), on)
        found = _Groups.of(distinct_tables(states), on, boards)
        if boards is None or not boards.enough:
            check_enough(found.rows[_ALIKE], found.rows[on[-1]])
        most = max(1, BATCH // (Columns.of(method).total * len(states.metrics)))
        for some in found.batches(most):
            yield _pool(engine, clusters, method, states, some, progress)

    return source


@dataclass(frozen=True)
class _Groups:
    """Groups and their clusters.

    Attributes:
        rows: `GROUP`, `OWN`, `BOARD`, the cluster, how many could have been drawn in its place
            (`:alike`), and with which it is left out (`:left`).
        on: The columns of a cluster.
    """

    rows: pl.DataFrame
    on: list[str]

    @classmethod
    def of(cls, tables: Sequence[pl.DataFrame], on: list[str], boards: Boards | None) -> _Groups:
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
        draws.check_text(ids[on[-1]])
        left = draws.left_out_group(draws.stable_hash(text_of(ids, on)))
        ids = ids.with_columns(pl.Series(_LEFT, left))
        return cls(rows.join(drawn, on=[BOARD, *on]).join(ids, on=on), on)

    def batches(self, most: int) -> Iterator[_Groups]:
        """About so many groups at a time; boards are not split."""
        sizes = self.rows.group_by(BOARD).agg(pl.col(GROUP).n_unique().alias(":groups")).sort(BOARD)
        batch = (pl.col(":groups").cum_sum() - pl.col(":groups")) // most
        for _, part in sizes.group_by(batch.alias(":batch"), maintain_order=True):
            yield _Groups(self.rows.join(part.select(BOARD), on=BOARD), self.on)


def _pool(
    engine: Engine,
    clusters: Clusters,
    method: Bootstrap,
    states: States[pl.DataFrame],
    found: _Groups,
    progress: Progress | None,
) -> Summed:
    """The replicates of some groups."""
    rows, on = found.rows, found.on
    groups = rows.select(BOARD, GROUP, OWN).unique().sort(BOARD, GROUP).with_row_index(_NEW)
    rows = rows.join(groups.select(GROUP, _NEW), on=GROUP)
    columns = Columns.of(method)
    known = _values(engine, clusters, columns, states, rows, groups, on, progress)
    new, number = rows[_NEW].to_numpy(), len(groups)
    counts = np.bincount(new, minlength=number)
    varies = np.bincount(new[rows[_ALIKE].to_numpy() > 1], minlength=number) > 0
    varying = np.where(varies, counts, np.minimum(counts, 1))
    touches = None
    if columns.left_out:
        touches = np.zeros((columns.left_out, number), dtype=np.bool_)
        touches[rows[_LEFT].to_numpy(), new] = True
    return Summed(
        groups=groups[GROUP],
        counts=counts,
        varying=varying,
        states=states,
        clusters=rows.select(on).n_unique(),
        weights=None,
        owned=None,
        known=known,
        before=1 + columns.left_out,
        touches=touches,
        varied=_free(rows, on, counts),
    )


def _free(rows: pl.DataFrame, on: Sequence[str], counts: Ints) -> tuple[Ints, Ints]:
    if STRATUM not in on:
        return counts, np.ones_like(counts)
    sizes = rows.group_by(_NEW, STRATUM).len().filter(pl.col("len") > 1)
    new, number = sizes[_NEW].to_numpy(), len(counts)
    free = np.bincount(new, sizes["len"].to_numpy(), minlength=number).astype(np.int64)
    return free, np.bincount(new, minlength=number)


def _values(
    engine: Engine,
    clusters: Clusters,
    columns: Columns,
    states: States[pl.DataFrame],
    rows: pl.DataFrame,
    groups: pl.DataFrame,
    on: list[str],
    progress: Progress | None,
) -> Finished:
    """All columns of some groups, computed on an engine, pass by pass."""
    asked, slots = clusters.asked, engine.check()
    keys = asked.keys.inner
    # A group that has all clusters of its keys needs no list of them.
    every = clusters.members.join(
        rows.group_by(_NEW, OWN).len().rename({"len": ":mine"}), on=OWN
    ).with_columns((pl.col("len") == pl.col(":mine")).alias(":whole"))
    named = clusters.groups.with_row_index(OWN)
    number = pl.col(_NEW).cast(pl.UInt32).alias(GROUP)
    whole = named.join(every.filter(":whole"), on=OWN).select(*keys, number)
    part = rows.join(every.filter(~pl.col(":whole")).select(_NEW), on=_NEW)
    part = named.join(part, on=OWN).select(*keys, *on, number)
    share = len(groups) / max(len(named), 1)
    # Without a folder, sums of all shards of a pass are in this process.
    held = _HELD if clusters.folder is not None else _HELD >> 4
    step = max(1, int(held / max(1.0, max(clusters.cells) * share)))
    results: list[Finished] = []
    for first in range(0, columns.total, step):
        stop = min(first + step, columns.total)
        folder = None if clusters.folder is None else Path(mkdtemp(dir=clusters.folder))
        of = Pass(asked, whole, part, columns, first, stop, folder)
        made = run(engine, asked.task("replicates", partial(summed, of)), clusters.stored, progress)
        total = tree(engine, asked.task("merge", partial(joined, of)), made, progress=progress)
        ends = np.linspace(0, stop - first, min(slots, stop - first) + 1).astype(int).tolist()
        items = [(total, a, b) for a, b in pairwise(ends)]
        finish = partial(finished, of, dict(states.drawn), len(groups))
        results += run(engine, asked.task("finish", finish), items, progress)
        if folder is not None:
            shutil.rmtree(folder)
    units = [each.units for each in results if each.units is not None]
    return Finished(
        np.concatenate([each.values for each in results], axis=1),
        np.concatenate(units, axis=1) if units else None,
        results[0].points,
        results[0].counts,
    )
