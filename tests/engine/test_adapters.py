"""What every adapter does: results with their places, what went wrong as values, an end."""

import io
import multiprocessing
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import polars as pl
import pytest

import evalframe as ef
from evalframe.core import progress
from evalframe.core.errors import ParameterError
from evalframe.engine.executors import OnExecutor, environment
from evalframe.engine.opening import opened
from evalframe.engine.protocol import Counted, EngineError, Task, TaskError, modules_of, run, tree


def test_results_come_back_in_the_order_of_items(engine):
    assert run(engine, Task.of("powers", partial(pow, 2)), [*range(20)]) == [
        2**n for n in range(20)
    ]
    assert tree(engine, Task.of("sum", sum), [*range(100)], arity=3) == 4950
    assert engine.check(1) >= 1


def test_what_went_wrong_is_told_with_its_item(engine):
    with pytest.raises(TaskError, match=r"^size of /absent: FileNotFoundError: .*'/absent'"):
        run(engine, Task.of("size", os.path.getsize), ["/tmp", "/absent"])
    with pytest.raises(TaskError, match=r"^worker .*:\d+ cannot import what .*'absent_module'"):
        run(engine, Task.of("size", os.path.getsize, ["absent_module"]), ["/tmp"])


def test_what_runs_already_is_joined_and_left_running(dask_engine, ray_engine):
    lengths = Task.of("length", len)
    for given in (dask_engine.client, "ray", dask_engine):
        with opened(given) as joined:
            assert joined.scratch.is_dir()
            assert run(joined, lengths, ["abc"]) == [3]
    for engine in (dask_engine, ray_engine):
        assert run(engine, lengths, ["abc"]) == [3]


def test_workers_are_asked_past_the_queue(engine):
    assert {*engine.each(version, ("polars",), 60).values()} == {pl.__version__}
    (answer, *_) = engine.each(version, ("absent",), 60).values()
    assert isinstance(answer, PackageNotFoundError)


def test_a_function_that_cannot_be_sent_is_told():
    with pytest.raises(EngineError, match=r"^odd: cannot be sent to workers: .*lambda"):
        Task.of("odd", lambda item: item % 2)


def test_metrics_travel_by_their_modules():
    @ef.metric(direction="maximize", range=(0, 1))
    def seen_rate(seen="seen", *, weight=None):
        return ef.State(
            sums={"seen": weight * seen, "rows": weight},
            finish=lambda t: ef.ratio(t.seen, t.rows),
        )

    nested = ef.per("user", seen_rate(), then=ef.selective_risk("value"))
    assert modules_of([ef.aurc().bound, nested.bound]) == (__name__,)
    seen_rate.metric.define.__module__ = "__main__"
    with pytest.raises(EngineError, match=r"'seen_rate' is declared in the program.*a module"):
        modules_of([nested.alias("other").bound])


def test_scratch_is_seen_by_workers_and_gone_at_the_end():
    for folder in (None, "/tmp"):
        with opened(ef.engine.on(ThreadPoolExecutor(1), scratch=folder)) as engine:
            scratch = engine.scratch
            (scratch / "sub").mkdir()
            assert run(engine, Task.of("look", os.listdir), [scratch]) == [["sub"]]
        assert not scratch.exists()


def test_an_engine_is_refused_that_is_none():
    with pytest.raises(ParameterError, match=r"one of dask, .* got 'dsak'\. Did you mean 'dask'\?"):
        opened("dsak").__enter__()
    with pytest.raises(ParameterError, match=r"an executor of concurrent.futures.*got 7"):
        opened(7).__enter__()
    with pytest.raises(ParameterError, match=r"scratch must be a folder that exists"):
        ef.engine.on("processes:2", scratch="/absent")
    forks = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
    with pytest.raises(EngineError, match=r"forks its workers.*get_context"):
        opened(forks).__enter__()


def test_a_terminal_shows_what_was_read_how_fast_and_what_was_begun_again(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    class Dying(OnExecutor):
        def stream(self, task, items):
            for place, made in super().stream(task, items):
                yield place, made._replace(tries=3)

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("COLUMNS", "120")  # wide enough
    monkeypatch.setenv("LINES", "40")
    shown, quiet, file = Terminal(), Terminal(), io.StringIO()
    with ThreadPoolExecutor(1) as pool:
        for stream in (shown, quiet, file):
            monkeypatch.setattr(sys, "stderr", stream)
            read = Task.of("read", partial(Counted, size=5_000_000, rows=3))
            with progress.silent() if stream is quiet else nullcontext():
                progress.tell("two files")
                assert run(Dying(pool, "a pool"), read, [1, 2]) == [1, 2]
    sentence, _, bars = shown.getvalue().partition("\n")
    assert sentence == "two files"
    assert re.fullmatch(SHOWN, bars.split("\r")[1])
    assert not bars.split("\r")[-2].strip()  # and it goes
    assert quiet.getvalue() == file.getvalue() == ""


SHOWN = (
    r"read on a pool:  50%\|.*\| 00:00<00:00, 1 of 2 tasks, 2 begun again, 5 MB, [\d,]+ MB/s, "
    r"[\d,]+ rows/s"
)


def test_new_processes_inherit_variables_for_a_time_only(monkeypatch):
    monkeypatch.setenv("OLD", "before")
    with environment({"OLD": "1", "NEW": "1"}):
        assert os.environ["OLD"] == os.environ["NEW"] == "1"
        os.environ["SET_BY_AN_ENGINE"] = "1"
    assert os.environ["OLD"] == "before"
    assert not {"NEW", "SET_BY_AN_ENGINE"} & os.environ.keys()
