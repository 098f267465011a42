"""A family of jobs is one value, from which its commands, job files, demo and samples come.

A new family is a folder beside this file with a `FAMILY` in its `__init__`, and a name in
`FAMILIES`. What a family does is named by path and imported when it is used, so that `--help`
loads no Polars.

`READERS` are the formats of other programs, which are recognised by keys in the head of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from evalframe.core.errors import InputError, UnknownNameError
from evalframe.logs.formats import FORMATS

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core import documents
    from evalframe.core.contract import Validation
    from evalframe.core.metric import MetricExpr
    from evalframe.jobs.inputs import Opened
    from evalframe.jobs.rows import Workers
    from evalframe.jobs.settings import TableJob


FAMILIES = ("selective", "rag", "survey", "replication", "items")

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """A value named by its path, `module:name`, and imported when it is first used.

    A function can have some of its arguments fixed.
    """

    def __init__(self, path: str, **fixed: Any) -> None:
        self.path, self.fixed = path, fixed

    @cached_property
    def value(self) -> Value:
        """The value itself."""
        module, _, name = self.path.partition(":")
        value: Any = getattr(import_module(module), name)
        found: Value = value if not self.fixed else cast("Value", partial(value, **self.fixed))
        return found


@dataclass(frozen=True)
class Demo:
    """What `evalframe demo` shows of a family.

    Attributes:
        question: The question that the table answers.
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
    """The declaration of a family.

    Attributes:
        name: Name of the family, its command and its folder.
        subject: What it is about, the head of its part of the demo.
        row: A row of its records, in words.
        title: Help of the command.
        main: Name of the main command, which can be left out on the command line.
        items: Name of the inputs in its help.
        metrics: Names of metrics that its jobs compute; they are declared where they are named.
        job: Type of its jobs, whose fields are the flags and the entries of job files.
        compute: Opens, validates and computes a job.
        check: Validates the records of a job and returns what was found, in words.
        printed: Renders the main table: of it, its keys, notes, and options of `written`.
        roles: Roles for which a job can name columns; of some families they depend on the job.
        tables: Names of all tables, which a folder as output gets.
        sample: Makes the files of its sample, of a seed and of these `sizes`.
        demo: Part of `evalframe demo`.
        drawn: What is resampled together unless a job names it.
        shown: Tables that reports show, the main one first; by default all.
        sizes: Options of `evalframe sample` that its sample takes.
        reader: The reader whose flag its commands have.
        documents: How files of this reader are evaluated, if not as tables of records.
        verbs: What else its jobs do with records, by the command.
        commands: Further commands by name.
        validate: Validation of other inputs by the flags; returns True if these were the inputs.
        shortcuts: Commands that are also commands of the program.
    """

    name: str
    subject: str
    row: str
    title: str
    main: str
    items: str
    metrics: Lazy[Collection[str]]
    job: type[TableJob]
    compute: Lazy[Callable[..., Outcome]]
    check: Lazy[Callable[..., str]]
    printed: Lazy[Callable[..., str]]
    roles: Lazy[Collection[str] | Callable[[Any, Path], Collection[str]]]
    tables: Lazy[Sequence[str]]
    sample: Lazy[Callable[..., Sequence[Any]]]
    demo: Demo
    drawn: str = "cluster"
    shown: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    reader: str | None = None
    documents: Command | None = None
    verbs: Mapping[str, Verb] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    validate: Lazy[Callable[[dict[str, Any]], bool]] | None = None
    shortcuts: tuple[str, ...] = ()

    def doing(self, verb: str) -> Family:
        """The family with another verb for its main command."""
        if verb == self.main:
            return self
        if verb not in self.verbs:
            raise UnknownNameError.of("verb", verb, [self.main, *self.verbs])
        parts = self.verbs[verb]
        return replace(
            self, main=verb, job=parts.job, compute=parts.compute, tables=parts.tables, verbs={}
        )


@dataclass(frozen=True)
class Verb:
    """What jobs of a family do with records beside its main command."""

    job: type[TableJob]
    compute: Lazy[Callable[..., Outcome]]
    tables: Lazy[Sequence[str]]


@dataclass(frozen=True)
class Command:
    """A command beside the jobs of a family.

    Attributes:
        flags: Struct whose fields are its flags; the first without a `Flag` is its argument.
        run: Runs it, of the flags, and returns the text to print.
    """

    flags: type
    run: Lazy[Callable[[Any], str]]


@dataclass(frozen=True)
class Place:
    """Where a job reads and writes.

    Attributes:
        folder: What relative names of inputs are relative to.
        targets: The files that will be written, which must not be among the inputs.
        rejects: Where rows go that break the contract; None if they are an error.
        all_tables: True if all tables are written, not the main one alone.
        summary: Where the files go that some families write in addition.
        workers: Who reads the records; None if this process does.
    """

    folder: Path = Path()
    targets: Sequence[Path] = ()
    rejects: Path | None = None
    all_tables: bool = False
    summary: Path | None = None
    workers: Workers | None = None


class LeftOut(str):
    """A note about what is not in the numbers, for which reports have a place of its own."""

    __slots__ = ()


@dataclass(frozen=True)
class Outcome:
    """Result of a job.

    Attributes:
        job: The job.
        keys: The columns that the result is grouped by.
        result: The main table.
        validation: What the records' contract found.
        inputs: The records as they were opened.
        tables: Computes all tables by name.
        metrics: The metrics, for the provenance.
        derived: Further entries of the provenance.
        shown: Further arguments of `printed`.
        notes: Remarks printed below the numbers, of which some are `LeftOut`.
        told: Remarks about the engine; printed, but not kept in the provenance.
        warnings: What was requested and could not be done.
        beside: Writes further files.
        code: The exit code of the command.
    """

    job: TableJob
    keys: Sequence[str]
    result: pl.DataFrame
    validation: Validation | Any
    inputs: Opened
    tables: Callable[[], Mapping[str, pl.DataFrame]]
    metrics: Sequence[MetricExpr] = ()
    derived: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    told: Sequence[str] = ()
    warnings: Sequence[str] = ()
    beside: Callable[[], object] | None = None
    code: int = 0


@cache
def family(name: str) -> Family:
    """Return the family of this name."""
    if name not in FAMILIES:
        raise UnknownNameError.of("family", name, FAMILIES)
    value: Family = import_module(f"evalframe.jobs.{name}").FAMILY
    return value


def family_of(job: TableJob) -> Family:
    """Return the family of a job, with the verb of the job for its main command."""
    named = family(str(job.__struct_config__.tag))
    return named.doing(getattr(job, "verb", named.main))


def drawn_by(job: TableJob) -> str:
    """What a job resamples together: a column, or what its family draws."""
    named = None if job.bootstrap is None else job.bootstrap.cluster
    return named or family_of(job).drawn


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


_HEAD = 4096
"""Bytes of a file that its format is recognised by."""


@dataclass(frozen=True)
class Reader:
    """A format of files of another program.

    Attributes:
        kind: Its name.
        what: Its files, in messages.
        open: Reads them.
        marks: Keys that all occur in the head of each file, and in no file of another format.
        metavar: Files in the help.
        help: Help of the flag `--from-KIND`.
        fields: Entries of a job that are options of `open`.
    """

    kind: str
    what: str
    open: Lazy[documents.Reader]
    marks: tuple[str, ...]
    help: str
    metavar: str = "FOLDER"
    fields: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The flag of the family that reads these files most."""
        return f"--from-{self.kind}"

    def recognises(self, path: Path) -> bool:
        """Return True if the head of a JSON file has all marks."""
        if path.suffix.lower() != ".json" or not path.is_file():
            return False
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD)
        except OSError:  # the error is raised when it is read
            return False
        return bool(self.marks) and all(f'"{mark}"'.encode() in head for mark in self.marks)


class Logs(Reader):
    """Logs of any program, which tell their format by themselves: files or folders."""

    def recognises(self, path: Path) -> bool:
        """Return True if there are logs at this path, and no table."""
        suffix = path.suffix.lower()
        if suffix in (".parquet", ".csv", ".arrow", ".ipc", ".feather"):
            return False
        if path.is_dir() and next(path.rglob("*.parquet"), None) is not None:
            return False
        from evalframe.logs.reading import find

        try:
            logs, _ = find(path)
        except InputError:
            return False
        return bool(logs)


def _logs_of(kind: str, what: str) -> Reader:
    """The reader of logs of one program; they are recognised as logs of any."""
    open_logs: Lazy[documents.Reader] = Lazy("evalframe.jobs.items.logs:open_logs", kind=kind)
    text = f"Read {what}: files, folders or globs."
    return Reader(kind, what, open_logs, (), text, fields=("extra", "metadata"))


READERS = {
    reader.kind: reader
    for reader in (
        Reader(
            "run",
            "run documents",
            Lazy("evalframe.compat.ai_psychiatrist.runs:open_documents"),
            ("experiments",),
            "Evaluate run documents of ai-psychiatrist, one or two, as it does; further ones "
            "follow as ITEMS. A table of items with their signals will do, too.",
            metavar="RUN.json",
        ),
        Reader(
            "rgb",
            "prediction files",
            Lazy("evalframe.compat.rgb.reading:open_predictions"),
            ("query", "ans", "prediction"),
            "Read prediction files of RGB: a folder, files or globs.",
            fields=("by", "key"),
        ),
        Reader(
            "runs",
            "run results",
            Lazy("evalframe.compat.dtef.runs:open_results"),
            ("config", "dtef"),
            "Read run results of the original: a folder, files or globs of JSON.",
            fields=("versions", "experiments", "rules"),
        ),
        Reader(
            "results",
            "evaluation results",
            Lazy("evalframe.compat.humanstudy_bench.files.evaluations:open_evaluations"),
            ("test_results",),
            "Read evaluation results of the original: a folder, files or globs of JSON.",
        ),
        Logs(
            "logs",
            "logs",
            Lazy("evalframe.jobs.items.logs:open_logs"),
            (),
            f"Read {', '.join(FORMATS.values())}: files, folders or globs.",
            metavar="LOG",
            fields=("extra", "metadata"),
        ),
        *(_logs_of(kind, what) for kind, what in FORMATS.items()),
    )
}


def reader_of(items: Sequence[str], folder: Path) -> str | None:
    """The kind of reader of files that were named without one; None if they are tables."""
    paths = [folder / item for item in items]
    readers = READERS.items() if paths else ()
    kinds = [kind for kind, reader in readers if all(map(reader.recognises, paths))]
    if len(kinds) > 1:
        raise InputError(f"{items[0]} can be read from {' or '.join(kinds)}; name it by --from")
    return kinds[0] if kinds else None
