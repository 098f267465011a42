"""The evaluation of one run, or of two side by side, over several confidence variants.

The differences of `RunSettings(rules=...)`:

| | documented | reference |
|---|---|---|
| signals that a variant needs | checked on predicted items that are evaluated | on all items |
| evidence counts | required by the variants that read them | always required |
| fewer than two replicates in which a metric is defined | no interval | the point, or 0, twice |
| interval where the point is undefined | none; the share of dropped replicates | none; 1.0 |
| coverages that are equal to two decimals | refused | the last of them is kept |
| numbers that JSON lacks (an infinite threshold) | refused | written as `Infinity` |
| replicates of a single participant | refused | the point, twice |
| a run that attempted nobody | refused | areas are 0 |
| a calibration trained on another confidence | refused | applied, with a warning |
| features of `calibrated` that no item has | refused | their defaults, with a warning |
| two runs in which nobody succeeded in both | refused | deltas are null, their intervals 0, twice |

Both refuse what the original accepts: a prediction or its ground truth that is NaN or infinite; a
calibration that a variant cannot use, or a malformed combination, if nobody is evaluated; a
participant with several entries who is not evaluated.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe import comparison, evaluation
from evalframe.compat.ai_psychiatrist import calibration as original_calibration
from evalframe.compat.ai_psychiatrist import resampling
from evalframe.compat.ai_psychiatrist.runs import Run, run_of_items
from evalframe.compat.ai_psychiatrist.settings import PARTICIPANT, RunSettings
from evalframe.core.errors import (
    Argument,
    ContractError,
    InputError,
    ParameterError,
    RunWarning,
)
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.resample.methods import Bootstrap
from evalframe.selective import oracle
from evalframe.selective.areas import augrc, augrc_at, aurc, aurc_at
from evalframe.selective.calibrators import training as sound_calibration
from evalframe.selective.calibrators.saved import read_calibration
from evalframe.selective.confidences import Calibration, calibrator_for
from evalframe.selective.contract import loss as loss_of
from evalframe.selective.curves import rc_curve
from evalframe.selective.variants import Calibrated, parse
from evalframe.selective.working_points import achieved_coverage_at, coverage, risk_at

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.core.progress import Progress


_OF = " of "


@dataclass(frozen=True)
class Population:
    """Participants: `analysed`, the `total` (of two runs in both), and included and failed ids."""

    analysed: pl.Series
    total: int
    sides: tuple[tuple[set[int], set[int]], ...]

    @property
    def failed(self) -> int:
        """Number of participants that are not evaluated."""
        return self.total - len(self.analysed)


@dataclass(frozen=True)
class RunEvaluation:
    """All figures of an evaluation, as tables.

    Attributes:
        runs: The runs.
        population: The participants.
        settings: The settings.
        result: `input` (0, 1), `confidence`, then the columns of `ef.evaluate`; metrics that are
            not resampled have no interval.
        curves: `input`, `confidence`, then the columns of `rc_curve`.
        deltas: For two runs `confidence` and the columns of `ef.compare`, second minus first (None
            for one run); without resampling its intervals are null.

    Examples:
        >>> from evalframe.compat import ai_psychiatrist
        >>> run = ai_psychiatrist.open_run(ai_psychiatrist.sample_document(), mode="few_shot")
        >>> settings = ai_psychiatrist.RunSettings(variants=("verbalized",), n=0)
        >>> ai_psychiatrist.evaluate_runs(run, settings=settings).curves.columns[:2]
        ['input', 'confidence']
    """

    runs: tuple[Run, ...]
    population: Population
    settings: RunSettings
    result: pl.DataFrame
    curves: pl.DataFrame
    deltas: pl.DataFrame | None


@any_frame
def evaluate_runs(
    *runs: Run | Frame,
    settings: RunSettings | None = None,
    calibration: Calibration | None = None,
    progress: Progress | None = None,
) -> RunEvaluation:
    """Every figure of the original's evaluation, for each confidence variant.

    Two runs are evaluated over the participants that succeeded in both, and compared.

    Args:
        *runs: One or two, from `open_run`, or item tables, see `run_of_items`.
        settings: Variants, loss, coverages, replicates, rules.
        calibration: A calibrator or its artifact, for variants that are calibrated.
        progress: Called with the number of replicates done and the total; by default long runs
            report on a terminal.

    Returns:
        The runs, their participants, and tables of metrics, curves and differences.

    Raises:
        InputError: A run repeats a participant, a prediction has no label or is not finite, two
            runs have different participants, or nobody is evaluated (with replicates: only one).
        ContractError: A signal that a variant needs is missing or not a number.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import ai_psychiatrist
        >>> document = ai_psychiatrist.sample_document(participants=10)
        >>> run = ai_psychiatrist.open_run(document, mode="few_shot")
        >>> settings = ai_psychiatrist.RunSettings(variants=("verbalized",), n=100)
        >>> evaluation = ai_psychiatrist.evaluate_runs(run, settings=settings)
        >>> len(evaluation.population.analysed), evaluation.population.failed
        (9, 1)
        >>> values = pl.col("estimate", "lower", "upper").round(4)
        >>> evaluation.result.select("confidence", "metric", "n", values).row(1)
        ('verbalized', 'aurc', 72, 0.033, 0.0148, 0.0582)
    """
    settings = settings or RunSettings()
    if not 1 <= len(runs) <= 2:
        raise ParameterError(f"an evaluation is of one run or of two, got {len(runs)}")
    if isinstance(calibration, str | Path | Mapping):
        is_original = settings.rules == "reference"
        read = original_calibration.read_calibration if is_original else read_calibration
        calibration = read(calibration)
    opened = tuple(run if isinstance(run, Run) else run_of_items(run) for run in runs)
    for run in opened:
        _check_items(run)
    population = _population(opened, settings)
    if settings.n and len(population.analysed) == 1 and settings.rules == "documented":
        raise InputError(
            "a single participant is evaluated, and intervals need two; ask for no replicates: "
            "n=0, on the command line --bootstrap 0"
        )
    tables = [_table(run, population, settings, calibration) for run in opened]
    inputs = [pl.lit(number).alias("input") for number in range(len(tables))]
    results = [_evaluated(table, settings, progress) for table in tables]
    curves = [
        rc_curve(table.lazy(), "loss", name).select(
            number, pl.lit(name).alias("confidence"), pl.all()
        )
        for number, table in zip(inputs, tables, strict=True)
        for name in settings.variants
    ]
    return RunEvaluation(
        runs=opened,
        population=population,
        settings=settings,
        result=pl.concat(
            result.select(number, pl.all()) for number, result in zip(inputs, results, strict=True)
        ),
        curves=pl.concat(pl.collect_all(curves)),
        deltas=_deltas(tables, settings, progress) if len(opened) == 2 else None,
    )


def _table(
    run: Run, population: Population, settings: RunSettings, calibration: Calibration | None
) -> pl.DataFrame:
    """Participant, loss and the confidences of the items that are evaluated."""
    items = run.items.filter(pl.col(PARTICIPANT).is_in(population.analysed.implode()))
    is_original = settings.rules == "reference"
    confidences = settings.confidences
    for name in settings.variants:
        _check_trained_on(name, calibration, warn=is_original)
    if "calibrated" in settings.variants:
        needs = confidences.requirements("calibrated", calibration=calibration)
        features = original_calibration if is_original else sound_calibration
        features.check_present(items, [need.column for need in needs])
    try:
        confidences.check_signals(
            run.items if is_original else items,
            settings.checked_variants,
            calibration=calibration,
            where=None if is_original else pl.col("prediction").is_not_null(),
        )
    except ContractError as error:
        error.add_note(f"The run: {run.path or 'in memory'}, mode {run.mode!r}.")
        raise
    variants = {
        name: confidences.confidence(name, calibration=calibration) for name in settings.variants
    }
    return items.select(PARTICIPANT, loss_of(settings.loss).alias("loss"), **variants)


def _check_trained_on(variant: str, calibration: Calibration | None, *, warn: bool) -> None:
    """Raise or warn if `calibrated:<name>` applies a map trained on another confidence."""
    # Maps of `confidence`, and those that name no feature, fit every confidence.
    parsed = parse(variant)
    if not isinstance(parsed, Calibrated) or parsed.base is None:
        return
    trained_on = calibrator_for(parsed, calibration).features[0]
    if trained_on in ("confidence", parsed.base.name, parsed.base.signal):
        return
    message = f"the calibration was trained on {trained_on!r}, and maps {parsed.base.name!r} here"
    if not warn:
        raise InputError(f"{message}; train one on that, or leave out {variant}")
    warnings.warn(message, RunWarning, stacklevel=2)


def _evaluated(
    table: pl.DataFrame, settings: RunSettings, progress: Progress | None
) -> pl.DataFrame:
    """All metrics of all variants, those with intervals first."""
    resampled, points = (
        [metric for name in settings.variants for metric in metrics(name, settings)]
        for metrics in (_resampled, _points)
    )
    rows, method = table.lazy(), settings.bootstrap
    if method is None:
        return _by_variant(evaluation.evaluate(rows, [*resampled, *points]).collect())
    verbs: Any = resampling if settings.rules == "reference" else evaluation
    spread = verbs.evaluate(rows, resampled, resample=replace(method, progress=progress))
    return _by_variant(pl.concat(pl.collect_all([spread, evaluation.evaluate(rows, points)])))


def _population(runs: Sequence[Run], settings: RunSettings) -> Population:
    sides = tuple((set(run.included.to_list()), set(run.failed.to_list())) for run in runs)
    if len(runs) == 1:
        ((included, failed),) = sides
        if not included | failed and settings.rules == "documented":
            raise InputError("the run attempted no participant, so there is nothing to evaluate")
        return Population(_ids(included), len(included) + len(failed), sides)
    attempted = [included | failed for included, failed in sides]
    if attempted[0] != attempted[1] and not settings.intersection_only:
        only = [len(attempted[k] - attempted[1 - k]) for k in (0, 1)]
        raise InputError(
            f"the two runs have different participants: {only[0]} are in the first only, "
            f"{only[1]} in the second only; compare those in both by ",
            Argument("intersection_only", True),
        )
    analysed = sides[0][0] & sides[1][0]
    if not analysed and settings.rules == "documented":
        raise InputError(
            "no participant succeeded in both runs, so there is nothing to compare; evaluate each "
            "run by itself"
        )
    return Population(_ids(analysed), len(attempted[0] & attempted[1]), sides)


def _ids(participants: set[int]) -> pl.Series:
    return pl.Series(sorted(participants), dtype=pl.Int64)


def _check_items(run: Run) -> None:
    if len(run.repeated):
        ids = ", ".join(str(value) for value in run.repeated.head(5))
        raise InputError(
            f"{run.name}: participants have more than one successful entry ({len(run.repeated)}, "
            f"such as {ids}), so each would count several times; keep one entry of each"
        )
    answered = run.items.filter(pl.col("prediction").is_not_null())
    answers = pl.col("prediction", "label")
    faults = {
        "a prediction and no ground truth": pl.col("label").is_null(),
        "a prediction or ground truth that is no finite number": ~pl.all_horizontal(
            answers.is_finite()
        ),
    }
    for fault, holds in faults.items():
        if len(faulty := answered.filter(holds)):
            who, item = faulty.select("participant_id", "item").row(0)
            raise InputError(
                f"{run.name}: {len(faulty)} items have {fault}, first {item} of participant {who}; "
                "correct it, or set the prediction to null"
            )


def _resampled(variant: str, settings: RunSettings) -> list[MetricExpr]:
    """Metrics with intervals."""
    area, grid = settings.area_coverage, dict.fromkeys(settings.coverage_grid)
    curve = (aurc, augrc, aurc_at(area), augrc_at(area), *map(risk_at, grid))
    return _of(variant, [coverage("loss"), *(function("loss", variant) for function in curve)])


def _points(variant: str, settings: RunSettings) -> list[MetricExpr]:
    """Metrics without intervals."""
    functions = (
        *(oracle.aurc_optimal, oracle.augrc_optimal, oracle.eaurc, oracle.eaugrc),
        *(oracle.aurc_achievable, oracle.aurc_gap_pct, oracle.augrc_gap_pct),
        oracle.achievable_gain_pct,
        *map(achieved_coverage_at, dict.fromkeys(settings.coverage_grid)),
    )
    return _of(variant, [function("loss", variant) for function in functions])


def _of(variant: str, metrics: Sequence[MetricExpr]) -> list[MetricExpr]:
    return [metric.alias(f"{metric.bound.name}{_OF}{variant}") for metric in metrics]


def _by_variant(table: pl.DataFrame) -> pl.DataFrame:
    """Split the variant from the name of each metric into a column."""
    parts = pl.col("metric").str.splitn(_OF, 2).struct
    return table.select(
        parts.field("field_1").alias("confidence"),
        parts.field("field_0").alias("metric"),
        pl.exclude("metric"),
    )


def _deltas(
    tables: Sequence[pl.DataFrame], settings: RunSettings, progress: Progress | None
) -> pl.DataFrame:
    """Second run minus first, of the metrics that the original compares."""
    left, right = (table.lazy() for table in tables)
    metrics = [
        metric
        for name in settings.variants
        for metric in _of(name, [aurc("loss", name), augrc("loss", name), coverage("loss")])
    ]
    if settings.bootstrap is not None:
        verbs: Any = resampling if settings.rules == "reference" else comparison
        method = replace(settings.bootstrap, progress=progress)
        return _by_variant(verbs.compare(left, metrics, other=right, resample=method).collect())
    once = Bootstrap(cluster=PARTICIPANT, n=1)  # for the deltas only
    deltas = resampling.compare(left, metrics, other=right, resample=once).collect()
    unknown = ("std_error", "lower", "upper", "p_value", "p_adjusted", "drop_rate")
    return _by_variant(deltas).with_columns(pl.lit(None, pl.Float64).alias(n) for n in unknown)
