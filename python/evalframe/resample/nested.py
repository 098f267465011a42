"""Values of nested metrics for any weights of clusters.

A cluster's weight enters once, at the coarsest level each of whose units lies in one cluster. Below
it nothing changes: values of those units are computed once, and the metric over them is contracted
like any flat one, with units for rows (`_Drawn`). Above it, and down to the rows if no level is
such, everything is computed anew in each replicate (`_Recomputed`): B replicates of N units are
B x N numbers, and the metric over them has B x groups segments.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evalframe.core import kernel, segments
from evalframe.core.metric import Bound
from evalframe.core.nested import unit_table
from evalframe.core.per import Node
from evalframe.core.state import Totals, as_numbers
from evalframe.core.states import CLUSTER, States
from evalframe.core.tables import Keys
from evalframe.resample.contraction import GROUP, Contraction, Weighable, moved_sums
from evalframe.resample.means import MeansOfMeans, is_mean_of_means
from evalframe.resample.products import product
from evalframe.resample.units import CELL, THERE, UnitPool

if TYPE_CHECKING:
    import numpy.typing as npt

    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.resample.draws import Chunk


_VALUE = ":value"


def contract(
    states: States[pl.DataFrame], groups: int, clusters: int
) -> Contraction | Contractions:
    """Values of metrics for any weights of the clusters of a pool."""
    nested = any(isinstance(root, Node) for root in states.forest.roots)
    return (Contractions if nested else Contraction)(states, groups, clusters)


class Contractions:
    """Values of flat and nested metrics for any weights of the clusters of a pool."""

    def __init__(self, states: States[pl.DataFrame], groups: int, clusters: int) -> None:
        self.groups, self.clusters = groups, clusters
        roots = states.forest.roots
        flat = [number for number, root in enumerate(roots) if not isinstance(root, Node)]
        self._flat = Contraction(states.of_metrics(flat), groups, clusters) if flat else None
        self._is_flat = [not isinstance(root, Node) for root in roots]
        pool = UnitPool(states, clusters)
        numbers = pl.DataFrame({GROUP: range(groups)}).with_columns(pl.col(GROUP).alias(CELL))
        self._trees = [_evaluator(pool, root, numbers) for root in roots if isinstance(root, Node)]
        self._counts = [pool.counts(root, groups) for root in roots if isinstance(root, Node)]

    @property
    def width(self) -> int:
        """Numbers held per replicate, for sizing chunks."""
        flat = 0 if self._flat is None else self._flat.width
        return max(flat, *(tree.width for tree in self._trees))

    def points(self) -> Floats:
        """Metrics by groups with every cluster once; NaN where a metric is undefined."""
        flat = None if self._flat is None else self._flat.points()
        ones = np.ones((1, self.clusters))
        return self._in_order(flat, [tree.values(ones)[0] for tree in self._trees])

    def values(self, weights: Chunk) -> Floats:
        """Metrics by replicates by groups; NaN where a metric is undefined or no row was drawn."""
        flat = None if self._flat is None else self._flat.values(weights)
        return self._in_order(flat, [tree.values(weights) for tree in self._trees])

    def counts(self) -> dict[str, Ints]:
        """Numbers of rows and units that each metric uses and leaves out, metrics by groups."""
        flat = None if self._flat is None else self._flat.counts()
        return {
            name: self._in_order(
                None if flat is None else flat.get(name), [each[name] for each in self._counts]
            )
            for name in self._counts[0]
        }

    def unit_drop_rate(self) -> Floats:
        """Mean share of units without drawn rows, of those computed anew: metrics by groups."""
        rates = []
        for tree in self._trees:
            absent, units = np.zeros(self.groups), np.zeros(self.groups)
            for node in tree.recomputed:
                absent += np.bincount(node.group, node.absent, minlength=self.groups)
                units += np.bincount(node.group, minlength=self.groups) * node.draws
            rates.append(absent / np.maximum(units, 1))
        return self._in_order(None, rates)

    def recomputed_units(self) -> Floats:
        """Numbers of units that are computed anew in each replicate: metrics by groups."""
        counts = [np.zeros(self.groups) for _ in self._trees]
        for count, tree in zip(counts, self._trees, strict=True):
            for node in tree.recomputed:
                count += np.bincount(node.group, minlength=self.groups)
        return self._in_order(None, counts)

    def count_absent(self) -> None:
        """Begin to count the units without rows in replicates."""
        for tree in self._trees:
            for node in tree.recomputed:
                node.counting = True

    def moved(self, by: float, flat: Callable[[Weighable], Floats]) -> Floats:
        """Values with the weight of each cluster changed: metrics by clusters by groups.

        `flat` computes flat metrics, and nested ones that cannot be computed from what a cluster
        touches.
        """
        of_flat = None if self._flat is None else flat(self._flat)
        trees = []
        for tree in self._trees:
            if tree.can_move:
                base, table = tree.moved(by)
                values = np.tile(base, (self.clusters, 1))
                values[table[CLUSTER].to_numpy(), table[GROUP].to_numpy()] = table[
                    _VALUE
                ].to_numpy()
            else:
                values = flat(_Single(tree, self.groups, self.clusters))[0]
            trees.append(values)
        return self._in_order(of_flat, trees)

    def _in_order(self, flat: Any, trees: list[Any]) -> npt.NDArray[Any]:
        """Values of flat and of nested metrics in the order of the metrics."""
        of_trees, of_flat = iter(trees), iter([] if flat is None else flat)
        missing = np.zeros_like(trees[0])
        return np.stack(
            [next(of_flat, missing) if each else next(of_trees) for each in self._is_flat]
        )


def _evaluator(pool: UnitPool, node: Node, parents: pl.DataFrame) -> _Drawn | _Recomputed:
    is_drawn = pool.states.drawn[node.path, node.per.fixed]
    return (_Drawn if is_drawn else _Recomputed)(pool, node, parents)


class _Drawn:
    """A node whose units are drawn: a flat metric over them."""

    def __init__(self, pool: UnitPool, node: Node, parents: pl.DataFrame) -> None:
        cells = pool.cells(node, parents)
        keys = [GROUP, *node.path]
        units = unit_table(node, pool.leaves, [GROUP, *node.path[: -len(node.own)]])
        placed = units.join(
            cells.select(*keys, CELL, ":parent").cast({GROUP: units.schema[GROUP]}), on=keys
        )
        owners = pool.there(node, cells).select(CELL, CLUSTER)
        rows = placed.join(owners, on=CELL)
        key = Keys((":parent",), (pl.col(":parent"),))
        states = States.of(rows.lazy(), [node.then], key, pl.col(CLUSTER)).collected()
        states = states.with_tables([t.rename({key.inner[0]: GROUP}) for t in states.tables])
        self._states = states
        self._contraction = Contraction(states, len(parents), pool.clusters)

    @property
    def can_move(self) -> bool:
        """True if values without a cluster follow from what it touches."""
        return not self._contraction.has_levels

    def moved(self, by: float) -> tuple[Floats, pl.DataFrame]:
        """Values, and those that change with the weight of a cluster: `GROUP`, `CLUSTER`, value."""
        entries = moved_sums(self._states, self._contraction, by)
        return self._contraction.points()[0], entries.rename({":0": _VALUE})

    @property
    def recomputed(self) -> Iterator[_Recomputed]:
        """Nodes whose units change: none."""
        return iter(())

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        return self._contraction.width

    def values(self, weights: Chunk) -> Floats:
        """Replicates by the units around."""
        values: Floats = self._contraction.values(weights)[0]
        return values


class _Recomputed:
    """A node whose units are computed anew in each replicate."""

    def __init__(self, pool: UnitPool, node: Node, parents: pl.DataFrame) -> None:
        from scipy import sparse

        cells = pool.cells(node, parents)
        self._count, self._parents = len(cells), len(parents)
        self.group = cells[GROUP].to_numpy()
        self.absent, self.draws, self.counting = np.zeros(len(cells)), 0, False
        self._lock = threading.Lock()
        there = pool.there(node, cells)
        entries = (there[THERE].to_numpy(), (there[CELL].to_numpy(), there[CLUSTER].to_numpy()))
        self._there = sparse.csc_array(entries, shape=(len(cells), pool.clusters))
        parent = cells[":parent"].to_numpy()
        self._starts = np.searchsorted(parent, np.arange(len(parents) + 1))
        self._names, self._states = pool.of_leaves(node, cells)
        self._clusters = pool.clusters
        unit = cells.select(pl.struct(node.path).rank("dense").cast(pl.Int64) - 1).to_series()
        self._unit = unit.to_numpy()
        self._entries = there.select(CELL, CLUSTER, THERE)
        self._parent = cells[":parent"]
        self._nodes = {
            name: _evaluator(pool, part, cells)
            for name, part in node.parts.items()
            if isinstance(part, Node)
        }
        leaves = {
            n: pool.states.forest.leaves[p][0]
            for n, p in node.parts.items()
            if not isinstance(p, Node)
        }
        self._means = None
        if not self._nodes and self._states is not None and is_mean_of_means(node.then, leaves):
            (table,) = self._states.tables
            self._means = MeansOfMeans.of(table, self._unit, parent, len(parents))
        then = node.then.reweighted(pl.col(THERE)).bound
        assert isinstance(then, Bound)
        self._then = then
        read = {name for expr in then.columns.values() for name in expr.meta.root_names()}
        self._units = {
            name: cells[own]
            for own, name in zip(node.own, node.per.unit, strict=True)
            if name in read
        }

    @functools.cached_property
    def _leaves(self) -> Contraction | None:
        """The metrics computed in each unit itself, with units for groups."""
        if self._states is None:
            return None
        return Contraction(self._states, self._count, self._clusters, self._unit)

    @property
    def recomputed(self) -> Iterator[_Recomputed]:
        """This node and those within whose units change from one replicate to the next."""
        yield self
        for node in self._nodes.values():
            yield from node.recomputed

    @property
    def can_move(self) -> bool:
        """True if values without a cluster follow from what it touches."""
        nodes = all(node.can_move for node in self._nodes.values())
        leaves = self._leaves is None or not self._leaves.has_levels
        return nodes and leaves and not self._then.state.axes

    def moved(self, by: float) -> tuple[Floats, pl.DataFrame]:
        """Values, and those that change with the weight of a cluster: `GROUP`, `CLUSTER`, value."""
        # Entries are pairs of a unit and a cluster that has rows in it. The sums of `then` over the
        # units around change by the differences of the entries' terms: O(entries) in all.
        count = pl.Series(np.asarray(self._there.sum(axis=1)).ravel())
        base = {THERE: (count > 0).cast(pl.Float64)}
        entries = self._entries
        moved = {THERE: (count[entries[CELL]] + by * entries[THERE] > 0).cast(pl.Float64)}
        if self._leaves is not None and self._states is not None:
            points = self._leaves.points()
            values = entries.join(
                moved_sums(self._states, self._leaves, by).rename({GROUP: CELL}),
                on=[CELL, CLUSTER],
                how="left",
                maintain_order="left",
            )
            for name, place in self._names.items():
                base[name] = pl.Series(points[place], nan_to_null=True)
                moved[name] = values[f":{place}"].fill_nan(None)
        for name, node in self._nodes.items():
            points, table = node.moved(by)
            base[name] = pl.Series(points, nan_to_null=True)
            marked = table.rename({GROUP: CELL}).with_columns(pl.lit(value=True).alias(":known"))
            values = entries.join(marked, on=[CELL, CLUSTER], how="left", maintain_order="left")
            unchanged = base[name][entries[CELL]]
            moved[name] = pl.select(
                pl.when(values[":known"].fill_null(value=False))
                .then(values[_VALUE].fill_nan(None))
                .otherwise(unchanged)
            ).to_series()
        base |= self._units
        moved |= {name: ids[entries[CELL]] for name, ids in self._units.items()}
        state = self._then.state
        sums = as_numbers(state.sums)
        terms = [
            pl.DataFrame(columns)
            .lazy()
            .select(**self._then.columns)
            .select(**sums, **{THERE: pl.lit(1.0)})
            .collect(engine="in-memory")
            for columns in (base, moved)
        ]
        terms = [
            each.with_columns(columns[THERE].alias(THERE))
            for each, columns in zip(terms, (base, moved), strict=True)
        ]
        added = terms[0].with_columns(self._parent.alias(GROUP)).group_by(GROUP).agg(pl.all().sum())
        parents = pl.DataFrame({GROUP: range(self._parents)}, schema={GROUP: added.schema[GROUP]})
        totals = parents.join(added, on=GROUP, how="left", maintain_order="left").fill_null(0.0)
        change = terms[1] - terms[0][entries[CELL]]
        change = change.with_columns(self._parent[entries[CELL]].alias(GROUP), entries[CLUSTER])
        change = change.group_by(GROUP, CLUSTER).agg(pl.all().sum())
        names = [*sums, THERE]
        new = totals[change[GROUP]].select(names) + change.select(names)
        value = state.finish(Totals({name: pl.col(name) for name in sums}))
        # A unit is there or not: sums of such are whole numbers.
        some = pl.when(pl.col(THERE).round() > 0).then(value).fill_null(float("nan"))
        result = change.select(GROUP, CLUSTER).with_columns(
            new.select(some.alias(_VALUE)).to_series()
        )
        return totals.select(some).to_series().to_numpy(), result

    def _count_absent(self, there: Bools) -> None:
        """Add units without drawn rows, of replicates by units."""
        with self._lock:
            self.absent += (~there).sum(axis=0)
            self.draws += len(there)

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        if self._means is not None:
            return self._means.width
        widths = [self._count * (2 + len(self._names)), *(n.width for n in self._nodes.values())]
        return max(*widths, 0 if self._leaves is None else self._leaves.width)

    def values(self, weights: Chunk) -> Floats:
        """Replicates by the units around."""
        draws = len(weights)
        if self._means is not None:
            means, present = self._means.values_of(weights)
            if self.counting:
                self._count_absent(present[:, self._means.of_cell])
            return means
        there = product(weights, self._there) > 0
        if self.counting:
            self._count_absent(there)
        columns: dict[str, pl.Series] = {THERE: pl.Series(there.ravel().astype(np.float64))}
        leaves = None if self._leaves is None else self._leaves.values(weights)
        for name, place in self._names.items():
            assert leaves is not None
            columns[name] = pl.Series(leaves[place].ravel(), nan_to_null=True)
        for name, node in self._nodes.items():
            columns[name] = pl.Series(node.values(weights).ravel(), nan_to_null=True)
        for name, ids in self._units.items():
            columns[name] = pl.concat([ids] * draws)
        offsets = np.arange(draws)[:, None] * self._count + self._starts[:-1]
        starts = np.append(offsets.ravel(), draws * self._count)
        values = _of_segments(pl.DataFrame(columns), starts, self._then)
        some = segments.totals(columns[THERE].to_numpy(), starts) > 0
        return np.where(some, values, np.nan).reshape(draws, self._parents)


class _Single:
    """One nested metric, as a contraction."""

    def __init__(self, tree: _Drawn | _Recomputed, groups: int, clusters: int) -> None:
        self.groups, self.clusters, self._tree = groups, clusters, tree

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        return self._tree.width

    def values(self, weights: Chunk) -> Floats:
        """Metrics by replicates by groups."""
        return self._tree.values(weights)[None]


def _of_segments(rows: pl.DataFrame, starts: Ints, metric: Bound) -> Floats:
    """A flat metric over segments of rows; NaN where it is undefined."""
    state = metric.state
    rows = rows.lazy().select(**metric.columns).collect(engine="in-memory")
    named: dict[str, Floats] = {}
    for axis in state.axes:
        named |= kernel.summary_of_rows(rows, starts, state.sums, [("", axis)])
    if not state.axes:
        sums = rows.lazy().select(**as_numbers(state.sums)).collect(engine="in-memory")
        named = {name: segments.totals(sums[name].to_numpy(), starts) for name in state.sums}
    value = state.finish(Totals({name: pl.col(name) for name in named}))
    finished = pl.DataFrame(named).select(value.fill_null(float("nan"))).to_series()
    values: Floats = finished.to_numpy()
    return values
