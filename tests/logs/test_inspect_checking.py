"""Numbers that a log publishes, recomputed by hand."""

import math

import pytest

import evalframe as ef
from logs.made import HEADER, document, sample

VALUES = {"a": ["C", "C", "I"], "b": ["C", "I", math.nan], "c": ["I", "I", "I"]}
ACCURACY = {
    "mean": (2 / 3 + 1 / 2) / 3,
    "median": (1 + 1 / 2 + 0) / 3,
    "mode": 2 / 3,  # of b the first
    "max": 2 / 3,
    "majority": 1 / 2,  # b has none, since what is not scored counts
    "at_least_2": 1 / 3,
    "pass_at_2": 2 / 3,
    "pass_k_2": 1 / 9,
    "pass_at_3": 1 / 2,  # b has two scores
}


def checked(tmp_path, *entries, config=None, **results):
    samples = [
        sample(name, epoch + 1, scores={"s": {"value": value}}, metadata={"k": name == "c"})
        for name, values in VALUES.items()
        for epoch, value in enumerate(values)
    ]
    told = {**HEADER["eval"], "config": config or {}}
    results["scores"] = [{"name": "s", "scorer": "s", **entry} for entry in entries]
    (tmp_path / "a.json").write_bytes(document(samples, eval=told, results=results))
    columns = ("recomputed", "follows", "note")
    return ef.check_logs(tmp_path).select(columns).rows()


def metric(name, value, **more):
    return {"metrics": {name: {"name": name, "value": value, **more}}}


@pytest.mark.parametrize("reducer", ACCURACY)
def test_epochs_are_reduced(tmp_path, reducer):
    value = ACCURACY[reducer]
    entry = {"reducer": reducer, **metric("inspect_ai/accuracy", value)}
    ((found, follows, _),) = checked(tmp_path, entry)
    assert (found, follows) == (pytest.approx(value, rel=1e-14), True)


def test_no_reducers_are_not_the_mean(tmp_path):
    entry = metric("mean", 3 / 8)
    assert checked(tmp_path, entry, config={"epochs_reducer": []})[0][1] is True
    assert checked(tmp_path, {**entry, "scored_samples": 8, "unscored_samples": 1})[0][1] is True
    assert checked(tmp_path, entry)[0][1] is False
    shares = {"C": 3 / 8, "I": 5 / 8, "P": 0.0}
    metrics = {n: {"name": n, "value": v, "group": "frequency"} for n, v in shares.items()}
    rows = checked(tmp_path, {"scored_samples": 8, "unscored_samples": 1, "metrics": metrics})
    assert [row[1] for row in rows] == [True, True, True]


def test_clusters_are_of_metadata(tmp_path):
    residuals = [2 / 3 - ACCURACY["mean"], 1 / 2 - ACCURACY["mean"], 0 - ACCURACY["mean"]]
    sums = [residuals[0] + residuals[1], residuals[2]]
    error = math.sqrt((sums[0] ** 2 + sums[1] ** 2) * 2) / 3
    entry = metric("stderr", error, params={"cluster": "k"})
    assert checked(tmp_path, entry)[0][1] is True


def test_what_does_not_follow_says_why(tmp_path):
    ((found, follows, note),) = checked(tmp_path, metric("accuracy", 0.9), total_samples=12)
    assert (found, follows) == (pytest.approx(ACCURACY["mean"]), False)
    assert note == "the log has 9 of 12 samples"
    for entry, told in (
        (metric("mine", 1.0), "mine is not recomputed"),
        ({"reducer": "collect", **metric("accuracy", 1.0)}, "reducer collect is not recomputed"),
    ):
        assert checked(tmp_path, entry) == [(None, None, told)]
