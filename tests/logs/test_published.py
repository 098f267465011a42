"""Aggregates that lm-evaluation-harness, HELM and Every Eval Ever publish, recomputed from rows."""

import json
import math
import random
import statistics

import numpy as np
import polars as pl
import pytest

from evalframe.logs import check_logs
from evalframe.logs.lm_eval.aggregates import AGGREGATIONS, standard_error

DATE = "2026-01-21T03-44-18.458309"
CHECKED = ("metric", "published", "recomputed", "follows")


def test_all_golden_aggregates_follow_from_the_rows(golden, shared):
    folder = shared / "data/logs"
    checks = check_logs(folder, kind="lm_eval")
    known = golden("logs/logs")["lm_eval"]
    errors = checks.filter(metric="stderr")
    scores = checks.filter(pl.col("metric") != "stderr")
    files = [each for each in known if "file" in each]
    assert len(scores) == sum(len(each["scores"]) for each in files) + 2  # and one of each group
    assert checks["follows"].all()
    notes = checks.filter(pl.col("note").is_not_null())
    assert {*notes["task"]} == {"math_perturbed_full"}
    assert {*notes["note"]} == {"the file has 10 of 5,000 lines"}
    for each in files:
        for score in each["scores"]:
            row = {"task": each["task"], "scorer": score["scorer"], "score_name": score["filter"]}
            mine = scores.filter(**row, log=str(folder / each["folder"] / each["file"]))
            assert mine["recomputed"].item() == pytest.approx(score["recomputed"], rel=1e-12)
    resampled = errors.filter(pl.col("scorer").is_in(["perplexity", "mcc"]))
    assert len(resampled) == 4
    assert (resampled["published"] - resampled["recomputed"]).abs().max() < 1e-12

    checks = check_logs(folder, kind="helm")
    assert checks["follows"].all()
    assert len(checks) > 200
    assert checks["score_name"].str.ends_with("robustness:worst").any()
    checks = check_logs(folder, kind="every_eval_ever")
    assert checks.filter(pl.col("follows").is_not_null())["follows"].to_list() == [True, True]


def resampled_by_hand(values, statistic, n):
    """Replicates as the program draws them, one after the other."""
    found = []
    for seed in range(n // 1_000):
        draws = random.Random(seed)
        found += [statistic(draws.choices(values, k=len(values))) for _ in range(1_000)]
    return statistics.stdev(found)


@pytest.mark.parametrize("name", ["median", "nanmean", "perplexity", "f1", "matthews_corrcoef"])
def test_bootstraps_are_those_of_the_program(name):
    draw = random.Random(7)
    if name in ("f1", "matthews_corrcoef"):
        values = [[draw.randrange(2), draw.randrange(2)] for _ in range(25)]
    else:
        values = [draw.gauss(0, 1) for _ in range(25)]
    how = AGGREGATIONS[name]
    texts = pl.Series([json.dumps(value) for value in values])
    by_hand = {
        "median": lambda x: sorted(x)[len(x) // 2],
        "nanmean": statistics.fmean,
        "perplexity": lambda x: math.exp(-statistics.fmean(x)),
        "f1": f1,
        "matthews_corrcoef": correlation,
    }[name]
    x = how.numbers(texts)
    assert how.value(x[None]).item() == pytest.approx(by_hand(values), rel=1e-12)
    expected = resampled_by_hand(values, by_hand, 2_000)
    assert standard_error(how, x, 2_000) == pytest.approx(expected, rel=1e-10)


def f1(pairs):
    hits = sum(gold == predicted == 1 for gold, predicted in pairs)
    all_of_it = sum(gold + predicted for gold, predicted in pairs)
    return 2 * hits / all_of_it if all_of_it else 0.0


def correlation(pairs):
    gold, predicted = np.array(pairs, float).T
    below = gold.std() * predicted.std()
    return ((gold * predicted).mean() - gold.mean() * predicted.mean()) / below if below else 0.0


def test_aggregations_by_hand():
    def value(name, *values):
        how = AGGREGATIONS[name]
        return how.value(how.numbers(pl.Series([json.dumps(each) for each in values]))[None]).item()

    assert value("median", 3, 1, 2, 4) == 3  # the upper middle
    assert value("nanmean", math.nan, 1, 2) == 1.5
    assert value("weighted_perplexity", [-2, 3], [-4, 3]) == pytest.approx(math.e)
    assert value("bits_per_byte", [-2, 3], [-4, 3]) == pytest.approx(1 / math.log(2))
    assert value("brier_score", [0, "[1. 0.]"], [1, "[0.5e0\n 0.5]"], [0, [0, 1]]) == 2.5 / 3
    assert value("matthews_corrcoef", ["a", "a"], ["b", "b"], ["c", "c"]) == 1.0
    assert value("matthews_corrcoef", ["a", "a"], ["a", "b"]) == 0.0
    assert value("f1", [0, 0]) == 0.0


def written(folder, tasks, results):
    for task, lines in tasks.items():
        path = folder / f"samples_{task}_{DATE}.jsonl"
        rows = ({"doc_id": n, **fields} for n, fields in enumerate(lines))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / f"results_{DATE}.json").write_text(json.dumps(results))


def test_what_does_not_follow_is_told_and_what_is_not_recomputed_says_why(tmp_path):
    ones = [{"metrics": ["acc", "bleu", "odd"], "acc": 1, "bleu": ["a", "b"], "odd": [1, 2]}] * 3
    scores = {"acc,none": 0.5, "acc_stderr,none": "N/A", "bleu,none": 3.0, "odd,none": 1.0}
    custom = {"metric": "odd", "aggregation": "own"}
    written(
        tmp_path,
        {"t": ones},
        {
            "results": {"t": {"alias": "t", **scores, "em,none": 1.0, "acc,strict": 1.0}},
            "configs": {"t": {"metric_list": [custom]}},
        },
    )
    checks = check_logs(tmp_path)
    assert checks.select("scorer", "recomputed", "follows", "note").rows() == [
        ("acc", 1.0, False, None),
        ("bleu", None, None, "the aggregation bleu is not known here"),
        ("odd", None, None, "the aggregation own is not known here"),
        ("em", None, None, "no line has this metric"),
        ("acc", None, None, "no line has this metric and filter"),
    ]


@pytest.mark.parametrize("is_weighted", [True, False])
def test_groups_are_means_of_their_tasks_weighted_or_plain(tmp_path, is_weighted):
    lines = {"a": [0, 1], "b": [1, 1, 0, 1], "c": [1, 0]}
    tasks = {task: [{"metrics": ["acc"], "acc": x} for x in xs] for task, xs in lines.items()}
    means = {task: statistics.fmean(xs) for task, xs in lines.items()}
    errors = {task: statistics.stdev(xs) / math.sqrt(len(xs)) for task, xs in lines.items()}
    sizes = {task: len(xs) for task, xs in lines.items()}
    if is_weighted:
        mean = sum(means[t] * sizes[t] for t in lines) / 8
        error = math.sqrt(sum((sizes[t] - 1) * sizes[t] * errors[t] ** 2 for t in lines) / 5 / 8)
    else:
        mean = statistics.fmean(means.values())
        error = math.sqrt(sum(each**2 for each in errors.values())) / 3
    results = {
        t: {"sample_len": sizes[t], "acc,none": means[t], "acc_stderr,none": errors[t]}
        for t in lines
    }
    group = {"acc,none": mean, "acc_stderr,none": error}
    named = {"all": ["a", "bc"], "bc": ["b", "c", "../x"], "loop": ["loop"]}
    written(tmp_path, tasks, {"results": {**results, "all": group}, "group_subtasks": named})
    checks = check_logs(tmp_path)
    assert len(checks) == 8
    assert checks["follows"].all()
    assert checks.filter(task="all").select("metric", "note").rows()[0] == (
        "mean of tasks",
        None if is_weighted else "a plain mean of tasks",
    )


def test_a_bootstrap_that_takes_too_long_is_not_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr("evalframe.logs.lm_eval.checking.MOST_DRAWS", 100)
    scores = {"perplexity,none": math.exp(1), "perplexity_stderr,none": 0.0}
    lines = [{"metrics": ["perplexity"], "perplexity": -1.0}] * 2
    results = {"results": {"t": scores}, "config": {"bootstrap_iters": 1_000}}
    written(tmp_path, {"t": lines}, results)
    assert check_logs(tmp_path).select(*CHECKED[2:], "note").rows() == [
        (pytest.approx(math.e), True, None),
        (None, None, "a bootstrap of 1,000 x 2 lines takes too long"),
    ]


def test_worst_cases_trials_and_perplexities_of_helm(tmp_path):
    typos = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed"}
    dialect = {"name": "dialect", "robustness": False, "fairness": True, "computed_on": "perturbed"}

    def record(sample, trial, perturbation=None, **values):
        context = {"split": "test", **({"perturbation": perturbation} if perturbation else {})}
        stats = [
            {"name": {"name": name, **context}, "count": 1, "sum": x, "min": x}
            for name, x in values.items()
        ]
        more = {"perturbation": perturbation} if perturbation else {}
        return {"instance_id": sample, "train_trial_index": trial, "stats": stats, **more}

    records = [
        record("a", 0, em=1.0, logprob=-2.0, num_perplexity_tokens=4, num_bytes=8),
        record("b", 0, em=0.5, logprob=-4.0, num_perplexity_tokens=2, num_bytes=4),
        record("a", 0, typos, em=0.25),
        record("b", 0, dialect, em=1.0),
        record("a", 1, em=0.0),
    ]

    def published(stat, mean, count, perturbation=None, **changes):
        named = {"name": stat, "split": "test"}
        if perturbation:
            named["perturbation"] = {**perturbation, **changes}
        return {"name": named, "count": count, "sum": mean * count}

    worst_robust = ((0.25 + 0.5) / 2 + 0.0) / 2  # two trials; the second has no perturbed instance
    stats = [
        published("em", (0.75 + 0) / 2, 2),
        published("em", 0.25, 1, typos),
        published("em", worst_robust, 2, typos, name="robustness", computed_on="worst"),
        published("em", 0.25, 1, typos, computed_on="worst"),
        published("em", 1.0, 1, typos, computed_on="original"),
        published("em", 0.5, 1, dialect, computed_on="worst"),
        published("perplexity", math.exp(6 / 6), 1),
        published("bits_per_byte", 6 / 12 / math.log(2), 1),
        published("macro_f1", 0.5, 1),
    ]
    documents = {"run_spec": {"name": "sums:n=1"}, "per_instance_stats": records, "stats": stats}
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    checks = check_logs(tmp_path)
    wrong = checks.filter(pl.col("follows").not_())
    assert wrong.is_empty(), wrong
    assert checks["follows"].null_count() == 1
    assert checks["note"].to_list()[-1] == "computed from all instances at once"
    assert checks["score_name"].to_list()[:5] == [
        "test",
        "test:typos",
        "test:robustness:worst",
        "test:typos:worst",
        "test:typos:original",
    ]
