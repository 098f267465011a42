"""Progress of long work: on a terminal, and only there."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalframe.resample.methods import Progress

_PATIENCE = 2.0


def reporter(what: str) -> Progress:
    """A callback that shows how far long work has come, after two seconds, on a terminal."""
    started = time.monotonic()
    shown = False

    def report(done: int, total: int) -> None:
        nonlocal shown
        elapsed = time.monotonic() - started
        if not sys.stderr.isatty() or (elapsed < _PATIENCE and not shown):
            return
        shown = True
        left = elapsed * (total - done) / max(done, 1)
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\r{what}: {done:,} of {total:,}, {left:.0f} s left   {end}")
        sys.stderr.flush()

    return report
