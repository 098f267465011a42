"""The run of a survey job: open, validate, score, rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.contract import Contract, validate
from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.scan import reading
from evalframe.jobs.family import LeftOut, Outcome, Place, drawn_by
from evalframe.jobs.survey import METRIC, RUNS, SurveyJob
from evalframe.jobs.survey.contract import Truth, contract_of
from evalframe.jobs.survey.inputs import Predictions, open_predictions
from evalframe.jobs.survey.outputs import (
    added_kinds,
    group_names,
    kinds_of,
    overall,
    scored,
    tables_of,
    with_baselines,
)
from evalframe.jobs.written import check_output

if TYPE_CHECKING:
    import polars as pl

    from evalframe.jobs.rows import Rows, Workers


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
    "options",
    "predicted",
    "actual",
    "parse_rule",
    "status",
    "score",
)
"""Columns of the scores, besides those that a job names; responses are dropped."""


def compute(job: SurveyJob, place: Place) -> Outcome:
    """Score the predictions of a job, and rank the models."""
    summary = None if place.summary is None else _summary(place.summary, place.targets)
    targets = [*place.targets, *([] if summary is None else [summary])]
    opened, truth, contract = _opened(job, place.folder, targets, place.workers)
    with reading(", ".join(job.items)):
        validation, valid = opened.rows.checked(contract, place.rejects)
        models = _kept(job, scored(job, valid, opened.value, truth))
    scores = with_baselines(job, models, truth)
    resample = job.resample(_cluster(job))
    board = overall(job, scores, resample)

    def tables() -> dict[str, pl.DataFrame]:
        return tables_of(job, scores, opened.attributes, resample) | {"overall": board}

    return Outcome(
        job,
        group_names(job),
        board,
        validation,
        opened,
        tables,
        notes=_notes(job, opened, truth, models, board, whole=place.all_tables),
        beside=_summarised(opened, summary),
        shown={"cluster": drawn_by(job)},
    )


def check(job: SurveyJob, place: Place) -> str:
    """What is found of predictions that keep their contract."""
    opened, _, contract = _opened(job, place.folder, place.targets)
    with reading(", ".join(job.items)):
        return str(validate(opened.table, contract))


def _opened(
    job: SurveyJob, folder: Path, targets: Sequence[Path], workers: Workers | None = None
) -> tuple[Predictions, Truth | None, Contract]:
    """The predictions, the truth and the contract of a job."""
    opened = open_predictions(job, folder, targets, workers)
    schema = opened.rows.schema.names()
    truth = (
        None
        if opened.survey is None
        else Truth.of(opened.survey, schema, normalised=job.rules == "documented")
    )
    with reading(", ".join(job.items)):
        return opened, truth, contract_of(job, opened.rows, opened.value, truth)


def _summary(path: Path, targets: Sequence[Path]) -> Path:
    """Check the path of the summary of run results."""
    if path.suffix.lower() != ".json":
        raise OutputError(f"cannot write {path.name}: the summary is JSON; name it .json")
    check_output(path)
    if path in targets:
        raise ParameterError(f"the output and the summary would both be {path}; name another")
    return path


def _summarised(opened: Predictions, path: Path | None) -> Callable[[], object] | None:
    """Return a function that writes the summary, if the job has one."""
    if path is None or "results" not in opened.beside:
        return None
    return partial(dtef.write_summary, opened.beside["results"], path)


def _kept(job: SurveyJob, rows: Rows) -> pl.DataFrame:
    """The scores, without the responses."""
    schema = rows.schema
    names = dict.fromkeys((*job.by, *_COLUMNS, _cluster(job)))
    return rows.collect(methodcaller("select", [name for name in names if name in schema]))


def _cluster(job: SurveyJob) -> str:
    return (job.bootstrap and job.bootstrap.cluster) or "segment_id"


_ALIKE = {
    "segment": "each segment counts alike",
    "question": "each question counts alike",
    "sample_size": "segments count by their respondents",
}


def _notes(
    job: SurveyJob,
    opened: Predictions,
    truth: Truth | None,
    models: pl.DataFrame,
    board: pl.DataFrame,
    *,
    whole: bool,
) -> list[str]:
    """Notes on the metric, weights, missing scores, contexts, categories and baselines."""
    stored = opened.value == "score"
    metric = "the scores of the table" if stored else job.metric or METRIC
    notes = [f"Score: {metric}; {_ALIKE[job.weighting]}."]
    if failed := models["score"].null_count():
        without = f"{failed:,} of {len(models):,} items have no score and are left out."
        notes.append(LeftOut(without))
    notes += _of_context(job, models, board)
    if whole and job.rules == "documented":
        notes += _of_categories(models, opened.attributes)
    if truth is not None and job.baselines is None and len(kinds_of(job, truth)) < 3:
        notes.append("The survey has no sample sizes, so there is no marginal baseline.")
    if stored and added_kinds(job, models, truth):
        notes.append(f"Baselines are scored by {METRIC}.")
    messages = [*opened.notes, *([] if opened.survey is None else opened.survey.notes)]
    return [
        *notes,
        *(type(note)(f"{note[:1].upper()}{note[1:]}.") for note in dict.fromkeys(messages)),
    ]


def _of_context(job: SurveyJob, models: pl.DataFrame, board: pl.DataFrame) -> Iterator[str]:
    """Note on the included amount of context, if there are several."""
    if "context_count" not in models.columns or models["context_count"].n_unique() < 2:
        return
    if "n_other_context" not in board.columns:
        yield "Of a segment asked with several amounts of context the most counts."
    elif job.context == "all":
        yield "Items of all amounts of context are pooled."
    elif others := board["n_other_context"].sum():
        amount = f"context_count {job.context}"
        if isinstance(job.context, str):
            amount = f"the {job.context} context_count of a segment"
        counted = f"Items with {amount} count"
        yield LeftOut(f"{counted}; {others:,} with another are left out (--context).")


def _of_categories(models: pl.DataFrame, attributes: pl.DataFrame | None) -> Iterator[str]:
    """Note on segments without a category."""
    segments = ef.survey.segment_scores(models).unique("segment_id")
    has_category = segments["category"].is_not_null()
    if attributes is not None:
        has_category = segments["segment_id"].is_in(attributes["segment_id"].implode())
    if not has_category.any():
        yield (
            "No segment has a category, as 'gender:male' or a column segment_attribute would say, "
            "so that the tables of categories are empty."
        )
    elif not has_category.all():
        lacking = f"{(~has_category).sum():,} of {len(has_category):,} segments have"
        yield f"{lacking} no category, and are in no table of categories."
