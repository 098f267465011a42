"""Formats of other programs that jobs read; `--from KIND PATH` and `reader =` name them.

A new reader is an entry here: its function gives a `Read`. Every family can use it whose contract
the columns satisfy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalframe.core.errors import InputError
from evalframe.jobs.family import Lazy

if TYPE_CHECKING:
    from evalframe.core import readers


@dataclass(frozen=True)
class Reader:
    """Format of files.

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
    open: Lazy[readers.Reader]
    marks: tuple[str, ...]
    help: str
    metavar: str = "FOLDER"
    fields: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The flag of the family that reads these files most."""
        return f"--from-{self.kind}"

    def recognises(self, path: Path) -> bool:
        """Return True if the head of a file has all marks."""
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD)
        except OSError:  # the error is raised when it is read
            return False
        return all(f'"{mark}"'.encode() in head for mark in self.marks)


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
    )
}

_HEAD = 4096
"""Bytes of a file that its format is recognised by."""


def reader_of(items: Sequence[str], folder: Path) -> str | None:
    """The kind of reader of JSON files that were named without one; None if it is not clear."""
    paths = [folder / item for item in items]
    if not paths or not all(path.suffix.lower() == ".json" and path.is_file() for path in paths):
        return None
    kinds = [kind for kind, reader in READERS.items() if all(map(reader.recognises, paths))]
    if len(kinds) > 1:
        raise InputError(f"{items[0]} can be read from {' or '.join(kinds)}; name it by --from")
    return kinds[0] if kinds else None
