"""Run a job: open, validate, evaluate, write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.jobs.inputs import open_files
from evalframe.jobs.outputs import check_holds, check_output, write_result
from evalframe.jobs.paths import find, reading, refuse_inputs
from evalframe.jobs.provenance import provenance
from evalframe.jobs.selective.metrics import has_default_convention, left_out, resolve
from evalframe.jobs.selective.records import Records, check
from evalframe.report.run_report import run_table
from evalframe.selective.losses import loss

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalframe.jobs.selective.job import SelectiveJob
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
        left_out: Default metrics that the convention of the job does not define.
    """

    result: pl.DataFrame
    report: Records
    provenance: dict[str, Any]
    left_out: Sequence[str]


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
        >>> from evalframe.jobs.parsing import parse
        >>> from evalframe.jobs.samples import write_samples
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
    rejects = _rejects(job, output)
    targets = [path for path in (output, rejects) if path is not None]
    for path in targets:
        check_output(path)
    metrics = [resolve(job, _roles(job, confidence)) for confidence in job.confidence]
    resample = _resample(job, progress)
    files = find(job.items, folder)
    for path in targets:
        refuse_inputs(path, files, job.items, folder)
    items, sources = open_files(files)
    schema = items.collect_schema()
    if output is not None:
        check_holds(output, {key: schema[key] for key in job.by if key in schema})
    losses = _loss(job, schema)
    records = check(job, items, rejects)
    parts = []
    for confidence, bound in zip(job.confidence, metrics, strict=True):
        rows = records.valid(confidence).with_columns(losses)
        with reading(", ".join(job.items), "is it whole?"):
            part = ef.evaluate(
                rows, bound, by=job.by, weight=job.columns.weight, resample=resample
            ).collect()
        parts.append(part.with_columns(confidence=pl.lit(confidence)))
    result = _arranged(job, pl.concat(parts), [metric.bound.name for metric in metrics[0]])
    inputs = [source.describe(digest=job.hash_inputs) for source in sources]
    record = provenance(job, metrics[0], inputs, records.describe())
    if output is not None:
        write_result(result, output, record, readable=lambda: _readable(job, result))
    return Outcome(result, records, record, left_out(job, metrics[0]))


def _readable(job: SelectiveJob, result: pl.DataFrame) -> str:
    """One line for each group and confidence; of metrics asked for by name, all."""
    text = run_table(
        result,
        by=[*job.by, "confidence"],
        format="markdown",
        columns=None
        if job.metrics is None
        else result["metric"].unique(maintain_order=True).to_list(),
        level=job.bootstrap.level if job.bootstrap else None,
    )
    return text if has_default_convention(job) else f"{text}\n\nConvention: {job.convention}."


def _rejects(job: SelectiveJob, output: Path | None) -> Path | None:
    """Where rows go that break the contract."""
    if job.on_invalid != "quarantine":
        return None
    if output is None:
        raise ParameterError("on_invalid = 'quarantine' writes beside the output; name one")
    return output.with_name(f"{output.stem}.rejected.parquet")


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
