"""Artifacts: every load rule, round trips, files whole or not at all."""

import json
import math
import os
from datetime import UTC, datetime

import polars as pl
import pytest

from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import EvalframeError, InputError, OutputError, ParameterError
from evalframe.selective.calibrators.maps import Grouped, Isotonic, Linear, Temperature
from evalframe.selective.calibrators.saved import read_calibration, to_artifact, write_calibration

NAN = math.nan
READERS = [read_calibration, ai_psychiatrist.read_calibration]
LOGISTIC = {
    "method": "logistic",
    "features": ["a", "b"],
    "target": "correctness",
    "model": {
        "coefficients": [0.5, 1],
        "intercept": 0.25,
        "link": "sigmoid",
        "scaler": {"mean": [0, 1], "std": [1, 2]},
    },
}
ISOTONIC = {
    "method": "isotonic",
    "features": ["a"],
    "target": "loss",
    "model": {"x_thresholds": [0, 1], "y_thresholds": [0.5, 1]},
}


def changed(artifact, *path, to):
    copy = json.loads(json.dumps(artifact))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if to is KeyError:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return copy


def test_golden_outcomes(golden):
    for case in golden("selective/csf")["artifact_load_outcomes"]:
        for read in READERS:
            if case["outcome"] == "ok":
                assert read(case["artifact"]).method
            else:
                with pytest.raises(InputError):
                    read(case["artifact"])


def test_golden_artifacts_give_the_calibrated_values(golden):
    csf = golden("selective/csf")
    checked = 0
    for case in csf["calibrated_cases"]:
        name, key = case["calibration"], case["confidence_key"]
        if case["expected"] is None or key not in ("calibrated:token_msp", "calibrated:llm"):
            continue
        calibrator = ai_psychiatrist.read_calibration(csf["calibration_artifacts"][name])
        signal = "token_msp" if key.endswith("msp") else "llm_evidence_count"
        frame = pl.DataFrame({"value": [float(case["signals"].get(signal, 0))]})
        found = frame.select(calibrator.apply("value")).item()
        assert found == pytest.approx(case["expected"], abs=1e-12), case["id"]
        checked += 1
    assert checked >= 5


def test_temperatures():
    def read(**content):
        return read_calibration({"method": "temperature_scaling", **content})

    assert read(temperature=3, model={"temperature": 0.4}).temperature == 3.0
    assert read(model={"temperature": 0.4}).temperature == 0.4
    assert read(temperature=True).temperature == 1.0
    assert read(temperature=2).features == ("confidence",)
    named = read(model={"temperature": 2}, features=["token_msp"], target="near_correct")
    assert (named.features, named.target) == (("token_msp",), "near_correct")


@pytest.mark.parametrize("temperature", [0, -1, NAN, math.inf, 10**400])
def test_temperatures_that_cannot_be_applied(temperature):
    artifact = {"method": "temperature_scaling", "temperature": temperature}
    with pytest.raises(InputError, match="temperature must be a finite number above 0"):
        read_calibration(artifact)
    read = ai_psychiatrist.read_calibration(artifact)
    with pytest.raises(ParameterError, match="temperature must be a finite number above 0"):
        read.apply()


def test_linear_and_isotonic():
    fitted = read_calibration(LOGISTIC)
    assert fitted == Linear(
        ("a", "b"), (0.5, 1.0), 0.25, (0.0, 1.0), (1.0, 2.0), target="correctness"
    )
    unlinked = changed(LOGISTIC, "model", "link", to=KeyError)
    assert read_calibration(unlinked).link == "sigmoid"
    assert read_calibration(changed(LOGISTIC, "method", to="platt")).method == "platt"
    assert read_calibration(ISOTONIC) == Isotonic(("a",), (0.0, 1.0), (0.5, 1.0), "loss")


@pytest.mark.parametrize(
    ("artifact", "told"),
    [
        ({}, r"unknown method None; known: temperature_scaling, .* calibration artifact\?"),
        ({"method": "svm"}, "unknown method 'svm'"),
        ({"method": ["isotonic"]}, "unknown method"),
        ({"method": "temperature_scaling"}, "'temperature' is missing; it must be a number"),
        ({"method": "temperature_scaling", "model": 3}, "'model' must be an object, got 3"),
        ({"method": "temperature_scaling", "temperature": "2"}, "must be a number, got '2'"),
        (changed(LOGISTIC, "features", to=KeyError), "'features' is missing"),
        (changed(LOGISTIC, "features", to="a,b"), "'features' must be a list of names"),
        (changed(LOGISTIC, "features", to=["a", 1]), "'features' must be a list of names"),
        (changed(LOGISTIC, "features", to=[]), "'features' must be a list of names"),
        (changed(LOGISTIC, "target", to=3), "'target' must be a name"),
        (changed(LOGISTIC, "model", to=[1]), "'model' must be an object"),
        (changed(LOGISTIC, "model", "link", to="probit"), "'link' must be 'sigmoid' or"),
        (changed(LOGISTIC, "model", "scaler", to=KeyError), "model: 'scaler' is missing"),
        (changed(LOGISTIC, "model", "scaler", "std", to=KeyError), "scaler: 'std' is missing"),
        (changed(LOGISTIC, "model", "intercept", to=None), "'intercept' must be a number"),
        (changed(LOGISTIC, "model", "coefficients", to=0.5), "must be a list of numbers"),
        (changed(LOGISTIC, "model", "coefficients", to=["1", 2]), "must be a list of numbers"),
        (changed(ISOTONIC, "features", to=["a", "b"]), "exactly one feature"),
        (changed(ISOTONIC, "model", "x_thresholds", to="0,1"), "must be a list of numbers"),
    ],
)
@pytest.mark.parametrize("read", READERS)
def test_what_nobody_reads(artifact, told, read):
    with pytest.raises(InputError, match=told):
        read(artifact)


@pytest.mark.parametrize(
    ("artifact", "told"),
    [
        (changed(LOGISTIC, "features", to=["a"]), r"1 features \['a'\], but 2 in coefficients"),
        (changed(LOGISTIC, "model", "scaler", "mean", to=[0]), "but 1 in mean"),
        (changed(LOGISTIC, "model", "scaler", "std", to=[1, 0]), "std must be above 0"),
        (changed(LOGISTIC, "model", "coefficients", to=[1, NAN]), "finite"),
        (changed(ISOTONIC, "model", "x_thresholds", to=[1, 0]), "must ascend, got 1.0 before 0.0"),
        (changed(ISOTONIC, "model", "x_thresholds", to=[0]), "as many x_thresholds"),
        (changed(ISOTONIC, "model", "y_thresholds", to=[NAN, 1]), "finite"),
    ],
)
def test_what_only_the_original_reads_and_nobody_applies(artifact, told):
    with pytest.raises(InputError, match=told):
        read_calibration(artifact)
    with pytest.raises(ParameterError, match=told):
        ai_psychiatrist.read_calibration(artifact).apply()


def test_what_differs_by_rules_and_can_be_applied():
    falling = changed(ISOTONIC, "model", "y_thresholds", to=[1, 0.5])
    with pytest.raises(InputError, match=r"y_thresholds must not fall, got 1.0 before 0.5"):
        read_calibration(falling)
    read = ai_psychiatrist.read_calibration(falling)
    assert pl.DataFrame({"a": [0.5]}).select(read.apply()).item() == 0.75
    scale = {"method": "temperature_scaling", "temperature": 2, "features": ["a", "b"]}
    with pytest.raises(InputError, match="exactly one feature"):
        read_calibration(scale)
    assert ai_psychiatrist.read_calibration(scale).features == ("confidence",)
    for version in ("2", 1, None):
        later = changed(LOGISTIC, "schema_version", to=version)
        with pytest.raises(InputError, match=rf"schema_version must be '1', got {version!r}; "):
            read_calibration(later)
        assert ai_psychiatrist.read_calibration(later) == read_calibration(LOGISTIC)
    twice = changed(LOGISTIC, "features", to=["a", "a"])
    with pytest.raises(InputError, match=r"features must differ, got \['a', 'a'\]"):
        read_calibration(twice)
    assert ai_psychiatrist.read_calibration(twice).features == ("a", "a")


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "calibration.json"
    with pytest.raises(InputError, match=r"cannot read the calibration .*No such file"):
        read_calibration(path)
    with pytest.raises(InputError, match="cannot read the calibration"):
        read_calibration(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"cannot read the calibration .* not a regular file"):
        read_calibration(tmp_path / "pipe")
    path.write_text("[1]")
    with pytest.raises(InputError, match="an artifact is an object, got list"):
        read_calibration(path)
    path.write_text('{"method": "temperature_scaling", "temperature": NaN}')
    with pytest.raises(InputError, match=r"calibration.json: temperature must be .* got nan"):
        read_calibration(path)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", r" is empty \(0 bytes\)"),
        (json.dumps(LOGISTIC).encode()[:-9], ": .* the file ends too early"),
        (b"\xff\xfe\x00", ": byte 2 is not UTF-8 text"),
        (b'{"method": "caf\xe9"}', ": byte 15 is not UTF-8 text"),
        (b'{"temperature": %s}' % (b"1" * 5000), ": an integer has more than 4,300 digits"),
        (b"[" * 100_000, ": nested too deeply"),
    ],
)
def test_what_is_no_json(tmp_path, data, told):
    path = tmp_path / "calibration.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"calibration\.json{told}"):
        read_calibration(str(path))


@pytest.mark.parametrize(
    "calibrator",
    [
        Temperature(2.5),
        Temperature(0.1 + 0.2, ("token_msp",), "correctness"),
        Linear(("a", "b"), (0.1, 1 / 3), -2.0, (0.0, 1.0), (1.0, 2.0), target="near_correct"),
        Linear(("a",), (0.1,), 0.5, (0.0,), (1.0,), "identity", "platt", "loss"),
        Isotonic(("a",), (0.1, 1 / 3), (0.0, 1.0), "loss"),
    ],
)
def test_round_trips(calibrator, tmp_path):
    path = tmp_path / "calibration.json"
    write_calibration(calibrator, path, fitted_on={"run_id": "r"}, metrics={"auc_roc": NAN})
    assert read_calibration(path) == calibrator
    text = path.read_text()
    assert "NaN" not in text
    written = json.loads(text)
    assert list(written) == sorted(written)
    about = written.get("fitted_on") or written["training_metadata"]
    scores = written.get("metrics") or written["validation_metrics"]
    assert (about["run_id"], scores) == ("r", {"auc_roc": None})
    write_calibration(to_artifact(calibrator), path)
    assert read_calibration(path) == calibrator
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.json"]


def test_stamps_are_utc():
    moment = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert to_artifact(Temperature(2.0), created_at=moment)["created_at"] == (
        "2025-01-02T03:04:05.000000Z"
    )
    supervised = to_artifact(Isotonic(("a",), (0,), (1,)), target="loss", created_at=moment)
    assert supervised["training_metadata"]["trained_at"] == "2025-01-02T03:04:05.000000Z"


def test_what_is_not_written(tmp_path):
    path = tmp_path / "calibration.json"
    path.write_text("old")
    grouped = Grouped((pl.col("m"),), pl.DataFrame({"m": [1]}), (Temperature(2.0),))
    refused = [
        (Temperature(0.0), {}, "cannot write a calibrator .*above 0"),
        (grouped, {}, "one calibrator, got Grouped; write one file for each"),
        (Isotonic(("a",), (0.0,), (1.0,)), {}, "pass target='correctness'"),
        (Temperature(2.0), {"fitted_on": {"path": tmp_path}}, "cannot write the calibration as"),
        (LOGISTIC, {"target": "loss"}, "an artifact has its own target"),
        ({"method": "svm"}, {}, "unknown method 'svm'"),
    ]
    for calibrator, about, told in refused:
        with pytest.raises(EvalframeError, match=told):
            write_calibration(calibrator, path, **about)
    with pytest.raises(OutputError, match="create it first"):
        write_calibration(Temperature(2.0), tmp_path / "none" / "c.json")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.json"]
