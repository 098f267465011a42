"""Jobs that are interrupted."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
from evalframe.jobs import cli
from evalframe.jobs.selective import run
check = run.check_records
def announce(*args, **named):
    report = check(*args, **named)
    print("computing", flush=True)
    return report
run.check_records = announce
cli.main()
"""


@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_the_old_output(folder, interruption):
    Path("out.parquet").write_text("old")
    before = sorted(folder.iterdir())
    command = ["selective", "items.parquet", "-o", "out.parquet", "--bootstrap", "100000000"]
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            PROGRAM,
            *command,
            "--by",
            "mode",
            "--loss",
            "abs",
            "--draws",
            "counter",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "computing\n"
        time.sleep(0.3)
        process.send_signal(interruption)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "interrupted\n")
    assert Path("out.parquet").read_text() == "old"
    assert sorted(folder.iterdir()) == before
