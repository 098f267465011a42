"""Every log at hand, against what Inspect itself reads of it."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

import evalframe as ef
from evalframe.core.errors import RunWarning

SHARED = Path(__file__).parents[3] / "shared"
GOLDEN = SHARED / "golden" / "logs" / "logs.json"
LOGS = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {"inspect": {}}
SOUND = [name for name, facts in LOGS["inspect"].items() if "n_rows" in facts]
KEY = ("scorer", "score_name", "reducer", "metric")
EXTRA = ("confidence", "logprob", "invalidated")


@pytest.mark.parametrize("name", SOUND)
def test_a_log_is_read_as_by_inspect(name, shared):
    facts = LOGS["inspect"][name]
    path = shared / "data" / "logs" / name
    has_garbage = "judged" in name
    with pytest.warns(RunWarning, match="^56 scores") if has_garbage else nullcontext():
        items = ef.read_inspect(path, extra=EXTRA).collect()
    assert len(items) == facts["n_rows"]
    header = {key: facts[key] for key in ("run_id", "task", "task_version", "model", "dataset")}
    constants = items.select(*header, log_id="log_id").unique()
    if len(items):
        expected = {**header, "log_id": facts["eval_id"]}
        if name.startswith("inspect/log_formats"):
            expected["log_id"] = path.stem  # Inspect makes one up where there is none
        assert constants.rows(named=True) == [expected]
    samples = items.unique(["sample_id", "epoch"])
    assert len(samples) == facts["n_samples_epochs"]
    assert samples["sample_id"].n_unique() == facts["n_samples"]
    assert samples["is_error"].sum() == facts["n_errors"]
    assert samples["limit"].count() == facts["n_limit"]
    assert samples["invalidated"].sum() == facts["n_invalidated"]
    assert (samples["retries"].fill_null(0) > 0).sum() == facts["n_retried"]
    assert samples["total_time"].sum() == pytest.approx(facts["sum_total_time"], abs=1e-3)
    for score in facts["scores"]:
        rows = items.filter(scorer=score["scorer"], score_name=score["score_name"])
        assert len(rows) == score["n"]
        assert rows["score"].count() == score["n_scored"]
        assert rows["score"].sum() == pytest.approx(score["sum"], rel=1e-12)
        assert (rows["answer"].drop_nulls()).len() == score["n_answer"]
        assert rows["confidence"].count() == score["n_confidence"]
        if score["n_confidence"]:
            assert rows["confidence"].mean() == pytest.approx(score["mean_confidence"], rel=1e-12)
            assert rows["logprob"].sum() == pytest.approx(score["sum_logprob"], rel=1e-12)


PUBLISHED = [name for name in SOUND if LOGS["inspect"][name]["published"]]
OTHERWISE = {"list_total"}
"""Metrics that somebody wrote for one log."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_numbers_follow_from_the_rows_where_they_do(name, shared):
    path = shared / "data" / "logs" / name
    checks = ef.check_logs(path)
    found = {tuple(row[:4]): row[4:] for row in checks.select(*KEY, "follows", "note").rows()}
    assert len(found) == len(checks)
    for entry in LOGS["inspect"][name]["published"]:
        told = entry.get("follows_from_rows") or {}
        for metric in entry["metrics"]:
            key = (entry["scorer"], entry["score_name"], entry["reducer"], metric)
            follows, note = found.pop(key)
            if told.get(metric) is False:
                assert follows is not True
                assert note is not None
            else:
                is_whole = not (note or "").startswith("the log has")
                assert follows is (None if metric in OTHERWISE else is_whole), key
    assert not found


def test_copies_of_a_retry_are_counted(shared):
    (facts,) = LOGS["retries"]
    paths = [shared / "data" / "logs" / "inspect_made" / name for name in facts["files"]]
    report = ef.log_report(paths)
    assert report["samples"].to_list() == facts["sample_epochs"]
    assert report["copies"].to_list() == [0, facts["copied_uuids"]]
    assert ef.read_inspect(paths).collect()["uuid"].n_unique() == facts["distinct_uuids"]
    newest = ef.read_inspect(paths, retries="last").select("log").unique().collect()
    assert newest.rows() == [(str(paths[1]),)]
