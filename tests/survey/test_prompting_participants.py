"""Prompts about single participants: who is drawn, what is shown, and the ids of the original."""

import polars as pl
import pytest

from evalframe.compat import dtef
from evalframe.compat.dtef import read_survey
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.survey.prompting.configurations import blueprints
from evalframe.survey.prompting.prompts import prompts
from evalframe.survey.prompting.selection import seeded_sample

OPTIONS = {"p": ["Yes", "No"], "q": ["Now", "Later", "Never"]}


def segment(name, **attributes):
    responses = [
        {"questionId": "p", "distribution": [60, 40]},
        {"questionId": "q", "distribution": [20, 30, 50]},
    ]
    return {
        "id": name,
        "label": name,
        "attributes": attributes,
        "sampleSize": 50,
        "responses": responses,
    }


SURVEY = read_survey(
    {
        "surveyId": "MB",
        "surveyName": "Marrowby",
        "questions": {
            name: {"text": f"{name.upper()}?", "type": "single-select", "options": labels}
            for name, labels in OPTIONS.items()
        },
        "segments": [
            segment("gender:male", gender="Male"),
            segment("old-men", gender="Male", ageGroup="65+"),
            segment("gender:other", gender="Other"),
        ],
    }
)
PEOPLE = pl.DataFrame(
    {
        "respondent_id": ["a", "b", "c", "d", "e"],
        "gender": ["Male", "MALE", "Female", "Male", None],
        "ageGroup": ["65+", "18-25", "65+", None, "65+"],
        "p": ["Yes", "no", "Yes", None, "No"],
        "q": ["Never", " Now ", "Now", "", "Now"],
    }
)


def asked(prompts=prompts, /, **options):
    options = {"eval_type": "individual-answer", "participants": PEOPLE} | options
    return prompts(SURVEY, **options)


@pytest.mark.parametrize("prompts", [prompts, dtef.prompts])
def test_participants_of_all_attributes_of_a_segment(prompts):
    """As `generateIndividualBlueprints`: d has no answer, nobody is of the third segment."""
    found = asked(prompts)
    assert found["prompt_id"].to_list() == [
        "p-gender:male-a",
        "q-gender:male-a",
        "p-gender:male-b",
        "q-gender:male-b",
        "p-old-men-a",
        "q-old-men-a",
    ]
    assert found["segment_id"].unique(maintain_order=True).to_list() == ["gender:male", "old-men"]
    assert found["respondent_id"].to_list() == ["a", "a", "b", "b", "a", "a"]
    assert found["actual"].to_list()[:4] == [[[1.0, 0]], [[0, 0, 1.0]], [[0, 1.0]], [[1.0, 0, 0]]]
    assert blueprints(found)["config_id"].to_list() == [
        "dtef-MB-gender:male-indiv-individual",
        "dtef-MB-old-men-indiv-individual",
    ]
    assert "Respondent: Gender: MALE; Age: 18-25\n" in found["prompt"][2]
    groups = prompts(SURVEY, eval_type="individual-answer")
    assert groups["respondent_id"].null_count() == len(groups)


@pytest.mark.parametrize(
    ("context_format", "shown"),
    [
        ("raw-survey", "Q? | Now"),
        ("interview", "INTERVIEWER: Q?\nRESPONDENT: Now."),
        ("first-person", "To “Q?” I said: “Now”."),
    ],
)
def test_their_own_answers_are_shown(context_format, shown):
    found = asked(context_count=1, context_format=context_format, reasoning="cot")
    first = found.filter(prompt_id="p-gender:male-b").row(0, named=True)
    assert first["context_ids"] == ["q"]
    assert shown in first["prompt"]
    name = context_format.replace("-", "")
    assert first["config_id"] == f"dtef-MB-gender:male-{name}-indiv-cot-individual"
    # The original shows in these formats what participants answered, and nothing of groups.
    options = {"context_count": 1, "context_format": context_format}
    groups = dtef.prompts(SURVEY, **options)
    assert groups["context_count"].to_list() == [0] * 6
    assert prompts(SURVEY, **options)["context_count"].to_list() == [1] * 6


def test_a_seeded_draw_of_each_segment():
    ids = [str(number) for number in range(30)]
    people = pl.DataFrame({"respondent_id": ids, "gender": ["Male"] * 30, "p": ["Yes"] * 30})
    drawn = asked(participants=people, n_participants=4, segments=["gender:male"])
    assert drawn["respondent_id"].to_list() == seeded_sample(ids, 4, "gender:male")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"eval_type": "distribution"}, ParameterError, 'name eval_type="individual-answer"'),
        ({"context_format": "narrative"}, ParameterError, "shows what groups answered"),
        ({"n_participants": 0}, ParameterError, "n_participants is 1 or more"),
        ({"participants": PEOPLE.drop("respondent_id")}, MissingColumnsError, "'respondent_id'"),
        ({"participants": PEOPLE.drop("p", "q")}, MissingColumnsError, "a column of answers"),
        ({"participants": PEOPLE.drop("gender", "ageGroup")}, MissingColumnsError, "'gender'"),
        ({"participants": pl.concat([PEOPLE] * 2)}, ContractError, "respondent_id repeats: 'a'"),
        ({"segments": ["gender:other"]}, ParameterError, "no participant has the attributes"),
        (
            {"participants": PEOPLE.with_columns(p=pl.lit("Perhaps"))},
            ContractError,
            "5 answers of participants are no option, the first 'perhaps' to 'p'",
        ),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        asked(**options)


def test_the_original_leaves_out_answers_that_are_no_option():
    people = PEOPLE.with_columns(p=pl.lit("Perhaps"))
    assert asked(dtef.prompts, participants=people)["question_id"].to_list() == [["q"]] * 3
