"""Lenient labels: worked examples, tiers, a naive program, parameters, and what stays strict."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.rag.normalising import as_tokens
from rag.naive_lenient import decide, normal

RULES = ("substring", "normalized", "token_overlap")
COLUMNS = [
    *("label", "factlabel", "answer_rule"),
    *("rejection_tier", "rejection_rule", "error_tier", "error_rule"),
]
SCHEMA = {"dataset": pl.String, "answers": pl.List(pl.List(pl.String)), "response": pl.String}


def table(*rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def lenient(*rows, **options):
    return ef.rag.label(table(*rows), mode="lenient", **options).select(COLUMNS)


def found(*pairs, **options):
    """Whether each response has its alias."""
    rows = [("en", [[alias]], response) for response, alias in pairs]
    return [label == [1] for label in lenient(*rows, **options)["label"].to_list()]


EXAMPLES = [
    ("**New  York**", "New York", 0, 1, 1),
    ("Karolína Muchová won", "Karolina Muchova", 0, 1, 1),
    ("It cost 1,361,000 dollars", "1361000", 0, 1, 0),
    ("Yamagami Tetsuya was arrested", "Tetsuya Yamagami", 0, 0, 1),
    ("Premiere: 2 January, 2022", "January 2 2022", 0, 0, 1),
    ("高通 骁龙8 Gen 2", "高通骁龙8Gen2", 0, 1, 0),
    ("\uff33\uff25\uff13", "SE3", 0, 1, 0),
    ("170 seats", "70", 1, 0, 0),
    ("the answer is USA", "U.S.A.", 0, 0, 0),
    ("May 5, 2020; also Jan 3", "Jan 5, 2020", 0, 0, 1),
    ("anything", "", 1, 0, 0),
]


@pytest.mark.parametrize("place", range(3), ids=RULES)
def test_examples_of_each_rule_alone(place):
    made = found(*[example[:2] for example in EXAMPLES], answer_rules=[RULES[place]])
    assert made == [bool(example[2 + place]) for example in EXAMPLES]


def test_the_first_rule_among_the_aliases_is_told():
    group = ["Tetsuya Yamagami", "Yamagami, Tetsuya", "nobody"]
    rows = lenient(("en", [group, ["x"], []], "Yamagami Tetsuya"), ("en", [], "a"))
    assert rows["answer_rule"].to_list() == [["normalized", None, None], []]
    assert rows["label"].to_list() == [[1, 0, 0], []]


@pytest.mark.parametrize(
    ("threshold", "slack", "response", "expected"),
    [
        (0.8, 0, "one two three four", True),  # 0.8 of 5 is 4, in floating point as well
        (0.81, 5, "one two three four", False),
        (0.8, 0, "one two x y three four", False),
        (0.8, 2, "one two x y three four", True),
        (0.8, 1, "one two x y three four", True),
        (0.6, 0, "one two three", True),
    ],
)
def test_threshold_and_slack(threshold, slack, response, expected):
    alias = "one two three four five"
    assert found((response, alias), threshold=threshold, slack=slack) == [expected]


def test_repeated_tokens_count_as_often():
    pairs = ("Duran and friends", "Duran Duran"), ("Duran, or Duran", "Duran Duran")
    assert found(*pairs) == [False, True]


GUARDED = [
    ("170 seats", "70", False),
    ("in 2022", "22", False),
    ("12.3%", "2.3%", False),
    ("March 15", "March 1", False),
    ("170 or 70 seats", "70", True),
    ("7070 70", "70", True),
    ("1,70", "70", True),  # as a token of its own
    ("é70", "70", True),
    ("21 1 1", "1 1", True),
    ("共170人", "70人", False),
    ("cats", "cat", False),
    ("\n", "\n", True),
    ("a", "", True),
]


def test_boundary_guard():
    pairs = [(response, alias) for response, alias, _ in GUARDED]
    assert all(found(*pairs))
    assert found(*pairs, boundary_guard=True) == [kept for *_, kept in GUARDED]


REJECTIONS = [
    ("en", "Insufficient  \nInformation.", 1, "insufficient information"),
    ("zh", "insufficient information", 1, "insufficient information"),
    ("zh", "信息 不足", 1, "信息不足"),
    ("en", "I can\u2019t answer.", 2, "can't answer"),
    ("zh", "我 无 法 回\n答", 2, "无法回答"),
    ("en", "It is not mentioned; I cannot confirm it", 2, "cannot confirm"),
    ("en", "It is NOT MENTIONED", 3, "not mention"),
    ("en", "All is said", 0, None),
]


def test_tiers_of_rejections():
    rows = lenient(*[(dataset, [["gold"]], response) for dataset, response, _, _ in REJECTIONS])
    expected = [(tier, rule) for *_, tier, rule in REJECTIONS]
    assert rows.select("rejection_tier", "rejection_rule").rows() == expected
    assert rows["label"].to_list() == [[-1] if tier else [0] for tier, _ in expected]


def test_a_good_answer_is_no_rejection_but_a_strict_one():
    answers = [["gold"], ["silver"]]
    rows = lenient(
        ("en", answers, "gold, silver; not mentioned"),
        ("en", answers, "gold; cannot answer the rest"),
        ("en", answers, "gold, silver; insufficient information"),
        ("en", [], "not mentioned"),
        ("en", answers, "gold, silver; Insufficient information"),
        ("en", answers, "gold; Insufficient information"),
    )
    assert rows["label"].to_list() == [[1, 1], [-1], [-1], [-1], [1, 1], [-1]]
    assert rows["rejection_tier"].to_list() == [0, 2, 1, 3, 0, 1]
    assert rows["rejection_rule"].to_list()[0] is None
    assert rows["answer_rule"].to_list()[:4] == [["substring"] * 2, ["substring", None], None, []]
    assert rows["answer_rule"].to_list()[4:] == [["substring"] * 2, ["substring", None]]
    fewer = lenient(("en", answers, "not mentioned"), max_tier=2)
    assert fewer["label"].to_list() == [[0, 0]]


FLAGGED = [
    ("There are Factual errors", 1, "factual errors"),
    ("no factual errors", 1, "factual errors"),
    ("a factual error", 2, "factual error"),
    ("There is no factual error", 0, None),
    ("no obvious  factual error", 0, None),
    ("no, all of it is a factual error", 2, "factual error"),
    ("no factual error. wrong information", 2, "wrong information"),
    ("no factual error here, but this is a factual error", 2, "factual error"),
    ("does not contain any factual error", 0, None),
    ("没有事实错误事实错误", 0, None),
    ("文档有误", 2, "文档有误"),
    ("é文é文 é wrong information", 2, "wrong information"),
]


def test_tiers_of_flagged_errors():
    rows = lenient(*[("en", [["gold"]], response) for response, _, _ in FLAGGED])
    expected = [(tier, rule, int(tier > 0)) for _, tier, rule in FLAGGED]
    assert rows.select("error_tier", "error_rule", "factlabel").rows() == expected


CHINESE = [
    ("not contain any 。wrong information", 0, 0),
    ("no mention. 与事实不一致", 3, 2),
    ("无 法 回\u2028答。文 档 有 误", 2, 2),
    ("没 有 错 误 信 息", 0, 0),
]


def test_chinese_data_sets_are_searched_with_and_without_spaces():
    rows = lenient(*[("zh", [["gold"]], response) for response, _, _ in CHINESE])
    tiers = rows.select("rejection_tier", "error_tier").rows()
    assert tiers == [(rejection, error) for _, rejection, error in CHINESE]


PIECES = st.sampled_from(
    [
        *("", "Paris", "İstanbul", "ΣΑΣ", "70", "170", "2.3%", "12.3%", "1,361,000", "1,23,456"),
        *(
            "1361000",
            "高通 骁龙",
            "高通骁龙8Gen2",
            "\uff33\uff25\uff13",
            "SE3",
            "a.c",
            "(",
            "Muchová",
        ),
        *("muchova", "O\u2019Neill", "O'Neill", "New York", "York, New", "the", "U.S.A."),
        *("1,'361", "1.'5", "1,361X", "≠", "②", "½", "\u0301", "\u3000", "\n", "e\u0301", "ß"),
        *("\uff21B", "\x00", "not  mentioned", "cannot\nanswer", "can\u2019t answer", "无法 回答"),
        *("insufficient information", "insufficient information\u0301", "信息 不足", "no "),
        *("factual error", "factual errors", "not contain any ", "没有", "事实 错误"),
        "wrong\u00a0information",
    ]
)
TEXTS = st.one_of(
    st.tuples(st.sampled_from(["", " ", ", "]), st.lists(PIECES, max_size=6)).map(
        lambda drawn: drawn[0].join(drawn[1])
    ),
    st.text(st.sampled_from("12345,.'` aX"), max_size=14),
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["en", "zh"]),
        st.lists(st.lists(st.one_of(PIECES, TEXTS), max_size=3), max_size=3),
        TEXTS,
    ),
    min_size=1,
    max_size=25,
)
CHOSEN = st.sets(st.sampled_from(RULES), min_size=1).map(sorted)


@settings(max_examples=6, deadline=None)
@given(ROWS, CHOSEN, st.booleans(), st.integers(1, 3))
def test_labels_are_those_of_a_naive_program(rows, rules, guard, max_tier):
    made = lenient(*rows, answer_rules=rules, boundary_guard=guard, max_tier=max_tier)
    expected = [decide(*row, rules, guard=guard, max_tier=max_tier) for row in rows]
    assert list(made.iter_rows()) == expected


@settings(max_examples=4, deadline=None)
@given(ROWS)
def test_what_is_strictly_found_is_found_leniently(rows):
    strict, loose = ef.rag.label(table(*rows)), lenient(*rows)
    for old, new in zip(strict["label"], loose["label"], strict=True):
        rejected = new.to_list() == [-1]
        assert rejected or all(a <= b for a, b in zip(old, new, strict=True))
        assert rejected or old.to_list() != [-1]
        assert not rejected or set(old) != {1}
    assert (strict["factlabel"] <= loose["factlabel"]).all()


def test_normalised_characters():
    blocks = [
        (0x80, 0x1000),
        (0x1E00, 0x2700),
        (0x3000, 0x3400),
        (0x4E00, 0x5000),
        (0xF900, 0xFFF0),
    ]
    characters = [chr(code) for first, last in blocks for code in range(first, last)]
    texts = pl.Series([f"1{c}23,456 {c}.5" for c in characters if c.isprintable()])
    assert [text[1:] for text in as_tokens(texts)] == [f"{normal(t)} ".lstrip() for t in texts]


def test_what_is_null_has_no_label():
    rows = lenient(
        ("en", [["a"]], None),
        (None, [["a"]], "a"),
        ("en", None, "a"),
        ("en", [["a"], None], "a"),
        ("en", [["a"], [None]], "a, not mentioned"),
        ("en", [["b"], None], "a, not mentioned"),
        ("en", None, "insufficient information"),
    )
    assert rows["label"].to_list() == [None] * 5 + [[-1]] * 2
    assert rows["answer_rule"].to_list() == [None] * 7
    assert rows["rejection_tier"].to_list() == [None, None, 0, 0, None, 3, 1]
    assert rows["factlabel"].to_list() == [None] * 2 + [0] * 5


def test_no_rows():
    assert lenient().schema == {
        "label": pl.List(pl.Int8),
        "factlabel": pl.Int8,
        "answer_rule": pl.List(pl.String),
        "rejection_tier": pl.Int8,
        "rejection_rule": pl.String,
        "error_tier": pl.Int8,
        "error_rule": pl.String,
    }


def test_streaming_gives_the_same(tmp_path):
    rows = [
        ("zh" if k % 3 else "en", [["7,0"], [f"{k} x"]], f"x {k % 100} 7") for k in range(1_500)
    ]
    table(*rows).write_parquet(tmp_path / "responses.parquet", row_group_size=200)
    scan = pl.scan_parquet(tmp_path / "responses.parquet")
    made = ef.rag.label(scan, mode="lenient").collect(engine="streaming")
    assert_frame_equal(made.select(COLUMNS), lenient(*rows))


def test_columns_of_the_same_name_are_replaced():
    frame = table(("en", [["gold"]], "gold"))
    again = ef.rag.label(ef.rag.label(frame, mode="lenient"), mode="lenient")
    assert_frame_equal(again, ef.rag.label(frame, mode="lenient"))
    assert ef.rag.label(frame.with_columns(label=1))["label"].to_list() == [[1]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"mode": "loose"}, ParameterError, "mode must be one of .* got 'loose'"),
        ({"slack": 1}, ParameterError, 'are for lenient labels; .* ask for mode="lenient"'),
        ({"boundary_guard": True}, ParameterError, "are for lenient labels"),
        ({"threshold": 0}, ParameterError, r"threshold must lie in \(0, 1\], got 0"),
        ({"threshold": float("nan")}, ParameterError, "threshold"),
        ({"slack": 6}, ParameterError, "slack must be a whole number, 0 to 5, got 6"),
        ({"slack": 2.0}, ParameterError, "slack must be a whole number"),
        ({"max_tier": 0}, ParameterError, "max_tier must be a whole number, 1 to 3, got 0"),
        ({"max_tier": 1.0}, ParameterError, "max_tier must be a whole number"),
        ({"threshold": None}, ParameterError, "threshold must lie in .* got None"),
        ({"threshold": "x"}, ParameterError, "threshold must lie in .* got 'x'"),
        ({"boundary_guard": "no"}, ParameterError, "boundary_guard must be a bool, got 'no'"),
        ({"answer_rules": [1]}, UnknownNameError, "'1'"),
        ({"answer_rules": 1}, ParameterError, "as a list; got 1"),
        ({"answer_rules": []}, ParameterError, "answer_rules must name at least one of"),
        ({"answer_rules": "substring"}, ParameterError, "as a list; got 'substring'"),
        ({"answer_rules": ["normalised"]}, UnknownNameError, "Did you mean 'normalized'"),
    ],
)
def test_bad_parameters(options, error, message):
    with pytest.raises(error, match=message):
        ef.rag.label(table(("en", [["a"]], "a")), **options)
