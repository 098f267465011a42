"""Labels of responses: golden values, real responses, a naive program, and shapes of answers."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError

SCHEMA = {"dataset": pl.String, "answers": pl.List(pl.List(pl.String)), "response": pl.String}


def groups(answer):
    """An answer as it is published, as groups of aliases."""
    listed = answer if isinstance(answer, list) else [answer]
    return [[element] if isinstance(element, str) else element for element in listed]


def table(*rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def labels(frame, **roles):
    return ef.rag.label(frame, **roles).select("label", "factlabel")


def naive(dataset, answers, response):
    """The rules, one after the other."""
    if "zh" in dataset:
        response = response.replace(" ", "")
    flagged = int("事实性错误" in response or "factual errors" in response)
    if "信息不足" in response or "insufficient information" in response:
        return [-1], flagged
    text = response.lower()
    return [int(any(alias.lower() in text for alias in group)) for group in answers], flagged


def test_golden_labels(golden):
    cases = golden("rag/labels")["cases"]
    assert len(cases) >= 280
    rows = [(case["dataset"], groups(case["ground_truth"]), case["response"]) for case in cases]
    found = labels(table(*rows))
    assert found["label"].to_list() == [case["label"] for case in cases]
    assert found["factlabel"].to_list() == [case["factlabel"] for case in cases]


def test_golden_answer_checks(golden):
    checks = golden("rag/checkanswer")
    rows = [
        (groups(case["ground_truth"]), case["prediction"], case["expected"])
        for case in checks["cases"]
    ]
    rows += [
        (groups(item["ground_truth"]), response, expected)
        for item in checks["real"]
        for response, expected in item["cases"]
    ]
    # Upper and lower case of one letter: the one in the response, the other in the answer.
    pairs = [
        tuple("".join(chr(int(h, 16)) for h in s.split()) for s in pair)
        for pair in checks["lowercase_pairs"]
    ]
    rows += [([[lower]], upper, [1]) for upper, lower in pairs]
    assert len(rows) > 1_500
    found = labels(table(*(("en", answers, response) for answers, response, _ in rows)))
    assert found["label"].to_list() == [expected for *_, expected in rows]


def test_every_stored_label_of_real_responses(shared):
    folder = shared / "data/rag"
    stored = pl.scan_parquet(folder / "results_licensed.parquet").rename(
        {"label": "stored", "factlabel": "stored_flag", "prediction": "response"}
    )
    answers = pl.scan_parquet(folder / "instances.parquet").select(
        "dataset", "id", answers="answer_groups"
    )
    joined = stored.join(answers, on=["dataset", "id"], how="left", maintain_order="left")
    made = ef.rag.label(joined).collect()
    assert len(made) == 14_700
    assert (made["label"] == made["stored"]).all()
    assert (made["factlabel"] == made["stored_flag"]).all()


WORDS = st.sampled_from(
    [
        "",
        "Paris",
        "paris ",
        "İstanbul",
        "ΣΑΣ",
        "70",
        "170",
        "高通 骁龙",
        "高通骁龙",
        "a.c",
        "(",
        "Σ",
    ]
)
TEXTS = st.lists(
    st.one_of(WORDS, st.sampled_from(["insufficient information", "信息 不足", "factual errors"])),
    max_size=4,
).map(" ".join)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["en", "zh", "zh_int", "en_fact"]),
            st.lists(st.lists(WORDS, max_size=3), max_size=3),
            TEXTS,
        ),
        min_size=1,
        max_size=12,
    )
)
def test_labels_are_those_of_a_naive_program(rows):
    found = labels(table(*rows))
    assert list(found.iter_rows()) == [naive(*row) for row in rows]


def test_streaming_gives_the_same(tmp_path):
    rows = [("zh" if k % 3 else "en", [["7"], [str(k)]], f"7 1 {k % 100}") for k in range(3_000)]
    table(*rows).write_parquet(tmp_path / "responses.parquet", row_group_size=500)
    scan = pl.scan_parquet(tmp_path / "responses.parquet")
    made = ef.rag.label(scan).collect(engine="streaming")
    assert_frame_equal(made, ef.rag.label(table(*rows)))


def test_what_is_null_has_no_label():
    found = labels(
        table(
            ("en", [["a"]], None),
            (None, [["a"]], "a"),
            ("en", None, "a"),
            ("en", [["a"], None], "a"),
            ("en", [["a", None]], "a"),
            ("en", None, "insufficient information"),
            ("en", [], "a"),
            ("en", [[]], "a"),
        )
    )
    assert found["label"].to_list() == [None] * 5 + [[-1], [], [0]]
    assert found["factlabel"].to_list() == [None] * 2 + [0] * 6


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_columns_without_a_value_and_categories(mode):
    frame = table(("zh", [["a b"]], "a  b"), ("en", [["a"]], "b"))
    plain = ef.rag.label(frame, mode=mode)
    for dtype in (pl.Categorical, pl.Enum(["zh", "en"])):
        made = ef.rag.label(frame.with_columns(pl.col("dataset").cast(dtype)), mode=mode)
        assert_frame_equal(made.drop("dataset"), plain.drop("dataset"))
    for column in ("response", "dataset"):
        failed = frame.with_columns(pl.lit(None).alias(column))
        assert failed.schema[column] == pl.Null
        made = ef.rag.label(failed, mode=mode)
        assert made.select("label", "factlabel").rows() == [(None, None)] * 2


def test_no_rows():
    assert labels(table()).schema == {"label": pl.List(pl.Int8), "factlabel": pl.Int8}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (pl.Series(["a", "x", None]), [[1], [0], None]),
        (pl.Series([["a", "x"], ["b"], []]), [[1, 0], [1], []]),
        (pl.Series([None, None, None]), [None] * 3),
    ],
)
def test_answers_of_other_shapes(answers, expected):
    frame = pl.DataFrame({"dataset": ["en"] * 3, "answers": answers, "response": ["A b"] * 3})
    assert labels(frame)["label"].to_list() == expected


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_answers_in_text_are_read_as_on_the_command_line(mode):
    texts = ['["Rome", ["Kyiv", "Kiev"]]', '["Oslo", "Rome"]', '"Rome"', "Rome", "[Rome]", None]
    frame = pl.DataFrame({"dataset": "en", "answers": texts, "response": "Rome, not Kiev: [rome]"})

    def found(**options):
        return ef.rag.label(frame, mode=mode, **options)["label"].to_list()

    assert found() == [[1, 1], [0, 1], [1], [1], [1], None]
    assert found(flat_answers="aliases") == [[1, 1], [1], [1], [1], [1], None]
    # The text itself, whatever it looks like.
    strictly = {"mode": "strict", "answers": ef.rag.answer_groups(on_invalid="null")}
    literal = ef.rag.label(frame, **strictly)["label"].to_list()
    assert literal == [[0], [0], [0], [1], [1], None]
    lists = frame.select("dataset", "response", answers=pl.lit(["Oslo", "Rome"]))
    for flat, expected in (("parts", [0, 1]), ("aliases", [1])):
        made = ef.rag.label(lists, mode=mode, flat_answers=flat)
        assert made["label"].to_list() == [expected] * len(frame)


def test_columns_may_be_expressions():
    frame = pl.DataFrame({"gold": ["a"], "text": ["A"]})
    found = labels(frame, dataset=pl.lit("en"), answers="gold", response=pl.col("text"))
    assert found.row(0) == ([1], 0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"answers": [1]}, ParameterError, "answers must be lists of groups .* but is Int64"),
        ({"answers": [[1]]}, ParameterError, r"but is List\(Int64\)"),
        ({"response": [1]}, ParameterError, "response must be text, but is Int64"),
    ],
)
def test_bad_tables(change, error, message):
    frame = table(("en", [["a"]], "a")).with_columns(**{k: pl.Series(v) for k, v in change.items()})
    with pytest.raises(error, match=message):
        ef.rag.label(frame)
    with pytest.raises(MissingColumnsError, match="label needs column 'answers'"):
        ef.rag.label(frame.select("dataset", "response"))
