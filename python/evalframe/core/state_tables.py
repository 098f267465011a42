"""States as plain tables that survive Parquet: written by `partial`, added up by `merge`.

A state table has the group keys, perhaps a cluster, then `:block` (the block of the row), `:level`
(null for sums without one) and the sums, such as `:mass`.

The description of the states is stored once, in the type of `:block`: an `Enum` whose categories
are JSON, the same for all blocks except for their number. Rows store the number only. A type
survives `select`, `filter`, `concat` and Parquet, also in a shard without rows. If a program has
turned it into strings, each row has the description, as states of version 2 did.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from evalframe.core import cells, tables
from evalframe.core.errors import ParameterError
from evalframe.core.grids import Grid
from evalframe.core.metric import Bound, lookup
from evalframe.core.per import AnyBound, Forest, Per
from evalframe.core.state import LEVEL, WEIGHT
from evalframe.core.state_checks import BLOCK, check_alike, check_present, checked
from evalframe.core.states import CLUSTER, Block, States, Use
from evalframe.core.tables import Keys
from evalframe.core.typing import Frame

Header: TypeAlias = dict[str, Any]
"""The description of a state: version, keys, cluster, metrics, and which of them share a block."""

_VERSION, COUNTED = 4, 4
_READABLE = (2, 3, 4)
"""States of versions 2 and 3 are read for one release. Only since version 4 does `:n` say of each
level how many rows stand there, without which no part can be taken from a state.
"""

_WAITING = 1 << 22
"""Rows of states that are in memory beside their sum, about."""


def state_table(states: States[pl.LazyFrame]) -> pl.LazyFrame:
    """The public form of states of rows, computed when it is collected."""
    keys, cluster = states.keys, states.cluster
    header = _header(states)
    public = _public(keys, cluster)
    groups = {name: states.tables[0].collect_schema()[key] for key, name in public.items()}
    for table, block in zip(states.tables, states.blocks, strict=True):
        groups |= {name: table.collect_schema()[name] for name in block.units}
    sums = {f":{name}": pl.Float64() for block in states.blocks for name in block.all_sums}
    schema = {**groups, BLOCK: _type_of(header), LEVEL: pl.Float64(), **sums}
    return pl.defer(lambda: table_of(states.collected(), header), schema=pl.Schema(schema))


def table_of(states: States[pl.DataFrame], header: Header) -> pl.DataFrame:
    """The public form of states."""
    public = _public(states.keys, states.cluster)
    named = [
        rows.rename(public | {name: f":{name}" for name in block.all_sums})
        for rows, block in zip(states.tables, states.blocks, strict=True)
    ]
    units = [name for block in states.blocks for name in block.units]
    sums = [f":{name}" for block in states.blocks for name in block.all_sums]
    groups = dict.fromkeys([*public.values(), *units])
    return _one_table(named, header, [*groups], [*dict.fromkeys(sums)])


def _public(keys: Keys, cluster: str | None) -> dict[str, str]:
    """The public names of keys and cluster, by their internal ones."""
    return keys.restore() | ({} if cluster is None else {CLUSTER: cluster})


def _one_table(
    parts: Sequence[pl.DataFrame], header: Header, groups: list[str], sums: list[str]
) -> pl.DataFrame:
    """The tables of all blocks in turn, each sorted by groups and level."""
    marks = _type_of(header)
    marked = [
        _sorted(part, [name for name in groups if name in part.columns]).with_columns(
            pl.lit(mark, dtype=marks).alias(BLOCK)
        )
        for part, mark in zip(parts, marks.categories, strict=True)
    ]
    numbers = pl.DataFrame(schema=dict.fromkeys([LEVEL, *sums], pl.Float64()))
    return pl.concat([*marked, numbers], how="diagonal").select(*groups, BLOCK, LEVEL, *sums)


def _sorted(part: pl.DataFrame, groups: list[str]) -> pl.DataFrame:
    if LEVEL not in part.columns:
        return part.sort(groups) if groups else part
    ordered = tables.starts_if_ordered(part, groups, LEVEL) is not None
    return part if ordered else part.sort(*groups, LEVEL)


def merged(shards: Iterable[Frame]) -> pl.DataFrame:
    """The sum of state tables of the same metrics, keys and clusters, taken one after another."""
    total = _Sum()
    for number, shard in enumerate(shards):
        total.add(number, tables.lazy(shard).collect())
    return total.table()


class _Sum:
    """A running sum of states."""

    def __init__(self) -> None:
        self._header: Header | None = None
        self._first = 0
        self._blocks: list[_BlockSum] = []
        self._kinds: list[pl.DataFrame] = []

    def add(self, number: int, state: pl.DataFrame) -> None:
        """Add a state, which must have the metrics, keys and cluster of the others."""
        header = read_header(state)
        # A shard of version 2 that has no rows has no header.
        if header is not None and self._header is None:
            self._header, self._first = header, number
            self._blocks = [_BlockSum() for _ in header["blocks"]]
        elif header is not None and self._header is not None:
            oldest = min(header["version"], self._header["version"])
            self._header = self._header | {"version": oldest}
            if header | {"version": oldest} != self._header:
                raise ParameterError(
                    f"state {number} holds other metrics, keys or clusters than state "
                    f"{self._first}; merge states that were made by the same partial(...)"
                )
        rows = state.with_columns(_number(state.schema[BLOCK]))
        if header is not None:
            rows = checked(rows, len(header["blocks"]), groups_of(header))
            self._check_columns(number, rows)
        if all(kind.schema != rows.schema for kind in self._kinds):
            self._kinds.append(rows.clear())
            check_alike(self._kinds, groups_of(self._header))
        for place, block in enumerate(self._blocks):
            block.add(rows if len(self._blocks) == 1 else rows.filter(pl.col(BLOCK) == place))

    def _check_columns(self, number: int, rows: pl.DataFrame) -> None:
        """Raise if a state lacks sums of another, which would count as 0."""
        if self._kinds and (differ := {*rows.columns} ^ {*self._kinds[-1].columns}):
            raise ParameterError(
                f"state {number} and the ones before it do not both have {sorted(differ)}; make "
                "them anew with partial(...)"
            )

    def table(self) -> pl.DataFrame:
        """The sum of all states."""
        if not self._kinds:
            raise ParameterError("there are no states to merge")
        check_alike(self._kinds, groups_of(self._header))
        kind = pl.concat(self._kinds, how="diagonal_relaxed")
        if self._header is None:
            return kind.with_columns(pl.col(BLOCK).cast(pl.String))
        groups, sums = _columns(kind)
        types = pl.Schema({name: kind.schema[name] for name in groups})
        parts = [block.table().cast(types) for block in self._blocks]
        return _one_table(parts, self._header, groups, sums)


class _BlockSum:
    """A running sum of the rows of one block: a grid while that suits, else rows that wait.

    Rows of small states wait for each other, since a grid takes many as quickly as few.
    """

    def __init__(self) -> None:
        self._waiting: list[pl.DataFrame] = []
        self._count, self._most = 0, cells.HEAD
        self._grid: Grid | None = None
        self._tried = False

    def add(self, rows: pl.DataFrame) -> None:
        """Add rows of a state."""
        self._waiting.append(rows)
        self._count += len(rows)
        if self._count >= self._most:
            self._add_up()

    def _add_up(self) -> None:
        """Add up what waits, into the grid if there is one or could be."""
        rows = pl.concat(self._waiting, how="diagonal_relaxed")
        grid, former = self._grid, self._grid
        if not self._tried:
            self._tried = True
            grid = Grid(rows, _columns(rows)[0], cells.FEW, cells.PER_HEAD)
        if grid is not None and grid.add(rows):
            self._grid, self._waiting, self._count = grid, [], 0
            return
        self._waiting = [rows] if former is None else [former.frame(), rows]
        self._grid = None
        self._waiting = [self.table()]
        self._count = len(self._waiting[0])
        self._most = max(_WAITING, 2 * self._count)

    def table(self) -> pl.DataFrame:
        """The sum, by groups and level."""
        if self._grid is not None and self._waiting:
            self._add_up()
        if self._grid is not None:
            return self._grid.frame()
        rows = pl.concat(self._waiting, how="diagonal_relaxed")
        groups, sums = _columns(rows)
        filled = [name for name in sums if rows[name].null_count() < len(rows)]
        return rows.group_by(*groups, LEVEL).agg(pl.col(filled).sum())


def groups_of(header: Header | None) -> list[str]:
    """The names of keys and cluster."""
    return [] if header is None else [*header["by"], *filter(None, [header["cluster"]])]


def _columns(state: pl.DataFrame) -> tuple[list[str], list[str]]:
    """The names of its groups, and of its sums."""
    names = [name for name in state.columns if name != BLOCK]
    place = names.index(LEVEL)
    return names[:place], names[place + 1 :]


def read_states(table: Frame) -> States[pl.DataFrame]:
    """Split a state table into blocks; ParameterError if it is no state of a known version."""
    state = tables.lazy(table).collect()
    header = read_header(state)
    if header is None:
        raise ParameterError("the state has no rows, and so does not say what it is a state of")
    numbers = itertools.count()
    metrics = [_metric(spec, numbers) for spec in header["metrics"]]
    forest = Forest.of(metrics)
    keys = Keys.of(header["by"])
    cluster = header["cluster"]
    blocks = [_block(forest.leaves, uses) for uses in header["blocks"]]
    public = _public(keys, cluster)
    return States(keys, cluster, forest, blocks, block_tables(state, blocks, public))


def block_tables(
    state: pl.DataFrame, blocks: Sequence[Block], public: Mapping[str, str]
) -> list[pl.DataFrame]:
    """The additive table of each block, with internal names for the public ones of groups."""
    numbered = state.with_columns(_number(state.schema[BLOCK]))
    numbered = checked(numbered, len(blocks), [*public.values()])
    parts = []
    for number, block in enumerate(blocks):
        names = {name: inner for inner, name in public.items()}
        names |= {f":{name}": name for name in block.all_sums}
        check_present(state, [*names, *block.units])
        rows = numbered.lazy().filter(pl.col(BLOCK) == number)
        parts.append(rows.select(*names, *block.units, LEVEL).rename(names))
    return pl.collect_all(parts)


def _header(states: States[pl.LazyFrame]) -> Header:
    """The description of the states."""
    uses = [[[use.number, use.axis_number] for use in block.uses] for block in states.blocks]
    return {
        "version": _VERSION,
        "by": list(states.keys.names),
        "cluster": states.cluster,
        "metrics": [_spec(metric) for metric in states.metrics],
        "blocks": uses,
    }


def header_of(states: States[Any]) -> str:
    """The description of the states, for a table whose `:block` does not have it."""
    return json.dumps(_header(states))


def with_header(state: Frame, header: str) -> pl.DataFrame:
    """A state whose `:block` is a number, with the description that it lacks."""
    table = tables.lazy(state).collect()
    if BLOCK not in table.columns or not table.schema[BLOCK].is_integer():
        raise ParameterError(f"`header` is for a state whose column {BLOCK!r} is a number")
    try:
        marks = _type_of(json.loads(header))
    except (ValueError, TypeError, KeyError):
        raise ParameterError("`header` is none; make it with ef.engine.header(...)") from None
    return table.with_columns(pl.col(BLOCK).cast(pl.UInt8).cat.to(marks))


_PLACE = ', "block": '
"""Between what all blocks have in common and the number of the block."""


def _type_of(header: Header) -> pl.Enum:
    """The type of `:block`, whose categories say what the table is a state of."""
    common = json.dumps(header)[:-1]
    return pl.Enum([f"{common}{_PLACE}{number}}}" for number in range(len(header["blocks"]))])


def _number(dtype: pl.DataType) -> pl.Expr:
    """The number of the block of each row."""
    if isinstance(dtype, pl.Enum):
        return pl.col(BLOCK).to_physical().cast(pl.Int64)
    number = pl.col(BLOCK).cast(pl.String).str.extract(r"(\d+)\}$")
    return number.cast(pl.Int64).alias(BLOCK)


def read_header(state: pl.DataFrame) -> Header | None:
    """The description of the states; None if neither type nor rows have it."""
    if BLOCK not in state.columns:
        raise ParameterError(
            f"the table has no column {BLOCK!r}, so it is no state; make one with partial(...)"
        )
    dtype = state.schema[BLOCK]
    if dtype not in (pl.Enum, pl.String, pl.Categorical):
        raise ParameterError(f"{BLOCK!r} is {dtype}, and does not say what the table is a state of")
    marks = dtype.categories if isinstance(dtype, pl.Enum) else state[BLOCK].unique()
    common = {str(mark).rpartition(_PLACE)[0] for mark in marks}
    if len(common) > 1:
        raise ParameterError("the table mixes states of different metrics, keys or clusters")
    for text in common:
        try:
            header: Header = json.loads(text + "}")
        except json.JSONDecodeError:
            raise ParameterError(f"{BLOCK!r} does not say what the table is a state of") from None
        if header.get("version") not in _READABLE:
            raise ParameterError(
                f"the state has version {header.get('version')}, this program reads "
                f"{' and '.join(map(str, _READABLE))}; make it anew with partial(...)"
            )
        return header | {"version": max(header["version"], 3)}  # a sum of 2 is written as 3
    return None


def _spec(metric: AnyBound) -> Header:
    """A metric as JSON: its name, parameters and columns; of a nested one the tree."""
    if isinstance(metric, Bound):
        return {
            "metric": metric.metric.name,
            "name": metric.name,
            "params": dict(metric.params),
            "columns": list(metric.columns),
        }
    roles = {name: _text(expr) for name, expr in metric.then.roles.items()}
    weight = None if metric.then.weight is None else _text(metric.then.weight)
    return {
        "per": list(metric.unit),
        "name": metric.name,
        "columns": {name: _spec(part) for name, part in metric.columns.items()},
        "weight": None if metric.weight is None else _spec(metric.weight),
        "then": _spec(metric.then) | {"roles": roles, "weight": weight},
        "fixed": metric.fixed,
        "given": metric.given,
    }


def _metric(spec: Header, numbers: Iterator[int]) -> AnyBound:
    """The metric of a description."""
    if "per" not in spec:
        # The columns of rows are not known here: those of two metrics must not seem equal.
        number = next(numbers)
        columns = {name: pl.col(f"{number}:{name}") for name in spec["columns"]}
        weight = columns.pop(WEIGHT, None)
        roles = columns
        return Bound(lookup(spec["metric"]), roles, weight, spec["params"], spec["name"])
    then = spec["then"]
    roles = {name: _expr(text) for name, text in then["roles"].items()}
    weight = None if then["weight"] is None else _expr(then["weight"])
    return Per(
        unit={name: pl.col(name) for name in spec["per"]},
        columns={name: _metric(part, numbers) for name, part in spec["columns"].items()},
        then=Bound(lookup(then["metric"]), roles, weight, then["params"], then["name"]),
        weight=None if spec["weight"] is None else _metric(spec["weight"], numbers),
        fixed=spec["fixed"],
        name=spec["name"],
        given=spec["given"],
    )


def _text(expr: pl.Expr) -> str | dict[str, str]:
    """A column by its name; any other expression as Polars writes it."""
    if expr.meta.is_column():
        return expr.meta.output_name()
    return {"expr": base64.b64encode(expr.meta.serialize()).decode()}


def _expr(text: str | dict[str, str]) -> pl.Expr:
    if isinstance(text, str):
        return pl.col(text)
    return pl.Expr.deserialize(io.BytesIO(base64.b64decode(text["expr"])))


def _block(
    leaves: Sequence[tuple[Bound, tuple[str, ...]]], numbers: Sequence[Sequence[int]]
) -> Block:
    uses = [Use(number, axis_number, *leaves[number]) for number, axis_number in numbers]
    return Block(uses[0].metric.columns, uses[0].axis, uses[0].units, uses)
