"""Responses that are traps: citations, intervals, orders of labels, and prose with numbers."""

import itertools
import random

import polars as pl
import pytest

from evalframe.compat import dtef
from evalframe.survey.parsing.parse import parse
from survey.test_parsing_documented import SCHEMA

YES_NO = ["Yes", "No"]
AGREE = ["Agree", "Neutral", "Disagree"]
RATINGS = ["1", "2", "3", "4", "5"]


def read(*rows):
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    made = parse(frame, question_key="key", options="options")
    return list(made.select("predicted", "status").iter_rows())


def found(texts, options=YES_NO):
    """What is read from each text, all in one query."""
    size = len(options) if options else 2
    return dict(zip(texts, read(*[(text, size, None, options) for text in texts]), strict=True))


BESIDE_THE_ANSWER = {
    "Yes: 70%, No: 30% [48, 52]": [70, 30],
    "Yes: 50% [40, 60]\nNo: 50% [40, 60]": [50, 50],
    "DISTRIBUTION: see below\nYes: 60%\nNo: 40%\n[48, 52]": [60, 40],
    "Answer:\n[60, 40]\n\nReferences\n[48, 52]": [60, 40],
    "Final answer: [60, 40] (95% CI [48, 52])": [60, 40],
    "Men: 48\nWomen: 52\nAnswer: [60, 40]": [60, 40],
    "My estimate:\n\n[60, 40]\n\nIt rests on data of 2019 [12].": [60, 40],
    "Yes: 60% (55-65%)\nNo: 40% (35-45%)": [60, 40],
    "**Yes**: 60% (95% CI: 55\u201365)\n**No**: 40%": [60, 40],
    "Yes: 60.0% (n=120)\nNo: 40.0% (n=80)": [60, 40],
    "Yes: 60% \u00b1 3%\nNo: 40% \u00b1 3%": [60, 40],
    "Yes: 1,200 (60%)\nNo: 800 (40%)": [60, 40],
    "<think>Yes: 10%, No: 90%</think>Yes: 60%, No: 40%": [60, 40],
    "Yes: 60%\nNo: 40%\nConfidence: 80%": [60, 40],
}


def test_what_stands_beside_the_answer():
    expected = {text: (shares, "ok") for text, shares in BESIDE_THE_ANSWER.items()}
    assert found(BESIDE_THE_ANSWER) == expected


NO_ANSWERS = [
    "As in refs. [12, 88], the share of yes is unknown. I can't answer.",
    "According to [12, 88] nobody knows.",
    "Earlier work [48, 52] found differences.",
    "Yes: 70% (95% CI [40, 60])",
    "95% CI:\n[40, 60]",
    "The 90% interval was [45.5, 54.5].",
    "At first [50, 50], I thought. Now [60, 40] is better.\n[60, 40]\n[50, 50]",
    "Yes: between 50% and 60%\nNo: between 40% and 50%",
    "between 45% and 55%",
    "My answer is between 45% and 55%.",
    "Yes - up from 55% to 60%\nNo - down from 45% to 40%",
    "Yes: 55% -> 60%\nNo: 45% -> 40%",
    "See sections 1, 99.",
    "on June 8, 95",
    "Time 12:45, 55",
    "The sample was aged 45 and 55",
    "Sources: 10, 90",
    "Women: 48%\nMen: 52%\nI can't answer",
    "45 men, 55 women",
    "48% women, 52% men",
    "Yes: 50%, No opinion: 50%",
]


def test_what_is_no_answer():
    assert found(NO_ANSWERS) == dict.fromkeys(NO_ANSWERS, (None, "unparsed"))


ONE_TOO_MANY = [
    "Yes: 50%, No: 40%, No opinion: 10%",
    "Yes: 50%, No: 40%, No opinion: 10% [48, 52]",
    "No opinion: 10%\nYes: 50%\nNo: 40%",
    "Yes 50%, No 40%, No opinion 10%",
    "50% Yes, 40% No, 10% No opinion",
    "Yes\n50%\nNo\n40%\nNo opinion\n10%",
    "| Yes | 50% |\n| No | 40% |\n| No opinion | 10% |",
    '{"Yes": 50, "No": 40, "No opinion": 10}',
    '[{"option": "Yes", "%": 50}, {"option": "No", "%": 40}, {"option": "None", "%": 10}]',
]


def test_an_option_that_is_not_asked_for():
    assert found(ONE_TOO_MANY) == dict.fromkeys(ONE_TOO_MANY, (None, "length_mismatch"))


TABLES = [
    ("|No|Yes|\n|--|--|\n|40|60|", YES_NO, [60, 40]),
    ("No | Yes\n---|---\n40 | 60", YES_NO, [60, 40]),
    ("| Disagree | Neutral | Agree |\n|---|---|---|\n| 25% | 30% | 45% |", AGREE, [45, 30, 25]),
    (
        "| Rating | Percent |\n|-|-|\n| 5 | 20% |\n| 4 | 20% |\n| 3 | 30% |\n| 2 | 20% |\n"
        "| 1 | 10% |",
        RATINGS,
        [10, 20, 30, 20, 20],
    ),
    ("5: 20%\n4: 20%\n3: 30%\n2: 20%\n1: 10%", RATINGS, [10, 20, 30, 20, 20]),
    (
        "| Option | Segment | Population |\n|-|-|-|\n| Yes | 60 | 50 |\n| No | 40 | 50 |",
        YES_NO,
        [60, 40],
    ),
    (
        "| Option | Count | Percent |\n|-|-|-|\n| No | 80 | 40% |\n| Yes | 120 | 60% |",
        YES_NO,
        [60, 40],
    ),
    (
        "| Group | No | Yes |\n|-|-|-|\n| Segment | 40 | 60 |\n| Population | 50 | 50 |",
        YES_NO,
        [60, 40],
    ),
    ("| | Yes | No | Total |\n|-|-|-|-|\n| Segment | 60 | 40 | 100 |", YES_NO, [60, 40]),
    ("| Yes | 60 | 50 |\n| No | 40 | 50 |", YES_NO, None),
    ("| B | 40 |\n| A | 60 |", None, [60, 40]),
    ("| | B | A |\n|-|-|-|\n| % | 40 | 60 |", None, [60, 40]),
]


def test_tables():
    rows = [(text, len(options or "ab"), None, options) for text, options, _ in TABLES]
    assert [vector for vector, _ in read(*rows)] == [vector for *_, vector in TABLES]


IN_ANOTHER_ORDER = [
    "b. No: 40%\na. Yes: 60%",
    '{"b": 40, "a": 60}',
    "B: 40%\nA: 60%",
    "2. 40%\n1. 60%",
    "1: 40%\n0: 60%",
]
NOT_THE_FIRST_ONES = ["c. No: 40%\na. Yes: 60%", "a: 40%\na: 60%", "3: 40%\n2: 60%"]


def test_letters_and_numbers_in_another_order_and_others_than_the_first_ones():
    assert found([*IN_ANOTHER_ORDER, *NOT_THE_FIRST_ONES], None) == {
        **dict.fromkeys(IN_ANOTHER_ORDER, ([60, 40], "ok")),
        **dict.fromkeys(NOT_THE_FIRST_ONES, (None, "unparsed")),
    }


OTHER_WAYS = [
    "60% Yes, 40% No",
    "40% - No\n60% - Yes",
    "60% (Yes), 40% (No)",
    "60% say Yes and 40% say No.",
    "Yes: 60% | No: 40%",
    "Yes 60% No 40%",
    "60/40",
    "Yes,60%\nNo,40%",
    "a)60%\nb)40%",
    "a. Yes 60\nb. No 40",
    "A 60%\nB 40%",
    "Yes (60)\nNo (40)",
    "[60 (Yes), 40 (No)]",
    "## No\n\n40%\n\n## Yes\n\n60%",
    "Yes\uff1a60\uff05\nNo\uff1a40\uff05",
    '[\n {\n "option": "No",\n "share": 40\n },\n {\n "share": 60,\n "option": "Yes"\n }\n]',
]


def test_other_ways_of_writing():
    assert found(OTHER_WAYS) == dict.fromkeys(OTHER_WAYS, ([60, 40], "ok"))


WITH_KEYS = [
    ("Q1\n[60, 40]\nQ2\n[10, 90]", "Q1", [60, 40]),
    ("Q1:\nYes: 60%\nNo: 40%\nQ2:\nYes: 10%\nNo: 90%", "Q1", [60, 40]),
    ("### Q1\n- Yes: 60%\n- No: 40%\n### Q2\n- Yes: 10%\n- No: 90%", "Q2", [10, 90]),
    ("**Q1**\n60, 40\n**Q2**\n10, 90", "Q1", [60, 40]),
    ("| Q1 | 60 | 40 |\n| Q2 | 10 | 90 |", "Q2", [10, 90]),
    ("| | No | Yes |\n|-|-|-|\n| Q1 | 40 | 60 |\n| Q2 | 90 | 10 |", "Q1", [60, 40]),
    ("Q1:\nQ2:\nYes: 10%\nNo: 90%", "Q1", None),
    ("Q1\nQ2: [10, 90]", "Q1", None),
]


def test_keys_on_lines_of_their_own():
    rows = [(text, 2, key, YES_NO) for text, key, _ in WITH_KEYS]
    assert [vector for vector, _ in read(*rows)] == [vector for *_, vector in WITH_KEYS]


NAMES = ["Strongly agree", "Agree", "Neither", "Disagree", "Strongly disagree"]
LAYOUTS = {
    "colon": ("{name}: {share}%{aside}", "\n"),
    "dash": ("- **{name}** - {share}{aside}", "\n"),
    "sentence": ("{name}: {share}%{aside}", ", "),
    "space": ("{name} {share}%", ", "),
    "csv": ("{name},{share}%", "\n"),
    "reversed": ("{share}% {name}", ", "),
    "parentheses": ("{name} ({share}%)", "; "),
    "heading": ("{name}\n{share}%", "\n"),
    "table": ("| {name} | {share} |", "\n"),
    "bars": ("{name}: {share}%", " | "),
    "records": ('{{\n"option": "{name}",\n"percentage": {share}\n}}', ",\n"),
}
ASIDES = ["", " [3]", " [40, 60]", " (n=120)", " (95% CI [40, 60])", " (40-60)"]
BEFORE = ["", "As in [12, 88] and refs. [1]:\n\n", "In 2019, 48 people took part.\n"]
BEHIND = ["", "\n[48, 52]", "\n\nReferences\n[20, 80]", "\nSee pp. 12, 88."]


def test_complete_labelled_answers_in_any_layout_and_order():
    """Twelve of each layout, in one query."""
    rng = random.Random(0)
    rows, expected = [], []
    for line, separator in [*LAYOUTS.values()] * 12:
        options = rng.sample(NAMES, rng.randint(2, 5))
        weights = [rng.randint(1, 99) for _ in options]
        shares = [round(100 * weight / sum(weights), 1) for weight in weights]
        aside = rng.choice(ASIDES)
        labelled = separator.join(
            line.format(name=options[k], share=shares[k], aside=aside)
            for k in rng.sample(range(len(options)), len(options))
        )
        text = rng.choice(BEFORE) + labelled + rng.choice(BEHIND)
        rows.append((text, len(options), None, options))
        expected.append((shares, "ok"))
    assert read(*rows) == expected


PROSE = """In 2019, 48% of women and 52% of men took part.|See sections 1, 99.|Sources: 10, 90|
The sample had 45 men and 55 women.|As in [12, 88], nobody knows.|Time 12:45, 55|I cannot say.|
Between 40% and 60% may agree.|It rose from 40% to 60%.|Smith (2020) has n = 100.|95% CI [40, 60]|
On June 8, 95 people came.|Ages 40-60 were asked, see [3].|The range is [45, 55].|Over 50% trust it.
""".replace("\n", "").split("|")


def test_prose_with_numbers_is_no_answer():
    """Each sentence, every two of them, and texts of several."""
    rng = random.Random(0)
    texts = [*PROSE, *map("\n".join, itertools.permutations(PROSE, 2))]
    texts += ["\n".join(rng.choices(PROSE, k=size)) for size in (3, 4) for _ in range(20)]
    rows = [(text, 2, None, options) for text in texts for options in (YES_NO, None)]
    assert [
        row[0] for row, (_, status) in zip(rows, read(*rows), strict=True) if status != "unparsed"
    ] == []


@pytest.mark.parametrize("parse", [parse, dtef.parse])
def test_text_before_a_bracket_is_cut_between_characters(parse):
    said = ["é" * 40 + "x" * more + "\n[60, 40]" for more in range(4)]
    rows = pl.DataFrame({"response": said, "n_options": 2})
    parsed = parse(rows)
    assert parsed["predicted"].to_list() == [[60.0, 40.0]] * 4
    assert parsed["status"].to_list() == ["ok"] * 4


def test_a_huge_number_in_one_text_leaves_the_others_as_they_are():
    options = ["Yes", "No"]
    whole = ("Yes: 60%\nNo: 30%\nOther: 10%", 2, None, options)
    for digits in (30, 400):
        huge = (f"Yes: {'9' * digits}\nNo: 40", 2, None, options)
        assert read(huge, whole)[1:] == read(whole)
    assert read(whole)[0][1] == "length_mismatch"
