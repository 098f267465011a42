"""Metrics of metrics: the definition of `ef.per`, and its tree of units.

`per(unit, metric)` computes a metric in each unit, then another one over the table of units. A tree
of them has flat metrics for leaves, each with the path of units in which it is computed. Sums of
leaves are kept by unit, like sums by group; what becomes of them is in `core.nested` and, for
replicates, in `resample.nested`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError, did_you_mean
from evalframe.core.metric import Bound, Metric, MetricExpr, lookup
from evalframe.core.rows import as_expr, columns_read, is_row_level
from evalframe.core.special import settled
from evalframe.core.state import LEVEL, OWN, TOTAL, Axis
from evalframe.core.typing import IntoExpr

if TYPE_CHECKING:
    from evalframe.core.typing import Direction

AnyBound: TypeAlias = "Bound | Per"
Unit: TypeAlias = Mapping[str, pl.Expr]
"""The row-level expressions of a unit by name: one, or several of a composite unit."""

VALUE = "value"
UNIT_WEIGHT = ":weight"


@dataclass(frozen=True)
class Per:
    """A metric over units.

    Attributes:
        unit: What a unit is.
        columns: The metrics computed in each unit, by the name of their unit-level column.
        then: The metric over the table of units.
        weight: The weight of each unit.
        fixed: True if the units are all there are, so that draws change their rows only.
        name: The output name.
        given: True if the user named `then`, which then sets direction and range.
    """

    unit: Unit
    columns: Mapping[str, AnyBound]
    then: Bound
    weight: AnyBound | None
    fixed: bool
    name: str
    given: bool = True

    @property
    def metric(self) -> Metric:
        """The definition that direction and range come from."""
        return self.then.metric if self.given else self.columns[VALUE].metric

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.then.range if self.given else self.columns[VALUE].range

    @property
    def direction(self) -> Direction:
        """Which way is better."""
        return self.metric.direction

    @property
    def parts(self) -> Iterator[AnyBound]:
        """The metrics of unit-level columns, and that of the weight."""
        yield from self.columns.values()
        if self.weight is not None:
            yield self.weight

    @property
    def expr(self) -> pl.Expr:
        """The metric as one expression over the user's columns."""
        from evalframe.core.nested import expression

        return expression(self).alias(self.name)

    def reweighted(self, weight: IntoExpr) -> MetricExpr:
        """The same metric with each row counted `weight` times as much."""
        return MetricExpr.of(_mapped(self, lambda leaf: leaf.reweighted(weight).bound))


def _mapped(part: Any, change: Callable[[Bound], Any]) -> Any:
    """The tree with other leaves."""
    if isinstance(part, Bound):
        return change(part)
    columns = {name: _mapped(each, change) for name, each in part.columns.items()}
    weight = None if part.weight is None else _mapped(part.weight, change)
    return replace(part, columns=columns, weight=weight)


def leaves_of(metric: AnyBound) -> list[Bound]:
    """The flat metrics of a tree; a flat metric is its own leaf."""
    if isinstance(metric, Bound):
        return [metric]
    return [leaf for part in metric.parts for leaf in leaves_of(part)]


def units_of(metric: AnyBound) -> list[Unit]:
    """The units of all levels of a tree."""
    if isinstance(metric, Bound):
        return []
    return [metric.unit, *(unit for part in metric.parts for unit in units_of(part))]


@dataclass(frozen=True)
class Node:
    """A `per` among the metrics of a call.

    Attributes:
        per: Its definition.
        path: The columns that identify a unit: those of the units around it, then its own.
        own: Its own columns.
        columns: For each unit-level column the number of its leaf, or its node.
        weight: The same of the weight.
    """

    per: Per
    path: tuple[str, ...]
    own: tuple[str, ...]
    columns: Mapping[str, int | Node]
    weight: int | Node | None

    @property
    def parts(self) -> dict[str, int | Node]:
        """Leaves and nodes by the name of their unit-level column, also of the weight."""
        weight = {} if self.weight is None else {UNIT_WEIGHT: self.weight}
        return {**self.columns, **weight}

    @property
    def nodes(self) -> Iterator[Node]:
        """The node and all nodes within."""
        yield self
        for part in self.parts.values():
            if isinstance(part, Node):
                yield from part.nodes

    @property
    def leaves(self) -> Iterator[int]:
        """The numbers of its leaves."""
        for part in self.parts.values():
            if isinstance(part, Node):
                yield from part.leaves
            else:
                yield part

    @property
    def then(self) -> Bound:
        """The metric over the table of units, whose weight is in the column `:weight`."""
        # Levels are settled: rates that are equal but for the order of their sums stay tied.
        then = self.per.then
        levels = columns_read(axis.level for axis in then.state.axes if is_ordered(axis))
        roles = {n: settled(e) if n in levels else e for n, e in then.roles.items()}
        then = replace(then, roles=roles)
        if self.weight is None:
            return then
        return then.reweighted(pl.col(UNIT_WEIGHT)).bound  # type: ignore[return-value]


def is_ordered(axis: Axis) -> bool:
    """True if results depend on the order of the levels: they read running sums, or regroup."""
    exprs = [*axis.terms.values(), *(e for first in axis.firsts.values() for e in first.exprs)]
    is_running = any(
        name != LEVEL and not name.endswith((OWN, TOTAL)) for name in columns_read(exprs)
    )
    return is_running or axis.regroup is not None or axis.hull is not None


@dataclass
class Forest:
    """The metrics of a call as leaves and nodes.

    Attributes:
        leaves: Flat metrics, each with the columns of the path of its units.
        roots: For each metric the number of its leaf, or its node.
        units: The columns of units: row-level expressions by internal name.
        outer: For each of them those of the units around it, and itself.
    """

    leaves: list[tuple[Bound, tuple[str, ...]]] = field(default_factory=list)
    roots: list[int | Node] = field(default_factory=list)
    units: dict[str, pl.Expr] = field(default_factory=dict)
    outer: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _levels: list[tuple[tuple[str, ...], Unit, tuple[str, ...]]] = field(default_factory=list)

    @classmethod
    def of(cls, metrics: Sequence[AnyBound], like: Forest | None = None) -> Forest:
        """The forest of some metrics; units that another one has keep their columns."""
        forest = cls()
        if like is not None:
            forest.units, forest.outer = {**like.units}, {**like.outer}
            forest._levels = [*like._levels]
        for metric in metrics:
            forest.roots.append(forest._place(metric, ()))
        return forest

    @property
    def metrics(self) -> list[AnyBound]:
        """The metrics."""
        return [self.leaves[r][0] if isinstance(r, int) else r.per for r in self.roots]

    @property
    def numbers(self) -> list[list[int]]:
        """The numbers of the leaves of each metric."""
        return [[root] if isinstance(root, int) else [*root.leaves] for root in self.roots]

    def _place(self, metric: AnyBound, path: tuple[str, ...]) -> int | Node:
        if isinstance(metric, Bound):
            self.leaves.append((metric, path))
            return len(self.leaves) - 1
        own = self._columns(metric.unit, path)
        inner = (*path, *own)
        columns = {name: self._place(part, inner) for name, part in metric.columns.items()}
        weight = None if metric.weight is None else self._place(metric.weight, inner)
        return Node(metric, inner, own, columns, weight)

    def _columns(self, unit: Unit, path: tuple[str, ...]) -> tuple[str, ...]:
        """The internal names of a unit's columns; equal units on equal paths share them."""
        for outer, other, names in self._levels:
            same = outer == path and unit.keys() == other.keys()
            if same and all(expr.meta.eq(other[name]) for name, expr in unit.items()):
                return names
        first = len(self.units)
        names = tuple(f":unit{first + number}" for number in range(len(unit)))
        self._levels.append((path, unit, names))
        self.units |= dict(zip(names, unit.values(), strict=True))
        self.outer |= dict.fromkeys(names, (*path, *names))
        return names

    def unit_columns(self, frame: pl.LazyFrame) -> dict[str, pl.Expr]:
        """The columns of units of a frame; null in rows that are in no unit, NaN included."""
        if not self.units:
            return {}
        schema = frame.select(**self.units).collect_schema()
        known = {
            name: expr.is_not_null() & expr.is_not_nan()
            if schema[name].is_float()
            else expr.is_not_null()
            for name, expr in self.units.items()
        }
        return {
            name: pl.when(*(known[each] for each in self.outer[name])).then(expr)
            for name, expr in self.units.items()
        }


def per(
    unit: IntoExpr | Sequence[IntoExpr],
    metric: Any = None,
    *,
    weight: Any = None,
    then: Any = None,
    fixed: bool = False,
    **columns: Any,
) -> MetricExpr:
    """The metric of each unit, then a metric over the units: their mean, unless `then` is given.

    Args:
        unit: Column or row-level expression that says which unit a row is of, such as the task or
            the question; or a list of them. Rows without one are left out and counted.
        metric: A metric computed in each unit, or another `per`: the unit-level column `value`.
        weight: The weight of a unit: a metric, or a column, of which its mean over the unit's rows
            is taken. A unit with a null, negative or infinite weight is left out.
        then: The metric over the units; its roles name unit-level columns or columns of `unit`. By
            default the mean of the values that are not null.
        fixed: True if the units are all there are: draws change their rows only.
        **columns: Further metrics computed in each unit, by the name of their unit-level column.

    Returns:
        Float64 named `<metric>_per_<unit>`, with `then` `<then>_per_<unit>`. Null if there is no
        unit. A unit in which the metric is undefined is a row with a null for `then`.

    Raises:
        ParameterError: There is nothing to compute in the units, `then` is itself a `per`, reads a
            column that the units lack, or an argument is no metric.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tries = pl.DataFrame(
        ...     {"problem": ["a", "a", "a", "b", "b"], "correct": [1, 0, 1, 0, 0]}
        ... )
        >>> tries.select(ef.per("problem", ef.pass_at(k=2)), ef.mean("correct")).row(0)
        (0.5, 0.4)
        >>> tries.select(ef.per("problem", ef.mean("correct"), then=ef.spread())).item()
        0.6666666666666666
    """
    given = [*unit] if isinstance(unit, Sequence) and not isinstance(unit, str) else [unit]
    exprs = [as_expr(each) for each in given]
    for expr in exprs:
        if expr.meta.has_multiple_outputs():
            raise ParameterError(
                f"per({str(expr)!r}) names several columns at once; list them, such as "
                "ef.per(['language', 'register'], ...)"
            )
    units = {expr.meta.output_name(): expr for expr in exprs}
    called = f"per({'_'.join(units)!r})"
    if not exprs or len(units) < len(exprs):
        raise ParameterError(f"{called} needs the columns that name a unit, each once")
    for expr in exprs:
        if not is_row_level(expr):
            raise ParameterError(
                f"{called}: the unit {expr.meta.undo_aliases()} is computed from other rows; "
                "groups and shards would each give another one. Add it to the table first"
            )
    if metric is not None:
        columns = {VALUE: metric, **columns}
    if not columns:
        raise ParameterError(f"{called} needs a metric, or columns and then=...")
    if then is None and metric is None:
        raise ParameterError(f"{called}: columns need then=..., such as then=ef.aurc()")
    bounds = {name: _bound(called, part) for name, part in columns.items()}
    for name in bounds:
        if name in units:
            raise ParameterError(f"{called}: {name!r} is a unit and a unit-level column; rename it")
    _check_path(called, units, bounds.values())
    outer = _bound(called, lookup("mean").bind() if then is None else then)
    if isinstance(outer, Per):
        raise ParameterError(
            f"then is a per itself; nest it inside, such as ef.per({outer.name!r}, ef.per(...))"
        )
    known = [*bounds, *units]
    for name in sorted(columns_read(outer.columns.values()) - set(known)):
        raise ParameterError(
            f"then reads {name!r}, but the units have: {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    of_weight = None if weight is None else _weight(called, weight)
    if of_weight is not None:
        _check_path(called, units, [of_weight])
    inner = bounds[VALUE].name if then is None else outer.name
    name = f"{inner}_per_{'_'.join(units)}"
    return MetricExpr.of(Per(units, bounds, outer, of_weight, fixed, name, then is not None))


def _bound(called: str, metric: Any) -> AnyBound:
    """A metric with its columns; a function is called with its defaults."""
    if callable(metric) and not isinstance(metric, pl.Expr):
        metric = metric()
    if not isinstance(metric, MetricExpr):
        raise ParameterError(
            f"{called}: {metric!r} declares no state, and cannot be computed in units; declare it "
            "with @ef.metric, or take one such as ef.mean('score')"
        )
    return metric.bound


def _weight(called: str, weight: Any) -> AnyBound:
    """The metric of a unit's weight; of a column its mean over the unit's rows."""
    if isinstance(weight, str) or (
        isinstance(weight, pl.Expr) and not isinstance(weight, MetricExpr)
    ):
        return lookup("mean").bind((weight,)).bound
    return _bound(called, weight)


def _check_path(called: str, units: Unit, parts: Iterator[AnyBound] | Any) -> None:
    """Raise ParameterError if a unit is also one of those within."""
    for part in parts:
        for inner in units_of(part):
            for name, expr in inner.items():
                if any(expr.meta.eq(other) for other in units.values()):
                    raise ParameterError(f"{called}: {name!r} is a unit twice")
