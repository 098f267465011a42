"""Rows that break rules of a contract: how they are told, and set apart."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import polars as pl
from polars import selectors

if TYPE_CHECKING:
    from evalframe.core.contract import Contract, Rule

ROW, BROKEN_RULES = "row", "broken_rules"
"""The two columns that quarantined rows get."""

NUMBER, FIRST = "__evalframe_row__", "__evalframe_first__"
"""While rows are looked for: the number of a row, and of the first with its key."""

Breaches: TypeAlias = "list[tuple[Rule, int]]"
"""Broken rules, each with the number of rows that break it."""


def broken(breaches: Breaches) -> pl.Expr:
    """True for rows that break one of these rules."""
    return pl.any_horizontal(pl.lit(False), *(rule.broken for rule, _ in breaches))


def complaint(
    contract: Contract, rows: int, breaches: Breaches, first: Sequence[pl.DataFrame]
) -> str:
    """All broken rules, each with its first offending rows and the remedy."""
    several = f"{len(breaches)} rule{'s' * (len(breaches) > 1)}"
    lines = [f"{contract.table}: {several} broken (rows are numbered from 0)."]
    for (rule, count), examples in zip(breaches, first, strict=True):
        lines.append(f"  {rule.name}: not so in {count:,} of {rows:,} rows")
        lines += (f"    {_shown(row)}" for row in examples.iter_rows(named=True))
        lines.append(f"    Remedy: {rule.remedy}.")
    return "\n".join(lines)


def offending(numbered: pl.LazyFrame, contract: Contract, rule: Rule) -> pl.LazyFrame:
    """The rows that break a rule: number, key, the rule's columns; a repeat also its original."""
    columns = list(dict.fromkeys((NUMBER, *contract.key, *rule.columns)))
    if contract.key and rule.name == contract.key_rule().name:
        numbered = numbered.with_columns(pl.col(NUMBER).min().over(contract.key).alias(FIRST))
        columns.append(FIRST)
    # Unlike `pl.col`, this takes a name like `*` or `^x$` for a name.
    return numbered.filter(rule.broken).select(selectors.by_name(columns))


def _shown(row: dict[str, object]) -> str:
    number, original = row.pop(NUMBER), row.pop(FIRST, None)
    cells = (f"{k}={'null' if v is None else reprlib.repr(v)}" for k, v in row.items())
    same_as = "" if original is None else f" (as row {original})"
    return f"row {number}: {', '.join(cells)}{same_as}"


def rejected(numbered: pl.LazyFrame, breaches: Breaches) -> pl.LazyFrame:
    """The rows that break a rule, with their numbers and the rules."""
    named = (pl.when(rule.broken).then(pl.lit(rule.name)) for rule, _ in breaches)
    rules = pl.concat_list(pl.lit(None, pl.String), *named).list.drop_nulls()
    return (
        numbered.with_columns(rules.alias(BROKEN_RULES))
        .filter(pl.col(BROKEN_RULES).list.len() > 0)
        .select(pl.exclude(NUMBER, BROKEN_RULES), pl.col(NUMBER).alias(ROW), BROKEN_RULES)
    )


def as_table(breaches: Breaches) -> pl.DataFrame:
    """The broken rules of a validation."""
    texts = pl.List(pl.String())
    schema = {"rule": pl.String(), "columns": texts, "rows": pl.Int64(), "remedy": pl.String()}
    rows = [(rule.name, list(rule.columns), n, rule.remedy) for rule, n in breaches]
    return pl.DataFrame(rows, schema=pl.Schema(schema), orient="row")
