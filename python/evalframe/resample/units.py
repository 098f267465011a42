"""Tables of units in a pool: the cells of a node, their clusters, and the sums in them.

A cell is a unit in a group; cells of a node are numbered like groups, so that flat metrics in units
are contracted as metrics in groups are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.nested import leaf_tables, node_values, rows_of
from evalframe.core.per import Forest, Node
from evalframe.core.states import CLUSTER, States, share
from evalframe.core.tables import Keys
from evalframe.resample.contraction import GROUP

if TYPE_CHECKING:
    from evalframe.core.segments import Ints


THERE, CELL = ":there", ":cell"
"""How many rows a cell has, and its number."""


class UnitPool:
    """The states of a pool, cell by cell: tables by unit in place of tables by group.

    Attributes:
        states: The states by group and cluster, both numbered.
        clusters: Number of clusters.
        leaves: Values of leaves by group and units, with every cluster once.
    """

    def __init__(self, states: States[pl.DataFrame], clusters: int) -> None:
        self.states, self.clusters = states, clusters
        key = Keys((GROUP,), (pl.col(GROUP),))
        tables = [table.rename({GROUP: key.inner[0]}) for table in states.tables]
        together = replace(states, keys=key, cluster=None, tables=tables, source=None)
        self.leaves = [
            table.rename(key.restore()) for table in leaf_tables(together, together.totals())
        ]

    def counts(self, node: Node, groups: int) -> dict[str, Ints]:
        """Numbers of rows and of units per group."""
        numbers = pl.DataFrame({GROUP: range(groups)}, schema={GROUP: self.leaves[0].schema[GROUP]})
        rows = rows_of(node, self.leaves, [GROUP])
        units = node_values(node, self.leaves, [GROUP])
        table = numbers.join(rows, on=GROUP, how="left").join(units, on=GROUP, how="left")
        table = table.sort(GROUP).fill_null(0)
        return {
            name: table[name].round().cast(pl.Int64).to_numpy()
            for name in ("n", "n_missing", "n_units", "n_units_missing")
        }

    def cells(self, node: Node, parents: pl.DataFrame) -> pl.DataFrame:
        """The units of a node with rows, by the number of the unit around them: `CELL` is it."""
        outer = [GROUP, *node.path[: -len(node.own)]]
        there = pl.col(node.own[-1]).is_not_null() & (pl.col(":rows") > 0)
        tables = [self.leaves[n].filter(there).select(GROUP, *node.path) for n in node.leaves]
        units = pl.concat(tables).unique()
        around = parents.select(*outer, pl.col(CELL).alias(":parent"))
        units = units.join(around.cast({GROUP: units.schema[GROUP]}), on=outer)
        return units.sort(":parent", *node.own).with_row_index(CELL)

    def there(self, node: Node, cells: pl.DataFrame) -> pl.DataFrame:
        """The clusters of each unit: cells and clusters, with their number of rows."""
        keys, cell = [GROUP, *node.path], [CELL, CLUSTER]
        entries = []
        for block, table in zip(self.states.blocks, self.states.tables, strict=True):
            if {use.number for use in block.uses} & {*node.leaves}:
                numbers = cells.select(*keys, CELL).cast({GROUP: table.schema[GROUP]})
                rows = table.select(*keys, CLUSTER, block.present.alias(THERE))
                numbered = rows.join(numbers, on=keys).group_by(cell)
                entries.append(numbered.agg(pl.col(THERE).sum()))
        there = entries[0]
        if len(entries) > 1:
            there = pl.concat(entries).group_by(cell).agg(pl.col(THERE).max())
        return there.filter(pl.col(THERE) > 0)

    def of_leaves(
        self, node: Node, cells: pl.DataFrame
    ) -> tuple[dict[str, int], States[pl.DataFrame] | None]:
        """The metrics computed in each unit itself, with units for groups, and their places."""
        numbers = {name: part for name, part in node.parts.items() if not isinstance(part, Node)}
        if not numbers:
            return {}, None
        leaves = [*numbers.values()]
        forest = Forest.of([self.states.forest.leaves[number][0] for number in leaves])
        blocks = share(forest)
        keys = [GROUP, *node.path]
        tables = []
        for table in self.states.tables_of(blocks, leaves):
            number = cells.select(*keys, CELL).cast({GROUP: table.schema[GROUP]})
            tables.append(table.join(number, on=keys).drop(keys).rename({CELL: GROUP}))
        states = States(Keys((), ()), self.states.cluster, forest, blocks, tables)
        return {name: place for place, name in enumerate(numbers)}, states


def shared_units(
    table: pl.DataFrame, path: tuple[str, ...], outer: Mapping[str, tuple[str, ...]]
) -> tuple[pl.DataFrame, Ints]:
    """The rows of pairs (groups 2i and 2i + 1), out of units that have rows on one side only.

    Such rows stay: their clusters are drawn as they are for flat metrics. Also the groups that have
    such rows.
    """
    lacking = [table[GROUP].clear()]
    table = table.with_columns((pl.col(GROUP) // 2).alias(":pair"))
    for prefix in dict.fromkeys(outer[name] for name in path):
        keys = [":pair", *prefix]
        sides = table.group_by(keys).agg(pl.col(GROUP).n_unique().alias(":sides"))
        table = table.join(sides, on=keys, how="left", nulls_equal=True)
        within = [name for name in path if {*prefix} <= {*outer[name]}]
        lacking.append(table.filter(pl.col(":sides") == 1)[GROUP])
        shared = pl.when(pl.col(":sides") > 1)
        table = table.with_columns(shared.then(pl.col(within)).name.keep()).drop(":sides")
    return table.drop(":pair"), pl.concat(lacking).unique().cast(pl.Int64).to_numpy()


def apart(states: States[pl.DataFrame], side: pl.Expr) -> States[pl.DataFrame]:
    """States in which equal units of two sides are two, wherever units are drawn."""
    nodes = [node for root in states.forest.roots if isinstance(root, Node) for node in root.nodes]
    columns = {
        node.own[0] for node in nodes if states.drawn.get((node.path, node.per.fixed), False)
    }
    return states.with_tables(
        [
            table.with_columns(
                pl.when(pl.col(name).is_not_null())
                .then(pl.struct(name, side.alias(":side")))
                .alias(name)
                for name in table.columns
                if name in columns
            )
            for table in states.tables
        ]
    )
