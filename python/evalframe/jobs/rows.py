"""Rows of a job: read by this process, or by the workers of an engine, each a shard of them.

What a family does with rows is a step: a function that makes a table of a table, row by row, and
that can be pickled. This process adds the step to its plan, a worker does it where its shard lies;
so a family is written once. What it needs to know of all rows comes from small results of shards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from evalframe.core.contract import Contract, Validation, validate
from evalframe.core.contract_parts import Own, Step, validate_parts
from evalframe.core.scan import reading
from evalframe.engine.definitions import further
from evalframe.engine.protocol import Counted, Task, run
from evalframe.engine.shards import Shard, Shards
from evalframe.engine.store import pieces_of

if TYPE_CHECKING:
    from evalframe.engine.protocol import Engine
    from evalframe.engine.store import StateStore


@dataclass(frozen=True)
class Workers:
    """Who reads the records of a job."""

    engine: Engine
    store: StateStore | None = None


@dataclass(frozen=True)
class Rows:
    """Rows that this process reads."""

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

    def numbered(self, name: str) -> Rows:
        """The rows with their numbers."""
        return Rows(self.table.with_row_index(name))

    def checked(self, contract: Contract, quarantine: Path | None) -> tuple[Validation, Rows]:
        """What a contract finds, and the accepted rows; others go into the quarantine."""
        on_invalid: Literal["raise", "quarantine"] = "quarantine" if quarantine else "raise"
        validation = validate(self.table, contract, on_invalid=on_invalid, quarantine=quarantine)
        return validation, Rows(validation.valid)

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
        workers: Who reads them.
        files: The shards as they were found.
        shards: What a worker reads at a time, in the order of the rows.
        steps: What is done with each shard, and for each step the values that are a shard's own.
        kept: What became of each shard in the store.
    """

    workers: Workers
    files: Shards
    shards: Sequence[Shard]
    steps: tuple[tuple[Step, Own], ...] = ()
    kept: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Shards, workers: Workers) -> Spread:
        """The rows of these files; a store has shards that depend on their own file only."""
        table = pl.concat([shard.rows.lazy() for shard in files.parts])
        if workers.store is not None:
            return cls(table, workers, files, pieces_of(files))
        return cls(table, workers, files, files.batches(workers.engine.check()))

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

    def each(self, step: Step, own: Own = ()) -> list[pl.DataFrame]:
        """What a step makes of each shard, as `Parts` have it."""
        steps = [*self.steps, (step, own)]
        functions = [each for each, _ in steps]
        shards = self._prepared(steps)
        if self.workers.store is None:
            task = Task.of("rows", partial(_collected, functions))
            return run(self.workers.engine, task, shards)
        parts = [replace(shard, steps=functions) for shard in shards]
        source, what = Shards(parts, self.schema), further("rows", functions)
        kept = self.workers.store.rows(source, what, self.workers.engine)
        self._count()
        return kept

    def numbered(self, name: str) -> Spread:
        """See `Rows`."""
        lengths = self.collect(methodcaller("select", pl.len())).to_series()
        starts = [(int(start),) for start in lengths.cum_sum() - lengths]
        step = (partial(_numbered, name), starts)
        return replace(self, table=self.table.with_row_index(name), steps=(*self.steps, step))

    def checked(self, contract: Contract, quarantine: Path | None) -> tuple[Validation, Spread]:
        """See `Rows`."""
        checked = validate_parts(self, contract, quarantine)
        if checked.step is None:
            return checked.validation, self
        steps = (*self.steps, (checked.step, checked.own))
        return checked.validation, replace(self, table=checked.validation.valid, steps=steps)

    def given_to(
        self, verb: Callable[..., pl.LazyFrame], *args: Any, **settings: Any
    ) -> pl.DataFrame:
        """See `Rows`."""
        functions = [step for step, _ in self.steps]
        shards = self._prepared(self.steps)
        parts = [replace(shard, rows=shard.after(functions, shard.rows)) for shard in shards]
        if self.workers.store is not None:
            settings["state"] = self.workers.store
        source = Shards(parts, self.schema)
        result = verb(source, *args, **settings, engine=self.workers.engine).lazy().collect()
        self._count()
        return result

    def notes(self) -> list[str]:
        """See `Rows`; an error if a file was changed meanwhile."""
        self.files.check_unchanged()
        count, new = len(self.shards), self.files.appeared()
        name = self.workers.engine.name
        notes = [f"Computed by {name} in {count:,} part{'s' * (count > 1)}."]
        if self.kept:
            counts = sorted(Counter(self.kept.values()).items())
            told = ", ".join(f"{count:,} {status}" for status, count in counts)
            notes.append(f"Files and what the store had of them: {told}.")
        if new:
            notes.append(f"Not read, since they came later: {', '.join(new[:3])}")
        return notes

    def _prepared(self, steps: Sequence[tuple[Step, Own]]) -> list[_Prepared]:
        """The shards with what is their own, on which what is kept of them depends."""
        functions = [step for step, _ in steps]
        shards = []
        for place, shard in enumerate(self.shards):
            own = [values[place] if values else () for _, values in steps]
            recipe = further(shard.recipe, (functions, own)) if shard.recipe else ""
            prepared = _Prepared(shard.name, shard.rows, shard.size, shard.files, recipe, own)
            shards.append(prepared)
        return shards

    def _count(self) -> None:
        if self.workers.store is not None:
            for shard, status in self.workers.store.explain()["shard", "status"].iter_rows():
                if status != "reused":
                    self.kept[shard] = status
                self.kept.setdefault(shard, status)


@dataclass(frozen=True)
class _Prepared(Shard):
    """A shard with the values of each step that are its own."""

    own: Sequence[Sequence[object]] = ()
    steps: Sequence[Step] = ()

    def scan(self) -> pl.LazyFrame:
        """See `Shard`."""
        return self.after(self.steps, super().scan())

    def after(self, steps: Sequence[Step], rows: pl.LazyFrame) -> pl.LazyFrame:
        """Its rows after these steps."""
        for step, own in zip(steps, self.own, strict=False):
            rows = step(rows, *own)
        return rows

    def divided(self, most: float) -> Iterator[Shard]:
        """Itself: its rows are no longer those of the file."""
        yield self


def _collected(steps: Sequence[Step], shard: _Prepared) -> Counted:
    """The rows of a shard after all steps, on a worker."""
    with reading(shard.name, "is it whole?"):
        return Counted(replace(shard, steps=steps).scan().collect(), size=shard.size)


def _numbered(name: str, table: pl.LazyFrame, start: int) -> pl.LazyFrame:
    return table.with_row_index(name, start)
