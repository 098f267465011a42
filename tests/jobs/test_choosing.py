"""Which loss is taken, and what is correct, where the command does not say."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.jobs.written import read_provenance

METRICS = ("--metrics", "coverage,aurc,selective_risk")


@pytest.fixture
def evaluated(folder, call):
    """Evaluate a table with these flags: the result, and what is printed."""

    def run(table, *flags):
        table.write_parquet("table.parquet")
        shown = call("selective", "table.parquet", "-o", "out.parquet", *flags).stdout
        return pl.read_parquet("out.parquet"), shown

    return run


@pytest.fixture
def graded(items):
    """One mode of the items, answered by 0 and 1."""
    return items.filter(mode="few").with_columns(pl.col("prediction", "label") % 2)


WORDS = pl.col("prediction", "label").cast(pl.String)
WRONG = pl.col("prediction") != pl.col("label")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ([], "zero_one, since answers are only 0 and 1"),
        ([pl.col("prediction", "label").cast(pl.Float32)], "zero_one, since answers are only 0"),
        ([pl.col("prediction", "label").cast(pl.Boolean)], "zero_one, since answers are true and"),
        ([WORDS], "zero_one, since answers are text"),
        ([WORDS.cast(pl.Categorical)], "zero_one, since answers are text"),
        ([WORDS, (~WRONG).alias("correct")], "1 - the column correct"),
        ([(~WRONG).cast(pl.Float64).alias("correct"), pl.lit(None).alias("label")], "1 - the co"),
        ([WRONG.alias("loss"), pl.lit(0).alias("correct")], "the column loss"),
        ([WRONG.cast(pl.Int64).alias("loss")], "the column loss"),
    ],
)
def test_the_loss_that_the_table_tells(evaluated, graded, change, told):
    expected, _ = evaluated(graded, *METRICS, "--loss", "zero_one")
    assert read_provenance("out.parquet")["derived"] == {}
    found, shown = evaluated(graded.with_columns(change), *METRICS)
    assert_frame_equal(found, expected)
    assert f"Loss: {told}" in shown
    assert read_provenance("out.parquet")["derived"]["loss"].startswith(told)


def test_loss_and_columns_by_name(selective, items):
    expected = selective("--by", "mode", "--loss", "zero_one")
    wrong = pl.when(pl.col("prediction").is_not_null()).then(
        (pl.col("prediction") != pl.col("label")).cast(pl.Float64)
    )
    renamed = items.select("mode", "item", "confidence", wrong=wrong, who="participant_id")
    renamed.write_parquet("renamed.parquet")
    flags = ("--loss", "column:wrong", "--participant", "who")
    found = selective("--by", "mode", *flags, items=["renamed.parquet"])
    assert_frame_equal(found, expected)


def test_a_loss_of_an_abstention_is_ignored(selective, items):
    expected = selective("--by", "mode", "--loss", "zero_one")
    wrong = (pl.col("prediction") != pl.col("label")).fill_null(True)
    items.with_columns(wrong=wrong).write_parquet("scored.parquet")
    found = selective("--by", "mode", "--loss", "column:wrong", items=["scored.parquet"])
    assert_frame_equal(found, expected)


def test_losses_alone_say_nothing_of_reliability(call, folder, graded):
    graded.select("participant_id", "confidence", cost=0.5 * WRONG.cast(pl.Int8)).write_parquet(
        "table.parquet"
    )
    line = ("selective", "table.parquet", "--loss", "column:cost", "-o", "tables")
    told = "Reliability is left out: nothing says which predictions are correct."
    assert told in call(*line, "--metrics", "coverage").stdout
    assert pl.read_parquet("tables/reliability.parquet").is_empty()


@pytest.mark.parametrize("lost", [{}, {"loss": 1 - pl.col("correct")}])
def test_what_is_correct_of_an_abstention_is_ignored(evaluated, graded, lost):
    """Graders call who says nothing wrong, and its confidence is never used."""
    metrics = ("--metrics", "aurc,expected_calibration_error,brier_score")
    expected, _ = evaluated(graded, *metrics)
    correct = (~WRONG).fill_null(value=False).cast(pl.Int64)
    stated = pl.when(pl.col("prediction").is_not_null()).then("confidence")
    judged = graded.with_columns(correct=correct, confidence=stated).with_columns(**lost)
    found, _ = evaluated(judged, *metrics)
    assert_frame_equal(found, expected)


@pytest.mark.parametrize("right", [5.0, 100, -1, float("nan")])
def test_what_is_correct_is_no_score(call, folder, graded, right):
    graded.with_columns(correct=pl.lit(right)).write_parquet("table.parquet")
    error = call("selective", "table.parquet", exit_code=1).stderr
    assert "correct lies in [0, 1]: not so in" in error
    assert "Remedy: make it 1 where the answer is right" in error


def test_a_loss_that_is_named_comes_first(evaluated, graded):
    table = graded.with_columns(loss=pl.lit(5.0), correct=pl.lit(value=False))
    expected, _ = evaluated(graded, *METRICS, "--loss", "abs_norm", "--loss-scale", "4")
    found, shown = evaluated(table, *METRICS, "--loss-scale", "4")
    assert_frame_equal(found, expected)
    assert "Loss:" not in shown


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ([], "prediction from 0 to 3, label from 0 to 3"),
        ([pl.col("label") % 2], "prediction from 0 to 3, label from 0 to 1"),
        (
            [pl.col("prediction") / 4, pl.col("label") % 2],
            "prediction from 0 to 0.75, label from 0 to 1",
        ),
        ([pl.lit(None, pl.Int8).alias("label")], "prediction from 0 to 3"),
    ],
)
def test_numbers_do_not_tell_their_loss(call, folder, items, change, told):
    items.with_columns(change).write_parquet("items.parquet")
    line = ("selective", "items.parquet", "--by", "mode")
    error = call(*line, exit_code=1).stderr
    assert f"numbers do not say what loss they want ({told}). Name it by --loss: abs_norm" in error
    assert 'column:NAME for a column; in a job file loss = { name = "abs_norm"' in error
    if "label" in told:
        assert "Cmax" in call(*line, "--metrics", "coverage").stdout, "which needs no loss"
        assert "rows accepted" in call("selective", "validate", *line[1:]).stdout
    call(*line, "--metrics", "coverage", "-o", "all/", exit_code=1)  # with the curve


def test_run_documents_keep_their_loss(call, folder):
    call("sample", "data", "--participants", "8")
    line = ("selective", "--from-run", "data/run.json", "--mode", "few_shot", "--bootstrap", "0")
    own = call(*line, "--confidence", "token_msp").stdout
    assert own == call(*line, "--confidence", "token_msp", "--loss", "abs_norm").stdout


CALIBRATION = ("--metrics", "expected_calibration_error,brier_score", "--key", "")


@pytest.mark.parametrize(
    ("flags", "change", "told"),
    [
        (["--loss", "zero_one"], [], "1 - loss"),
        ([], [WORDS], "1 - loss"),
        (["--loss", "abs_norm"], [], "prediction = label"),
        ([], [], "prediction = label"),
        ([], [WRONG.alias("loss")], "1 - loss"),
        (["--loss", "column:wrong"], [WRONG.cast(pl.Float64).alias("wrong")], "1 - loss"),
        ([], [(pl.col("prediction") - pl.col("label")).abs().alias("loss")], "prediction = label"),
    ],
)
def test_what_is_correct_follows(evaluated, items, flags, change, told):
    """Numbers beyond 0 and 1 need no loss where none is asked for."""
    answered = items.with_columns(correct=~WRONG)
    metrics = [ef.expected_calibration_error(), ef.brier_score()]
    expected = ef.evaluate(answered, metrics)
    found, shown = evaluated(items.with_columns(change), *CALIBRATION, *flags)
    assert_frame_equal(found.drop("confidence"), expected, check_row_order=False)
    assert f"Correct: {told}." in shown
    assert read_provenance("out.parquet")["derived"]["correct"] == told
    again, shown = evaluated(answered.with_columns(change), *CALIBRATION, *flags)
    assert_frame_equal(again, found)
    assert "Correct:" not in shown, "the table says it"


def test_what_is_correct_by_another_name(evaluated, items, call):
    bare = items.select("confidence", graded=pl.int_range(pl.len()) % 2, cost=pl.lit(0.5))
    bare.write_parquet("table.parquet")
    line = ("selective", "table.parquet", *CALIBRATION, "--loss", "column:cost")
    assert "--column correct=NAME" in call(*line, exit_code=1).stderr
    found, _ = evaluated(bare, *CALIBRATION, "--column", "correct=graded")
    correct = bare.with_columns(correct="graded")
    expected = ef.evaluate(correct, [ef.expected_calibration_error(), ef.brier_score()])
    assert_frame_equal(found.drop("confidence"), expected, check_row_order=False)


def test_roles_of_metrics(evaluated, items, call):
    Path("own.py").write_text(
        "import evalframe as ef\n"
        "@ef.metric(direction='maximize', range=(0, 1))\n"
        "def hits(hit='was_hit', *, weight=None):\n"
        "    return ef.State(sums={'hits': weight * hit, 'rows': weight},\n"
        "        finish=lambda t: ef.ratio(t.hits, t.rows))\n"
    )
    table = items.with_columns(
        points=pl.col("evidence"), found=pl.int_range(pl.len()) % 2, label=pl.col("label") % 2
    )
    flags = ("--metrics", "own:hits,auroc", "--key", "", "--column", "score=points")
    for role in ("hit", "was_hit"):
        found, _ = evaluated(table, *flags, "--column", f"{role}=found")
        values = dict(found.select("metric", "estimate").iter_rows())
        assert values["hits"] == 0.5
        assert values["auroc"] == table.select(ef.auroc("evidence", "label")).item()
    told = call("selective", "table.parquet", *flags, "--column", "hot=found", exit_code=1).stderr
    assert "unknown column 'hot'. Did you mean 'hit'?" in told


def test_without_answers_other_columns_are_suggested(call, items, folder):
    items.select("participant_id", "confidence", right=pl.lit(1)).write_parquet("table.parquet")
    shown = call("selective", "table.parquet", exit_code=1).stderr
    for flag in ("label", "prediction", "loss", "correct"):
        assert f"--column {flag}=NAME" in shown
