"""Amounts of context: one rule in every table, named alike, and said in the output."""

from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey import at_context
from evalframe.survey.sample import sample_responses, sample_survey

SURVEY = sample_survey()
KEYS = ["round", "segment_id", "question_id"]
TRUTH = ef.survey.as_distributions(SURVEY).drop("n_options")
ASKED = sample_responses().join(TRUTH, on=KEYS, how="left")
SCORED = ef.survey.score(ef.survey.parse(ASKED, options="options"))
FEW = {"n": 9}
CHOICES = ["highest", "lowest", "all", 0, 4]

MARGINALS = ef.survey.population_marginals(SURVEY).rename({"percent": "marginal"})
GAPS = ef.survey.gap_decomposition(
    SCORED.lazy().join(MARGINALS.lazy(), on=["round", "question_id"])
).collect()
LEVELS = ("segment", "category", "question")
TABLES = {
    "leaderboard": ef.survey.leaderboard,
    **{level: partial(ef.survey.leaderboard, level=level) for level in LEVELS},
    "weighted": partial(ef.survey.leaderboard, weighting="question"),
    "segment_scores": ef.survey.segment_scores,
    "consistency": ef.survey.consistency,
    "disparity": ef.survey.disparity,
    "model_disparity": ef.survey.model_disparity,
    "question_disparity": ef.survey.question_disparity,
    "category_leaders": ef.survey.category_leaders,
    "segment_overview": ef.survey.segment_overview,
    "attribute_breakdown": partial(
        ef.survey.attribute_breakdown, attributes=ef.survey.as_survey(SURVEY).segment_attributes
    ),
    "sign_flip_test": partial(ef.survey.sign_flip_test, **FEW),
    "weighted_means": ef.survey.weighted_means,
    "mean_intervals": partial(ef.survey.mean_intervals, **FEW),
    "respondent_intervals": partial(ef.survey.respondent_intervals, **FEW),
    "respondent_differences": partial(ef.survey.respondent_differences, **FEW),
    "respondent_gaps": partial(ef.survey.respondent_gaps, **FEW),
    "gap_summary": ef.survey.gap_summary,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_goes_by_one_rule(name):
    """Of each table two amounts, in turn."""
    table, place = TABLES[name], [*TABLES].index(name)
    rows = GAPS if name == "gap_summary" else SCORED
    for context in (CHOICES[place % 5], CHOICES[(place + 2) % 5]):
        found = table(rows, context=context)
        chosen = at_context(rows, context)
        alone = table(chosen.drop("context_count"))
        told = ["context_count", "n_other_context"]
        assert_frame_equal(found.drop(told), alone, abs_tol=1e-12)
        amount = {"highest": 4, "lowest": 0, "all": None}.get(context, context)
        assert found["context_count"].unique().to_list() == [amount]
        assert (found["n_other_context"] > 0).all() == (context != "all")
    assert_frame_equal(table(rows), table(rows, context="highest"))


def test_what_is_left_out_is_counted():
    at_4 = SCORED.filter(context_count=4).group_by("model").len().sort("model")["len"]
    found = ef.survey.leaderboard(SCORED, context=0).sort("model")
    assert found["n_other_context"].to_list() == at_4.to_list()
    pair = ef.survey.sign_flip_test(SCORED, context=0, n=9).row(0, named=True)
    assert pair["n_other_context"] == at_4[0] + at_4[1]
    at_once = ef.survey.leaderboards(SCORED, context=0)
    for name in ("disparity", "consistency", "question_disparity", "category_leaders"):
        assert_frame_equal(at_once[name], TABLES[name](SCORED, context=0), abs_tol=1e-12)
    assert at_once["context_responsiveness"]["n_points"].to_list() == [40] * 3


def test_gaps_are_those_that_are_tested():
    columns = ["model", "round", "category", "gap"]
    gaps = ef.survey.disparity(SCORED).select(columns).sort(columns)
    tested = ef.survey.respondent_gaps(SCORED, n=9).select(columns).sort(columns)
    assert_frame_equal(gaps, tested, abs_tol=1e-12)


SMALL = pl.DataFrame(
    {
        "model": ["a", "a", "a", "b", "baseline:uniform", "c"],
        "segment_id": ["gender:male"] * 6,
        "context_count": [0, 5, 9, 0, None, None],
        "score": [0.1, 0.5, None, 0.2, 0.3, 0.4],
    }
)


def test_amounts_are_of_a_segment_with_a_score():
    shown = ["model", "score", "context_count", "n_other_context"]
    found = ef.survey.leaderboard(SMALL).sort("model").select(shown)
    # The request that failed with the most context is no answer.
    assert found.rows()[:2] == [("a", 0.5, 5, 2), ("b", 0.2, 0, 0)]
    # Models that were not asked so have no score; a baseline is shown nothing.
    found = ef.survey.leaderboard(SMALL, context=5).sort("model").select(shown)
    assert found.rows() == [
        ("a", 0.5, 5, 2),
        ("b", None, None, 1),
        ("baseline:uniform", 0.3, 0, 0),
        ("c", None, None, 1),
    ]
    mixed = SMALL.with_columns(segment_id=pl.Series(["x:1", "x:2", "x:3", "x:4", "x:5", "x:6"]))
    found = ef.survey.leaderboard(mixed).filter(model="a").select(shown)
    assert found.rows() == [("a", pytest.approx(0.3), None, 0)]


def test_rows_of_a_context_for_any_verb():
    means = ef.evaluate(at_context(SCORED), ef.mean_score(), by="model")
    estimates = means.sort("model")["estimate"].to_list()
    own = ef.survey.weighted_means(SCORED).sort("model")
    assert estimates == pytest.approx(own["mean"].to_list())
    picked = at_context(SCORED.lazy(), "lowest").collect()
    assert_frame_equal(picked, SCORED.filter(context_count=0))
    unscored = at_context(SMALL.drop("score"))
    assert unscored.filter(model="a")["context_count"].to_list() == [9]
    groups = SMALL.with_columns(hot=pl.Series([True, False, False, True, True, True]))
    assert at_context(groups, by="hot").filter(model="a")["score"].to_list() == [0.1, 0.5]


def test_a_leaderboard_for_each_amount():
    found = ef.survey.leaderboard(SCORED, by="context_count")
    assert found.columns.count("context_count") == 1
    assert found["n_other_context"].sum() == 0
    for amount in (0, 4):
        alone = ef.survey.leaderboard(SCORED, context=amount).drop("n_other_context")
        board = found.filter(context_count=amount).drop("n_other_context")
        assert_frame_equal(board.select(alone.columns), alone, abs_tol=1e-12)
    segments = ef.survey.segment_scores(SCORED, by="context_count")
    every = ef.survey.segment_scores(SCORED, runs="all")
    order = ["context_count", "model", "round", "segment_id"]
    assert_frame_equal(segments.select(every.columns).sort(order), every.sort(order), abs_tol=1e-12)
    each = ef.survey.mean_intervals(SCORED, by=["model", "context_count"], n=9)
    assert each.columns[:2] == ["model", "context_count"]
    assert each["n_other_context"].sum() == 0
    pairs = ef.survey.sign_flip_test(SCORED, on=[*KEYS, "context_count"], n=9)
    assert pairs["n_other_context"].to_list() == [0, 0, 0]
    old = dtef.leaderboard(SMALL, by="context_count")
    assert "n_other_context" not in old.columns


def test_the_original_has_its_own_rule():
    assert "n_other_context" not in dtef.leaderboard(SCORED).collect_schema()
    for table in (dtef.weighted_means, dtef.sign_flip_test, dtef.mean_intervals):
        assert "n_other_context" not in table(SCORED).collect_schema()
    pooled = ef.survey.weighted_means(SCORED, context="all").select("model", "mean")
    old = dtef.weighted_means(SCORED).select("model", "mean")
    assert_frame_equal(old, pooled)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("most", "context must be \"highest\", .* got 'most'"),
        (-1, "a number of answers shown, 0 or more, got -1"),
        (True, "got True"),
        (7, r"context=7: no row has this context_count; there are \[0, 4\]"),
    ],
)
def test_refusals(context, message):
    for table in (at_context, ef.survey.leaderboard, TABLES["respondent_gaps"]):
        with pytest.raises(ParameterError, match=message):
            table(SCORED, context=context)


def test_tables_without_amounts():
    bare = SCORED.filter(context_count=0).drop("context_count")
    assert "n_other_context" not in ef.survey.leaderboard(bare).columns
    with pytest.raises(MissingColumnsError, match="context='lowest' needs column 'context_count'"):
        ef.survey.leaderboard(bare, context="lowest")
    with pytest.raises(ParameterError, match="context_count must be numbers, but is String"):
        at_context(SMALL.with_columns(pl.col("context_count").cast(pl.String)))
    with pytest.raises(MissingColumnsError, match="at_context needs column 'context_count'"):
        at_context(bare)
    with pytest.raises(ParameterError, match="has every amount of context; leave out context"):
        ef.survey.segment_scores(SCORED, runs="all", context="lowest")
