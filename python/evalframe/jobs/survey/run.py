"""Run a job of the survey family: open, validate, score, rank, write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import evalframe as ef
from evalframe.core.contract import Report, validate
from evalframe.core.errors import OutputError, ParameterError
from evalframe.jobs.outputs import check_output, write_result, write_tables
from evalframe.jobs.paths import reading
from evalframe.jobs.provenance import provenance
from evalframe.jobs.survey.inputs import open_predictions
from evalframe.jobs.survey.job import METRIC, RUNS
from evalframe.jobs.survey.outputs import TABLES, group_names, overall, tables_of
from evalframe.jobs.survey.report import leaderboard_report
from evalframe.jobs.survey.rules import contract_of
from evalframe.jobs.survey.scoring import added_kinds, kinds_of, scored, with_baselines
from evalframe.jobs.survey.truth import Truth
from evalframe.jobs.targets import check_targets, set_apart, target_of, targets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from evalframe.jobs.survey.inputs import Opened
    from evalframe.jobs.survey.job import SurveyJob
    from evalframe.jobs.targets import Target
    from evalframe.resample.methods import Progress

_COLUMNS = (
    "model",
    "round",
    "segment_id",
    "segment_attribute",
    "sample_size",
    "question_id",
    "prompt_id",
    "context_count",
    *RUNS,
    "predicted",
    "actual",
    "parse_rule",
    "status",
    "score",
)
"""What is kept of the scores, with the columns that a job names; texts of responses are not."""


@dataclass(frozen=True)
class Outcome:
    """What a job came to.

    Attributes:
        job: The job.
        overall: The overall leaderboard.
        report: What the validation found.
        notes: What a reader should know beside the numbers.
        provenance: What a Parquet output carries in its metadata.
    """

    job: SurveyJob
    overall: pl.DataFrame
    report: Report
    notes: Sequence[str]
    provenance: dict[str, Any]


def run(job: SurveyJob, *, folder: Path = Path(), progress: Progress | None = None) -> Outcome:
    """Run a job; with an output, write it whole or leave what was there.

    Args:
        job: What to run.
        folder: What relative names in the job are relative to.
        progress: Called as replicates are done; by default long runs report on a terminal.

    Raises:
        InputError: An input cannot be read.
        OutputError: The output cannot be written; said before anything is computed.
        ContractError: The predictions or the survey break their contract.
        MissingColumnsError: A table lacks a column that the job needs.

    Example:
        >>> import tempfile
        >>> from evalframe.jobs.parsing import parse
        >>> from evalframe.survey.sample import sample_responses, sample_survey
        >>> document = {"family": "survey", "items": ["said.parquet"], "truth": "survey.parquet"}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sample_responses().write_parquet(f"{folder}/said.parquet")
        ...     sample_survey().write_parquet(f"{folder}/survey.parquet")
        ...     outcome = run(parse(document), folder=Path(folder))
        >>> outcome.overall["model"].to_list()[:2], outcome.report.rejected
        (['quill-70b', 'baseline:population-marginal'], 0)
    """
    target = target_of(job.output, folder)
    rejects = check_targets(target, TABLES, job.on_invalid)
    with set_apart(rejects) as temporary:
        return _run(job, folder, progress, target, rejects, temporary)


def _run(
    job: SurveyJob,
    folder: Path,
    progress: Progress | None,
    target: Target | None,
    rejects: Path | None,
    temporary: Path | None,
) -> Outcome:
    """Run a job, with rejected rows in a temporary file."""
    summary = None if job.summary is None else _summary(folder / job.summary)
    targets = targets_of(target, TABLES)
    if summary in targets:
        raise ParameterError(f"the output and the summary would both be {summary}; name another")
    targets += [path for path in (rejects, summary) if path is not None]
    opened = open_predictions(job, folder, targets)
    present = opened.table.collect_schema().names()
    truth = None if opened.survey is None else Truth.of(opened.survey, present, job.rules)
    with reading(", ".join(job.items)):
        contract = contract_of(job, opened.table, opened.value, truth)
        report = validate(opened.table, contract, on_invalid=job.on_invalid, quarantine=temporary)
        rows = scored(job, report.valid, opened.value, truth)
        models = _kept(job, rows).collect()
    scores = with_baselines(job, models, truth)
    resample = _resample(job, progress)
    board = overall(job, scores, resample)
    record = provenance(
        job, [], opened.describe(), {"rows": report.rows, "rejected": report.rejected}
    )
    told = replace(report, quarantine=rejects)
    outcome = Outcome(job, board, told, _notes(job, opened, truth, models), record)
    if summary is not None and opened.results is not None:
        ef.survey.write_summary(opened.results, summary)
    if target is None:
        return outcome
    if not target.is_folder:
        write_result(board, target.path, record, readable=lambda: written(outcome, markdown=True))
    else:
        tables = tables_of(job, scores, opened.attributes, resample)
        write_tables(tables | {"overall": board}, target.path, record)
    return outcome


def written(outcome: Outcome, *, markdown: bool = False, width: int | None = None) -> str:
    """The overall leaderboard for a reader."""
    bootstrap = outcome.job.bootstrap
    return leaderboard_report(
        outcome.overall,
        group_names(outcome.job),
        notes=outcome.notes,
        markdown=markdown,
        level=bootstrap.level if bootstrap else None,
        width=width,
    )


def _summary(path: Path) -> Path:
    """Where the summary of run results goes.

    Raises:
        OutputError: It cannot be written there, or is no JSON.
    """
    if path.suffix.lower() != ".json":
        raise OutputError(f"cannot write {path.name}: the summary is JSON; name it .json")
    check_output(path)
    return path


def _kept(job: SurveyJob, rows: pl.LazyFrame) -> pl.LazyFrame:
    cluster = [] if job.bootstrap is None else [job.bootstrap.cluster or "segment_id"]
    present = rows.collect_schema()
    wanted = dict.fromkeys((*job.by, *_COLUMNS, *cluster))
    return rows.select(name for name in wanted if name in present)


def _resample(job: SurveyJob, progress: Progress | None) -> ef.Bootstrap | None:
    if job.bootstrap is None:
        return None
    asked = msgspec.structs.asdict(job.bootstrap)
    cluster = job.bootstrap.cluster or "segment_id"
    return ef.Bootstrap(**asked | {"cluster": cluster, "progress": progress})


_ALIKE = {
    "segment": "each segment counts alike",
    "question": "each question counts alike",
    "sample_size": "segments count by their respondents",
}


def _notes(job: SurveyJob, opened: Opened, truth: Truth | None, models: pl.DataFrame) -> list[str]:
    """What the numbers are, and what is not among them."""
    stored = opened.value == "score"
    metric = "the scores of the table" if stored else job.metric or METRIC
    notes = [f"Score: {metric}; {_ALIKE[job.weight]}."]
    if failed := models["score"].null_count():
        notes.append(f"{failed:,} of {len(models):,} items have no score and are left out.")
    if "context_count" in models.columns and models["context_count"].drop_nulls().n_unique() > 1:
        notes.append("Of a segment asked with several amounts of context the most counts.")
    if truth is not None and job.baselines is None and len(kinds_of(job, truth)) < 3:
        notes.append("The survey has no sample sizes, so there is no marginal baseline.")
    if stored and added_kinds(job, models, truth):
        notes.append(f"Baselines are scored by {METRIC}.")
    return [*notes, *(f"{note}." for note in opened.notes)]
