"""Files that are written whole or not at all."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evalframe.core.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def matching(pattern: str | Path) -> list[Path]:
    """What a glob matches, by name; `**` descends."""
    return [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207 (absolute too)


@contextmanager
def replacing(path: Path, *, keep: bool = True) -> Iterator[Path]:
    """A temporary path that becomes `path` on success and vanishes on anything else.

    Of a link the target is replaced. A file that is replaced keeps its permissions.

    Raises:
        OutputError: The folder is missing or cannot be written to, or `path` is there and is no
            regular file.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(Path(folder) / "out.txt") as partial:
        ...         _ = partial.write_text("whole")
        ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
        [('out.txt', 'whole')]
    """
    with replacing_all([path], keep=keep) as (temporary,):
        yield temporary


@contextmanager
def replacing_all(paths: Sequence[Path], *, keep: bool = True) -> Iterator[list[Path]]:
    """The same for several files: all are written before the first is replaced.

    Raises:
        OutputError: As `replacing`.
    """
    made = {_temporary(target): target for target in map(_target, paths)}
    try:
        yield list(made)
        if keep:
            for temporary, target in made.items():
                _flush(temporary)
                if target.exists():
                    shutil.copymode(target, temporary)
            for temporary, target in made.items():
                temporary.replace(target)
    except OSError as error:
        names = ", ".join(path.name for path in paths)
        folder = next(iter(made.values())).parent
        raise OutputError(
            f"cannot write {names} into {str(folder)!r} ({error.strerror or error}); "
            "make it writable or choose another output"
        ) from error
    finally:
        for temporary in made:
            temporary.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    """Where a file is written to.

    Raises:
        OutputError: No file can be written there.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not target.parent.is_dir():
        folder = str(target.parent)
        raise OutputError(f"cannot write {path.name}: no folder {folder!r}; create it first")
    # A link that leads to itself is there, too.
    if os.path.lexists(target) and not target.is_file():
        found = "there is a folder of this name" if target.is_dir() else "it is not a regular file"
        raise OutputError(f"cannot write {path.name}: {found}; choose another output")
    return target


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")


def _flush(path: Path) -> None:
    """To the disk, so that a crash after the rename cannot leave an empty file."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
