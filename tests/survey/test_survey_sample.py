"""The sample of the survey family."""

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ParameterError
from evalframe.core.samples import content_hash
from evalframe.survey.contract import predictions_contract, survey_contract
from evalframe.survey.prompting.prompts import prompts
from evalframe.survey.sample import (
    FORMS,
    MODELS,
    reply,
    sample_files,
    sample_responses,
    sample_survey,
)
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.tables import as_distributions


def test_content_is_the_same_everywhere():
    hashes = [content_hash(file.content)[:12] for file in sample_files()]
    assert hashes == ["60f183280dab", "1ac6bcde49e1"]
    assert [content_hash(file.content)[:12] for file in sample_files(seed=1)] != hashes


def test_the_survey_obeys_its_contract():
    table = sample_survey()
    assert validate(table, survey_contract()).rejected == 0
    survey = as_survey(table)
    assert (len(survey.questions), len(survey.segments)) == (15, 20)
    assert survey.questions["question_text"].n_unique() == 12
    assert survey.segments["segment_attribute"].n_unique() == 3
    assert survey.segments.select(pl.col("sample_size").min()).item() == 12
    assert survey.segments.select(pl.col("sample_size").max()).item() == 400
    assert len(prompts(survey, context_count=4)) == 150


def test_responses_fit_the_survey():
    responses = sample_responses()
    keyed = predictions_contract(context_count="context_count")
    assert validate(responses, keyed).rejected == 0
    truth = as_distributions(sample_survey())
    joined = responses.join(truth, on=["round", "segment_id", "question_id"])
    assert len(joined) == len(responses) == 2 * len(MODELS) * len(truth)
    assert joined["n_options"].equals(joined["n_options_right"])
    assert 0 < responses["response"].null_count() < 30


def test_every_form_is_written():
    written = {form: reply(form, [60, 40], ["Yes", "No"], "q") for form in FORMS}
    assert written["bracket"] == "[60, 40]"
    assert written["lettered"] == "a. Yes: 60%\nb. No: 40%"
    assert written["keyed"] == '```json\n{"q": [60, 40]}\n```'
    assert written["short"] == "[40]"
    assert written["failed"] is None
    assert str(written["individuals"]).count('"a"') == 12
    assert len({*written.values()}) == len(FORMS)


def test_better_models_are_nearer_to_the_truth():
    truth = as_distributions(sample_survey())
    lists = sample_responses().filter(pl.col("response").str.contains(r"^\[\d+(, \d+)+\]$"))
    numbers = pl.col("response").str.extract_all(r"\d+").cast(pl.List(pl.Float64))
    joined = lists.with_columns(predicted=numbers / 100).join(
        truth, on=["round", "segment_id", "question_id", "n_options"]
    )
    long = joined.filter(pl.col("predicted").list.len() == pl.col("n_options"))
    error = (pl.col("predicted") - pl.col("actual")).list.eval(pl.element().abs()).list.sum()
    errors = long.group_by("model").agg(error.mean()).sort("model")["predicted"].to_list()
    assert errors == sorted(errors, reverse=True)


def test_a_negative_seed_is_refused():
    with pytest.raises(ParameterError, match="seed is -1"):
        sample_files(seed=-1)
