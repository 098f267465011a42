"""`evalframe evaluate` on tables of any kind, by hand: keys, units, scorers, errors."""

import json
from pathlib import Path

import polars as pl
import pytest

import evalframe as ef
from evalframe.jobs.written import read_provenance

# Two tasks with samples of equal ids, two epochs each; model b has no second epoch of t2.
LOG = pl.DataFrame(
    {
        "task": [*["t1"] * 8, *["t2"] * 6],
        "model": [*"aaaabbbb", *"aaaabb"],
        "sample_id": [1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 2],
        "epoch": [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1],
        "score": [1.0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, None, 0, 1],
    }
)


@pytest.fixture
def log(commands):
    return commands("evaluate", in_one_line=True, log=LOG)


def estimates(log, *words):
    log("log.parquet", *words, "-o", "out.parquet")
    return pl.read_parquet("out.parquet")["estimate"].round(6).to_list()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--by", "model,task"], [0.75, 0.666667, 0.25, 0.5]),
        (["--by", "model", "--per", "sample_id"], [0.625, 0.375]),
        (["--by", "model", "--macro", "task"], [0.708333, 0.375]),
        (["--by", "model", "--macro", "task", "--per", "sample_id"], [0.625, 0.375]),
        (["--by", "model", "--per", "sample_id", "--reduce", "max"], [0.75, 0.5]),
        (["--by", "model", "--per", "sample_id", "--reduce", "at_least_2"], [0.5, 0.0]),
        (["--by", "model", "--per", "sample_id", "--reduce", "mode"], [0.625, 0.375]),
        (["--by", "model", "--per", "sample_id", "--reduce", "pass_at_2"], [1.0, 0.5]),
        (["--by", "task", "--metric", "pass_at:score,k=2", "--per", "model"], [0.75, 1.0]),
    ],
)
def test_units_by_hand(log, words, expected):
    assert estimates(log, *words) == expected


def test_the_same_by_flags_by_a_job_file_and_in_python(log, call, tmp_path):
    words = ["--by", "model", "--per", "sample_id", "--macro", "task", "--bootstrap", "50"]
    log("log.parquet", *words, "-o", "flags.parquet")
    job = (
        'family = "items"\nverb = "evaluate"\nitems = ["log.parquet"]\noutput = "file.parquet"\n'
        'by = ["model"]\nper = ["sample_id"]\nmacro = ["task"]\nbootstrap = 50\n'
    )
    (tmp_path / "job.toml").write_text(job)
    call("run", "job.toml", "-q")
    written = pl.read_parquet("flags.parquet")
    assert pl.read_parquet("file.parquet").equals(written)
    metric = ef.per("task", ef.per("sample_id", ef.mean("score")))
    cluster = pl.struct("task", "sample_id")
    resample = ef.Bootstrap(cluster=cluster, n=50)
    result = ef.evaluate(LOG, metric, by="model", resample=resample)
    columns = ["model", "estimate", "lower", "upper", "n_clusters"]
    assert written.select(columns).equals(result.select(columns))
    found = read_provenance("flags.parquet")
    assert found["job"]["verb"] == "evaluate"
    assert found["records"] == {"rows": 14, "rejected": 0}
    assert [each["name"] for each in found["metrics"]] == ["mean_of_score_per_sample_id_per_task"]


def test_what_is_pooled_is_said(log):
    told = log("log.parquet")
    assert "2 values of model are pooled; --by model keeps them apart." in told
    assert (
        "2 values of task are pooled; --by task keeps them apart, --macro task weighs them" in told
    )
    assert "2 values of epoch are pooled; --per sample_id takes those of a sample together." in told
    assert "pooled" not in log("log.parquet", "--by", "model,task", "--per", "sample_id")


def test_copies_are_said_and_can_be_set_apart(commands):
    names = pl.format("{}-{}-{}-{}", "task", "model", "sample_id", "epoch")
    first = LOG.with_columns(uuid=names, scorer=pl.lit("match"), score_name=pl.lit("match"))
    again = first.head(3).with_columns(log=pl.lit("retry"))
    run = commands("evaluate", in_one_line=True, log=pl.concat([first, again], how="diagonal"))
    told = run("log.parquet", "--by", "model,task")
    assert "3 rows are copies of others, as retries of logs have them, and count again" in told
    words = ["--key", "uuid,scorer,score_name", "--on-invalid", "quarantine", "-o", "out.parquet"]
    run("log.parquet", "--by", "model,task", *words)
    expected = LOG.group_by("model", "task").agg(pl.len())
    found = pl.read_parquet("out.parquet").select(
        "model", "task", len=pl.col("n") + pl.col("n_missing")
    )
    assert sorted(found.rows()) == sorted(expected.rows())


def test_scorers_are_never_pooled(commands):
    scorers = pl.concat(
        LOG.with_columns(
            scorer=pl.lit(scorer), score_name=pl.lit(name), score=pl.col("score") * scale
        )
        for scorer, name, scale in [("judge", "x", 1), ("judge", "y", 2), ("match", None, 4)]
    )
    run = commands("evaluate", in_one_line=True, log=scorers)
    told = run("log.parquet", "-o", "out.parquet")
    assert "2 values of scorer are kept apart; --scorer NAME chooses one." in told
    assert "3 values of score_name are kept apart; --score-name NAME chooses one." in told
    result = pl.read_parquet("out.parquet")
    mean = LOG["score"].mean()
    assert result.select("scorer", "score_name", pl.col("estimate") / mean).rows() == [
        ("judge", "x", 1.0),
        ("judge", "y", 2.0),
        ("match", None, 4.0),
    ]
    chosen = run("log.parquet", "--scorer", "judge", "--score-name", "y", "-o", "one.parquet")
    assert "kept apart" not in chosen
    assert pl.read_parquet("one.parquet")["estimate"].item() == pytest.approx(2 * mean)
    told = run("log.parquet", "--scorer", "juge", exit_code=1)
    assert "unknown scorer 'juge'. Did you mean 'judge'? Known: judge, match" in told


def test_logs_of_other_programs_are_recognised(commands):
    run = commands("evaluate", in_one_line=True)
    folder = Path("logs")
    folder.mkdir()
    lines = [
        {"doc_id": doc, "metrics": ["acc", "f1"], "acc": doc % 2, "f1": 0.5, "filter": "none"}
        for doc in range(4)
    ]
    text = "\n".join(map(json.dumps, lines))
    (folder / "samples_sums_2026-01-21T03-44-18.458309.jsonl").write_text(text)
    told = run("logs", "--by", "task", "-o", "out.parquet")
    assert "2 values of scorer are kept apart" in told
    assert "score_name" not in told
    columns = ["task", "scorer", "estimate", "n"]
    rows = [("sums", "acc", 0.5, 4), ("sums", "f1", 0.5, 4)]
    assert pl.read_parquet("out.parquet").select(columns).rows() == rows
    record = read_provenance("out.parquet")
    assert record["job"]["reader"] == "logs"
    assert record["inputs"][0]["rows"] == 8
    assert run("--from", "lm_eval", "logs", "--by", "task") == told
    assert "no logs of helm in" in run("--from", "helm", "logs", exit_code=1)
    LOG.write_parquet("logs/table.parquet")
    told = run("logs", "--metadata", "topic", exit_code=1)
    assert "metadata names what logs hold beside their columns; tables do not" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--metric", "scor"], "unknown metric 'scor'"),
        (["--metric", "scor"], "The table has no such column either: ['task', 'model'"),
        (["--metric", "meen:score"], "As a metric: Did you mean 'mean'?"),
        (["--metric", "mean:scor"], "needs column 'scor'; the table has"),
        (["--metric", "mean:score:epoch"], "mean takes 1 columns (value), got 2: score, epoch"),
        (["--metric", "mean:score,value=epoch"], "mean got value twice, by place and by name"),
        (["--metric", "pass_at:score,k=2.5"], "must be a whole number from 1, got 2.5"),
        (["--metric", "mean:task"], "column 'task' is String, not a number or a boolean"),
        (["--metric", "quantile:score,q=0,share=ep"], "unknown argument of quantile 'share'"),
        (["--metric", "score,mean:score"], "metric 'mean_of_score' is asked for twice"),
        (["--reduce", "max"], "reduce is of units; name them, such as --per sample_id"),
        (["--per", "sample_id", "--reduce", "best"], "reduce is 'best'; choose mean, max"),
        (
            ["--per", "sample_id", "--reduce", "max", "--metric", "deviation:score"],
            "reduce max is of a column; name its mean, such as mean:score, not 'deviation_score'",
        ),
        (["--per", "task", "--macro", "task"], "task is both in per and in macro"),
        (["--scorer", "judge"], "needs column 'scorer'"),
        (["--metrics", ""], "metrics is empty; a job needs at least one"),
    ],
)
def test_what_is_not_understood(log, words, told):
    assert told in log("log.parquet", *words, exit_code=1)


def test_bad_rows_are_refused_or_set_apart(commands):
    bad = LOG.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(float("nan")).otherwise("score").alias("score")
    )
    run = commands("evaluate", in_one_line=True, log=pl.concat([bad, bad.tail(1)]))
    told = run("log.parquet", exit_code=1)
    assert "score is finite: not so in 1 of 15 rows" in told
    assert "task, model, sample_id, epoch are unique: not so in 1 of 15 rows" in told
    told = run("log.parquet", "--on-invalid", "quarantine", "-o", "out.csv")
    assert "13 of 15 rows accepted, 2 written to" in told
    assert pl.read_parquet("out.rejected.parquet").height == 2


def test_draws_need_a_name(commands):
    run = commands("evaluate", in_one_line=True, table=LOG.select("model", "score"))
    told = run("table.parquet", "--by", "model", "--bootstrap", "20", exit_code=1)
    assert "name what is drawn together (--cluster COLUMN)" in told
    assert "not so in" not in run("table.parquet", "--by", "model")
