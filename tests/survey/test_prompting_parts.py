"""Parts of prompts: tokens, budgets and the choice of questions."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.compat.dtef import read_survey
from evalframe.core.errors import ParameterError
from evalframe.survey.prompting.configurations import config_id
from evalframe.survey.prompting.selection import curate, seeded_sample, shuffled
from evalframe.survey.prompting.texts import available_tokens, estimate_tokens, fitting
from evalframe.survey.surveys.tables import population_marginals


@pytest.fixture
def values(golden):
    return golden("survey/blueprint_validation")


def test_tokens(values):
    for case in values["estimate_tokens"]:
        assert pl.select(estimate_tokens(pl.lit(case["text"]))).item() == case["tokens"]


@given(st.text())
@settings(max_examples=50, deadline=None)
def test_tokens_are_a_quarter_of_the_utf16_units(text):
    units = len(text.encode("utf-16-le")) // 2
    assert pl.select(estimate_tokens(pl.lit(text))).item() == -(-units // 4)


def test_budgets(values):
    for case in values["token_budget"]:
        system, core = (-(-case[name] // 4) for name in ("system_chars", "core_chars"))
        budget = {} if case["budget"] is None else {"budget": case["budget"]}
        left = pl.select(available_tokens(pl.lit(system), pl.lit(core), **budget)).item()
        assert left == case["available"]
        items = pl.DataFrame({"cost": [-(-chars // 4) for chars in case["context_chars"]]})
        assert items.select(fitting("cost", pl.lit(left)).sum()).item() == case["fit"]


def test_config_ids(values):
    for case in values["config_id"]:
        parts = case["parts"]
        found = config_id(
            pl.lit(parts["surveyId"]),
            pl.lit(parts["segmentId"]),
            context_count=pl.lit(parts["contextQuestionCount"]),
            context_format=parts["contextFormat"],
            eval_type=parts["evalType"],
            reasoning=parts["reasoningMode"],
            batch_size=parts["batchSize"],
            n_individuals=parts.get("syntheticN", 20),
        )
        assert pl.select(found).item() == case["id"]


def test_config_ids_of_counts_as_fractions():
    config = pl.DataFrame({"round": "A", "segment_id": "s", "context_count": [5.0, 0.0, None]})
    found = config.select(config_id())["config_id"].to_list()
    assert found == ["dtef-A-s-c5", "dtef-A-s", None]


def test_config_ids_of_other_numbers():
    config = pl.DataFrame({"round": ["A"] * 2, "segment_id": ["s"] * 2, "context_count": [0, 12]})
    counted = config.select(config_id(context_format="distribution-context", batch_size=2))
    assert counted.to_series().to_list() == ["dtef-A-s-b2", "dtef-A-s-c12-b2"]
    letters = config.select(config_id(eval_type="synthetic-individual", n_individuals=50))
    assert letters.to_series().to_list() == ["dtef-A-s-synth50", "dtef-A-s-c12-synth50"]


def test_seeded_samples(values):
    for case in values["seeded_sample"]:
        found = seeded_sample(range(case["items"]), case["take"], case["seed"])
        assert found == case["selected"]


@given(st.lists(st.integers(0, 3), max_size=9), st.integers(0, 9), st.text(max_size=3))
@settings(max_examples=50, deadline=None)
def test_samples_are_drawn_without_replacement(items, take, seed):
    drawn = seeded_sample(items, take, seed)
    assert len(drawn) == min(take, len(items))
    assert not Counter(drawn) - Counter(items)
    assert Counter(shuffled(items, seed)) == Counter(items)
    assert shuffled(items, seed) == shuffled(items, seed)


def test_curation(values):
    for case in values["curation"]:
        found = curate(
            case["all_ids"],
            exclusions=[model["exclusions"] for model in case["inputs"]],
            rankings=[model["ranking"] for model in case["inputs"]],
        )
        assert found.exclusions.rows() == [tuple(row) for row in case["exclusions"]]
        assert found.ranking.rows() == [tuple(row.values()) for row in case["ranking"]]
        applied = case["applied"]
        assert found.question_ids == applied["questionIds"]
        assert len(found.exclusions) == applied["excludedCount"]
        assert found.n_ranked == applied["rankedCount"]


def test_votes_for_nothing_are_told():
    found = curate(["a"], exclusions=[["y", "y"]], rankings=[["z", "a"]])
    assert (found.unknown, found.question_ids) == (["y", "z"], ["a"])
    assert found.ranking["mean_rank"].to_list() == [1.0]
    assert curate(["a", "b"], exclusions=[], rankings=[]).question_ids == ["a", "b"]
    with pytest.raises(ParameterError, match="of 1 models and rankings of 0"):
        curate(["a"], exclusions=[[]], rankings=[])
    with pytest.raises(ParameterError, match="twice"):
        curate(["a", "a"], exclusions=[], rankings=[])


def test_marginals(values):
    found = population_marginals(read_survey(values[values["population_marginals"]["survey"]]))
    expected = values["population_marginals"]["value"]
    for _, name, percent in found.iter_rows():
        assert percent == pytest.approx(expected.pop(name), abs=1e-12)
    assert not expected


def test_marginals_without_respondents_are_unknown():
    table = pl.DataFrame(
        {
            "question_id": ["q", "q", "r"],
            "segment_id": ["a", "b", "a"],
            "sample_size": [10, None, 0],
            "actual": [[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]],
        }
    )
    assert population_marginals(table)["percent"].to_list() == [[20.0, 80.0], None]
