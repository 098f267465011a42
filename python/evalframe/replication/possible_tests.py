"""The contract of tests: rules that depend on its columns, and those on statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from evalframe.core.contract import Contract, Rule
from evalframe.replication.bayes_factors.kinds import ROLES, arguments, possible_tests
from evalframe.replication.effects.kinds import STATISTICS, form_of, is_form, is_kind, kind_of
from evalframe.replication.effects.types import KINDS, SIDES, Side

_KIND, _FORM = ":kind of test:", ":form of test:"


@dataclass(frozen=True, slots=True, eq=False)
class BySchema(Rule):
    """A rule that depends on the columns of the table: `written_out` returns the rules for them."""

    written_out: Callable[[Rule, pl.Schema], Iterable[Rule]]


class TestsContract(Contract):
    """A contract whose rules on statistics depend on the columns of the table."""

    __slots__ = ()

    def prepared(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """With kinds of tests and what they take as columns, so that no rule grows large."""
        schema = table.collect_schema()
        if "test_type" not in schema:
            return table

        def says(form: str) -> pl.Expr:
            return (pl.col(_FORM) == form).fill_null(value=False)

        named = table.with_columns(
            kind_of("test_type").alias(_KIND), form_of("test_type").alias(_FORM)
        )
        return named.with_columns(
            role.alias(_argument(side, kind, place))
            for side in SIDES
            if (columns := _columns(schema, side))
            for kind, roles in arguments(columns, pl.lit(value=True), says).items()
            for place, role in enumerate(roles)
        )

    def row_rules(self, schema: pl.Schema) -> list[Rule]:
        """All rules for single rows of a table with these columns."""
        rules = [
            rule
            for each in self.rules
            for rule in (each.written_out(each, schema) if isinstance(each, BySchema) else [each])
        ]
        contract = Contract(self.table, self.columns, tuple(rules), self.key, self.alike)
        return contract.row_rules(schema)


def of_kinds(contract: Contract, kinds: Collection[str]) -> Contract:
    """The contract of tests of these kinds only, which has fewer rules and takes less time."""
    rules = [
        replace(rule, written_out=partial(rule.written_out, kinds=kinds))
        if isinstance(rule, BySchema) and isinstance(rule.written_out, partial)
        else rule
        for rule in contract.rules
    ]
    return replace(contract, rules=tuple(rules))


def possible(
    _: Rule, schema: pl.Schema, *, side: Side, kinds: Collection[str] = KINDS
) -> Iterator[Rule]:
    """The rules of `with_bayes_factors` for the statistics of a side, for tests of some kinds."""
    columns = _columns(schema, side)
    says = partial(is_form, "test_type")
    for kind, roles in arguments(columns, pl.lit(value=True), says).items() if columns else ():
        if kind not in kinds:
            continue
        other = ~is_kind("test_type", kind)
        if _KIND in schema:
            other = pl.col(_KIND) != kind
            roles = [pl.col(_argument(side, kind, place)) for place in range(len(roles))]
        for rule in possible_tests(kind, roles, columns, ["test_type"]):
            yield replace(rule, holds=other | rule.holds)


def _columns(schema: pl.Schema, side: Side) -> dict[str, str]:
    """The columns of a side by their roles; none without types or statistics."""
    columns = {role: f"{role}_{side}" for role in ROLES if f"{role}_{side}" in schema}
    return columns if "test_type" in schema and columns.keys() & {*STATISTICS} else {}


def _argument(side: Side, kind: str, place: int) -> str:
    return f":{kind} {place} {side}:"
