"""Prompts as files, and responses that come back to them."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat.dtef import read_survey
from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    OutputError,
    ParameterError,
)
from evalframe.survey.prompting.configurations import blueprints
from evalframe.survey.prompting.exchange import read_responses, write_prompts
from evalframe.survey.prompting.prompts import prompts
from survey.test_prompting import document

SURVEY = read_survey(document(("gender:male", 50, "pqrs"), ("few", 20, "pr")))


def test_prompts_are_written(tmp_path):
    asked = pl.concat([prompts(SURVEY, batch_size=2), prompts(SURVEY, system="", context_count=1)])
    assert write_prompts(asked, tmp_path / "prompts.jsonl") == 9
    lines = [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]
    assert lines[0]["id"] == "dtef-MB-gender:male-b2/batch-0-gender:male"
    assert [message["role"] for message in lines[0]["input"]] == ["system", "user"]
    assert [message["role"] for message in lines[-1]["input"]] == ["user"]
    assert json.loads(lines[0]["target"][1]) == [0.2, 0.305, 0.495]
    assert lines[0]["metadata"]["question_id"] == ["p", "q"]
    assert write_prompts(asked, tmp_path / "prompts.parquet") == 9
    assert_frame_equal(pl.read_parquet(tmp_path / "prompts.parquet"), asked)


def test_responses_meet_their_prompts(tmp_path):
    asked = pl.concat([prompts(SURVEY, batch_size=3), prompts(SURVEY, context_count=1)])
    for name in ("prompts.jsonl", "prompts.parquet"):
        write_prompts(asked, tmp_path / name)
    ids = pl.read_ndjson(tmp_path / "prompts.jsonl")["id"]
    given = pl.DataFrame({"id": ids[:3], "response": ["a", "b", "c"], "model": ["y", "x", "x"]})
    made = read_responses(given, asked)
    for source in (tmp_path / "prompts.jsonl", tmp_path / "prompts.parquet"):
        assert_frame_equal(read_responses(given, source), made)
    given.write_ndjson(tmp_path / "given.jsonl")
    assert_frame_equal(read_responses(tmp_path / "given.jsonl", asked), made)
    shown = ["model", "prompt_id", "question_id", "n_options", "response", "question_key"]
    first = "batch-0-gender:male"
    assert made.select(shown).rows()[:7] == [
        ("y", first, "p", 2, "a", "p"),
        ("y", first, "q", 3, "a", "q"),
        ("y", first, "r", 2, "a", "r"),
        ("x", first, "p", 2, None, "p"),
        ("x", first, "q", 3, None, "q"),
        ("x", first, "r", 2, None, "r"),
        ("y", made["prompt_id"][6], "s", 2, None, None),
    ]
    questions = asked.select(pl.col("question_id").list.len().sum()).item()
    assert len(made) == 2 * questions
    # A prompt goes by its own id where it is the only one of that name.
    alone = pl.DataFrame({"prompt_id": [first], "response": ["a"]})
    found = read_responses(alone, asked, id="prompt_id", model=None)
    assert "model" not in found.columns
    assert found["response"].to_list() == ["a"] * 3 + [None] * (questions - 3)


def test_responses_that_do_not_fit():
    asked = pl.concat([prompts(SURVEY), prompts(SURVEY, context_count=1)])
    config, name = asked.select("config_id", "prompt_id").row(0)
    given = pl.DataFrame({"id": [f"{config}/{name}", name], "response": ["a", "b"], "model": "m"})
    with pytest.raises(ContractError, match=f"1 of 2 responses answer none .*: '{name}'"):
        read_responses(given, asked)
    twice = pl.concat([given[:1], given[:1]])
    with pytest.raises(ContractError, match="more than once by a model"):
        read_responses(twice, asked)
    tries = read_responses(twice.with_columns(pl.Series("try", [1, 2])), asked, by="try")
    assert tries.columns[:3] == ["model", "try", "config_id"]
    assert len(tries) == 2 * len(asked)
    with pytest.raises(ContractError, match="several prompts have the same id"):
        read_responses(given, pl.concat([asked, asked]))
    with pytest.raises(ContractError, match="there are no responses"):
        read_responses(given.clear(), asked)
    with pytest.raises(ParameterError, match="a column 'round' of its own"):
        read_responses(given.with_columns(round=pl.lit("x")), asked, columns=["round"])


def test_what_cannot_be_written(tmp_path):
    asked = prompts(SURVEY)
    with pytest.raises(ContractError, match="ids stand for several prompts"):
        write_prompts(pl.concat([asked, asked]), tmp_path / "p.jsonl")
    with pytest.raises(OutputError, match=r"name it \.parquet or \.jsonl"):
        write_prompts(asked, tmp_path / "p.csv")
    with pytest.raises(MissingColumnsError, match="'prompt'"):
        write_prompts(asked.drop("prompt"), tmp_path / "p.jsonl")
    with pytest.raises(MissingColumnsError, match="'config_id'"):
        blueprints(asked.drop("config_id"))
    assert not list(tmp_path.iterdir())
