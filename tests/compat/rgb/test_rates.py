"""Rates as RGB scores them: golden scores, stored scores of real runs, and a table by hand."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import rgb
from evalframe.compat.rgb.tables import COUNTERS
from evalframe.rag.counting import COUNTERS as SOUND
from evalframe.rag.counting import RATES
from rag.test_rates import responses


def rates(frame, **options):
    return rgb.rates(frame, **options)


def row(frame, **options):
    return rates(frame, **options).row(0, named=True)


def check(found, scores):
    """Hold a row of rates to a score file of the original, whatever keys that has."""
    same = {
        "nums": found["n"],
        "all_rate": found["all_rate"],
        "fact_check_rate": found["error_detection_rate"],
        "fact_tt": found["n_error_detected"],
        "correct_tt": found["n_error_corrected_original"],
        "correct_rate": found["error_correction_rate_original"],
        "tt": None if found["all_rate"] is None else round(found["all_rate"] * found["n"]),
    }
    for key, value in scores.items():
        if key != "noise_rate":
            assert same[key] == value, key


def test_golden_scores(golden):
    cases = golden("rag/rates")
    checked = 0
    for case in [*cases["runs"], *cases["aggregate_only"]]:
        frame = responses(case["labels"], case["factlabels"], case["noise_rate"])
        if case["expected_scores"] is None:
            found = row(frame)
            assert found["n"] == 0 or case["expected_error"] == "IndexError"
            assert found["n"] > 0 or found["all_rate"] is None
        else:
            check(row(frame), case["expected_scores"])
        checked += 1
    assert checked >= 18


def test_golden_judges(golden):
    cases = golden("rag/rates")
    assert cases["judge_reject"]
    assert cases["judge_fact"]
    for case in cases["judge_reject"]:
        frame = responses(case["labels"], evaluations=case["evaluations"])
        found, scores = row(frame), case["expected_scores"]
        assert found["n_judge_rejected"] == scores["rejecttt"]
        assert found["judge_rejection_rate"] == scores["reject_rate"]
        assert (found["accuracy"], found["n_correct"]) == (scores["all_rate"], scores["tt"])
    for case in cases["judge_fact"]:
        frame = responses(case["labels"], evaluations=case["evaluations"])
        found, scores = row(frame), case["expected_scores"]
        assert found["n_judge_detected"] == scores["rejecttt"]
        assert found["judge_detection_rate"] == scores["reject_rate"]
        assert found["n_judge_corrected"] == scores["correct_tt"]
        assert (found["judge_correction_rate"] or 0) == scores["correct_rate"]
    strings = cases["judge_strings"]
    for kind, counter in (("reject", "n_judge_rejected"), ("fact", "n_judge_detected")):
        for text, verdict in strings[kind]:
            assert row(responses([[1]], evaluations=[text]))[counter] == verdict, text


@pytest.fixture(scope="module")
def real(shared):
    """Labels of the real responses, recomputed from their texts."""
    folder = shared / "data/rag"
    stored = pl.scan_parquet(folder / "results_licensed.parquet").drop("label", "factlabel")
    answers = pl.scan_parquet(folder / "instances.parquet").select(
        "dataset", "id", answers="answer_groups"
    )
    joined = stored.rename({"prediction": "response"}).join(answers, on=["dataset", "id"])
    scores = json.loads((folder / "real_scores.json").read_text())["runs"]
    return ef.rag.label(joined.collect()), scores


def test_every_stored_score_of_real_runs(real):
    labelled, scores = real
    runs = ["source", "run_file"]
    table = rates(labelled, by=runs)
    assert len(table) == 71
    known = {(run["source"], run["run_file"]): run for run in scores}
    checked = {"judge": 0, "keywords": 0}
    for found in table.iter_rows(named=True):
        run = known[found["source"], found["run_file"]]
        again, stored = run["recomputed"], run["stored_scores"]
        assert found["n"] == again["nums"]
        assert found["n_correct"] == again["accuracy_tt"]
        assert found["n_rejected"] == again["reject_tt"]
        assert round(found["all_rate"] * found["n"]) == again["tt"]
        if "fact_tt" in again:
            assert found["n_error_detected"] == again["fact_tt"]
            assert found["n_error_corrected_original"] == again["correct_tt"]
            assert found["n_error_corrected"] == again["correct_tt_requiring_1"]
        if "judge_not_addressed" in again:
            assert found["n_judge_rejected"] == again["judge_not_addressed"]
            assert found["n_judge_detected"] == again["judge_identified_or_yes"]
            assert found["n_judge_corrected"] == again["judge_identified_correct"]
        if stored and "reject_rate" in stored:
            verdict = "detect" if "correct_rate" in stored else "reject"
            assert found[f"n_judge_{verdict}ed"] == stored["rejecttt"]
            assert found[f"judge_{verdict}ion_rate"] == stored["reject_rate"]
            assert found["accuracy"] == stored["all_rate"]
            if verdict == "detect":
                assert (found["judge_correction_rate"] or 0) == stored["correct_rate"]
            checked["judge"] += 1
        elif stored:
            check(found, stored)
            checked["keywords"] += 1
    assert checked["judge"] >= 5
    assert checked["keywords"] >= 50


def test_a_hand_checked_table():
    frame = responses(
        [[1, 1], [1, 0], [-1], [0], [], [-1, 1], None],
        [1, 1, 1, 0, 1, 0, 1],
        1.0,
        ["Yes", "not addressed", None, "has identified", "", "Yes", "Yes"],
    )
    found = row(frame)
    assert {name: found[name] for name in COUNTERS} == {
        "n": 6,
        "n_dropped": 1,
        "n_correct": 1,
        "n_rejected": 2,
        "n_wrong": 3,
        "n_partial": 1,
        "n_fact_checked": 6,
        "n_error_detected": 4,
        "n_error_corrected": 1,
        "n_error_corrected_original": 3,
        "n_detected_and_rejected": 1,
        "n_judged": 5,
        "n_judge_rejected": 1,
        "n_judge_detected": 3,
        "n_judge_corrected": 2,
    }
    assert found["all_rate"] == 3 / 6
    assert found["error_correction_rate"] == 1 / 4
    assert found["error_correction_rate_original"] == 3 / 4


def test_the_other_columns_are_those_of_the_sound_table():
    frame = responses([[1], [-1], [0]], [1, 1, 0], 1.0)
    sound = ef.rag.rates(frame, intervals="wilson")
    assert_frame_equal(rates(frame, intervals="wilson").select(sound.columns), sound)
    assert {*COUNTERS} - {*SOUND} == {"n_error_corrected_original"}
    assert [*rates(frame).columns] == [
        *COUNTERS,
        *[*RATES][:5],
        "error_correction_rate_original",
        *[*RATES][5:],
    ]


LABELS = st.sampled_from([[1], [0], [-1], [1, 0], [], None])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(LABELS, st.sampled_from([0, 1, None])), max_size=9))
def test_correct_rate_counts_flagged_responses_without_a_missing_group(pairs):
    frame = responses([label for label, _ in pairs], [flag for _, flag in pairs])
    valid = [(label, flag) for label, flag in pairs if label is not None and flag is not None]
    flagged = [label for label, flag in valid if flag == 1]
    share = sum(0 not in label for label in flagged) / len(flagged) if flagged else 0.0
    assert frame.select(rgb.correct_rate()).item() == (share if valid else None)
