"""The original's training scripts: golden artifacts, training rows, refusals."""

import json
import math

import polars as pl
import pytest

from evalframe.compat import ai_psychiatrist
from evalframe.compat.ai_psychiatrist import open_run
from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
)
from evalframe.selective.calibrators.linear import fit_logistic
from evalframe.selective.calibrators.saved import read_calibration, write_calibration
from evalframe.selective.calibrators.trainer import train, train_verbalized
from evalframe.selective.calibrators.training import feature, target

ITEMS = pl.DataFrame(
    {
        "participant_id": [i // 4 for i in range(40)],
        "prediction": [None if i % 9 == 0 else i % 4 for i in range(40)],
        "label": [i * 7 % 5 % 4 for i in range(40)],
        "token_msp": [(i * 37 % 40) / 40 for i in range(40)],
        "verbalized_confidence": [None if i == 1 else 1.0 + i % 5 for i in range(40)],
    }
)
PREDICTED = 35


@pytest.fixture
def run(golden):
    return open_run(golden("selective/calibration")["scripts_input_run"])


def approximately(value):
    if isinstance(value, dict):
        return {key: approximately(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [approximately(inner) for inner in value]
    return pytest.approx(value, abs=1e-9) if isinstance(value, float) else value


def without_stamps(artifact):
    kept = {key: value for key, value in artifact.items() if key != "created_at"}
    for part in ("fitted_on", "training_metadata"):
        if part in kept:
            hidden = ("path", "trained_at")
            kept[part] = {k: v for k, v in kept[part].items() if k not in hidden}
    return kept


@pytest.mark.filterwarnings("ignore:fit_temperature")
def test_golden_scripts(golden, run, tmp_path):
    for case in golden("selective/calibration")["scripts"]:
        asked = case["args"]
        if case["script"] == "calibrate_verbalized":
            artifact = ai_psychiatrist.train_verbalized(run)
        else:
            settings = {"method": asked["method"], "target": asked["target"]}
            names = [name for name in asked["features"].split(",") if name]
            if case["error_type"]:
                with pytest.raises(ParameterError):
                    ai_psychiatrist.train(run, features=names, **settings)
                continue
            artifact = ai_psychiatrist.train(run, features=names, **settings)
        assert without_stamps(artifact) == approximately(case["artifact"]), asked
        write_calibration(artifact, tmp_path / "c.json")
        assert json.loads((tmp_path / "c.json").read_text()) == artifact


def test_golden_training_rows(golden, run):
    expected = golden("selective/calibration")["scripts_training_rows"]
    predicted = run.items.filter(pl.col("prediction").is_not_null())
    wanted = expected["dataset_loss_target"]
    assert predicted.select(map(feature, wanted["features"])).rows() == [*map(tuple, wanted["x"])]
    assert predicted.select(target("loss"))["loss"].to_list() == pytest.approx(wanted["y"])
    stated = pl.col("verbalized_confidence")
    pairs = predicted.filter(stated.is_not_nan()).select((stated - 1) / 4, target("correctness"))
    assert pairs["verbalized_confidence"].to_list() == expected["verbalized_pairs"]["p"]
    assert pairs["correctness"].to_list() == expected["verbalized_pairs"]["y"]


def test_documented_training_refuses_gaps_that_the_original_fills(run):
    signal = "retrieval_similarity_mean"
    with pytest.raises(ContractError, match=rf"'{signal}' is finite: not so in"):
        train(run.items, method="logistic", features=[signal])
    explicit = train(run.items, method="logistic", features=[feature(signal)])
    filled = ai_psychiatrist.train(run, method="logistic", features=[signal])
    assert explicit["model"] == filled["model"]


def test_a_column_that_is_not_there(run):
    with pytest.raises(MissingColumnsError, match="'new_confidence'"):
        train(run.items, method="isotonic", features=["new_confidence"])
    constant = ai_psychiatrist.train(run, method="isotonic", features=["new_confidence"])
    assert constant["model"]["x_thresholds"] == [3.0]
    with pytest.raises(MissingColumnsError, match="'label'"):
        train(ITEMS.drop("label"), method="isotonic", features=["token_msp"])


def test_provenance(run, tmp_path):
    artifact = ai_psychiatrist.train(run, method="isotonic", features=["token_msp"])
    about = artifact["training_metadata"]
    assert about | {"trained_at": None} == {
        "path": None,
        "run_id": "synthetic",
        "git_commit": "0000000",
        "mode": "few_shot",
        "n_samples": 58,
        "positive_rate": pytest.approx(0.7758620689655172),
        "trained_at": None,
    }
    own = train(ITEMS.lazy(), method="isotonic", features=["token_msp"], provenance={"run_id": 7})
    assert own["training_metadata"]["run_id"] == 7
    assert own["training_metadata"]["n_samples"] == PREDICTED


def test_cross_validated_metrics_are_added_under_their_own_name():
    plain = train(ITEMS, method="platt", features=["token_msp"])
    assert "cross_validated_metrics" not in plain
    crossed = train(ITEMS, method="platt", features=["token_msp"], folds=5, seed=7)
    assert crossed["validation_metrics"] == plain["validation_metrics"]
    held_out = crossed["cross_validated_metrics"]
    assert {k: held_out[k] for k in ("cluster", "folds", "seed")} == {
        "cluster": "participant_id",
        "folds": 5,
        "seed": 7,
    }
    assert held_out["brier_score"] > plain["validation_metrics"]["brier_score"]
    loss = train(ITEMS, method="isotonic", features=["token_msp"], target="loss", folds=2)
    assert {"mae", "mse"} <= {*loss["cross_validated_metrics"]}


def test_metrics_are_in_sample():
    artifact = train(ITEMS, method="logistic", features=["token_msp"])
    rows = ITEMS.drop_nulls("prediction").with_columns(target("correctness"))
    fitted = fit_logistic(rows, "token_msp", "correctness")
    assert read_calibration(artifact).coefficients == fitted.coefficients
    p = rows.select(fitted.apply())["calibrated"]
    brier = ((p - rows["correctness"]) ** 2).mean()
    assert artifact["validation_metrics"]["brier_score"] == pytest.approx(brier)


def test_auc_of_one_class_is_null_and_no_nan():
    right = ITEMS.with_columns(label="prediction")
    for fit in (train, ai_psychiatrist.train):
        artifact = fit(right, method="isotonic", features=["token_msp"])
        assert artifact["validation_metrics"]["auc_roc"] is None


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_methods_of_one_feature(method):
    with pytest.raises(ParameterError, match=rf"'{method}' takes exactly one feature, got"):
        train(ITEMS, method=method, features=["token_msp", "verbalized_confidence"])


def test_refusals():
    with pytest.raises(ParameterError, match="at least one feature"):
        train(ITEMS, method="logistic", features=[])
    with pytest.raises(ParameterError, match="to right and wrong, not to the target 'loss'"):
        train(ITEMS, method="temperature", features=["token_msp"], target="loss")
    stated = ITEMS.drop_nulls("verbalized_confidence")
    with pytest.raises(ParameterError, match=r"'verbalized_confidence' lies outside \[0, 1\] in"):
        train(stated, method="temperature", features=["verbalized_confidence"])
    with pytest.raises(ParameterError, match="method must be one of"):
        train(ITEMS, method="plat", features=["token_msp"])
    with pytest.raises(ParameterError, match="target must be one of"):
        train(ITEMS, method="platt", features=["token_msp"], target="right")
    with pytest.raises(ParameterError, match="nothing to train on"):
        train(ITEMS.with_columns(prediction=None), method="platt", features=["token_msp"])
    with pytest.raises(ParameterError, match="needs both classes"):
        train(ITEMS.with_columns(label="prediction"), method="platt", features=["token_msp"])
    with pytest.raises(ParameterError, match="features must have different names"):
        train(ITEMS, method="logistic", features=["token_msp", "token_msp"])
    flags = ITEMS.with_columns(token_msp=pl.col("token_msp") > 0.5)
    with pytest.raises(ParameterError, match=r"features are numbers.*bool"):
        train(flags, method="platt", features=[feature("token_msp")])
    with pytest.raises(ParameterError, match="'token_msp' is computed; make it a column"):
        train(ITEMS, method="platt", features=[pl.col("token_msp") / 2])
    with pytest.raises(ParameterError, match="a single feature name"):
        train(ITEMS, method="platt", features="token_msp")


@pytest.mark.parametrize("fit", [train, ai_psychiatrist.train])
def test_features_that_are_no_numbers(fit):
    texts = ITEMS.with_columns(pl.col("token_msp").cast(pl.String))
    with pytest.raises(ParameterError, match="'token_msp' must be a number, but is String"):
        fit(texts, method="temperature", features=["token_msp"])


def test_items_without_a_label_are_refused():
    unlabelled = ITEMS.with_columns(label=pl.when(pl.int_range(40) != 2).then("label"))
    with pytest.raises(ContractError, match=r"1 of .* predicted items have no label"):
        train(unlabelled, method="isotonic", features=["token_msp"])
    with pytest.raises(ContractError, match="'correct' is finite: not so in 1"):
        train_verbalized(unlabelled)


@pytest.mark.filterwarnings("ignore:fit_temperature")
def test_stated_confidences():
    artifact = train_verbalized(ITEMS)
    assert artifact["fitted_on"] == {"n_samples": PREDICTED - 1}
    assert artifact["metrics"]["nll_after"] < artifact["metrics"]["nll_before"]
    absent = ITEMS.with_columns(pl.col("verbalized_confidence").fill_null(math.nan))
    assert train_verbalized(absent)["temperature"] == artifact["temperature"]
    for bad in (3.5, 0.0, 6.0, math.inf):
        off = ITEMS.with_columns(verbalized_confidence=pl.lit(bad))
        with pytest.raises(
            ParameterError, match=rf"a whole number from 1 to 5.* in {PREDICTED} of"
        ):
            train_verbalized(off)
    with pytest.raises(ParameterError, match="no rows to fit on"):
        train_verbalized(ITEMS.with_columns(verbalized_confidence=None))
    with pytest.raises(MissingColumnsError, match="'verbalized_confidence'"):
        train_verbalized(ITEMS.drop("verbalized_confidence"))


def test_the_mode_is_the_one_that_was_asked_for(golden):
    document = golden("selective/calibration")["scripts_input_run"]
    (experiment,) = [e for e in document["experiments"] if e["results"]["mode"] == "few_shot"][:1]
    results = {key: value for key, value in experiment["results"].items() if key != "mode"}
    provenance = {**experiment.get("provenance", {}), "mode": "asked"}
    nameless = {**document, "experiments": [{"provenance": provenance, "results": results}]}
    run = open_run(nameless, mode="asked")
    assert run.mode is None
    assert ai_psychiatrist.train_verbalized(run)["fitted_on"]["mode"] == "asked"
    artifact = ai_psychiatrist.train(run, method="isotonic", features=["token_msp"])
    assert artifact["training_metadata"]["mode"] == "asked"


def test_the_original_cuts_a_fractional_prediction_before_it_compares():
    items = pl.DataFrame(
        {"prediction": [1.9, 2.5, 0.0], "label": [1, 3, 0], "token_msp": [0.9, 0.5, 0.1]}
    )

    def rate(fit, **settings):
        artifact = fit(items, method="isotonic", features=["token_msp"], **settings)
        return artifact["training_metadata"]["positive_rate"]

    assert rate(ai_psychiatrist.train) == pytest.approx(2 / 3)
    assert rate(train) == pytest.approx(1 / 3)
    assert rate(ai_psychiatrist.train, target="near_correct") == 1.0


def test_text_answers_are_right_or_wrong():
    items = pl.DataFrame(
        {
            "prediction": ["a", "b", "c", "c", None],
            "label": ["a", "c", "c", "a", "d"],
            "token_msp": [0.9, 0.6, 0.7, 0.8, 0.2],
        }
    )
    numbers = items.with_columns(
        pl.col("prediction", "label").replace_strict(dict(a=0, b=1, c=2, d=3))
    )
    settings = {"method": "platt", "features": ["token_msp"]}
    assert train(items, **settings)["model"] == train(numbers, **settings)["model"]
    for frame, goal in (
        (items, "near_correct"),
        (items.with_columns(label=pl.lit(1)), "correctness"),
    ):
        with pytest.raises(
            ParameterError, match=r"both be text .*\(prediction is String, label is"
        ):
            train(frame, target=goal, **settings)
