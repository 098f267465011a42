"""Responses: a response for each way of writing, and what is never taken."""

import math
import random

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.compat import dtef
from evalframe.survey.parsing.parse import parse

SCHEMA = {
    "response": pl.String,
    "n_options": pl.Int64,
    "key": pl.String,
    "options": pl.List(pl.String),
}
YES_NO = ["Yes", "No", "Not sure"]


def read(*rows, parse=parse):
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    made = parse(frame, question_key="key", options="options")
    return list(made.select("predicted", "status", "parse_rule").iter_rows())


def found(texts, n=3, *, options=None):
    """What is read from each text, all in one query."""
    return dict(zip(texts, read(*[(text, n, None, options) for text in texts]), strict=True))


WAYS_OF_WRITING = [
    ("The group leans left.\n\nDISTRIBUTION: [45.2, 30.1, 24.7]", [45.2, 30.1, 24.7], "marker"),
    ("**Distribution:** [45, 30, 25]", [45, 30, 25], "marker"),
    ("**DISTRIBUTION**: **[45, 30, 25]**", [45, 30, 25], "marker"),
    ("distribution = ['45%', '30%', '25%']", [45, 30, 25], "marker"),
    ("DISTRIBUTION: [0.45, 0.30, 0.25]", [0.45, 0.3, 0.25], "marker"),
    (
        "DISTRIBUTION: [n1, n2, n3] is asked for.\nDISTRIBUTION: [45, 30, 25]",
        [45, 30, 25],
        "marker",
    ),
    ("DISTRIBUTION: [45, 30, 25]\nOthers would say [33, 33, 34].", [45, 30, 25], "marker"),
    ("Perhaps [50, 30, 20]. DISTRIBUTION: 45, 30, 25", [45, 30, 25], "lines"),
    (
        "[50, 30, 20]?\nDISTRIBUTION:\na) Yes: 45%\nb) No: 30%\nc) -: 25%",
        [45, 30, 25],
        "labelled",
    ),
    ("<think>maybe [50, 25, 25]</think>\n[45, 30, 25]", [45, 30, 25], "bracket"),
    (
        "As in [1] and [Smith, 2020] [source]: [45.2, 30.1, 24.7] [2]",
        [45.2, 30.1, 24.7],
        "bracket",
    ),
    ('["45.2%", "30.1%", "24.7%"]', [45.2, 30.1, 24.7], "bracket"),
    ("[45,2; 30,1; 24,7]", [45.2, 30.1, 24.7], "bracket"),
    ("[45,2, 30,1, 24,7]", [45.2, 30.1, 24.7], "bracket"),
    ("[**45**, **30**, **25**]", [45, 30, 25], "bracket"),
    ("[45 30 25]", [45, 30, 25], "bracket"),
    ("[45 | 30 | 25]", [45, 30, 25], "bracket"),
    ("```json\n[\n  45,\n  30,\n  25\n]\n```", [45, 30, 25], "bracket"),
    ('{"distribution": [45, 30, 25]}', [45, 30, 25], "marker"),
    ("a] DISTRIBUTION: [45, 30, 25] b]", [45, 30, 25], "marker"),
    ("[1] DISTRIBUTION: [45, 30, 25] [2]", [45, 30, 25], "marker"),
    (
        "| Option | % |\n|---|---|\n| Yes | 60% |\n| No | **30%** |\n| ? | 10 |\n| Sum | 100 |",
        [60, 30, 10],
        "table",
    ),
    (
        "| # | Option | % |\n|--|--|--|\n| 1 | Yes | 60 |\n| 2 | No | 30 |\n| 3 | x | 10 |",
        [60, 30, 10],
        "table",
    ),
    ("| Yes | No | Other |\n|---|---|---|\n| 60 | 30 | 10 |", [60, 30, 10], "table"),
    ("a) Alpha: 60%\nb) Beta: 30%\nc) Gamma: 10%", [60, 30, 10], "labelled"),
    ("(a) 60%\n(b) 30%\n(c) 10%", [60, 30, 10], "labelled"),
    ("1. 60%\n2. 30%\n3. 10%", [60, 30, 10], "labelled"),
    (
        "1. **Alpha** - 60%\n2. **Beta** \u2013 30%\n3. **Gamma** \u2014 10%",
        [60, 30, 10],
        "labelled",
    ),
    ("A: 60\nB: 30\nC: 10", [60, 30, 10], "labelled"),
    ("Option A: about 60%, Option B: 30%, Option C: ~10%", [60, 30, 10], "labelled"),
    ("1 - Low: 60%\n2 - Middle: 30%\n3 - High: 10%", [60, 30, 10], "labelled"),
    ("a) 60% b) 30% c) 10%", [60, 30, 10], "labelled"),
    ("a. 18-25: 60%\nb. 26 - 35: 30%\nc. 36+: 10%", [60, 30, 10], "labelled"),
    (
        "Trust: 30%.\n\na. x: 60%\n   Reason: 12 of 20.\nb. y: 30%\nc. z: 10%\nTotal: 100%",
        [60, 30, 10],
        "labelled",
    ),
    ("Alpha: 60,5%\nBeta: 29,5%\nGamma: 10%", [60.5, 29.5, 10], "labelled"),
    ('{"a": "60%", "b": "30%", "c": "10%"}', [60, 30, 10], "labelled"),
    ("Answer: 45.2, 30.1, 24.7", [45.2, 30.1, 24.7], "lines"),
    ("I predict 45%, 30%, and 25% respectively.", [45, 30, 25], "lines"),
    ("45.2\n30.1\n24.7", [45.2, 30.1, 24.7], "lines"),
    ("- **45%**\n- **30%**\n- **25%**", [45, 30, 25], "lines"),
    ("45,\n30,\n25", [45, 30, 25], "lines"),
    ("45.2\t30.1\t24.7", [45.2, 30.1, 24.7], "lines"),
    ("45,2; 30,1; 24,7", [45.2, 30.1, 24.7], "lines"),
    (".45, .3, .25", [0.45, 0.3, 0.25], "lines"),
    ('["a", "b", "a", "c"]', [50, 25, 25], "individuals"),
]


def test_ways_of_writing():
    expected = {text: (vector, "ok", rule) for text, vector, rule in WAYS_OF_WRITING}
    assert found(expected) == expected


WITH_NAMES = [
    "Yes: 60%\nNo: 30%\nNot sure: 10%",
    "No: 30%\n\nYES: 60%\nnot  sure: 10%",
    "**No** - 30\n**Yes** - about 60\n**Notsure** = 10",
    "Most say yes: 70 perhaps?\nNo (30%), Not sure (10%), Yes (60%)",
    '{"No": 30, "Yes": "60%", "Not sure": 10}',
    "Yes 60%, No 30%, Not sure 10%",
    "Not sure    10%\nNo          30%\nYes         60%",
    "a) No: 30%\nb) Yes: 60%\nc) Not sure: 10%",
]


def test_names_of_options():
    expected = dict.fromkeys(WITH_NAMES, ([60, 30, 10], "ok", "options"))
    assert found(WITH_NAMES, options=YES_NO) == expected


def test_the_longest_name_counts_and_labels_need_names():
    agree = ["Agree", "Strongly agree", "Disagree"]
    cases = [
        ("Strongly agree: 20%\nAgree: 50%\nDisagree: 30%", agree, ([50, 20, 30], "ok", "options")),
        ("| Not sure | 10% |\n| Yes | 60% |\n| No | 30% |", YES_NO, ([60, 30, 10], "ok", "table")),
        # Labels in another order are not taken for the order of the options.
        ("No: 30%\nYes: 60%\nDon't know: 10%", YES_NO, (None, "unparsed", None)),
    ]
    made = read(*[(text, 3, None, options) for text, options, _ in cases])
    assert made == [expected for *_, expected in cases]


NEVER_TAKEN = [
    ("See [1].", 1),
    ("See [1].", 4),
    ("See [source].", 2),
    ("Probabilities lie in [0, 1].", 2),
    ("Shares lie in [0, 100], mostly.", 2),
    ("[10, -10, 100]", 3),
    ("[0, 0, 0]", 3),
    ("[NaN, 40, 60]", 3),
    ("[Infinity, 1, 2]", 3),
    ("[1/2, 1/2]", 2),
    ("[45, 30]", 2),
    ("a: 55-65%\nb: 40%", 2),
    ("a: 55 to 65\nb: 40%", 2),
    ("A sample of 60, 40 of whom agree.", 2),
    ("Between 10 and 20, roughly 15%, maybe more.", 2),
    ("On 12/05/2023, 48 people, 17 of whom were women, answered.", 2),
    ('["a", "f"]', 2),
    ("I cannot answer that.", 3),
]


def test_what_is_never_taken():
    rows = [(text, n, None, None) for text, n in NEVER_TAKEN]
    assert dict(zip(NEVER_TAKEN, read(*rows), strict=True)) == dict.fromkeys(
        NEVER_TAKEN, (None, "unparsed", None)
    )


OF_ANOTHER_LENGTH = [
    ("[60, 40]", "bracket"),
    ("DISTRIBUTION: [60]", "marker"),
    ("a. Yes: 60%\nb. No: 40%", "labelled"),
    ("60, 40", "lines"),
    ("| Yes | 60% |\n| No | 40% |", "table"),
]


def test_vectors_of_another_length_are_told_but_not_kept():
    expected = {text: (None, "length_mismatch", rule) for text, rule in OF_ANOTHER_LENGTH}
    assert found(expected) == expected


def test_the_right_length_wins_over_an_earlier_rule():
    text = "DISTRIBUTION: [60]\n60, 40"
    assert found([text], 2) == {text: ([60, 40], "ok", "lines")}


BATCH = '```json\n{"Q1": [60, 40], "Q10": [30, 30, 40], "Q2": {"Yes": "55%", "No": 45}}\n```'


BATCHED = [
    (BATCH, "Q1", 2, ([60, 40], "ok", "keyed")),
    (BATCH, "Q10", 3, ([30, 30, 40], "ok", "keyed")),
    (BATCH, "Q2", 2, ([55, 45], "ok", "keyed")),
    (BATCH, "Q3", 2, (None, "unparsed", None)),
    (BATCH, "Q1", 3, (None, "length_mismatch", "keyed")),
    (BATCH, "0", 3, (None, "unparsed", None)),
    ("[60, 40]", "Q1", 2, (None, "unparsed", None)),
    ("DISTRIBUTION: [60, 40]", "Q1", 2, (None, "unparsed", None)),
    ("**Q1**: [60, 40]\n**Q2**: [10, 90]", "Q1", 2, ([60, 40], "ok", "keyed")),
    ("Q1: 60, 40\nQ2: 10, 90", "Q2", 2, ([10, 90], "ok", "keyed")),
    ('{"Q1": ["a","b"], "Q2": ["b","b"]}', "Q2", 2, ([0, 100], "ok", "keyed")),
    ("First Q1: [50, 50]. Then Q1: [60, 40]", "Q1", 2, ([60, 40], "ok", "keyed")),
]


def test_batched_responses():
    made = read(*[(text, n, key, None) for text, key, n, _ in BATCHED])
    assert made == [expected for *_, expected in BATCHED]


PARTS = """DISTRIBUTION:|Distribution = |[|]|{|}|(|)|,|, |;|: |%| |\n|\n|45|30.1|55|60%|40%|-5|.4|
[1]|[60, 40]|[60,5; 39,5]|[50, 30, 20]|Yes: 60%|No: 40%|a) |b. 40%|1. 60%|\n2. 40%|a|Yes|No 40%|
"Yes": || Yes | 60% ||| 30 || |---| |Q1: |"Q1": [60, 40]|["a","b"]|`|**|to |- |Total: 100%|word|
高|NaN|DISTRIBUTION: [10, 90]|60, 40|60\n40|Infinity|9999999999""".replace("|\n", "|").split("|")
LABELS = [None, ["Yes", "No"], ["No", "Yes", "a"], ["", None], []]


def test_what_counts_is_a_distribution_and_rows_do_not_matter_to_each_other():
    rng = random.Random(0)
    rows = [
        (
            "".join(rng.choices(PARTS, k=rng.randrange(15))),
            rng.choice([1, 2, 3, 40]),
            rng.choice([None, None, "Q1", ""]),
            rng.choice(LABELS),
        )
        for _ in range(100)
    ]
    found = read(*rows)
    assert {status for _, status, _ in found} == {"ok", "failed", "unparsed", "length_mismatch"}
    for (_, n, _, _), (predicted, status, rule) in zip(rows, found, strict=True):
        assert (predicted is not None) == (status == "ok")
        assert (rule is None) == (status in ("unparsed", "failed"))
        if predicted is not None:
            assert len(predicted) == n
            assert all(value >= 0 and math.isfinite(value) for value in predicted)
            assert 90 <= sum(predicted) <= 110 or 0.9 <= sum(predicted) <= 1.1
    assert read(*reversed(rows)) == found[::-1]
    assert read(rows[0]) == found[:1]


@settings(max_examples=6, deadline=None)
@given(
    st.lists(st.integers(1, 500), min_size=2, max_size=9),
    st.sampled_from(["", "As in [1]: ", "First, [50, 50]? No.\n", "a. Yes: 60%\nb. No: 40%\n"]),
    st.booleans(),
)
def test_a_plain_answer_is_the_same_for_both_readers(weights, before, percent):
    shares = [round(100 * weight / sum(weights), 1) for weight in weights]
    listed = ", ".join(f"{share}%" if percent else f"{share}" for share in shares)
    row = (f"{before}DISTRIBUTION: [{listed}]", len(shares), None, None)
    expected = [(shares, "ok", "marker")]
    assert read(row) == read(row, parse=dtef.parse) == expected
