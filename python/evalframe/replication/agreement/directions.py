"""The direction of each side of a test: what a table gives, or else what its statistics say.

Only by `rules="documented"`: the original's rules know directions that are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Contract, Rule, validate
from evalframe.replication.agreement.posteriors import WAYS, split_ways
from evalframe.replication.effects.directions import direction_of_kind
from evalframe.replication.effects.kinds import EVIDENCE, STATISTICS, kind_of
from evalframe.replication.effects.types import SIDES
from evalframe.replication.numbers import check_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFLICT = "has_direction_conflict"
"""Whether a direction that is given contradicts the sign of a statistic."""

_DIRECTIONS = ("direction_human", "direction_agent")


def both_sides_rule(schema: pl.Schema) -> Rule | None:
    """What holds of the directions of a table, None where it has no column of them.

    Of a test with data on both sides, and without a PAS, both directions are given or none.
    """
    if not {*_DIRECTIONS} & {*schema}:
        return None
    told = [_told(side, schema) for side in SIDES]
    one = pl.any_horizontal(
        _is_there(f"direction_{side}", schema) & ~other
        for side, other in zip(SIDES, reversed(told), strict=True)
    )
    asked = pl.all_horizontal(~_is_there("pas", schema), *(_has_data(s, schema) for s in SIDES))
    return Rule(
        "a test has the directions of both sides or of neither",
        ~(asked & one),
        tuple(name for name in _DIRECTIONS if name in schema),
        "give direction_human and direction_agent (1, -1 or 0) in the same rows; a test without "
        "them has those of its signed statistics, or a PAS of two ways",
    )


def check_both_sides(tests: pl.LazyFrame) -> None:
    """Raise where a direction is given on one side only; the tests are read for it.

    Raises:
        ContractError: With the rows.
    """
    rule = both_sides_rule(tests.collect_schema())
    if rule is not None and tests.select(rule.broken.any()).collect().item():
        validate(tests, Contract("tests", (), rules=(rule,)))


def with_directions(tests: pl.LazyFrame, sides: Sequence[str] = SIDES) -> pl.LazyFrame:
    """The tests with the directions of sides: those that are given, and where none is, derived.

    Derived is the sign of the effect that a statistic has, else that of `effect_d` or `effect_size`
    unless the test is an F or Wald's, whose effects are magnitudes; of both sides or of neither,
    where both have data.

    Args:
        tests: One row per test.
        sides: Which sides.

    Returns:
        The tests with `direction_human` and `direction_agent` (Float64), as far as they are given
        or there are statistics to derive them from; with such statistics also
        `has_direction_conflict` (Boolean).

    Raises:
        ContractError: A direction is no number.
    """
    schema = tests.collect_schema()
    check_numbers(schema, [f"direction_{side}" for side in sides])
    # In columns of their own, so that no expression grows large.
    kind = kind_of("test_type") if "test_type" in schema else pl.lit(None, pl.String)
    signs = {side: sign for side in sides if (sign := _derived(side, schema)) is not None}
    working = {side: f"{_SIGN}{side}" for side in signs}
    typed = tests.with_columns(kind.alias(_KIND)) if signs else tests
    table = typed.with_columns(sign.alias(working[side]) for side, sign in signs.items())
    made, conflicts = {}, []
    for side in sides:
        name = f"direction_{side}"
        if name not in schema and side not in signs:
            continue
        given = _number(name, schema)
        if side in signs:
            sign = pl.col(working[side])
            conflicts.append((given * sign < 0).fill_null(value=False))
            for other in sides:
                if other != side:
                    own = pl.col(working[other]) if other in signs else _NONE
                    told = own.is_not_null() | _has_ways(other, schema)
                    sign = pl.when(told | ~_has_data(other, schema)).then(sign)
            given = pl.coalesce(given, sign)
        made[name] = given
    if conflicts:
        made[CONFLICT] = pl.any_horizontal(conflicts)
    return table.with_columns(**made).drop(_KIND, *working.values(), strict=False)


def with_ways(tests: pl.LazyFrame) -> pl.LazyFrame:
    """The tests with three-way posteriors where they have two-way ones and directions.

    In a table of both, also with two-way ones where they have only three-way ones. Those that a row
    has stay.
    """
    schema = tests.collect_schema()
    made: dict[str, pl.Expr] = {}
    has_both = any(f"pi_{side}" in schema for side in SIDES)
    for side in SIDES:
        pi = _number(f"pi_{side}", schema)
        if has_both and {f"{way}_{side}" for way in WAYS} <= {*schema}:
            plus, minus, zero = (_number(f"{way}_{side}", schema) for way in WAYS)
            whole = (plus + minus + zero - 1.0).abs() < _SLACK
            made[f"pi_{side}"] = pi = pl.coalesce(pi, pl.when(whole).then(plus + minus))
        if {f"pi_{side}", f"direction_{side}"} <= {*schema}:
            parts = split_ways(pi, 1.0 - pi, _number(f"direction_{side}", schema))
            for way, part in zip(WAYS, parts, strict=True):
                own = pl.when(_has_ways(side, schema)).then(_number(f"{way}_{side}", schema))
                made[f"{way}_{side}"] = pl.coalesce(own, part)
    return tests.with_columns(**made)


def agents_where_humans_tell(tests: pl.LazyFrame) -> pl.LazyFrame:
    """The tests without those directions of responses that have none of humans beside them."""
    schema = tests.collect_schema()
    kept = pl.when(_told("human", schema)).then("direction_agent").alias("direction_agent")
    return tests.with_columns(kept) if "direction_agent" in schema else tests


_NONE = pl.lit(None, pl.Float64)
_SLACK = 1e-6
_MAGNITUDES = ("f", "wald")
_KIND, _SIGN = ":kind_of_test", ":sign:"


def _derived(side: str, schema: pl.Schema) -> pl.Expr | None:
    """The direction that the statistics of a side say, by the kind in a column of its own.

    None where the side has no column of any.
    """
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

    def known(*names: str) -> pl.Expr:
        return pl.coalesce(_number(f"{name}_{side}", schema) for name in names)

    sign = direction_of_kind(
        kind,
        known("stat", "estimate"),
        groups=(known("n1"), known("n2")),
        counts=(known("k"), known("n", "n_total", "n1"), known("p0")),
        cells=[known(cell) for cell in "abcd"],
    )
    return pl.coalesce(sign, effect)


def _told(side: str, schema: pl.Schema) -> pl.Expr:
    """Whether a side says where its effect goes, by a direction or by posteriors of three ways."""
    return _is_there(f"direction_{side}", schema) | _has_ways(side, schema)


def _has_ways(side: str, schema: pl.Schema) -> pl.Expr:
    return pl.all_horizontal(_is_there(f"{way}_{side}", schema) for way in WAYS)


def _has_data(side: str, schema: pl.Schema) -> pl.Expr:
    # Statistics first: what is made of them may still have to be computed.
    for names in (STATISTICS, EVIDENCE):
        present = [f"{name}_{side}" for name in names if f"{name}_{side}" in schema]
        if present:
            return pl.any_horizontal(_is_there(name, schema) for name in present)
    return pl.lit(value=False)


def _is_there(name: str, schema: pl.Schema) -> pl.Expr:
    """Whether a row has a number; never null."""
    return _number(name, schema).is_not_null()


def _number(name: str, schema: pl.Schema) -> pl.Expr:
    """A column as Float64 without NaN; what holds no numbers says nothing."""
    dtype = schema.get(name, pl.Null())
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        return _NONE
    return pl.col(name).cast(pl.Float64).fill_nan(None)
