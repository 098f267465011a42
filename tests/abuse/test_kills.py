"""Programs killed while they overwrite: what is there is the old or the new, and nothing else.

`EVALFRAME_KILLS` is how many programs are killed.
"""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from evalframe.core import files
from evalframe.core.errors import OutputError
from evalframe.core.files import replacing, scratch, together
from evalframe.jobs.written import read_provenance, write_tables

KILLS = int(os.environ.get("EVALFRAME_KILLS", "8"))
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)

STARTER = """
import os, signal, sys, time
import difflib, numpy  # what the program loads late
import evalframe.selective.areas, evalframe.evaluation
from evalframe.jobs import cli
from evalframe.jobs.selective import run

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
for line in sys.stdin:
    output, run_number, number, seconds = line.split()
    child = os.fork()
    if not child:
        sys.stderr = open(os.devnull, "w")
        flags = "--by mode --metrics coverage --loss abs --on-invalid quarantine -q"
        flags += " --area-coverage"
        flags = flags.split()
        sys.argv = ["evalframe", "selective", "items.csv", "-o", output, *flags, f"0.{run_number}"]
        signal.alarm(30)
        try:
            cli.main()
        finally:  # at once: threads from before the fork are not there to be waited for
            os._exit(0)
    time.sleep(float(seconds))
    if int(number):
        os.kill(child, int(number))
    print(os.waitpid(child, 0)[1], flush=True)
"""
"""Starts the program again and again, without loading it every time, and kills it."""

ITEMS = """mode,participant_id,item,prediction,label,confidence
few,1,a,0,1,0.5
few,1,b,1,1,0.7
few,2,a,3,1,
zero,1,a,2,0,0.1
zero,2,a,1,1,0.3
"""


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_a_killed_program_leaves_the_old_or_the_new(tmp_path, output):
    (tmp_path / "items.csv").write_text(ITEMS)
    draw, late = random.Random(0), []
    with subprocess.Popen(
        [sys.executable, "-c", STARTER],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:

        def start(run, number, seconds):
            starter.stdin.write(f"{output} {run} {int(number)} {seconds}\n")
            starter.stdin.flush()
            return int(starter.stdout.readline())

        assert start(99, 0, 0.0) == 0
        before, began = found(tmp_path), time.monotonic()
        assert len(before) == (2 if output == "out.parquet" else 6)
        assert start(99, 0, 0.0) == 0
        lasting = time.monotonic() - began
        for run in range(100, 100 + KILLS // 2):
            number = SIGNALS[run % 3]
            start(run, number, draw.random() * lasting)
            after = found(tmp_path)
            if after.keys() != before.keys() or len({*after.values()} - {None}) > 1:
                assert number == signal.SIGKILL, (after, number)
                late.append((run, after))
                for left in tmp_path.rglob(".*.tmp"):
                    left.unlink()  # or the next run would be blamed for it
                assert start(run, 0, 0.0) == 0
        # Between the first and the last of several names there is a moment; see `replacing_all`.
        assert len(late) <= 1 + KILLS // 20, late
        starter.stdin.close()


def found(folder):
    """The files that are there, all of them whole, and what tells the run that each is from."""
    outputs = [path for path in folder.rglob("*") if path.is_file() and path.name != "items.csv"]
    for path in outputs:
        pl.read_parquet(path, glob=False)
    return {
        path.name: None
        if "rejected" in path.name
        else read_provenance(path)["job"]["area_coverage"]
        for path in outputs
    }


@pytest.mark.parametrize("nameless", [True, False])
def test_two_writers_do_not_mix(tmp_path, monkeypatch, nameless):
    if not nameless:  # as on other systems than Linux
        monkeypatch.setattr(files, "_without_name", lambda folder: None)
    folder = tmp_path / "out"

    def write(writer):
        for _ in range(5):
            with together():
                frame = pl.DataFrame({"writer": [writer]})
                write_tables({name: frame for name in "abc"}, folder, {})
                with replacing(tmp_path / "beside.txt") as partial:
                    partial.write_text(str(writer))
        return writer

    def look():
        with files.locked(tmp_path), files.locked(folder):
            tables = pl.read_parquet(folder / "*.parquet")["writer"].to_list()
            return {*tables, int((tmp_path / "beside.txt").read_text())}

    write(0)
    with ThreadPoolExecutor(2) as both:
        writers = [both.submit(write, number) for number in (1, 2)]
        while not all(writer.done() for writer in writers):
            assert len(look()) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        *("a.parquet", "b.parquet", "beside.txt", "c.parquet", "out")
    ]


def test_a_failure_leaves_all_as_it_was(tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("old")
    with pytest.raises(OutputError, match="no folder"):
        write(one, two, tmp_path / "absent/three.txt")
    assert one.read_text() == "old"
    assert [*tmp_path.iterdir()] == [one]


def test_who_locks_a_folder_for_long_does_not_stop_others(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    with files.locked(tmp_path), replacing(tmp_path / "out.txt") as partial:
        partial.write_text("new")
    assert (tmp_path / "out.txt").read_text() == "new"


def test_nothing_is_written_outside_of_a_limit(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "aim.txt").write_text("old")
    (folder / "link.txt").symlink_to("../aim.txt")
    (folder / "up").symlink_to("..")
    for name in ("../aim.txt", "link.txt", "up/aim.txt", str(tmp_path / "aim.txt")):
        with (
            pytest.raises(OutputError, match=r"is outside of .*; name another folder"),
            together(within=folder),
        ):
            write(folder / name)
    with together(within=folder):
        write(folder / "inside.txt")
    assert (tmp_path / "aim.txt").read_text() == "old"


def write(*paths):
    with together():
        for path in paths:
            with replacing(path) as partial:
                partial.write_text("new")


def test_scratch_is_there_at_once_and_gone_later(tmp_path):
    with together(), scratch(2) as paths:
        write(*paths)
        assert [path.read_text() for path in paths] == ["new"] * 2
    assert not [path for path in paths if path.exists() and path.read_text() == "new"]
