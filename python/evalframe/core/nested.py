"""Values of nested metrics from the sums of their leaves: one table of units after the other.

The table of units of a node has a row for each unit with rows, and the values of the metrics within
as columns. `then` over that table gives a column of the table of the units around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.per import Node, Per
from evalframe.core.rows import spread_literals
from evalframe.core.states import Plan, States
from evalframe.core.tables import Keys, matched

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound

_OWNER = ":owner"
_VALUE = ":value"
COUNTS = ("n", "n_missing", "n_units", "n_units_missing")


def estimates(states: States[Any], plan: Plan = "auto") -> pl.DataFrame:
    """The long result without uncertainty: keys, `metric`, `estimate` and counts."""
    return estimates_of(states, states.totals(plan))


def estimates_of(
    states: States[Any], totals: Mapping[tuple[str, ...], pl.DataFrame]
) -> pl.DataFrame:
    """The same from totals that are already there."""
    leaves = leaf_tables(states, totals)
    # All tables have all groups; `states.groups()` would read the rows again.
    groups = leaves[0].select(states.keys.inner).unique().sort(states.keys.inner)
    parts = []
    for metric, root in zip(states.metrics, states.forest.roots, strict=True):
        if isinstance(root, Node):
            values = _with_counts(root, leaves, states.keys.inner)
        else:
            values = leaves[root].rename({_VALUE: "estimate"}).drop(":rows")
        if states.keys.inner:
            values = matched(groups, values, states.keys.inner, "left")
        parts.append(values.with_columns(pl.lit(metric.name).alias("metric")))
    return pl.concat(parts, how="diagonal").with_columns(
        pl.col(name).round().cast(pl.Int64)
        for name in COUNTS
        if any(name in part.columns for part in parts)
    )


def leaf_tables(
    states: States[Any], totals: Mapping[tuple[str, ...], pl.DataFrame]
) -> list[pl.DataFrame]:
    """For each leaf keys and units, its value, the counts of its rows, and how many are there."""
    numbers = {
        use.number: number for number, block in enumerate(states.blocks) for use in block.uses
    }
    tables = []
    for number, (value, n, n_missing) in enumerate(states.finishes()):
        _, units = states.forest.leaves[number]
        block = numbers[number]
        rows = states.blocks[block].present
        rows = n + n_missing if not units else _at_block(rows, block)
        tables.append(
            totals[units].select(
                *states.keys.inner,
                *units,
                value.alias(_VALUE),
                n.alias("n"),
                n_missing.alias("n_missing"),
                rows.alias(":rows"),
            )
        )
    return tables


def _at_block(expr: pl.Expr, block: int) -> pl.Expr:
    """An expression over the sums of a block, over the columns `<block>:<name>`."""
    roots = expr.meta.root_names()
    return (
        expr.meta.undo_aliases()
        if not roots
        else pl.sum_horizontal(pl.col(f"{block}:{name}") for name in roots)
    )


def _with_counts(root: Node, leaves: Sequence[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    """The value of a nested metric per group, with its numbers of rows and of units."""
    values = node_values(root, leaves, keys)
    counts = rows_of(root, leaves, keys)
    if not keys:
        return pl.concat([counts, values], how="horizontal")
    joined = matched(counts, values, keys, "left")
    return joined.with_columns(pl.col("n_units", "n_units_missing").fill_null(0))


def rows_of(root: Node, leaves: Sequence[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    """Rows used and left out, per group: those of the leaf that uses the fewest."""
    used = []
    for number in root.leaves:
        table = leaves[number]
        units = [name for name in table.columns if name.startswith(":unit")]
        inside = pl.col(units[-1]).is_not_null()
        sums = (
            pl.col("n").filter(inside).sum().alias("n"),
            (pl.col("n") + pl.col("n_missing")).sum().alias(":all"),
        )
        used.append(table.group_by(keys).agg(sums) if keys else table.select(sums))
    stacked = pl.concat(used)
    least = (pl.col("n").min(), (pl.col(":all").max() - pl.col("n").min()).alias("n_missing"))
    return stacked.group_by(keys).agg(least) if keys else stacked.select(least)


def node_values(node: Node, leaves: Sequence[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    """The value of a node per group: `estimate`, `n_units` and `n_units_missing`.

    A group without units has no row. Without keys the table has one row.
    """
    table = unit_table(node, leaves, keys)
    then = node.then
    states = States.of(table.lazy(), [then], Keys(tuple(keys), tuple(pl.col(key) for key in keys)))
    totals = states.totals()[()].rename(states.keys.restore())
    ((value, n, n_missing),) = states.finishes()
    value = pl.when(n + n_missing > 0).then(value)
    return totals.select(
        *keys, value.alias("estimate"), n.alias("n_units"), n_missing.alias("n_units_missing")
    )


def unit_table(node: Node, leaves: Sequence[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    """The units of a node with the values of their columns; a unit that is there has rows."""
    inner = [*keys, *node.own]
    is_there = pl.col(node.own[-1]).is_not_null() & (pl.col(":rows") > 0)
    tables = [leaves[number].filter(is_there).select(inner) for number in node.leaves]
    table = pl.concat(tables).unique().sort(inner)
    for name, part in node.parts.items():
        if isinstance(part, Node):
            values = node_values(part, leaves, inner).select(*inner, pl.col("estimate").alias(name))
        else:
            values = leaves[part].select(*inner, pl.col(_VALUE).alias(name))
        table = matched(table, values, inner, "left")
    names = dict(zip(node.own, node.per.unit, strict=True))
    return table.with_columns(pl.col(own).alias(name) for own, name in names.items())


def expression(per: Per) -> pl.Expr:
    """A nested metric as one expression over the user's columns.

    As for curves, the columns of rows are gathered into lists, and one call serves all groups.
    """
    columns: dict[str, pl.Expr] = {}

    def column(expr: pl.Expr) -> pl.Expr:
        for name, other in columns.items():
            if other.meta.eq(expr):
                return pl.col(name)
        name = f":{len(columns)}"
        columns[name] = expr
        return pl.col(name)

    over_rows = over_columns(per, column)

    def whole_column(lists: Sequence[pl.Series]) -> pl.Series:
        groups = pl.DataFrame(dict(zip(columns, lists, strict=True)))
        owner = pl.int_range(pl.len()).repeat_by(pl.nth(0).list.len())
        owned = groups.with_columns(owner.alias(_OWNER))
        rows = pl.DataFrame([values.explode(empty_as_null=False) for values in owned])
        states = States.of(rows.lazy(), [over_rows], Keys((_OWNER,), (pl.col(_OWNER),)))
        values = estimates(states).select(pl.col(":key0").alias(_OWNER), "estimate")
        numbers = pl.DataFrame({_OWNER: range(len(groups))}, schema={_OWNER: rows.schema[_OWNER]})
        return numbers.join(values, on=_OWNER, how="left", maintain_order="left")["estimate"]

    lists = [expr.implode() for expr in spread_literals(columns).values()]
    return pl.map_batches(lists, whole_column, return_dtype=pl.Float64, is_elementwise=True)


def over_columns(part: AnyBound, column: Callable[[pl.Expr], pl.Expr]) -> AnyBound:
    """The same tree over columns of other names."""
    if not isinstance(part, Per):
        roles = {name: column(expr) for name, expr in part.roles.items()}
        return replace(
            part, roles=roles, weight=None if part.weight is None else column(part.weight)
        )
    columns = {name: over_columns(each, column) for name, each in part.columns.items()}
    weight = None if part.weight is None else over_columns(part.weight, column)
    unit = {name: column(expr) for name, expr in part.unit.items()}
    return replace(part, unit=unit, columns=columns, weight=weight)
