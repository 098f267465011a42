"""Rows of a job: read by this process, or by the workers of an engine, each a shard of them.

What a family does with rows is a step: a function that makes a table of a table, row by row, and
that can be pickled. This process adds the step to its plan, a worker does it where its shard lies;
so a family is written once. What it needs to know of all rows comes from small results of shards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from evalframe.core.contract import Contract, Report, validate
from evalframe.core.contract_parts import Own, Step, validate_parts
from evalframe.core.scan import reading

if TYPE_CHECKING:
    from evalframe.engine.protocol import Engine
    from evalframe.engine.shards import Shard, Shards


@dataclass(frozen=True)
class Rows:
    """Rows that this process reads.

    Attributes:
        table: The rows.
    """

    table: pl.LazyFrame

    @property
    def schema(self) -> pl.Schema:
        """The columns."""
        return self.table.collect_schema()

    @property
    def is_spread(self) -> bool:
        """True if workers read the rows."""
        return False

    def then(self, step: Step) -> Rows:
        """The rows after a step."""
        return Rows(step(self.table))

    def collect(self, step: Step) -> pl.DataFrame:
        """What a step makes of the rows; of shards the results are below each other."""
        return step(self.table).collect()

    def here(self, columns: Sequence[str]) -> pl.LazyFrame:
        """These columns of all rows, for this process."""
        return self.table.select(columns)

    def numbered(self, name: str) -> Rows:
        """The rows with their numbers."""
        return Rows(self.table.with_row_index(name))

    def checked(self, contract: Contract, quarantine: Path | None) -> tuple[Report, Rows]:
        """The report on a contract and the accepted rows; others go into the quarantine."""
        on_invalid: Literal["raise", "quarantine"] = "quarantine" if quarantine else "raise"
        report = validate(self.table, contract, on_invalid=on_invalid, quarantine=quarantine)
        return report, Rows(report.valid)

    def given_to(
        self, verb: Callable[..., pl.LazyFrame], *args: Any, **settings: Any
    ) -> pl.DataFrame:
        """The result of `ef.evaluate` or its kin."""
        return verb(self.table, *args, **settings).collect()

    def notes(self) -> list[str]:
        """How the rows were read, once all is computed."""
        return []


@dataclass(frozen=True)
class Spread(Rows):
    """Rows that workers read.

    Attributes:
        engine: Has the workers.
        files: The shards as they were found.
        shards: What a worker reads at a time, in the order of the rows.
        steps: What is done with each shard, and for each step the values that are a shard's own.
    """

    engine: Engine
    files: Shards
    shards: Sequence[Shard]
    steps: tuple[tuple[Step, Own], ...] = ()

    @classmethod
    def of(cls, files: Shards, engine: Engine) -> Spread:
        """The rows of these files."""
        table = pl.concat([shard.rows.lazy() for shard in files.parts])
        return cls(table, engine, files, files.batches(engine.check()))

    @property
    def is_spread(self) -> bool:
        """See `Rows`."""
        return True

    def then(self, step: Step) -> Spread:
        """See `Rows`."""
        return replace(self, table=step(self.table), steps=(*self.steps, (step, ())))

    def collect(self, step: Step) -> pl.DataFrame:
        """See `Rows`."""
        return pl.concat(self.each(step))

    def here(self, columns: Sequence[str]) -> pl.LazyFrame:
        """See `Rows`."""
        return self.collect(methodcaller("select", columns)).lazy()

    def numbered(self, name: str) -> Spread:
        """See `Rows`."""
        lengths = self.collect(methodcaller("select", pl.len())).to_series()
        starts = [(int(start),) for start in lengths.cum_sum() - lengths]
        step = (partial(_numbered, name), starts)
        return replace(self, table=self.table.with_row_index(name), steps=(*self.steps, step))

    def checked(self, contract: Contract, quarantine: Path | None) -> tuple[Report, Spread]:
        """See `Rows`."""
        checked = validate_parts(self, contract, quarantine)
        if checked.step is None:
            return checked.report, self
        steps = (*self.steps, (checked.step, checked.own))
        return checked.report, replace(self, table=checked.report.valid, steps=steps)

    def given_to(
        self, verb: Callable[..., pl.LazyFrame], *args: Any, **settings: Any
    ) -> pl.DataFrame:
        """See `Rows`."""
        from evalframe.engine.shards import Shard, Shards

        parts = [
            Shard(shard.name, _after(shard.rows.lazy(), self.steps, place), shard.size)
            for place, shard in enumerate(self.shards)
        ]
        shards = Shards(parts, self.schema)
        return verb(shards, *args, **settings, engine=self.engine).lazy().collect()

    def each(self, step: Step, own: Own = ()) -> list[pl.DataFrame]:
        """What a step makes of each shard, as `Parts` have it."""
        from evalframe.engine.protocol import Task, run

        steps = [*self.steps, (step, own)]
        items = [
            _Item(shard, [values[place] if values else () for _, values in steps])
            for place, shard in enumerate(self.shards)
        ]
        task = Task.of("rows", partial(_collected, [each for each, _ in steps]))
        return run(self.engine, task, items)

    def notes(self) -> list[str]:
        """See `Rows`; an error if a file was changed meanwhile."""
        self.files.check_unchanged()
        count, new = len(self.shards), self.files.appeared()
        notes = [f"Computed by {self.engine.name} in {count:,} part{'s' * (count > 1)}."]
        if new:
            notes.append(f"Not read, since they came later: {', '.join(new[:3])}")
        return notes


class _Item(NamedTuple):
    """A shard, and for each step the values that are its own."""

    shard: Shard
    own: list[Sequence[object]]

    def __str__(self) -> str:
        return self.shard.name


def _collected(steps: Sequence[Step], item: _Item) -> pl.DataFrame:
    """The rows of a shard after all steps, on a worker."""
    with reading(item.shard.name, "is it whole?"):
        table = item.shard.scan()
        for step, own in zip(steps, item.own, strict=True):
            table = step(table, *own)
        return table.collect()


def _after(table: pl.LazyFrame, steps: Sequence[tuple[Step, Own]], place: int) -> pl.LazyFrame:
    """The plan of the shard at this place after all steps."""
    for step, own in steps:
        table = step(table, *(own[place] if own else ()))
    return table


def _numbered(name: str, table: pl.LazyFrame, start: int) -> pl.LazyFrame:
    return table.with_row_index(name, start)
