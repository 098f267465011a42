"""The direction of each side of a test: its column, or else the sign of its statistics."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.contract import Contract, Rule, validate
from evalframe.replication.agreement.posteriors import WAYS, split_ways
from evalframe.replication.effects.by_kind import direction_of_kind
from evalframe.replication.effects.kinds import EVIDENCE, STATISTICS, kind_of
from evalframe.replication.effects.types import SIDES
from evalframe.replication.numbers import check_numbers

CONFLICT = "has_direction_conflict"
"""True if the column of a direction contradicts the sign of a statistic."""

_DIRECTIONS = ("direction_human", "direction_agent")
_NONE = pl.lit(None, pl.Float64)
_SLACK = 1e-6
_MAGNITUDES = ("f", "wald")
_KIND, _SIGN = ":kind_of_test", ":sign:"


def both_sides_rule(schema: pl.Schema) -> Rule | None:
    """The rule that a test with data on both sides has both directions or none.

    None for a table without directions; tests with a PAS are exempt.
    """
    if not {*_DIRECTIONS} & {*schema}:
        return None
    directed = [_is_directed(side, schema) for side in SIDES]
    one = pl.any_horizontal(
        _has_number(f"direction_{side}", schema) & ~other
        for side, other in zip(SIDES, reversed(directed), strict=True)
    )
    required = pl.all_horizontal(
        ~_has_number("pas", schema), *(_has_data(s, schema) for s in SIDES)
    )
    return Rule(
        "a test has the directions of both sides or of neither",
        ~(required & one),
        tuple(name for name in _DIRECTIONS if name in schema),
        "give direction_human and direction_agent (1, -1 or 0) in the same rows; a test without "
        "them has those of its signed statistics, or a PAS of two ways",
    )


def check_both_sides(tests: pl.LazyFrame) -> None:
    """Raise ContractError if a direction is missing on one side only; the tests are read for it."""
    rule = both_sides_rule(tests.collect_schema())
    if rule is not None and tests.select(rule.broken.any()).collect().item():
        validate(tests, Contract("tests", (), rules=(rule,)))


def with_directions(tests: pl.LazyFrame, sides: Sequence[str] = SIDES) -> pl.LazyFrame:
    """Fill in missing directions from statistics; add `has_direction_conflict` if any has a sign.

    A direction is the sign of the statistic, else of `effect_d` or `effect_size`, except for F and
    Wald tests, whose effects are magnitudes. If both sides have data, both get one or neither.
    """
    schema = tests.collect_schema()
    check_numbers(schema, [f"direction_{side}" for side in sides])
    # Separate columns keep the expressions small.
    kind = kind_of("test_type") if "test_type" in schema else pl.lit(None, pl.String)
    signs = {side: sign for side in sides if (sign := _derived(side, schema)) is not None}
    working = {side: f"{_SIGN}{side}" for side in signs}
    typed = tests.with_columns(kind.alias(_KIND)) if signs else tests
    table = typed.with_columns(sign.alias(working[side]) for side, sign in signs.items())
    directions, conflicts = {}, []
    for side in sides:
        name = f"direction_{side}"
        if name not in schema and side not in signs:
            continue
        direction = _number(name, schema)
        if side in signs:
            sign = pl.col(working[side])
            conflicts.append((direction * sign < 0).fill_null(value=False))
            for other in sides:
                if other != side:
                    opposite = pl.col(working[other]) if other in signs else _NONE
                    directed = opposite.is_not_null() | _has_ways(other, schema)
                    sign = pl.when(directed | ~_has_data(other, schema)).then(sign)
            direction = pl.coalesce(direction, sign)
        directions[name] = direction
    if conflicts:
        directions[CONFLICT] = pl.any_horizontal(conflicts)
    return table.with_columns(**directions).drop(_KIND, *working.values(), strict=False)


def with_ways(tests: pl.LazyFrame) -> pl.LazyFrame:
    """Fill in three-way posteriors from two-way ones and directions.

    A table with both kinds also gets two-way posteriors of rows that have only three-way ones.
    """
    schema = tests.collect_schema()
    columns: dict[str, pl.Expr] = {}
    has_both = any(f"pi_{side}" in schema for side in SIDES)
    for side in SIDES:
        pi = _number(f"pi_{side}", schema)
        if has_both and {f"{way}_{side}" for way in WAYS} <= {*schema}:
            plus, minus, zero = (_number(f"{way}_{side}", schema) for way in WAYS)
            complete = (plus + minus + zero - 1.0).abs() < _SLACK
            columns[f"pi_{side}"] = pi = pl.coalesce(pi, pl.when(complete).then(plus + minus))
        if {f"pi_{side}", f"direction_{side}"} <= {*schema}:
            parts = split_ways(pi, 1.0 - pi, _number(f"direction_{side}", schema))
            for way, part in zip(WAYS, parts, strict=True):
                before = pl.when(_has_ways(side, schema)).then(_number(f"{way}_{side}", schema))
                columns[f"{way}_{side}"] = pl.coalesce(before, part)
    return tests.with_columns(**columns)


def agents_where_humans_tell(tests: pl.LazyFrame) -> pl.LazyFrame:
    """Set directions of agents to null in tests without a direction of humans."""
    schema = tests.collect_schema()
    directed = pl.when(_is_directed("human", schema)).then("direction_agent")
    direction = directed.alias("direction_agent")
    return tests.with_columns(direction) if "direction_agent" in schema else tests


def _derived(side: str, schema: pl.Schema) -> pl.Expr | None:
    """The sign of the statistics of a side by the column `_KIND`, None without statistics."""
    of_side = {name.removesuffix(f"_{side}") for name in schema if name.endswith(f"_{side}")}
    typed = "test_type" in schema and of_side & {"stat", "k", "a", "estimate"}
    if not typed and not of_side & {"effect_d", "effect_size"}:
        return None
    kind = pl.col(_KIND)
    size, p0 = (_number(f"{name}_{side}", schema) for name in ("effect_size", "p0"))
    null = pl.when(kind == "binomial").then(p0.fill_null(0.5)).otherwise(0.0)
    of_size = pl.when(kind.is_not_null()).then(size - null)
    is_signed = ~kind.is_in(_MAGNITUDES).fill_null(value=False)
    effect = pl.coalesce(_number(f"effect_d_{side}", schema), of_size).sign()
    effect = pl.when(is_signed).then(effect)
    if not typed:
        return effect

    def first(*names: str) -> pl.Expr:
        return pl.coalesce(_number(f"{name}_{side}", schema) for name in names)

    sign = direction_of_kind(
        kind,
        first("stat", "estimate"),
        groups=(first("n1"), first("n2")),
        counts=(first("k"), first("n", "n_total", "n1"), first("p0")),
        cells=[first(cell) for cell in "abcd"],
    )
    return pl.coalesce(sign, effect)


def _is_directed(side: str, schema: pl.Schema) -> pl.Expr:
    """True if a side has a direction or three-way posteriors."""
    return _has_number(f"direction_{side}", schema) | _has_ways(side, schema)


def _has_ways(side: str, schema: pl.Schema) -> pl.Expr:
    return pl.all_horizontal(_has_number(f"{way}_{side}", schema) for way in WAYS)


def _has_data(side: str, schema: pl.Schema) -> pl.Expr:
    # Statistics first: evidence may still have to be computed from them.
    for names in (STATISTICS, EVIDENCE):
        columns = [f"{name}_{side}" for name in names if f"{name}_{side}" in schema]
        if columns:
            return pl.any_horizontal(_has_number(name, schema) for name in columns)
    return pl.lit(value=False)


def _has_number(name: str, schema: pl.Schema) -> pl.Expr:
    """True if a row has a number; never null."""
    return _number(name, schema).is_not_null()


def _number(name: str, schema: pl.Schema) -> pl.Expr:
    """A column as Float64 without NaN, null if it is not numeric."""
    dtype = schema.get(name, pl.Null())
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        return _NONE
    return pl.col(name).cast(pl.Float64).fill_nan(None)
