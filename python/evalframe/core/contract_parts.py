"""Check a table that lies in parts: each part where it is, and the whole from what they return.

Breaches of rules on single rows add up. Whether keys are unique across parts is seen from the
hashes of all keys, which come together here, 8 bytes a row; only rows of equal hashes are then
compared by their keys. So nothing is read again unless something is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

import polars as pl

from evalframe.core.breaches import (
    FIRST,
    NUMBER,
    Breaches,
    as_table,
    broken,
    complaint,
    offending,
    rejected,
)
from evalframe.core.contract import Contract, Rule, Validation, validate
from evalframe.core.errors import ContractError
from evalframe.core.files import replacing

Step: TypeAlias = Callable[..., pl.LazyFrame]
"""Makes a table of a table and of the values that are a part's own; it can be pickled."""

Own: TypeAlias = Sequence[Sequence[object]]
"""For each part the values that are its own."""

_HASHES = "#"
_EXAMPLES = 3


class Parts(Protocol):
    """A table that lies in parts, in the order of its rows."""

    @property
    def table(self) -> pl.LazyFrame:
        """All rows, to be read by this process."""

    def each(self, step: Step, own: Own = ()) -> list[pl.DataFrame]:
        """What a step makes of each part."""


class Checked(NamedTuple):
    """What was found, and the step that leaves the accepted rows of each part; None if all are."""

    validation: Validation
    step: Step | None = None
    own: Own = ()


def validate_parts(parts: Parts, contract: Contract, quarantine: Path | None = None) -> Checked:
    """As `validate`, with the same result and errors; with a quarantine rows are rejected."""
    table = parts.table
    schema = table.collect_schema()
    contract.check_schema(schema)
    tallies = parts.each(partial(_tally, contract))
    counts = pl.concat(tally.drop(_HASHES) for tally in tallies).sum()
    starts = [0, *accumulate(int(tally["len"].item()) for tally in tallies)]
    repeats = _repeats(parts, contract, [tally[_HASHES] for tally in tallies], starts)
    rows, *numbers = counts.row(0)
    rules = contract.row_rules(schema)
    breaches = [(rule, n) for rule, n in zip(rules, numbers, strict=True) if n]
    if not breaches and repeats.is_empty():
        clean = counts.select("len", pl.col("len").alias(_HASHES), pl.exclude("len"))
        validation = validate(
            table,
            contract,
            on_invalid="raise" if quarantine is None else "quarantine",
            quarantine=quarantine,
            counts=clean,
        )
        return Checked(validation)
    unique = [(contract.key_rule(), len(repeats))] if len(repeats) else []
    own = [
        (start, repeats.filter(pl.col(NUMBER).is_between(start, stop, closed="left"))[NUMBER])
        for start, stop in pairwise(starts)
    ]
    if quarantine is None:
        first = [
            pl.concat(parts.each(partial(_offending, contract, rule), own))[:_EXAMPLES]
            for rule, _ in breaches
        ]
        first += [repeats.head(_EXAMPLES)] * len(unique)
        raise ContractError(complaint(contract, rows, breaches + unique, first))
    contract.check_free(schema)
    apart = pl.concat(parts.each(partial(_apart, breaches, unique), own))
    with replacing(quarantine) as temporary:
        apart.write_parquet(temporary)
    accepted = partial(_accepted, breaches, unique)
    valid = pl.defer(lambda: pl.concat(parts.each(accepted, own)), schema=schema)
    told = as_table(breaches + unique)
    validation = Validation(contract.table, rows, len(apart), told, valid, quarantine)
    return Checked(validation, accepted, own)


def _tally(contract: Contract, part: pl.LazyFrame) -> pl.LazyFrame:
    """The counts of a part, and the hashes of its keys as a list."""
    hashes = pl.struct(contract.key).hash() if contract.key else pl.first().hash().head(0)
    part = contract.prepared(part)
    counts = contract.counts(part.collect_schema())
    return part.select(pl.len(), hashes.implode().alias(_HASHES), *counts)


def _repeats(
    parts: Parts, contract: Contract, hashes: Sequence[pl.Series], starts: Sequence[int]
) -> pl.DataFrame:
    """The rows that repeat the key of an earlier one: number, key, number of the first such row."""
    lists = [each.list.explode(empty_as_null=False) for each in hashes]
    suspects = pl.concat(lists).is_duplicated().arg_true()
    if suspects.is_empty():
        return pl.DataFrame(schema={NUMBER: pl.get_index_type()})
    own = [
        (start, suspects.filter(suspects.is_between(start, stop, closed="left")))
        for start, stop in pairwise(starts)
    ]
    rows = pl.concat(parts.each(partial(_keys, contract.key), own))
    first = pl.col(NUMBER).min().over(contract.key).alias(FIRST)
    return rows.with_columns(first).filter(contract.key_rule().broken)


def _keys(key: Sequence[str], part: pl.LazyFrame, start: int, numbers: pl.Series) -> pl.LazyFrame:
    numbered = part.with_row_index(NUMBER, start)
    return numbered.select(NUMBER, *key).filter(pl.col(NUMBER).is_in(numbers.implode()))


def _of_part(breaches: Breaches, unique: Breaches, repeats: pl.Series) -> Breaches:
    """The rules, that of the key by the numbers of the rows that break it."""
    is_repeat = pl.col(NUMBER).is_in(repeats.implode())
    return breaches + [(replace(rule, holds=~is_repeat), count) for rule, count in unique]


def _offending(
    contract: Contract,
    rule: Rule,
    part: pl.LazyFrame,
    start: int,
    repeats: pl.Series,
) -> pl.LazyFrame:
    return offending(part.with_row_index(NUMBER, start), contract, rule).head(_EXAMPLES)


def _apart(
    breaches: Breaches, unique: Breaches, part: pl.LazyFrame, start: int, repeats: pl.Series
) -> pl.LazyFrame:
    return rejected(part.with_row_index(NUMBER, start), _of_part(breaches, unique, repeats))


def _accepted(
    breaches: Breaches, unique: Breaches, part: pl.LazyFrame, start: int, repeats: pl.Series
) -> pl.LazyFrame:
    is_broken = broken(_of_part(breaches, unique, repeats))
    return part.with_row_index(NUMBER, start).filter(~is_broken).drop(NUMBER)
