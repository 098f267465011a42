"""The original's two training scripts, over an item table: from records to an artifact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import (
    Argument,
    ContractError,
    MissingColumnsError,
    ParameterError,
)
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_choice, check_rules
from evalframe.selective.binning import TO_UNIT, is_outside
from evalframe.selective.calibration_error import expected_calibration_error
from evalframe.selective.calibrators.artifacts import to_artifact
from evalframe.selective.calibrators.cross_fitting import cross_fit
from evalframe.selective.calibrators.features import Target, check_named, feature, feature_default
from evalframe.selective.calibrators.features import target as target_expr
from evalframe.selective.calibrators.isotonic import fit_isotonic
from evalframe.selective.calibrators.linear import fit_linear, fit_logistic
from evalframe.selective.calibrators.temperature import fit_temperature
from evalframe.selective.roc import auroc
from evalframe.selective.scoring import brier_score, negative_log_likelihood

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.selective.calibrators.maps import Fitted
    from evalframe.selective.runs import Run

Training: TypeAlias = Literal["temperature", "platt", "logistic", "isotonic"]

_GOAL, _CLUSTER = ":target", ":cluster"


def train_verbalized(
    run: Run | Frame,
    *,
    provenance: Mapping[str, Any] | None = None,
    rules: Rules = "documented",
    created_at: datetime | None = None,
) -> dict[str, Any]:
    """A temperature for stated confidence, as an artifact for `verbalized_calibrated`.

    Trained on predicted items with a stated confidence v of 1 to 5: the probability (v - 1) / 4
    against whether prediction and label are equal. Items without a stated confidence, null or
    NaN, are skipped, as the original does; `n_samples` says how many are left.

    Args:
        run: A run as `open_run` reads it, or an item table.
        provenance: `path`, `run_id`, `git_commit`, `mode`; by default those of the run.
        rules: As for `fit_temperature`.
        created_at: Time stamp; by default now.

    Returns:
        The artifact. Its `metrics` are in-sample: before and after scaling of the training rows.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: No items to train on, or a stated confidence that is no whole number from
            1 to 5.
        ContractError: A predicted item with a stated confidence has no label.

    References:
        ai-psychiatrist 36e9fba, its script for verbalized confidence.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame(
        ...     {
        ...         "prediction": [1, 2, 3, None],
        ...         "label": [1, 2, 0, 1],
        ...         "verbalized_confidence": [4, 4, 4, 5],
        ...     }
        ... )
        >>> artifact = train_verbalized(items, provenance={"run_id": "r1"})
        >>> round(artifact["temperature"], 4), artifact["fitted_on"]
        (1.585, {'run_id': 'r1', 'n_samples': 3})
    """
    items, about = _items(run, provenance, ("prediction", "label", "verbalized_confidence"))
    stated = pl.col("verbalized_confidence").cast(pl.Float64)
    rows = (
        items.filter(pl.col("prediction").is_not_null(), stated.is_not_nan())
        .select(stated, training_target("correctness", rules).alias("correct"))
        .collect()
    )
    offered = pl.col("verbalized_confidence")
    off_scale = rows.filter((offered != offered.round()) | ~offered.is_between(1, 5))
    if len(off_scale):
        raise ParameterError(
            "verbalized_confidence must be a whole number from 1 to 5, but is not so in "
            f"{len(off_scale):,} of {len(rows):,} rows, such as {off_scale.item(0, 0)!r}"
        )
    pairs = rows.select((offered - 1) / 4, "correct").rename(
        {"verbalized_confidence": "confidence"}
    )
    fitted = fit_temperature(pairs, rules=rules)
    scored = pairs.with_columns(fitted.apply())
    metrics = {
        f"{name}_{when}": scored.select(metric(column, "correct", rules="reference")).item()
        for name, metric in (
            ("nll", negative_log_likelihood),
            ("ece", expected_calibration_error),
        )
        for when, column in (("before", "confidence"), ("after", "calibrated"))
    }
    fitted_on = about | {"n_samples": len(pairs)}
    return to_artifact(fitted, fitted_on=fitted_on, metrics=metrics, created_at=created_at)


def train(
    run: Run | Frame,
    *,
    method: Training,
    features: Sequence[IntoExpr],
    target: Target = "correctness",
    provenance: Mapping[str, Any] | None = None,
    rules: Rules = "documented",
    folds: int | None = None,
    cluster: IntoExpr = "participant_id",
    seed: int = 42,
    created_at: datetime | None = None,
) -> dict[str, Any]:
    """Train a calibrator on the predicted items of a run, and give it as an artifact.

    Args:
        run: A run as `open_run` reads it, or an item table.
        method: `temperature`, `platt`, `logistic` or `isotonic`; all but `logistic` take exactly
            one feature. For the target `loss`, `platt` and `logistic` are ridge regressions, and
            `temperature` is refused.
        features: Signals. A signal that is missing for some items is refused, unless given as
            `feature(name)`, which puts the original's default in its place.
        target: As for `target`.
        provenance: `path`, `run_id`, `git_commit`, `mode`; by default those of the run.
        rules: `reference` puts the original's defaults wherever a signal is missing, even where
            there is no such column, cuts fractional predictions to whole ones, and fits a
            temperature by the original's grid.
        folds: If given, the artifact gains `cross_validated_metrics`: those of `cross_fit` with
            so many folds of clusters, judged out of fold.
        cluster: What those folds keep together.
        seed: Deals the clusters into folds.
        created_at: Time stamp; by default now.

    Returns:
        The artifact. Its `validation_metrics` bear the name that the format gives them, but are
        in-sample: of the training rows.

    Raises:
        ParameterError: No such method or target.
        MissingColumnsError: A column is not there.
        ParameterError: Features that the method cannot take, no items, or one class only.
        ContractError: Items without a label or, under documented rules, without a signal.

    References:
        ai-psychiatrist 36e9fba, its script for supervised calibrators.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame(
        ...     {"prediction": [1, 2, None], "label": [1, 0, 1], "token_msp": [0.9, 0.4, 0.7]}
        ... )
        >>> artifact = train(items, method="isotonic", features=["token_msp"])
        >>> artifact["model"]
        {'x_thresholds': [0.4, 0.9], 'y_thresholds': [0.0, 1.0]}
        >>> artifact["training_metadata"]["n_samples"]
        2
    """
    check_rules(rules)
    names = _checked(method, features, target)
    check_named(list(map(as_expr, features)), by="an artifact")
    goal = training_target(target, rules)
    items, about = _items(run, provenance, sorted({"prediction", "label"}))
    schema = items.collect_schema()
    present = {*schema}
    inputs = [_input(column, schema, rules) for column in features]
    needed = columns_read(inputs)
    if folds is not None:
        needed |= {*as_expr(cluster).meta.root_names()}
        inputs.append(as_expr(cluster).alias(_CLUSTER))
    if missing := needed - present:
        raise MissingColumnsError.of("train", missing, present)
    predicted = items.filter(pl.col("prediction").is_not_null())
    # From a column, so that constants repeat as often as there are rows.
    try:
        rows = predicted.with_columns(goal.alias(_GOAL)).select(*inputs, _GOAL).collect()
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
        _check_unit(rows, names[0])
    fit = partial(_fit, method=method, features=names, target=target, rules=rules)
    fitted = fit(rows)
    rate = None if target == "loss" else rows[_GOAL].mean()
    artifact = to_artifact(
        fitted,
        target=target,
        fitted_on=about | {"n_samples": len(rows), "positive_rate": rate},
        metrics=_scores(rows.with_columns(fitted.apply()), target),
        created_at=created_at,
    )
    if folds is None:
        return artifact
    crossed = cross_fit(rows, fit, cluster=_CLUSTER, folds=folds, seed=seed)
    settings = {"cluster": as_expr(cluster).meta.output_name(), "folds": folds, "seed": seed}
    return artifact | {"cross_validated_metrics": settings | _scores(crossed, target)}


def training_target(name: Target, rules: Rules = "documented") -> pl.Expr:
    """Target of a training row; the original cuts a prediction of 1.9 to 1 before it compares."""
    if rules == "documented":
        return target_expr(name)
    prediction = pl.col("prediction").cast(pl.Float64)
    return target_expr(name, prediction.sign() * prediction.abs().floor())


def _items(
    run: Run | Frame, provenance: Mapping[str, Any] | None, needed: Sequence[str]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """The item table and where it comes from."""
    if isinstance(run, pl.DataFrame | pl.LazyFrame):
        items, about = run.lazy(), dict(provenance or {})
    else:
        items = tables.lazy(run.items)
        own = {
            "path": run.path and str(run.path),
            "run_id": run.run_id,
            "git_commit": run.git_commit,
            "mode": run.requested_mode or run.mode,
        }
        about = own | dict(provenance or {})
    present = items.collect_schema().names()
    if missing := {*needed} - {*present}:
        raise MissingColumnsError.of("training", missing, present)
    return items, about


def _checked(method: str, features: Sequence[IntoExpr], target: str) -> list[str]:
    """The features' names, if the method can take them."""
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
    return names


def _input(column: IntoExpr, schema: pl.Schema, rules: str) -> pl.Expr:
    if rules == "documented" or not isinstance(column, str):
        return as_expr(column)
    if column not in schema:
        return pl.lit(feature_default(column)).alias(column)
    dtype = schema[column]
    if not (dtype.is_numeric() or dtype == pl.Null):
        raise ParameterError(f"train: {column!r} must be a number, but is {dtype}; cast it")
    return feature(column)


def _check_unit(rows: pl.DataFrame, name: str) -> None:
    stated = pl.col(name).cast(pl.Float64, strict=False)  # the fit refuses what is no number
    outside = rows.filter(is_outside(stated))[name]
    if len(outside):
        raise ParameterError(
            f"a temperature scales probabilities, but {name!r} lies outside [0, 1] in "
            f"{len(outside):,} of {len(rows):,} rows, such as {outside[0]!r}; {TO_UNIT}, or "
            "use method 'platt'"
        )


def _fit(
    rows: pl.DataFrame, *, method: Training, features: list[str], target: str, rules: Rules
) -> Fitted:
    if method == "temperature":
        return fit_temperature(rows, features[0], _GOAL, rules=rules)
    if method == "isotonic":
        return fit_isotonic(rows, features[0], _GOAL)
    if target == "loss":
        return fit_linear(rows, features, _GOAL, method=method)
    return fit_logistic(rows, features, _GOAL, method=method)


def _scores(rows: pl.DataFrame, target: str) -> dict[str, Any]:
    """What the format calls validation metrics, of the column `calibrated`."""
    value, goal = pl.col("calibrated"), pl.col(_GOAL)
    if target == "loss":
        error = value - goal
        return rows.select(mae=error.abs().mean(), mse=(error**2).mean()).row(0, named=True)
    return rows.select(
        auroc("calibrated", goal == 1).alias("auc_roc"),
        brier_score("calibrated", _GOAL).alias("brier_score"),
        expected_calibration_error("calibrated", _GOAL).alias("ece"),
    ).row(0, named=True)
