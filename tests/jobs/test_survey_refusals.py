"""What `evalframe survey` refuses, or sets aside."""

from pathlib import Path

import polars as pl
import pytest

import evalframe as ef
from evalframe.survey.sample import sample_responses, sample_survey

SURVEY, RESPONSES = sample_survey(), sample_responses().filter(context_count=0)
ROW = pl.int_range(pl.len())


@pytest.fixture
def survey(commands):
    """Run `evalframe survey` in a folder with a survey and with what was said about it."""
    return commands("survey", in_one_line=True, survey=SURVEY, said=RESPONSES)


def first(rows, column, value):
    """The responses with another value in the first rows."""
    return RESPONSES.with_columns(pl.when(ROW.lt(rows)).then(value).otherwise(column).alias(column))


PREDICTIONS = {
    "an unknown segment": (
        first(1, "segment_id", pl.lit("gender:mal")),
        1,
        [
            "segment_id is one of the survey: not so in 1 of 450 rows",
            "row 0: model='harbor-7b', round='MB1', segment_id='gender:mal'",
            "correct 'gender:mal' in MB1 (1 row; did you mean 'gender:male'?), or have these rows",
            "set aside (--on-invalid quarantine)",
        ],
    ),
    "unknown questions": (
        first(3, "question_id", pl.lit("mb1-q77")),
        3,
        ["question_id is one of the survey", "'mb1-q77' in MB1 (3 rows; did you mean 'mb1-q7'?)"],
    ),
    "a question of another round": (
        first(1, "question_id", pl.lit("mb2-q9")),
        1,
        ["correct 'mb2-q9' in MB1 (1 row; it is in MB2)"],
    ),
    "more than are listed": (
        first(5, "question_id", pl.format("none-{}", ROW)),
        5,
        ["'none-0' in MB1 (1 row), 'none-1' in MB1 (1 row), 'none-2' in MB1 (1 row) and 2 more"],
    ),
    "an unknown round": (
        first(2, "round", pl.lit("MB3")),
        2,
        ["round is one of the survey: not so in 2 of 450 rows", "correct 'MB3' (2 rows; did you"],
    ),
    "duplicates": (
        pl.concat([RESPONSES, RESPONSES.head(2)]),
        2,
        [
            "model, round, segment_id, question_id, context_count are unique: not so in 2 of 452",
            "row 450:",
            "(as row 0)",
        ],
    ),
    "another number of options": (
        first(2, "n_options", pl.lit(9)),
        2,
        ["n_options is that of the question in the survey: not so in 2 of 450 rows"],
    ),
    "a missing name": (first(1, "model", pl.lit(None)), 1, ["model is present", "fill in 'model'"]),
}


@pytest.mark.parametrize(("rows", "broken", "messages"), PREDICTIONS.values(), ids=[*PREDICTIONS])
def test_predictions_that_do_not_fit(survey, rows, broken, messages):
    rows.write_parquet("bad.parquet")
    args = ["bad.parquet", "--truth", "survey.parquet", "-o", "out.csv"]
    told = survey(*args, exit_code=1)
    assert told.startswith("error: predictions: 1 rule broken (rows are numbered from 0).")
    for message in messages:
        assert message in told
    assert not Path("out.csv").exists()
    told = survey(*args, "-q", "--on-invalid", "quarantine")
    assert f"{broken} written to out.rejected.parquet" in told
    rejected = pl.read_parquet("out.rejected.parquet")
    assert rejected.columns == [*rows.columns, "row", "broken_rules"]
    assert len(rejected) == broken
    assert Path("out.csv").exists()


READ = ef.survey.parse(RESPONSES).filter(status="ok").head(40)
SHARES = pl.col("predicted")
NUMBERS = {
    "a sum": (SHARES * 0.5, "predicted sums to about 1 or about 100: not so in 1 of 40 rows"),
    "signs": (SHARES - SHARES.list.max(), "predicted is not negative: not so in 1 of 40 rows"),
    "NaN": (SHARES * float("nan"), "predicted has numbers only: not so in 1 of 40 rows"),
    "options": (
        SHARES.list.concat(pl.lit([0.0])),
        "predicted has a share for each option of the question: not so in 1 of 40 rows",
    ),
}


@pytest.mark.parametrize(("shares", "message"), NUMBERS.values(), ids=[*NUMBERS])
def test_predicted_shares_that_are_none(survey, shares, message):
    wrong = pl.when(ROW == 0).then(shares).otherwise(SHARES).alias("predicted")
    rows = READ.drop("response", "status").with_columns(wrong)
    rows.write_parquet("bad.parquet")
    args = ["bad.parquet", "--truth", "survey.parquet", "-o", "out.parquet", "-q"]
    told = survey(*args, exit_code=1)
    assert "1 rule broken" in told
    assert message in told
    assert "or set 'status' to '" in told
    status = pl.when(ROW == 0).then(pl.lit("unparsed")).alias("status")
    rows.with_columns(status).write_parquet("bad.parquet")
    survey(*args, "--baselines", "")
    assert pl.read_parquet("out.parquet")["parse_rate"].item() == pytest.approx(39 / 40)
    rows.write_parquet("bad.parquet")
    survey(*args, "--rules", "reference", "--baselines", "")
    rows.with_columns(status=pl.lit("fine")).write_parquet("bad.parquet")
    assert "status is one of ok, unparsed" in survey(*args, exit_code=1)
    rows.with_columns(predicted=1.0).write_parquet("bad.parquet")
    assert "predicted must be lists of shares" in survey(*args, exit_code=1)
    rows.with_columns(predicted=pl.lit(None)).write_parquet("bad.parquet")
    survey(*args, "--baselines", "")
    assert pl.read_parquet("out.parquet")["score"].item() == 0.0


def test_whole_percentages(survey):
    shares = ef.survey.as_distributions(SURVEY).select(
        "round", "segment_id", "question_id", predicted="actual", model=pl.lit("a")
    )
    percent = pl.col("predicted").list.eval((pl.element() * 100).round().cast(pl.Int32))
    shares.with_columns(percent).write_parquet("whole.parquet")
    survey("whole.parquet", "--truth", "survey.parquet", "-o", "out.parquet", "-q")
    assert pl.read_parquet("out.parquet")["score"][0] > 0.98


def share(row, value):
    return SURVEY.with_columns(share=pl.when(ROW.eq(row)).then(value).otherwise("share"))


SURVEYS = {
    "a sum": (share(0, 0.9), "share of a question and segment sum to 1: not so in 5 of 620 rows"),
    "a sign": (share(0, -0.1), "share is not negative: not so in 1 of 620 rows"),
    "NaN": (share(7, float("nan")), "share is finite: not so in 1 of 620 rows row 7:"),
    "options": (SURVEY.filter(ROW > 0), "option_index counts from 0: not so in 4 of 619 rows"),
    "duplicates": (pl.concat([SURVEY, SURVEY.head(1)]), "row 620: round='MB1'"),
}


@pytest.mark.parametrize(("table", "message"), SURVEYS.values(), ids=[*SURVEYS])
def test_faults_of_the_survey_are_errors_and_not_set_aside(survey, table, message):
    flags = ["--on-invalid", "quarantine"]
    table.write_parquet("bad.parquet")
    told = survey("said.parquet", "--truth", "bad.parquet", "-o", "out.csv", *flags, exit_code=1)
    assert told.startswith("error: bad.parquet: survey: ")
    assert message in told
    told = survey("validate", "bad.parquet", exit_code=1)
    assert told.startswith("invalid: bad.parquet: survey: ")


def test_lists_that_are_no_distributions(survey):
    lists = ef.survey.as_distributions(SURVEY).select("round", "question_id", "segment_id")
    texts = pl.when(ROW == 3).then(pl.lit("[0.5, half]")).otherwise(pl.lit("[0.5, 0.5]"))
    lists.with_columns(texts.alias("actual")).write_csv("bad.csv")
    told = survey("said.parquet", "--truth", "bad.csv", "-o", "out.csv", exit_code=1)
    assert "actual has numbers only: not so in 1 of 150 rows row 3:" in told
    assert "actual=[0.5, None]" in told


def test_a_segment_without_truth(survey):
    silent = (pl.col("segment_id") == "gender:male") & (pl.col("question_id") == "mb1-q1")
    SURVEY.filter(~silent).write_parquet("gap.parquet")
    args = ["said.parquet", "--truth", "gap.parquet", "-o", "out.parquet"]
    told = survey(*args, exit_code=1)
    assert "the survey has the answers of the segment to the question: not so in 3 of 450" in told
    assert "add 'gender:male' to 'mb1-q1' in MB1 (3 rows) to the survey, or have these" in told
    survey(*args, "-q", "--on-invalid", "quarantine")
    assert pl.read_parquet("out.rejected.parquet")["model"].n_unique() == 3


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_text_that_is_not_utf_8(survey, suffix):
    flat = RESPONSES.with_columns(pl.col("response").str.replace_all("\n", " "))
    flat = flat.with_columns(pl.when(ROW == 6).then(pl.lit("XX")).otherwise("model").alias("model"))
    text = flat.write_csv() if suffix == "csv" else flat.write_ndjson()
    Path(f"bad.{suffix}").write_bytes(text.encode().replace(b"XX", b"\xff\xfe"))
    told = survey(f"bad.{suffix}", "--truth", "survey.parquet", "-o", "out.csv", exit_code=1)
    line = 8 if suffix == "csv" else 7
    message = f"error: bad.{suffix}: line {line} is not UTF-8 text; save the file as UTF-8"
    assert told == message
    Path("bad.csv").write_bytes(SURVEY.write_csv().encode().replace(b"MB1", b"\xff", 1))
    for command in (["said.parquet", "--truth", "bad.csv", "-o", "o.csv"], ["validate", "bad.csv"]):
        assert "bad.csv: line 2 is not UTF-8 text" in survey(*command, exit_code=1)
    Path("bad.json").write_bytes(b'{"surveyId": "\xff"}')
    assert "byte 14 is not UTF-8" in survey("validate", "bad.json", exit_code=1)


TRUTH = ["--truth", "survey.parquet"]


@pytest.mark.parametrize(
    ("args", "exit_code", "message"),
    [
        (["-o", "out.csv"], 2, "name PREDICTIONS, or --from-runs FOLDER"),
        (["said.parquet", "-o", "o.csv"], 1, "name the survey that they are compared with"),
        (["survey.parquet", *TRUTH, "-o", "o.csv"], 1, "column 'response', 'predicted' or 'score'"),
        (["absent.parquet", *TRUTH, "-o", "o.csv"], 1, "no file or folder 'absent.parquet'"),
        (["said.parquet", "--truth", "no.json", "-o", "o.csv"], 1, "no file or folder 'no.json'"),
        (["said.parquet", "--truth", "said.parquet", "-o", "o.csv"], 1, "said.parquet: a survey"),
        (["said.parquet", *TRUTH, "-o", "o.csv", "--by", "modle"], 1, "Did you mean 'model'"),
        (["said.parquet", *TRUTH, "-o", "o.csv", "--metric", "emd"], 2, "'emd' is not one of"),
        (["said.parquet", *TRUTH, "-o", "o.csv", "--baselines", "unform"], 1, "mean 'uniform'"),
        (["said.parquet", "-o", "o.csv", "--baselines", "uniform"], 1, "made of the survey"),
        (["said.parquet", "-o", "o.csv", "--metric", "cosine"], 1, "compares answers with the"),
        (["said.parquet", *TRUTH, "-o", "o.csv", "--summary", "s.json"], 1, "for run results"),
        (["--from-runs", "said.parquet", "-o", "o.csv"], 1, "is not UTF-8 text; is it JSON?"),
        (
            ["--from-runs", "runs", "-o", "o.csv"],
            1,
            "no record in these 1 run results. 1 of 1 run results do not",
        ),
        (["--from-runs", "runs", "-o", "runs/o.json"], 1, "would be read as an input next time"),
        (["--from-runs", "runs", "-o", "o.csv", "--summary", "s.md"], 1, "the summary is JSON"),
        (["runs/0.json", *TRUTH, "-o", "o.csv"], 1, "are read by --from KIND PATH"),
    ],
)
def test_refusals(survey, args, exit_code, message):
    Path("runs").mkdir()
    Path("runs/0.json").write_text('{"config": {"tags": ["other"]}}')
    told = survey(*args, exit_code=exit_code)
    assert message in told
    assert "Traceback" not in told
