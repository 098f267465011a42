"""Timing against a limit: both in turn, ratios pair by pair, so that a drifting machine cancels."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Figure:
    """One measured figure and what it is held against."""

    name: str
    seconds: float | None = None
    limit: str = ""
    limit_seconds: float | None = None
    ratio: float | None = None
    target: str = ""
    holds: bool | None = None
    note: str = ""


def against(
    name: str,
    ours: Callable[[], Any],
    limit: Callable[[], Any] | None = None,
    *,
    called: str = "",
    at_most: float | None = None,
    within: float | None = None,
    rounds: int = 5,
) -> Figure:
    """Time ours against a limit.

    Args:
        name: What is measured.
        ours: What evalframe does.
        limit: What bounds it from below.
        called: The limit's name.
        at_most: Target for the seconds.
        within: Target for the ratio to the limit.
        rounds: Pairs of runs; medians are given.
    """
    ours()
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(_timed(ours))
        if limit is not None:
            theirs.append(_timed(limit))
    seconds = statistics.median(mine)
    ratios = [a / b for a, b in zip(mine, theirs, strict=False)]
    ratio = statistics.median(ratios) if ratios else None
    targets: list[str] = []
    holds: list[bool] = []
    if rounds == 1:  # at its smallest size nothing is held against a target
        at_most = within = None
    if at_most is not None:
        targets.append(f"{at_most:g} s")
        holds.append(seconds <= at_most)
    if within is not None and ratio is not None:
        targets.append(f"{within:g} x")
        holds.append(ratio <= within)
    return Figure(
        name,
        seconds,
        called,
        statistics.median(theirs) if theirs else None,
        ratio,
        ", ".join(targets),
        all(holds) if holds else None,
    )


def in_process(code: str) -> list[float]:
    """Numbers printed by a fresh interpreter: its own peak memory, its own import times."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def _timed(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def table(figures: list[Figure]) -> str:
    """The figures as an aligned table."""
    head = ("figure", "seconds", "limit", "seconds", "ratio", "target", "holds", "")
    rows = [
        (
            f.name,
            "" if f.seconds is None else f"{f.seconds:.3f}",
            f.limit,
            "" if f.limit_seconds is None else f"{f.limit_seconds:.3f}",
            "" if f.ratio is None else f"{f.ratio:.2f}",
            f.target,
            {None: "", True: "yes", False: "NO"}[f.holds],
            f.note,
        )
        for f in figures
    ]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
