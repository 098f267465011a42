"""Progress of long work: one bar in a terminal or a notebook, silence elsewhere."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import parent_process
from typing import Any, TypeAlias, TypeVar

Progress: TypeAlias = Callable[[int, int], None]
"""Takes the numbers of what is done and of all."""

Item = TypeVar("Item")

_PATIENCE = 1.0
"""Seconds before a bar is shown."""

_SILENCE = 3.0
"""Seconds before a bar is shown though nothing is done yet."""

_SHOWING = threading.Lock()
"""Held while a bar is shown, or while none may be."""


@contextmanager
def silent() -> Iterator[None]:
    """Show nothing of what is done while a block runs, be there a terminal or not."""
    with ExitStack() as stack:
        if _SHOWING.acquire(blocking=False):
            stack.callback(_SHOWING.release)
        yield


def tell(words: str) -> None:
    """Show a sentence about what is done, where a bar would be shown."""
    if _is_watched() and not _SHOWING.locked():
        sys.stderr.write(f"{words}\n")


@contextmanager
def bar(what: str) -> Iterator[Callable[..., None]]:
    """A function that shows the progress of long work in a bar, once the work has taken a second.

    Call it with what is done, what there is in all, and perhaps a text to show beside them. The
    numbers need not be whole, and the bar never goes back. A bar within a bar is not shown.
    """
    if not _is_watched() or not _SHOWING.acquire(blocking=False):
        yield lambda done, total, more="": None
        return
    start, drawing = time.monotonic(), threading.Lock()
    drawn: Any = None

    def report(done: float, total: float, more: str = "") -> None:
        nonlocal drawn
        passed, share = time.monotonic() - start, done / max(total, 1)
        with drawing:
            if drawn is not None:
                drawn.set_postfix_str(more, refresh=False)
                drawn.update(max(0.0, share - drawn.n))
            elif passed >= _PATIENCE and share < 1:
                drawn = stack.enter_context(_drawn(what))
                drawn.start_t -= passed
                drawn.n = share
                drawn.set_postfix_str(more)

    with ExitStack() as stack:
        stack.callback(_SHOWING.release)
        begun = threading.Timer(_SILENCE, lambda: None if drawn is not None else report(0, 1))
        begun.daemon = True
        begun.start()
        stack.callback(begun.join)
        stack.callback(begun.cancel)
        yield report


def counted(what: str, items: Sequence[Item]) -> Iterator[Item]:
    """Items one after the other, with a bar of how many are done.

    >>> [*counted("reading logs", ["a", "b"])]
    ['a', 'b']
    """
    with bar(what) as report:
        for done, item in enumerate(items):
            report(done, len(items), f"{done:,} of {len(items):,}")
            yield item


def untold(done: int, total: int) -> None:
    """Progress that nobody is told of."""


def within(progress: Progress, before: int, after: int) -> Progress:
    """Progress of a part of some work, by what is done before it and after it."""
    return lambda done, total: progress(before + done, before + total + after)


def _drawn(what: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a notebook without widgets has a bar of text
        from tqdm.auto import tqdm
    return tqdm(
        desc=what,
        total=1.0,
        leave=False,
        delay=1e-9,  # not before it knows how far it is
        mininterval=0.5,
        miniters=0,
        dynamic_ncols=True,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
    )


def _is_watched() -> bool:
    """True in a terminal or a notebook, but not in a process that works for another one."""
    if parent_process() is not None:
        return False
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    return sys.stderr.isatty() or "IPKernelApp" in getattr(kernel, "config", ())
