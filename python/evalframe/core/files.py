"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalframe.core.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replacing(path: Path, *, keep: bool = True) -> Iterator[Path]:
    """A temporary path that becomes `path` on success and vanishes on anything else.

    Raises:
        OutputError: The folder is missing or cannot be written to.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(Path(folder) / "out.txt") as partial:
        ...         _ = partial.write_text("whole")
        ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
        [('out.txt', 'whole')]
    """
    folder = path.parent
    if not folder.is_dir():
        raise OutputError(f"cannot write {path.name}: no folder {str(folder)!r}; create it first")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        if keep:
            _flush(temporary)
            temporary.replace(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {path.name} into {str(folder)!r} ({error.strerror or error}); "
            "make it writable or choose another output"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """To the disk, so that a crash after the rename cannot leave an empty file."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
