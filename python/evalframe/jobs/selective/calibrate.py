"""Train a calibrator on a run document or a table, and write its artifact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import polars as pl

from evalframe.compat.ai_psychiatrist import calibration as original
from evalframe.compat.ai_psychiatrist.runs import open_run
from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import InputError, MissingColumnsError, OutputError
from evalframe.core.scan import reading
from evalframe.jobs.inputs import check_columns, check_found, naming_columns, open_by, open_items
from evalframe.jobs.selective.from_run import check_files
from evalframe.jobs.selective.records import CORRECT
from evalframe.reporting.table import written
from evalframe.selective.calibration_error import expected_calibration_error
from evalframe.selective.calibrators import trainer
from evalframe.selective.calibrators import training as sound_features
from evalframe.selective.calibrators.saved import read_calibration, write_calibration
from evalframe.selective.calibrators.training import feature, feature_default, target
from evalframe.selective.scoring import negative_log_likelihood

if TYPE_CHECKING:
    from evalframe.jobs.selective import Calibrate

VERBALIZED = "verbalized"
"""The method of the original's other script: a temperature of stated confidence."""

_OF_FOLDS = ("--seed", "--cluster")
_OF_FEATURES = ("features", "target", "folds", "seed", "cluster")
_Scores: TypeAlias = "dict[str, float | None]"
_STATED = "verbalized_confidence"
_SCORES: Mapping[str, Callable[..., pl.Expr]] = {
    "nll": negative_log_likelihood,
    "ece": expected_calibration_error,
}
_WHEN = ("before", "after")
_SHOWN = {"nll": "NLL", "ece": "ECE", "brier_score": "Brier", "auc_roc": "AUROC"}


def run(flags: Calibrate) -> str:
    """Train a calibrator and write its artifact."""
    documents = flags.items if flags.reader == "run" else ()
    of_original = flags.rules == "reference"
    room: Any = original if of_original else trainer
    _check(documents, flags)
    output = Path(flags.output)
    if output.suffix.lower() != ".json":
        raise OutputError(f"cannot write {str(output)!r}: an artifact is JSON; name a .json file")
    check_files({"output": output}, flags.items)
    if flags.method == VERBALIZED:
        source, about = _opened(documents, flags, [_STATED])
        artifact = room.train_verbalized(source, provenance=about)
    else:
        source, about = _opened(documents, flags, flags.features)
        options = {name: getattr(flags, name) for name in ("folds", "seed", "cluster")}
        checking: Any = original if of_original else sound_features
        checking.check_present(source, [*flags.features])
        artifact = room.train(
            source,
            method=flags.method,
            features=[*flags.features],
            target=flags.target or "correctness",
            provenance=about,
            **{name: value for name, value in options.items() if value is not None},
        )
    if of_original:
        source = original.with_whole_predictions(source).collect()
    scores = _scored(artifact, source)
    write_calibration(artifact, output)
    return _summary(artifact, scores, flags.output)


def _summary(artifact: Mapping[str, Any], scores: _Scores, path: str) -> str:
    """The calibrator as text: parameters and scores."""
    about = artifact.get("training_metadata") or artifact["fitted_on"]
    names = ", ".join(artifact.get("features", [_STATED]))
    goal = artifact.get("target", "correctness")
    rate = about.get("positive_rate")
    # Only the calibrator of stated confidence has `metrics`; items without one are not counted.
    stated = " with a stated confidence" if "metrics" in artifact else ""
    lines = [
        f"{path}: {artifact['method']} of {names}, target {goal}",
        f"{about['n_samples']:,} predicted items{stated}"
        + ("" if rate is None else f", {100 * rate:.1f}% of them positive"),
        *([f"correct: {about[CORRECT]}"] if CORRECT in about else []),
        *_parameters(artifact),
    ]
    parts = ["\n".join(lines), "In sample, that is on the items it was trained on:"]
    parts.append(_table(artifact, scores))
    if crossed := artifact.get("cross_validated_metrics"):
        named = ", ".join(
            f"{_SHOWN.get(name, name.upper())} {value:.4f}"
            for name, value in crossed.items()
            if isinstance(value, float)
        )
        parts.append(f"Out of sample, by {crossed['folds']} folds of {crossed['cluster']}: {named}")
    return "\n\n".join(parts)


def _check(documents: Sequence[str], flags: Calibrate) -> None:
    """Raise unless the flags go together."""
    either = "name either ITEMS or --from-run RUN.json"
    if not flags.items:
        raise click.UsageError(either)
    if len(documents) > 1:
        raise click.UsageError(f"--from-run: a calibrator is trained on one run; {either}")
    if not documents and flags.mode:
        raise click.UsageError("--mode without --from-run RUN.json")
    if documents and flags.columns:
        raise click.UsageError("--column is for tables; run documents have fixed names")
    named = [f"--{name}" for name in _OF_FEATURES if getattr(flags, name) not in (None, ())]
    if flags.method == VERBALIZED and named:
        raise click.UsageError(
            f"{', '.join(named)}: not for --method {VERBALIZED}, which calibrates {_STATED}"
        )
    if flags.method != VERBALIZED and not flags.features:
        raise click.UsageError(f"--method {flags.method} needs --features A,B,...")
    if flags.folds is None and (idle := [name for name in named if name in _OF_FOLDS]):
        raise click.UsageError(f"{', '.join(idle)} without --folds N")


def _opened(
    documents: Sequence[str], flags: Calibrate, signals: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The items, and where they come from."""
    is_sound = flags.rules != "reference"
    if not documents:
        return _of_table(flags, signals, is_sound=is_sound)
    document = open_run(documents[0], mode=flags.mode, signals=signals, strict=is_sound)
    if len(document.repeated) and is_sound:
        raise InputError(
            f"{document.path}: {len(document.repeated)} participants have more than one successful "
            f"entry, such as {document.repeated[0]}, so each would count several times; keep one "
            "entry of each"
        )
    about = {name: getattr(document, name) for name in ("run_id", "git_commit")}
    mode = document.requested_mode or document.mode
    return document.items, {"path": str(document.path), **about, "mode": mode}


def _of_table(
    flags: Calibrate, signals: Sequence[str], *, is_sound: bool
) -> tuple[pl.DataFrame, dict[str, Any]]:
    clusters = set() if flags.folds is None else {flags.cluster or "participant_id"}
    required = {"prediction", "label", *signals, *clusters}
    columns, of_answers = flags.columns, flags.target in (None, "correctness")
    # A column `correct` takes the place of the comparison of prediction and label.
    judged = is_sound and of_answers
    check_columns(columns, {*required, CORRECT} if judged else required)
    if flags.reader is None:
        items, sources = open_items(flags.items, columns=columns)
    else:
        opened = open_by(flags.reader, flags.items, columns)
        items, sources = opened.table, [*opened.files]
    named, origin = ", ".join(each.name for each in sources), {}
    check_found(columns, "items", items.collect_schema())
    if judged and CORRECT in items.collect_schema():
        with reading(named, "is it whole?"):
            items, origin = _as_answers(items), {CORRECT: f"the column {CORRECT}"}
    present = items.collect_schema().names()
    if (missing := required - {*present}) and is_sound:
        with naming_columns(columns, required):
            raise MissingColumnsError.of("calibrate", missing, present)
    answers = {"prediction", "label"} if of_answers else ()
    read = [
        Column(name, "value" if name in answers else "number", required=False)
        for name in sorted(required - clusters)
    ]
    Contract("items", tuple(read)).check_schema(items.collect_schema())
    columns_read = [name for name in present if name in required]
    with reading(named, "is it whole?"):
        return items.select(columns_read).collect(), {"path": named, **origin}


def _as_answers(items: pl.LazyFrame) -> pl.LazyFrame:
    """Items that say what is correct, as answers of 1 and 0 to questions whose answer is 1."""
    shares = pl.col(CORRECT).cast(pl.Float64)
    zero_or_one = Rule(
        f"{CORRECT} is 0 or 1",
        shares.is_in([0.0, 1.0]),
        (CORRECT,),
        "make it 1 where the answer is right, else 0",
    )
    column = Column(CORRECT, ("number", "boolean"), nullable=True)
    validate(items, Contract("items", (column,), rules=(zero_or_one,)))
    correct = shares.cast(pl.Int8)
    answered = pl.col("prediction") if "prediction" in items.collect_schema() else correct
    return items.with_columns(
        prediction=pl.when(answered.is_not_null()).then(correct.fill_null(0)),
        label=pl.when(correct.is_not_null()).then(1),
    )


def _scored(artifact: Mapping[str, Any], items: pl.DataFrame) -> _Scores:
    """NLL and ECE on the training items, `before` and `after` calibration."""
    if "metrics" in artifact:
        return dict(artifact["metrics"])
    if artifact["target"] == "loss":
        return {}
    calibrator = read_calibration(artifact)
    signals = [
        (feature(name) if name in items.columns else pl.lit(feature_default(name))).alias(name)
        for name in calibrator.features
    ]
    rows = (
        items.filter(pl.col("prediction").is_not_null())
        .with_columns(*signals, target(artifact["target"]).alias("correct"))
        .with_columns(calibrator.apply().alias("after"))
    )
    columns = {"after": "after"}
    if len(signals) == 1 and rows[calibrator.features[0]].is_between(0, 1).all():
        columns["before"] = calibrator.features[0]
    return {
        f"{name}_{when}": rows.select(score(column, "correct")).item()
        for name, score in _SCORES.items()
        for when, column in columns.items()
    }


def _parameters(artifact: Mapping[str, Any]) -> list[str]:
    model = artifact.get("model", artifact)
    if "temperature" in model:
        return [f"temperature {model['temperature']:.6g}"]
    if "x_thresholds" in model:
        x, y = model["x_thresholds"], model["y_thresholds"]
        return [f"knots: {len(x)}, from {y[0]:.4g} at {x[0]:.4g} to {y[-1]:.4g} at {x[-1]:.4g}"]
    weights = zip(artifact["features"], model["coefficients"], strict=True)
    named = ", ".join(f"{name} {weight:+.4g}" for name, weight in weights)
    return [f"{model['link']} of {model['intercept']:.4g}, and per standard deviation {named}"]


def _table(artifact: Mapping[str, Any], of_training: _Scores) -> str:
    """Scores before and after, a line for each."""
    scores = {(n, when): of_training.get(f"{n}_{when}") for n in _SCORES for when in _WHEN}
    others = artifact.get("validation_metrics", {})
    scores |= {(name, "after"): value for name, value in others.items() if name not in _SCORES}
    names = [
        name
        for name in dict.fromkeys(name for name, _ in scores)
        if any(scores.get((name, when)) is not None for when in _WHEN)
    ]
    values = {when: [scores.get((name, when)) for name in names] for when in _WHEN}
    heads = {"": [_SHOWN.get(name, name.upper()) for name in names]}
    return written(pl.DataFrame(heads | values), keys=[""])
