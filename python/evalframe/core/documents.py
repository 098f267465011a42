"""JSON documents of others, read with errors that say what is wrong, and where."""

from __future__ import annotations

import errno
import json
import sys
from typing import TYPE_CHECKING, Any

from evalframe.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LITERALS = ("true", "false", "null", "NaN", "-Infinity", "Infinity")


def read_regular(path: Path) -> bytes:
    """The bytes of a file, but not those of a device or a pipe, which may never end.

    Raises:
        OSError: No such file, or it cannot be read.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is not a regular file; copy its content into one")
    return path.read_bytes()


def decoded(data: bytes, name: str) -> Any:
    """JSON as the standard library reads it, NaN and infinity included.

    Args:
        data: Its bytes.
        name: What messages call it.

    Raises:
        InputError: It is empty, no JSON, or more than can be read.

    >>> decoded(b'{"mode": "few', "run.json")
    Traceback (most recent call last):
    evalframe.core.errors.InputError: run.json: Unterminated string starting at at line 1, column 10
    (byte 9 of 13): the file ends too early; was its writer interrupted?
    """
    if not data.strip():
        raise InputError(f"{name} is empty ({len(data)} bytes); was its writer interrupted?")
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: {_told(error, len(data))}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: byte {error.start:,} is not UTF-8 text; is it JSON?") from None
    except ValueError:
        most = sys.get_int_max_str_digits()
        raise InputError(
            f"{name}: an integer has more than {most:,} digits, too many to be read; correct it"
        ) from None
    except RecursionError:
        raise InputError(f"{name}: nested too deeply to be read; is it the right file?") from None


def _told(error: json.JSONDecodeError, size: int) -> str:
    text, place = error.doc, error.pos
    rest = text[place:].strip()
    ended = error.msg.startswith("Unterminated") or _begins(rest, _LITERALS)
    byte = len(text[:place].encode("utf-8", "surrogatepass"))
    why = "the file ends too early; was its writer interrupted?" if ended else "is it JSON?"
    return (
        f"{error.msg} at line {error.lineno}, column {error.colno} "
        f"(byte {byte:,} of {size:,}): {why}"
    )


def _begins(rest: str, literals: Sequence[str]) -> bool:
    return any(literal.startswith(rest) for literal in literals)
