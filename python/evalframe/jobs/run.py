"""Run a job: open, validate, evaluate, write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

import evalframe as ef
from evalframe.core.contract import Contract, Report, validate
from evalframe.core.errors import OutputError, ParameterError
from evalframe.jobs.inputs import open_items, reading
from evalframe.jobs.metrics import resolve
from evalframe.jobs.outputs import check_output, write_result
from evalframe.jobs.provenance import provenance
from evalframe.selective.contract import items_contract
from evalframe.selective.losses import loss

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalframe.jobs.job import SelectiveJob
    from evalframe.resample.methods import Progress

LOSS = "__evalframe_loss__"
"""The column that holds the loss while a job runs."""


@dataclass(frozen=True)
class Outcome:
    """What a job came to.

    Attributes:
        result: The long table: `by`, `confidence`, `metric`, `estimate` and its companions.
        report: What the validation found.
        provenance: What a Parquet output carries in its metadata.
    """

    result: pl.DataFrame
    report: Report
    provenance: dict[str, Any]


def run(job: SelectiveJob, *, folder: Path = Path(), progress: Progress | None = None) -> Outcome:
    """Run a job; with an output, write it whole or leave what was there.

    Args:
        job: What to run.
        folder: What relative names in the job are relative to.
        progress: Called as replicates are done, for each confidence column; by default long
            runs report on a terminal.

    Raises:
        InputError: An input cannot be read.
        OutputError: The output cannot be written; said before anything is computed.
        ContractError: The records break their contract.
        UnknownNameError: The job names a metric or argument that does not exist.

    Example:
        >>> import tempfile
        >>> from evalframe.jobs.job import parse
        >>> from evalframe.selective.sample import write_samples
        >>> job = parse({"family": "selective", "items": ["items.parquet"], "by": ["mode"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_samples(folder, participants=5)
        ...     outcome = run(job, folder=Path(folder))
        >>> outcome.result.columns[:4], outcome.result["metric"].n_unique()
        (['mode', 'confidence', 'metric', 'estimate'], 20)
        >>> outcome.provenance["inputs"][0]["rows"] == outcome.report.rows
        True
    """
    output = None if job.output is None else folder / job.output
    if output is not None:
        check_output(output)
    metrics = [resolve(job, _roles(job, confidence)) for confidence in job.confidence]
    resample = _resample(job, progress)
    items, sources = open_items(job.items, folder)
    if output is not None and any(source.is_file(output) for source in sources):
        raise OutputError(f"{job.output} is one of the inputs; write the result elsewhere")
    losses = _loss(job, items.collect_schema()).alias(LOSS)
    report = check(job, items, output)
    records = report.valid.with_columns(losses)
    result = pl.concat(
        [
            ef.evaluate(records, bound, by=job.by, weight=job.columns.weight, resample=resample)
            .with_columns(confidence=pl.lit(confidence))
            .collect()
            for confidence, bound in zip(job.confidence, metrics, strict=True)
        ]
    )
    result = _arranged(job, result, [metric.bound.name for metric in metrics[0]])
    record = provenance(job, metrics[0], sources)
    if output is not None:
        write_result(result, output, record)
    return Outcome(result, report, record)


def check(job: SelectiveJob, items: pl.LazyFrame, output: Path | None) -> Report:
    """Hold the records of a job against their contract; a loss of true and false is 1 and 0.

    Raises:
        ContractError: They break it, and the job does not set such rows apart.
    """
    quarantine = None
    if job.on_invalid == "quarantine":
        if output is None:
            raise ParameterError("on_invalid = 'quarantine' writes beside the output; name one")
        quarantine = output.with_name(f"{output.stem}.rejected.parquet")
    schema = items.collect_schema()
    if schema.get(job.loss.column or "") == pl.Boolean:
        items = items.with_columns(pl.col(str(job.loss.column)).cast(pl.Int8))
    contract = _contract(job, schema)
    with reading(", ".join(job.items)):
        return validate(items, contract, on_invalid=job.on_invalid, quarantine=quarantine)


def _resample(job: SelectiveJob, progress: Progress | None) -> ef.Bootstrap | None:
    if job.bootstrap is None:
        return None
    asked = msgspec.structs.asdict(job.bootstrap) | {"cluster": job.cluster}
    return ef.Bootstrap(**asked, progress=progress)


def _arranged(job: SelectiveJob, result: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Rows and columns in the order the job names things."""
    keys = [*job.by, "confidence", "metric"]
    order = [
        *job.by,
        pl.col("confidence").cast(pl.Enum(job.confidence)),
        pl.col("metric").cast(pl.Enum(metrics)),
    ]
    return result.sort(order).select(*keys, pl.exclude(keys))


def _contract(job: SelectiveJob, columns: Collection[str]) -> Contract:
    """The contract of the columns the job reads; participant and item only as far as present.

    Whoever resamples participants needs that column, and the contract says so.
    """
    names = job.columns
    return items_contract(
        confidence=job.confidence,
        prediction=names.prediction,
        label=names.label,
        loss=job.loss.column,
        participant=names.participant if names.participant in columns else None,
        item=names.item if names.item in columns else None,
        weight=names.weight,
        cluster=job.cluster if job.bootstrap else None,
        by=job.by,
        key=job.key,
        answers="value" if job.loss.name == "zero_one" else "number",
    )


def _roles(job: SelectiveJob, confidence: str) -> dict[str, str]:
    """Which column plays which role; who brings a loss abstains by leaving it null."""
    return {
        "prediction": LOSS if job.loss.column else job.columns.prediction,
        "label": job.columns.label,
        "loss": LOSS,
        "confidence": confidence,
    }


def _loss(job: SelectiveJob, columns: Collection[str]) -> pl.Expr:
    prediction = pl.col(job.columns.prediction)
    if job.loss.column is None:
        return loss(str(job.loss.name), prediction, job.columns.label, scale=job.loss.scale)
    given = pl.col(job.loss.column).cast(pl.Float64)
    if job.columns.prediction not in columns:
        return given
    return pl.when(prediction.is_not_null()).then(given)
