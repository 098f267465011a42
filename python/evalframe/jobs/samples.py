"""The samples of all families, tutorials that read them, and the main command of each family."""

from __future__ import annotations

import json
import shlex
from importlib import resources
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from evalframe.core.errors import Argument, InputError, OutputError
from evalframe.core.files import replacing_all, together
from evalframe.jobs.console import say, terminal_width
from evalframe.jobs.family import FAMILIES, Family, family

if TYPE_CHECKING:
    import click

MANIFEST = "manifest.json"
_NOTEBOOKS = resources.files("evalframe") / "tutorials"
_RESAMPLES = "2000"
_NEXT = (
    "Next: `evalframe report {} -o report.html` makes one page of it. Then your own files, by the "
    "commands above; `evalframe selective --help` and so on say what columns they need. README.md "
    "has the same in Python, and how to compare models and to add a metric."
)
_WIDTH = 100


def write_samples(
    folder: str | Path, *, participants: int = 60, seed: int = 0, overwrite: bool = False
) -> list[Path]:
    """Write the samples of all families, and `manifest.json`, which describes them.

    The same seed gives the same content on every machine. All files are written whole, or none.
    """
    folder, sizes = Path(folder), {"participants": participants}
    files = [
        file
        for each in map(family, FAMILIES)
        for file in each.sample.value(seed=seed, **{name: sizes[name] for name in each.sizes})
    ]
    manifest = {Path(file.name).stem: file.entry() for file in files}
    contents = {folder / file.name: file.encoded() for file in files}
    contents[folder / MANIFEST] = f"{json.dumps(manifest, indent=2)}\n".encode()
    return _write(folder, contents, "samples", overwrite=overwrite)


def write_tutorials(folder: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write the tutorials, and the samples that they read into `data` beside them.

    The package's own notebooks also have claims, which are tested: what their prose says of their
    output. All files are written whole, or none.
    """
    folder, contents = Path(folder), {}
    for file in sorted(_NOTEBOOKS.iterdir(), key=lambda file: file.name):
        notebook = json.loads(file.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["metadata"].pop("evalframe", None)
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        contents[folder / file.name] = f"{text}\n".encode()
    with together():
        written = _write(folder, contents, "tutorials", overwrite=overwrite)
        write_samples(folder / "data", overwrite=overwrite)
    return written


def _write(folder: Path, contents: dict[Path, bytes], what: str, *, overwrite: bool) -> list[Path]:
    """Write files into a folder, over none with other content unless told."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = [p.name for p, new in contents.items() if p.exists() and p.read_bytes() != new]
        if foreign and not overwrite:
            raise OutputError(
                f"{folder} already has {', '.join(foreign)} with other content. Choose another "
                "folder, or replace them by ",
                Argument("overwrite", True),
            )
        with replacing_all([*contents], make_folder=True) as partials:
            for partial, content in zip(partials, contents.values(), strict=True):
                partial.write_bytes(content)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"cannot write the {what} to {folder}: {reason}. Choose a folder that can be written."
        ) from error
    return list(contents)


def show(samples: Path, output: Path, program: click.Command) -> None:
    """Run and explain the main command of each family."""
    words = {name: _words(family(name), samples, output) for name in FAMILIES}
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {output}: {error.strerror or error}") from None
    width = min(terminal_width() or _WIDTH, _WIDTH)
    for name, line in words.items():
        part = family(name).demo
        heading = f"{family(name).subject}: {part.question[:1].lower()}{part.question[1:]}"
        say(f"\n{heading}\n{'=' * len(heading)}\n{fill(part.reading, width)}\n")
        say(f"$ evalframe {shlex.join(line)}\n")
        written = output / part.output
        if part.table is None:
            program.main(line, "evalframe", standalone_mode=False)
        else:
            program.main([*line, "-q"], "evalframe", standalone_mode=False)
            say(part.table.value(written))
        count = len([*written.glob("*.parquet")])
        tables = f"{count} table{'s' * (count != 1)} in {written}/"
        say(f"\nWritten: {tables if written.is_dir() else written}")
    say(f"\n{fill(_NEXT.format(shlex.quote(str(output))), width)}")


class _Samples(dict[str, str]):
    """Paths of the samples by name; one that is not there raises."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __missing__(self, name: str) -> str:
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise InputError(
                f"no samples in {self.folder}: {path} is not there; write them by `evalframe "
                f"sample {shlex.quote(str(self.folder))}`, or name their folder"
            )
        return str(path)


def _words(family: Family, samples: Path, output: Path) -> list[str]:
    """The command line of a family's demo, without the name of the program."""
    words = [word.format_map(_Samples(samples)) for word in family.demo.words]
    written = str(output / family.demo.output)
    return [family.name, *words, "-o", written, "--bootstrap", _RESAMPLES, "--hash-inputs"]
