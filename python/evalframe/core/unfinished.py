"""Files that are being written: without a name until they are whole, where the system can."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DESCRIPTORS = Path("/proc/self/fd")
"""Where Linux has what a process has opened, also files without a name."""

_MOST = 200
"""Descriptors that are used; a process may have 1,024, and needs some for its work."""

_PATIENCE = 10.0
"""Seconds. Folders are locked for much less, unless for reasons that are none of ours."""


@dataclass(frozen=True)
class Unfinished:
    """A file under a name of its own, beside the one that it will have.

    Attributes:
        target: What it will be.
        path: Where it is written.
    """

    target: Path
    path: Path

    def finish(self) -> None:
        """To the disk, so that a crash cannot leave an empty file, with the permissions it had."""
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        if self.target.exists():
            shutil.copymode(self.target, self.path)

    def approach(self) -> None:
        """Be ready to become the target in one step."""

    def take_name(self) -> None:
        """Become the target."""
        self.path.replace(self.target)

    def discard(self) -> None:
        """Leave nothing, unless it is the target by now."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Unnamed(Unfinished):
    """A file without a name, which vanishes with the process however that ends."""

    descriptor: int
    beside: Path

    def approach(self) -> None:
        """Have a name, if the target is there: Linux replaces files by named ones only."""
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
        """Leave nothing, unless it is the target by now."""
        os.close(self.descriptor)
        self.beside.unlink(missing_ok=True)

    def _link(self, name: Path) -> None:
        # With a folder named, even one that an absolute path ignores, Python calls linkat, which
        # follows the path to the file; link would not.
        os.link(self.path, name, src_dir_fd=self.descriptor, follow_symlinks=True)


def unfinished(target: Path) -> Unfinished:
    """A new file that can become the target.

    Raises:
        OSError: The folder of the target cannot be written to.
    """
    # A folder that is to be made takes its files when they are whole.
    folder = target.parent if target.parent.is_dir() else target.parent.parent
    descriptor = _without_name(folder)
    if descriptor is not None:
        path = DESCRIPTORS / str(descriptor)
        return Unnamed(target, path, descriptor, _beside(target))
    path = _beside(folder / target.name)
    path.touch(exist_ok=False)
    return Unfinished(target, path)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else who locks this folder does what we do now, where the system can say so."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # what cannot be read can still be written into
        yield
        return
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _without_name(folder: Path) -> int | None:
    """A descriptor of a new file, or None where such files or descriptors are not to be had."""
    if not hasattr(os, "O_TMPFILE") or not DESCRIPTORS.is_dir():
        return None
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:
        return None
    if descriptor < _MOST:
        return descriptor
    os.close(descriptor)
    return None


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.tmp")


def _lock(descriptor: int) -> None:
    with suppress(ImportError, OSError):  # not on Windows, nor on every file system
        from fcntl import LOCK_EX, LOCK_NB, flock

        last = time.monotonic() + _PATIENCE
        while time.monotonic() < last:
            with suppress(BlockingIOError):
                flock(descriptor, LOCK_EX | LOCK_NB)
                return
            time.sleep(0.001)
