"""Programs killed while they overwrite: what is there is the old or the new, and nothing else.

`EVALFRAME_KILLS` is how many programs are killed.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

import evalframe as ef
from abuse.outcomes import SEED
from evalframe.core import files
from evalframe.core.errors import OutputError
from evalframe.core.files import replacing, scratch, together
from evalframe.jobs.samples import write_samples
from evalframe.jobs.written import read_provenance, write_result, write_tables

KILLS = int(os.environ.get("EVALFRAME_KILLS", "4"))
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)

STARTER = """
import difflib, importlib, json, os, pkgutil, signal, sys, time
import altair, msgspec, numpy, pyarrow.parquet, scipy.optimize, scipy.special, scipy.stats
import evalframe
from evalframe.jobs import cli

for module in pkgutil.walk_packages(evalframe.__path__, "evalframe."):  # what is loaded late
    if "engine" not in module.name and "__main__" not in module.name:
        importlib.import_module(module.name)

CHANGES = ("os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def watched(at, count=[0]):
    def hook(event, args):
        if event in CHANGES or event == "open" and isinstance(args[2], int) and args[2] & WRITES:
            if not str(args[0]).startswith("/dev/"):
                count[0] += 1
                if count[0] == at:
                    os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    return count

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
for line in sys.stdin:
    words, number, seconds, at = json.loads(line)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        sys.stdout = sys.stderr = open(os.devnull, "w")
        sys.argv = ["evalframe", *words]
        signal.alarm(120)
        count = watched(at)
        try:
            cli.main()
        finally:  # at once: threads from before the fork are not there to be waited for
            os.write(writer, str(count[0]).encode())
            os._exit(0)
    os.close(writer)
    if number:
        time.sleep(seconds)
        os.kill(child, number)
    status = os.waitpid(child, 0)[1]
    print(json.dumps([status, int(os.read(reader, 9) or 0)]), flush=True)
    os.close(reader)
"""
"""Starts the program again and again, without loading it every time, and kills it.

It is killed by a signal after some seconds, or before a change of a file, by its number.
"""

ITEMS = """mode,participant_id,item,prediction,label,confidence
few,1,a,0,1,0.5
few,1,b,1,1,0.7
few,2,a,3,1,
zero,1,a,2,0,0.1
zero,2,a,1,1,0.3
"""


FLAGS = """--by mode --metrics coverage --loss abs --on-invalid quarantine -q
--area-coverage"""

COMMANDS = """sample o --participants 2 --overwrite --seed {n}
tutorial o --overwrite
report r{n} -o o.html -q
selective items.parquet --by mode --loss abs -o o -q --on-invalid quarantine --bootstrap 1{n}
calibrate items.parquet --method temperature --features confidence -o o.json -q --folds 2 --seed {n}
rag rag_responses.parquet -o o -q --bootstrap 1{n}
rag documents rag_instances.parquet -o o.jsonl -q --seed {n}
survey survey_responses.parquet --truth survey.parquet -o o.csv -q --bootstrap 1{n}
survey prompts survey.parquet -o o.jsonl -q --seed {n} --context-count 1
survey baselines survey.parquet -o o.parquet -q --seed {n} --kinds permutation --permutations 2
replication replication_tests.parquet -o o --summary s -q --human-prior-odds {n}
evaluate answers.parquet --by model -o o.csv --report o.html -q --bootstrap 1{n}
compare answers.parquet --between model -o o --summary s.md -q --bootstrap 1{n} --cluster sample_id
rank answers.parquet --between model --best highest -o o.md -q --bootstrap 1{n} --cluster sample_id
partial part{n}.parquet --by model -o o.parquet -q --state s --metric mean:score
merge s{n}.parquet a.parquet -o o.parquet -q
retract b.parquet s{n}.parquet -o o.parquet -q
finish s{n}.parquet -o o.json -q
logs report quiz{n} -o o.parquet
logs check quiz{n} -o o.parquet
run job{n}.toml -q
gate job{n}.toml -q""".splitlines()
"""All that write, in two versions; `demo` runs others of them."""


@pytest.fixture
def start(tmp_path):
    """Runs a command in a folder: its status, and how many changes of files it makes."""
    with subprocess.Popen(
        [sys.executable, "-c", STARTER],
        cwd=tmp_path,
        env=os.environ | {"POLARS_MAX_THREADS": "1"},  # threads add up in any order
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:

        def start(words, number=0, seconds=0.0, at=0):
            starter.stdin.write(json.dumps([words.split(), int(number), seconds, at]) + "\n")
            starter.stdin.flush()
            return json.loads(starter.stdout.readline())

        yield start
        starter.stdin.close()


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_a_killed_program_leaves_the_old_or_the_new(tmp_path, start, output):
    (tmp_path / "items.csv").write_text(ITEMS)
    draw, late = random.Random(0), []

    def run_of(run, *how):
        return start(f"selective items.csv -o {output} {FLAGS} 0.{run}", *how)[0]

    assert run_of(99) == 0
    before, began = found(tmp_path), time.monotonic()
    assert len(before) == (2 if output == "out.parquet" else 6)
    assert run_of(99) == 0
    lasting = time.monotonic() - began
    for run in range(100, 100 + KILLS // 2):
        number = SIGNALS[run % 3]
        run_of(run, number, draw.random() * lasting)
        after = found(tmp_path)
        if after.keys() != before.keys() or len({*after.values()} - {None}) > 1:
            assert number == signal.SIGKILL, (after, number)
            late.append((run, after))
            for left in tmp_path.rglob(".*.tmp"):
                left.unlink()  # or the next run would be blamed for it
            assert run_of(run) == 0
    # Between the first and the last of several names there is a moment; see `replacing_all`.
    assert len(late) <= 1 + KILLS // 20, late


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


def test_every_command_killed_at_its_changes_of_files(tmp_path, start):
    """Each file is the old or the new, and what is left beside them does not stop the next run."""
    inputs, faults = prepared(tmp_path), []
    for place, command in enumerate(COMMANDS):
        # Kills go round all commands; the seed says with which of them they begin.
        each, more = divmod(KILLS // 2, len(COMMANDS))
        if kills := each + ((place - SEED) % len(COMMANDS) < more):
            faults += faults_of(command, kills, tmp_path, inputs, start)
    assert not faults, "\n".join(faults)


def faults_of(command, kills, folder, inputs, start):
    """What is wrong after a command was killed at some of its changes of files."""
    versions = []
    for number in (1, 2):
        changes = start(command.format(n=number))[1]
        versions.append(contents(folder, inputs))
        assert changes > 0, command
        assert versions[-1], command
    (old, new), faults = versions, []
    for at in random.Random(SEED).sample(range(1, changes + 1), min(changes, kills)):
        restore(folder, inputs, old)
        fault = f"{command}, change {at} of {changes}: "
        if (status := start(command.format(n=2), at=at)[0]) != signal.SIGKILL:
            faults.append(f"{fault}status {status}")
        after = contents(folder, inputs)
        faults += [f"{fault}{name} is lost" for name in old.keys() - after.keys()]
        for name, each in after.items():
            if each not in (old.get(name), new.get(name)) and not name.endswith(".tmp"):
                faults.append(f"{fault}{name} is neither the old nor the new")
    if start(command.format(n=2))[0] or not new.items() <= contents(folder, inputs).items():
        faults.append(f"{command}: the next run is another")
    restore(folder, inputs, {})
    return faults


def restore(folder, inputs, versions):
    """Only what was written at first is there, and nothing in the store."""
    for path in {path for path in folder.rglob("*") if path.is_file()} - inputs:
        path.unlink()
    for name, content in versions.items():
        (folder / name).write_bytes(content)


def contents(folder, inputs):
    """What is written, by name; sums of the store are found by their content."""
    found = {path for path in folder.rglob("*") if path.is_file()} - inputs
    names = (path for path in found if path.suffix != ".state" and path.parent.name != "runs")
    # An artifact says when it was made.
    moment = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.+Z-]+")
    return {str(path.relative_to(folder)): moment.sub(b"", path.read_bytes()) for path in names}


def prepared(folder):
    """Inputs of all commands, in two versions where a flag makes no other result."""
    write_samples(folder, participants=3)
    answers = pl.read_parquet(folder / "answers.parquet")
    half = len(answers) // 2
    states = {"a": answers[:half], "s1": answers[half:], "s2": answers[half + 9 :], "b": answers}
    for name, part in states.items():
        ef.partial(part, ef.mean("score"), by="model").write_parquet(folder / f"{name}.parquet")
    for number in (1, 2):
        (folder / f"r{number}").mkdir()
        answers[number:].write_parquet(folder / f"part{number}.parquet")
        result = ef.evaluate(answers[number:], ef.mean("score"), by="model")
        write_result(result, folder / f"r{number}/out.parquet", {})
        (folder / f"quiz{number}").mkdir()
        log = ef.logs.sample_log(samples=2 + number, epochs=1)
        (folder / f"quiz{number}/quiz.eval").write_bytes(log)
        (folder / f"job{number}.toml").write_text(JOB.format(n=number))
    return {path for path in folder.rglob("*") if path.is_file()}


JOB = """family = "items"
verb = "compare"
items = ["answers.parquet"]
output = "o.parquet"
between = "model"
baseline = "lantern-13b"
metrics = ["mean:score"]
fail_if = "regression > 0.{n}"
best = "highest"
bootstrap = {{ n = 10, cluster = "sample_id" }}
"""


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
