"""States: the sums of several metrics, by groups, perhaps clusters, and ordered levels.

One value travels through the engine. `evaluate`, `compare` and `partial` make it from rows,
`merge` adds it up, and `finish`, the bootstrap, the jackknife and linearised errors consume it.

Its tables are additive: rows of equal keys, cluster and level add up. Metrics over the same columns
that order rows by the same level share one table, a *block*, so that one pass and one sort serve
them all.

Rows become totals in one of two plans. *Sorted* sorts the rows once by group and level and walks
them in chunks; it is best if levels are nearly unique. *Levels* adds up rows of equal level first,
which streams and is best under ties. Of many rows whose levels are short decimals, `cells` adds up
those of all blocks in one pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

import polars as pl

from evalframe.core import cells, kernel, segments
from evalframe.core.cells import Sums
from evalframe.core.per import AnyBound, Forest
from evalframe.core.state import LEVEL, N_MISSING, WEIGHT, Axis, N, Totals, as_numbers
from evalframe.core.tables import Keys, side_by_side, starts_if_ordered, starts_of_groups
from evalframe.core.typing import Frame

if TYPE_CHECKING:
    from evalframe.core.metric import Bound
    from evalframe.core.segments import Ints


Plan: TypeAlias = Literal["auto", "sorted", "levels"]
FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)

CLUSTER = ":cluster"
PRESENT = ":present"

_PEEK = 1 << 15
"""First rows, which tell if levels are nearly unique."""


@dataclass(frozen=True)
class Use:
    """The use that a flat metric makes of a block.

    Attributes:
        number: The number of the metric among the leaves.
        axis_number: The number of one of its axes.
        units: The columns of the units that it is computed in, from the outermost inwards.
    """

    number: int
    axis_number: int
    metric: Bound
    units: tuple[str, ...] = ()

    @property
    def axis(self) -> Axis | None:
        """The axis, None for plain sums."""
        axes = self.metric.state.axes
        return axes[self.axis_number] if axes else None

    @property
    def sums(self) -> dict[str, pl.Expr]:
        """Plain sums and sums per level, over the canonical columns."""
        return {**self.metric.state.sums, **(self.axis.sums if self.axis else {})}


@dataclass(frozen=True)
class Block:
    """One additive table: sums shared by metrics.

    Attributes:
        columns: Role expressions over the user's columns, by canonical name.
        axis: Level, direction and condition of its rows; None for plain sums.
        units: The columns of the units whose sums are kept apart, from the outermost inwards.
        uses: The metrics that use it.
    """

    columns: Mapping[str, pl.Expr]
    axis: Axis | None
    units: tuple[str, ...] = ()
    uses: list[Use] = field(default_factory=list)

    @property
    def plain(self) -> dict[str, pl.Expr]:
        """Sums without a level, over the canonical columns."""
        sums = {name: expr for use in self.uses for name, expr in use.metric.state.sums.items()}
        if self.units and WEIGHT in self.columns:
            # A unit whose rows all weigh nothing is as absent as one without rows.
            sums[PRESENT] = pl.col(WEIGHT).ne_missing(0.0)
        return sums

    @property
    def present(self) -> pl.Expr:
        """How many rows a unit has, over the sums of the block."""
        return pl.col(PRESENT) if PRESENT in self.plain else pl.col(N) + pl.col(N_MISSING)

    @property
    def sums(self) -> dict[str, pl.Expr]:
        """Sums per level, over the canonical columns."""
        return {name: expr for _, axis in self.terms for name, expr in axis.sums.items()}

    @property
    def all_sums(self) -> dict[str, pl.Expr]:
        """Plain sums and sums per level."""
        return self.plain | self.sums

    @property
    def terms(self) -> list[tuple[str, Axis]]:
        """The axes of its metrics, with the prefix of their terms."""
        return [(f"{use.number}.", use.axis) for use in self.uses if use.axis is not None]

    def admits(self, use: Use) -> bool:
        """Return True if another metric's sums on an axis fit into the block."""
        mine, other = self.axis, use.axis
        if (mine is None) != (other is None) or self.units != use.units:
            return False
        if self.columns.keys() != use.metric.columns.keys():
            return False
        if not _agree(self.columns, use.metric.columns) or not _agree(self.all_sums, use.sums):
            return False
        if mine is None or other is None:
            return True
        same = mine.level.meta.eq(other.level) and mine.where.meta.eq(other.where)
        return same and mine.descending == other.descending

    def of_rows(self, rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """The additive table of rows that have the canonical columns."""
        level = [] if self.axis is None else [kernel.level_of(self.axis).alias(LEVEL)]
        keys = [*keys, *self.units]
        sums = {name: expr for name, expr in self.all_sums.items() if name != N_MISSING}
        return self._grouped(
            rows.select(*keys, *level, **sums),
            keys,
            pl.col(*sums).sum().cast(pl.Float64),
            (pl.len() - pl.col(N).sum()).cast(pl.Float64).alias(N_MISSING),
        )

    def added_up(self, rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """Rows of additive tables, added up by keys and level."""
        return self._grouped(rows, keys, pl.col(*self.all_sums).sum())

    def summed(self, table: Frame, keys: Sequence[str]) -> tuple[pl.DataFrame, Ints | None]:
        """The table with one row for each group and level; offsets of its groups if sorted."""
        if isinstance(table, pl.DataFrame):
            starts = self._starts_if_ordered(table, keys)
            if starts is not None:
                return table.with_columns(pl.col(*self.all_sums).fill_null(0.0)), starts
        sums = cells.added_up(table.lazy(), {key: pl.col(key) for key in keys}, [self.over_sums()])
        return self.added_up(table.lazy(), keys).collect() if sums is None else sums[0], None

    def _starts_if_ordered(self, table: pl.DataFrame, keys: Sequence[str]) -> Ints | None:
        return None if self.axis is None else starts_if_ordered(table, keys, LEVEL)

    def _grouped(self, rows: pl.LazyFrame, keys: Sequence[str], *sums: pl.Expr) -> pl.LazyFrame:
        by = [*keys] + [LEVEL] * (self.axis is not None)
        return rows.group_by(by).agg(sums) if by else rows.select(sums)

    def over_rows(self) -> Sums:
        """Level and sums over the user's columns, for `cells`."""
        level: pl.Expr | None = None
        plain: dict[str, pl.Expr] = {}
        sums: dict[str, pl.Expr] = {}
        for use in self.uses:
            metric = use.metric
            state = metric.metric.state(metric.columns, metric.params)
            plain |= as_numbers(state.sums)
            if state.axes:
                axis = state.axes[use.axis_number]
                level, sums = kernel.level_of(axis), sums | as_numbers(axis.sums)
        plain.pop(N_MISSING)
        if level is not None:
            sums[N] = plain.pop(N)  # how many rows stand at each level, which `retract` needs
        return Sums(level, plain, sums, others=(N_MISSING, N))

    def over_sums(self) -> Sums:
        """Level and sums over the additive table itself, for `cells`."""
        level = None if self.axis is None else pl.col(LEVEL)
        plain = {name: pl.col(name) for name in self.plain}
        return Sums(level, plain, {name: pl.col(name) for name in self.sums})

    def totals_of_rows(self, rows: pl.LazyFrame, keys: list[str]) -> pl.DataFrame:
        """Totals and terms per group, by sorting the rows."""
        import numpy as np

        if not keys:
            table = rows.collect(engine="in-memory")
            starts = np.array([0, len(table)])
            return pl.DataFrame(kernel.summary_of_rows(table, starts, self.plain, self.terms))
        # The rows of each group are brought together without an order; `kernel` sorts them.
        groups = rows.group_by(keys).agg(pl.all()).collect(engine="in-memory").sort(keys)
        lists = groups.drop(keys)
        starts = segments.starts_of(lists.to_series().list.len().to_numpy())
        table = pl.DataFrame([column.explode(empty_as_null=False) for column in lists])
        values = kernel.summary_of_rows(table, starts, self.plain, self.terms)
        return groups.select(keys).with_columns(**values)

    def totals_of_levels(
        self, levels: pl.DataFrame, keys: list[str], starts: Ints | None = None
    ) -> pl.DataFrame:
        """Totals and terms per group, from the additive table; `starts` if that is sorted."""
        if starts is None:
            starts = self._starts_if_ordered(levels, keys)
        if starts is None:
            order = [*keys] + [LEVEL] * (self.axis is not None)
            levels = levels.sort(order) if order else levels
            starts = starts_of_groups(levels, keys)
        descending = self.axis is not None and self.axis.descending
        if descending:  # The whole table backwards, which copies it without looking up rows.
            levels, starts = levels.reverse(), len(levels) - starts[::-1]
        values = kernel.summary_of_levels(levels, starts, self.plain, self.terms)
        groups = levels.select(keys)[starts[:-1]].to_dict() if keys else {}
        totals = pl.DataFrame(groups | values)
        return totals.reverse() if descending else totals


@dataclass(frozen=True)
class States(Generic[FrameT]):
    """Additive sums of metrics: lazy plans over rows, or collected tables.

    Attributes:
        cluster: Public name of the cluster, None if the sums are not kept by cluster.
        forest: The metrics, as leaves and nodes.
        blocks: The sums that they share.
        tables: The additive table of each block, keys and cluster under internal names.
        source: The rows, if the tables are plans over rows.
        drawn: For each node of nested metrics True if draws are of its units, once clusters are
            known; see `resample.nested`.
    """

    keys: Keys
    cluster: str | None
    forest: Forest
    blocks: Sequence[Block]
    tables: Sequence[FrameT]
    source: pl.LazyFrame | None = None
    drawn: Mapping[tuple[tuple[str, ...], bool], bool] = field(default_factory=dict)

    @staticmethod
    def of(
        frame: pl.LazyFrame, metrics: Sequence[AnyBound], keys: Keys, cluster: pl.Expr | None = None
    ) -> States[pl.LazyFrame]:
        """States of rows, not yet computed."""
        forest = Forest.of(metrics)
        blocks = share(forest)
        extra = [] if cluster is None else [cluster.alias(CLUSTER)]
        inner = keys.inner + [CLUSTER] * len(extra)
        units = forest.unit_columns(frame)
        tables = []
        for block in blocks:
            own = {name: units[name] for name in block.units}
            rows = frame.select(*keys.select(), *extra, **own, **block.columns)
            tables.append(block.of_rows(rows, inner))
        name = None if cluster is None else cluster.meta.output_name()
        return States(keys, name, forest, blocks, tables, frame)

    @property
    def metrics(self) -> list[AnyBound]:
        """The metrics."""
        return self.forest.metrics

    def collected(self) -> States[pl.DataFrame]:
        """The same, computed. All tables are computed together, so that a scan is read once."""
        return self.with_tables(self._collected(range(len(self.blocks))))

    def _collected(self, numbers: Sequence[int]) -> list[pl.DataFrame]:
        """The tables of some blocks."""
        tables = None
        blocks = [self.blocks[number] for number in numbers]
        by_level = any(block.axis for block in blocks) and not any(block.units for block in blocks)
        if self.source is not None and self.cluster is None and by_level:
            keys = dict(zip(self.keys.inner, self.keys.exprs, strict=True))
            tables = cells.added_up(self.source, keys, [block.over_rows() for block in blocks])
        return tables or pl.collect_all([self.tables[number].lazy() for number in numbers])

    def with_tables(self, tables: Sequence[pl.DataFrame]) -> States[pl.DataFrame]:
        """States of the same metrics with other tables."""
        return replace(self, tables=tables, source=None)  # type: ignore[arg-type, return-value]

    def of_metrics(self, numbers: Sequence[int]) -> States[FrameT]:
        """States of some of the metrics, whose sums the tables contain."""
        forest = Forest.of([self.metrics[number] for number in numbers], like=self.forest)
        leaves = [leaf for number in numbers for leaf in self.forest.numbers[number]]
        blocks = share(forest)
        return replace(self, forest=forest, blocks=blocks, tables=self.tables_of(blocks, leaves))

    def tables_of(self, blocks: Sequence[Block], leaves: Sequence[int]) -> list[FrameT]:
        """The tables of blocks of some of the leaves, which number them anew."""
        found = {
            (use.number, use.axis_number): table
            for table, block in zip(self.tables, self.blocks, strict=True)
            for use in block.uses
        }
        uses = [block.uses[0] for block in blocks]
        return [found[leaves[use.number], use.axis_number] for use in uses]

    def groups(self) -> pl.DataFrame:
        """All groups, sorted by the keys; one row without columns if there are no keys."""
        if not self.keys.inner:
            return pl.DataFrame(height=1)
        keys = self.tables[0].lazy().select(self.keys.inner)
        return keys.unique().sort(self.keys.inner).collect()

    def finishes(self) -> list[tuple[pl.Expr, pl.Expr, pl.Expr]]:
        """For each leaf its value, n and n_missing over the columns `<block>:<name>`."""
        leaves = self.forest.leaves
        named: list[dict[str, pl.Expr]] = [{} for _ in leaves]
        for number, block in enumerate(self.blocks):
            for use in block.uses:
                columns_of_metric = named[use.number]
                for term in use.axis.results if use.axis else ():
                    columns_of_metric[term] = pl.col(f"{number}:{use.number}.{term}")
                for name in use.sums:
                    columns_of_metric.setdefault(name, pl.col(f"{number}:{name}"))
        return [
            (metric.state.finish(Totals(columns)), columns[N], columns[N_MISSING])
            for (metric, _), columns in zip(leaves, named, strict=True)
        ]

    def totals(self, plan: Plan = "auto") -> dict[tuple[str, ...], pl.DataFrame]:
        """Totals and terms as columns `<block>:<name>`, by the columns of units.

        Flat metrics have one row per group under the key `()`, others one per group and unit.
        """
        parts = self._totals_of_tables() if self.source is None else self._totals_of_rows(plan)
        return side_by_side([block.units for block in self.blocks], parts, self.keys.inner)

    def _totals_of_rows(self, plan: Plan) -> list[pl.DataFrame]:
        assert self.source is not None
        keys = self.keys.inner
        totals: dict[int, pl.DataFrame] = {}
        for number, block in enumerate(self.blocks):
            rows = self.source.select(*self.keys.select(), **block.columns)
            if block.axis is not None and not block.units and _sorts(rows, block.axis, plan):
                totals[number] = block.totals_of_rows(rows, keys)
        rest = [number for number in range(len(self.blocks)) if number not in totals]
        for number, table in zip(rest, self._collected(rest), strict=True):
            block = self.blocks[number]
            totals[number] = block.totals_of_levels(table, _inner(self.keys, block.units))
        return [totals[number] for number in range(len(self.blocks))]

    def _totals_of_tables(self) -> list[pl.DataFrame]:
        parts = []
        for block, table in zip(self.blocks, self.tables, strict=True):
            keys = _inner(self.keys, block.units)
            levels, starts = block.summed(table, keys)
            parts.append(block.totals_of_levels(levels, keys, starts))
        return parts


def stacked(states: Sequence[States[pl.LazyFrame]]) -> States[pl.LazyFrame]:
    """States of the rows of several tables, for the same metrics, keys and cluster."""
    tables = [
        pl.concat(parts, how="vertical_relaxed")
        for parts in zip(*(each.tables for each in states), strict=True)
    ]
    return replace(states[0], tables=tables, source=None)


def share(forest: Forest) -> list[Block]:
    """The fewest blocks for the states of all leaves."""
    blocks: list[Block] = []
    for number, (metric, units) in enumerate(forest.leaves):
        for axis_number in range(len(metric.state.axes) or 1):
            use = Use(number, axis_number, metric, units)
            block = next((block for block in blocks if block.admits(use)), None)
            if block is None:
                block = Block(metric.columns, use.axis, units)
                blocks.append(block)
            block.uses.append(use)
    return blocks


def _inner(keys: Keys, units: Sequence[str]) -> list[str]:
    """Internal names of keys and units."""
    return [*keys.inner, *units]


def _agree(mine: Mapping[str, pl.Expr], others: Mapping[str, pl.Expr]) -> bool:
    """Return True if expressions of the same name are equal."""
    return all(mine[name].meta.eq(others[name]) for name in mine.keys() & others.keys())


def _sorts(rows: pl.LazyFrame, axis: Axis, plan: Plan) -> bool:
    """Return True if the sorted plan suits: levels are nearly unique in the first rows."""
    if plan != "auto":
        return plan == "sorted"
    head = rows.head(_PEEK).select(axis.level.alias(LEVEL)).drop_nulls().collect()
    return head[LEVEL].n_unique() * 2 > len(head)
