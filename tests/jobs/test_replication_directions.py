"""`evalframe replication` of tests with, without and with half of their directions."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.replication.sample import sample_designs, sample_participants, sample_tests

GIVEN = sample_tests()
DIRECTIONS = ["direction_human", "direction_agent"]
TESTS = GIVEN.drop(DIRECTIONS)
TWO_WAY = "Two-way: 15 of 90 tests say nothing of the direction of effects (F, chi-square"


@pytest.fixture
def replication(commands):
    """Run `evalframe replication` in a folder with tests of and without directions, in one line."""
    return commands("replication", in_one_line=True, tests=TESTS, given=GIVEN)


def test_tests_without_a_direction_are_counted_and_told(replication):
    text = replication("tests.parquet", "-o", "tables")
    assert TWO_WAY in text
    assert "columns direction_human and direction_agent (1, -1 or 0) say it." in text
    assert " two-way " in text.split("---")[0]
    for name, counted in (("models", [5, 5, 5]), ("tests", None)):
        table = pl.read_parquet(f"tables/{name}.parquet")
        if counted is None:
            assert table["is_two_way"].sum() == 15
            assert {*table.filter("is_two_way")["test_type"]} == {"anova", "f-test", "chi-square"}
        else:
            assert table["n_two_way"].to_list() == counted
    for name in ("domains", "studies", "findings"):
        assert pl.read_parquet(f"tables/{name}.parquet")["n_two_way"].sum() == 15
    assert TWO_WAY in replication("validate", "tests.parquet")
    text = replication("given.parquet", "-o", "out.parquet")
    assert "wo-way" not in text
    assert "wo-way" not in replication("validate", "given.parquet")
    text = replication("tests.parquet", "-o", "out.parquet", "--rules", "reference")
    assert "Two-way: 90 of 90 tests" in text


def test_a_direction_on_one_side_only_is_told_or_set_aside(replication):
    mood = pl.col("test_id") == "mood"
    half = GIVEN.with_columns(pl.when(~mood).then("direction_agent").alias("direction_agent"))
    half.write_parquet("half.parquet")
    told = replication("half.parquet", "-o", "out.parquet", exit_code=1)
    assert "a test has the directions of both sides or of neither: not so in 3 of 90" in told
    assert "row 1: model='harbor-7b', study_id='lantern-queue'" in told
    assert "test_id='mood', direction_human=1.0, direction_agent=null" in told
    assert "give direction_human and direction_agent (1, -1 or 0) in the same rows" in told
    replication("half.parquet", "-o", "out.parquet", "--on-invalid", "quarantine", "-q")
    assert pl.read_parquet("out.parquet")["n_tests"].to_list() == [29, 29, 29]
    replication("half.parquet", "-o", "out.parquet", "--rules", "reference", "-q")
    GIVEN.drop("direction_agent").write_parquet("half.parquet")
    assert "not so in 90 of 90" in replication("validate", "half.parquet", exit_code=1)


def test_directions_against_a_statistic_are_told(replication):
    absolute = GIVEN.with_columns(pl.col("stat_human", "stat_agent").abs())
    absolute.write_parquet("absolute.parquet")
    message = "Directions: of 15 of 90 tests direction_human or direction_agent contradicts"
    assert message in replication("absolute.parquet", "-o", "out.parquet")
    assert message in replication("validate", "absolute.parquet")
    replication("given.parquet", "-o", "given_out.parquet", "-q")
    # A correlation has the same Bayes factor on both sides of 0, as t has.
    pas = [pl.read_parquet(name)["pas"] for name in ("out.parquet", "given_out.parquet")]
    assert pas[0].to_list() == pytest.approx(pas[1].to_list())
    assert "contradicts" not in replication("validate", "given.parquet")


def test_help_names_the_columns(replication):
    for command in (["--help"], ["scores", "--help"], ["validate", "--help"]):
        text = replication(*command)
        if command != ["--help"]:
            assert all(name in text for name in DIRECTIONS), command


def test_responses_have_directions_where_humans_have(replication):
    sample_participants().write_parquet("responses.parquet")
    sample_designs().write_parquet("design.parquet")
    people = TESTS.filter(model="quill-70b").select(pl.exclude("^.*_agent$", "model"))
    people.write_parquet("people.parquet")
    flags = ["people.parquet", "--participants", "responses.parquet", "--design", "design.parquet"]
    text = replication(*flags, "-o", "plain")
    assert TWO_WAY in text
    replication("tests.parquet", "-o", "tables", "-q")
    for name in ("models", "domains", "studies"):
        plain, tables = (
            pl.read_parquet(f"{folder}/{name}.parquet") for folder in ("plain", "tables")
        )
        # Statistics of the sample are rounded to four decimals.
        assert_frame_equal(plain, tables, abs_tol=2e-3)
