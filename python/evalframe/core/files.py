"""Files that are written whole or not at all, and several of them together."""

from __future__ import annotations

import glob
import os
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING

from evalframe.core.errors import OutputError
from evalframe.core.unfinished import DESCRIPTORS, Unfinished, locked, unfinished

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def matching(pattern: str | Path) -> list[Path]:
    """What a glob matches, by name; `**` descends."""
    return [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207 (absolute too)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, whose file becomes `path` on success and vanishes on anything else.

    Of a link the target is replaced. A file that is replaced keeps its permissions. On Linux the
    file has no name while it is written, so that even a killed process leaves nothing.

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
    if path.parent == DESCRIPTORS:  # of `scratch`: it has no name, nor will it have one
        yield path
        return
    with replacing_all([path]) as (partial,):
        yield partial


@contextmanager
def replacing_all(paths: Sequence[Path], *, make_folder: bool = False) -> Iterator[list[Path]]:
    """The same for several files: all are written before the first is replaced.

    Two processes do not mix theirs: a folder is locked while files in it are replaced. Each file
    is the old or the new one at every moment. No system replaces several files in one step: who is
    killed (not interrupted) within the moment between the first and the last leaves some of each,
    and perhaps a hidden file of a name on its way.

    Args:
        paths: The files.
        make_folder: Whether a folder of theirs that is not there is made, with them in it.

    Raises:
        OutputError: As `replacing`.
    """
    with together() as written, _telling(paths), ExitStack() as discarding:
        made = []
        for path in paths:
            made.append(unfinished(_target(path, make_folder=make_folder)))
            discarding.callback(made[-1].discard)
        yield [file.path for file in made]
        for file in made:
            file.finish()
        discarding.pop_all()
        written += made


@contextmanager
def together(*, within: Path | None = None) -> Iterator[list[Unfinished]]:
    """All files that are replaced inside take their names together, at the end or not at all.

    Inside another one it is a part of that.

    Args:
        within: The folder that all of them must lie in, links followed; by default anywhere.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, together():
        ...     with replacing(Path(folder) / "out.txt") as partial:
        ...         _ = partial.write_text("whole")
        ...     [*Path(folder).iterdir()]
        []
    """
    from concurrent.futures import ThreadPoolExecutor

    if (outer := _WRITTEN.get()) is not None:
        yield outer
        return
    written: list[Unfinished] = []
    inside, limit = _WRITTEN.set(written), _WITHIN.set(within)
    try:
        yield written
        with _telling([file.target for file in written]), ThreadPoolExecutor(1) as aside:
            # An interrupt reaches the main thread only, which then waits for this one.
            aside.submit(_take_names, written).result()
    finally:
        _WRITTEN.reset(inside)
        _WITHIN.reset(limit)
        for file in written:
            file.discard()


@contextmanager
def scratch(count: int) -> Iterator[list[Path]]:
    """Paths for so many files that are needed for a while; what `replacing` has written is there.

    On Linux they have no names, so that even a killed process leaves nothing.
    """
    with ExitStack() as stack:
        stack.callback(_WRITTEN.reset, _WRITTEN.set(None))
        stack.callback(_WITHIN.reset, _WITHIN.set(None))
        if DESCRIPTORS.is_dir():
            files = [stack.enter_context(TemporaryFile()) for _ in range(count)]
            yield [DESCRIPTORS / str(file.fileno()) for file in files]
        else:
            folder = stack.enter_context(TemporaryDirectory())
            yield [Path(folder, str(number)) for number in range(count)]


def check_replaceable(path: Path) -> None:
    """Raise now if `path` could not be replaced later.

    Raises:
        OutputError: As `replacing`.
    """
    with _telling([path]):
        unfinished(_target(path)).discard()


def check_within(path: Path) -> None:
    """Raise if `path` is not within the folder that `together` allows.

    Raises:
        OutputError: It is not, or only by its name, and a link leads elsewhere.
    """
    limit, place = _WITHIN.get(), os.path.realpath(path)
    if limit is not None and not Path(place).is_relative_to(os.path.realpath(limit)):
        raise OutputError(
            f"cannot write {path.name}: {place!r} is outside of {str(limit)!r}, where a job file "
            "may write; name another folder by --output-folder (in Python into=...)"
        )


_WRITTEN: ContextVar[list[Unfinished] | None] = ContextVar("written", default=None)
_WITHIN: ContextVar[Path | None] = ContextVar("within", default=None)


def _take_names(written: Sequence[Unfinished]) -> None:
    folders = sorted({file.target.parent for file in written})
    for folder in folders:
        folder.mkdir(exist_ok=True)
    with ExitStack() as locks:
        for folder in folders:
            locks.enter_context(locked(folder))
        for file in written:
            file.approach()
        for file in written:
            file.take_name()


def _target(path: Path, *, make_folder: bool = False) -> Path:
    """Where a file is written to.

    Raises:
        OutputError: No file can be written there.
        OSError: Nor can it be looked at.
    """
    check_within(path)
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    folder = target.parent
    if not (folder.is_dir() or (make_folder and not _is_there(folder) and folder.parent.is_dir())):
        raise OutputError(f"cannot write {path.name}: no folder {str(folder)!r}; create it first")
    if _is_there(target) and not target.is_file():
        found = "there is a folder of this name" if target.is_dir() else "it is not a regular file"
        raise OutputError(f"cannot write {path.name}: {found}; choose another output")
    return target


def _is_there(path: Path) -> bool:
    """Whether a name is taken; by a link that leads to itself, too."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _telling(paths: Sequence[Path]) -> Iterator[None]:
    """Errors of the system say which files they are about."""
    try:
        yield
    except OSError as error:
        names, folder = ", ".join(path.name for path in paths), str(paths[0].parent)
        raise OutputError(
            f"cannot write {names} into {folder!r} ({error.strerror or error}); "
            "make it writable or choose another output"
        ) from error
