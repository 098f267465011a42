"""Record tables declared as data, and the lazy pass that checks them.

A `Contract` lists the columns of a table, named rules on its rows, and its key. `validate` checks
the schema before it reads a row, then counts the breaches of every rule in one streaming pass; only
a table that fails is read again, for the first offending rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from evalframe.core.breaches import (
    BROKEN_RULES,
    NUMBER,
    ROW,
    Breaches,
    as_table,
    broken,
    complaint,
    offending,
    rejected,
)
from evalframe.core.choices import check_choice
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.core.files import replacing
from evalframe.core.frames import any_frame
from evalframe.core.kinds import Kind, misfit, unlike
from evalframe.core.shown import shown
from evalframe.core.typing import Frame


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A named condition on rows.

    Args:
        name: The condition as a short sentence: "weight is not negative".
        holds: True for valid rows; null counts as valid.
        columns: The columns of the condition; it is skipped for a table that lacks one.
        remedy: What to do about invalid rows, as an imperative without a full stop.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> in_time = ef.Rule("seconds < 60", pl.col("seconds") < 60, ("seconds",), "drop it")
        >>> runs = ef.Contract("runs", (ef.Column("seconds"),), rules=(in_time,))
        >>> ef.validate(pl.DataFrame({"seconds": [12.0, 75.0]}), runs)
        Traceback (most recent call last):
        evalframe.core.errors.ContractError: runs: 1 rule broken (rows are numbered from 0).
          seconds < 60: not so in 1 of 2 rows
            row 1: seconds=75.0
            Remedy: drop it.
    """

    name: str
    holds: pl.Expr
    columns: tuple[str, ...]
    remedy: str

    @property
    def broken(self) -> pl.Expr:
        """True for rows that break the rule, never null."""
        return ~self.holds.fill_null(True)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Args:
        name: The column's name in the user's table.
        kind: Its kind, or all kinds that it can have; a column of nulls passes as any kind.
        required: The table must have the column.
        nullable: The column can contain null.
        finite: NaN and infinity are invalid.
        where: Another column; rows in which it is null are not checked.
        meaning: The meaning of the column in a few words, for messages.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = ef.Contract("scores", (ef.Column("score", "number", nullable=True),))
        >>> ef.validate(pl.DataFrame({"score": [0.5, None, float("nan")]}), scores)
        Traceback (most recent call last):
        evalframe.core.errors.ContractError: scores: 1 rule broken (rows are numbered from 0).
          score is finite: not so in 1 of 3 rows
            row 2: score=nan
            Remedy: replace NaN and infinity in 'score' by numbers or null or drop these rows.
    """

    name: str
    kind: Kind | tuple[Kind, ...] = "any"
    required: bool = True
    nullable: bool = False
    finite: bool = True
    where: str | None = None
    meaning: str = ""

    def rules(self, dtype: pl.DataType) -> Iterator[Rule]:
        """The rules on rows that this declaration implies for a column of `dtype`."""
        value = pl.col(self.name)
        exempt = pl.col(self.where).is_null() if self.where else pl.lit(False)
        place = f" where {self.where} is" if self.where else ""
        columns = (self.name, self.where) if self.where else (self.name,)
        otherwise = f", set {self.where!r} to null," * bool(self.where) + " or drop these rows"
        if not self.nullable:
            holds, remedy = value.is_not_null(), f"fill in {self.name!r}{otherwise}"
            yield Rule(f"{self.name} is present{place}", holds | exempt, columns, remedy)
        if self.finite and dtype.is_float():
            instead = "numbers or null" if self.nullable else "numbers"
            remedy = f"replace NaN and infinity in {self.name!r} by {instead}{otherwise}"
            yield Rule(f"{self.name} is finite{place}", value.is_finite() | exempt, columns, remedy)


def each_once(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The first declaration of each column, which is the strictest."""
    first = {column.name: column for column in reversed(columns)}
    return tuple(column for column in columns if first[column.name] is column)


@dataclass(frozen=True, slots=True)
class Contract:
    """Requirements on a table, under the names its columns have there.

    Args:
        table: Name of the table in messages.
        columns: Its columns; others are ignored.
        rules: Conditions on rows in addition to those of the columns.
        key: Columns that together identify a row.
        alike: Pairs of columns that are compared: both numbers, both strings or both booleans.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = ef.Contract("items", (ef.Column("item", "key"),), key=("item",))
        >>> print(ef.validate(pl.DataFrame({"item": [1, 2], "note": ["", "late"]}), items))
        items: all 2 rows accepted
        >>> ef.validate(pl.DataFrame({"items": [1, 2]}), items)
        Traceback (most recent call last):
        evalframe.core.errors.MissingColumnsError: items needs column 'item'; the table has
        ['items']. Did you mean 'items'? Name the column to use, or rename it.
    """

    table: str
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...] = ()
    key: tuple[str, ...] = ()
    alike: tuple[tuple[str, str], ...] = ()

    def check_schema(self, schema: pl.Schema) -> None:
        """Check the names and types of all columns, without reading a row."""
        required = {column.name for column in self.columns if column.required} | {*self.key}
        if missing := required - schema.keys():
            raise MissingColumnsError.of(self.table, missing, schema)
        faults = [
            *(
                misfit(column.name, column.kind, column.meaning, schema[column.name])
                for column in self._in(schema)
            ),
            *(unlike(pair, schema) for pair in self.alike if schema.keys() >= {*pair}),
        ]
        if messages := [f"{self.table}: {fault}" for fault in faults if fault]:
            raise ContractError("\n".join(messages))

    def check_free(self, schema: pl.Schema) -> None:
        """Raise ContractError if the table has a column that quarantined rows gain."""
        if reserved := schema.keys() & {ROW, BROKEN_RULES}:
            names = " and ".join(map(repr, sorted(reserved)))
            raise ContractError(f"{self.table}: rename {names}, which quarantined rows gain.")

    def row_rules(self, schema: pl.Schema) -> list[Rule]:
        """The rules on single rows of such a table, without `key_rule`."""
        implied = (r for column in self._in(schema) for r in column.rules(schema[column.name]))
        return [rule for rule in (*implied, *self.rules) if schema.keys() >= {*rule.columns}]

    def query(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Count rows, keys and breaches lazily, to be collected with other queries of the table.

        >>> items = Contract("items", (Column("score", "number"),))
        >>> table = pl.LazyFrame({"score": [0.5, 1.0]})
        >>> counts, rows = pl.collect_all([items.query(table), table])
        >>> print(validate(table, items, counts=counts))
        items: all 2 rows accepted
        """
        self.check_schema(table.collect_schema())
        table = self.prepared(table)
        # As many hashes as rows prove the key, in half the time and memory of an exact count.
        hashes = pl.struct(self.key).hash().n_unique() if self.key else pl.len()
        return table.select(pl.len(), hashes.alias("#"), *self.counts(table.collect_schema()))

    def prepared(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """The table as `counts` takes it: with what many rules share as columns."""
        return table

    def counts(self, schema: pl.Schema) -> list[pl.Expr]:
        """The number of rows that break each of `row_rules`."""
        rules = enumerate(self.row_rules(schema))
        return [rule.broken.sum().alias(str(number)) for number, rule in rules]

    def key_rule(self) -> Rule:
        """The rule that is broken by each row that repeats the key of an earlier one.

        Rows that lack a required part of the key are reported by another rule.
        """
        must_have = (c.name for c in self.columns if c.name in self.key and not c.nullable)
        lacking = pl.any_horizontal(pl.lit(False), *(pl.col(name).is_null() for name in must_have))
        return Rule(
            f"{', '.join(self.key)} {'are' if len(self.key) > 1 else 'is'} unique",
            pl.struct(self.key).is_first_distinct() | lacking,
            self.key,
            "drop the repeats, or name the further column that tells these rows apart, in by or in "
            "key",
        )

    def _in(self, schema: pl.Schema) -> Iterator[Column]:
        return (column for column in self.columns if column.name in schema)


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """Result of `validate`.

    Args:
        table: Name of the table in the contract.
        rows: Rows of the input.
        rejected: Rows that broke a rule, each counted once.
        breaches: One row per broken rule: `rule`, `columns`, `rows`, `remedy`.
        valid: The accepted rows, lazily, in input order, with all their columns.
        quarantine: The file of rejected rows, or None.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> import tempfile
        >>> items = ef.Contract("items", (ef.Column("item", "key"),))
        >>> rows = pl.DataFrame({"item": ["a", None]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/rejected.parquet"
        ...     found = ef.validate(rows, items, on_invalid="quarantine", quarantine=path)
        ...     print(found.rows, found.rejected, found.valid.collect()["item"].to_list())
        ...     print(pl.read_parquet(path).row(0, named=True))
        2 1 ['a']
        {'item': None, 'row': 1, 'broken_rules': ['item is present']}
    """

    table: str
    rows: int
    rejected: int
    breaches: pl.DataFrame
    valid: pl.LazyFrame
    quarantine: Path | None

    @property
    def is_empty(self) -> bool:
        """True if no row is accepted."""
        return self.rejected == self.rows

    def describe(self) -> dict[str, int]:
        """The counts, as plain data."""
        return {"rows": self.rows, "rejected": self.rejected}

    def __str__(self) -> str:
        """Numbers of accepted and rejected rows, and the broken rules."""
        if not self.rejected:
            return f"{self.table}: all {self.rows:,} rows accepted"
        kept = f"{self.rows - self.rejected:,} of {self.rows:,} rows accepted"
        lines = [f"{self.table}: {kept}, {self.rejected:,} written to {self.quarantine}"]
        reasons = self.breaches.select("rule", "rows").iter_rows()
        return "\n".join((*lines, *(f"  {rule}: not so in {rows:,}" for rule, rows in reasons)))


@any_frame
def validate(
    frame: Frame,
    contract: Contract,
    *,
    on_invalid: Literal["raise", "quarantine"] = "raise",
    quarantine: str | Path | None = None,
    examples: int = 3,
    counts: pl.DataFrame | None = None,
) -> Validation:
    """Check a table against its contract, all rules at once.

    Rows are numbered from 0. A lazy frame can be read more than once, so its rows should have a
    stable order, as those of a scan.

    Args:
        frame: The table.
        contract: Its contract.
        on_invalid: `"raise"` reports all broken rules in one error; `"quarantine"` rejects rows
            that break one. Of rows with the same key, all but the first are rejected.
        quarantine: Parquet file for rejected rows, with their numbers in `row` and the rules they
            break in `broken_rules`. Written completely or not at all, also without rejected rows.
        examples: Number of invalid rows that an error shows for each rule.
        counts: Result of `contract.query(frame)`, if it was collected with other queries.

    Returns:
        What was found, a `Validation`: the counts, the broken rules, and the accepted rows, lazily.

    Raises:
        MissingColumnsError: A required column is missing.
        ContractError: Types are wrong, there are no rows, or (unless quarantined) rows break rules.
        OutputError: The quarantine file cannot be written.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> columns = (ef.Column("item", "key"), ef.Column("score", "number"))
        >>> items = ef.Contract("items", columns, key=("item",))
        >>> print(ef.validate(pl.DataFrame({"item": ["a", "b"], "score": [0.5, 1.0]}), items))
        items: all 2 rows accepted
        >>> ef.validate(pl.DataFrame({"item": ["a", "a"], "score": [0.5, 1.0]}), items)
        Traceback (most recent call last):
        evalframe.core.errors.ContractError: items: 1 rule broken (rows are numbered from 0).
          item is unique: not so in 1 of 2 rows
            row 1: item='a' (as row 0)
            Remedy: drop the repeats, or name the further column that tells these rows apart, in by
            or in key.
    """
    check_choice("on_invalid", on_invalid, Literal["raise", "quarantine"])
    if (on_invalid == "quarantine") != (quarantine is not None):
        raise ParameterError(
            "on_invalid='quarantine' and the file of rejected rows, quarantine=PATH, go together;"
            f" got on_invalid={on_invalid!r} and quarantine={quarantine and str(quarantine)!r}."
        )
    table = frame.lazy()
    schema = table.collect_schema()
    query = contract.query(table)
    if quarantine is not None:
        contract.check_free(schema)
    rows, breaches = _breaches(table, contract, query.collect() if counts is None else counts)
    if not rows:
        raise ContractError(f"{contract.table}: the table has no rows. Check where it comes from.")
    if breaches and quarantine is None:
        numbered = table.with_row_index(NUMBER)
        first = [offending(numbered, contract, rule).head(examples) for rule, _ in breaches]
        raise ContractError(complaint(contract, rows, breaches, pl.collect_all(first)))
    path = None if quarantine is None else Path(quarantine)
    return Validation(
        table=contract.table,
        rows=rows,
        rejected=0 if path is None else _set_apart(table, breaches, path),
        breaches=as_table(breaches),
        valid=shown(table.filter(~broken(breaches)) if breaches else table),
        quarantine=path,
    )


def _breaches(
    table: pl.LazyFrame, contract: Contract, counts: pl.DataFrame
) -> tuple[int, Breaches]:
    """The number of rows, and every rule that some of them break."""
    rows, distinct, *broken = counts.row(0)
    rules = contract.row_rules(table.collect_schema())
    breaches = [(rule, n) for rule, n in zip(rules, broken, strict=True) if n]
    if distinct < rows:
        unique = contract.key_rule()
        repeats = table.select(unique.broken.sum()).collect().item()
        breaches += [(unique, repeats)] if repeats else []
    return rows, breaches


def _set_apart(table: pl.LazyFrame, breaches: Breaches, path: Path) -> int:
    """Write the rows that break a rule, and count them."""
    suspects = table if breaches else table.head(0)
    with replacing(path) as partial:
        rejected(suspects.with_row_index(NUMBER), breaches).sink_parquet(partial)
        return int(pl.scan_parquet(partial).select(pl.len()).collect().item())
