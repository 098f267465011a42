"""Tables written as run documents, and read again."""

import json
import math
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.compat.ai_psychiatrist import open_run, read_run, write_run
from evalframe.core.errors import ContractError, MissingColumnsError, OutputError, ParameterError
from evalframe.selective.total_score import ITEM_NAMES

COUNT = "llm_evidence_count"
INTEGERS = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.floats(allow_infinity=False, allow_nan=False)
SIGNALS = st.none() | st.just(math.nan) | NUMBERS
NAMES = st.sampled_from(["token_msp", "token_pe", "é", "a b", "*", "^t.*$", "further"])


def table(*ids, signals=(), **columns):
    """Eight rows per id; columns replace those that are there."""
    rows = 8 * len(ids)
    frame = pl.DataFrame(
        {
            "participant_id": pl.Series([i for i in ids for _ in range(8)], dtype=pl.Int64),
            "item_index": pl.Series([*range(8)] * len(ids), dtype=pl.Int64),
            "item": pl.Series([*ITEM_NAMES] * len(ids), dtype=pl.String),
            "prediction": pl.Series([1] * rows, dtype=pl.Int64),
            "label": pl.Series([2] * rows, dtype=pl.Int64),
        }
    )
    further = [pl.Series(name, values, dtype=pl.Float64) for name, values in dict(signals).items()]
    return frame.with_columns(further, **columns)


@st.composite
def tables(draw):
    ids = draw(st.lists(INTEGERS, max_size=4))
    rows = 8 * len(ids)

    def column(values):
        return draw(st.lists(values, min_size=rows, max_size=rows))

    counts = [float(i % 4) for i in range(rows)]
    names = draw(st.lists(NAMES, unique=True))
    labels = pl.Series(column(st.none() | INTEGERS), dtype=pl.Int64)
    if ids and draw(st.booleans()):
        labels = pl.Series(column(NUMBERS), dtype=pl.Float64)
    return table(
        *ids,
        signals={name: column(SIGNALS) for name in names} | {COUNT: counts},
        prediction=pl.Series(column(st.none() | INTEGERS), dtype=pl.Int64),
        label=labels,
    )


@settings(max_examples=20, deadline=None)
@given(items=tables(), failed=st.sets(INTEGERS, max_size=3), mode=st.text(min_size=1))
def test_what_is_written_is_read_again(items, failed, mode):
    signals = items.columns[5:]
    with tempfile.TemporaryDirectory() as folder:
        path = write_run(items, Path(folder, "run.json"), mode=mode, failed=failed, run_id="é")
        run = open_run(path, mode=mode, signals=signals)
        assert [file.name for file in Path(folder).iterdir()] == ["run.json"]
    assert_frame_equal(run.items, items, check_exact=True)
    ids = items["participant_id"].gather_every(8).to_list()
    assert run.included.to_list() == sorted(set(ids))
    assert run.repeated.to_list() == sorted({i for i in ids if ids.count(i) > 1})
    assert run.failed.to_list() == sorted(failed)
    assert (run.mode, run.run_id, run.git_commit) == (mode, "é", None)


def test_golden_runs_survive_the_round_trip(golden, tmp_path):
    for run in golden("selective/cli_artifacts")["runs"].values():
        modes = [experiment["results"]["mode"] for experiment in run["experiments"]]
        runs = {mode: open_run(run, mode=mode) for mode in modes}
        path = write_run(
            {mode: found.items for mode, found in runs.items()},
            tmp_path / "run.json",
            failed={mode: found.failed for mode, found in runs.items()},
            **run["run_metadata"],
        )
        assert json.loads(path.read_text())["run_metadata"] == run["run_metadata"]
        for mode, found in runs.items():
            again = open_run(path, mode=mode)
            assert_frame_equal(again.items, found.items, check_exact=True)
            assert again.failed.equals(found.failed)
            assert again.included.equals(found.included)


def test_the_document_is_the_originals(tmp_path):
    signals = {"token_pe": [0.5, None, math.nan, 1.0, 1.0, 1.0, 1.0, 1.0]}
    path = write_run(
        table(7, signals=signals, prediction=pl.Series([None, *[3] * 7])),
        tmp_path / "run.json",
        mode="few_shot",
        failed=[9],
        git_commit="abc",
    )
    document = json.loads(path.read_text())
    (experiment,) = document["experiments"]
    assert document["run_metadata"] == {"run_id": None, "git_commit": "abc"}
    assert experiment["provenance"] == {"mode": "few_shot"}
    assert experiment["results"]["mode"] == "few_shot"
    success, failure = experiment["results"]["results"]
    assert failure == {"participant_id": 9, "success": False}
    assert (success["participant_id"], success["success"]) == (7, True)
    assert success["predicted_items"] == {name: 3 for name in ITEM_NAMES} | {"NoInterest": None}
    assert success["ground_truth_items"] == dict.fromkeys(ITEM_NAMES, 2)
    assert list(success["item_signals"].values())[:4] == [
        {"token_pe": 0.5},
        {"token_pe": None},
        {},
        {"token_pe": 1.0},
    ]


def test_lazy_tables_other_number_types_and_chosen_signals(tmp_path):
    items = table(7, signals={"token_pe": [1.0] * 8, "token_msp": [0.5] * 8}).with_columns(
        pl.col("label", "token_pe").cast(pl.Decimal(10, 2)),
        pl.col("item").cast(pl.Categorical),
        pl.col("participant_id").cast(pl.UInt8),
        note=pl.lit("text"),
    )
    path = write_run(items.lazy(), tmp_path / "run.json", mode="a", signals="token_pe")
    found = read_run(path)
    assert found.columns[5:] == [COUNT, "token_pe"]
    assert found["token_pe"].to_list() == [1.0] * 8
    assert found["label"].to_list() == [2.0] * 8


def positions(*rows):
    return pl.int_range(pl.len()).is_in(rows)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            table(1, 2).head(15),
            "the last participant has 8 rows: not so in 7 of 15 rows\n    row 8:",
        ),
        (table(1, 2).tail(15), "item_index counts from 0 to 7: not so in 15 of 15 rows"),
        (table(1, 2).reverse(), "Remedy: give each participant 8 rows, sorted by participant_id"),
        (
            table(1, 2, participant_id=pl.when(positions(3)).then(5).otherwise(1)),
            "8 rows in turn are of one participant: not so in 1 of 16 rows\n    row 3: part.*id=5",
        ),
        (
            table(1, item=pl.when(positions(0)).then(pl.lit("Sleep")).otherwise("item")),
            "item is the one of its item_index: not so in 1 of 8 rows\n    row 0: .*item='Sleep'",
        ),
        (table(1, item_index=7), "item_index counts from 0 to 7: not so in 7 of 8 rows"),
        (table(1, prediction=math.nan), "prediction is finite: not so in 8 of 8"),
        (table(1, label=math.inf), "label is finite: not so in 8 of 8"),
        (table(1, token_pe=-math.inf), "token_pe is not infinite: .*\n.*row 0.*\n.*\n.*\n.*Remedy"),
        (
            table(1, signals={"^t.*$": [math.inf] * 8, "*": [0.5] * 8}),
            r"\^t\.\*\$ is not infinite: not so in 8 of 8 rows\n    row 0: \^t\.\*\$=inf\n",
        ),
        *(
            (table(1, **{name: pl.lit(2**63, pl.UInt64)}), f"{name} fits into 64 bits: .* 8 of 8")
            for name in ("participant_id", "prediction", "label", "token_pe")
        ),
        (table(1, note=pl.lit("x")), "column 'note' is String, not a number"),
        (table(1, flag=True), "column 'flag' is Boolean, not a number"),
        (table(1, participant_id=pl.lit("1")), "column 'participant_id' is String, not an integer"),
        (table(1, participant_id=pl.lit(None, pl.Int64)), "participant_id is present"),
        (table(signals={"a": []}, note=pl.lit("x")), "column 'note' is String"),
    ],
)
def test_tables_that_could_not_be_read_back_are_refused(tmp_path, items, message):
    with pytest.raises(ContractError, match=message):
        write_run(items, tmp_path / "run.json", mode="a")
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_the_old_file(tmp_path):
    path = write_run(table(1), tmp_path / "run.json", mode="a")
    old = path.read_bytes()
    with pytest.raises(MissingColumnsError, match="items of mode 'a' needs column 'label'"):
        write_run(table(1).drop("label"), path, mode="a")
    with pytest.raises(MissingColumnsError, match="'token_pe'"):
        write_run(table(1), path, mode="a", signals=["token_pe"])
    with pytest.raises(ContractError, match="items of mode 'b'"):
        write_run({"a": table(1), "b": table(2).head(3)}, path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OutputError, match="no folder"):
        write_run(table(1), tmp_path / "absent" / "run.json", mode="a")


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        (table(1), {}, "name the mode of this table"),
        (table(1), {"mode": ""}, "name the mode of this table"),
        ({"a": table(1)}, {"mode": "a"}, "names its modes itself; leave out mode='a'"),
        ({}, {}, "at least one experiment"),
        (table(1), {"mode": "a", "failed": ["3"]}, "failed holds '3'; ids .* integers"),
        (table(1), {"mode": "a", "failed": [True]}, "failed holds True"),
        (table(1), {"mode": 5}, "name the mode of this table: .*, not mode=5"),
        ({3: table(1)}, {}, "a mode must be a name such as 'few_shot', got 3"),
        (5, {"mode": "a"}, "expected a table .*, got int"),
        ({"a": 5}, {}, "expected a table .*, got int"),
        (table(1), {"mode": "a", "failed": 5}, "failed must list ids of participants, got 5"),
        (table(1), {"mode": "a", "failed": {"a": 5}}, "failed must list ids of participants"),
        (table(1), {"mode": "a", "failed": [2**70]}, "does not fit into 64 bits: 118059162"),
        (table(1), {"mode": "a", "signals": 3}, "signals must be a list of names, got 3"),
        (table(1), {"mode": "a", "signals": ["label"]}, "signal 'label' is called like a column"),
        (table(1), {"mode": "a", "failed": {"b": [3]}}, "failed names mode 'b'; items has"),
        ({"a": table(1), "b": table(2)}, {"failed": [3]}, "failed must name participants by mode"),
    ],
)
def test_arguments_that_do_not_go_together(tmp_path, items, options, message):
    with pytest.raises(ParameterError, match=message):
        write_run(items, tmp_path / "run.json", **options)
    assert not list(tmp_path.iterdir())


def test_what_reading_without_names_leaves_out(tmp_path):
    nan = [math.nan] * 8
    signals = {"own": [None] * 8, "token_pe": nan, "b": [0.5] * 8, "token_msp": [None] * 8}
    items = table(1, signals=signals)
    path = write_run(items, tmp_path / "run.json", mode="a")
    assert read_run(path).columns[5:] == [COUNT, "token_msp", "b"]
    assert_frame_equal(read_run(path, signals=list(signals)), items)
    empty = items.clear()
    write_run(empty, path, mode="a")
    assert read_run(path).columns[5:] == [COUNT]
    assert_frame_equal(read_run(path, signals=list(signals)), empty)


def test_a_run_in_which_all_failed(tmp_path):
    path = write_run(table(), tmp_path / "run.json", mode="a", failed=pl.Series([3, 1]))
    run = open_run(path)
    assert run.items.is_empty()
    assert run.failed.to_list() == [1, 3]
