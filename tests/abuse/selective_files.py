"""Files of the selective family: run documents and calibrations."""

import functools
import json
from dataclasses import asdict

import polars as pl

from abuse.log_files import number_of
from abuse.readers import Reader
from evalframe import selective
from evalframe.compat import ai_psychiatrist
from evalframe.compat.ai_psychiatrist import open_run, sample_document
from evalframe.selective import total_score

_SIGNALS = ["token_msp", "llm_evidence_count"]


def _run():
    document = json.loads(sample_document(participants=2))
    document["experiments"] = document["experiments"][1:2]
    for entry in document["experiments"][0]["results"]["results"]:
        maps = entry.get("item_signals") or {}
        entry["item_signals"] = {
            item: {name: signals[name] for name in _SIGNALS} for item, signals in maps.items()
        }
    return json.dumps(document).encode()


def _read_run(path):
    run = open_run(path)
    table = run.items
    absent = {name: pl.lit(None) for name in _SIGNALS if name not in table.columns}
    table = table.with_columns(**absent).with_columns(pl.col(_SIGNALS).fill_nan(None))
    return table.select("participant_id", "item", "prediction", "label", *_SIGNALS).rows()


def _true_run(data):
    [experiment] = json.loads(data)["experiments"]
    return [
        (
            int(entry["participant_id"]),
            item,
            entry["predicted_items"][item],
            entry["ground_truth_items"][item],
            _as_number(entry["item_signals"][item].get("token_msp")),
            _as_number(entry["item_signals"][item].get("llm_evidence_count", 0)),
        )
        for entry in experiment["results"]["results"]
        if entry.get("success")
        for item in total_score.ITEM_NAMES
    ]


def _as_number(value):
    return None if value is None else float(value)


def _calibration(calibrator):
    return lambda: json.dumps(selective.to_artifact(calibrator, target="loss")).encode()


def _read_calibration(path, read=selective.read_calibration):
    found = asdict(read(path))
    return {name: value for name, value in found.items() if name not in ("method", "inputs")}


def _true_calibration(data, *, of_features=True):
    document = json.loads(data)
    model, told = document.get("model"), {"target": document.get("target")}
    is_read = of_features or document["method"] != "temperature_scaling"
    told["features"] = tuple((document if is_read else {}).get("features", ["confidence"]))
    match document["method"]:
        case "temperature_scaling":
            stated = document.get("temperature")
            told["temperature"] = number_of(model["temperature"] if stated is None else stated)
        case "isotonic":
            told |= {
                name: [*map(number_of, model[name])] for name in ("x_thresholds", "y_thresholds")
            }
        case _:
            told |= {
                "link": model.get("link", "sigmoid"),
                "intercept": number_of(model["intercept"]),
            }
            told["coefficients"] = [*map(number_of, model["coefficients"])]
            told |= {name: [*map(number_of, model["scaler"][name])] for name in ("mean", "std")}
    return told


_CALIBRATORS = (
    selective.Temperature(2.5),
    selective.Linear(
        features=("token_msp", "token_pe"),
        coefficients=(0.5, -1.5),
        intercept=0.25,
        mean=(0.5, 1.0),
        std=(0.1, 0.2),
    ),
    selective.Isotonic(("token_msp",), (0.1, 0.4, 0.9), (0.2, 0.5, 0.8)),
)
_CALIBRATIONS = {
    "read_calibration": (_read_calibration, _true_calibration),
    "read_calibration of ai_psychiatrist": (
        functools.partial(_read_calibration, read=ai_psychiatrist.read_calibration),
        functools.partial(_true_calibration, of_features=False),
    ),
}
READERS = {
    "open_run": Reader("run.json", _run, _read_run, _true_run),
    **{
        f"{name} {made.method}": Reader("calibration.json", _calibration(made), *how, share=1 / 3)
        for name, how in _CALIBRATIONS.items()
        for made in _CALIBRATORS
    },
}
