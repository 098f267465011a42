"""Prompts of a survey."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.compat.dtef import read_survey
from evalframe.core.errors import (
    ContractError,
    ParameterError,
    UnknownNameError,
)
from evalframe.survey.parsing.parse import parse
from evalframe.survey.prompting.prompts import prompts

QUESTIONS = {
    "p": ["Hot?", ["Yes", "No\t"]],
    "q": ["Late?", ["Now", "Later", "Never"]],
    "r": ["Far?", ["Near", "Far"]],
    "s": ["Why?", ["This", "That"]],
}
SHARES = {"p": [60, 40], "q": [20, 30.5, 49.5], "r": [10, 90], "s": [0, 100]}


def document(*segments):
    """A survey document: id, size and answered questions of each segment."""
    return {
        "surveyId": "MB",
        "surveyName": "Marrowby",
        "questions": {
            name: {"text": text, "type": "single-select", "options": options}
            for name, (text, options) in QUESTIONS.items()
        },
        "segments": [
            {
                "id": name,
                "label": name,
                "attributes": {"gender": "Male", "town": "Elm"},
                "sampleSize": size,
                "responses": [{"questionId": q, "distribution": SHARES[q]} for q in answered],
            }
            for name, size, answered in segments
        ],
    }


@pytest.fixture(scope="module")
def survey():
    return read_survey(document(("gender:male", 50, "pqrs"), ("few", 20, "pr")))


def test_a_prompt_for_each_answered_question(survey):
    asked = prompts(survey)
    assert asked["prompt_id"].to_list() == [
        *(f"{name}-gender:male" for name in "pqrs"),
        "p-few",
        "r-few",
    ]
    assert asked["config_id"].unique().sort().to_list() == ["dtef-MB-few", "dtef-MB-gender:male"]
    row = asked.row(1, named=True)
    assert (row["question_id"], row["n_options"], row["actual"]) == (
        ["q"],
        [3],
        [[0.2, 0.305, 0.495]],
    )
    assert row["prompt"].startswith("Group: Gender: Male; town: Elm\nSurveyed: 50 respondents\n\n")
    assert "Late?\n  a. Now\n  b. Later\n  c. Never\n\nReply with the 3 percent" in row["prompt"]
    exploded = asked.explode("question_id", "n_options", "actual")
    assert exploded.schema["actual"] == pl.List(pl.Float64)


def test_questions_in_the_order_asked_for(survey):
    asked = prompts(survey, questions=["s", "p"], segments=["gender:male"])
    assert asked["prompt_id"].to_list() == ["s-gender:male", "p-gender:male"]


def test_batches(survey):
    asked = prompts(survey, batch_size=3)
    assert asked["prompt_id"].to_list() == ["batch-0-gender:male", "s-gender:male", "batch-0-few"]
    assert asked["question_id"].to_list() == [["p", "q", "r"], ["s"], ["p", "r"]]
    assert asked["config_id"].to_list()[0] == "dtef-MB-gender:male-b3"
    first = asked["prompt"][0]
    assert 'Question with the key "q":\nLate?' in first
    assert first.endswith("for each question its key, and a list of its percentages.")


def test_letters_of_several_questions_are_asked_for_and_read(survey):
    asked = prompts(
        survey,
        batch_size=2,
        eval_type="synthetic-individual",
        n_individuals=4,
        segments=["gender:male"],
    )
    assert asked["config_id"][0] == "dtef-MB-gender:male-synth4-b2"
    ending = "its key, and a list of 4 letters in quotes, one for each of as many members of the"
    assert asked["prompt"][0].endswith(f"{ending} group.")
    answer = '{"p": ["a", "b", "a", "a"], "q": ["c", "c", "b", "c"]}'
    rows = asked.head(1).explode("question_id", "n_options").with_columns(response=pl.lit(answer))
    read = parse(rows, question_key="question_id")
    assert read["predicted"].to_list() == [[75.0, 25.0], [0.0, 25.0, 75.0]]


def test_context_leaves_out_what_is_asked(survey):
    asked = prompts(survey, context_count=2, segments=["gender:male"])
    assert asked["context_ids"].to_list() == [["q", "r"], ["p", "r"], ["p", "q"], ["p", "q"]]
    assert asked["context_format"].unique().to_list() == ["distribution-context"]
    assert asked["prompt"].str.count_matches(r'Q:\s*"').to_list() == [2, 2, 2, 2]
    assert 'Q: "Hot?"\nThe answers:\n  a. Yes: 60.0%\n  b. No: 40.0%\n\nQ:' in asked["prompt"][1]
    batched = prompts(survey, context_count=2, batch_size=3, segments=["gender:male"])
    assert batched["context_ids"].to_list() == [["s"], ["p", "q"]]


def test_a_pool_in_its_order_or_a_random_one(survey):
    asked = prompts(survey, context=["s", "q"], context_count=None, questions=["q", "r"])
    ids = asked.select("segment_id", "context_ids").rows()
    assert ids == [("gender:male", ["s"]), ("gender:male", ["s", "q"]), ("few", [])]
    random = [
        prompts(survey, context_count=None, questions=["p"], segments=["gender:male"], seed=seed)[
            "context_ids"
        ].to_list()[0]
        for seed in range(8)
    ]
    assert {tuple(sorted(ids)) for ids in random} == {("q", "r", "s")}
    assert len({*map(tuple, random)}) > 2


@pytest.mark.parametrize(
    ("context_format", "shown"),
    [
        ("narrative", "Asked “Hot?”, they were of these minds: 60.0% said “Yes”, 40.0%"),
        ("raw-survey", "\nHot? | Yes | 60.0\nHot? | No | 40.0\n"),
        ("interview", "INTERVIEWER: Hot?\nGROUP: 60.0 of a hundred of us say “Yes”, "),
        ("first-person", "To “Hot?” we said: “Yes” (60.0%), “No” (40.0%)."),
    ],
)
def test_formats(survey, context_format, shown):
    asked = prompts(survey, context_count=1, context_format=context_format, questions=["q"])
    row = asked.row(0, named=True)
    assert shown in row["prompt"]
    assert row["config_id"] == f"dtef-MB-gender:male-{context_format.replace('-', '')}"


def test_types_of_evaluation(survey):
    def text(**options):
        return str(prompts(survey, questions=["p"], **options)["prompt"][0])

    assert "in the order of the options: [60.0, 40.0]" in text(eval_type="shift")
    assert "their 8 letters" in text(eval_type="synthetic-individual", n_individuals=8)
    assert "PROBABILITIES: and the 2 " in text(eval_type="individual-answer")
    assert "DISTRIBUTION: and the 2 " in text(reasoning="cot")
    own = prompts(survey, system="Be brief.", temperature=0)
    assert own["system"].unique().to_list() == ["Be brief."]
    assert own["temperature"].unique().to_list() == [0.0]


def test_unknown_sample_sizes():
    content = document(("gender:male", 50, "pq"))
    del content["segments"][0]["sampleSize"]
    unknown = read_survey(content)
    assert "Surveyed: respondents\n" in prompts(unknown)["prompt"][0]
    with pytest.raises(ContractError, match="2 questions have no respondents"):
        prompts(unknown, eval_type="shift")


def test_the_budget_counts_everything(survey):
    most = prompts(survey, context_count=None, questions=["p"], segments=["gender:male"])
    tokens = most["n_tokens"].item()
    for budget in (tokens + 260, tokens + 200, 300, 0):
        row = prompts(
            survey,
            context_count=None,
            questions=["p"],
            segments=["gender:male"],
            token_budget=budget,
        )
        shown = row["context_count"].item()
        assert shown == 0 or row["n_tokens"].item() + 256 <= budget
        assert (shown == 3) == (budget == tokens + 260)
    longest = prompts(survey, context_count=None, reasoning="cot", token_budget=tokens + 260)
    assert longest["context_count"].max() == 0


def test_any_tokenizer_counts_columns(survey):
    def words(texts):
        return texts.str.split(" ").list.len()

    asked = prompts(survey, context_count=None, tokens=words, token_budget=400)
    counts = pl.concat_str("system", pl.lit(" "), "prompt").str.split(" ").list.len()
    assert asked.select(counts).to_series().to_list() == asked["n_tokens"].to_list()
    with pytest.raises(ParameterError, match="must return a column of whole numbers"):
        prompts(survey, tokens=lambda texts: texts.cast(pl.String))
    with pytest.raises(ParameterError, match="a function of a column, not 'words'"):
        prompts(survey, tokens="words")  # type: ignore[arg-type]


BAD = [
    ({"batch_size": 6}, ParameterError, "batch_size is 1 to 5, got 6"),
    ({"batch_size": 2, "eval_type": "individual-answer"}, ParameterError, "one question each"),
    ({"batch_size": 2.0}, ParameterError, "batch_size is 1 or more, and a whole number, got 2.0"),
    ({"context_count": 2.5}, ParameterError, "context_count is 0 or more, and a whole number"),
    ({"context_count": True}, ParameterError, "a whole number, got True"),
    ({"temperature": "x"}, ParameterError, "temperature is a number of 0 or more, got 'x'"),
    ({"temperature": float("nan")}, ParameterError, "temperature is a number of 0 or more"),
    ({"context_count": -1}, ParameterError, "context_count is 0 or more"),
    ({"token_budget": -1}, ParameterError, "token_budget is 0 or more"),
    ({"n_individuals": 0}, ParameterError, "n_individuals is 1 or more"),
    ({"context_format": "narative"}, ParameterError, "Did you mean 'narrative'"),
    ({"eval_type": "x"}, ParameterError, "eval_type must be one of"),
    ({"reasoning": "x"}, ParameterError, "reasoning must be one of"),
    ({"segments": ["gender:mal"]}, UnknownNameError, "Did you mean 'gender:male'"),
    ({"questions": ["z"]}, UnknownNameError, "unknown question 'z'"),
    ({"questions": ["p", "p"]}, ParameterError, "named twice"),
    ({"context_count": 2, "context_format": "attribute-label"}, ParameterError, "shows no context"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD)
def test_options_outside_their_domain(survey, options, error, message):
    with pytest.raises(error, match=message):
        prompts(survey, **options)


@given(
    st.permutations("pqrs"),
    st.sets(st.sampled_from("pqrs"), min_size=1),
    st.integers(1, 5),
    st.none() | st.integers(0, 4),
    st.integers(0, 700),
)
@settings(max_examples=12, deadline=None)
def test_context_as_a_plain_program_chooses_it(pool, answered, batch, count, budget):
    survey = read_survey(document(("gender:male", 50, "".join(sorted(answered)))))
    size = prompts(survey, context_count=None, tokens=_ten_each, token_budget=10**6)
    assert size["n_tokens"].unique().to_list() == [20]
    asked = prompts(
        survey,
        context=pool,
        context_count=count,
        context_format="distribution-context",
        batch_size=batch,
        tokens=_ten_each,
        token_budget=budget,
    )
    room = max(0, budget - 20 - 256)
    for targets, shown in asked.select("question_id", "context_ids").iter_rows():
        eligible = [name for name in pool if name in answered and name not in targets]
        assert shown == eligible[:count][: room // 10]


def _ten_each(texts):
    return pl.repeat(10, len(texts), eager=True)
