"""Run documents, read as the program reads them."""

import copy
import math

import polars as pl
import pytest

from evalframe.compat.ai_psychiatrist import RunWarning, open_run, read_run
from evalframe.core.errors import InputError
from evalframe.selective.signals import SIGNALS
from evalframe.selective.total_score import ITEM_NAMES
from run_documents import as_bytes

COUNT = "llm_evidence_count"
KEYS = ["participant_id", "item_index", "item", "prediction", "label"]


def entry(participant):
    """A successful entry, the same for all but its id."""
    return {
        "participant_id": participant,
        "success": True,
        "ground_truth_items": dict.fromkeys(ITEM_NAMES, 2),
        "predicted_items": dict.fromkeys(ITEM_NAMES, 1),
        "item_signals": {name: {} for name in ITEM_NAMES},
    }


EACH_WAY = pytest.mark.parametrize("given", [copy.copy, as_bytes], ids=["decoded", "bytes"])
"""A decoded document is checked piece by piece, bytes by types: one outcome."""


ABOUT_VARIANTS = {"missing_signal_on_abstained_item_still_error", "calibrated_without_artifact"}
"""Cases that fail over a confidence, which the reader does not compute."""


@EACH_WAY
def test_golden_parsing(golden, given):
    outcomes = set()
    for case in golden("selective/csf")["parse_items_cases"]:
        source = given({"experiments": [case["experiment"]]})
        if case["error"] and case["id"] not in ABOUT_VARIANTS:
            with pytest.raises(InputError) as caught:
                open_run(source)
            assert all(text in str(caught.value) for text in case["error"]["mentions"]), case["id"]
            outcomes.add("refused")
            continue
        run = open_run(source)
        outcomes.add("read")
        if not case["expected"]:
            continue
        outcomes.add("compared")
        expected = case["expected"]
        assert run.included.to_list() == sorted(expected["included"])
        assert run.failed.to_list() == sorted(expected["failed"])
        columns = ["participant_id", "item_index", "prediction", "label"]
        assert run.items.select(columns).rows() == [tuple(row[:4]) for row in expected["items"]]
        if case["confidence_key"] == "llm":
            assert run.items[COUNT].to_list() == [row[4] for row in expected["items"]]
    assert outcomes == {"refused", "read", "compared"}


def test_golden_signal_missing_on_an_abstained_item(golden):
    cases = {case["id"]: case for case in golden("selective/csf")["parse_items_cases"]}
    experiment = cases["missing_signal_on_abstained_item_still_error"]["experiment"]
    items = read_run({"experiments": [experiment]})
    assert items["prediction"].null_count() == 8
    stated = items["verbalized_confidence"]
    assert stated.null_count() == 0
    assert [math.isnan(value) for value in stated] == [False] * 7 + [True]


@EACH_WAY
def test_golden_selection(golden, given):
    for case in golden("selective/csf")["experiment_selection_cases"]:
        experiments = [
            {
                "provenance": {"mode": mode["provenance_mode"]},
                "results": {"mode": mode["results_mode"], "results": [entry(participant)]},
            }
            for participant, mode in enumerate(case["modes"])
        ]
        source = given({"experiments": experiments})
        if case["error_type"]:
            with pytest.raises(InputError):
                open_run(source, mode=case["requested"])
            continue
        run = open_run(source, mode=case["requested"])
        assert run.included.to_list() == [case["expected_index"]]
        assert run.mode == case["modes"][case["expected_index"]]["results_mode"]


@EACH_WAY
def test_golden_runs(golden, given):
    cli = golden("selective/cli_artifacts")
    compared = 0
    for case in cli["cases"]:
        if not case["artifact"] or len(case["inputs"]) > 1:
            continue
        run = open_run(given(cli["runs"][case["inputs"][0]]), mode=(case["modes"] or [None])[0])
        stated = {"run_id": run.run_id, "git_commit": run.git_commit, "mode": run.mode}
        assert case["artifact"]["inputs"] == [stated]
        assert case["artifact"]["population"] == {
            "participants_total": len(run.included) + len(run.failed),
            "participants_included": len(run.included),
            "participants_failed": len(run.failed),
            "items_total": len(run.items),
        }
        assert set(run.items.columns) >= {*KEYS, *SIGNALS} or not len(run.items)
        compared += 1
    assert compared >= 3


def test_golden_training_rows(golden):
    calibration = golden("selective/calibration")
    items = read_run(calibration["scripts_input_run"])
    rows = items.filter(pl.col("prediction").is_not_null())
    stated = rows.filter(pl.col("verbalized_confidence").fill_nan(None).is_not_null())
    expected = calibration["scripts_training_rows"]["verbalized_pairs"]
    assert ((stated["verbalized_confidence"] - 1) / 4).to_list() == expected["p"]
    assert (stated["prediction"] == stated["label"]).cast(int).to_list() == expected["y"]
    assert len(stated) < len(rows), "a row without a stated confidence is there to be skipped"


def test_golden_repeated_participant(golden):
    run = golden("selective/cli_artifacts")["runs"]["runE_duplicate_participant"]
    found = open_run(run)
    ids = [e["participant_id"] for e in run["experiments"][0]["results"]["results"]]
    assert found.repeated.to_list() == sorted({i for i in ids if ids.count(i) > 1})
    assert len(found.repeated) == 1
    assert len(found.items) == 8 * len(ids) > 8 * len(found.included)
    with pytest.warns(RunWarning, match=f"1 participants .*: {found.repeated[0]}\\. Keep one"):
        assert read_run(run).equals(found.items)
