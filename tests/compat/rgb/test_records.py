"""Records that the fast reader leaves to the standard library, and the lines that errors name."""

import json

import pytest

from evalframe.compat import rgb
from evalframe.core.errors import InputError

RUN = "prediction_en_m_noise0.4_passage5"
RECORD = {
    "id": 3,
    "query": 'who "ans": [1]?',
    "ans": "x",
    "label": [1],
    "prediction": "é, {: \n😀",
    "docs": ["a", '"prediction": 1'],
    "noise_rate": 0.4,
    "factlabel": 0,
}


def text_of(**changes):
    """A record as text, with the JSON of some values given."""
    values = {key: json.dumps(value) for key, value in RECORD.items()} | changes
    return "{" + ", ".join(f'"{key}": {value}' for key, value in values.items()) + "}"


@pytest.fixture
def file(tmp_path):
    """Write a prediction file of these lines."""

    def write(*lines):
        path = tmp_path / f"{RUN}.json"
        path.write_text("\n".join(lines))
        return path

    return write


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        ('{"meta":{"ans":"Paris"},' + text_of()[1:], {}),
        (
            text_of()[:-1] + ', "ans": ["y", "z"], "label": [0, 1]}',
            {"ans": [["y"], ["z"]], "label": [0, 1]},
        ),
        (text_of()[:-1] + r', "l\u0061bel": [0, 1], "id": 4}', {"label": [0, 1], "id": 4}),
        (text_of().replace('"ans"', r'"\u0061ns"'), {}),
        (text_of(extra='{"docs": 5}', docs="[]"), {"docs": []}),
        (text_of(extra='[{"id": "x", "label": null}]'), {}),
        (text_of(extra=r'{"a\"label": [0], "\"ans": 1}'), {}),
        (text_of().replace('"docs"', r'"\"docs"').replace('"factlabel"', '"_factlabel"'), None),
        (text_of(extra="NaN"), {}),
        (text_of(extra="-1e400"), {}),
        (text_of(extra=r'"\ud83d"'), {}),
        (text_of(prediction="null", extra='{"prediction": "y"}'), {"prediction": None}),
        (text_of(noise_rate="4e-1", label="[ -1\t, -0]"), {"label": [-1, 0]}),
        ("\ufeff\ufeff" + text_of(), {}),
    ],
)
def test_rare_records_are_read_as_by_the_standard_library(file, record, changes):
    found = rgb.read(file(text_of(id="1"), record, text_of(id="1")))
    assert found["id"][0] == found["id"][2] == 1
    row = found.row(1, named=True)
    if changes is None:
        assert row["documents"] is row["factlabel"] is None
        return
    expected = RECORD | {"ans": [["x"]]} | changes
    columns = {"ans": "answers", "prediction": "response", "docs": "documents"}
    for key in ("id", "query", "ans", "label", "prediction", "docs", "factlabel"):
        assert row[columns.get(key, key)] == expected[key]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"id":0,"query":"q","prediction":"x","ans":"p","meta":{"label":[1]}}', "no 'label'"),
        ('{"id":0,"query":"q","label":[],"ans":"p","m":{"prediction":null}}', "no 'prediction'"),
        ('{"m":{"id":0},"query":"q","label":[],"ans":"p","prediction":null}', "no 'id'"),
        ('{"id":0,"query":"q","label":[],"m":{"ans":"p"},"prediction":null}', "no 'ans'"),
        (text_of().replace('"label"', r'"a\"label"'), "no 'label'"),
        (text_of()[:-1] + ', "label": 3}', "'label' is 3, not a list of 1, 0 and -1"),
        (text_of(noise_rate="1e400"), "'noise_rate' is Infinity, not a number"),
        (text_of(noise_rate="1" + "0" * 400), "'noise_rate' is 10+..., not a number"),
        (text_of(id="1" + "0" * 5000), "an integer has more than"),
        (text_of(label="[1,\u00a00]"), "Expecting value"),
        (text_of() + "\x0b", "Extra data"),
        ("\x0c", "is empty"),
        (text_of() + " " + text_of(), "Extra data"),
        (text_of() + "{}", "Extra data"),
        (text_of().encode("utf-16-le").decode("latin-1"), "a NUL byte, which JSON never holds"),
        (text_of(extra="[" * 100_000), "nested too deeply"),
    ],
)
@pytest.mark.parametrize("on_invalid", ["raise", "null"])
def test_faults_are_named_with_their_line(file, record, message, on_invalid):
    path = file(text_of(), "", record, "")
    with pytest.raises(InputError, match=f"{RUN}.json, line 3(:.*)? {message}"):
        rgb.read(path, on_invalid=on_invalid)


def test_answers_read_as_null_by_the_exact_reader(file):
    path = file(text_of(), text_of(ans='{"ans": "y"}'), text_of(ans="[[NaN]]"))
    assert rgb.read(path, on_invalid="null")["answers"].to_list() == [[["x"]], None, None]
