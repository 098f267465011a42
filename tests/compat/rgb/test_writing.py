"""Prediction and score files written: as the original writes them, and read back the same."""

import json

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.compat import rgb
from evalframe.core.errors import (
    ContractError,
    InputError,
    MissingColumnsError,
    OutputError,
    ParameterError,
)
from evalframe.rag.labels import label

NAME = "prediction_en_m_temp0.2_noise0.4_passage5_correct0.0"


def run(**changes):
    """Two labelled responses of a run."""
    columns = {
        "model": ["m"] * 2,
        "dataset": ["en"] * 2,
        "temperature": [0.2] * 2,
        "noise_rate": [0.4] * 2,
        "passage_num": [5] * 2,
        "correct_passage_rate": [0.0] * 2,
        "id": [7, 3],
        "query": ["a?", "b?"],
        "answers": [[["x"], ["y", "z"]], [["x"]]],
        "response": ["x z", "no"],
        "documents": [["d", 'e"\n'], []],
        "label": [[1, 1], [0]],
        "factlabel": [0, 1],
    }
    return pl.DataFrame({k: v for k, v in (columns | changes).items() if v is not None})


def stored(folder, name):
    return json.loads((folder / name).read_text())


def test_files_are_those_of_the_original(tmp_path):
    paths = rgb.write(run().lazy(), tmp_path)
    assert [str(p.relative_to(tmp_path)) for p in paths] == [
        f"result-en/{NAME}.json",
        f"result-en/{NAME}_result.json",
    ]
    records = [
        {
            "id": 7,
            "query": "a?",
            "ans": ["x", ["y", "z"]],
            "label": [1, 1],
            "prediction": "x z",
            "docs": ["d", 'e"\n'],
            "noise_rate": 0.4,
            "factlabel": 0,
        },
        {
            "id": 3,
            "query": "b?",
            "ans": ["x"],
            "label": [0],
            "prediction": "no",
            "docs": [],
            "noise_rate": 0.4,
            "factlabel": 1,
        },
    ]
    expected = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    assert paths[0].read_bytes() == expected.encode()
    scores = {"all_rate": 0.5, "noise_rate": 0.4, "tt": 1, "nums": 2}
    assert paths[1].read_text() == json.dumps(scores, ensure_ascii=False, indent=4)


def test_runs_of_all_kinds_are_read_back(tmp_path):
    judged = ["Yes", "No"]
    table = pl.concat(
        [
            run(),
            run(noise_rate=[1.0] * 2, model=["org/7b_q%"] * 2, label=[[-1], [0]]),
            run(dataset=["zh_fact"] * 2, response=["x　z", "不"], evaluation=judged),
            run(dataset=["hotpot"] * 2, temperature=[None] * 2, correct_passage_rate=[None] * 2),
            run(passage_num=[0] * 2, documents=[[], []], variant=["second"] * 2),
        ],
        how="diagonal_relaxed",
    ).with_columns(pl.col("label").cast(pl.List(pl.Int8)), pl.col("factlabel").cast(pl.Int8))
    paths = rgb.write(table, tmp_path)
    assert len(paths) == 10
    folders = {p.parent.name for p in paths}
    assert folders == {"result-en", "result-zh", tmp_path.name}
    with pytest.raises(InputError, match="what dataset is"):
        rgb.read(tmp_path)
    found = pl.concat(
        [
            rgb.read([tmp_path / "result-en", tmp_path / "result-zh"]),
            rgb.read(f"{tmp_path}/prediction_hotpot*", dataset="hotpot"),
        ]
    )
    chatgpt = pl.when(dataset="zh_fact").then(pl.lit("chatgpt")).otherwise("variant")
    keys = ["dataset", "model", "noise_rate", "passage_num", "id"]
    assert_frame_equal(
        found.drop("file").sort(keys),
        table.with_columns(variant=chatgpt).select(found.drop("file").columns).sort(keys),
    )
    scores = rgb.read_scores(tmp_path / "result-zh").row(0, named=True)
    assert scores["variant"] == "chatgpt"
    assert (scores["reject_rate"], scores["rejecttt"], scores["correct_tt"]) == (0.5, 1, 1)


def test_chinese_responses_have_no_spaces(tmp_path):
    rgb.write(run(dataset=["zh"] * 2, response=["x y", "信息 不足　"]), tmp_path)
    assert rgb.read(tmp_path)["response"].to_list() == ["xy", "信息不足　"]


def test_what_may_be_absent(tmp_path):
    table = run(temperature=None, correct_passage_rate=None, documents=None)
    paths = rgb.write(table.with_columns(answers=pl.lit("x")), tmp_path)
    assert paths[0].name == "prediction_en_m_noise0.4_passage5.json"
    found = rgb.read(tmp_path)
    assert found["documents"].to_list() == [[], []]
    assert found["answers"].to_list() == [[["x"]]] * 2
    with pytest.raises(
        MissingColumnsError, match="labelled responses needs columns 'factlabel', '"
    ):
        rgb.write(table.drop("factlabel", "query"), tmp_path)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(
            TEXTS,
            st.lists(st.lists(TEXTS, max_size=3), max_size=3),
            TEXTS,
            st.lists(TEXTS, max_size=2),
            st.lists(st.sampled_from([1, 0, -1]), max_size=3),
        ),
        min_size=1,
        max_size=5,
    ),
    st.floats(0, 1),
)
def test_any_text_is_written_as_json_and_read_back(tmp_path, rows, noise_rate):
    columns = {
        "query": pl.String(),
        "answers": pl.List(pl.List(pl.String())),
        "response": pl.String(),
        "documents": pl.List(pl.String()),
        "label": pl.List(pl.Int8()),
    }
    table = (
        pl.DataFrame(rows, schema=columns, orient="row")
        .with_row_index("id")
        .with_columns(model=pl.lit("m"), dataset=pl.lit("en"), noise_rate=noise_rate, passage_num=1)
        .with_columns(factlabel=1)
    )
    paths = rgb.write(table, tmp_path, overwrite=True)
    text = next(p for p in paths if "result.json" not in p.name).read_bytes().decode()
    records = [json.loads(line) for line in text.split("\n")[:-1]]
    assert text == "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
    found = rgb.read(next(p for p in paths if "result.json" not in p.name))
    assert found.select(list(columns)).equals(table.select(list(columns)))
    assert found["noise_rate"].unique().to_list() == [noise_rate]


def test_golden_runs(golden, shared, tmp_path):
    instances = pl.read_parquet(shared / "data/rag/instances.parquet").select(
        "dataset", pl.col("id").cast(pl.Int64), "query", answers="answer_groups"
    )
    runs = golden("rag/rates")["runs"]
    tables, expected = [], {}
    for case in runs:
        rows = len(case["responses"])
        assert case["ids"] == f"0..{rows - 1}"
        docs = case.get("n_docs", 0)
        table = pl.DataFrame({"id": range(rows), "response": case["responses"]}).with_columns(
            model=pl.lit(case["run"]),
            dataset=pl.lit(case["dataset"]),
            noise_rate=case["noise_rate"],
            passage_num=case["passage_num"],
            correct_passage_rate=case["correct_rate"],
            documents=pl.Series(
                [["-"] * n for n in (docs if isinstance(docs, list) else [docs] * rows)],
                dtype=pl.List(pl.String),
            ),
        )
        table = label(table.join(instances, on=["dataset", "id"], maintain_order="left"))
        assert table["label"].to_list() == case["labels"]
        tables.append(table)
        expected[case["run"]] = case["expected_scores"]
    table = pl.concat(tables)
    paths = rgb.write(table, tmp_path)
    written = {p.name.split("_")[-5 if "result" in p.name else -4]: p for p in paths}
    assert set(written) == set(expected)
    scores = [p for p in paths if p.stem.endswith("_result")]
    for path in scores:
        name = next(name for name in expected if f"_{name}_" in path.name)
        assert path.read_text() == json.dumps(expected[name], ensure_ascii=False, indent=4)
    found = rgb.read(tmp_path)
    keys = ["model", "id"]
    same = ["model", "id", "answers", "label", "factlabel", "documents"]
    assert_frame_equal(found.select(same).sort(keys), table.select(same).sort(keys))
    read = rgb.read_scores(tmp_path)
    for row in read.iter_rows(named=True):
        known = expected[row["model"]]
        assert {k: row[k] for k in known} == known


def labelled_case(case, **more):
    count = len(case["labels"])
    return pl.DataFrame(
        {
            "id": range(count),
            "model": ["m"] * count,
            "dataset": [case["dataset"]] * count,
            "noise_rate": [case["noise_rate"]] * count,
            "passage_num": [5] * count,
            "query": ["?"] * count,
            "answers": ["x"] * count,
            "response": ["x"] * count,
            "label": pl.Series(case["labels"], dtype=pl.List(pl.Int64)),
            "factlabel": case.get("factlabels") or [0] * count,
            **more,
        }
    )


def test_golden_scores_of_any_labels(golden, tmp_path):
    cases = golden("rag/rates")["aggregate_only"]
    for case in cases:
        table = labelled_case(case)
        if case["expected_error"]:
            assert case["expected_error"] == "ZeroDivisionError"
            with pytest.raises(ContractError, match="the table has no rows"):
                rgb.write(table, tmp_path)
            continue
        path = rgb.write(table, tmp_path, overwrite=True)[1]
        assert path.read_text() == json.dumps(case["expected_scores"], indent=4)


@pytest.mark.parametrize(
    ("part", "judge"), [("judge_reject", "rejection"), ("judge_fact", "errors")]
)
def test_golden_scores_of_judges(golden, tmp_path, part, judge):
    for case in golden("rag/rates")[part]:
        table = labelled_case(case, evaluation=case["evaluations"])
        paths = rgb.write(table, tmp_path, judge=judge, overwrite=True)
        assert paths[1].name == paths[0].name.replace("chatgpt", "chatgptresult")
        assert paths[1].read_text() == json.dumps(case["expected_scores"], indent=4)


def test_the_judge_follows_from_the_data_set(tmp_path):
    table = run(evaluation=["Yes", "not addressed"])
    rgb.write(table, tmp_path)
    assert stored(tmp_path, f"result-en/{NAME}_chatgptresult.json") == {
        "reject_rate": 0.5,
        "all_rate": 0.5,
        "tt": 1,
        "rejecttt": 1,
        "nums": 2,
    }


def test_files_of_others_are_left_alone(tmp_path):
    paths = rgb.write(run(), tmp_path)
    before = [path.read_bytes() for path in paths]
    paths[0].unlink()
    changed = run(response=["y", "z"])
    with pytest.raises(OutputError, match=r"1 of 2 files exist already, the first .*_result"):
        rgb.write(changed, tmp_path)
    assert not paths[0].exists()
    assert paths[1].read_bytes() == before[1]
    assert rgb.write(changed, tmp_path, overwrite=True) == paths
    assert rgb.read(tmp_path)["response"].to_list() == ["y", "z"]


def test_nothing_is_written_if_a_file_cannot_be(tmp_path):
    (tmp_path / "result-en" / f"{NAME}_result.json").mkdir(parents=True)
    with pytest.raises(OutputError, match="there is a folder of this name"):
        rgb.write(run(), tmp_path, overwrite=True)
    assert [p.name for p in (tmp_path / "result-en").iterdir()] == [f"{NAME}_result.json"]
    (tmp_path / "result-zh").touch()
    with pytest.raises(OutputError, match=r"no folder .*result-zh"):
        rgb.write(run(dataset=["zh"] * 2), tmp_path)
    with pytest.raises(OutputError, match=r"no folder .*none.*; create it first"):
        rgb.write(run(), tmp_path / "none")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"label": [[1, 1], None]}, ContractError, "label is present: not so in 1 of 2"),
        ({"label": [[1, 1], [2]]}, ContractError, "label holds only 1, 0 and -1: not so in 1"),
        ({"label": [[1, 1], [None]]}, ContractError, "label holds only 1, 0 and -1: not so in 1"),
        ({"label": [1, 0]}, ContractError, "column 'label' is Int64, not a list of integers"),
        ({"documents": ["a", "b"]}, ContractError, "'documents' is String, not a list of texts"),
        ({"factlabel": [0, 5]}, ContractError, "factlabel is 1 or 0: not so in 1 of 2"),
        ({"factlabel": [0, None]}, ContractError, "factlabel is present: not so in 1 of 2"),
        ({"id": [1, 10**18]}, ContractError, "id has at most 18 digits: not so in 1 of 2"),
        ({"id": [-(10**18), 1]}, ContractError, "id has at most 18 digits: not so in 1 of 2"),
        ({"answers": [1, 2]}, ContractError, r"'answers' is Int64, not a string or a list [^\n]*$"),
        ({"documents": [["a", None], []]}, ContractError, "no document is null: not so in 1"),
        ({"answers": [["a"], None]}, ContractError, "answers is present: not so in 1"),
        ({"answers": [["a"], [None]]}, ContractError, "answers have a published shape: not so"),
        ({"evaluation": ["Yes", None]}, ContractError, "of a judged run have a judge's text"),
        ({"id": [1, 1]}, ContractError, r"variant, id are unique: not so in 1 of 2"),
        ({"response": ["a", None]}, ContractError, "response is present"),
        ({"noise_rate": [1.2, 1.2]}, ParameterError, "noise_rate is 1.2, which lies outside"),
        ({"model": ["fact_m"] * 2}, ParameterError, "a file's name cannot say so. Rename"),
        ({"judge": "both"}, ParameterError, "judge must be one of"),
    ],
)
def test_bad_tables(tmp_path, changes, error, message):
    options = {"judge": changes["judge"]} if "judge" in changes else {}
    with pytest.raises(error, match=message):
        rgb.write(run(**{k: v for k, v in changes.items() if k != "judge"}), tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_the_largest_ids_are_read_back(tmp_path):
    ids = [10**18 - 1, 1 - 10**18]
    rgb.write(run(id=ids), tmp_path)
    assert rgb.read(tmp_path)["id"].to_list() == ids


def test_names_that_are_too_long(tmp_path):
    long = "m" * 300
    with pytest.raises(OutputError, match="shorten the names of model, data set or variant"):
        rgb.write(run(model=[long] * 2), tmp_path)
    assert not list((tmp_path / "result-en").iterdir())
    with pytest.raises(OutputError, match="no folder"):
        rgb.write(run(), tmp_path / long)
    for read in (rgb.read, rgb.read_scores):
        with pytest.raises(InputError, match=r"m cannot be read .*; give another path"):
            read(tmp_path / long)


def test_runs_that_would_share_a_file(tmp_path):
    table = pl.concat(
        [run(variant=["chatgpt"] * 2), run(variant=[None] * 2)], how="vertical_relaxed"
    ).with_columns(evaluation=pl.lit("Yes"))
    with pytest.raises(ParameterError, match="runs would share a file"):
        rgb.write(table, tmp_path)
