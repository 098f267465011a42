"""A family of jobs is one value, from which its commands, job files, demo and samples come.

A new family is a folder beside this file with a `FAMILY` in its `__init__`, and a name in
`FAMILIES`. What a family does is named by path and imported when it is used, so that `--help`
loads no Polars.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evalframe.core.errors import UnknownNameError

if TYPE_CHECKING:
    import click
    import polars as pl

    from evalframe.core.contract import Report
    from evalframe.jobs.settings import TableJob


FAMILIES = ("selective", "rag", "survey", "replication")

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """A value named by its path, `module:name`, and imported when it is first used."""

    def __init__(self, path: str) -> None:
        self.path = path

    @cached_property
    def value(self) -> Value:
        """The value itself."""
        module, _, name = self.path.partition(":")
        value: Value = getattr(import_module(module), name)
        return value


@dataclass(frozen=True)
class Demo:
    """What `evalframe demo` shows of a family.

    Attributes:
        question: The heading.
        reading: How to read the table.
        words: The flags of the command; `{name}` is the path of that sample.
        output: Name of the output in the folder of results.
        table: Renders the table from the output; by default the command prints it.
    """

    question: str
    reading: str
    words: tuple[str, ...]
    output: str
    table: Lazy[Callable[[Path], str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Family:
    """All that a family has.

    Attributes:
        name: Name of the family, its command and its folder.
        title: Help of the command.
        main: Name of the main command, which can be left out on the command line.
        items: Name of the inputs in its help.
        job: Type of its jobs, whose fields are the flags and the entries of job files.
        compute: Opens, validates and computes a job.
        check: Validates the records of a job and returns a report.
        report: Renders an outcome.
        roles: Roles for which a job can name columns; of some families they depend on the job.
        tables: Names of all tables, which a folder as output gets.
        sample: Makes the files of its sample.
        demo: Part of `evalframe demo`.
        reader: The reader whose flag its commands have.
        documents: How files of this reader are evaluated, if not as tables of records.
        commands: Further commands by name.
        validate: Validation of other inputs by the flags; returns True if these were the inputs.
        shortcuts: Commands that are also commands of the program.
    """

    name: str
    title: str
    main: str
    items: str
    job: Lazy[type[TableJob]]
    compute: Lazy[Callable[..., Outcome]]
    check: Lazy[Callable[..., str]]
    report: Lazy[Callable[..., str]]
    roles: Lazy[Collection[str] | Callable[[Any, Path], Collection[str]]]
    tables: Lazy[Sequence[str]]
    sample: Lazy[Callable[..., Sequence[Any]]]
    demo: Demo
    reader: str | None = None
    documents: Lazy[Documents] | None = None
    commands: Mapping[str, Lazy[click.Command]] = field(default_factory=dict)
    validate: Lazy[Callable[[dict[str, Any]], bool]] | None = None
    shortcuts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Documents:
    """Evaluation of files that are no tables of records, by flags of their own.

    Attributes:
        flags: Class whose fields are these flags.
        run: Evaluates and prints: of the files, the flags and `quiet`.
    """

    flags: type
    run: Callable[[Sequence[str], dict[str, Any], bool], None]


@dataclass(frozen=True)
class Place:
    """Where a job reads and writes.

    Attributes:
        folder: What relative names of inputs are relative to.
        targets: The files that will be written, which must not be among the inputs.
        rejects: Where rows go that break the contract; None if they are an error.
        all_tables: True if all tables are written, not the main one alone.
        summary: Where the files go that some families write in addition.
    """

    folder: Path = Path()
    targets: Sequence[Path] = ()
    rejects: Path | None = None
    all_tables: bool = False
    summary: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """Result of a job.

    Attributes:
        job: The job.
        keys: The columns that the result is grouped by.
        result: The main table.
        report: Result of the validation.
        provenance: Metadata of a Parquet output.
        tables: Computes all tables by name.
        notes: Remarks printed below the numbers.
        warnings: What was requested and could not be done.
        beside: Writes further files.
    """

    job: TableJob
    keys: Sequence[str]
    result: pl.DataFrame
    report: Report | Any
    provenance: dict[str, Any]
    tables: Callable[[], Mapping[str, pl.DataFrame]]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    beside: Callable[[], object] | None = None


@cache
def family(name: str) -> Family:
    """Return the family of this name."""
    if name not in FAMILIES:
        raise UnknownNameError.of("family", name, FAMILIES)
    value: Family = import_module(f"evalframe.jobs.{name}").FAMILY
    return value


def family_of(job: TableJob) -> Family:
    """Return the family of a job."""
    return family(str(job.__struct_config__.tag))


@cache
def help_texts(folder: str = "") -> Mapping[str, str]:
    """Sections of the file `help.txt` of a family, or of the program.

    Examples are printed as they stand in the file; other text is wrapped.
    """
    text = files("evalframe.jobs").joinpath(folder, "help.txt").read_text(encoding="utf-8")
    sections = {}
    for section in f"\n{text}".split("\n=== ")[1:]:
        title, _, body = section.partition("\n")
        body = body.strip("\n")
        if title.endswith("examples"):
            body = "\n\n".join(f"\b\n{part}" for part in body.split("\n\n"))
        sections[title] = body
    return sections
