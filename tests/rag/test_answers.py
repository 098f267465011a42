"""Answers of every published shape: hand-made, golden and real ones, and all that has none."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_series_equal

import evalframe as ef
from evalframe.core.errors import ContractError, ParameterError
from evalframe.rag.answers import (
    GROUPS,
    aliases,
    aliases_from_json,
    answer_groups,
    answers_from_json,
    answers_from_text,
)


def groups(answer):
    """An answer as it is published, as groups of aliases."""
    listed = answer if isinstance(answer, list) else [answer]
    return [[element] if isinstance(element, str) else element for element in listed]


def is_published(answer):
    def is_text(value):
        return isinstance(value, str)

    def are_texts(value):
        return isinstance(value, list) and all(map(is_text, value))

    if isinstance(answer, list):
        return all(is_text(element) or are_texts(element) for element in answer)
    return is_text(answer)


def made(function, values, *, engine="in-memory", **options):
    frame = pl.LazyFrame({"answers": values})
    return frame.select(function("answers", **options)).collect(engine=engine).to_series()


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a b", ""], [[["a b"]], [[""]]]),
        (['["a"]'], [[['["a"]']]]),
        ([["a", "b"], []], [[["a"], ["b"]], []]),
        ([[["a", "b"], []], [], [["c"]]], [[["a", "b"], []], [], [["c"]]]),
        ([[], []], [[], []]),
        (pl.Series([], dtype=pl.String), []),
        (pl.Series([], dtype=pl.List(pl.String)), []),
    ],
)
def test_text_and_lists(values, expected, engine):
    found = made(answer_groups, values, engine=engine)
    assert found.dtype == GROUPS
    assert found.to_list() == expected


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (answer_groups, [["a", "b"], [], ["c"]], [[["a", "b"]], [], [["c"]]]),
        (answer_groups, [[["a"], ["b"]]], [[["a"], ["b"]]]),
        (answer_groups, ['["a", "b"]'], [[['["a", "b"]']]]),
        (
            answers_from_json,
            ['["a", "b"]', '["a", ["b", "c"]]', '[["a"], ["b"]]', "[]", '"a"'],
            [[["a", "b"]], [["a"], ["b", "c"]], [["a"], ["b"]], [], [["a"]]],
        ),
        (answers_from_text, [' ["a" ,"b"]', "a, b"], [[["a", "b"]], [["a, b"]]]),
    ],
)
def test_flat_lists_are_aliases_if_it_is_said(function, values, expected, engine):
    assert made(function, values, engine=engine, flat_answers="aliases").to_list() == expected
    with pytest.raises(ParameterError, match=r"flat_answers must be one of \['parts'"):
        function(flat_answers="any")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a b"', [["a b"]]),
        ('""', [[""]]),
        ('["a", "b"]', [["a"], ["b"]]),
        ('[["a", "b"], ["c"]]', [["a", "b"], ["c"]]),
        (' [ "a" , [ "b" ,"c" ] ] ', [["a"], ["b", "c"]]),
        ("[]", []),
        ("[[]]", [[]]),
        (r'"a\"], [\\"', [['a"], [\\']]),
        (r'"\u00e9\n\ud83d\ude00"', [["é\n😀"]]),
        (r'"\\ud83d"', [["\\ud83d"]]),
    ],
)
def test_json(text, expected):
    assert made(answers_from_json, [text]).to_list() == [expected]


BAD_JSON = [
    *("12", "null", "true", '{"a": "x"}', "[null]", "[1]", '[["a", 1]]', '[["a", null]]'),
    *('[[["a"]]]', "Paris", "", '"a', '["a",]', '["a"] x', r'"\x"', '"a\nb"', r'"\ud83d"'),
    None,
]


@pytest.mark.parametrize("text", BAD_JSON)
def test_json_of_no_published_shape(text):
    values = pl.Series(['"a"', text, '["b"]'], dtype=pl.String)
    found = made(answers_from_json, values, on_invalid="null")
    assert found.to_list() == [[["a"]], None, [["b"]]]
    shown = "null" if text is None else text
    with pytest.raises(ContractError) as error:
        made(answers_from_json, values)
    assert f"1 of 3 are of no published shape (rows are numbered from 0).\n  row 1: {shown}" in str(
        error.value
    )
    assert "a list of strings (all of them required, as flat_answers='parts'" in str(error.value)
    with pytest.raises(ContractError, match="any of which suffices, as flat_answers='aliases'"):
        made(answers_from_json, values, flat_answers="aliases")


def test_the_first_rows_are_named():
    with pytest.raises(ContractError, match=r"answers: 4 of 5 are .*\n  row 1: 1\n.*\n  row 3: 3"):
        made(answers_from_json, ['"a"', "1", "2", "3", "4"], engine="streaming")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", None], [[["a"]], None]),
        ([["a"], None, ["a", None]], [[["a"]], None, None]),
        ([[["a"]], [None], [["a", None]], None, [[]]], [[["a"]], None, None, None, [[]]]),
        ([None, None], [None, None]),
        ([[None], []], [None, []]),
    ],
)
def test_nulls_within(values, expected):
    assert made(answer_groups, values, on_invalid="null").to_list() == expected
    with pytest.raises(ContractError, match="of no published shape"):
        made(answer_groups, values)


WIDE_SPACES = ["\u00a0", "\x0b", "\x0c", "\u0085", "\u2003", "\u2028", "\u3000", "\ufeff"]


@pytest.mark.parametrize("space", WIDE_SPACES)
def test_white_space_is_that_of_json(space):
    texts = [f'"a"{space}', f'{space}["a"]', f'["a",{space}"b"]', f"[{space}]"]
    assert made(answers_from_json, texts, on_invalid="null").null_count() == 4
    with pytest.raises(ContractError, match="answers: 4 of 4 are of no published shape"):
        made(answers_from_json, texts)
    assert made(answers_from_text, texts).to_list() == [[[text]] for text in texts]
    with pytest.raises(ContractError, match="of no published shape"):
        made(aliases_from_json, [f"null{space}"])


def test_json_among_plain_text():
    read = {
        '["a"]': [["a"]],
        "[a]": [["[a]"]],
        "12": [["12"]],
        "a": [["a"]],
        '"a"': [["a"]],
        '"a" b': [['"a" b']],
        '"a", "b"': [['"a", "b"']],
        r'"say \"a\""': [['say "a"']],
        'say "a"': [['say "a"']],
        "": [[""]],
        " ": [[" "]],
        "null": [["null"]],
        '["a", null]': [['["a", null]']],
        "[12]": [["[12]"]],
        "[]": [],
        '\t[["a", "b"], "c"]\r\n': [["a", "b"], ["c"]],
        '{"a": "b"}': [['{"a": "b"}']],
        '["a"': [['["a"']],
    }
    for engine in ("in-memory", "streaming"):
        found = made(answers_from_text, list(read), engine=engine)
        assert found.dtype == GROUPS
        assert found.to_list() == list(read.values())


def test_what_is_no_text_is_read_as_lists():
    for values in ([["a", "b"], []], [[["a", "b"], []]]):
        assert made(answers_from_text, values).equals(made(answer_groups, values))
    assert made(answers_from_text, ["a", None], on_invalid="null").to_list() == [[["a"]], None]
    with pytest.raises(ContractError, match="1 of 2 are of no published shape"):
        made(answers_from_text, ["a", None])
    with pytest.raises(ParameterError, match=r"are Int64\. Cast numbers to String; put") as error:
        made(answers_from_text, [1])
    assert str(error.value).partition("\n")[0].endswith("read it by answers_from_json")


def test_fake_answers():
    assert made(aliases, ["a", None]).to_list() == [["a"], None]
    assert made(aliases, [["a", "b"], None, []]).to_list() == [["a", "b"], None, []]
    texts = ['"a"', '["a", "b"]', None, "null", "[]"]
    found = made(aliases_from_json, texts).to_list()
    assert found == [["a"], ["a", "b"], None, None, []]
    for function, value in ((aliases, [None]), (aliases_from_json, '[["a"]]')):
        assert made(function, [value], on_invalid="null").to_list() == [None]
        with pytest.raises(
            ContractError, match=r"1 of 1 are .*\n.*\nAliases are a string or a lis"
        ):
            made(function, [value])


@pytest.mark.parametrize("on_invalid", ["raise", "null"])
@pytest.mark.parametrize(
    ("function", "values", "message"),
    [
        (answer_groups, [1], "answers must be text, lists of text .* but are Int64"),
        (answer_groups, [[[["a"]]]], "but are List"),
        (answers_from_json, [["a"]], r"must be JSON text, but is List\(String\)"),
        (aliases, [[["a"]]], "aliases must be text or lists of text, but are List"),
    ],
)
def test_columns_of_other_types(function, values, message, on_invalid):
    with pytest.raises(ParameterError, match=message):
        made(function, values, on_invalid=on_invalid)


def test_unknown_choice():
    with pytest.raises(ParameterError, match="on_invalid must be one of"):
        answer_groups(on_invalid="drop")


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=1), inner),
    max_leaves=6,
)


@settings(max_examples=20, deadline=None)
@given(st.lists(VALUES, max_size=5), st.booleans())
def test_any_json_is_an_answer_or_null(answers, ascii):
    texts = pl.Series([json.dumps(a, ensure_ascii=ascii) for a in answers], dtype=pl.String)
    found = made(answers_from_json, texts, on_invalid="null")
    assert found.to_list() == [groups(a) if is_published(a) else None for a in answers]
    mixed = [
        groups(a) if is_published(a) else [[text]] for a, text in zip(answers, texts, strict=True)
    ]
    assert made(answers_from_text, texts).to_list() == mixed


def test_every_published_answer(shared):
    instances = pl.read_parquet(shared / "data/rag/instances.parquet")
    found = instances.select(answers_from_json("answer_json")).to_series()
    assert_series_equal(found, instances["answer_groups"], check_names=False)
    fakes = instances.select(aliases_from_json("fakeanswer_json")).to_series()
    assert fakes.null_count() == 1_400
    assert set(fakes.drop_nulls().list.len()) == {1, 2}


def test_golden_answers_and_types(golden):
    checks = golden("rag/checkanswer")
    texts = [json.dumps(case["ground_truth"]) for case in checks["cases"]]
    assert made(answers_from_json, texts).to_list() == [
        groups(case["ground_truth"]) for case in checks["cases"]
    ]
    wrong = [json.dumps(case["ground_truth"]) for case in checks["type_cases"]]
    assert all(case["expected_error"] == "AttributeError" for case in checks["type_cases"])
    assert made(answers_from_json, wrong, on_invalid="null").null_count() == len(wrong)


def test_golden_items_that_the_original_drops_have_no_label(golden):
    for case in golden("rag/rates")["dropped_items"][:1]:
        items = pl.DataFrame(
            {
                "id": [item["id"] for item in case["items"]],
                "dataset": case["dataset"],
                "answers": [json.dumps(item["answer"]) for item in case["items"]],
                "response": [item["response"] for item in case["items"]],
            }
        )
        frame = items.with_columns(answers_from_json(on_invalid="null"))
        labelled = ef.rag.label(frame).filter(pl.col("label").is_not_null())
        assert labelled["id"].to_list() == case["kept_ids"]
        assert labelled["label"].to_list() == case["labels"]
