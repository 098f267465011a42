"""The whole evaluation of one run, or of two runs side by side, over several confidence variants.

What it differs in by rules:

| | documented | reference |
|---|---|---|
| signals that a variant needs | checked on predicted items that are evaluated | on all items |
| evidence counts | asked for by the variants that read them | asked for whatever the variant |
| fewer than two replicates in which a metric is defined | no interval | the point, or 0, twice |
| interval where the point is undefined | none; share of dropped replicates as found | none; 1.0 |
| coverages that are one to two decimals | refused | the last of them is kept |
| numbers that JSON lacks (an infinite threshold) | refused | written as `Infinity` |
| replicates of a single participant | refused | the point, twice |
| a run that attempted nobody | refused | areas are 0 |
| a calibration trained on another confidence | refused | applied, with a warning |
| features of `calibrated` that no item has | refused | their defaults, with a warning |
| two runs in which nobody succeeded in both | refused | deltas are null, their intervals 0, twice |

Refused under both, though the original goes on: a prediction or the ground truth of one that is NaN
or infinite; a calibration that a variant cannot use, or a malformed combination, where nobody is
evaluated; a participant with several entries who is not evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.comparison import compare
from evalframe.core.errors import Argument, ContractError, InputError, ParameterError
from evalframe.evaluation import evaluate
from evalframe.resample.methods import Bootstrap
from evalframe.selective.areas import augrc, augrc_at, aurc, aurc_at
from evalframe.selective.calibrators import read_calibration
from evalframe.selective.calibrators.features import check_present
from evalframe.selective.confidences import check_signals, confidence, requirements
from evalframe.selective.losses import loss as loss_of
from evalframe.selective.oracle import (
    achievable_gain_pct,
    augrc_gap_pct,
    augrc_optimal,
    aurc_achievable,
    aurc_gap_pct,
    aurc_optimal,
    eaugrc,
    eaurc,
)
from evalframe.selective.risk_coverage import rc_curve
from evalframe.selective.run_settings import PARTICIPANT, RunSettings
from evalframe.selective.runs import Run, run_of_items
from evalframe.selective.signal_contract import check_trained_on
from evalframe.selective.working_points import achieved_coverage_at, coverage, risk_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.metric import MetricExpr
    from evalframe.core.typing import Frame
    from evalframe.resample.methods import Progress
    from evalframe.selective.signal_contract import Calibration

_OF = " of "


@dataclass(frozen=True)
class Population:
    """Who was asked, and who of them is evaluated.

    Attributes:
        analysed: Participants that are evaluated, ascending.
        total: How many there are, failed ones included; of two runs, in both.
        sides: For each run its participants and its failed participants.
    """

    analysed: pl.Series
    total: int
    sides: tuple[tuple[set[int], set[int]], ...]

    @property
    def failed(self) -> int:
        """How many are not evaluated."""
        return self.total - len(self.analysed)


@dataclass(frozen=True)
class RunEvaluation:
    """All figures of an evaluation, as tables.

    Attributes:
        runs: What was evaluated.
        population: Over whom.
        settings: How.
        result: `input` (0, 1), `confidence`, then the columns of `ef.evaluate`; metrics that are
            not resampled have no interval.
        curves: `input`, `confidence`, then the columns of `rc_curve`.
        deltas: Of two runs `confidence` and the columns of `ef.compare`, second minus first (None
            for one run); without resampling its intervals are empty.

    Examples:
        >>> from evalframe.selective import open_run
        >>> from evalframe.selective.sample import sample_document
        >>> run = open_run(sample_document(participants=10), mode="few_shot")
        >>> settings = RunSettings(variants=("verbalized", "token_msp"), n=0)
        >>> evaluation = evaluate_runs(run, settings=settings)
        >>> areas = evaluation.result.filter(pl.col("metric") == "aurc")
        >>> areas.select("confidence", "n", pl.col("estimate").round(4)).rows()
        [('verbalized', 72, 0.033), ('token_msp', 72, 0.0283)]
    """

    runs: tuple[Run, ...]
    population: Population
    settings: RunSettings
    result: pl.DataFrame
    curves: pl.DataFrame
    deltas: pl.DataFrame | None


def evaluate_runs(
    *given: Run | Frame,
    settings: RunSettings | None = None,
    calibration: Calibration | None = None,
    progress: Progress | None = None,
) -> RunEvaluation:
    """Every figure of the original's evaluation, for each confidence variant.

    Two runs are evaluated over the participants that succeeded in both, and compared.

    Args:
        *given: One or two, from `open_run`, or item tables, see `run_of_items`.
        settings: Variants, loss, coverages, replicates.
        calibration: For variants that are calibrated: a calibrator, or its artifact.
        progress: Called with replicates done and in all; by default long runs report on a
            terminal.

    Raises:
        InputError: A run repeats a participant, has a prediction without a label, or one that is
            NaN or infinite, two runs have different participants, or there is nobody, or with
            replicates only one, to evaluate.
        ContractError: A signal that a variant needs is missing or no number.
        ParameterError: There are more than two runs.
        UnknownNameError: There is no such variant.

    References:
        ai-psychiatrist 36e9fba, the selective-prediction evaluation.

    Example:
        >>> from evalframe.selective.runs import open_run
        >>> from evalframe.selective.sample import sample_document
        >>> run = open_run(sample_document(participants=10), mode="few_shot")
        >>> settings = RunSettings(variants=("verbalized",), n=100)
        >>> evaluation = evaluate_runs(run, settings=settings)
        >>> len(evaluation.population.analysed), evaluation.population.failed
        (9, 1)
        >>> evaluation.result.select(
        ...     "input", "confidence", "metric", "n", pl.col("estimate", "lower", "upper").round(4)
        ... ).head(3)
        shape: (3, 7)
        ┌───────┬────────────┬──────────┬─────┬──────────┬────────┬────────┐
        │ input ┆ confidence ┆ metric   ┆ n   ┆ estimate ┆ lower  ┆ upper  │
        │ ---   ┆ ---        ┆ ---      ┆ --- ┆ ---      ┆ ---    ┆ ---    │
        │ i32   ┆ str        ┆ str      ┆ i64 ┆ f64      ┆ f64    ┆ f64    │
        ╞═══════╪════════════╪══════════╪═════╪══════════╪════════╪════════╡
        │ 0     ┆ verbalized ┆ coverage ┆ 72  ┆ 0.6111   ┆ 0.4993 ┆ 0.7156 │
        │ 0     ┆ verbalized ┆ aurc     ┆ 72  ┆ 0.033    ┆ 0.0148 ┆ 0.0582 │
        │ 0     ┆ verbalized ┆ augrc    ┆ 72  ┆ 0.0122   ┆ 0.0055 ┆ 0.0206 │
        └───────┴────────────┴──────────┴─────┴──────────┴────────┴────────┘
    """
    settings = settings or RunSettings()
    if not 1 <= len(given) <= 2:
        raise ParameterError(f"an evaluation is of one run or of two, got {len(given)}")
    if isinstance(calibration, str | Path | Mapping):
        calibration = read_calibration(calibration, rules=settings.rules)
    runs = tuple(run if isinstance(run, Run) else run_of_items(run) for run in given)
    for run in runs:
        _check_items(run)
    population = _population(runs, settings)
    if settings.n and len(population.analysed) == 1 and settings.rules == "documented":
        raise InputError(
            "a single participant is evaluated, and intervals need two; ask for no replicates: "
            "n=0, on the command line --bootstrap 0"
        )
    tables = [_table(run, population, settings, calibration) for run in runs]
    made = [_evaluated(table, settings, progress) for table in tables]
    curves = [
        rc_curve(table, "loss", name).select(
            pl.lit(number).alias("input"), pl.lit(name).alias("confidence"), pl.all()
        )
        for number, table in enumerate(tables)
        for name in settings.variants
    ]
    return RunEvaluation(
        runs=runs,
        population=population,
        settings=settings,
        result=pl.concat(
            part.select(pl.lit(number).alias("input"), pl.all()) for number, part in enumerate(made)
        ),
        curves=pl.concat(pl.collect_all(curves)),
        deltas=_deltas(tables, settings, progress) if len(runs) == 2 else None,
    )


def _table(
    run: Run, population: Population, settings: RunSettings, calibration: Calibration | None
) -> pl.DataFrame:
    """Participant, loss and the variants of the items that are evaluated."""
    items = run.items.filter(pl.col(PARTICIPANT).is_in(population.analysed.implode()))
    everything = settings.rules == "reference"
    for name in settings.variants:
        check_trained_on(name, calibration, settings.rules)
    if "calibrated" in settings.variants:
        needs = requirements("calibrated", calibration=calibration, rules=settings.rules)
        check_present(items, [need.column for need in needs], settings.rules)
    try:
        check_signals(
            run.items if everything else items,
            settings.needed,
            calibration=calibration,
            where=None if everything else pl.col("prediction").is_not_null(),
            rules=settings.rules,
        )
    except ContractError as error:
        error.add_note(f"The run: {run.path or 'in memory'}, mode {run.mode!r}.")
        raise
    variants = {
        name: confidence(name, calibration=calibration, rules=settings.rules)
        for name in settings.variants
    }
    return items.select(PARTICIPANT, loss_of(settings.loss).alias("loss"), **variants)


def _evaluated(
    table: pl.DataFrame, settings: RunSettings, progress: Progress | None
) -> pl.DataFrame:
    """All metrics of all variants, those that have intervals first."""
    resampled, points = (
        [metric for name in settings.variants for metric in metrics(name, settings)]
        for metrics in (_resampled, _points)
    )
    method = settings.bootstrap
    if method is None:
        return _named(evaluate(table, [*resampled, *points]).collect())
    spread = evaluate(table, resampled, resample=replace(method, progress=progress))
    if not len(table):  # the original's bootstrap of no items has no estimate, its metrics have
        estimates = evaluate(table, resampled).collect()["estimate"]
        spread = spread.with_columns(estimates)
    return _named(pl.concat(pl.collect_all([spread, evaluate(table, points)])))


def _population(runs: Sequence[Run], settings: RunSettings) -> Population:
    sides = tuple((set(run.included.to_list()), set(run.failed.to_list())) for run in runs)
    if len(runs) == 1:
        ((included, failed),) = sides
        if not included | failed and settings.rules == "documented":
            raise InputError("the run attempted no participant, so there is nothing to evaluate")
        return _of_participants(included, len(included) + len(failed), sides)
    asked = [included | failed for included, failed in sides]
    if asked[0] != asked[1] and not settings.intersection_only:
        only = [len(asked[k] - asked[1 - k]) for k in (0, 1)]
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
    return _of_participants(analysed, len(asked[0] & asked[1]), sides)


def _of_participants(
    analysed: set[int], total: int, sides: tuple[tuple[set[int], set[int]], ...]
) -> Population:
    return Population(pl.Series(sorted(analysed), dtype=pl.Int64), total, sides)


def _check_items(run: Run) -> None:
    name = "run document" if run.path is None else run.path
    if len(run.repeated):
        ids = ", ".join(str(value) for value in run.repeated.head(5))
        raise InputError(
            f"{name}: participants have more than one successful entry ({len(run.repeated)}, "
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
        if len(found := answered.filter(holds)):
            who, item = found.select("participant_id", "item").row(0)
            raise InputError(
                f"{name}: {len(found)} items have {fault}, first {item} of participant {who}; "
                "correct it, or set the prediction to null"
            )


def _resampled(variant: str, settings: RunSettings) -> list[MetricExpr]:
    """The metrics that have intervals."""
    area, grid = settings.area_coverage, dict.fromkeys(settings.coverage_grid)
    curve = (aurc, augrc, aurc_at(area), augrc_at(area), *map(risk_at, grid))
    return _of(variant, [coverage("loss"), *(function("loss", variant) for function in curve)])


def _points(variant: str, settings: RunSettings) -> list[MetricExpr]:
    """The metrics that are given without one."""
    functions = (
        aurc_optimal,
        augrc_optimal,
        eaurc,
        eaugrc,
        aurc_achievable,
        aurc_gap_pct,
        augrc_gap_pct,
        achievable_gain_pct,
        *map(achieved_coverage_at, dict.fromkeys(settings.coverage_grid)),
    )
    return _of(variant, [function("loss", variant) for function in functions])


def _of(variant: str, metrics: Sequence[MetricExpr]) -> list[MetricExpr]:
    return [metric.alias(f"{metric.bound.name}{_OF}{variant}") for metric in metrics]


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """The variant of each metric as a column of its own."""
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
    left, right = tables
    metrics = [
        metric
        for name in settings.variants
        for metric in _of(name, [aurc("loss", name), augrc("loss", name), coverage("loss")])
    ]
    none = Bootstrap(cluster=PARTICIPANT, n=1, interval="percentile", rules="reference")
    method = settings.bootstrap or none
    method = replace(method, progress=progress)
    made = _named(compare(left, metrics, other=right, resample=method).collect())
    if settings.bootstrap is not None:
        return made
    unknown = ("std_error", "lower", "upper", "p_value", "p_adjusted", "drop_rate")
    return made.with_columns(pl.lit(None, pl.Float64).alias(name) for name in unknown)
