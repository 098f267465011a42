"""How long a start takes: the import, and the command line's first answer."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Figure, against


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 9
    return [
        against(
            "import evalframe",
            lambda: _python("import evalframe"),
            lambda: _python("import polars"),
            called="import polars",
            within=1.15,
            rounds=rounds,
        ),
        against(
            "import evalframe and its first name",
            lambda: _python("import evalframe; evalframe.aurc"),
            lambda: _python("import polars"),
            called="import polars",
            rounds=rounds,
        ),
        against("evalframe --version", lambda: _run("--version"), at_most=0.4, rounds=rounds),
        against("evalframe --help", lambda: _run("--help"), at_most=0.4, rounds=rounds),
        # Continuous integration runs the demo anyway.
        *([] if small else [against("evalframe demo", _demo, at_most=20.0, rounds=2)]),
    ]


def _run(*words: str) -> None:
    command = Path(sys.executable).with_name("evalframe")
    subprocess.run([command, *words], check=True, capture_output=True)


def _demo() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _run("demo", "-o", folder)


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)
