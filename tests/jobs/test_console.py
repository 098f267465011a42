"""The program as a shell sees it: streams that fail, files that are damaged, bugs."""

import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import polars as pl
import pytest

from evalframe.jobs import run

COMMAND = "selective items.parquet -o out.parquet --by mode --loss abs --metrics aurc"
PROGRAM = f'{sys.executable} -c "from evalframe.jobs.cli import main; main()"'


def shell(line, **environment):
    """Exit code of the program and what it says on standard error."""
    done = subprocess.run(
        ["bash", "-c", line.replace("evalframe", PROGRAM, 1)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **environment},
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "rest", [">&-", "<&- >&- 2>&-", "| true; exit ${PIPESTATUS[0]}", "2>&- >/dev/null"]
)
def test_nobody_listens(folder, rest):
    assert shell(f"evalframe {COMMAND} {rest}") == (0, "")
    assert pl.read_parquet("out.parquet").height == 2


def test_no_space_to_print(folder):
    code, errors = shell(f"evalframe {COMMAND} > /dev/full")
    assert (code, errors) == (
        1,
        "error: cannot print (No space left on device); a file named by --output is written\n",
    )
    assert Path("out.parquet").exists()
    assert shell("evalframe --help > /dev/full")[0] == 1


def test_letters_that_the_terminal_lacks(folder, items):
    items.with_columns(mode=pl.lit("日本 é")).write_parquet("items.parquet")
    line = f"evalframe {COMMAND} --key ''"
    assert shell(line, PYTHONIOENCODING="ascii", PYTHONUTF8="0") == (0, "")


def test_a_damaged_page_is_bad_input(call, items, folder):
    big = items.with_columns(note=pl.lit("x")).sample(fraction=1, seed=0)
    big.write_parquet("items.parquet", compression="zstd")
    whole = bytearray(Path("items.parquet").read_bytes())
    whole[4:1200] = bytes(1196)
    Path("items.parquet").write_bytes(whole)
    done = call(*COMMAND.split(), exit_code=1)
    assert done.stderr.startswith("error: cannot read items.parquet as Parquet: ")
    assert "Traceback" not in done.stderr


def test_a_bug_is_one_line(call, folder, monkeypatch):
    def fail(*args, **flags):
        raise ZeroDivisionError("division by\nzero")

    monkeypatch.setattr(run, "run_job", fail)
    done = call(*COMMAND.split(), exit_code=1)
    told = "error: internal: ZeroDivisionError: division by; please report it\n"
    assert done.stderr == told
    monkeypatch.setenv("EVALFRAME_DEBUG", "1")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        call(*COMMAND.split())


LOCKED = """
import os, sys
from evalframe.jobs.cli import main
import difflib, unicodedata
import evalframe.jobs.run, evalframe.jobs.selective.run, evalframe.jobs.selective
os.chdir(sys.argv[1])
if os.getuid() == 0:  # who may look anywhere
    os.setuid(65534)
pairs = sys.argv[2:]
for given, output in zip(pairs[::2], pairs[1::2]):
    sys.argv[1:] = ["selective", given, "-o", output, "--by", "mode"]
    try:
        main()
    except SystemExit as end:
        print(end.code)
"""


def test_folders_nobody_may_enter(folder):
    for name, mode in {"locked": 0o444, "open": 0o777}.items():
        Path(name).mkdir()
        Path(name, "items.parquet").write_bytes(Path("items.parquet").read_bytes())
        Path(name).chmod(mode)
    folder.chmod(0o755)
    told = {
        ("locked/items.parquet", "open/out.csv"): "locked/items.parquet cannot be read (Permission",
        ("locked", "open/out.csv"): "locked cannot be read (Permission denied)",
        ("items.parquet", "locked/out.csv"): "cannot write out.csv into 'locked' (Permission",
    }
    done = subprocess.run(
        [sys.executable, "-c", LOCKED, folder, *(word for pair in told for word in pair)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1"] * 3
    errors = done.stderr.strip().split("error: ")[1:]
    for error, message in zip(errors, told.values(), strict=True):
        assert error.startswith(message), done.stderr


IMPATIENT = """
import evalframe.core.progress as progress
progress._PATIENCE = 0.0
from evalframe.jobs.cli import main
main()
"""


def test_progress_is_for_terminals(folder):
    line = [sys.executable, "-c", IMPATIENT, "selective", "items.parquet", "--by", "mode"]
    line += ["--loss", "abs", "--metrics", "aurc", "--bootstrap", "10"]
    assert b"bootstrap: " in on_terminal(line)
    assert on_terminal([*line, "-q", "-o", "out.csv"]) == b""


def on_terminal(line):
    """What a program writes to standard error if that is a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    try:
        subprocess.run(line, check=True, stderr=theirs, stdout=subprocess.DEVNULL)
        os.set_blocking(ours, False)
        return os.read(ours, 10_000)
    except BlockingIOError:
        return b""
    finally:
        os.close(theirs)
        os.close(ours)
