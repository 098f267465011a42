"""A store never changes a result: it is that of a run without one, whatever lies in the folder."""

import os
import pickle
import random
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.tables import Keys
from evalframe.engine import journal
from evalframe.engine import shelf as shelves
from evalframe.engine import store as stores
from evalframe.engine.definitions import further
from evalframe.engine.journal import Journal
from evalframe.engine.makers import OfStates
from evalframe.engine.shards import Shards, shards_of

METRICS = [ef.aurc(), ef.per("person", ef.mean("loss")), ef.accuracy("loss", "label")]


def shard(seed, rows=40):
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "group": [draw.choice("ab") for _ in range(rows)],
            "person": [draw.randrange(5) for _ in range(rows)],
            "confidence": [draw.random() for _ in range(rows)],
            "loss": [draw.randrange(2) for _ in range(rows)],
            "label": [draw.randrange(2) for _ in range(rows)],
        }
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shards").mkdir()
    for seed in range(3):
        shard(seed).write_parquet(tmp_path / "shards" / f"{seed}.parquet")
    return tmp_path / "shards"


@pytest.fixture
def store(tmp_path):
    return ef.StateStore(tmp_path / "states")


def finished(state):
    return ef.finish(state.lazy().collect())


def of_states(*metrics, by="group"):
    return OfStates([metric.bound for metric in metrics], Keys.of(by), None)


ONE = [ef.mean("loss")]


def run(store, folder, metrics=ONE, by="group", **given):
    """Statuses of the shards by their names, of a run whose result is that of one without store."""
    state = store.partial(f"{folder}/*", metrics, by=by, **given)
    expected = ef.partial(f"{folder}/*", metrics, by=by)
    assert_frame_equal(finished(state), finished(expected), abs_tol=1e-12)
    told = store.explain()
    names = told["shard"].str.split("/").list.last()
    return dict(zip(names, told["status"], strict=True))


def test_a_run_computes_what_is_new_or_changed(folder, store):
    assert run(store, folder, METRICS) == dict.fromkeys(map("{}.parquet".format, range(3)), "new")
    assert {*run(store, folder, METRICS).values()} == {"reused"}
    before = (folder / "0.parquet").read_bytes()
    shard(7).write_parquet(folder / "0.parquet")
    (folder / "1.parquet").rename(folder / "9.parquet")
    (folder / "2.parquet").unlink()
    shard(8).clear().write_parquet(folder / "empty.parquet")
    assert run(store, folder, METRICS) == {
        "0.parquet": "changed",
        "9.parquet": "reused",  # renamed
        "empty.parquet": "new",
        "1.parquet": "gone",
        "2.parquet": "gone",
    }
    assert store.explain()["rows"].to_list() == [40, 40, 0, None, None]
    (folder / "0.parquet").write_bytes(before)
    (folder / "empty.parquet").unlink()
    again = ef.StateStore(store.folder)  # as in another process
    assert run(again, folder, METRICS) == {
        "0.parquet": "reused",
        "9.parquet": "reused",
        "empty.parquet": "gone",
    }


def test_other_metrics_keys_and_clusters_have_states_of_their_own(folder, store):
    new = dict.fromkeys(["0.parquet", "1.parquet", "2.parquet"], "new")
    assert run(store, folder) == new
    assert run(store, folder, [ef.aurc()]) == new
    assert run(store, folder, by=None) == new
    assert run(store, folder, by=pl.col("label").alias("group")) == new
    state = store.partial(folder, METRICS, by="group", cluster="person").collect()
    drawn = ef.Jackknife(cluster="person")
    expected = ef.partial(folder, METRICS, by="group", cluster="person")
    assert_frame_equal(ef.finish(state, resample=drawn), ef.finish(expected, resample=drawn))
    assert {*store.explain()["status"]} == {"new"}


def test_folders_that_name_a_key_count_as_content(tmp_path, store):
    for day in ("1", "2"):
        (tmp_path / "table" / f"day={day}").mkdir(parents=True)
        shard(0).write_parquet(tmp_path / "table" / f"day={day}" / "part.parquet")
    state = store.partial(tmp_path / "table", ef.mean("loss"), by="day").collect()
    assert store.explain()["status"].to_list() == ["new", "new"]
    assert ef.finish(state)["day"].to_list() == ["1", "2"]


def test_a_delta_table_is_known_by_its_files(tmp_path, store):
    table = str(tmp_path / "table")
    shard(0).write_delta(table, delta_write_options={"partition_by": ["group"]})
    store.partial(table, METRICS, by="group")
    state = store.partial(table, METRICS, by="group")
    assert store.explain()["status"].to_list() == ["reused"]
    assert_frame_equal(finished(state), ef.evaluate(shard(0), METRICS, by="group"), abs_tol=1e-12)
    shard(1).write_delta(table, mode="append")
    store.partial(table, METRICS, by="group")
    assert store.explain().select("status", "rows").rows() == [("changed", 80)]


def test_rows_of_plans_are_kept_with_what_was_done_to_them(folder, store):
    def read(losses):
        keep = pl.col("loss").is_in(losses).map_batches(lambda rows: rows, is_elementwise=True)
        found = shards_of(folder)
        parts = [
            replace(
                piece,
                rows=piece.rows.filter(keep),
                recipe=further(piece.recipe, partial(sorted, losses)),
            )
            for piece in stores.pieces_of(found)
        ]
        told = store.rows(replace(found, parts=parts), "rows with losses")
        return told, [*store.explain()["status"]]

    rows, status = read([1])
    assert status == ["new"] * 3
    assert_frame_equal(pl.concat(rows), pl.read_parquet(folder).filter(pl.col("loss") == 1))
    again, status = read([1])
    assert status == ["reused"] * 3
    assert all(map(pl.DataFrame.equals, rows, again))
    others, status = read([1, 0])
    assert status == ["changed"] * 3
    assert sum(map(len, others)) == 120


def test_large_files_are_kept_in_parts(tmp_path, store, monkeypatch):
    whole = pl.concat([shard(seed) for seed in range(4)])
    (tmp_path / "one").mkdir()
    whole.write_parquet(tmp_path / "one" / "big.parquet", row_group_size=40)
    os.utime(tmp_path / "one" / "big.parquet", (1e9, 1e9))  # else a young file is waited for
    monkeypatch.setattr(stores, "_PIECE", (tmp_path / "one" / "big.parquet").stat().st_size / 4)
    assert {*run(store, tmp_path / "one")} == {
        f"big.parquet, rows {first} to {first + 39}" for first in (0, 40, 80, 120)
    }
    assert {*run(store, tmp_path / "one").values()} == {"reused"}


def test_an_engine_uses_and_fills_the_same_store(folder, store):
    with ThreadPoolExecutor(2) as executor:
        assert {*run(store, folder, engine=executor).values()} == {"new"}
        assert {*run(store, folder).values()} == {"reused"}
        assert {*run(store, folder, engine=executor).values()} == {"reused"}


def test_results_of_the_verbs_are_those_without_a_store(folder, store):
    for resample in (None, ef.Jackknife(cluster="person"), ef.Bootstrap(cluster="person", n=20)):
        expected = ef.evaluate(folder, METRICS, by="group", resample=resample)
        for _ in range(2):
            found = ef.evaluate(folder, METRICS, by="group", resample=resample, state=store)
            assert_frame_equal(found, expected, abs_tol=1e-12)
        assert {*store.explain()["status"]} == {"reused"}
    state = ef.partial(folder, METRICS, by="group", cluster="person", state=store.folder)
    assert isinstance(state, pl.DataFrame)
    assert_frame_equal(
        ef.finish(state, resample=ef.Jackknife(cluster="person")),
        ef.evaluate(folder, METRICS, by="group", resample=ef.Jackknife(cluster="person")),
        abs_tol=1e-12,
    )
    with pytest.raises(ef.EvalframeError, match=r"keeps no rows apart; .* Bootstrap\(cluster="):
        ef.evaluate(folder, METRICS, resample=ef.Bootstrap(), state=store)
    with pytest.raises(ef.EvalframeError, match="declares no state"):
        ef.evaluate(folder, [pl.col("loss").mean()], state=store)


def test_comparisons_and_ranks_are_those_without_a_store(folder, store):
    drawn = ef.Bootstrap(cluster="person", n=20)
    one, two = folder / "0.parquet", folder / "1.parquet"
    calls = [
        (ef.rank, (folder, ef.aurc()), {"between": "group", "resample": drawn}),
        (ef.compare, (one, ef.aurc()), {"other": two, "pair_on": "person", "resample": drawn}),
    ]
    for verb, args, settings in calls:
        expected = verb(*args, **settings)
        for _ in range(2):
            assert_frame_equal(verb(*args, **settings, state=store), expected, abs_tol=1e-12)
        assert {*store.explain()["status"]} == {"reused"}
    # The same file on both sides is two shards.
    same = ef.compare(one, ef.aurc(), other=one, pair_on="person", resample=drawn, state=store)
    assert same["delta"].item() == 0


def test_workers_with_other_code_are_told(folder, store):
    maker = of_states(ef.aurc())
    other = shelves.Shelf.of(store.folder, of_states(ef.augrc()))
    with pytest.raises(ef.EvalframeError, match="other code of evalframe or of the metrics"):
        stores._of_batch(other, maker, stores._Batch([]))
    assert pickle.loads(pickle.dumps(maker)).definition == maker.definition


def files(store):
    return sorted(store.folder.glob("??/*.state"))


def test_every_flipped_bit_is_noticed(folder, store):
    store.partial(folder / "0.parquet", ef.mean("loss"))
    (file,) = files(store)
    whole = file.read_bytes()
    shelf = shelves.Shelf.of(store.folder, of_states(ef.mean("loss"), by=None))
    (journal,) = store.folder.glob("runs/*")
    content, _ = Journal.read(journal).shards[str(folder / "0.parquet")]
    assert shelf.file(content) == file
    rows, made = shelf.take(content)
    assert rows == 40
    assert made in whole

    def is_noticed(place):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        try:
            shelves.opened(file, bytes(flipped))
        except ef.EvalframeError as error:
            return "is damaged" in str(error)
        return False

    assert all(map(is_noticed, range(8 * len(whole))))


def cut(file, other):
    file.write_bytes(file.read_bytes()[:-40])


def emptied(file, other):
    file.write_bytes(b"")


def flipped(file, other):
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)


def of_another(file, other):
    file.write_bytes(other.read_bytes())


def foreign(file, other):
    shard(1).write_parquet(file)


@pytest.mark.parametrize("damage", [cut, emptied, flipped, of_another, foreign])
def test_a_damaged_state_is_made_anew_and_told(folder, store, damage):
    run(store, folder)
    file, other, _ = files(store)
    before = file.read_bytes()
    damage(file, other)
    assert sorted(run(store, folder).values()) == ["damaged", "reused", "reused"]
    assert sorted(run(store, folder).values()) == ["reused", "reused", "reused"]
    assert len(file.read_bytes()) == len(before)


def test_strange_files_in_the_folder_do_no_harm(folder, store):
    run(store, folder)
    (journal,) = store.folder.glob("runs/*.json")
    for written in (b"", b"[]", b'{"program": {}, "shards": {"x": 1}}', b"\xff"):
        journal.write_bytes(written)
        assert {*run(store, folder).values()} == {"reused"}
    (store.folder / "aa").mkdir(exist_ok=True)
    (store.folder / "aa" / "notes.txt").write_text("mine")
    assert {*run(store, folder).values()} == {"reused"}


def test_states_of_another_version_are_not_read_and_that_is_told(folder, store, monkeypatch):
    run(store, folder)
    newer = {"evalframe": "99", "polars": "99"}
    for module in (shelves, journal):
        monkeypatch.setattr(module, "program", lambda: newer)
    assert {*run(store, folder).values()} == {"outdated"}
    assert {*run(store, folder).values()} == {"reused"}
    assert len(files(store)) == 6


def test_times_are_trusted_only_if_asked_and_only_if_settled(folder, store, monkeypatch):
    trusting = ef.StateStore(store.folder, trust_times=True)
    path = folder / "0.parquet"

    def written(seed, ago):
        shard(seed).write_parquet(path, compression="uncompressed")
        os.utime(path, ns=(0, ago))

    written(0, 10**18)
    assert run(trusting, folder)["0.parquet"] == "new"
    written(5, 10**18)  # as long, and by its time not changed
    trusting.partial(f"{folder}/*", ONE, by="group")
    assert {*trusting.explain()["status"]} == {"reused"}
    assert run(store, folder)["0.parquet"] == "changed"
    with store.job():  # reads the same files several times
        assert run(store, folder)["0.parquet"] == "reused"
        written(6, 10**18)
        store.partial(f"{folder}/*", ONE, by="group")
        assert {*store.explain()["status"]} == {"reused"}
    assert run(store, folder)["0.parquet"] == "changed"
    monkeypatch.setattr(shelves, "SETTLED", 3600.0)  # however slow this machine is
    now = time.time_ns()
    written(8, now)
    assert run(trusting, folder)["0.parquet"] == "changed"
    written(7, now)  # so young that its time may be that of two changes
    assert run(trusting, folder)["0.parquet"] == "changed"


@dataclass(frozen=True)
class Meddling:
    """Makes states of files that somebody changes meanwhile."""

    definition: str = "meddling"

    def made(self, shard_read):
        shard(9).write_parquet(shard_read.files[0].path)
        return 1, b"made"

    def added(self, parts):
        return b"".join(parts)


def test_a_shard_that_changes_while_it_is_read_is_not_kept(folder, store):
    with pytest.raises(ef.EvalframeError, match=r"0\.parquet was changed while it was read"):
        store.added(shards_of(folder / "0.parquet"), Meddling())
    assert not files(store)


def test_sweep_removes_what_no_run_uses(folder, store):
    run(store, folder)
    ago = time.time() - 40 * 86_400
    for file in [*files(store), *store.folder.glob("runs/*")]:
        os.utime(file, (ago, ago))
    store.partial(folder / "0.parquet", ONE, by="group")
    (files(store)[0].parent / ".half.1234.tmp").touch()
    assert store.sweep(keep=timedelta(days=60)) == 0
    assert store.sweep() == 2
    assert run(store, folder) == {"0.parquet": "reused", "1.parquet": "new", "2.parquet": "new"}
    with pytest.raises(ef.EvalframeError, match="keep must be a day at least"):
        store.sweep(keep=timedelta(hours=23))


def test_what_a_store_cannot_do_is_refused(folder, store, tmp_path):
    with pytest.raises(ef.EvalframeError, match="nothing was run yet"):
        store.explain()
    with pytest.raises(ef.EvalframeError, match="frame 0 is no file; name files"):
        store.partial([shard(0)], ef.mean("loss"))
    frame = Shards(["delayed"], pl.Schema({"loss": pl.Float64()}), home="dask")
    with pytest.raises(ef.EvalframeError, match="a frame of Dask has none of; name files"):
        store.partial(frame, ef.mean("loss"))
    with pytest.raises(ef.EvalframeError, match="'s3://bucket/states'; name one of a file system"):
        ef.StateStore("s3://bucket/states")
    with pytest.raises(ef.EvalframeError, match="the state store has no name"):
        ef.StateStore("")
    with pytest.raises(ef.EvalframeError, match="needs column 'los'; the table has"):
        store.partial(folder, ef.mean("los"))
    column = pl.col("loss").map_batches(abs, return_dtype=pl.Float64, is_elementwise=True)
    with pytest.raises(ef.EvalframeError, match="'value' of metric 'mean' calls a Python function"):
        store.partial(folder, ef.mean(column))
    (tmp_path / "file").touch()
    with pytest.raises(ef.EvalframeError, match=r"file' cannot be made \(File exists\)"):
        ef.StateStore(tmp_path / "file").partial(folder, ef.mean("loss"))
    shelf = shelves.Shelf(tmp_path / "elsewhere", "kind")
    with pytest.raises(ef.EvalframeError, match="not there; it must be a folder that all workers"):
        shelf.put("content", 1, b"made")


def test_a_folder_that_cannot_be_written_is_told(folder, store, tmp_path):
    shelf = shelves.Shelf(tmp_path, "kind")
    shelf.file("content").parent.touch()
    with pytest.raises(ef.EvalframeError, match=r"cannot write into the state store .* \(File ex"):
        shelf.put("content", 1, b"made")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(ef.EvalframeError, match=r"the state store .* \(File too large\)"):
            store.partial(folder, ef.mean("loss"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not files(store)
    assert {*run(store, folder).values()} == {"new"}


JOB = """
import sys, evalframe as ef
store = ef.StateStore(sys.argv[2])
state = store.partial(sys.argv[1], [ef.aurc(), ef.mean("loss")], by="group").collect()
print(ef.finish(state)["estimate"].to_list(), *sorted({*store.explain()["status"]}))
"""


def started(folder, store):
    return subprocess.Popen(
        [sys.executable, "-c", JOB, str(folder), str(store.folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def many(folder):
    for seed in range(3, 16):
        shard(seed).write_parquet(folder / f"{seed}.parquet")
    return folder


def test_two_processes_use_one_store_at_a_time(many, store):
    jobs = [started(many, store) for _ in range(2)]
    told = [job.communicate() for job in jobs]
    metrics = [ef.aurc(), ef.mean("loss")]
    expected = str(ef.evaluate(many, metrics, by="group")["estimate"].to_list())
    assert {out.partition("] ")[0] + "]" for out, _ in told} == {expected}
    assert [err for _, err in told] == ["", ""]
    assert len(files(store)) == 16
    assert {*run(store, many, metrics).values()} == {"reused"}


KILLS = -(-int(os.environ.get("EVALFRAME_KILLS", "8")) // 8)


def test_a_job_that_is_killed_goes_on_from_finished_shards(many, store):
    draw, kept = random.Random(1), 0
    for _ in range(KILLS):
        job = started(many, store)
        while len(files(store)) < kept + 2 and job.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.random() / 100)
        job.kill()
        job.communicate()
        assert len(files(store)) >= min(kept + 2, 16)
        kept = len(files(store))
    statuses = [*run(store, many, [ef.aurc(), ef.mean("loss")]).values()]
    assert statuses.count("reused") == kept
    assert statuses.count("new") == 16 - kept
