"""Run a job of the selective family: open, validate, evaluate; and the printed metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

import evalframe as ef
from evalframe.core.asked import states_of
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.per import leaves_of
from evalframe.core.scan import reading
from evalframe.evaluation import estimates_of
from evalframe.jobs.family import Outcome, Place
from evalframe.jobs.inputs import Opened, check_found, has_logs, open_records
from evalframe.jobs.paths import refuse_inputs
from evalframe.jobs.selective import PREDICTION, ROLES, SelectiveJob
from evalframe.jobs.selective.curves import TABLES as OF_CURVES
from evalframe.jobs.selective.curves import curves, items_of, notes_of
from evalframe.jobs.selective.logs import as_answers
from evalframe.jobs.selective.metrics import (
    has_default_convention,
    left_out,
    reads_probabilities,
    resolve,
)
from evalframe.jobs.selective.records import CORRECT, LOSS, Chosen, Records, check_records, choose
from evalframe.reporting.table import written
from evalframe.selective.calibration_error import TO_UNIT
from evalframe.selective.calibrators.maps import Fitted, Temperature
from evalframe.selective.calibrators.saved import read_calibration
from evalframe.selective.contract import lies_in_unit

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.core.states import States
    from evalframe.jobs.rows import Rows


CALIBRATED = "calibrated"

_CONFIDENCE, _STATED = "confidence", "verbalized_confidence"

TABLES = ("metrics", *OF_CURVES)
"""Tables that are written to a folder, as Parquet files of these names."""


def compute(job: SelectiveJob, place: Place) -> Outcome:
    """Evaluate the metrics of a job for each of its confidences."""
    resample = job.resample(job.cluster)
    roles = {
        role
        for metric in resolve(job, {}, place.folder)
        for leaf in leaves_of(metric.bound)
        for role in leaf.roles
    }
    job, opened = _opened(job, place)
    job, items, notes_of_calibration = _with_calibration(job, opened.rows, place.folder)
    chosen = choose(job, items, {*roles, "loss", CORRECT} if place.all_tables else roles)
    columns = items.schema.names()
    metrics = [
        resolve(job, _bound(chosen, confidence), place.folder, columns)
        for confidence in job.confidence
    ]
    calibrated = any(reads_probabilities(metric) for bound in metrics for metric in bound)
    states: list[States[pl.LazyFrame]] = []

    def sums(items: pl.LazyFrame) -> list[pl.LazyFrame]:
        """The sums of resampled metrics, of all confidences."""
        for bound in metrics if resample else ():
            rows, cluster = _with_columns(chosen.columns, items), job.cluster
            states.append(states_of(rows, bound, by=job.by, weight=job.weight, cluster=cluster))
        return [table for each in states for table in each.tables]

    # Without resampling the rows are read again: sums by level in place of a sort took a half to
    # three quarters more memory and a sixth more processor time on two million items of different
    # confidences.
    records = check_records(job, items, chosen, place.rejects, probability=calibrated, queries=sums)

    added = partial(_with_columns, chosen.columns)
    rows = {name: accepted.then(added) for name, accepted in records.accepted.items()}

    parts = _estimates(job, metrics, records, states, rows, resample)
    names = [metric.bound.name for metric in metrics[0]]
    result = _arranged(job, pl.concat(parts), names)

    held = cache(partial(items_of, job, rows))

    def tables() -> dict[str, pl.DataFrame]:
        return {"metrics": result, **curves(job, held())}

    derived = {**chosen.notes, **notes_of_calibration}
    without = notes_of(job, held()) if place.all_tables else ()
    return Outcome(
        job,
        [*job.by, "confidence"],
        result,
        records,
        opened,
        tables,
        metrics[0],
        {"derived": derived},
        {} if job.metrics is None else {"metrics": names},
        notes=[*opened.notes, *_notes(job, derived), *without],
        warnings=_warnings(job, metrics[0]),
    )


def _estimates(
    job: SelectiveJob,
    metrics: Sequence[Sequence[MetricExpr]],
    records: Records,
    states: Sequence[States[pl.LazyFrame]],
    rows: Mapping[str, Rows],
    resample: ef.Bootstrap | None,
) -> Iterator[pl.DataFrame]:
    """The metrics of each confidence, from sums that were collected with the check or from rows."""
    of_states = iter(records.tables)
    for number, (confidence, bound) in enumerate(zip(job.confidence, metrics, strict=True)):
        with reading(", ".join(job.items), "is it whole?"):
            if records.tables:
                sums = [*islice(of_states, len(states[number].blocks))]
                part = estimates_of(states[number].with_tables(sums), resample)
            else:
                settings = {"by": job.by, "weight": job.weight, "resample": resample}
                part = rows[confidence].given_to(ef.evaluate, bound, **settings)
        yield part.with_columns(confidence=pl.lit(confidence))


def _notes(job: SelectiveJob, derived: Mapping[str, str]) -> Iterator[str]:
    """What the job chose or guessed, to be printed."""
    if not has_default_convention(job):
        yield f"Convention: {job.convention}."
    for name, origin in derived.items():
        yield f"{name.capitalize()}: {origin}."


def _warnings(job: SelectiveJob, metrics: Sequence[MetricExpr]) -> list[str]:
    """Which default metrics the convention of the job does not define."""
    lacking = ", ".join(left_out(job, metrics))
    warning = f"not defined in the convention {job.convention}, left out: {lacking}"
    return [warning] if lacking else []


def _with_columns(columns: Sequence[pl.Expr], items: pl.LazyFrame) -> pl.LazyFrame:
    """Items with their loss, and what is correct."""
    for column in columns:
        items = items.with_columns(column)
    return items


def check(job: SelectiveJob, place: Place) -> str:
    """What is found of items that keep their contract."""
    job, opened = _opened(job, place)
    chosen = choose(job, opened.rows, ())
    records = check_records(job, opened.rows, chosen, None)
    return "\n".join([str(records), *_no_probabilities(job, chosen, records)])


def _no_probabilities(job: SelectiveJob, chosen: Chosen, records: Records) -> Iterator[str]:
    """Notes on confidences that are not probabilities, which only areas can use."""
    where = chosen.column or PREDICTION
    rules = {name: lies_in_unit(name, where) for name in job.confidence}
    rows = records.common.valid
    counts = rows.select(rule.broken.sum().alias(name) for name, rule in rules.items()).collect()
    for name, count in counts.row(0, named=True).items():
        if count:
            yield (
                f"{rules[name].name}: not so in {count:,} of {records.rows:,} rows. Areas rank by "
                "any score; calibration errors, scores of probabilities and calibrators refuse "
                f"these rows: {TO_UNIT}"
            )


def _opened(job: SelectiveJob, place: Place) -> tuple[SelectiveJob, Opened]:
    opened = open_records(job, place.folder, place.targets, workers=place.workers)
    for path in place.targets if job.calibration else ():
        refuse_inputs(path, (), [str(job.calibration)], place.folder)
    check_found(job.columns, "items", opened.rows.schema)
    return as_answers(job, opened) if has_logs(job) else (job, opened)


def _bound(chosen: Chosen, confidence: str) -> dict[str, str]:
    """The column of each role; an abstention has no loss."""
    has_loss = chosen.loss is not None or chosen.column is not None
    losses = {"prediction": LOSS, "loss": LOSS} if has_loss else {}
    return {"confidence": confidence, **losses}


def _arranged(job: SelectiveJob, result: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Rows and columns in the order the job names things."""
    keys = [*job.by, "confidence", "metric"]
    order = [
        *job.by,
        pl.col("confidence").cast(pl.Enum(job.confidence)),
        pl.col("metric").cast(pl.Enum(metrics)),
    ]
    return result.sort(order).select(*keys, pl.exclude(keys))


def roles(job: SelectiveJob, folder: Path) -> set[str]:
    """Names that a job can map to columns: those of its metrics, and the usual ones."""
    of_metrics = (metric.metric.roles.items() for metric in resolve(job, {}, folder))
    features = read_calibration(folder / job.calibration).features if job.calibration else ()
    return {
        *ROLES,
        *features,
        *(name for items in of_metrics for pair in items for name in pair if name),
    }


def _with_calibration(
    job: SelectiveJob, items: Rows, folder: Path
) -> tuple[SelectiveJob, Rows, dict[str, str]]:
    """The job and its items with the calibrated confidence, and a note on its origin."""
    if job.calibration is None:
        return job, items, {}
    calibrator = read_calibration(folder / job.calibration)
    present = items.schema
    if CALIBRATED in present:
        raise ParameterError(
            f"items: there is a column {CALIBRATED!r} already, and the calibration makes one; "
            "rename the column, or leave out --calibration"
        )
    features, value = _applied(calibrator, present)
    if missing := {*features} - {*present}:
        raise MissingColumnsError.of(f"calibration {job.calibration}", missing, present)
    named = job.confidence
    if named == (_CONFIDENCE,):
        named = features if len(features) == 1 and features != (_STATED,) else ()
    others = [name for name in named if name != CALIBRATED]
    origin = f"{calibrator.method} of {', '.join(features)}, from {job.calibration}"
    return (
        msgspec.structs.replace(job, confidence=(*others, CALIBRATED)),
        items.then(methodcaller("with_columns", value.alias(CALIBRATED))),
        {CALIBRATED: origin},
    )


def _applied(calibrator: Fitted, present: pl.Schema) -> tuple[tuple[str, ...], pl.Expr]:
    """The columns that are calibrated, and the calibrated confidence."""
    features = calibrator.features
    if calibrator.target is None and _STATED in present:
        return (_STATED,), ef.selective.confidence("verbalized_calibrated", calibration=calibrator)
    value = calibrator.apply()
    if isinstance(calibrator, Temperature):
        value = pl.when(pl.col(features[0]).is_between(0, 1)).then(value)
    return features, value


_HEADS = {
    "coverage": "Cmax",
    "aurc": "AURC",
    "augrc": "AUGRC",
    "achievable_gain_pct": "gain %",
    "eaurc": "excess",
    "aurc_optimal": "optimal",
    "aurc_achievable": "achievable",
    "aurc_gap_pct": "gap %",
    "eaugrc": "AUGRC excess",
    "augrc_optimal": "AUGRC optimal",
    "augrc_gap_pct": "AUGRC gap %",
}
_HEADS_AT = {"aurc": "AURC", "augrc": "AUGRC", "risk": "risk", "achieved_coverage": "coverage"}
_AT = re.compile(r"(\w+)_at_(\d.*)")

_MAIN = ("coverage", "aurc", "augrc")
"""Metrics that are shown by default, each with its interval, first."""
_FORMS = ("achievable_gain_pct", "eaurc", "aurc_optimal", "aurc_achievable")
"""Forms of AURC that are shown by default; short lines drop the last first."""
_RISKS = 3
"""Risks at a coverage that are shown then."""


def printed_metrics(
    result: pl.DataFrame,
    keys: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    **style: Any,
) -> str:
    """The metrics of each group beside each other, with their intervals."""
    names = result["metric"].unique(maintain_order=True).to_list()
    selected = _usual(result) if metrics is None else list(metrics)
    heads = {_column(metric): _head(metric) for metric in selected}
    bare = () if metrics is not None else set(selected) - {*_MAIN}
    table = _side_by_side(
        result, keys, "aurc" if "aurc" in selected else selected[0] if selected else None
    )
    table = table.drop(
        f"{_column(name)}_{end}" for name in bare for end in ("lower", "upper") if name in names
    )
    counts = {_N: "n"}
    if (table[_MISSING].fill_null(0) != 0).any():
        counts[_MISSING] = "missing"
    sentences = [*_on_units(result, selected), *notes]
    if metrics is None and (others := [name for name in names if name not in selected]):
        sentences.insert(0, f"Also in the result: {_families(others)}.")
    if metrics is None and (forms := [_HEADS[name] for name in _FORMS if name in selected]):
        sentences.insert(0, f"Of AURC: {', '.join(forms)}.")
    return written(table, counts | heads, keys=keys, notes=sentences, **style)


def _on_units(result: pl.DataFrame, metrics: Sequence[str]) -> list[str]:
    """A sentence for each metric over units: how many there are, and what is drawn."""
    if "n_units" not in result.columns:
        return []
    nested = result.filter(pl.col("metric").is_in(metrics) & pl.col("n_units").is_not_null())
    sentences = []
    for (metric,), rows in nested.group_by("metric", maintain_order=True):
        least, most = (
            int(end)
            for end in rows.select(n=pl.col("n_units").min(), m=pl.col("n_units").max()).row(0)
        )
        sentence = f"{metric}: {least if least == most else f'{least} to {most}'} units"
        if missing := int(rows["n_units_missing"].sum()):
            sentence += f", {missing} more without a value"
        if (drawn := rows["drawn"][0]) is not None:
            sentence += f"; drawn: {drawn}"
        if (absent := float(rows["unit_drop_rate"].fill_null(0.0).max() or 0.0)) > 0.0:  # type: ignore[arg-type]
            sentence += f"; up to {absent:.1%} of units without rows in a replicate"
        sentences.append(f"{sentence}.")
    return sentences


_N, _MISSING = ":n", ":missing"


def _column(metric: str) -> str:
    """The column of a metric, which no key can have the name of."""
    return f"of:{metric}"


def _side_by_side(result: pl.DataFrame, keys: Sequence[str], counted: str | None) -> pl.DataFrame:
    """A row for each group, in their order, with columns for each metric."""
    is_of = {name: pl.col("metric") == name for name in result["metric"].unique()}
    of_metrics = [
        pl.col(column).filter(chosen).first().alias(f"{_column(name)}{end}")
        for name, chosen in is_of.items()
        for column, end in {"estimate": "", "lower": "_lower", "upper": "_upper"}.items()
    ]
    counts = {
        name: pl.col(column).filter(pl.col("metric").eq_missing(pl.lit(counted))).first()
        for name, column in {_N: "n", _MISSING: "n_missing"}.items()
    }
    one = pl.lit(0).alias(":all")
    grouped = result.group_by(one, *keys, maintain_order=True).agg(*of_metrics, **counts)
    return grouped.drop(":all")


def _usual(result: pl.DataFrame) -> list[str]:
    """The metrics that are shown by default; all if none of these is present."""
    names = result.filter(pl.col("estimate").is_not_null())["metric"].unique(maintain_order=True)
    risks = [name for name in names if name.startswith("risk_at_")]
    if len(risks) > _RISKS:
        risks = [risks[0], risks[len(risks) // 2], risks[-1]]
    usual = [name for name in (*_MAIN, *risks, *_FORMS) if name in {*names}]
    return usual or result["metric"].unique(maintain_order=True).to_list()


def _head(metric: str) -> str:
    """The head of a metric."""
    at = _AT.fullmatch(metric)
    if at and at[1] in _HEADS_AT:
        return f"{_HEADS_AT[at[1]]}@{at[2]}"
    return _HEADS.get(metric, metric)


def _families(metrics: Sequence[str]) -> str:
    """Names of metrics, those at several coverages once."""
    named = Counter(at[1] + "_at" if (at := _AT.fullmatch(m)) else m for m in metrics)
    return ", ".join(f"{name} ({count})" if count > 1 else name for name, count in named.items())
