"""Responses as dtef-app reads them: golden values, a naive program, and its known faults."""

import json
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.compat.dtef.parsing import individual_answers, keyed_numbers, parse
from evalframe.survey.parsing.characters import SPACE

SCHEMA = {"response": pl.String, "n_options": pl.Int64, "key": pl.String}

WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
S = f"[{WHITE}]*"
D = r"[0-9]+\.?[0-9]*"


def read(*rows):
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    made = parse(frame, question_key="key")
    return list(made.select("predicted", "status", "parse_rule").iter_rows())


def number(text):
    found = re.match(
        rf"{S}([+-]?(?:Infinity|[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?))",
        text,
    )
    return float(found[1]) if found else None


def cleaned(inside):
    pieces = (number(piece.replace("%", "", 1)) for piece in inside.split(","))
    return [value for value in pieces if value is not None]


def naive_line(line):
    numbers = [float(v) for v in re.findall(rf"({D}){S}%?{S}[,;]{S}", line)]
    if last := re.search(rf"[,;]{S}({D}){S}%?{S}\Z", line):
        numbers.append(float(last[1]))
    return numbers


def naive_single(text):
    marker = re.search(rf"distribution:{S}\[([^\]]+)\]", text, re.IGNORECASE | re.ASCII)
    bracket = re.search(r"\[([^\]]+)\]", text)
    for rule, found in (("marker", marker), ("bracket", bracket)):
        if found and (numbers := cleaned(found[1])):
            return numbers, rule
    for line in text.split("\n"):
        if len(numbers := naive_line(line)) >= 2:
            return numbers, "lines"
    labelled = [float(v) for v in re.findall(rf"[a-zA-Z]\.{S}[^:]+:{S}({D}){S}%?", text)]
    return (labelled, "labelled") if len(labelled) >= 2 else None


def no_constant(name):
    raise ValueError(name)


def naive_keyed(text, key):
    if not (found := re.search(r"\{.*\}", text, re.DOTALL)):
        return None
    try:
        value = json.loads(found[0], parse_constant=no_constant).get(key)
    except ValueError:
        after = re.search(rf'"{re.escape(key)}"{S}:{S}\[([^\]]+)\]', text)
        numbers = [number(piece) for piece in after[1].split(",")] if after else [None]
        return None if None in numbers else numbers
    if isinstance(value, list) and all(type(v) in (int, float) for v in value):
        return [float(v) for v in value]
    return None


def naive_individuals(text, n):
    text = re.sub(rf"```(?:json)?{S}", "", text, flags=re.IGNORECASE | re.ASCII).replace("```", "")
    if not (found := re.search(r"\[([^\]]+)\]", text)):
        return None
    try:
        array = json.loads(f"[{found[1]}]", parse_constant=no_constant)
        letters = [str(v).lower().strip(WHITE) if isinstance(v, str) else "no" for v in array]
    except ValueError:
        quoted = re.findall("'([a-zA-Z])'|\"([a-zA-Z])\"", found[1])
        letters = [(a or b).lower() for a, b in quoted]
        if len(letters) < 2:
            return None
    if not all(re.fullmatch("[a-z]", letter) for letter in letters):
        return None
    counts = [letters.count(chr(ord("a") + option)) for option in range(n)]
    return [count / sum(counts) * 100 for count in counts] if sum(counts) else None


def naive(text, n, key):
    if "<<error>>" in text:
        return None, "failed", None
    found = None
    if key and (numbers := naive_keyed(text, key)) is not None:
        found = numbers, "keyed"
    found = found or naive_single(text)
    if not found and (shares := naive_individuals(text, n)):
        found = shares, "individuals"
    if not found:
        return None, "unparsed", None
    return found[0], "ok" if len(found[0]) == n else "length_mismatch", found[1]


FRAGMENTS = st.sampled_from(
    """DISTRIBUTION:|distribution:|DI\u017fTRIBUTION:|[|]|[|]|{|}|,|, |;|:|: |%| |\n|\r\n|\t|\u00a0|
\u0085|\u2028|\ufeff|\x1c|\u180e|\u200b|45|30.1|5.|.4|-5|+7|1e2|2E-1|1e|Infinity|-Infinity|
infinity|NaN|0x10|a.|b. Yes|A)|\u212a.|\u0130|\u017f.|\uff14|'a'|"b"|'\u212a'|"\u212a"|"c", "a"|
"A "|'a"|"e"|```|```json\n|`|"Q1"|"Q\\u0031"|"Q1": [1, 2]|"Q2": [3]|"Q1": []|"Q1":[1,"x"]|
"Q1": {"Q1": [5]}|null|true|[1]|[source]|[40, 60]|DISTRIBUTION: [10, 20, 70]|a. Yes: 40%|
DISTRIBUTION: [10%, 20.5 , 70]|{"Q1": [1.5, 2], "Q2": [3]}|\U0001f44d|高|60%|01|-|1.5.7|\\|1e999|
<<error>>|DISTRIBUTION: [30""".replace("|\n", "|").split("|")
)
TEXTS = st.builds(
    lambda parts, braces: "{" + "".join(parts) + "}" if braces else "".join(parts),
    st.lists(FRAGMENTS, max_size=12),
    st.booleans(),
)
KEYS = st.sampled_from([None, "Q1", "Q2", "", 'a"b', "b"])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.sampled_from([1, 2, 3, 30]), KEYS), min_size=1, max_size=30))
def test_it_is_what_a_naive_program_reads(rows):
    assert read(*rows) == [naive(*row) for row in rows]


def floats(values):
    if values is None:
        return None
    return [float("inf") if value == "Infinity" else float(value) for value in values]


def test_golden_responses(golden):
    cases = golden("survey/parser")["cases"]
    assert len(cases) >= 85
    found = read(*((c["text"], len(c["expected"]), c["question_key"]) for c in cases))
    for case, (predicted, status, rule) in zip(cases, found, strict=True):
        assert predicted == floats(case["values"]), case["id"]
        assert status == case["status"], case["id"]
        path = rule if rule in (None, "keyed", "individuals") else "single"
        assert path == {"unparsed": None, "keyed_fallback_single": "single"}.get(
            case["path"], case["path"]
        )


def test_golden_parts(golden):
    cases = golden("survey/parser")["cases"]
    rows = pl.DataFrame(
        [(c["text"], len(c["expected"]), c["question_key"]) for c in cases],
        schema={"text": pl.String, "n": pl.Int64, "key": pl.String},
        orient="row",
    )
    assert individual_answers(rows).to_list() == [floats(c["parse_individuals"]) for c in cases]
    assert keyed_numbers(rows).to_list() == [floats(c.get("parse_keyed")) for c in cases]
    single = parse(pl.DataFrame({"response": rows["text"], "n_options": rows["n"]}))
    for case, row in zip(cases, single.iter_rows(named=True), strict=True):
        alone = None if row["parse_rule"] == "individuals" else row["predicted"]
        assert alone == floats(case["parse_single"]), case["id"]


def test_white_space_is_that_of_ecmascript():
    every = pl.Series([chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000])
    assert "".join(every.filter(every.str.contains(SPACE))) == WHITE


@pytest.mark.parametrize(
    ("text", "key", "predicted", "rule"),
    [
        ("[1] is cited, [60, 40]", None, [1], "bracket"),
        ("[source] 60, 40", None, [60, 40], "lines"),
        ("[[60, 40], [1, 2]]", None, [40], "bracket"),
        ("-5, 105", None, [5, 105], "lines"),
        ("60, 40.", None, [60, 40], "lines"),
        ("60, 40 people", None, None, None),
        ("Overall. Summary: 12\na. Yes: 60%", None, [12, 60], "labelled"),
        ('{"Q2": [60, 40]}', "Q1", [60, 40], "bracket"),  # another question's answer
        ('{"Q1": [1, 2], "Q1": [60, 40]}', "Q1", [60, 40], "keyed"),
        ('{"Q1": []}', "Q1", [], "keyed"),
        ('{"Q\\u0031": [60, 40], "x": {"Q1": [1]}}', "Q1", [60, 40], "keyed"),
        ('{"Q1": [60, 40], }', "Q1", [60, 40], "keyed"),
        ('["a", "\u212a", "b"]', None, [50, 50], "individuals"),
        ("DISTRIBUTION: [60, 40", None, [60, 40], "lines"),
        ("a] DISTRIBUTION: [60, 40]", None, [60, 40], "marker"),
        ("[1] DISTRIBUTION: [60, 40] [2]", None, [60, 40], "marker"),
        ("distribution [60, 40] b]", None, [60, 40], "bracket"),
    ],
)
def test_by_hand(text, key, predicted, rule):
    ((found, status, fired),) = read((text, 2, key))
    assert (found, fired) == (predicted, rule)
    assert (status == "ok") == (predicted is not None and len(predicted) == 2)


def test_json_as_deep_as_you_like():
    deep = '{"x": ' + "[" * 300 + "]" * 300 + ', "Q1": [60, 40]}'
    assert read((deep, 2, "Q1")) == [([60, 40], "ok", "keyed")]
