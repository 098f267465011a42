"""Runs evaluated without the command line; golden artifacts are in `test_golden_artifact`."""

import json
from datetime import UTC, datetime
from functools import partial

import polars as pl
import pytest

from evalframe.compat.ai_psychiatrist import RunWarning, open_run
from evalframe.compat.ai_psychiatrist.artifact import evaluation_artifact, write_artifact
from evalframe.compat.ai_psychiatrist.evaluation import evaluate_runs
from evalframe.compat.ai_psychiatrist.settings import RunSettings
from evalframe.core.errors import (
    ContractError,
    InputError,
    OutputError,
    ParameterError,
)
from evalframe.selective.total_score import ITEM_NAMES

MSP = ("token_msp",)

quick = partial(RunSettings, variants=MSP, coverage_grid=(0.5, 0.6, 0.8), n=0)
"""Few metrics, and nothing resampled."""


def entry(participant, *, off=0, predicted=8, **signals):
    """Who answers the first items, each off by so much, and abstains from the others."""
    given = {"token_msp": 0.5, "llm_evidence_count": 1} | signals
    items = list(ITEM_NAMES)
    return {
        "participant_id": participant,
        "success": True,
        "ground_truth_items": dict.fromkeys(items, 0),
        "predicted_items": {name: off if k < predicted else None for k, name in enumerate(items)},
        "item_signals": {name: given for name in items},
    }


def failed(participant):
    return {"participant_id": participant, "success": False}


def run(*entries, signals=None):
    results = {"mode": "few_shot", "results": list(entries)}
    return open_run({"experiments": [{"results": results}]}, signals=signals)


def estimates(evaluation, number=0):
    rows = evaluation.result.filter(input=number)
    return dict(zip(rows["metric"], rows["estimate"], strict=True))


def test_two_participants_by_hand():
    # Of 16 items: 8 right at .9, then 4 off by 3 (loss 1) at .5, then 4 abstentions.
    one = run(entry(1, token_msp=0.9), entry(2, off=3, predicted=4), failed(3))
    evaluation = evaluate_runs(one, settings=quick())
    found = estimates(evaluation)
    assert found["coverage"] == 0.75
    assert found["aurc"] == pytest.approx(0.25 * (1 / 3) / 2)
    assert found["augrc"] == pytest.approx(0.25 * 0.25 / 2)
    assert found["risk_at_0.50"] == 0.0
    assert found["risk_at_0.60"] == pytest.approx(1 / 3)
    assert found["achieved_coverage_at_0.60"] == 0.75
    assert found["risk_at_0.80"] is None
    assert evaluation.deltas is None
    assert evaluation.curves["coverage"].to_list() == [0.5, 0.75]
    population = evaluation_artifact(evaluation)["population"]
    assert population == {
        "participants_total": 3,
        "participants_included": 2,
        "participants_failed": 1,
        "items_total": 16,
    }


def test_two_runs_over_those_who_succeeded_in_both():
    left = run(entry(1), entry(2, off=3), entry(3, off=3), failed(4))
    right = run(entry(2), failed(3), entry(4), entry(5))
    with pytest.raises(InputError, match="1 are in the first only, 1 in the second only"):
        evaluate_runs(left, right, settings=RunSettings(n=0))
    settings = quick(n=20, intersection_only=True, rules="reference")
    evaluation = evaluate_runs(left, right, settings=settings)
    assert evaluation.population.analysed.to_list() == [2]
    assert estimates(evaluation, 0)["aurc"] == 1.0
    assert estimates(evaluation, 1)["aurc"] == 0.0
    document = evaluation_artifact(evaluation)
    assert document["population"]["participants_total"] == 3
    assert document["population"]["participants_failed"] == 2
    comparison = document["comparison"]
    assert comparison["deltas"]["token_msp"]["aurc_full"] == {"delta": -1.0, "ci95": [-1.0, -1.0]}
    counts = {k: v for k, v in comparison.items() if k.startswith("participants")}
    assert counts == {
        "participants_left_only": 1,
        "participants_right_only": 1,
        "participants_overlap_total": 3,
        "participants_overlap_included": 1,
        "participants_failed_left": 1,
        "participants_failed_right": 1,
    }


def test_nobody_in_both():
    runs = run(entry(1), failed(2)), run(failed(1), entry(2))
    with pytest.raises(InputError, match="no participant succeeded in both runs"):
        evaluate_runs(*runs, settings=quick(n=10))
    nothing = {"delta": None, "ci95": [0.0, 0.0]}
    for n in (0, 10):
        settings = quick(n=n, rules="reference")
        deltas = evaluation_artifact(evaluate_runs(*runs, settings=settings))["comparison"][
            "deltas"
        ]
        assert deltas["token_msp"] == dict.fromkeys(("aurc_full", "augrc_full", "cmax"), nothing)


def test_deltas_without_resampling():
    runs = run(entry(1), entry(2)), run(entry(1, off=3), entry(2))
    found = {}
    for rules in ("documented", "reference"):
        settings = quick(rules=rules)
        evaluation = evaluate_runs(*runs, settings=settings)
        document = evaluation_artifact(evaluation)
        assert document["confidence_variants"]["token_msp"]["input_0"]["bootstrap"] == {}
        found[rules] = document["comparison"]["deltas"]["token_msp"]["aurc_full"]
    assert found == {
        "documented": {"delta": 0.5, "ci95": None},
        "reference": {"delta": 0.5, "ci95": [0.5, 0.5]},
    }


def test_abstained_items_need_their_signals_by_the_reference_only():
    one = entry(1, predicted=4)
    for name in list(ITEM_NAMES)[4:]:
        one["item_signals"][name] = {"token_msp": None, "llm_evidence_count": 1}
    made = {}
    for rules in ("documented", "reference"):
        settings = quick(rules=rules)
        try:
            made[rules] = estimates(evaluate_runs(run(one), settings=settings))["coverage"]
        except ContractError as error:
            made[rules] = str(error)
    assert made["documented"] == 0.5
    assert "token_msp is present, for token_msp: not so in 4 of 8 rows" in made["reference"]


def test_who_is_not_evaluated_needs_signals_by_the_reference_only():
    runs = run(entry(1), entry(2, token_msp=None)), run(entry(1), failed(2))
    evaluate_runs(*runs, settings=quick())
    with pytest.raises(ContractError, match=r"token_msp is present, .* in 8 of 16 rows"):
        evaluate_runs(*runs, settings=quick(rules="reference"))


def test_evidence_is_counted_in_any_case_by_the_reference_only():
    one = run(entry(1, llm_evidence_count=None))
    evaluate_runs(one, settings=quick())
    with pytest.raises(ContractError, match="llm_evidence_count is present, for llm"):
        evaluate_runs(one, settings=quick(rules="reference"))
    assert RunSettings(variants=MSP).signals() == ["token_msp"]
    assert RunSettings(variants=MSP, rules="reference").signals() == [
        "llm_evidence_count",
        "token_msp",
    ]


def test_coverages_to_two_decimals():
    grid = (0.251, 0.2549, 0.5)
    with pytest.raises(
        ParameterError, match=r"two coverages of the grid are 0\.25 to two decimals"
    ):
        RunSettings(coverage_grid=grid)
    settings = quick(coverage_grid=grid, rules="reference")
    document = evaluation_artifact(evaluate_runs(run(entry(1)), settings=settings))
    risks = document["confidence_variants"]["token_msp"]["mae_at_coverage"]
    assert {key: risk["requested"] for key, risk in risks.items()} == {"0.25": 0.2549, "0.50": 0.5}


def test_infinite_thresholds(tmp_path):
    one = run(entry(1, llm_evidence_count=float("inf")))
    with pytest.raises(ContractError, match="llm_evidence_count is finite"):
        evaluate_runs(one, settings=quick(variants=("llm",)))
    settings = quick(variants=("llm",), rules="reference")
    document = evaluation_artifact(evaluate_runs(one, settings=settings))
    path = tmp_path / "out.json"
    with pytest.raises(OutputError, match="holds an infinite number"):
        write_artifact(document, path)
    assert not list(tmp_path.iterdir())
    write_artifact(document, path, strict=False)
    assert '"threshold": [\n          Infinity\n' in path.read_text()


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"loss": "squared"}, ParameterError, r"loss must be one of .* got 'squared'"),
        ({"rules": "mine"}, ParameterError, "rules must be one of .* got 'mine'"),
        ({"variants": ()}, ParameterError, "variants must be names, each once"),
        ({"variants": ("llm", "llm")}, ParameterError, "each once, got"),
        ({"n": -1}, ParameterError, "must be at least 0, got -1"),
        ({"seed": -1}, ParameterError, r"seed must lie in \[0, 2\*\*32\), got -1"),
        ({"area_coverage": 0.0}, ParameterError, "area_coverage"),
        ({"area_coverage": float("nan")}, ParameterError, "area_coverage"),
        ({"coverage_grid": ()}, ParameterError, "the coverage grid is empty"),
        ({"coverage_grid": (1.5,)}, ParameterError, "a coverage of the grid"),
    ],
)
def test_settings_outside_their_domain(wrong, kind, message):
    with pytest.raises(kind, match=message):
        RunSettings(**wrong)


def test_what_cannot_be_evaluated():
    with pytest.raises(ParameterError, match="of one run or of two, got 0"):
        evaluate_runs()
    with pytest.raises(ParameterError, match="of one run or of two, got 3"):
        evaluate_runs(*[run(entry(1))] * 3)
    with pytest.raises(InputError, match=r"^run document: participants .* \(1, such as 7\)"):
        evaluate_runs(run(entry(7), entry(7)))
    unlabelled = entry(1)
    unlabelled["ground_truth_items"] = {**unlabelled["ground_truth_items"], "Sleep": None}
    with pytest.raises(InputError, match=r"1 items have a prediction .* Sleep of participant 1"):
        evaluate_runs(run(unlabelled))
    with pytest.raises(ParameterError, match="'calibrated:llm' needs a calibration of method"):
        evaluate_runs(run(entry(1), entry(2)), settings=RunSettings(variants=("calibrated:llm",)))
    with pytest.raises(InputError, match=r"a single participant .* --bootstrap 0"):
        evaluate_runs(run(entry(1)))
    two = run(entry(1), entry(2)), run(entry(1), failed(2))
    with pytest.raises(InputError, match=r"a single participant .* --bootstrap 0"):
        evaluate_runs(*two)
    assert evaluate_runs(run(entry(1)), settings=RunSettings(rules="reference", n=5))


@pytest.mark.parametrize("rules", ["documented", "reference"])
@pytest.mark.parametrize("key", ["ground_truth_items", "predicted_items"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_answer_that_is_no_finite_number(rules, key, value):
    one = entry(1)
    one[key] = {**one[key], "Sleep": value}
    with pytest.raises(InputError, match=r"1 items .* no finite number, first Sleep of partic"):
        evaluate_runs(run(one, entry(2)), settings=RunSettings(rules=rules))


def test_a_run_that_attempted_nobody():
    with pytest.raises(InputError, match="attempted no participant"):
        evaluate_runs(run())
    found = estimates(evaluate_runs(run(), settings=RunSettings(n=0, rules="reference")))
    assert found["coverage"] == found["aurc"] == 0.0
    settings = RunSettings(n=10, rules="reference")
    figures = evaluation_artifact(evaluate_runs(run(), settings=settings))["confidence_variants"]
    assert figures["llm"]["aurc_full"] == 0.0
    assert figures["llm"]["bootstrap"]["ci95"]["aurc_full"] == [0.0, 0.0]


def test_failed_participants_of_two_runs_are_counted_in_the_overlap():
    left, right = run(entry(1), failed(2), failed(3)), run(entry(1), entry(2), failed(4))
    settings = quick(intersection_only=True)
    comparison = evaluation_artifact(evaluate_runs(left, right, settings=settings))["comparison"]
    assert comparison["participants_left_only"] == comparison["participants_right_only"] == 1
    assert comparison["participants_failed_left"] == 1, "2 is in both runs, 3 is not"
    assert comparison["participants_failed_right"] == 0


def test_a_calibration_over_a_feature_that_no_item_has():
    scaler = {"mean": [0.0], "std": [1.0]}
    model = {"coefficients": [1.0], "intercept": 0.0, "link": "sigmoid", "scaler": scaler}
    artifact = {"method": "logistic", "features": ["token_mspp"], "model": model}
    one = run(entry(1), entry(2), signals=("token_mspp", "llm_evidence_count"))
    with pytest.raises(InputError, match=r"no item has the feature 'token_mspp'.*'token_msp'"):
        evaluate_runs(one, settings=RunSettings(variants=("calibrated",)), calibration=artifact)
    settings = quick(variants=("calibrated",), rules="reference")
    with pytest.warns(RunWarning, match=r"'token_mspp'; the original's default, 0\.0"):
        made = evaluate_runs(one, settings=settings, calibration=artifact)
    assert made.curves["threshold"].to_list() == [0.5]


def test_a_calibration_of_another_confidence():
    model = {"x_thresholds": [0.0, 1.0], "y_thresholds": [0.2, 0.9]}
    artifact = {"method": "isotonic", "features": ["token_msp"], "model": model}
    one = run(entry(1), entry(2))
    own = quick(variants=("calibrated:token_msp",))
    assert evaluate_runs(one, settings=own, calibration=artifact).curves["threshold"].item() == 0.55
    other = quick(variants=("calibrated:llm",))
    with pytest.raises(InputError, match="trained on 'token_msp', and maps 'llm' here"):
        evaluate_runs(one, settings=other, calibration=artifact)
    other = quick(variants=("calibrated:llm",), rules="reference")
    with pytest.warns(RunWarning, match="trained on 'token_msp'"):
        made = evaluate_runs(one, settings=other, calibration=artifact)
    assert made.curves["threshold"].item() == pytest.approx(0.9)


def test_an_unlabelled_abstention_is_fine():
    one = entry(1, predicted=2)
    one["ground_truth_items"] = {**one["ground_truth_items"], "Moving": None}
    found = estimates(evaluate_runs(run(one), settings=quick()))
    assert found["coverage"] == 0.25


def test_progress_is_told_of_every_resampling():
    told = []

    def progress(done, total):
        told.append((done, total))

    runs = run(entry(1), entry(2)), run(entry(1), entry(2, off=1))
    settings = quick(n=10)
    evaluate_runs(runs[0], settings=settings, progress=progress)
    alone = len(told)
    assert told[-1] == (10, 10)
    evaluate_runs(*runs, settings=settings, progress=progress)
    assert len(told) > 3 * alone, "two runs, and their comparison"


def test_the_document_of_a_run_in_memory():
    evaluation = evaluate_runs(run(entry(1)), settings=quick())
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    document = evaluation_artifact(evaluation, created_at=moment)
    assert document["created_at"] == "2026-01-02T03:04:05.000000Z"
    assert document["inputs"] == [
        {"path": None, "run_id": None, "git_commit": None, "mode": "few_shot"}
    ]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_calibration_is_taken_in_every_form(tmp_path):
    from evalframe.selective.calibrators.saved import read_calibration

    artifact = {"method": "temperature_scaling", "temperature": 2.0}
    path = tmp_path / "c.json"
    path.write_text(json.dumps(artifact))
    settings = quick(variants=("calibrated:token_msp",))
    one = run(entry(1, token_msp=0.9), entry(2, off=3))
    for calibration in (artifact, path, str(path), read_calibration(artifact)):
        made = evaluate_runs(one, settings=settings, calibration=calibration)
        assert made.curves["threshold"].to_list() == pytest.approx([0.75, 0.5])


def test_tables_of_an_evaluation():
    runs = run(entry(1), entry(2)), run(entry(1), entry(2, off=1))
    settings = RunSettings(variants=("token_msp", "llm"), n=10)
    evaluation = evaluate_runs(*runs, settings=settings)
    keys = evaluation.result.select("input", "confidence").unique(maintain_order=True).rows()
    assert sorted(keys) == [(0, "llm"), (0, "token_msp"), (1, "llm"), (1, "token_msp")]
    assert evaluation.curves.columns[:2] == ["input", "confidence"]
    assert evaluation.deltas is not None
    assert evaluation.deltas["metric"].unique().sort().to_list() == ["augrc", "aurc", "coverage"]
    intervals = evaluation.result.filter(pl.col("lower").is_not_null())["metric"].unique()
    assert "aurc_optimal" not in intervals
    assert "aurc_at_0.50" in intervals
