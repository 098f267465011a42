"""Progress: one bar where somebody watches, from its time on, and gone at the end."""

import io
import sys
import time

import polars as pl
import pytest

import evalframe as ef
from evalframe.core import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def watch(monkeypatch):
    """Make this stream the standard error; a fixture that did it would be undone by pytest."""
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    return lambda stream: monkeypatch.setattr(sys, "stderr", stream)


def lines(terminal):
    """What the terminal showed on its one line, one after the other."""
    return [line.strip() for line in terminal.getvalue().split("\r")[1:]]


def test_a_bootstrap_is_shown_in_a_terminal_and_only_there(watch):
    items = pl.DataFrame({"person": [1, 2, 3], "loss": [0.0, 0.5, 1.0]})
    resample = ef.Bootstrap(cluster="person", n=60, seed=1)
    for stream in (terminal := Terminal(), file := io.StringIO()):
        watch(stream)
        ef.evaluate(items, ef.selective_risk(), resample=resample)
    shown = lines(terminal)
    assert shown[0].startswith("bootstrap:   5%|")
    assert shown[1:] == ["", ""]
    assert file.getvalue() == ""


def test_a_bar_within_a_bar_is_not_shown_and_an_error_ends_both(watch):
    watch(terminal := Terminal())

    def fail():
        for name in progress.counted("outer", "abc"):
            for _ in progress.counted("inner", "abc"):
                if name == "c":
                    raise ValueError(name)

    for _ in range(2):
        with pytest.raises(ValueError, match="c"):
            fail()
    shown = lines(terminal)
    assert sum("outer:   0%|" in line for line in shown) == 2
    assert not any("inner" in line for line in shown)
    assert shown[-1] == ""


def test_work_that_does_not_come_forward_is_shown(watch, monkeypatch):
    watch(terminal := Terminal())
    monkeypatch.setattr(progress, "_SILENCE", 0.01)
    with progress.bar("slow"):
        end = time.monotonic() + 10
        while not terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    shown = lines(terminal)
    assert shown[0].startswith("slow:   0%|")
    assert shown[-1] == ""
