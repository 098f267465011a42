"""Replicates of small studies: what a draw cannot tell is null there, and never an error."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.replication import (
    model_differences,
    participant_intervals,
    participant_statistics,
    preferred_std_error,
    with_bayes_factors,
    with_pas,
)

KEYS = {"study_id": "s", "finding_id": "F1"}
HUMAN = pl.DataFrame({**KEYS, "pi_human": 0.9})
DRAWS = ef.Bootstrap(cluster="participant_id", n=300)

MEASURES = {
    "pearson": {"value": [1.0, 2, 3.5, 5, None, None], "value_2": [1.0, 3, 2, 1, 2, 3]},
    "chi-square": {"condition": ["a", "b"] * 3, "value": [1, 0, 1, None, None, None]},
    "mannwhitneyu": {"condition": ["a", "b"] * 3, "value": [1.0, 2, 3, None, None, None]},
}


@pytest.mark.parametrize("kind", MEASURES)
def test_replicates_of_too_few(kind):
    people = {"model": "m", **KEYS, "participant_id": list("abcdef")}
    responses = pl.DataFrame({**people, **MEASURES[kind]})
    conditions = {"conditions": [["a", "b"]]} if kind != "pearson" else {}
    design = pl.DataFrame({**KEYS, "test_type": [kind], **conditions})
    found = participant_intervals(responses, design, HUMAN, resample=DRAWS)
    assert found["pas"].item() is not None
    assert len(found) == 1


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("pearson", {"value": [1.0, 2.0], "value_2": [1.0, 3.0]}),
        ("chi-square", {"condition": ["a", "b"], "value": [None, None]}),
        ("chi-square", {"condition": ["a", "a"], "value": [1, 0]}),
        ("mannwhitneyu", {"condition": ["a", "b"], "value": [1.0, 2.0]}),
    ],
)
def test_statistics_of_too_few_are_null_all_the_way(kind, values):
    schema = {"value": pl.Float64} if "value_2" not in values else None
    responses = pl.DataFrame(
        {**KEYS, "participant_id": ["a", "b"], **values}, schema_overrides=schema
    )
    conditions = {"conditions": [["a", "b"]]} if kind != "pearson" else {}
    design = pl.DataFrame({**KEYS, "test_type": [kind], **conditions})
    tests = participant_statistics(responses, design, by=None)
    made = with_bayes_factors(tests, "agent")
    assert made.select("stat_agent", "log_bayes_factor_agent").row(0) == (None, None)


def test_rows_without_three_way_posteriors_have_two_way_ones():
    ways = {f"pi_{way}_{side}": [0.5, None] for way in ("plus", "minus") for side in SIDES}
    zero = {f"pi_zero_{side}": [0.0, None] for side in SIDES}
    tests = pl.DataFrame({**ways, **zero, "pi_human": [1.0, 0.9], "pi_agent": [1.0, 0.8]})
    assert with_pas(tests)["pas"].to_list() == pytest.approx([0.5, 0.74])
    assert with_pas(tests, ways="three")["pas"].to_list() == [0.5, None]


SIDES = ("human", "agent")


def test_no_metric():
    with pytest.raises(ParameterError, match="metrics is empty"):
        model_differences(
            pl.DataFrame({**KEYS, "pas": 0.5}),
            resample=ef.Bootstrap(cluster="study_id", n=9),
            metrics=[],
        )


def test_errors_that_are_none():
    errors = pl.DataFrame({"pas_std_error": [-1.0, float("inf"), float("nan"), 0.0]})
    found = errors.select(preferred_std_error()).unnest(pl.all())
    assert found["std_error"].to_list() == [None, None, None, 0.0]
