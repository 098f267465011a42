"""Train calibrators on item tables; the result is an artifact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.choices import Target, Training, check_choice
from evalframe.core.errors import Argument, ContractError, MissingColumnsError, ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import Frame, IntoExpr
from evalframe.selective.calibration_error import TO_UNIT, expected_calibration_error, is_outside
from evalframe.selective.calibrators.cross_fitting import cross_fit
from evalframe.selective.calibrators.linear import fit_linear, fit_logistic
from evalframe.selective.calibrators.saved import to_artifact
from evalframe.selective.calibrators.scalar import fit_isotonic, fit_temperature
from evalframe.selective.calibrators.training import check_named
from evalframe.selective.calibrators.training import target as target_expr
from evalframe.selective.scoring import brier_score, negative_log_likelihood
from evalframe.selective.screening import auroc

if TYPE_CHECKING:
    from evalframe.selective.calibrators.maps import Fitted


_GOAL, _CLUSTER = ":target", ":cluster"


@any_frame
def train_verbalized(
    items: Frame,
    *,
    provenance: Mapping[str, Any] | None = None,
    created_at: datetime | None = None,
) -> dict[str, Any]:
    """A temperature for stated confidence, as an artifact for `verbalized_calibrated`.

    Trained on predicted items with a stated confidence v of 1 to 5: the probability (v - 1) / 4
    against whether prediction and label are equal. Items whose stated confidence is null or NaN are
    skipped; `n_samples` is the number of the others.

    Args:
        items: An item table with `prediction`, `label` and `verbalized_confidence`.
        provenance: `path`, `run_id`, `git_commit`, `mode`.
        created_at: Time stamp; by default now.

    Returns:
        The artifact. Its `metrics` are in-sample: before and after scaling of the training rows.

    Raises:
        ParameterError: There are no items to train on, or a stated confidence is not a whole number
            from 1 to 5.
        ContractError: A predicted item with a stated confidence has no label.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"prediction": 1, "label": [1, 1, 0], "verbalized_confidence": 4})
        >>> artifact = ef.selective.train_verbalized(items, provenance={"run_id": "r1"})
        >>> round(artifact["temperature"], 4), artifact["fitted_on"]
        (1.585, {'run_id': 'r1', 'n_samples': 3})
    """
    return verbalized(items, provenance, created_at, fit_temperature)


def verbalized(
    items: Frame,
    provenance: Mapping[str, Any] | None,
    created_at: datetime | None,
    fit_temperature: Callable[..., Any],
) -> dict[str, Any]:
    """Train on stated confidence with one of the fits of a temperature."""
    check_columns(items, ("prediction", "label", "verbalized_confidence"))
    confidence = pl.col("verbalized_confidence")
    stated = confidence.cast(pl.Float64)
    rows = (
        items.lazy()
        .filter(pl.col("prediction").is_not_null(), stated.is_not_nan())
        .select(stated, target_expr("correctness").alias("correct"))
        .collect()
    )
    off_scale = rows.filter((confidence != confidence.round()) | ~confidence.is_between(1, 5))
    if len(off_scale):
        raise ParameterError(
            "verbalized_confidence must be a whole number from 1 to 5, but is not so in "
            f"{len(off_scale):,} of {len(rows):,} rows, such as {off_scale.item(0, 0)!r}"
        )
    pairs = rows.select(((confidence - 1) / 4).alias("confidence"), "correct")
    fitted = fit_temperature(pairs)
    scored = pairs.with_columns(fitted.apply())
    metrics = {
        f"{name}_{when}": scored.select(metric(column, "correct")).item()
        for name, metric in (
            ("nll", negative_log_likelihood),
            ("ece", expected_calibration_error),
        )
        for when, column in (("before", "confidence"), ("after", "calibrated"))
    }
    fitted_on = dict(provenance or {}) | {"n_samples": len(pairs)}
    return to_artifact(fitted, fitted_on=fitted_on, metrics=metrics, created_at=created_at)


@any_frame
def train(
    items: Frame,
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
    """Train a calibrator on the predicted items of a table, and return its artifact.

    Args:
        items: An item table with `prediction`, `label` and the signals.
        method: `temperature`, `platt`, `logistic` or `isotonic`; all but `logistic` take exactly
            one feature. For the target `loss`, `platt` and `logistic` are ridge regressions, and
            `temperature` is refused.
        features: Signals. A signal that is missing for some items is refused, except as
            `feature(name)`, which has a default.
        target: See `target`.
        provenance: `path`, `run_id`, `git_commit`, `mode`.
        folds: If set, the artifact has `cross_validated_metrics`: scores out of fold of `cross_fit`
            with this number of folds of clusters.
        cluster: Rows of a cluster are in the same fold.
        seed: Deals the clusters into folds.
        created_at: Time stamp; by default now.

    Returns:
        The artifact. Its `validation_metrics` have the name of the format, but are in-sample.

    Raises:
        ParameterError: The method cannot take the features; there are no items, or one class only.
        ContractError: Items without a label or without a signal.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"prediction": 1, "label": [1, 0], "token_msp": [0.9, 0.4]})
        >>> ef.selective.train(items, method="isotonic", features=["token_msp"])["model"]
        {'x_thresholds': [0.4, 0.9], 'y_thresholds': [0.0, 1.0]}
    """
    names = checked_features(method, features, target)
    fit = partial(
        fit_method, method=method, features=names, target=target, temperature=fit_temperature
    )
    about = dict(provenance or {})
    return trained(items, fit, method, features, target, about, folds, cluster, seed, created_at)


def trained(
    items: Frame,
    fit: Callable[[pl.DataFrame], Fitted],
    method: Training,
    features: Sequence[IntoExpr],
    target: Target,
    provenance: Mapping[str, Any],
    folds: int | None,
    cluster: IntoExpr,
    seed: int,
    created_at: datetime | None,
) -> dict[str, Any]:
    """The artifact of a fit on the predicted items."""
    check_columns(items, ("prediction", "label"))
    lazy = items.lazy()
    schema = lazy.collect_schema()
    inputs = [as_expr(column) for column in features]
    required = columns_read(inputs)
    if folds is not None:
        required |= {*as_expr(cluster).meta.root_names()}
        inputs.append(as_expr(cluster).alias(_CLUSTER))
    if missing := required - {*schema}:
        raise MissingColumnsError.of("train", missing, schema)
    predicted = lazy.filter(pl.col("prediction").is_not_null())
    # The target is a column first, so that constant features repeat for each row.
    goal = target_expr(target).alias(_GOAL)
    try:
        rows = predicted.with_columns(goal).select(*inputs, _GOAL).collect()
    except (
        pl.exceptions.ComputeError,
        pl.exceptions.InvalidOperationError,
        pl.exceptions.SchemaError,
    ) as error:
        kinds = ", ".join(f"{name} is {schema[name]}" for name in ("prediction", "label"))
        raise ParameterError(
            "train: features are numbers, and so are prediction and label, which may both be text "
            f"for the target 'correctness' ({kinds}): {str(error).splitlines()[0]}"
        ) from error
    if not len(rows):
        raise ParameterError("train: no item has a prediction, so there is nothing to train on")
    if unlabelled := rows[_GOAL].null_count():
        raise ContractError(
            f"train: {unlabelled:,} of {len(rows):,} predicted items have no label, or NaN in "
            "place of an answer; correct them, or set the prediction to null"
        )
    if method == "temperature":
        _check_unit(rows, rows.columns[0])
    fitted = fit(rows)
    rate = None if target == "loss" else rows[_GOAL].mean()
    artifact = to_artifact(
        fitted,
        target=target,
        fitted_on={**provenance, "n_samples": len(rows), "positive_rate": rate},
        metrics=_scores(rows.with_columns(fitted.apply()), target),
        created_at=created_at,
    )
    if folds is None:
        return artifact
    crossed = cross_fit(rows, fit, cluster=_CLUSTER, folds=folds, seed=seed)
    settings = {"cluster": as_expr(cluster).meta.output_name(), "folds": folds, "seed": seed}
    return artifact | {"cross_validated_metrics": settings | _scores(crossed, target)}


def check_columns(items: Frame, required: Sequence[str]) -> None:
    """Raise if an item table lacks a column."""
    columns = items.lazy().collect_schema().names()
    if missing := {*required} - {*columns}:
        raise MissingColumnsError.of("training", missing, columns)


def checked_features(method: str, features: Sequence[IntoExpr], target: str) -> list[str]:
    """The names of the features; ParameterError if the method cannot take them."""
    check_choice("method", method, Training)
    if isinstance(features, str | pl.Expr):
        raise ParameterError(f"features is a list, but got a single feature name: {features!r}")
    names = [as_expr(column).meta.output_name() for column in features]
    if not names:
        raise ParameterError("train needs at least one feature; name it by ", Argument("features"))
    if len(set(names)) < len(names):
        raise ParameterError(f"train: features must have different names, got {names}")
    if method != "logistic" and len(names) != 1:
        raise ParameterError(
            f"method {method!r} takes exactly one feature, got {names}; use 'logistic' for several"
        )
    if method == "temperature" and target == "loss":
        raise ParameterError(
            "a temperature is fitted to right and wrong, not to the target 'loss'; take another "
            "target, or method 'isotonic'"
        )
    check_named(list(map(as_expr, features)), by="an artifact")
    return names


def _check_unit(rows: pl.DataFrame, name: str) -> None:
    stated = pl.col(name).cast(pl.Float64, strict=False)  # the fit refuses what is not a number
    outside = rows.filter(is_outside(stated))[name]
    if len(outside):
        raise ParameterError(
            f"a temperature scales probabilities, but {name!r} lies outside [0, 1] in "
            f"{len(outside):,} of {len(rows):,} rows, such as {outside[0]!r}; {TO_UNIT}, or "
            "use method 'platt'"
        )


def fit_method(
    rows: pl.DataFrame,
    *,
    method: Training,
    features: list[str],
    target: str,
    temperature: Callable[..., Any],
) -> Fitted:
    """Fit the target with one of the methods, and one of the fits of a temperature."""
    if method == "temperature":
        fitted: Fitted = temperature(rows, features[0], _GOAL)
        return fitted
    if method == "isotonic":
        return fit_isotonic(rows, features[0], _GOAL)
    if target == "loss":
        return fit_linear(rows, features, _GOAL, method=method)
    return fit_logistic(rows, features, _GOAL, method=method)


def _scores(rows: pl.DataFrame, target: str) -> dict[str, Any]:
    """The validation metrics of the format, of the column `calibrated`."""
    value, goal = pl.col("calibrated"), pl.col(_GOAL)
    if target == "loss":
        error = value - goal
        return rows.select(mae=error.abs().mean(), mse=(error**2).mean()).row(0, named=True)
    return rows.select(
        auroc("calibrated", goal == 1).alias("auc_roc"),
        brier_score("calibrated", _GOAL).alias("brier_score"),
        expected_calibration_error("calibrated", _GOAL).alias("ece"),
    ).row(0, named=True)
