"""Reports: of a job that runs (`--report`), and of what jobs have written (`evalframe report`)."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import polars as pl

from evalframe.core.checksums import check_sealed
from evalframe.core.errors import EvalframeError, InputError
from evalframe.core.scan import reading, scan
from evalframe.jobs.family import FAMILIES, drawn_by, family_of
from evalframe.jobs.flags import fields_of, inner_fields, parse, split, split_metrics
from evalframe.jobs.written import METADATA_KEY, provenance, versions
from evalframe.plot import theme
from evalframe.reporting.page import Section, page
from evalframe.sections.kinds import OTHER, Given, kind_of
from evalframe.sections.report import checked, write
from evalframe.sections.section import section_of

if TYPE_CHECKING:
    from evalframe.jobs.family import Outcome
    from evalframe.jobs.flags import Field
    from evalframe.jobs.settings import TableJob

_FOREIGN = "no result of evalframe, shown as it is"

_STATES = ("partial", "merge", "retract")
"""Verbs that write states, which have no values yet."""


class _Metric(TypedDict):
    """A metric of a result."""

    name: str
    metric: str


class _Rows(TypedDict):
    """How many rows of a result were read, and how many of them are set apart."""

    rows: int
    rejected: int | dict[str, int] | None


class _File(TypedDict, total=False):
    """A file that a result is computed from."""

    name: str
    path: str
    rows: int | None
    bytes: int | None


class _Record(TypedDict, total=False):
    """What a report reads of the provenance of a result."""

    job: dict[str, Any]
    metrics: list[_Metric]
    records: _Rows
    inputs: list[_File]
    notes: list[str]
    left_out: list[str]


@dataclass(frozen=True)
class Made:
    """Tables that were made together."""

    name: str
    tables: Mapping[str, pl.DataFrame]
    record: Mapping[str, Any]
    job: TableJob | None

    @property
    def subject(self) -> str:
        """What it is about."""
        return self.name if self.job is None else family_of(self.job).subject

    def section(self, title: str) -> Section:
        """Its part of a report: what its family shows, and what its record says."""
        tables = {name: table for name, table in self.tables.items() if not table.is_empty()}
        shown = [] if self.job is None else family_of(self.job).shown
        given = Given(
            pl.DataFrame(),
            tables,
            None if self.job is None else self.job.shown_level,
            {each["name"]: each["metric"] for each in self.record.get("metrics", ())},
            None if self.job is None else drawn_by(self.job),
        )
        known = [tables[name] for name in shown if name in tables]
        chosen = [table for table in known if kind_of(table) is not OTHER] or [*tables.values()]
        kinds = {kind_of(table).title: table for table in reversed(chosen)}  # of each the first
        parts = [given._replace(table=table) for table in reversed(kinds.values())]
        section = section_of(title, parts)
        apart = [
            name
            for name, table in tables.items()
            if (name not in shown or kind_of(table) is OTHER)
            and not any(table is part.table for part in parts)
        ]
        without = self.record.get("left_out", ())
        others = [note for note in self.record.get("notes", ()) if note not in without]
        return replace(
            section,
            left_out=[*_rejected(self.record), *without, *section.left_out, *_unshown(apart)],
            method=[*others, *self._resampled(), *section.method],
        )

    def _resampled(self) -> Iterator[str]:
        """How intervals were made."""
        resample = None if self.job is None else self.job.resample(None)
        if self.job is None or resample is None:
            return
        if getattr(self.job, "verb", None) == "compare":
            resample = resample.of_differences
        cited = " (Efron (1987), Better bootstrap confidence intervals)"
        yield (
            f"{100 * resample.level:g}% intervals: {resample.interval}"
            f"{cited if 'bca' in resample.interval else ''}, {resample.n:,} resamples of "
            f"{drawn_by(self.job)}, seed {resample.seed}."
        )

    def facts(self) -> dict[str, str]:
        """What it was computed from, and the command that computes it again."""
        facts: dict[str, str] = {}
        if self.job is not None:
            facts["command"] = command_of(self.job)
        if inputs := self.record.get("inputs"):
            facts["inputs"] = "\n".join(map(_input, inputs))
        if self.job is not None and self.job.bootstrap is not None:
            facts["seed"] = str(self.job.bootstrap.seed)
        return facts


def check(path: Path) -> None:
    """Raise now if a report could not be written there later, or its charts not be drawn."""
    theme.library()
    checked(path)


def write_report(outcome: Outcome, path: Path) -> None:
    """Write the report of a job that ran."""
    record = provenance(outcome, digest=True)
    made = Made(path.name, outcome.tables(), record, outcome.job)
    write_made([made], path, family_of(outcome.job).demo.question)


def write_reports(names: Sequence[str], path: Path, title: str) -> str:
    """Write one report of the results of jobs in these files and folders; return what is in it."""
    check(path)
    found, others = [], []
    for name in names:
        results, foreign = _found(Path(name))
        found += results
        others += foreign
    if not found:
        raise InputError(
            f"no results of evalframe in {', '.join(names)}: its Parquet files say what made them; "
            "`evalframe demo -o results` writes some. A file that is named itself is shown as it is"
        )
    write_made(found, path, title)
    told = [f"{made.name}: {made.subject if made.record else _FOREIGN}" for made in found]
    told += [f"{name}: left out, no result" for name in others]
    return "\n".join([*told, f"Written: {path}"])


def write_made(found: Sequence[Made], path: Path, title: str) -> None:
    """Write the page of what was made, a section each."""
    order = {family: place for place, family in enumerate([*FAMILIES, None])}
    found = sorted(found, key=lambda made: order[family_of(made.job).name if made.job else None])
    subjects = [made.subject for made in found]
    titles = [
        f"{made.subject}: {made.name}" if subjects.count(made.subject) > 1 else made.subject
        for made in found
    ]
    facts = {
        f"{head}: {name}" if len(found) > 1 else name.capitalize(): value
        for made, head in zip(found, titles, strict=True)
        for name, value in made.facts().items()
    }
    for name in versions():
        known = dict.fromkeys(str(made.record[name]) for made in found if name in made.record)
        facts[name] = ", ".join(known)
    sections = [made.section(head) for made, head in zip(found, titles, strict=True)]
    write(page(title, sections, facts), path)


def _found(path: Path) -> tuple[list[Made], list[str]]:
    """What jobs wrote in a file or folder, and the names of other tables there."""
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    groups: dict[tuple[Path, str], list[tuple[Path, dict[str, Any]]]] = {}
    others = []
    for file in files:
        record = _record(file)
        if record is None and path.is_dir():
            others.append(os.path.relpath(file, path))
            continue
        place = (file.parent, json.dumps((record or {}).get("job", str(file))))
        groups.setdefault(place, []).append((file, record or {}))
    found = []
    for (folder, _), members in groups.items():
        job = _job(members[0][1])
        known = () if job is None else family_of(job).tables.value
        tables = {file.stem: scan(file).collect() for file, _ in members}
        ordered = {name: tables.pop(name) for name in known if name in tables}
        named = members[0][0] if len(members) == 1 else folder
        name = os.path.relpath(named, path.parent) if named != path else path.name
        found.append(Made(name, {**ordered, **tables}, members[0][1], job))
    return found, others


def _record(file: Path) -> dict[str, Any] | None:
    """The provenance of a result; None of a file that has none, or of a state."""
    if file.suffix.lower() != ".parquet" or not file.is_file():
        return None
    with reading(str(file)):
        check_sealed(file, str(file))
    try:
        record: dict[str, Any] = json.loads(pl.read_parquet_metadata(file)[METADATA_KEY])
        is_state = msgspec.convert(record, _Record).get("job", {}).get("verb") in _STATES
    except (KeyError, ValueError, RecursionError, pl.exceptions.PolarsError):
        return None
    return None if is_state else record


def _job(record: Mapping[str, Any]) -> TableJob | None:
    try:
        return parse(record["job"])
    except (KeyError, EvalframeError):
        return None


def _rejected(record: Mapping[str, Any]) -> Iterator[str]:
    """Rows that broke the contract."""
    records = record.get("records", {})
    rejected = records.get("rejected") or {}
    for name, count in (rejected if isinstance(rejected, dict) else {"": rejected}).items():
        of = f" for {name}" if name else ""
        yield f"{count:,} of {records['rows']:,} rows break a rule{of}, and are set apart."


def _unshown(names: Sequence[str]) -> Iterator[str]:
    """Tables of a folder that a report has no place for."""
    if names:
        yield f"Not shown here are the tables {', '.join(names)}; --output FOLDER writes them."


def _input(file: Mapping[str, Any]) -> str:
    """A line about an input."""
    parts = [str(file.get("name", file.get("path")))]
    parts += [f"{file[key]:,} {key}" for key in ("rows", "bytes") if file.get(key) is not None]
    parts += [f"version {file['version']}"] if "version" in file else []
    parts.append(f"SHA-256 {file.get('sha256', 'not recorded (--hash-inputs records it)')}")
    return ", ".join(parts)


def command_of(job: TableJob) -> str:
    """The command line of a job, or its entries where a command cannot say them.

    >>> from evalframe.jobs.flags import parse
    >>> entries = {"family": "items", "items": ["a.csv"], "by": ["model"], "bootstrap": 500}
    >>> command_of(parse(entries))
    'evalframe evaluate a.csv --by model --bootstrap 500 --interval expanded_bca'
    """
    family = family_of(job)
    words = [family.main if family.name == "items" else family.name]
    for item in job.items:
        words += ["--from", job.reader, item] if job.reader else [item]
    try:
        for field in fields_of(type(job)):
            value = getattr(job, field.name)
            if field.name not in ("items", "reader", "verb") and value != field.default:
                words += _words(field, value)
    except _NoFlagError:
        return f"evalframe run, with a job file of {json.dumps(msgspec.to_builtins(job))}"
    return shlex.join(["evalframe", *words])


class _NoFlagError(Exception):
    """A value that no flag can say."""


def _words(field: Field, value: Any) -> Iterator[str]:
    """The words of a command line that set a field."""
    name = f"--{(field.flag and field.flag.name) or field.name.replace('_', '-')}"
    if isinstance(value, msgspec.Struct):
        if field.flag is not None and field.flag.parse is not None:  # a loss
            yield from (name, getattr(value, "name", None) or f"column:{value.column}")  # type: ignore[attr-defined]
        for inner in inner_fields(field):
            own = getattr(value, inner.name)
            if own is not None and own != inner.default:
                yield from _words(inner, own)
    elif field.name == "columns":
        for role, names in value.items():
            for each in names:
                yield from (name, f"{role}={each}")
    elif value is True:
        yield name
    elif isinstance(value, tuple):
        text = ",".join(map(str, value))
        if (split_metrics if field.name == "metrics" else split)(text) != [*map(str, value)]:
            raise _NoFlagError
        yield from (name, text)
    elif isinstance(value, dict):
        raise _NoFlagError
    else:
        yield from (name, str(value))
