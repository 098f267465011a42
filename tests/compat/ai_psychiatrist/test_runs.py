"""Run documents as tables: what counts as success, and what is refused."""

import math

import polars as pl
import pytest

from evalframe.compat.ai_psychiatrist import open_run, read_run
from evalframe.core.errors import InputError, ParameterError
from run_documents import EACH_WAY, NAMES, as_bytes, changed, document, entry

COUNT = "llm_evidence_count"
KEYS = ["participant_id", "item_index", "item", "prediction", "label"]


@EACH_WAY
@pytest.mark.parametrize(
    ("found", "expected"), [(301, 301), ("301", 301), (301.9, 301), (True, 1), (" 7 ", 7), (-3, -3)]
)
def test_ids_are_converted_as_int_does(given, found, expected):
    run = open_run(given(document(entry(found))))
    assert run.items["participant_id"].to_list() == [expected] * 8
    assert run.items.schema["participant_id"] == pl.Int64


@EACH_WAY
@pytest.mark.parametrize("success", [None, False, 0, "", [], {}])
def test_nothing_else_is_read_of_a_failed_entry(given, success):
    failure = {"participant_id": "9", "success": success, "predicted_items": 3, "item_signals": []}
    run = open_run(given(document(failure, entry(5), {"participant_id": 2})))
    assert run.failed.to_list() == [2, 9]
    assert run.included.to_list() == [5]
    assert len(run.items) == 8


@pytest.mark.parametrize("success", [1, "false", [0], 0.1])
def test_what_is_truthy_is_a_success(success):
    assert open_run(document(entry(5, success))).included.to_list() == [5]


def test_failed_and_successful_entries_of_one_participant_count_as_both():
    run = open_run(document(entry(4), entry(4, False), entry(3), entry(4, False)))
    assert run.included.to_list() == [3, 4]
    assert run.failed.to_list() == [4]
    assert run.repeated.to_list() == []
    assert run.items["participant_id"].gather_every(8).to_list() == [4, 3]


@EACH_WAY
def test_an_experiment_without_results_is_empty(given):
    for experiment in ({}, {"results": {}}, {"results": {"results": []}}):
        whole = {"experiments": [experiment]}
        if "results" not in experiment.get("results", {}):
            with pytest.raises(InputError, match="the experiment has no list of results"):
                open_run(given(whole))
        run = open_run(given(whole), strict=False)
        assert run.items.schema == pl.Schema(
            dict(zip(KEYS, [pl.Int64, pl.Int64, pl.String, pl.Int64, pl.Int64], strict=True))
            | {COUNT: pl.Float64}
        )
        assert len(run.items) == len(run.included) == len(run.failed) == 0
        assert run.included.dtype == run.failed.dtype == run.repeated.dtype == pl.Int64
        assert (run.run_id, run.git_commit, run.mode, run.path) == (None, None, None, None)


@EACH_WAY
def test_items_come_in_index_order_and_further_keys_are_ignored(given):
    shuffled = entry()
    backwards = {name: index for index, name in reversed(list(enumerate(NAMES)))}
    shuffled["predicted_items"] = {"Extra": "x"} | backwards
    shuffled["item_signals"] |= {"Extra": 3}
    shuffled["transcript"] = "long"
    items = read_run(given(document(shuffled)))
    assert items["prediction"].to_list() == items["item_index"].to_list() == list(range(8))
    assert items["item"].to_list() == NAMES


@EACH_WAY
def test_a_label_may_be_null_and_fractions_make_floats(given):
    items = read_run(given(changed("ground_truth_items", "Sleep", value=None)))
    assert items["label"].to_list() == [2, 2, None, 2, 2, 2, 2, 2]
    assert items.schema["label"] == pl.Int64
    items = read_run(given(changed("predicted_items", "Sleep", value=1.5)))
    assert items["prediction"].to_list() == [1, 1, 1.5, 1, 1, 1, 1, 1]
    assert items.schema["prediction"] == pl.Float64


@EACH_WAY
@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["participant_id"], None, r"participant_id of result 0 \(from 0\) must be an int.* null"),
        (["participant_id"], "x1", "participant_id of result 0 .*; it is 'x1'"),
        (["participant_id"], [3], "participant_id of result 0 .*; it is a list"),
        (["participant_id"], 2**63, "participant_id of result 0 .*does not fit into 64 bits"),
        (["predicted_items"], None, "Participant 301: predicted_items must be a dict.*it is null"),
        (["ground_truth_items"], "x", "Participant 301: ground_truth_items must be a dict.* 'x'"),
        (["item_signals"], [], "Participant 301: item_signals must be a dict .*; it is a list"),
        (["predicted_items"], {"Sleep": 1}, "Participant 301: missing predicted_items for NoInt"),
        (["item_signals"], {}, "Participant 301: missing item_signals for NoInterest, Depressed"),
        (["item_signals", "Sleep"], 3, "Participant 301: item_signals of Sleep must be a dict of"),
        (["item_signals", "Sleep"], None, "item_signals of Sleep must be a dict .*; it is null"),
        (["predicted_items", "Sleep"], "2", "301, item Sleep: predicted_items must be a number .*"),
        (["predicted_items", "Moving"], True, "item Moving: predicted_items .*, not true"),
        (["ground_truth_items", "Tired"], [2], "item Tired: ground_truth_items .*, not a list"),
        (["ground_truth_items", "Tired"], 2**63, "item Tired: label does not fit into 64 bits"),
    ],
)
def test_faults_of_an_entry_name_participant_and_place(given, path, value, message):
    with pytest.raises(InputError, match=f"^run document: .*{message}"):
        read_run(given(changed(*path, value=value)), signals=())


@EACH_WAY
def test_faults_are_told_in_the_original_order(given):
    broken = entry(7)
    del broken["ground_truth_items"]["Sleep"]
    broken["predicted_items"] = {}
    later = {"success": True}
    with pytest.raises(InputError, match=r"Participant 7: missing ground_truth_items for Sleep$"):
        read_run(given(document(entry(), broken, later)))
    del broken["item_signals"]
    with pytest.raises(InputError, match=r"Participant 7: item_signals must be a dict .* absent"):
        read_run(given(document(entry(), broken, later)))
    with pytest.raises(InputError, match=r"participant_id of result 1 .*; it is absent"):
        read_run(given(document(entry(), later, broken)))


@EACH_WAY
def test_null_absent_and_default(given):
    some = changed("item_signals", "Sleep", value={"token_pe": None}, token_pe=2, **{COUNT: 3})
    items = read_run(given(some), signals=["token_pe", COUNT, "token_msp", "other"])
    assert items.columns == [*KEYS, "token_pe", COUNT, "token_msp", "other"]
    assert set(items.dtypes[5:]) == {pl.Float64}
    assert items["token_pe"].to_list() == [2, 2, None, 2, 2, 2, 2, 2]
    assert items[COUNT].to_list() == [3, 3, 0, 3, 3, 3, 3, 3]
    assert items["token_msp"].is_nan().all()
    assert items["other"].is_nan().all()


@EACH_WAY
def test_by_default_every_numeric_signal_is_a_column(given):
    signals = {
        "note": "x",
        "length": 3,
        "token_pe": None,
        "flag": True,
        "empty": None,
        "token_msp": 1,
    }
    some = changed("item_signals", "Sleep", "length", value="three", **signals)
    items = read_run(given(some))
    assert items.columns == [*KEYS, COUNT, "token_msp", "token_pe", "length", "flag"]
    assert items["token_pe"].null_count() == 8
    assert items["flag"].to_list() == [1.0] * 8
    assert [math.isnan(v) for v in items["length"]] == [False] * 2 + [True] + [False] * 5


def test_signals_not_asked_for_are_not_looked_at():
    some = document(entry(token_pe="x", verbalized_confidence=[]))
    assert read_run(some, signals=()).columns == KEYS
    assert read_run(some, signals="token_msp").columns == [*KEYS, "token_msp"]


@EACH_WAY
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        (COUNT, "3", 3.0),
        (COUNT, True, 1.0),
        (COUNT, -2, -2.0),
        ("token_pe", False, 0.0),
        ("token_pe", 10**30, 1e30),
        ("verbalized_confidence", 4.0, 4.0),
    ],
)
def test_what_counts_as_a_number(given, name, value, expected):
    some = changed("item_signals", "Sleep", name, value=value, **{name: 2})
    for signals in (None, name):
        assert read_run(given(some), signals=signals)[name].to_list() == [2, 2, expected, *[2] * 5]


@EACH_WAY
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (COUNT, "three", "'three'"),
        (COUNT, [], "a list"),
        ("token_pe", "0.5", "'0.5'"),
        ("retrieval_similarity_mean", {}, "an object"),
        ("verbalized_confidence", True, "true"),
        ("verbalized_confidence", "4", "'4'"),
    ],
)
def test_a_signal_of_the_wrong_type(given, name, value, told):
    some = changed("item_signals", "Sleep", name, value=value, **{name: 2})
    message = f"Participant 301, item Sleep: {name} must be a number or null, not {told}"
    for signals in (None, name):
        with pytest.raises(InputError, match=message):
            read_run(given(some), signals=signals)


def test_a_further_signal_that_is_asked_for_must_be_a_number():
    with pytest.raises(InputError, match=r"item NoInterest: note must be a number .*'x'"):
        read_run(document(entry(note="x")), signals=["note"])


def test_a_number_beyond_float64():
    some = changed("item_signals", "Sleep", "token_pe", value=10**400, token_pe=1)
    with pytest.raises(InputError, match="item Sleep: token_pe does not fit into 64 bits"):
        read_run(some)


def test_a_signal_called_like_a_column():
    some = document(entry(label=3, item="x"))
    with pytest.raises(InputError, match=r"signal 'label' is called like a column .* signals="):
        read_run(some)
    assert read_run(some, signals=()).columns == KEYS
    with pytest.raises(ParameterError, match="signal 'label' is called like a column"):
        read_run(some, signals=["label"])
    assert read_run(document(entry(item="text"))).columns == [*KEYS, COUNT]


def test_literals_that_are_no_json_but_python_writes_them():
    some = changed("item_signals", "Sleep", "token_pe", value=math.nan, token_pe=math.inf)
    message = "Participant 301, item Sleep: token_pe is NaN; write null, or leave the key out"
    with pytest.raises(InputError, match=message):
        read_run(as_bytes(some))
    values = read_run(as_bytes(some), strict=False)["token_pe"].to_list()
    assert [math.isnan(v) for v in values] == [False] * 2 + [True] + [False] * 5
    assert values[0] == math.inf
    huge = as_bytes(changed("item_signals", "Sleep", "token_pe", value=-1, token_pe=2))
    assert read_run(huge.replace(b"-1", b"-1e400"))["token_pe"].min() == -math.inf
