"""Formats of other programs that jobs read; `--from KIND PATH` and `reader =` name them."""

from __future__ import annotations

from typing import NamedTuple


class Reader(NamedTuple):
    """Format of files.

    Attributes:
        kind: Its name.
        flag: The option of its family's commands that reads it.
        metavar: Value of this option in the help.
        help: Help of this option.
    """

    kind: str
    flag: str
    metavar: str
    help: str


READERS = {
    reader.kind: reader
    for reader in (
        Reader(
            "run",
            "--from-run",
            "RUN.json",
            "Evaluate run documents of ai-psychiatrist, one or two, as it does; further ones "
            "follow as ITEMS. A table of items with their signals will do, too.",
        ),
        Reader(
            "rgb",
            "--from-rgb",
            "FOLDER",
            "Read prediction files of RGB: a folder, files or globs.",
        ),
        Reader(
            "runs",
            "--from-runs",
            "FOLDER",
            "Read run results of the original: a folder, files or globs of JSON.",
        ),
        Reader(
            "results",
            "--from-results",
            "FOLDER",
            "Read evaluation results of the original: a folder, files or globs of JSON.",
        ),
    )
}
