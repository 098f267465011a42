"""Data files of the original: questions in every published shape, and files that are none."""

import json

import polars as pl
import pytest

from evalframe.compat import rgb
from evalframe.core.errors import InputError

DEFAULT = [
    {"id": 0, "query": "q", "answer": "a", "positive": ["p"], "negative": ["n", 'say "answer": 1']},
    {"id": 1, "query": "r", "answer": ["a", "b"], "positive": [], "negative": []},
    {"id": 2, "query": "s", "answer": ["a", ["b", "c"]], "positive": ["p"], "negative": []},
]
FACT = [
    {
        "id": 0,
        "query": "事实",
        "answer": [["70", "seventy"]],
        "fakeanswer": fake,
        "positive": ["70"],
        "positive_wrong": ["170"],
        "negative": [],
    }
    for fake in ("170", ["170", "a hundred and seventy"])
]
SPREAD = [
    {
        "id": 0,
        "query": "q",
        "answer": ["a", "b"],
        "asnwer1": "a",
        "answer2": "b",
        "positive": [["p", "q"], []],
        "negative": ["n"],
    }
]


def write(path, records):
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records))
    return path


def test_questions_of_every_shape(tmp_path):
    write(tmp_path / "en.json", DEFAULT)
    write(tmp_path / "zh_fact.json", FACT)
    table = rgb.read_instances(f"{tmp_path}/*.json")
    assert table["dataset"].to_list() == ["en"] * 3 + ["zh_fact"] * 2
    assert table["answers"].to_list() == [
        [["a"]],
        [["a"], ["b"]],
        [["a"], ["b", "c"]],
        [["70", "seventy"]],
        [["70", "seventy"]],
    ]
    fakes = [None, None, None, ["170"], ["170", "a hundred and seventy"]]
    assert table["fake_answers"].to_list() == fakes
    assert table["positive_wrong"].to_list() == [None, None, None, ["170"], ["170"]]
    assert table["negative"][0].to_list() == DEFAULT[0]["negative"]


def test_integration_data_has_passages_in_groups(tmp_path):
    table = rgb.read_instances(write(tmp_path / "en_int.json", SPREAD))
    assert table["positive"].to_list() == [[["p", "q"], []]]
    assert table.schema["fake_answers"] == table.schema["positive_wrong"] == pl.List(pl.String)
    named = rgb.read_instances(write(tmp_path / "x.jsonl", SPREAD), dataset="my_int")
    assert named["dataset"].to_list() == ["my_int"]
    write(tmp_path / "en.json", DEFAULT)
    with pytest.raises(InputError, match="read them by two calls"):
        rgb.read_instances([tmp_path / "en_int.json", tmp_path / "en.json"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": 12}, r"en.json, line 1: 'answer' is 12, not a string, a list of strings"),
        ({"positive": "p"}, r"line 1: 'positive' is \"p\", not a list of texts"),
        ({"positive": [["p"]]}, r"line 1: 'positive' is \[\[\"p\"\]\], not a list of texts"),
        ({"fakeanswer": 3}, r"line 1: 'fakeanswer' is 3, not a string or a list of strings"),
        ({"id": "0"}, r"line 1: 'id' is \"0\", not an integer"),
    ],
)
def test_a_record_of_another_shape_is_named(tmp_path, change, message):
    path = write(tmp_path / "en.json", [DEFAULT[0] | change])
    with pytest.raises(InputError, match=message):
        rgb.read_instances(path)


def test_what_is_no_data_file(tmp_path):
    for given in (tmp_path / "en.json", tmp_path, []):
        with pytest.raises(InputError, match="name a data file"):
            rgb.read_instances(given)
    (tmp_path / "en.json").write_text("[]")
    with pytest.raises(InputError, match="a JSON array; write its records as JSON lines"):
        rgb.read_instances(tmp_path / "en.json")
    missing = {key: value for key, value in DEFAULT[0].items() if key != "negative"}
    with pytest.raises(InputError, match="no 'negative'"):
        rgb.read_instances(write(tmp_path / "en.json", [missing]))
