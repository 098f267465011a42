"""`compare`, `rank`, `gate`, and states of shards on any table: by hand, and equal to Python."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.jobs import run
from evalframe.jobs.family import family, help_texts
from evalframe.jobs.flags import parse
from evalframe.jobs.items.sample import sample_answers
from evalframe.jobs.written import read_provenance

ITEMS = family("items")
VERBS = [*ITEMS.verbs]
SAMPLES = pl.struct("task", "sample_id")


@pytest.fixture
def answers(tmp_path, monkeypatch):
    table = sample_answers()
    table.write_parquet(tmp_path / "answers.parquet")
    monkeypatch.chdir(tmp_path)
    return table


@pytest.mark.parametrize("verb", VERBS)
def test_the_job_file_in_the_help_is_the_command_beside_it(verb, call, monkeypatch):
    jobs = []
    monkeypatch.setattr(run, "run_job", lambda job, *_, **__: jobs.append(job))
    text = help_texts("items")[f"{verb}: examples"]
    *_, last = text.partition("\n\n")[0].replace("\\\n", " ").split("evalframe ")
    call(*shlex.split(last))
    _, _, told = text.partition(" a job file, for `evalframe run`")
    assert jobs == [parse(tomllib.loads(told.partition(":\n")[2]))]
    assert jobs[0].verb == verb


def test_compare_is_that_of_python(answers, call):
    words = ["--between", "model", "--metric", "score", "--by", "task", "--bootstrap", "100"]
    call("compare", "answers.parquet", *words, "-o", "out.parquet", "-q")
    resample = ef.Bootstrap(cluster="sample_id", n=100)
    metric = ef.mean("score").alias("mean_of_score")
    expected = ef.compare(answers, metric, between="model", by="task", resample=resample)
    found = pl.read_parquet("out.parquet")
    assert_frame_equal(found, expected)
    assert "detectable" in found.columns
    told = call("compare", "answers.parquet", *words[:-2], "--seed", "1").stdout
    assert "3 values of epoch are pooled" in told
    assert "of model are pooled" not in told
    assert read_provenance("out.parquet")["job"]["bootstrap"]["n"] == 100


def test_a_detectable_difference_is_found_with_the_power_that_is_said():
    rng = np.random.default_rng(1)
    worlds, size = 400, 12
    score = rng.normal(size=(worlds, 2, size))
    index = np.indices(score.shape).reshape(3, -1)
    table = pl.DataFrame(
        {"world": index[0], "side": index[1], "item": index[2], "score": score.ravel()}
    )
    resample = ef.Bootstrap(cluster="item", n=400, interval="expanded")
    null = ef.compare(table, ef.mean("score"), between="side", by="world", resample=resample)
    assert null["detectable"].mean() == pytest.approx((2.201 + 0.876) * np.sqrt(2 / size), rel=0.05)
    shift = pl.col("side") * null["detectable"].mean()
    shifted = table.with_columns(score=pl.col("score") + shift)
    found = ef.compare(shifted, ef.mean("score"), between="side", by="world", resample=resample)
    assert (found["lower"] > 0).mean() == pytest.approx(0.8, abs=0.06)


def test_disagreements_are_the_items_that_differ(answers, call):
    words = ["--between", "model", "--per", "sample_id", "--macro", "task", "--baseline"]
    words += ["quill-70b", "--disagreements", "2", "--bootstrap", "50", "-o", "out"]
    told = call("compare", "answers.parquet", *words).stdout
    assert "Items on which two systems differ most" in told
    found = pl.read_parquet("out/disagreements.parquet")
    means = answers.group_by("model", "task", "sample_id").agg(pl.col("score").mean())
    wide = means.pivot("model", index=["task", "sample_id"], values="score")
    for other in ("harbor-7b", "lantern-13b"):
        expected = wide.filter((pl.col(other) - pl.col("quill-70b")).abs() > 0)
        rows = found.filter(right=other)
        assert {*rows.select("task", "sample_id").rows()} == {
            *expected.select("task", "sample_id").rows()
        }
        assert rows["delta"].abs().is_sorted(descending=True)
    lines = told[told.index("Items on which") :].splitlines()
    assert sum("quill-70b" in line for line in lines) == 4


def test_other_systems_have_other_items(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame({"group": [*"aaabbbb"], "person": range(7), "y": [1, 0, 1, 0, 0, 1, 0]})
    people.write_csv("people.csv")
    words = ["--between", "group", "--metric", "y", "--cluster", "person"]
    told = call("compare", "people.csv", *words, exit_code=1).stderr
    assert "are compared by --unpaired" in told
    call("compare", "people.csv", *words, "--unpaired", "-o", "out.csv")
    row = pl.read_csv("out.csv").row(0, named=True)
    assert (row["n_clusters_left"], row["n_clusters_right"]) == (3, 4)
    assert row["delta"] == pytest.approx(1 / 4 - 2 / 3)
    told = call("compare", "people.csv", *words, "--unpaired", "--disagreements", "3", exit_code=1)
    assert "no items in common to disagree on" in told.stderr


def world(size, gain, noise=1.0):
    """A table of two systems, whose paired differences are `gain` and +- `noise`."""
    item = pl.int_range(size)
    sign = pl.when(item % 2 == 0).then(1).otherwise(-1)
    old = pl.select(sample_id=item, model=pl.lit("old"), score=item % 7 * 1.0)
    new = old.with_columns(model=pl.lit("new"), score=pl.col("score") + gain + noise * sign)
    return pl.concat([old, new])


GATE = """
family = "items"
verb = "compare"
items = ["log.parquet"]
between = "model"
baseline = "old"
best = "highest"
fail_if = "regression > 0.2"
summary = "gate.md"
output = "out.parquet"
"""


@pytest.mark.parametrize(
    ("gain", "size", "code", "decision"),
    [
        (0.0, 200, 0, "no regression"),
        (-0.5, 200, 1, "regression"),
        (-0.1, 200, 3, "undecided"),
        (0.0, 20, 3, "undecided"),
        (-0.2, 200, 3, "undecided"),
    ],
)
def test_gates_decide_three_ways(gain, size, code, decision, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world(size, gain).write_parquet("log.parquet")
    Path("gate.toml").write_text(GATE)
    told = call("gate", "gate.toml", exit_code=code).stdout
    result = pl.read_parquet("out.parquet").row(0, named=True)
    assert result["decision"] == decision
    assert f"Gate, regression > 0.2: {decision} in 1" in told
    assert Path("gate.md").read_text().startswith(f"**Gate, regression > 0.2: {decision} in 1")
    assert call("run", "gate.toml", exit_code=code).stdout == told
    words = ["--between", "model", "--baseline", "old", "--best", "highest", "--fail-if"]
    line = ["compare", "log.parquet", *words, "regression>0.2", "-o", "flags.parquet"]
    call(*line, exit_code=code)
    assert_frame_equal(pl.read_parquet("flags.parquet"), pl.read_parquet("out.parquet"))
    if code == 3 and gain > -0.2:
        needed = result["n_to_decide"]
        # +-1 has a standard error of 1 / sqrt(n): about (1.96 / distance)^2 items.
        assert needed == pytest.approx((1.96 / (0.2 + gain)) ** 2, rel=0.35)
        assert f"about {needed:,} items would decide, if the estimates stay" in told
        world(2 * needed, gain).write_parquet("log.parquet")
        call("gate", "gate.toml", "-q", exit_code=0)
    elif code == 3:
        assert "no number of items is known to decide" in told


def test_a_gate_of_losses_fails_where_they_rise(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world(200, 0.5).write_parquet("log.parquet")
    words = ["--between", "model", "--baseline", "old", "--best", "lowest", "--fail-if"]
    call("compare", "log.parquet", *words, "regression > 0.1", exit_code=1)
    told = call("compare", "log.parquet", *words[:4], "--fail-if", "regression > 1", exit_code=2)
    assert "say which end is the best, --best highest or --best lowest" in told.stderr


def equal_answers(old, new, missing=0):
    """Answers of the old and the new system to their first items, all right, some not scored."""
    rows = [("old", f"q{k}", 1.0) for k in range(old)]
    rows += [("new", f"q{k}", None if k < missing else 1.0) for k in range(new)]
    return pl.DataFrame(rows, schema=["model", "sample_id", "score"], orient="row")


@pytest.mark.parametrize(("size", "code"), [(183, 0), (182, 3), (2, 3)])
def test_a_gate_does_not_trust_few_items_that_agree(size, code, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    equal_answers(size, size).write_parquet("log.parquet")
    words = ["--between", "model", "--baseline", "old", "--best", "highest", "--fail-if"]
    told = call("compare", "log.parquet", *words, "regression > 0.02", exit_code=code).stdout
    assert 0.98**183 < 0.025 < 0.98**182  # that all agree, if one in fifty does not
    assert ("about 183 items would decide" in told) == (code == 3)


def test_what_a_comparison_leaves_out_is_said(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    equal_answers(9, 4, missing=3).write_parquet("log.parquet")
    told = call("compare", "log.parquet", "--between", "model", "--summary", "told.md").stdout
    for note in (
        "new: 3 of 4 rows have no value and are left out.",
        "Items that only one of two systems has are left out: of new and old 5, and 4 remain.",
    ):
        assert note in told
        assert note in Path("told.md").read_text()
    told = call("rank", "log.parquet", "--between", "model", "--best", "highest").stdout
    assert "new: 3 of 4 rows have no value and are left out." in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--fail-if", "regression < 1", "--baseline", "old"], "write 'regression > MARGIN'"),
        (["--fail-if", "regression > 1"], "fail_if needs a system to compare with; name it"),
        (["--baseline", "older"], "baseline 'older' is none of the systems"),
        (["--by", "model"], "model is both in by and in between"),
        (["--summary", "gate.txt"], "the summary is Markdown; name it .md"),
        (["--summary", "a.md", "-o", "a.md"], "the output and the summary would both be"),
        (["--disagreements", "-1"], "disagreements is -1; choose 0 or more"),
    ],
)
def test_what_compare_does_not_understand(words, told, commands):
    compare = commands("compare", log=world(10, 0.0))
    code = 2 if "--fail-if" in words else 1  # 1 is a regression
    assert told in compare("log.parquet", "--between", "model", *words, exit_code=code)


def test_a_gate_needs_a_rule(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("job.toml").write_text(GATE.replace("fail_if", "# fail_if"))
    told = call("gate", "job.toml", exit_code=2).stderr
    assert "does not say what fails; add fail_if = 'regression > MARGIN'" in " ".join(told.split())
    Path("job.toml").write_text(GATE.replace('"compare"', '"compose"'))
    told = call("gate", "job.toml", exit_code=2).stderr
    assert "unknown verb 'compose'. Did you mean 'compare'? Known: compare, evaluate" in told
    Path("job.toml").write_text(GATE)  # whose log is not there: 1 would be a regression
    assert "no file or folder" in call("run", "job.toml", exit_code=2).stderr
    Path("job.toml").write_text(GATE.replace("best =", "bestt ="))  # nor is it a job then
    assert "Did you mean 'best'?" in call("run", "job.toml", exit_code=2).stderr


def test_a_comparison_of_rows_that_are_all_bad_says_so(commands):
    compare = commands("compare", log=world(10, float("nan")).with_columns(score=float("nan")))
    words = ["--between", "model", "--baseline", "old", "--on-invalid", "quarantine"]
    told = compare("log.parquet", *words, "-o", "out.parquet", exit_code=1)
    assert "none of 20 rows keeps the rules, so nothing is computed" in told


def test_rank_is_that_of_python(answers, call):
    words = ["--between", "model", "--per", "sample_id", "--by", "task", "--bootstrap", "100"]
    told = call("rank", "answers.parquet", *words, exit_code=1).stderr
    assert "say which end is the best, --best highest or --best lowest" in told
    call("rank", "answers.parquet", *words, "--best", "highest", "-o", "out.parquet", "-q")
    metric = ef.per("sample_id", ef.mean("score").alias("mean_of_score"))
    resample = ef.Bootstrap(cluster="sample_id", n=100)
    expected = ef.rank(
        answers, metric, between="model", by="task", best="highest", resample=resample
    )
    assert_frame_equal(pl.read_parquet("out.parquet"), expected)
    told = call("rank", "answers.parquet", *words, "--metric", "score,share:score", exit_code=1)
    assert "rank orders by one metric, got 2; name one" in told.stderr


def test_shards_add_up_to_the_whole(answers, call):
    answers.filter(pl.col("epoch") < 3).write_parquet("one.parquet")
    answers.filter(pl.col("epoch") == 3).write_parquet("two.parquet")
    words = ["--metric", "score,quantile:score", "--by", "model"]
    for name in ("one", "two"):
        line = [f"{name}.parquet", *words, "--cluster", "sample_id", "-o", f"{name}.state.parquet"]
        assert "a state of" in call("partial", *line, "--per", "sample_id").stdout
    call("merge", "*.state.parquet", "-o", "whole.parquet", "-q")
    call("finish", "whole.parquet", "--bootstrap", "50", "-o", "merged.parquet", "-q")
    call("finish", "*.state.parquet", "--bootstrap", "50", "-o", "finished.parquet", "-q")
    line = ["answers.parquet", *words, "--per", "sample_id", "--bootstrap", "50"]
    call("evaluate", *line, "-o", "all.parquet", "-q")
    expected = pl.read_parquet("all.parquet")
    assert_frame_equal(pl.read_parquet("merged.parquet"), expected)
    assert_frame_equal(pl.read_parquet("finished.parquet"), expected)
    call("retract", "whole.parquet", "two.state.parquet", "-o", "left.parquet", "-q")
    call("finish", "left.parquet", "-o", "left.finished.parquet", "-q")
    call("finish", "one.state.parquet", "-o", "one.finished.parquet", "-q")
    one = pl.read_parquet("one.finished.parquet")
    assert_frame_equal(pl.read_parquet("left.finished.parquet"), one)
    record = read_provenance("merged.parquet")
    assert record["job"]["verb"] == "finish"
    assert "columns" not in record["job"]
    assert [each["metric"] for each in record["metrics"]] == ["mean", "quantile"]
    assert record["inputs"][0]["name"] == "whole.parquet"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["partial", "answers.parquet", "-o", "s.csv"], "a state is written as Parquet"),
        (["merge", "answers.parquet"], "a state is written as Parquet; name it (-o STATE"),
        (["retract", "answers.parquet", "-o", "s.parquet"], "retract takes two states, the whole"),
        (["finish", "answers.parquet"], "has no column ':block', so it is no state"),
        (["merge", "answers.parquet", "-o", "answers.parquet"], "is one of the inputs"),
        (["finish", "*.parquet", "answers.parquet"], "answers.parquet is named twice"),
    ],
)
def test_what_is_no_state(line, told, answers, call):
    assert told in call(*line, exit_code=1).stderr


def test_states_of_metrics_of_ones_own(tmp_path, monkeypatch):
    """In a process of its own, since a metric is known once it is imported."""
    monkeypatch.chdir(tmp_path)
    sample_answers().write_parquet("answers.parquet")
    Path("my_metric.py").write_text(
        "import evalframe as ef\n@ef.metric(direction='none', range=(0, 1))\n"
        "def half(value='value', *, weight=None):\n"
        "    sums = {'mass': 2 * weight, 'value': weight * value}\n"
        "    return ef.State(sums=sums, finish=lambda t: ef.ratio(t.value, t.mass))\n"
    )

    def program(*lines):
        run = "try: cli({})\nexcept SystemExit as done: print(done)"
        runs = (run.format(line.split()) for line in lines)
        code = "\n".join(["from evalframe.jobs.cli import cli", *runs])
        line = [sys.executable, "-c", code]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    made = program("partial answers.parquet --metric my_metric:half:score -o s.parquet")
    assert made.stdout.endswith("\n0\n")
    done = program("finish s.parquet", "finish s.parquet --metric my_metric:half")
    assert "unknown metric 'half'" in done.stderr
    assert "half_score" in done.stdout


def test_shards_have_the_same_keys(answers, call):
    pl.concat([answers, answers.with_columns(scorer=pl.lit("judge"))]).write_parquet("two.parquet")
    told = call("partial", "two.parquet", "-o", "state.parquet", exit_code=1).stderr
    assert "the table has several of scorer, and shards must have the same keys" in told
    assert "--by scorer" in told
    call("partial", "two.parquet", "--by", "scorer", "-o", "state.parquet")
    told = call("finish", "state.parquet", "--bootstrap", "9", exit_code=1).stderr
    assert "a state keeps no rows apart" in told
    Path("job.toml").write_text(
        'family = "items"\nverb = "merge"\nitems = ["state.parquet"]\nkey = ["a"]\n'
    )
    assert "unknown entry of job 'key'" in call("run", "job.toml", exit_code=1).stderr
