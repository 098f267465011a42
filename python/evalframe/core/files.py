"""Files that are written completely or not at all, alone or several together.

A file is written under another name in its folder, or on Linux without any name, so that even a
killed process leaves nothing. At the end all files of a block take their names, while their folders
are locked against other processes. Files of object stores are sent at the end.
"""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile, mkstemp

from evalframe.core.errors import OutputError
from evalframe.core.remote import RemotePath, is_remote, location

_DESCRIPTORS = Path("/proc/self/fd")  # the open files of this process on Linux, with names or not
_MOST_DESCRIPTORS = 200  # a process often has 1,024 and needs some for its work
_PATIENCE = 10.0  # seconds to wait for a lock; folders are usually locked for much less


@dataclass(frozen=True)
class _Unfinished:
    """A file that is written at `path` and becomes `target`."""

    target: Path
    path: Path

    def finish(self) -> None:
        """Write to the disk, so that a crash leaves no empty file, and copy the permissions."""
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        if self.target.exists():
            shutil.copymode(self.target, self.path)

    def approach(self) -> None:
        """Prepare to become the target in one step."""

    def take_name(self) -> None:
        """Become the target."""
        self.path.replace(self.target)

    def discard(self) -> None:
        """Remove the file unless it has become the target."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Unnamed(_Unfinished):
    """A file without a name, which vanishes with the process."""

    descriptor: int
    beside: Path

    def approach(self) -> None:
        """Link the file next to an existing target: Linux replaces files by named ones only."""
        if self.target.exists():
            self._link(self.beside)

    def take_name(self) -> None:
        """Become the target."""
        if not self.beside.exists():
            with suppress(FileExistsError):
                self._link(self.target)
                return
            self._link(self.beside)
        self.beside.replace(self.target)

    def discard(self) -> None:
        """Remove the file unless it has become the target."""
        os.close(self.descriptor)
        self.beside.unlink(missing_ok=True)

    def _link(self, name: Path) -> None:
        # With a folder given, even one that an absolute path ignores, Python calls linkat, which
        # follows the path to the file; link would not.
        os.link(self.path, name, src_dir_fd=self.descriptor, follow_symlinks=True)


class _Sent(_Unfinished):
    """A local file that is sent to an object store, where it appears when it is complete."""

    def finish(self) -> None:
        """Nothing: there is no older file whose permissions could be kept."""

    def take_name(self) -> None:
        """Become the target."""
        RemotePath(self.target).write(self.path)


_WRITTEN: ContextVar[list[_Unfinished] | None] = ContextVar("written", default=None)
_WITHIN: ContextVar[Path | None] = ContextVar("within", default=None)


def matching(pattern: str | Path) -> list[Path]:
    """The paths that match a glob, sorted by name; `**` descends."""
    return [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207 (absolute too)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path whose file replaces `path` on success and vanishes otherwise.

    A link stays, its target is replaced. A replaced file keeps its permissions.

    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "out.txt") as partial:
    ...         _ = partial.write_text("complete")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('out.txt', 'complete')]
    """
    if path.parent == _DESCRIPTORS:  # from `scratch`, without a name
        yield path
        return
    with replacing_all([path]) as (partial,):
        yield partial


@contextmanager
def replacing_all(paths: Sequence[Path], *, make_folder: bool = False) -> Iterator[list[Path]]:
    """Temporary paths for several files: all are written before the first is replaced.

    Each file is the old or the new one at every moment, and two processes do not mix their files.
    No system replaces several files in one step: a process that is killed between the first and the
    last replacement leaves some of each, and perhaps a hidden file. With `make_folder` missing
    folders are created with the files in them.
    """
    with together() as written, _naming_files(paths), ExitStack() as discarding:
        files = []
        for path in paths:
            files.append(_unfinished(_target(path, make_folder=make_folder)))
            discarding.callback(files[-1].discard)
        yield [file.path for file in files]
        for file in files:
            file.finish()
        discarding.pop_all()
        written += files


@contextmanager
def together(*, within: Path | None = None) -> Iterator[list[_Unfinished]]:
    """Let all files that are replaced in this block take their names at its end, or not at all.

    A nested block is part of the outer one. All files must be in the folder `within`, if given.

    >>> with TemporaryDirectory() as folder, together():
    ...     with replacing(Path(folder) / "out.txt") as partial:
    ...         _ = partial.write_text("complete")
    ...     [*Path(folder).iterdir()]
    []
    """
    from concurrent.futures import ThreadPoolExecutor

    if (outer := _WRITTEN.get()) is not None:
        yield outer
        return
    written: list[_Unfinished] = []
    inside, limit = _WRITTEN.set(written), _WITHIN.set(within)
    try:
        yield written
        with _naming_files([file.target for file in written]), ThreadPoolExecutor(1) as thread:
            # An interrupt reaches the main thread only, which then waits for this one. It waits for
            # threads that it knows, and does not know one whose start was interrupted: so this one
            # has started before it has anything to do.
            thread.submit(bool).result()
            thread.submit(_take_names, written).result()
    finally:
        _WRITTEN.reset(inside)
        _WITHIN.reset(limit)
        for file in written:
            file.discard()


@contextmanager
def scratch(count: int) -> Iterator[list[Path]]:
    """Paths for temporary files, on Linux without names; `replacing` writes to them at once."""
    with ExitStack() as stack:
        stack.callback(_WRITTEN.reset, _WRITTEN.set(None))
        stack.callback(_WITHIN.reset, _WITHIN.set(None))
        if _DESCRIPTORS.is_dir():
            files = [stack.enter_context(TemporaryFile()) for _ in range(count)]
            yield [_DESCRIPTORS / str(file.fileno()) for file in files]
        else:
            folder = stack.enter_context(TemporaryDirectory())
            yield [Path(folder, str(number)) for number in range(count)]


def check_replaceable(path: Path) -> None:
    """Raise OutputError if `path` cannot be replaced later."""
    with _naming_files([path]):
        _unfinished(_target(path)).discard()


def check_within(path: Path) -> None:
    """Raise OutputError if `path`, with links followed, is outside of the folder of `together`."""
    limit, real = _WITHIN.get(), _real(path)
    if limit is not None and not Path(real).is_relative_to(_real(limit)):
        raise OutputError(
            f"cannot write {path.name}: {real!r} is outside of {str(limit)!r}, where a job file "
            "may write; name another folder by --output-folder (in Python into=...)"
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes that lock it, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder that cannot be read may be writable
        yield
        return
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    with suppress(ImportError, OSError):  # missing on Windows and on some file systems
        from fcntl import LOCK_EX, LOCK_NB, flock

        last = time.monotonic() + _PATIENCE
        while time.monotonic() < last:
            with suppress(BlockingIOError):
                flock(descriptor, LOCK_EX | LOCK_NB)
                return
            time.sleep(0.001)


def _take_names(written: Sequence[_Unfinished]) -> None:
    folders = sorted({file.target.parent for file in written if not is_remote(file.target)})
    for folder in folders:
        folder.mkdir(exist_ok=True)
    with ExitStack() as locks:
        for folder in folders:
            locks.enter_context(locked(folder))
        for file in written:
            file.approach()
        for file in written:
            file.take_name()


def _unfinished(target: Path) -> _Unfinished:
    """A new file that can become the target."""
    if is_remote(target):
        opened, local = mkstemp()
        os.close(opened)
        return _Sent(target, Path(local))
    # A folder that does not exist yet gets its files when they are complete.
    folder = target.parent if target.parent.is_dir() else target.parent.parent
    descriptor = _without_name(folder)
    name = f".{target.name[:50]}.{secrets.token_hex(4)}.tmp"
    if descriptor is not None:
        path = _DESCRIPTORS / str(descriptor)
        return _Unnamed(target, path, descriptor, target.with_name(name))
    path = folder / name
    path.touch(exist_ok=False)
    return _Unfinished(target, path)


def _without_name(folder: Path) -> int | None:
    """A descriptor of a new file without a name, or None if the system or the limit forbids it."""
    if not hasattr(os, "O_TMPFILE") or not _DESCRIPTORS.is_dir():
        return None
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:
        return None
    if descriptor < _MOST_DESCRIPTORS:
        return descriptor
    os.close(descriptor)
    return None


def _target(path: Path, *, make_folder: bool = False) -> Path:
    """The file that `path` stands for, if it can be written."""
    check_within(path)
    if is_remote(path):
        if not RemotePath(path).has_bucket():
            raise OutputError(f"cannot write {path.name}: no bucket {location(path.parent)!r}")
        return path
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    folder = target.parent
    if not (folder.is_dir() or (make_folder and not _exists(folder) and folder.parent.is_dir())):
        raise OutputError(f"cannot write {path.name}: no folder {str(folder)!r}; create it first")
    if _exists(target) and not target.is_file():
        fault = "there is a folder of this name" if target.is_dir() else "it is not a regular file"
        raise OutputError(f"cannot write {path.name}: {fault}; choose another output")
    return target


def _real(path: Path) -> str:
    return str(path) if is_remote(path) else os.path.realpath(path)


def _exists(path: Path) -> bool:
    """True if a name is in use, also by a broken link."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _naming_files(paths: Sequence[Path]) -> Iterator[None]:
    """Turn errors of the system into errors that name these files."""
    try:
        yield
    except OSError as error:
        names, folder = ", ".join(path.name for path in paths), location(paths[0].parent)
        raise OutputError(
            f"cannot write {names} into {folder!r} ({error.strerror or error}); "
            "make it writable, or make room, or choose another output"
        ) from error
