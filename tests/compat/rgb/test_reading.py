"""Prediction files read: shapes, folders, settings, and what is said of files that are broken."""

import contextlib
import json
import os

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalframe.compat import rgb
from evalframe.core.errors import EvalframeError, InputError, ParameterError

RUN = "prediction_en_m_temp0.2_noise0.4_passage5_correct0.0"
RECORD = {
    "id": 3,
    "query": 'who "ans": [1]?',
    "ans": "x",
    "label": [1],
    "prediction": "x é\n😀",
    "docs": ["a", '"prediction": 1, '],
    "noise_rate": 0.4,
    "factlabel": 0,
}
BOM = "\ufeff".encode()
SCHEMA = {
    "model": pl.String(),
    "dataset": pl.String(),
    "temperature": pl.Float64(),
    "noise_rate": pl.Float64(),
    "passage_num": pl.Int64(),
    "correct_passage_rate": pl.Float64(),
    "id": pl.Int64(),
    "query": pl.String(),
    "answers": pl.List(pl.List(pl.String())),
    "response": pl.String(),
    "documents": pl.List(pl.String()),
    "label": pl.List(pl.Int8()),
    "factlabel": pl.Int8(),
    "evaluation": pl.String(),
    "variant": pl.String(),
    "file": pl.String(),
}


def lines(*records, ascii=False):
    return "".join(json.dumps(record, ensure_ascii=ascii) + "\n" for record in records)


@pytest.fixture
def file(tmp_path):
    """Write a prediction file, from text, bytes or changes of a record."""

    def write(content=None, *, name=f"{RUN}.json", **changes):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if content is None:
            content = lines(RECORD | changes)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("ascii", [True, False])
def test_a_file(file, ascii):
    path = file(lines(RECORD, RECORD | {"id": -4, "label": [], "ans": []}, ascii=ascii))
    found = rgb.read(path)
    assert found.schema == SCHEMA
    first = found.row(0, named=True)
    settings = {"model": "m", "dataset": "en", "temperature": 0.2, "noise_rate": 0.4}
    assert first == settings | {
        "passage_num": 5,
        "correct_passage_rate": 0.0,
        "id": 3,
        "query": RECORD["query"],
        "answers": [["x"]],
        "response": RECORD["prediction"],
        "documents": RECORD["docs"],
        "label": [1],
        "factlabel": 0,
        "evaluation": None,
        "variant": None,
        "file": str(path),
    }
    assert found.select("id", "label", "answers").row(1) == (-4, [], [])


def test_answers_of_all_shapes_in_one_file(file):
    answers = ["x", ["x", "y"], [["x", "y"], ["z"]], ["x", ["y", "z"]], [], [[]], '["x"]', "12"]
    found = rgb.read(file(lines(*(RECORD | {"id": k, "ans": a} for k, a in enumerate(answers)))))
    assert found["answers"].to_list() == [
        *([["x"]], [["x"], ["y"]], [["x", "y"], ["z"]], [["x"], ["y", "z"]]),
        *([], [[]], [['["x"]']], [["12"]]),
    ]


def test_what_may_be_lacking_and_other_keys(file):
    short = {key: RECORD[key] for key in ("prediction", "label", "ans", "query", "id")}
    judged = RECORD | {"evaluation": "Yes", "time": 1.5, "meta": {"a": [None]}, "prediction": None}
    text = "\ufeff" + lines(short) + "\n  \n" + lines(judged, RECORD | {"evaluation": None})
    for content in (text, text.replace("\n", "\r\n"), text.rstrip()):
        found = rgb.read(file(content))
        assert found["evaluation"].to_list() == [None, "Yes", None]
        assert found["response"].to_list() == [RECORD["prediction"], None, RECORD["prediction"]]
        assert found["documents"].to_list() == [None, RECORD["docs"], RECORD["docs"]]
        assert found["factlabel"].to_list() == [None, 0, 0]


def test_folders_globs_and_lists(file, tmp_path):
    first = file(name=f"b/{RUN}.json")
    second = file(name=f"a/deep/{RUN.replace('0.4', '1.0')}.json", noise_rate=1.0)
    judged = file(lines(RECORD | {"evaluation": "No"}), name=f"a/{RUN}_chatgpt.json")
    for name in (f"b/{RUN}_result.json", f"a/{RUN}_chatgptresult.json", "b/notes.json"):
        file("{}", name=name)
    expected = [str(second), str(judged), str(first)]
    assert rgb.read(tmp_path)["file"].to_list() == expected
    assert rgb.read(f"{tmp_path}/**/prediction_*.json")["file"].to_list() == expected
    found = rgb.read([first, judged, str(first)])
    assert found["file"].to_list() == [str(first), str(judged)]
    assert found["variant"].to_list() == [None, "chatgpt"]
    assert found["evaluation"].to_list() == [None, "No"]


def test_names_with_characters_of_globs(file):
    assert len(rgb.read(file(name=f"d[1]/{RUN.replace('_m_', '_m*[x]?_')}.json"))) == 1


def test_settings_that_are_given(file):
    path = file(name="mine.json")
    told = {"model": "n", "dataset": "d", "noise_rate": 0.6, "passage_num": 2}
    found = rgb.read(path, **told, correct_passage_rate=0.2, temperature=1.0)
    assert found.select(list(SCHEMA)[:6]).row(0) == ("n", "d", 1.0, 0.6, 2, 0.2)
    with pytest.raises(
        InputError, match=r"mine\.json: nothing says what model and dataset and noise"
    ):
        rgb.read(path)
    with pytest.raises(
        InputError, match=r"says noise rate 0\.8, but 1 records .* first .id 3. 0\.4"
    ):
        rgb.read(file(name=f"{RUN.replace('0.4', '0.8')}.json"))


def test_runs_that_are_there_twice(file, tmp_path):
    first, second = (file(name=f"{folder}/{RUN}.json") for folder in "ab")
    with pytest.raises(InputError) as error:
        rgb.read(tmp_path)
    assert f"{first} and {second} are the same run (model='m'" in str(error.value)
    assert rgb.read(tmp_path, duplicates="keep")["file"].to_list() == [str(first), str(second)]


def test_answers_that_are_none(file):
    path = file(lines(RECORD, RECORD | {"ans": 12, "label": [-1]}, RECORD | {"ans": None}))
    with pytest.raises(InputError, match=r"line 2: 'ans' is 12, not a string, a list .*'null'$"):
        rgb.read(path)
    assert rgb.read(path, on_invalid="null")["answers"].to_list() == [[["x"]], None, None]
    lacking = file(lines({k: v for k, v in RECORD.items() if k != "ans"}))
    with pytest.raises(InputError, match="line 1: no 'ans'; the record has"):
        rgb.read(lacking, on_invalid="null")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no record; was its writer interrupted"),
        (b"\n \n", "holds no record"),
        (lines(RECORD) + lines(RECORD)[:25], "line 2: Unterminated string .*: the file ends too"),
        (json.dumps([RECORD]), "line 1: a JSON array; write its records as JSON lines"),
        (json.dumps([RECORD], indent=1), "line 1: a JSON array"),
        (json.dumps(RECORD, indent=1), "line 1: Expecting property name"),
        ("id,query\n0,a\n", "line 1: Expecting value"),
        ("12\n", "line 1: 12 is no record; each line must be a JSON object"),
        (lines(RECORD) + "null\n", "line 2: null is no record"),
        (lines(RECORD).strip() + "," + lines(RECORD), "line 1: Extra data"),
        (lines(RECORD, RECORD).replace("}\n{", "}, {"), "line 1: Extra data"),
        (lines(RECORD).encode("utf-16"), "line 1"),
        (lines(RECORD).encode("latin-1", "replace"), "line 1: byte [0-9]+ is not UTF-8 text"),
        (lines(RECORD).replace('"id": 3', '"id": NaN'), "line 1: 'id' is NaN, not an integer"),
    ],
)
def test_files_that_are_no_json_lines(file, content, message):
    with pytest.raises(InputError, match=message) as error:
        rgb.read(file(content))
    assert RUN in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "3"}, "'id' is \"3\", not an integer"),
        ({"id": 3.5}, "'id' is 3.5, not an integer"),
        ({"id": True}, "'id' is true"),
        ({"id": None}, "'id' is null"),
        ({"id": 10**19}, "'id' is 10{19}, not an integer of at most 18 digits"),
        ({"query": 1}, "'query' is 1, not text"),
        ({"prediction": 12}, "'prediction' is 12, not text or null"),
        ({"prediction": ["x"]}, "'prediction' is .*x"),
        ({"prediction": "\ud83d"}, r"'prediction' is .*ud83d"),
        ({"label": 1}, "'label' is 1, not a list of 1, 0 and -1"),
        ({"label": [2]}, "'label' is .2., not a list"),
        ({"label": [1.0]}, "'label' is .1.0., not a list"),
        ({"label": [None]}, "'label' is .null., not a list"),
        ({"label": None}, "'label' is null"),
        ({"docs": "a"}, "'docs' is \"a\", not a list of texts"),
        ({"docs": ["a", 3]}, "'docs' is "),
        ({"docs": [{"text": "a"}]}, "'docs' is "),
        ({"noise_rate": "0.4"}, "'noise_rate' is \"0.4\", not a number"),
        ({"noise_rate": None}, "'noise_rate' is null"),
        ({"factlabel": True}, "'factlabel' is true, not 1 or 0"),
        ({"factlabel": 2}, "'factlabel' is 2"),
        ({"evaluation": 1}, "'evaluation' is 1, not text or null"),
        ({"ans": {"a": 1}}, "'ans' is "),
    ],
)
def test_records_of_wrong_types(file, changes, message):
    path = file(lines(RECORD) * 3 + "\n" + lines(RECORD | changes, ascii=True))
    with pytest.raises(InputError, match=f"{RUN}.json, line 5: {message}"):
        rgb.read(path)


@pytest.mark.parametrize("key", ["id", "query", "ans", "label", "prediction"])
def test_keys_that_are_lacking(file, key):
    text = lines(RECORD, {k: v for k, v in RECORD.items() if k != key})
    with pytest.raises(InputError, match=f"line 2: no '{key}'; the record has"):
        rgb.read(file(text))


def test_places_without_files(file, tmp_path):
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / f"{RUN}.json")
    for path, message in (
        ("none.json", "no file or folder"),
        ("*.nothing", "no prediction file matches"),
        ("empty", "holds no prediction file: none of its 0 entries is named like prediction_"),
        (f"{RUN}.json", "is not a regular file"),
    ):
        with pytest.raises(InputError, match=message):
            rgb.read(tmp_path / path)
    with pytest.raises(InputError, match="no file to read"):
        rgb.read([])
    for choice in ({"duplicates": "first"}, {"on_invalid": "drop"}):
        with pytest.raises(ParameterError, match="must be one of"):
            rgb.read(tmp_path, **choice)


def test_passages_of_names_that_no_column_holds(file):
    path = file(name=f"{RUN.replace('passage5', 'passage999999999999999999999')}.json")
    with pytest.raises(InputError, match="passage_num is above 9,223,372,036,854,775,807"):
        rgb.read(path)
    with pytest.raises(ParameterError, match="noise_rate must be a number, but is"):
        rgb.read(path, noise_rate="0.4")


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.floats(),
    st.text(max_size=4),
    st.lists(st.one_of(st.none(), st.integers(-1, 1), st.text(max_size=2)), max_size=3),
    st.just({"id": 1}),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(st.sampled_from([*RECORD, "evaluation", "x"]), CELLS, max_size=2),
    st.integers(0, 3),
    st.integers(0, 400),
    st.binary(max_size=3),
    st.booleans(),
)
def test_mutated_files_are_read_right_or_refused(file, changes, before, place, piece, cut):
    records = [RECORD] * before + [RECORD | changes]
    data = lines(*records, ascii=True).encode()
    if piece or cut:
        data = data[:place] + piece + (b"" if cut else data[place:])
    path = file(data)
    # Any other exception fails.
    with contextlib.suppress(EvalframeError):
        found = rgb.read(path)
        texts = (line.removeprefix(BOM).strip() for line in data.split(b"\n"))
        read = [json.loads(text) for text in texts if text]
        for ours, key in (("id", "id"), ("response", "prediction"), ("label", "label")):
            assert found[ours].to_list() == [record[key] for record in read]


def test_every_real_run_in_one_scan(shared, tmp_path):
    """71 runs, written as the original does, read back in one scan."""
    folder = shared / "data/rag"
    stored = pl.read_parquet(folder / "results_licensed.parquet").join(
        pl.read_parquet(folder / "instances.parquet").select(
            "dataset", "id", "query", "answer_json"
        ),
        on=["dataset", "id"],
        how="left",
        maintain_order="left",
    )
    for (source, name), run in stored.group_by("source", "run_file", maintain_order=True):
        path = tmp_path / source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        records = [
            {
                "id": row["id"],
                "query": row["query"],
                "ans": json.loads(row["answer_json"]),
                "label": row["label"],
                "prediction": row["prediction"],
                "docs": ["a document"] * row["n_docs"],
                "noise_rate": row["noise_rate"],
                "factlabel": row["factlabel"],
            }
            | ({} if row["evaluation"] is None else {"evaluation": row["evaluation"]})
            for row in run.iter_rows(named=True)
        ]
        path.write_text(lines(*records))
    found = rgb.read(tmp_path, duplicates="keep")
    assert found["file"].n_unique() == 71
    prefix = f"{tmp_path}/"
    expected = stored.select(
        file=pl.concat_str("source", pl.lit("/"), "run_file"),
        id=pl.col("id").cast(pl.Int64),
        model="model",
        noise_rate="noise_rate",
        passage_num=pl.col("passage_num").cast(pl.Int64),
        correct_passage_rate="correct_rate",
        response="prediction",
        label="label",
        factlabel="factlabel",
        evaluation="evaluation",
        n_docs=pl.col("n_docs").cast(pl.UInt32),
    ).sort("file", "id")
    made = found.with_columns(
        pl.col("file").str.strip_prefix(prefix), n_docs=pl.col("documents").list.len()
    ).sort("file", "id")
    assert made.select(expected.columns).equals(expected)
    answers = pl.read_parquet(folder / "instances.parquet")["answer_groups"]
    assert {*map(str, made["answers"].to_list())} <= {*map(str, answers.to_list())}
