"""The seam: partial states of shards as plain tables, their sum, and the finish.

A state table has the group keys, perhaps a cluster, then `:block` (which metrics the row serves,
as JSON), `:level` (null for rows at no level) and the sums, such as `:mass`. It survives a round
trip through Parquet, and states of shards add up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core import cells, tables
from evalframe.core.blocks import Block
from evalframe.core.cells import Sums
from evalframe.core.errors import ParameterError
from evalframe.core.metric import Bound, lookup
from evalframe.core.sharing import add, share
from evalframe.core.state import LEVEL, WEIGHT
from evalframe.core.tables import Keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame

BLOCK = ":block"
CLUSTER = ":cluster"
_VERSION = 2

_WAITING = 1 << 22
"""Rows of states that are in memory beside their sum, about."""


@dataclass(frozen=True)
class Opened:
    """A state table, taken apart.

    Attributes:
        keys: The group keys.
        cluster: Name of the cluster column, or None.
        bounds: The metrics.
        blocks: What they share.
        tables: For each block its rows, keys and cluster under internal names.
    """

    keys: Keys
    cluster: str | None
    bounds: list[Bound]
    blocks: list[Block]
    tables: list[pl.LazyFrame]


def state_table(
    frame: pl.LazyFrame, bounds: Sequence[Bound], keys: Keys, cluster: pl.Expr | None
) -> pl.LazyFrame:
    """The additive state of metrics, by groups and clusters."""
    blocks = share(bounds)
    name = None if cluster is None else cluster.meta.output_name()
    if name in keys.names:
        raise ParameterError(f"{name!r} is both a group key and the cluster; it can be only one")
    header = _header(bounds, blocks, keys, name)
    clusters = [] if cluster is None else [cluster]
    schema = frame.select(*keys.exprs, *clusters).collect_schema()
    sums = {f":{sum_}": pl.Float64() for block in blocks for sum_ in block.all_sums}

    def compute() -> pl.DataFrame:
        if cluster is None:
            made = tables.additive_tables(frame, keys, blocks)
        else:
            made = pl.collect_all(block_tables(frame, blocks, keys, cluster))
        public = keys.restore() | ({} if name is None else {CLUSTER: name})
        named = [
            rows.rename(public | {sum_: f":{sum_}" for sum_ in block.all_sums})
            for rows, block in zip(made, blocks, strict=True)
        ]
        return _one_table(named, header, [*schema], [*sums])

    whole = {**schema, BLOCK: pl.String(), LEVEL: pl.Float64(), **sums}
    return pl.defer(compute, schema=pl.Schema(whole))


def _one_table(
    parts: Sequence[pl.DataFrame], header: dict[str, Any], groups: list[str], sums: list[str]
) -> pl.DataFrame:
    """The tables of all blocks in turn, each sorted by groups and level."""
    marked = [
        part.sort([*groups, LEVEL] if LEVEL in part.columns else groups).with_columns(
            pl.lit(_marked(header, place)).alias(BLOCK)
        )
        for place, part in enumerate(parts)
    ]
    numbers = pl.DataFrame(schema=dict.fromkeys([LEVEL, *sums], pl.Float64()))
    whole = pl.concat([*marked, numbers], how="diagonal")
    return whole.select(*groups, BLOCK, LEVEL, *sums)


def block_tables(
    frame: pl.LazyFrame, blocks: Sequence[Block], keys: Keys, cluster: pl.Expr | None
) -> list[pl.LazyFrame]:
    """For each block its sums by keys, cluster and level, under internal names."""
    extra = [] if cluster is None else [cluster.alias(CLUSTER)]
    inner = keys.inner + [CLUSTER] * len(extra)
    return [
        block.per_level(frame.select(*keys.select(), *extra, **block.columns), inner)
        for block in blocks
    ]


def merged(states: Sequence[Frame]) -> pl.LazyFrame:
    """The sum of several state tables of the same metrics and keys.

    Raises:
        ParameterError: There is none, or they hold different metrics, keys or clusters.
    """
    if not states:
        raise ParameterError("there are no states to merge")
    whole = _Sum()
    for number, state in enumerate(states):
        whole.add(number, tables.lazy(state).collect())
    return whole.table().lazy()


class _Sum:
    """A running sum of states, of which a few wait to be added up together."""

    def __init__(self) -> None:
        self._header: dict[str, Any] | None = None
        self._told_by = 0
        self._least = 0
        self._parts: list[pl.DataFrame] = []

    def add(self, number: int, state: pl.DataFrame) -> None:
        """One more state.

        Raises:
            ParameterError: It holds other metrics, keys or clusters than the others.
        """
        header = _read_header(state.lazy())
        # A shard without rows has no header at all, or lacks some blocks.
        if header is not None and self._header is None:
            self._header, self._told_by = header, number
        elif header is not None and header != self._header:
            raise ParameterError(
                f"state {number} holds other metrics, keys or clusters than state "
                f"{self._told_by}; merge states that were made by the same partial(...)"
            )
        self._parts.append(state)
        if sum(map(len, self._parts)) > max(_WAITING, 2 * self._least):
            self._parts = [self.table()]
            self._least = len(self._parts[0])

    def table(self) -> pl.DataFrame:
        """The sum of all states."""
        _check_alike(self._parts, self._header)
        whole = pl.concat(self._parts, how="diagonal_relaxed")
        if self._header is None:
            return whole
        names = whole.columns
        groups, sums = names[: names.index(BLOCK)], names[names.index(LEVEL) + 1 :]
        blocks = [whole.lazy().filter(_is_marked(k)) for k in range(len(self._header["blocks"]))]
        return _one_table(_added_up(blocks, groups, sums), self._header, groups, sums)


def _added_up(
    blocks: Sequence[pl.LazyFrame], groups: Sequence[str], sums: Sequence[str]
) -> list[pl.DataFrame]:
    """Rows of the states of blocks, added up by groups and level."""
    there = [
        rows.select(pl.col(LEVEL, *sums).is_not_null().any(), rows=pl.len()) for rows in blocks
    ]
    plans: list[pl.LazyFrame] = []
    for rows, found in zip(blocks, pl.collect_all(there), strict=True):
        told = found.row(0, named=True)
        used = [name for name in sums if told[name]]
        made = None
        if told[LEVEL] and told["rows"] >= cells.HEAD:
            by_level = {name: pl.col(name).fill_null(0.0) for name in used}
            keys = {name: pl.col(name) for name in groups}
            made = cells.added_up(rows, keys, [Sums(pl.col(LEVEL), {}, by_level)])
        summed = rows.group_by(*groups, LEVEL).agg(pl.col(used).sum())
        plans.append(summed if made is None else made[0].lazy())
    return pl.collect_all(plans)


def _check_alike(states: Sequence[pl.DataFrame], header: dict[str, Any] | None) -> None:
    """Raise where a key or the cluster is text in one state and something else in another."""
    named = [] if header is None else [*header["by"], header["cluster"]]
    schemas = [state.schema for state in states]
    for name in named:
        found = {schema[name] for schema in schemas if name in schema}
        text = {dtype for dtype in found if dtype in (pl.String, pl.Categorical, pl.Enum)}
        if text and text != found:
            raise ParameterError(
                f"{name!r} is {' and '.join(sorted(map(str, found)))} in different states; "
                "cast it to one type before partial(...)"
            )


def opened(state: Frame) -> Opened:
    """A state table, taken apart into its blocks.

    Raises:
        ParameterError: It is no state table, or of another version.
    """
    lazy = tables.lazy(state).collect().lazy()
    header = _read_header(lazy)
    if header is None:
        raise ParameterError("the state has no rows, and so does not say what it is a state of")
    if header.get("version") != _VERSION:
        raise ParameterError(
            f"the state has version {header.get('version')}, this program reads {_VERSION}"
        )
    bounds = [_bound(spec) for spec in header["metrics"]]
    keys = Keys.of(header["by"])
    cluster = header["cluster"]
    blocks, parts = [], []
    for place, uses in enumerate(header["blocks"]):
        block = _block(bounds, uses)
        public = {name: inner for inner, name in keys.restore().items()}
        if cluster is not None:
            public[cluster] = CLUSTER
        public |= {f":{sum_}": sum_ for sum_ in block.all_sums}
        rows = lazy.filter(_is_marked(place)).rename(public)
        blocks.append(block)
        parts.append(rows.select(*public.values(), LEVEL))
    return Opened(keys, cluster, bounds, blocks, parts)


def _header(
    bounds: Sequence[Bound], blocks: Sequence[Block], keys: Keys, cluster: str | None
) -> dict[str, Any]:
    """What the whole table is a state of; each block adds its place."""
    metrics = [
        {
            "metric": bound.metric.name,
            "name": bound.name,
            "params": dict(bound.params),
            "columns": list(bound.columns),
        }
        for bound in bounds
    ]
    return {
        "version": _VERSION,
        "by": list(keys.names),
        "cluster": cluster,
        "metrics": metrics,
        "blocks": [block.uses for block in blocks],
    }


_PLACE = ', "block": '
"""Between what all blocks say of the whole, and which of them a row belongs to."""


def _marked(header: dict[str, Any], place: int) -> str:
    return f"{json.dumps(header)[:-1]}{_PLACE}{place}}}"


def _is_marked(place: int) -> pl.Expr:
    """Whether a row of a table with one header belongs to this block: its mark ends so."""
    return pl.col(BLOCK).str.ends_with(f"{_PLACE}{place}}}")


def _read_header(state: pl.LazyFrame) -> dict[str, Any] | None:
    """What the table is a state of; None if it has no rows to say so."""
    if BLOCK not in state.collect_schema().names():
        raise ParameterError(
            f"the table has no column {BLOCK!r}, so it is no state; make one with partial(...)"
        )
    marks = state.select(pl.col(BLOCK).unique()).collect()[BLOCK].to_list()
    wholes = {str(mark).rpartition(_PLACE)[0] for mark in marks}
    if len(wholes) > 1:
        raise ParameterError("the table mixes states of different metrics, keys or clusters")
    for whole in wholes:
        try:
            header: dict[str, Any] = json.loads(whole + "}")
            return header
        except json.JSONDecodeError:
            raise ParameterError(f"{BLOCK!r} does not say what the table is a state of") from None
    return None


def _bound(spec: dict[str, Any]) -> Bound:
    roles = {name: pl.col(name) for name in spec["columns"] if name != WEIGHT}
    weight = pl.col(WEIGHT) if WEIGHT in spec["columns"] else None
    return Bound(lookup(spec["metric"]), roles, weight, spec["params"], spec["name"])


def _block(bounds: Sequence[Bound], uses: Sequence[tuple[int, int]]) -> Block:
    block: Block | None = None
    for number, axis_number in uses:
        bound = bounds[number]
        axis = bound.state.axes[axis_number] if bound.state.axes else None
        if block is None:
            block = Block(bound.columns, axis, {}, {})
        add(block, number, bound, axis_number, axis)
    assert block is not None
    return block
