"""Timing against a limit: both in turn, ratios pair by pair, so that a drifting machine cancels."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_HEAD = ("figure", "measured", "limit", "measured", "ratio", "target", "holds")
_WIDTHS = (66, 9, 38, 9, 7, 13, 5)
"""Of the columns. Fixed, so that a group can be printed as soon as it is measured."""

# Not the peak of getrusage, which a process takes over from the one that has started it.
_PEAK = """
import pathlib
status = pathlib.Path("/proc/self/status").read_text()
print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)
"""


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
    mebibytes: float | None = None
    limit_mebibytes: float | None = None


def against(
    name: str,
    ours: Callable[[], Any],
    limit: Callable[[], Any] | None = None,
    *,
    called: str = "",
    at_most: float | None = None,
    within: float | None = None,
    rounds: int = 5,
    note: str = "",
) -> Figure:
    """Time ours against a limit.

    Args:
        name: What is measured.
        ours: What evalframe does.
        limit: What bounds it from below.
        called: The limit's name.
        at_most: Target for the seconds.
        within: Target for the ratio to the limit.
        rounds: Pairs of runs; medians are given. At one round nothing is held against a target.
        note: What stands on a line of its own below.
    """
    if rounds > 1:
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
    if rounds == 1:
        at_most = within = None
    if at_most is not None:
        targets.append(f"{at_most:.3g} s")
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
        note,
    )


def memory(
    name: str, code: str, mebibytes: float, *, called: str, within: float | None, small: bool
) -> Figure:
    """The peak memory of a whole process against the size of what it works on.

    Args:
        name: What is measured.
        code: What the process does.
        mebibytes: The size.
        called: What has that size.
        within: Target for the ratio.
        small: Whether nothing is held against it.
    """
    peak = peak_mebibytes(code)
    held = None if small else within
    return Figure(
        name,
        limit=called,
        ratio=peak / mebibytes,
        target="" if held is None else f"{held:g} x",
        holds=None if held is None else peak <= held * mebibytes,
        mebibytes=peak,
        limit_mebibytes=mebibytes,
    )


def peak_mebibytes(code: str) -> float:
    """The most memory that a fresh interpreter held while it ran the code."""
    return in_process(f"{code}\n{_PEAK}")[-1]


def in_process(code: str) -> list[float]:
    """Numbers printed by a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def _timed(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def head() -> str:
    """The names of the columns."""
    line = _line(_HEAD)
    return f"{line}\n{'-' * len(line)}"


def group(title: str, figures: Sequence[Figure]) -> str:
    """A title, and a line for each figure; its note stands below it."""
    lines = ["", title]
    for f in figures:
        ours = _amount(f.seconds, f.mebibytes)
        theirs = _amount(f.limit_seconds, f.limit_mebibytes)
        ratio = "" if f.ratio is None else f"{f.ratio:.2f}"
        holds = {None: "", True: "yes", False: "NO"}[f.holds]
        lines.append(_line((f"  {f.name}", ours, f.limit, theirs, ratio, f.target, holds)))
        if f.note:
            lines.append(f"      {f.note}")
    return "\n".join(lines)


def verdict(figures: Sequence[Figure]) -> str:
    """How many figures hold their target, and which do not."""
    held = [f for f in figures if f.holds is not None]
    missed = [f"  missed: {f.name}" for f in held if not f.holds]
    return "\n".join(["", f"{len(held) - len(missed)} of {len(held)} targets hold", *missed])


def _amount(seconds: float | None, mebibytes: float | None) -> str:
    if seconds is not None:
        return f"{seconds:.3f} s"
    return "" if mebibytes is None else f"{mebibytes:,.0f} MiB"


def _line(cells: Sequence[str]) -> str:
    return "  ".join(
        cell.rjust(width) if place in (1, 3, 4) else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True))
    ).rstrip()
