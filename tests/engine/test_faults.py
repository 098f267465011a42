"""Workers and drivers killed, clusters that are not there: the same result, or none and an error.

`EVALFRAME_KILLS` is how many processes are killed at random moments, in eighths.
"""

import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
import types
from contextlib import closing, contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Timer

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
import faulty
from evalframe.engine import on_dask, on_ray, opening
from evalframe.engine import shards as shards_module
from evalframe.engine.executors import OnExecutor
from evalframe.engine.opening import check_versions, opened
from evalframe.engine.protocol import EngineError, Task, TaskError, run

KILLS = -(-int(os.environ.get("EVALFRAME_KILLS", "8")) // 8)

ROWS = pl.DataFrame(
    {
        "model": ["few", "zero"] * 60,
        "confidence": [n * 7 % 20 / 20 for n in range(120)],
        "loss": [n * 11 % 30 / 30 for n in range(120)],
    }
)
WITH_PATH = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
METRICS = [ef.aurc(), ef.selective_risk()]


@pytest.fixture(autouse=True)
def a_task_for_each_shard(monkeypatch):
    monkeypatch.setattr(shards_module, "_TASK", 1)
    monkeypatch.setattr(shards_module, "_LEAST", 1)


@pytest.fixture(params=["dask_engine", "ray_engine"])
def restarting(request):
    """Engines that start another worker in place of a dead one."""
    return request.getfixturevalue(request.param)


def shards(*acts):
    """Twelve shards, of which the first do something while they are read."""
    frames = [ROWS[first : first + 10].lazy() for first in range(0, 120, 10)]
    return [frame.map_batches(act) for frame, act in zip(frames, acts, strict=False)] + frames[
        len(acts) :
    ]


def evaluated(rows, engine=None, plan="levels"):
    return ef.evaluate(rows, METRICS, by="model", engine=engine, plan=plan)


def same(engine, rows, plan="levels"):
    assert_frame_equal(evaluated(ROWS), evaluated(rows, engine, plan), rel_tol=1e-12, abs_tol=0)


def test_workers_that_die_once_change_nothing(restarting, tmp_path):
    """Two workers do, which is all there are on two cores."""
    marks = [tmp_path / "a", tmp_path / "b"]
    same(restarting, shards(*(partial(faulty.die_once, mark) for mark in marks)))
    assert all(mark.exists() for mark in marks)


def test_what_is_begun_again_is_counted(restarting, tmp_path):
    task = Task.of("work", partial(faulty.die_once, tmp_path / "mark"))
    ((_, made),) = restarting.stream(task, ["a"])
    assert (made.value, made.tries) == ("a", 2)


@pytest.mark.parametrize("plan", ["levels", "sorted"])
def test_workers_killed_at_any_moment_change_nothing(dask_engine, plan):
    draw, before = random.Random(3), files_in(dask_engine.scratch)
    rows = shards(*[partial(faulty.linger, 0.03)] * 12)
    for _ in range(KILLS):
        pids = [*dask_engine.each(os.getpid, (), 60).values()]
        killer = Timer(draw.random() * 0.5, os.kill, [draw.choice(pids), signal.SIGKILL])
        killer.start()
        same(dask_engine, rows, plan)
        killer.join()
    assert files_in(dask_engine.scratch) == before


def test_a_shard_that_workers_die_of_is_named(dask_engine, ray_engine, monkeypatch):
    """Alone, since Dask suspects whatever waits at a worker that dies."""
    monkeypatch.setattr(dask_engine.client.cluster.scheduler, "allowed_failures", 1)
    monkeypatch.setattr(on_ray, "TRIES", 2)
    for engine in (dask_engine, ray_engine):
        with pytest.raises(
            EngineError, match=r"^2 workers died of state of frame 0, .*memory; give workers more"
        ):
            evaluated(shards(faulty.die)[:1], engine)
        same(engine, shards())


def test_what_an_executor_cannot_unpickle_kills_no_worker(monkeypatch):
    """As with a function of a notebook, whose `__main__` is not that of the workers."""
    prompt = types.ModuleType("prompt")
    exec("def act(frame): return frame", vars(prompt))
    monkeypatch.setitem(sys.modules, "prompt", prompt)
    with opened("processes:1") as engine:
        with pytest.raises(TaskError, match=r"frame 0: a worker cannot read it .* in a module$"):
            evaluated(shards(prompt.act), engine)
        with pytest.raises(EngineError, match=r"^work: cannot be sent to workers: "):
            [*engine.stream(Task.of("work", str), [lambda: None])]


def test_an_executor_restarts_no_worker():
    with (
        pytest.raises(EngineError, match=r"^a worker of processes:1 died, .* --state FOLDER"),
        opened("processes:1") as engine,
    ):
        evaluated(shards(faulty.die), engine)


def test_a_program_is_told_that_workers_import_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import evalframe as ef, polars as pl\n"
        "ef.evaluate([pl.DataFrame({'loss': [0.5]})], ef.mean('loss'), engine='processes:1')\n"
    )
    shown = subprocess.run([sys.executable, program], env=WITH_PATH, capture_output=True, text=True)
    assert shown.stderr.splitlines()[-1].endswith(
        "EngineError: no worker of processes:1 comes up; workers import your program: put what "
        "it does under if __name__ == '__main__':"
    )


USERS = """
import evalframe as ef

@ef.metric(direction="minimize", range=(0, float("inf")))
def mean_of_theirs(loss="loss", *, weight=None):
    return ef.State(
        sums={"loss": weight * loss, "rows": weight}, finish=lambda t: ef.ratio(t.loss, t.rows)
    )
"""


def test_a_module_that_workers_lack_is_named_and_can_be_sent(dask_engine, tmp_path, monkeypatch):
    (tmp_path / "their_metrics.py").write_text(USERS)
    monkeypatch.syspath_prepend(tmp_path)
    import their_metrics

    metrics = [their_metrics.mean_of_theirs()]
    with pytest.raises(
        TaskError,
        match=r"^worker .* cannot import .*No module named 'their_metrics'.*client\.upload_file",
    ):
        ef.evaluate(shards(), metrics, engine=dask_engine)
    dask_engine.client.upload_file(str(tmp_path / "their_metrics.py"))
    found = ef.evaluate(shards(), metrics, engine=dask_engine)["estimate"]
    assert found.item() == pytest.approx(ROWS["loss"].mean(), rel=1e-12)


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_cluster_that_is_not_there_is_told_at_once(kind, monkeypatch):
    monkeypatch.setattr(opening, "_PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(EngineError, match=rf"^nobody answers at {address} \(timed out"):
            evaluated(shards(), f"{kind}://{address}")
    with pytest.raises(EngineError, match=rf"^nobody answers at {address} .*check the address"):
        evaluated(shards(), f"{kind}://{address}")


def test_a_cluster_that_loses_its_workers_and_then_ends_is_told(monkeypatch, capfd):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(on_dask, "_LOOK", 0.05)
    monkeypatch.setattr(on_dask, "_ABSENCE", 0.2)
    work = Task.of("work", partial(faulty.linger, 0.05))
    with LocalCluster(
        n_workers=1, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0"
    ) as cluster:
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            with opened(client) as engine, closing(engine.stream(work, range(100))) as made:
                next(made)
                cluster.scale(0)
                told = r"^the scheduler at tcp.* gave up tasks \(no worker for [\d.]+ s\);"
                with pytest.raises(EngineError, match=told):
                    list(made)
            with (
                pytest.raises(EngineError, match=r"^no worker of .* answers within 0\.1 s; start"),
                opened(client, seconds=0.1),
            ):
                pass
        with pytest.raises(EngineError, match="client must be open"):
            evaluated(shards(), client)
        address = cluster.scheduler_address.removeprefix("tcp://")
        monkeypatch.setattr(on_dask, "_ABSENCE", 60)
        capfd.readouterr()
        with on_dask.joined(address) as engine:
            Timer(0.2, cluster.close).start()
            with pytest.raises(EngineError, match=r"\(scheduler-connection-lost\)"):
                run(engine, work, range(100))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            "0.0.1",
            r"^worker far:1 has evalframe 0\.0\.1, and this process has ",
        ),
        (ImportError("none"), r"^worker far:1 has no evalframe: .*none.*pip install evalframe=="),
    ],
)
def test_workers_of_another_version_are_refused(answer, said):
    class Far(OnExecutor):
        def each(self, function, args, seconds):
            return {"near:1": version("evalframe"), "far:1": answer}

    with pytest.raises(EngineError, match=said):
        check_versions(Far(None), "evalframe")


DRIVER = """
import sys
from functools import partial
import faulty
from evalframe.engine.opening import on, opened
from evalframe.engine.protocol import Task, run

if __name__ == "__main__":
    with opened(on(sys.argv[1], scratch=sys.argv[2])) as engine:
        work = partial(faulty.keep_writing, engine.scratch)
        print(engine.scratch, flush=True)
        run(engine, Task.of("work", work), range(4))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_ends_leaves_nothing_but_the_cluster(dask_engine, tmp_path, number):
    (tmp_path / "driver.py").write_text(DRIVER)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    address = address_of(dask_engine)
    with (
        subprocess.Popen(
            [sys.executable, tmp_path / "driver.py", address, scratch],
            env=WITH_PATH,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as driver,
        ended(driver),
    ):
        folder = Path(driver.stdout.readline().strip())
        wait_until(lambda: any(folder.iterdir()))
        driver.send_signal(number)
        told = driver.communicate(timeout=30)[1]
    assert driver.returncode == -number
    assert ("KeyboardInterrupt" in told) == (number == signal.SIGINT)
    wait_until(lambda: not any(scratch.iterdir()))
    same(dask_engine, shards())


@contextmanager
def ended(process):
    """Kill a process that takes too long or outlives the block, for which we would wait."""
    killer = Timer(60, process.kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()
        process.kill()


def wait_until(holds):
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_job_that_is_killed_has_no_output(dask_engine, tmp_path):
    """Nor has it rejected records, which are written by workers."""
    for name in ("shards", "scratch", "out"):
        (tmp_path / name).mkdir()
    for number in range(12):
        items = pl.DataFrame({"participant_id": [number, number], "item": ["a", "b"]})
        answers = items.with_columns(mode=pl.lit("few"), prediction=1, label=2, confidence=0.5)
        answers.write_csv(tmp_path / f"shards/{number}.csv")
    with (
        subprocess.Popen(
            [
                *(sys.executable, "-m", "evalframe"),
                *("selective", "shards/*.csv", "-o", "out/"),
                *("--on-invalid", "quarantine", "--metrics", "coverage", "--by", "mode"),
                *("--engine", address_of(dask_engine), "--scratch", "scratch"),
            ],
            cwd=tmp_path,
            env=WITH_PATH,
            stderr=subprocess.PIPE,
            text=True,
        ) as job,
        ended(job),
    ):
        wait_until(lambda: dask_engine.client.cluster.scheduler.tasks)
        job.kill()
        assert not job.communicate(timeout=30)[1]
    wait_until(lambda: not any((tmp_path / "scratch").iterdir()))
    assert not [*(tmp_path / "out").iterdir()]
    assert len([*tmp_path.rglob("*")]) == 15


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    """A limit on the size of files stands for it."""
    ROWS.write_parquet(tmp_path / "rows.parquet")
    store = tmp_path / "states"
    with opened("processes:1") as engine:
        limit = Task.of("limit", partial(resource.setrlimit, resource.RLIMIT_FSIZE))
        run(engine, limit, [(50, resource.RLIM_INFINITY)])
        with pytest.raises(TaskError, match=r"rows\.parquet: cannot write .*too large.*make room"):
            ef.evaluate(tmp_path / "rows.parquet", METRICS, engine=engine, state=store)
        with pytest.raises(TaskError, match=r"File too large; make room.*scratch="):
            evaluated(tmp_path / "rows.parquet", engine, "sorted")
        assert files_in(store) + files_in(engine.scratch) == []
        run(engine, limit, [(resource.RLIM_INFINITY, resource.RLIM_INFINITY)])
        found = ef.evaluate(tmp_path / "rows.parquet", METRICS, engine=engine, state=store)
    assert_frame_equal(found, ef.evaluate(ROWS, METRICS))


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def address_of(dask_engine):
    return dask_engine.client.scheduler.address.replace("tcp", "dask")
