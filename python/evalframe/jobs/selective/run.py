"""What a job of the selective family computes: open, validate, evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.jobs.inputs import Source, open_files
from evalframe.jobs.paths import find, reading, refuse_inputs
from evalframe.jobs.provenance import provenance
from evalframe.jobs.run import Family, Outcome, Place
from evalframe.jobs.selective.job import SelectiveJob
from evalframe.jobs.selective.metrics import has_default_convention, left_out, resolve
from evalframe.jobs.selective.records import check_records
from evalframe.jobs.selective.report import metrics_report
from evalframe.selective.losses import loss

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from evalframe.resample.methods import Progress

LOSS = "__evalframe_loss__"
"""The column that holds the loss while a job runs."""


TABLES = ("metrics", "curve")
"""What a folder gets, as Parquet files of these names."""


def compute(job: SelectiveJob, place: Place, progress: Progress | None) -> Outcome:
    """Evaluate the metrics of a job for each of its confidences."""
    metrics = [resolve(job, _roles(job, confidence), place.folder) for confidence in job.confidence]
    resample = None if job.bootstrap is None else job.bootstrap.method(job.cluster, progress)
    items, sources = _opened(job, place)
    losses = _loss(job, items.collect_schema())
    records = check_records(job, items, place.rejects)

    def rows(confidence: str) -> pl.LazyFrame:
        return records.valid(confidence).with_columns(losses)

    parts = []
    for confidence, bound in zip(job.confidence, metrics, strict=True):
        with reading(", ".join(job.items), "is it whole?"):
            part = ef.evaluate(
                rows(confidence),
                bound,
                by=job.by,
                weight=job.columns.weight,
                resample=resample,
            ).collect()
        parts.append(part.with_columns(confidence=pl.lit(confidence)))
    result = _arranged(job, pl.concat(parts), [metric.bound.name for metric in metrics[0]])

    def tables() -> dict[str, pl.DataFrame]:
        return {"metrics": result, "curve": _curves(job, rows)}

    inputs = [source.describe(digest=job.hash_inputs) for source in sources]
    lacking = ", ".join(left_out(job, metrics[0]))
    told = f"not defined in the convention {job.convention}, left out: {lacking}"
    return Outcome(
        job,
        [*job.by, "confidence"],
        result,
        records,
        provenance(job, metrics[0], inputs, records.describe()),
        tables,
        notes=[] if has_default_convention(job) else [f"Convention: {job.convention}."],
        warnings=[told] if lacking else [],
    )


def check(job: SelectiveJob, place: Place) -> str:
    """What is found in items that keep their contract.

    Raises:
        ContractError: They do not.
        InputError: An input cannot be read.
        MissingColumnsError: A column that the job names is absent.
    """
    items, _ = _opened(job, place)
    return str(check_records(job, items, None))


def written(outcome: Outcome, *, markdown: bool = False, width: int | None = None) -> str:
    """The metrics for a reader; those asked for by name, or else what matters most."""
    job = outcome.job
    assert isinstance(job, SelectiveJob)
    asked = outcome.result["metric"].unique(maintain_order=True).to_list()
    return metrics_report(
        outcome.result,
        outcome.keys,
        metrics=None if job.metrics is None else asked,
        markdown=markdown,
        level=job.shown_level,
        width=width,
        notes=outcome.notes,
    )


def _opened(job: SelectiveJob, place: Place) -> tuple[pl.LazyFrame, list[Source]]:
    files = find(job.items, place.folder)
    for path in place.targets:
        refuse_inputs(path, files, job.items, place.folder)
    return open_files(files)


def _curves(job: SelectiveJob, rows: Callable[[str], pl.LazyFrame]) -> pl.DataFrame:
    """The risk-coverage curve of each group and confidence."""
    curves = [
        ef.selective.rc_curve(
            rows(confidence), LOSS, confidence, by=job.by, weight=job.columns.weight
        )
        .with_columns(confidence=pl.lit(confidence))
        .collect()
        for confidence in job.confidence
    ]
    keys = [*job.by, "confidence"]
    return pl.concat(curves).select(*keys, pl.exclude(keys))


def _arranged(job: SelectiveJob, result: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Rows and columns in the order the job names things."""
    keys = [*job.by, "confidence", "metric"]
    order = [
        *job.by,
        pl.col("confidence").cast(pl.Enum(job.confidence)),
        pl.col("metric").cast(pl.Enum(metrics)),
    ]
    return result.sort(order).select(*keys, pl.exclude(keys))


def _roles(job: SelectiveJob, confidence: str) -> dict[str, str]:
    """Which column plays which role; who brings a loss abstains by leaving it null."""
    return {
        "prediction": LOSS if job.loss.column else job.columns.of("prediction"),
        "label": job.columns.of("label"),
        "loss": LOSS,
        "confidence": confidence,
    }


def _loss(job: SelectiveJob, present: Collection[str]) -> pl.Expr:
    prediction = job.columns.of("prediction")
    if job.loss.column is None:
        label = job.columns.of("label")
        return loss(str(job.loss.name), prediction, label, scale=job.loss.divisor).alias(LOSS)
    given = pl.col(job.loss.column).cast(pl.Float64).alias(LOSS)
    if prediction not in present:
        return given
    return pl.when(pl.col(prediction).is_not_null()).then(given).alias(LOSS)


FAMILY = Family(TABLES, compute, check, written)
