"""Calibration by ai-psychiatrist where it differs from `evalframe.selective`.

| where | evalframe | ai-psychiatrist |
|---|---|---|
| `fit_temperature` | the optimum of the likelihood, to 1e-9 | the best point of three grids |
| its likelihood | of the scaled probability | of it clipped to [1e-6, 1 - 1e-6] again |
| its `correct` | 0 or 1, others are refused | cut to an integer |
| its confidence outside [0, 1] | refused | clipped |
| `train`, signal null or NaN | refused, with the number of rows | 0.0, or 3.0 for a confidence |
| `train`, a missing column | refused | the same default for all rows |
| `train`, a prediction that is a fraction | compared as it is | cut to an integer |
| `read_calibration`, T <= 0 or NaN | an error | read; `apply` raises |
| its arrays of unequal lengths | an error | read; `apply` raises |
| its knots that do not ascend | an error | read; `apply` raises if those of x do not |
| its `features` of a temperature | read, must name one | ignored |
| its `features` of the same name | an error | read as two features |
| its `schema_version`, if present | must be "1" | ignored |

These differences have no adaptor:

| where | evalframe | ai-psychiatrist |
|---|---|---|
| `fit_logistic` | the exact optimum | lbfgs that stops early, up to 3e-3 away |
| `auc_roc` of one class | null | NaN, which JSON lacks |
| NaN or null in a column that is calibrated | null | an error, or NaN |
| a scaler with std 0, NaN or infinity in an artifact | an error when read or applied | NaN |
| features of the same name | refused | fitted as two features |
| features of items that are true, false or text | numbers | an error |
| `train_verbalized`, a stated confidence that is true | an error of the reader | 1 |
| its items without a label | refused | an answer that is wrong |
| `validation_metrics` | in-sample; `folds` adds cross-validated ones | in-sample |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evalframe.compat.ai_psychiatrist.runs import Run
from evalframe.core.choices import Target
from evalframe.core.errors import ParameterError, RunWarning, warn
from evalframe.core.frames import any_frame
from evalframe.core.rows import as_expr
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.selective.calibrators import saved, trainer
from evalframe.selective.calibrators.maps import EDGE, Fitted, Temperature
from evalframe.selective.calibrators.scalar import HIGHEST, LOWEST, fitted
from evalframe.selective.calibrators.training import (
    absent_features,
    feature,
    feature_default,
    levels,
)

if TYPE_CHECKING:
    from evalframe.core.choices import Training
    from evalframe.core.segments import Floats
    from evalframe.selective.calibrators.maps import Grouped


_POINTS, _ROUNDS, _ZOOM = 200, 3, 1.5
_BLOCK = 1 << 12


def read_calibration(source: str | Path | Mapping[str, Any]) -> Fitted:
    """The calibrator of an artifact, of any version and with any parameters.

    Args:
        source: A JSON file, or its decoded content.

    Returns:
        A `Temperature`, `Linear` or `Isotonic`, by the method of the artifact; `apply` raises if
        its parameters cannot be applied.

    Raises:
        InputError: The file does not exist or is not JSON, the method is unknown, or an entry is
            missing or of the wrong type.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import read_calibration
        >>> read_calibration({"method": "temperature_scaling", "temperature": 0}).temperature
        0.0
    """
    name, content = saved.opened(source)
    if content.get("method") == "temperature_scaling":
        content = {key: value for key, value in content.items() if key != "features"}
    return saved.calibrator_of(name, content)


@any_frame
def fit_temperature(
    frame: Frame,
    confidence: IntoExpr = "confidence",
    correct: IntoExpr = "correct",
    *,
    by: By = None,
    weight: IntoExpr | None = None,
) -> Temperature | Grouped[Temperature]:
    """The temperature in [0.05, 10] with the smallest loss of three grids of 200 points.

    Confidences are clipped, and `correct` is cut to an integer.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.ai_psychiatrist import fit_temperature
        >>> items = pl.DataFrame({"confidence": [0.9] * 4, "correct": [1, 1, 1, 0]})
        >>> round(fit_temperature(items).temperature, 4)
        1.9995
    """
    right = as_expr(correct).cast(pl.Float64).cast(pl.Int64, strict=False)
    clip = (EDGE, 1 - EDGE)
    data = levels("fit_temperature", frame, confidence, right, by, weight, demands={}, clip=clip)
    return fitted(data, _grid)


@any_frame
def train_verbalized(
    items: Run | Frame,
    *,
    provenance: Mapping[str, Any] | None = None,
    created_at: datetime | None = None,
) -> dict[str, Any]:
    """A temperature of stated confidence, as an artifact for `verbalized_calibrated`.

    Items can be a `Run`, which also supplies `provenance`.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import open_run, sample_document, train_verbalized
        >>> run = open_run(sample_document(participants=30), mode="few_shot")
        >>> train_verbalized(run)["fitted_on"]["mode"]
        'few_shot'
    """
    table, about = _items(items, provenance)
    trainer.check_columns(table, ("prediction", "label", "verbalized_confidence"))
    return trainer.verbalized(with_whole_predictions(table), about, created_at, fit_temperature)


@any_frame
def train(
    items: Run | Frame,
    *,
    method: Training,
    features: Sequence[IntoExpr],
    target: Target = "correctness",
    provenance: Mapping[str, Any] | None = None,
    folds: int | None = None,
    cluster: IntoExpr = "participant_id",
    seed: int = 42,
    created_at: datetime | None = None,
) -> dict[str, Any]:
    """Train a calibrator on the predicted items of a run, and return its artifact.

    Items can be a `Run`, which also supplies `provenance`. The program's default replaces a missing
    signal, and a missing column.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import open_run, sample_document, train
        >>> run = open_run(sample_document(participants=30), mode="few_shot")
        >>> artifact = train(run, method="isotonic", features=["similarity_confidence"])
        >>> artifact["model"]["x_thresholds"]
        [0.0]
    """
    names = trainer.checked_features(method, features, target)
    table, about = _items(items, provenance)
    trainer.check_columns(table, ("prediction", "label"))
    schema = table.lazy().collect_schema()
    inputs = [_input(column, schema) for column in features]
    fit = partial(
        trainer.fit_method,
        method=method,
        features=names,
        target=target,
        temperature=fit_temperature,
    )
    rows = with_whole_predictions(table)
    return trainer.trained(
        rows, fit, method, inputs, target, about, folds, cluster, seed, created_at
    )


def check_present(items: pl.DataFrame, features: Sequence[str]) -> None:
    """Warn about features that no item has."""
    for name in absent_features(items, features):
        warn(
            f"no item has {name!r}; the original's default, {feature_default(name)}, stands "
            "for it throughout",
            RunWarning,
        )


def with_whole_predictions(items: Frame) -> pl.LazyFrame:
    """Items whose predictions are cut to integers, as the program does before it compares."""
    prediction = pl.col("prediction").cast(pl.Float64)
    return items.lazy().with_columns(prediction=prediction.sign() * prediction.abs().floor())


def _items(run: Run | Frame, provenance: Mapping[str, Any] | None) -> tuple[Frame, dict[str, Any]]:
    """The item table and its provenance."""
    if not isinstance(run, Run):
        return run, dict(provenance or {})
    about = {
        "path": run.path and str(run.path),
        "run_id": run.run_id,
        "git_commit": run.git_commit,
        "mode": run.requested_mode or run.mode,
    }
    return run.items, about | dict(provenance or {})


def _input(column: IntoExpr, schema: pl.Schema) -> pl.Expr:
    """A feature with its default."""
    if not isinstance(column, str):
        return as_expr(column)
    if column not in schema:
        return pl.lit(feature_default(column)).alias(column)
    dtype = schema[column]
    if not (dtype.is_numeric() or dtype == pl.Null):
        raise ParameterError(f"train: {column!r} must be a number, but is {dtype}; cast it")
    return feature(column)


def _grid(logit: Floats, mass: Floats, hits: Floats) -> float:
    """The best point of a log-spaced grid, which is then narrowed around it."""
    best, least = 1.0, float(_losses(np.ones(1), logit, mass, hits)[0])
    low, high = LOWEST, HIGHEST
    for _ in range(_ROUNDS):
        grid = np.exp(np.linspace(np.log(low), np.log(high), _POINTS))
        losses = _losses(grid, logit, mass, hits)
        first = int(losses.argmin())
        if losses[first] < least:
            best, least = float(grid[first]), float(losses[first])
        low, high = max(LOWEST, best / _ZOOM), min(HIGHEST, best * _ZOOM)
    return best


def _losses(temperatures: Floats, logit: Floats, mass: Floats, hits: Floats) -> Floats:
    """The mean negative log-likelihood at each temperature, of probabilities clipped again."""
    result = np.zeros(len(temperatures))
    # Blocks of levels bound the memory of the matrix of temperatures by levels.
    for first in range(0, len(logit), _BLOCK):
        block = slice(first, first + _BLOCK)
        with np.errstate(over="ignore"):
            scaled = 1 / (1 + np.exp(-logit[block] / temperatures[:, None]))
        q = np.clip(scaled, EDGE, 1 - EDGE)
        result -= (hits[block] * np.log(q) + (mass - hits)[block] * np.log(1 - q)).sum(axis=1)
    result /= mass.sum()
    return result
