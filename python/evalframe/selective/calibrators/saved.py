"""Calibrators as JSON documents, in the format of ai-psychiatrist 36e9fba."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import InputError, ParameterError
from evalframe.core.files import replacing
from evalframe.selective.calibrators.maps import (
    Calibrator,
    Fitted,
    Isotonic,
    Linear,
    Temperature,
    first_fall,
)
from evalframe.selective.calibrators.training import check_named

_SCHEMA, _VERSION = "1", "1.0"
_METHODS = ("temperature_scaling", "logistic", "platt", "isotonic")


def read_calibration(source: str | Path | Mapping[str, Any]) -> Fitted:
    """The calibrator of an artifact.

    A temperature at the top level wins over one in `model`; a missing `link` is `sigmoid`; true
    and false are the numbers 1 and 0.

    Args:
        source: A JSON file, or its decoded content.

    Returns:
        A `Temperature`, `Linear` or `Isotonic`, by the method of the artifact.

    Raises:
        InputError: The file is not JSON, the version or method is unknown, an entry is missing or
            of the wrong type, or parameters cannot be applied: a temperature that is not above 0,
            arrays of the wrong length, knots that do not ascend, NaN and infinity.

    Examples:
        >>> import evalframe as ef
        >>> ef.selective.read_calibration({"method": "temperature_scaling", "temperature": 0})
        Traceback (most recent call last):
        evalframe.core.errors.InputError: calibration artifact: temperature must be a finite number
        above 0, got 0.0
    """
    name, content = opened(source)
    version = content.get("schema_version", _SCHEMA)
    if version != _SCHEMA:
        raise InputError(
            f"{name}: schema_version must be {_SCHEMA!r}, got {version!r:.80}; write it in "
            "that version"
        )
    calibrator = calibrator_of(name, content)
    for fault in (*calibrator.faults(), *_doubts(calibrator)):
        raise InputError(f"{name}: {fault}")
    return calibrator


def opened(source: str | Path | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name of an artifact in messages, and its decoded content."""
    if isinstance(source, Mapping):
        return "calibration artifact", source
    return str(source), _decoded(Path(source))


def to_artifact(
    calibrator: Calibrator,
    *,
    target: str | None = None,
    fitted_on: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
    created_at: datetime | None = None,
) -> dict[str, Any]:
    """The artifact of a calibrator.

    A temperature of the feature `confidence` has the keys of `train_verbalized` (`fitted_on`,
    `metrics`, `created_at`); all others those of `train` (`training_metadata`,
    `validation_metrics`, `model`).

    Args:
        calibrator: The calibrator of one group; the format has no `Grouped`.
        target: The target of the fit, `correctness`, `near_correct` or `loss`; by default the
            target of the calibrator.
        fitted_on: Provenance of the training rows: `path`, `run_id`, `git_commit`, `mode`,
            `n_samples`, `positive_rate`.
        metrics: Its scores on the training rows.
        created_at: Time stamp; by default now.

    Returns:
        The artifact, of plain values, ready for `json.dumps`.

    Raises:
        ParameterError: It cannot be applied, is a calibrator per group, has no target, or was
            fitted on a computed feature that has the name of a column.

    Examples:
        >>> from evalframe.selective import Temperature, to_artifact
        >>> to_artifact(Temperature(2.0), fitted_on={"run_id": "r1"})["fitted_on"]
        {'run_id': 'r1'}
    """
    if not isinstance(calibrator, Fitted):
        raise ParameterError(
            f"an artifact holds one calibrator, got {type(calibrator).__name__}; write one file "
            "for each of its .calibrators"
        )
    for fault in calibrator.faults():
        raise ParameterError(f"cannot write a calibrator ({calibrator.method}): {fault}")
    check_named(calibrator.inputs, by="an artifact")
    target = target or calibrator.target
    stamp = _stamp(created_at)
    head = {"schema_version": _SCHEMA, "method": calibrator.method}
    about, scores = dict(fitted_on or {}), dict(metrics or {})
    stated = calibrator.features == ("confidence",) and target is None
    if isinstance(calibrator, Temperature) and stated:
        scale = {"temperature": calibrator.temperature}
        return head | scale | {"created_at": stamp, "fitted_on": about, "metrics": scores}
    if target is None:
        raise ParameterError(
            f"an artifact of method {calibrator.method!r} says what it was fitted to; "
            "pass target='correctness', 'near_correct' or 'loss'"
        )
    return head | {
        "version": _VERSION,
        "features": list(calibrator.features),
        "target": target,
        "training_metadata": about | {"trained_at": stamp},
        "validation_metrics": scores,
        "model": _model(calibrator),
    }


def write_calibration(
    calibrator: Calibrator | Mapping[str, Any],
    path: str | Path,
    *,
    target: str | None = None,
    fitted_on: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
    created_at: datetime | None = None,
) -> None:
    """Write an artifact atomically, as strict JSON with sorted keys.

    Args:
        calibrator: A calibrator, or an artifact as `train` returns it, without other arguments.
        path: The file, replaced if it exists.
        target: See `to_artifact`; NaN is written as null.
        fitted_on: See `to_artifact`.
        metrics: See `to_artifact`.
        created_at: See `to_artifact`.

    Raises:
        EvalframeError: See `to_artifact`; or a value that JSON lacks, the artifact could not be
            read again, or the file cannot be written.

    Examples:
        >>> import tempfile, evalframe as ef
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ef.selective.write_calibration(ef.selective.Temperature(2.0), f"{folder}/one.json")
        ...     ef.selective.read_calibration(f"{folder}/one.json").temperature
        2.0
    """
    options = {"target": target, "fitted_on": fitted_on, "metrics": metrics}
    if not isinstance(calibrator, Mapping):
        artifact = to_artifact(
            calibrator, target=target, fitted_on=fitted_on, metrics=metrics, created_at=created_at
        )
    elif extra := [name for name, value in options.items() if value is not None]:
        raise ParameterError(f"an artifact has its own {extra[0]}; change it there")
    else:
        artifact = dict(calibrator)
    read_calibration(artifact)
    try:
        text = json.dumps(_finite(artifact), indent=2, sort_keys=True, allow_nan=False)
    except TypeError as error:
        raise ParameterError(f"cannot write the calibration as JSON: {error}") from error
    with replacing(Path(path)) as partial:
        partial.write_text(f"{text}\n", encoding="utf-8")


@dataclass(frozen=True)
class _Entry:
    """One object of an artifact, which checks the types of its values."""

    name: str
    content: Mapping[str, Any]

    def get(self, key: str) -> Any:
        return self.content.get(key)

    def entry(self, key: str) -> _Entry:
        value = self.get(key)
        if not isinstance(value, Mapping):
            raise self._wrong(key, "an object")
        return _Entry(f"{self.name}: {key}", value)

    def number(self, key: str) -> float:
        value = self.get(key)
        if not isinstance(value, int | float):
            raise self._wrong(key, "a number")
        return _float(value)

    def numbers(self, key: str) -> tuple[float, ...]:
        return tuple(map(_float, self._list(key, int | float, "a list of numbers")))

    def names(self, key: str) -> tuple[str, ...]:
        names = self._list(key, str, "a list of names")
        if not names:
            raise self._wrong(key, "a list of names")
        return tuple(names)

    def _list(self, key: str, kind: Any, expected: str) -> Sequence[Any]:
        values = self.get(key)
        if isinstance(values, list | tuple) and all(isinstance(value, kind) for value in values):
            return values
        raise self._wrong(key, expected)

    def _wrong(self, key: str, expected: str) -> InputError:
        if key not in self.content:
            return InputError(f"{self.name}: {key!r} is missing; it must be {expected}")
        return InputError(f"{self.name}: {key!r} must be {expected}, got {self.content[key]!r:.80}")


def _decoded(path: Path) -> Mapping[str, Any]:
    try:
        data = read_regular(path)
    except OSError as error:
        raise InputError(f"cannot read the calibration {str(path)!r}: {error.strerror}") from error
    content = decoded(data, str(path))
    if not isinstance(content, dict):
        raise InputError(f"{path}: an artifact is an object, got {type(content).__name__}")
    return content


def calibrator_of(name: str, content: Mapping[str, Any]) -> Fitted:
    """The calibrator of an artifact, whose parameters are not checked."""
    entry = _Entry(name, content)
    method, target = entry.get("method"), entry.get("target")
    if method not in _METHODS:
        raise InputError(
            f"{entry.name}: unknown method {method!r}; known: {', '.join(_METHODS)}. "
            "Is it a calibration artifact?"
        )
    if target is not None and not isinstance(target, str):
        raise InputError(f"{entry.name}: 'target' must be a name, got {target!r}")
    if method == "temperature_scaling":
        nested = entry.get("temperature") is None and "model" in entry.content
        model = entry.entry("model") if nested else entry
        features: tuple[str, ...] = ("confidence",)
        if "features" in entry.content:
            features = entry.names("features")
        return Temperature(model.number("temperature"), features, target)
    features, model = entry.names("features"), entry.entry("model")
    if method == "isotonic":
        if len(features) != 1:
            raise InputError(
                f"{entry.name}: an isotonic map has exactly one feature, got {list(features)}"
            )
        knots = model.numbers("x_thresholds"), model.numbers("y_thresholds")
        return Isotonic(features, *knots, target)
    link = model.content.get("link", "sigmoid")
    if link not in ("sigmoid", "identity"):
        raise InputError(f"{model.name}: 'link' must be 'sigmoid' or 'identity', got {link!r}")
    scaler = model.entry("scaler")
    return Linear(
        features=features,
        coefficients=model.numbers("coefficients"),
        intercept=model.number("intercept"),
        mean=scaler.numbers("mean"),
        std=scaler.numbers("std"),
        link=link,
        method=method,
        target=target,
    )


def _doubts(calibrator: Fitted) -> list[str]:
    """Faults of maps that can be applied, but that no fit returns."""
    if len(set(calibrator.features)) < len(calibrator.features):
        return [f"features must differ, got {list(calibrator.features)}"]
    if isinstance(calibrator, Isotonic) and (falls := first_fall(calibrator.y_thresholds)):
        y = calibrator.y_thresholds
        return [f"y_thresholds must not fall, got {y[falls - 1]!r} before {y[falls]!r}"]
    return []


def _model(calibrator: Fitted) -> dict[str, Any]:
    if isinstance(calibrator, Temperature):
        return {"temperature": calibrator.temperature}
    if isinstance(calibrator, Isotonic):
        knots = {"x": calibrator.x_thresholds, "y": calibrator.y_thresholds}
        return {f"{axis}_thresholds": list(values) for axis, values in knots.items()}
    return {
        "coefficients": list(calibrator.coefficients),
        "intercept": calibrator.intercept,
        "link": calibrator.link,
        "scaler": {"mean": list(calibrator.mean), "std": list(calibrator.std)},
    }


def _stamp(time: datetime | None) -> str:
    moment = (time or datetime.now(UTC)).astimezone(UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _finite(value: Any) -> Any:
    """The value with null for NaN and infinity, which strict JSON lacks."""
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _float(value: float) -> float:
    """A float; an integer beyond the range of floats becomes infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
