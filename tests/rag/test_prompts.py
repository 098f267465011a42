"""Prompts out to runners, and responses back in."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat.rgb import select_documents
from evalframe.core.errors import (
    ContractError,
    InputError,
    MissingColumnsError,
    OutputError,
    ParameterError,
)
from evalframe.rag.documents.prompting import prompts, read_responses, write_prompts

NESTED = pl.List(pl.List(pl.String))


def instances():
    rows = [
        ("en", 0, "Who won?", [["Ann", "A."], ["5"]], [["Ann won."]], ["No.", "Nor."], None),
        ("zh", 0, "谁赢了", [["安"]], [["安赢了"]], ["不是"], None),
        ("en_int", 1, "Both?", [["x"], ["y"]], [["x"], []], ["No."], None),
    ]
    schema = {
        "dataset": pl.String,
        "id": pl.Int64,
        "query": pl.String,
        "answers": NESTED,
        "positive": NESTED,
        "negative": pl.List(pl.String),
        "positive_wrong": pl.List(pl.String),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def asked(**arguments):
    return prompts(select_documents(instances(), noise_rate=0.5, passage_num=2), **arguments)


def test_prompts_by_language():
    english, chinese, failed = asked().select("prompt_id", "prompt", "system").rows()
    assert english[0] == "en/0/noise0.5/passages2/correct0.0"
    assert english[1] == "Passages:\nNo.\nAnn won.\n\nQuestion: Who won?"
    assert chinese[1] == "材料\n不是\n安赢了\n\n题目\n谁赢了"
    assert failed == ("en_int/1/noise0.5/passages2/correct0.0", None, None)
    # What a model is told to write is what labels are made from.
    for words in ("insufficient information", "factual errors"):
        assert words in english[2]
    for words in ("信息不足", "事实性错误"):
        assert words in chinese[2]
    told = pl.DataFrame(
        {"dataset": ["en", "zh"], "answers": [[["?"]]] * 2, "response": [english[2], chinese[2]]}
    )
    labels = ef.rag.label(told).select("label", "factlabel")
    assert labels.rows() == [([-1], 1)] * 2


def test_own_wording():
    made = asked(
        template="{query} {x} | {documents} | {query}", system="Be {brief}.", separator=" + "
    )
    assert made["prompt"][0] == "Who won? {x} | No. + Ann won. | Who won?"
    assert made["system"].to_list() == ["Be {brief}.", "Be {brief}.", None]


def test_braces_in_passages_stay():
    shown = select_documents(instances().head(1)).with_columns(documents=pl.lit(["{query}"]))
    made = prompts(shown, template="{documents}\n{query}")
    assert made["prompt"].item() == "{query}\nWho won?"


def test_without_documents_the_question_stands_alone():
    closed = select_documents(instances(), passage_num=0)
    made = prompts(closed)
    assert made["prompt"].to_list() == ["Who won?", "谁赢了", "Both?"]
    assert made["system"].to_list() == [None] * 3
    own = prompts(closed, closed_book="Q: {query}{documents}")
    assert own["prompt"][0] == "Q: Who won?"
    nothing = prompts(closed.with_columns(query=pl.lit(None)))
    assert nothing["prompt"].to_list() == [None] * 3


def test_bad_templates_and_tables():
    with pytest.raises(ParameterError, match=r"template has no \{query\}"):
        asked(template="{documents}")
    with pytest.raises(ParameterError, match=r"closed_book has no \{query\}"):
        asked(closed_book="")
    with pytest.raises(MissingColumnsError, match="prompts needs columns 'documents', 'order'"):
        prompts(instances().with_columns(noise_rate=0, passage_num=1, correct_passage_rate=0))
    with pytest.raises(ParameterError, match="prompts adds a column 'prompt_id'"):
        prompts(asked())


def test_json_lines(tmp_path):
    path = tmp_path / "prompts.jsonl"
    assert write_prompts(asked(), path) == 2
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    system, user = first.pop("input")
    assert user == {"role": "user", "content": "Passages:\nNo.\nAnn won.\n\nQuestion: Who won?"}
    assert system["role"] == "system"
    assert first == {
        "id": "en/0/noise0.5/passages2/correct0.0",
        "target": ["Ann", "A.", "5"],
        "metadata": {
            "dataset": "en",
            "id": 0,
            "noise_rate": 0.5,
            "passage_num": 2,
            "correct_passage_rate": 0.0,
            "order": "original",
            "seed": 2333,
            "answers": [["Ann", "A."], ["5"]],
        },
    }
    assert second["metadata"]["dataset"] == "zh"
    write_prompts(select_documents(instances(), passage_num=0), path)
    lines = [json.loads(line)["input"] for line in path.read_text().splitlines()]
    assert lines[0] == [{"role": "user", "content": "Who won?"}]
    assert len(lines) == 3


def test_answers_of_lines_are_those_that_label_reads(tmp_path):
    texts = ['["Ann", ["5", "five"]]', "Ann", '"Ann"']
    table = instances().head(1).drop("answers").join(pl.DataFrame({"answers": texts}), how="cross")
    shown = select_documents(table.with_columns(id=pl.int_range(3)))
    write_prompts(shown, tmp_path / "prompts.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]
    found = [line["metadata"]["answers"] for line in lines]
    assert found == [[["Ann"], ["5", "five"]], [["Ann"]], [["Ann"]]]


def test_parquet(tmp_path):
    path = tmp_path / "prompts.parquet"
    assert write_prompts(asked(), path) == 2
    kept = ["positive", "negative", "positive_wrong"]
    assert_frame_equal(pl.read_parquet(path), asked().drop(kept))


def test_what_cannot_be_written(tmp_path):
    twice = pl.concat([instances(), instances().head(1)])
    with pytest.raises(ContractError, match=r"have the same id: 'en/0/noise0\.0.*' \(1 such id\)"):
        write_prompts(select_documents(twice), tmp_path / "prompts.jsonl")
    nameless = select_documents(instances().with_columns(id=pl.lit(None, pl.Int64)))
    with pytest.raises(ContractError, match="2 prompts have no data set or id"):
        write_prompts(nameless, tmp_path / "prompts.jsonl")
    with pytest.raises(OutputError, match=r"name it \.parquet or \.jsonl"):
        write_prompts(asked(), tmp_path / "prompts.csv")
    with pytest.raises(OutputError, match="create it first"):
        write_prompts(asked(), tmp_path / "none" / "prompts.jsonl")
    with pytest.raises(MissingColumnsError, match="write_prompts needs column 'answers'"):
        write_prompts(asked().drop("answers"), tmp_path / "prompts.jsonl")
    with pytest.raises(ParameterError, match="answers must be text, lists of text"):
        write_prompts(asked().with_columns(answers=pl.lit(1)), tmp_path / "prompts.jsonl")
    assert not [*tmp_path.iterdir()]


EN, ZH = "en/0/noise0.5/passages2/correct0.0", "zh/0/noise0.5/passages2/correct0.0"


def responses(*rows):
    schema = {"id": pl.String, "response": pl.String, "model": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_responses_meet_their_prompts():
    given = responses((ZH, "安", "b"), (EN, "Ann", "a"), (EN, None, "b"))
    made = read_responses(given, asked())
    assert made.columns == [
        *("model", "dataset", "id", "noise_rate", "passage_num", "correct_passage_rate"),
        *("order", "seed", "answers", "response", "status", "prompt_id"),
    ]
    assert made.select("model", "dataset", "response").rows() == [
        ("b", "en", None),
        ("a", "en", "Ann"),
        ("b", "zh", "安"),
        ("a", "zh", None),
        ("b", "en_int", None),
        ("a", "en_int", None),
    ]
    assert made["status"].to_list() == ["ok"] * 4 + ["a group has no passage"] * 2
    labels = ef.rag.label(made)["label"].to_list()
    assert labels == [None, [1, 0], [1], None, None, None]


def test_prompts_as_lines(tmp_path):
    write_prompts(asked(), tmp_path / "prompts.jsonl")
    given = responses((EN, "Ann", "a"), (ZH, "安", "a"))
    expected = read_responses(given, asked()).filter(pl.col("status") == "ok")
    lines = pl.read_ndjson(tmp_path / "prompts.jsonl")
    for source in (tmp_path / "prompts.jsonl", lines, lines.lazy()):
        assert_frame_equal(read_responses(given, source), expected)
    with pytest.raises(ParameterError, match=r"have Int\d\d as metadata, not objects"):
        read_responses(given, lines.with_columns(metadata=1))
    bare = lines.select("id", metadata=pl.struct(dataset=pl.lit("en")))
    with pytest.raises(MissingColumnsError, match="prompts needs columns 'answers', 'correct_"):
        read_responses(given, bare)


def test_runs_and_further_columns():
    rows = [(EN, "Ann", 1, "good"), (ZH, "安", 1, "good"), (EN, "No", 2, "bad")]
    given = pl.DataFrame(rows, schema=["id", "response", "try", "evaluation"], orient="row")
    made = read_responses(given, asked(), model=None, by=["try"], columns=["evaluation"])
    assert made.columns[:2] == ["try", "dataset"]
    assert "model" not in made.columns
    assert made.select("try", "dataset", "response", "evaluation").rows()[:4] == [
        (1, "en", "Ann", "good"),
        (2, "en", "No", "bad"),
        (1, "zh", "安", "good"),
        (2, "zh", None, None),
    ]
    alone = read_responses(given.head(2), asked(), model=None)
    assert alone["response"].to_list() == ["Ann", "安", None]
    with pytest.raises(ContractError, match=rf"more than once by a model: '{EN}' \(1 in all\)"):
        read_responses(given, asked(), model=None)
    for further in ("by", "columns"):
        with pytest.raises(ParameterError, match="the result has a column 'seed' of its own"):
            read_responses(given.with_columns(seed=1), asked(), **{further: ["seed"]})


def test_responses_from_files(tmp_path):
    write_prompts(asked(), tmp_path / "prompts.parquet")
    given = responses((EN, "Ann", "a"), (ZH, "安", "a"))
    given.write_ndjson(tmp_path / "responses.jsonl")
    given.write_parquet(tmp_path / "responses.parquet")
    expected = read_responses(given, asked())
    for name in ("responses.jsonl", "responses.parquet"):
        made = read_responses(tmp_path / name, str(tmp_path / "prompts.parquet"))
        assert_frame_equal(made, expected)


def test_columns_of_responses_may_be_expressions():
    lines = pl.DataFrame({"sample": [EN], "output": [{"completion": "Ann"}]})
    made = read_responses(
        lines,
        asked(),
        id="sample",
        response=pl.col("output").struct.field("completion"),
        model=pl.lit("m"),
    )
    assert made.select("model", "response").row(0) == ("m", "Ann")
    assert len(made) == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "there are no responses"),
        (
            [(EN, "", "a"), *[(f"x{k}", "", "a") for k in range(5)]],
            "5 of 6 responses answer none of the prompts: 'x0', 'x1', 'x2', ...;",
        ),
        ([(None, "", "a")], "1 of 1 responses answer none of the prompts: None"),
        (
            [(EN, "", "a"), (EN, "other", "a"), (EN, "", "b")],
            rf"answered more than once by a model: '{EN} by a' \(1 in all\); keep one",
        ),
        ([(EN, "", None)], "1 of 1 responses have no model; fill it in"),
    ],
)
def test_responses_that_do_not_fit(rows, message):
    with pytest.raises(ContractError, match=message):
        read_responses(responses(*rows), asked())


def test_tables_that_cannot_be_read(tmp_path):
    good = responses((EN, "Ann", "a"))
    with pytest.raises(InputError, match=r"cannot read responses .*none.jsonl: No such file"):
        read_responses(tmp_path / "none.jsonl", asked())
    (tmp_path / "broken.jsonl").write_text('{"id": "a"\n{"id')
    with pytest.raises(InputError, match=r"broken.jsonl, line 1: .* the file ends too early"):
        read_responses(tmp_path / "broken.jsonl", asked())
    (tmp_path / "broken.parquet").write_text("no")
    with pytest.raises(InputError, match=r"cannot read prompts .*broken.parquet as Parquet"):
        read_responses(good, tmp_path / "broken.parquet")
    with pytest.raises(MissingColumnsError, match="read_responses needs column 'text'"):
        read_responses(good, asked(), response="text")
    with pytest.raises(MissingColumnsError, match="prompts needs column 'prompt_id'"):
        read_responses(good, asked().drop("prompt_id"))
    with pytest.raises(ParameterError, match="response must be text, but is Int64"):
        read_responses(good.with_columns(response=pl.lit(1, pl.Int64)), asked())


def test_prompts_of_another_order_or_seed_have_other_ids():
    ids = {
        prompts(select(instances(), seed=seed))["prompt_id"][0]
        for select in (select_documents, ef.rag.select_documents)
        for seed in (2333, 1)
    }
    usual = "en/0/noise0.0/passages5/correct0.0"
    assert ids == {usual, f"{usual}/original1", f"{usual}/seeded2333", f"{usual}/seeded1"}


def test_a_question_without_text_has_no_prompt_and_says_so():
    mute = instances().with_columns(query=pl.lit(None, pl.String))
    made = prompts(select_documents(mute))
    assert made["prompt"].null_count() == len(made)
    assert set(made["status"]) == {"the query is null", "a group has no passage"}
