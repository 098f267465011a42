"""From states of clusters and weights to values of metrics in replicates.

A replicate is a weighted sum of the states of clusters, so rows are never drawn or sorted again.
For B replicates, C clusters, G groups and S sums the totals are one product, (B x C) @ (C x G S).

Sums per level take one of three ways, since a (C x levels) matrix can be huge and nearly empty:

* dense: few levels; the same product, with one column for each level and sum.
* sparse: levels with many entries of the same few clusters; one sparse product for each sum.
* gather: nearly unique levels, so that most have one entry (cluster, level): its weight times its
  value. It is a copy of B x entries numbers, without multiplying by zeros.

Then each (replicate, group) is a segment of levels, and the kernel and finishes of plain groups
give all values at once, B x G x levels numbers at a time: chunks of replicates bound the memory.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from evalframe.core import kernel, segments
from evalframe.core.errors import ParameterError
from evalframe.core.state import LEVEL, N_MISSING, Axis, N
from evalframe.core.states import CLUSTER, Block, States
from evalframe.core.views import Views
from evalframe.resample.products import Blocks, gathered, product

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.draws import Chunk


GROUP = ":group"

_DENSE = 24
"""A matrix product does this many multiplications in the time of gathering one entry."""

_CROWDED = 4
"""With more entries per level than this, a sparse product is faster than gathering them."""


class Weighable(Protocol):
    """Metrics that have values for any weights of clusters."""

    clusters: int

    @property
    def width(self) -> int:
        """Numbers held per replicate."""

    def values(self, weights: Chunk) -> Floats:
        """Metrics by replicates by groups; NaN where a metric is undefined or no row was drawn."""


@dataclass
class Levels:
    """A block's sums per level of the groups of a pool.

    Attributes:
        owner: The cluster of each entry; entries are sorted by group and level.
        entries: The sums of each entry.
        first: The first entry of each level.
        starts: The first level of each group, and the end.
        levels: The values of the levels.
        dense: Sums as clusters by levels, or None.
        sparse: Sums as levels by clusters, or None.
    """

    owner: Ints
    entries: dict[str, Floats]
    first: Ints
    starts: Ints
    levels: Floats
    dense: dict[str, Floats] | None
    sparse: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Entries beyond the first of their level, where their runs begin, and their levels."""
        # `counted` is a sum that is 1 at every first entry, whose weights need no product.
        beyond = np.ones(len(self.owner), dtype=np.bool_)
        beyond[self.first] = False
        self.further = np.flatnonzero(beyond)
        level = np.searchsorted(self.first, self.further, side="right") - 1
        self.shared, self.runs = np.unique(level, return_index=True)
        ones = (name for name, values in self.entries.items() if (values[self.first] == 1.0).all())
        self.counted = next(ones, None)

    @classmethod
    def of(cls, table: pl.DataFrame, block: Block, groups: int, clusters: int) -> Levels:
        """The levels of all groups, in their order."""
        assert block.axis is not None
        flags = [False, block.axis.descending]
        table = table.filter(pl.col(LEVEL).is_not_null()).sort(GROUP, LEVEL, descending=flags)
        owner = table[CLUSTER].to_numpy().astype(np.int64)
        entries = {name: table[name].to_numpy() for name in block.sums}
        group = table[GROUP].to_numpy()
        level = table[LEVEL].to_numpy()
        by_group = np.searchsorted(group, np.arange(groups + 1))
        first = segments.boundaries(level, by_group)
        starts = np.searchsorted(first, by_group)
        result = cls(owner, entries, first, starts, level[first], None)
        place = result.place
        shape = (len(first), clusters)
        if clusters * len(first) <= _DENSE * len(owner):
            result.dense = {}
            for name, values in entries.items():
                matrix = np.zeros((clusters, len(first)))
                matrix[owner, place] = values
                result.dense[name] = matrix
        elif len(owner) > _CROWDED * len(first):
            from scipy import sparse

            result.sparse = {
                name: sparse.csc_array((values, (place, owner)), shape=shape)
                for name, values in entries.items()
            }
        return result

    @functools.cached_property
    def place(self) -> Ints:
        """The level of each entry."""
        return np.repeat(np.arange(len(self.first)), np.diff(self.first, append=len(self.owner)))

    @property
    def filled(self) -> Levels:
        """Without entries of nothing, and levels that have no others."""
        some = np.any([values != 0.0 for values in self.entries.values()], axis=0)
        if some.all():
            return self
        filled, first = np.unique(self.place[some], return_index=True)
        entries = {name: values[some] for name, values in self.entries.items()}
        starts = np.searchsorted(filled, self.starts)
        return Levels(self.owner[some], entries, first, starts, self.levels[filled], None)

    @functools.cached_property
    def group(self) -> Ints:
        """The group of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))[self.place]

    def spread(self, name: str, shares: Floats, shape: tuple[int, int]) -> Floats:
        """Entries of a sum times the share of their level, added up: groups by clusters."""
        groups, clusters = shape
        cell = self.group * clusters + self.owner
        weighted = self.entries[name] * shares[self.place]
        added: Floats = np.bincount(cell, weighted, minlength=groups * clusters).astype(np.float64)
        return added.reshape(shape)

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        gathers = self.dense is None and self.sparse is None
        return len(self.owner if gathers else self.first)

    def sums(self, weights: Chunk, dense: Floats) -> dict[str, Floats]:
        """Sums per level, replicates by levels of all groups, flattened."""
        # `dense` is the product of the weights and the dense matrices, if there are any.
        if self.dense is not None:
            parts = np.split(dense, len(self.dense), axis=1)
            return {name: part.ravel() for name, part in zip(self.dense, parts, strict=True)}
        if self.sparse is not None:
            return {name: product(weights, each).ravel() for name, each in self.sparse.items()}
        # Most levels have one entry: only what is beyond a level's first entry needs adding up.
        drawn = gathered(weights, self.owner[self.first])
        firsts = {name: values[self.first] for name, values in self.entries.items()}
        result = {n: drawn * values for n, values in firsts.items() if n != self.counted}
        if self.counted is not None:
            result[self.counted] = drawn
        if len(self.further):
            drawn = gathered(weights, self.owner[self.further])
            for name, values in self.entries.items():
                weighted = drawn * values[self.further]
                result[name][:, self.shared] += np.add.reduceat(weighted, self.runs, axis=1)
        return {name: values.ravel() for name, values in result.items()}


class Contraction:
    """Values of metrics for any weights of the clusters of a pool.

    Attributes:
        sums: For each block the names of its sums.
        terms: For each block the axes of its metrics, with the prefix of their terms.
        levels: For each block its sums per level, if it has levels.
        finishes: The metrics over `columns`.
    """

    def __init__(
        self, states: States[pl.DataFrame], groups: int, clusters: int, parts: Ints | None = None
    ) -> None:
        self.groups, self.clusters = groups, clusters
        self._parts = parts
        blocks, tables = states.blocks, states.tables
        self.sums = [list(block.all_sums) for block in blocks]
        self.terms: list[list[tuple[str, Axis]]] = [block.terms for block in blocks]
        each = states.finishes()
        self.finishes = [value for value, _, _ in each]
        self._rows = [n + missing for _, n, missing in each]
        self._counted = {N: [n for _, n, _ in each], N_MISSING: [m for _, _, m in each]}
        self._names = [f":{i}" for i in range(len(each))]
        self._totals = [
            self._total_matrix(names, table) for names, table in zip(self.sums, tables, strict=True)
        ]
        self.levels = [
            Levels.of(table, block, groups, clusters) if block.axis is not None else None
            for block, table in zip(blocks, tables, strict=True)
        ]

        # One product serves all: reading the weights is what it costs.
        dense = [list(each.dense.values()) if each and each.dense else [] for each in self.levels]
        matrices = [
            np.hstack([np.empty((clusters, 0)) if isinstance(totals, Blocks) else totals, *more])
            for totals, more in zip(self._totals, dense, strict=True)
        ]
        self._cuts = np.cumsum([matrix.shape[1] for matrix in matrices])[:-1]
        self._states = np.hstack(matrices)

    @property
    def has_levels(self) -> bool:
        """True if a metric orders rows."""
        return any(levels is not None for levels in self.levels)

    @property
    def width(self) -> int:
        """Numbers held per replicate, for sizing chunks."""
        levels = [each.width for each in self.levels if each is not None]
        return max([self.groups * len(self.finishes), *levels])

    def _total_matrix(self, names: list[str], table: pl.DataFrame) -> Floats | Blocks:
        """Sums of clusters: clusters by groups and sums; in blocks if most are 0."""
        states = table.group_by(GROUP, CLUSTER).agg(pl.col(names).sum())
        check_finite(states, names)
        owner, group = states[CLUSTER].to_numpy(), states[GROUP].to_numpy()
        if self._parts is not None:
            sums = {name: states[name].to_numpy() for name in names}
            return Blocks(
                owner.astype(np.int64), group.astype(np.int64), sums, self._parts, self.clusters
            )
        matrix = np.zeros((self.clusters, self.groups, len(names)))
        matrix[owner, group] = states.select(names).to_numpy()
        return matrix.reshape(self.clusters, -1)

    def counts(self) -> dict[str, Ints]:
        """Numbers of rows that each metric uses and leaves out, metrics by groups."""
        columns: dict[str, Floats] = {}
        for number, (names, matrix) in enumerate(zip(self.sums, self._totals, strict=True)):
            assert isinstance(matrix, np.ndarray), "cells of units are counted by unit"
            summed = matrix.sum(axis=0).reshape(self.groups, len(names))
            columns |= {f"{number}:{name}": summed[:, i] for i, name in enumerate(names)}
        frame = pl.DataFrame(columns)
        return {
            name: np.stack([frame.select(expr).to_series().to_numpy() for expr in exprs])
            .round()
            .astype(np.int64)
            for name, exprs in self._counted.items()
        }

    @property
    def totals(self) -> list[Floats]:
        """For each block the sums of clusters: clusters by groups by sums."""
        return [
            matrix.reshape(self.clusters, self.groups, -1)
            for matrix in self._totals
            if isinstance(matrix, np.ndarray)
        ]

    def points(self) -> Floats:
        """Metrics by groups with every cluster once; NaN where a metric is undefined."""
        return self._finished(np.ones((1, self.clusters)), self.finishes)[:, 0]

    def values(self, weights: Chunk) -> Floats:
        """Metrics by replicates by groups; NaN where a metric is undefined or no row was drawn."""
        drawn = [
            pl.when(rows > 0).then(value)
            for value, rows in zip(self.finishes, self._rows, strict=True)
        ]
        return self._finished(weights, drawn)

    def _finished(self, weights: Chunk, finishes: Sequence[pl.Expr]) -> Floats:
        named = zip(self._names, finishes, strict=True)
        values = pl.DataFrame(self.columns(weights)).select(
            expr.fill_null(float("nan")).alias(name) for name, expr in named
        )
        shape = (len(weights), self.groups)
        return np.stack([values[name].to_numpy().reshape(shape) for name in self._names])

    def columns(self, weights: Chunk) -> dict[str, Floats]:
        """Columns that the finishes read, a row for each replicate and group."""
        columns: dict[str, Floats] = {}
        products = np.split(weights @ self._states, self._cuts, axis=1)
        for number, (names, rest) in enumerate(zip(self.sums, products, strict=True)):
            matrix = self._totals[number]
            if isinstance(matrix, Blocks):
                totals = matrix.totals(weights, self.groups)
            else:
                summed, rest = np.split(rest, [matrix.shape[1]], axis=1)
                summed = summed.reshape(-1, len(names))
                totals = {name: np.ascontiguousarray(summed[:, i]) for i, name in enumerate(names)}
            levels = self.levels[number]
            if levels is not None:
                sums = levels.sums(weights, rest)
                totals |= self._terms(levels, self.terms[number], sums, totals)
            columns |= {f"{number}:{name}": values for name, values in totals.items()}
        return columns

    def _terms(
        self,
        levels: Levels,
        uses: Sequence[tuple[str, Axis]],
        sums: dict[str, Floats],
        totals: dict[str, Floats],
    ) -> dict[str, Floats]:
        count = len(levels.first)
        rows = len(next(iter(totals.values()))) // max(self.groups, 1)
        offsets = np.arange(rows)[:, None] * count + levels.starts[:-1]
        starts = np.append(offsets.ravel(), rows * count)
        views = Views(sums, starts, totals, np.tile(levels.levels, rows))
        return kernel.terms(views, uses)


def check_finite(states: pl.DataFrame, names: Sequence[str]) -> None:
    """Raise ParameterError if sums of clusters are infinite."""
    infinite = states.select((~pl.all_horizontal(pl.col(names).is_finite())).sum()).item()
    if infinite:
        raise ParameterError(
            f"sums of {infinite} clusters are infinite, and their weighted sums are undefined; "
            "filter the rows with infinite values first"
        )


def moved_sums(states: States[pl.DataFrame], contraction: Contraction, by: float) -> pl.DataFrame:
    """Values of flat metrics for each group and cluster, with its weight changed: `:0`, `:1`..."""
    columns = contraction.columns(np.ones((1, contraction.clusters)))
    moved: pl.DataFrame | None = None
    for number, (block, table) in enumerate(zip(states.blocks, states.tables, strict=True)):
        names = list(block.all_sums)
        sums = table.group_by(GROUP, CLUSTER).agg(pl.col(names).sum())
        group = sums[GROUP].to_numpy()
        named = sums.select(GROUP, CLUSTER).with_columns(
            pl.Series(
                f"{number}:{name}", columns[f"{number}:{name}"][group] + by * sums[name].to_numpy()
            )
            for name in names
        )
        moved = named if moved is None else moved.join(named, on=[GROUP, CLUSTER])
    assert moved is not None
    values = [
        pl.when((n + missing).round(9) > 0).then(value).fill_null(float("nan")).alias(f":{place}")
        for place, (value, n, missing) in enumerate(states.finishes())
    ]
    return moved.select(GROUP, CLUSTER, *values)
