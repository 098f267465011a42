"""`evalframe survey` with surveys and predictions in other shapes: the same leaderboard of each."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.jobs.flags import parse
from evalframe.jobs.run import run_job
from survey.shapes import KEYS, PEOPLE, QUESTIONS, shapes

SHAPES = shapes()
LISTS = SHAPES["lists"][0]
MODELS = pl.DataFrame({"model": ["flat", "near", "right"], "weight": [0.0, 0.7, 1.0]})
SHARES = (
    LISTS.explode("options", "actual")
    .join(MODELS, how="cross")
    .with_columns(n=pl.len().over("model", *KEYS))
    .with_columns(
        predicted=pl.col("actual") * pl.col("weight") + (1 - pl.col("weight")) / pl.col("n")
    )
    .select("model", *KEYS, option_label="options", predicted="predicted", actual="actual")
)
"""Predictions of three models, a row per option."""
PREDICTIONS = SHARES.group_by("model", *KEYS, maintain_order=True).agg("predicted")


@pytest.fixture
def survey(commands):
    return commands("survey", in_one_line=True)


def board(survey, *args):
    text = survey(*args, "-o", "out.parquet")
    return pl.read_parquet("out.parquet"), text


def write(folder):
    """Write predictions, and the survey as lists."""
    PREDICTIONS.write_parquet(folder / "said.parquet")
    LISTS.write_parquet(folder / "lists.parquet")


@pytest.fixture(scope="module")
def of_lists(tmp_path_factory):
    """The leaderboard that every shape must give."""
    folder = tmp_path_factory.mktemp("lists")
    write(folder)
    job = {"items": ["said.parquet"], "truth": "lists.parquet", "output": "out.parquet"}
    run_job(parse({"family": "survey", **job}), folder, quiet=True)
    return pl.read_parquet(folder / "out.parquet")


@pytest.fixture
def expected(survey, of_lists):
    """Likewise, in a folder with the predictions and the survey."""
    write(Path())
    return of_lists


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "lists"])
def test_a_survey_in_any_shape(survey, expected, shape, form):
    table, answers = SHAPES[shape]
    getattr(table, f"write_{form}")(f"truth.{form}")
    flags = ["--answers", ",".join(answers)] if answers else []
    found, _ = board(survey, "said.parquet", "--truth", f"truth.{form}", *flags)
    assert_frame_equal(found, expected)
    assert found["model"].to_list()[:2] == ["right", "near"]


def test_predictions_in_other_shapes(survey, expected):
    """A row per option, in any order of rows and options, or a column for each."""
    percent = pl.format("{}%", pl.col("predicted") * 100)
    long = SHARES.drop("actual").sample(fraction=1, shuffle=True, seed=1)
    long.with_columns(percent).write_csv("long.csv")
    found, text = board(survey, "long.csv", "--truth", "lists.parquet")
    assert_frame_equal(found, expected)
    assert "option_index" not in text
    wide = long.pivot("option_label", index=["model", *KEYS], values="predicted")
    wide.write_csv("wide.csv")
    columns = [name for name in wide.columns if name not in ("model", *KEYS)]
    flags = ["--truth", "lists.parquet", "--answers", ",".join(columns)]
    assert_frame_equal(board(survey, "wide.csv", *flags)[0], expected)
    flags = ["--truth", "people.csv", "--answers", ",".join([*columns, *QUESTIONS])]
    PEOPLE.write_csv("people.csv")
    assert_frame_equal(board(survey, "wide.csv", *flags)[0], expected)
    numbers = [f"{round(share * 1e9):,}" for share in long["predicted"]]
    long.drop("predicted").with_columns(count=pl.Series(numbers)).write_csv("counted.csv")
    found, text = board(survey, "counted.csv", "--truth", "lists.parquet")
    assert_frame_equal(found, expected, abs_tol=1e-6)
    assert "marks of thousands" in text
    assert "Sample sizes" not in text
    turned = SHARES.group_by("model", *KEYS, maintain_order=True).agg(
        pl.col("predicted").reverse(), options=pl.col("option_label").reverse()
    )
    turned.write_parquet("turned.parquet")
    assert_frame_equal(board(survey, "turned.parquet", "--truth", "lists.parquet")[0], expected)
    texts = turned.with_columns(
        predicted=pl.format("[{}]", pl.col("predicted").cast(pl.List(pl.String)).list.join(", ")),
        options=pl.format('["{}"]', pl.col("options").list.join('", "')),
    )
    texts.write_csv("texts.csv")
    assert_frame_equal(board(survey, "texts.csv", "--truth", "lists.parquet")[0], expected)
    other = long.with_columns(pl.col("option_label").replace("Yes", "Maybe"))
    other.write_csv("other.csv")
    text = survey("other.csv", "--truth", "lists.parquet", "-o", "o.csv", exit_code=1)
    assert (
        "options are those of the question in the survey, in any order: not so in 12 of 24" in text
    )


def test_predicted_and_actual_in_one_file(survey, expected):
    keys = [*KEYS, "sample_size"]
    sizes = LISTS.select(keys)
    PREDICTIONS.join(LISTS, on=KEYS).write_parquet("both.parquet")
    assert_frame_equal(board(survey, "both.parquet")[0], expected)
    SHARES.join(sizes, on=KEYS).write_csv("long.csv")
    found, text = board(survey, "long.csv")
    assert_frame_equal(found, expected)
    assert "The options of 2 questions have no 'option_index'" in text
    named = ["--metric", "cosine_similarity", "--baselines", "uniform"]
    alone = board(survey, "both.parquet", *named)[0]
    assert_frame_equal(alone, board(survey, "said.parquet", "--truth", "lists.parquet", *named)[0])
    differs = PREDICTIONS.join(LISTS, on=KEYS).with_columns(
        actual=pl.when(pl.int_range(pl.len()) > 0).then("actual").otherwise([0.5, 0.5])
    )
    differs.write_parquet("differs.parquet")
    assert "differs.parquet: distributions: " in survey(
        "differs.parquet", "-o", "o.csv", exit_code=1
    )


def test_columns_by_other_names(survey, expected):
    """A column that plays a role makes no segments, and tells no predictions apart."""
    people = PEOPLE.with_row_index("who").with_columns(w=pl.lit(2.0))
    people.write_csv("people.csv")
    long = SHARES.drop("actual").rename({"option_label": "option", "predicted": "p"})
    long.sample(fraction=1, shuffle=True, seed=1).write_csv("long.csv")
    names = {"respondent_id": "who", "weight": "w", "option_label": "option", "predicted": "p"}
    flags = [word for role, name in names.items() for word in ("--column", f"{role}={name}")]
    answers = ["--answers", ",".join(QUESTIONS)]
    found, text = board(survey, "long.csv", "--truth", "people.csv", *answers, *flags)
    assert_frame_equal(found, expected)
    assert "made of the values of age (2), gender (2);" in text
    text = survey("validate", "people.csv", *answers, *flags[:4])
    assert "valid: survey: 2 questions, 4 segments, 8 distributions" in text
    counts = SHAPES["counts of chosen options"][0]
    counts.rename({"count": "n", "option_label": "option"}).write_csv("counts.csv")
    flags = ["--column", "count=n", "--column", "option_label=option"]
    found, _ = board(survey, "said.parquet", "--truth", "counts.csv", *flags)
    assert_frame_equal(found, expected)
    text = survey("said.parquet", "--truth", "counts.csv", exit_code=1)
    assert "--column share=NAME --column percent=NAME --column count=NAME" in text


def test_what_is_assumed_is_printed(survey, expected):
    people = PEOPLE.with_columns(hot=pl.when(pl.int_range(40) > 3).then("hot"), weight=pl.lit(1.0))
    people.write_csv("people.csv")
    _, text = board(survey, "said.parquet", "--truth", "people.csv", "--answers", "hot,trust")
    for sentence in (
        "Respondents count by 'weight'; sample sizes are their numbers, not weighted.",
        "Segments are made of the values of age (2), gender (2);",
        "4 of 40 respondents did not answer 'hot'.",
        "distances of earth movers assume it, and lists of shares must be in it.",
    ):
        assert sentence in text
    commands = {
        ("validate", "people.csv"): "valid: survey: 2 questions, 4 segments, 8 distributions",
        ("baselines", "people.csv", "-o", "b.parquet"): "24 scores in b.parquet",
        ("baselines", "people.csv"): "24 scores",
        ("prompts", "people.csv", "-o", "p.jsonl"): "8 prompts of 4 configurations in p.jsonl",
    }
    for args, told in commands.items():
        text = survey(*args, "--answers", "hot,trust")
        assert told in text
        assert "4 of 40 respondents did not answer 'hot'" in text
    assert len(expected) == 6


def test_answers_that_are_nowhere(survey, expected):
    args = ("said.parquet", "--truth", "lists.parquet", "--answers", "hot", "-o", "o.csv")
    assert "leave out --answers" in survey(*args, exit_code=1)
    PEOPLE.write_csv("people.csv")
    args = ("said.parquet", "--truth", "people.csv", "-o", "o.csv")
    assert "name the columns of the questions in --answers" in survey(*args, exit_code=1)
    args = ("said.parquet", "--truth", "people.csv", "--answers", "hot,trsut", "-o", "o.csv")
    assert "needs column 'trsut'" in survey(*args, exit_code=1)
    assert len(expected) == 6
