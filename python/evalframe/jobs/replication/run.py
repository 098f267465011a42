"""Run a job of the replication family: open, validate, add evidence, score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple

import polars as pl

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.core.contract import Validation, validate
from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.scan import reading
from evalframe.jobs.family import Outcome, Place, drawn_by
from evalframe.jobs.replication import CLUSTERS, PARTICIPANT, ReplicationJob
from evalframe.jobs.replication.inputs import (
    Tests,
    contract_of,
    groups_of,
    implementation_of,
    listed_types,
    open_tests,
    original_type,
    types_of,
    unknown_types,
    with_evidence,
)
from evalframe.jobs.replication.outputs import Scores, absent_tests
from evalframe.jobs.replication.participants import check_responses, drawn_scores, with_agents
from evalframe.jobs.replication.printed import (
    notes_of,
    notes_of_absent,
    notes_of_directions,
    values_of_table,
)
from evalframe.jobs.rows import Rows


def compute(job: ReplicationJob, place: Place) -> Outcome:
    """Add the evidence to the tests of a job, and score the models."""
    opened = open_tests(job, place.folder, place.targets, place.workers)
    by = groups_of(job, opened)
    if place.summary is not None:
        _check_summary(place.summary, opened, by)
    with reading(", ".join(job.items)):
        if opened.responses is not None and opened.design is not None:
            check_responses(opened.responses, opened.design, by)
        tests = _tests(job, opened, by, place.rejects)
    resample = job.resample(CLUSTERS[job.cluster or "study"])
    drawn = None
    if resample is not None and job.cluster == PARTICIPANT:
        drawn = partial(drawn_scores, opened=opened, by=by, job=job, resample=resample)
    scores = Scores(tests.table, by, job, resample, drawn)
    models = scores.models()
    beside = None
    if place.summary is not None:
        beside = partial(_write_summary, tests.table, place.summary, opened, by, job)
    return Outcome(
        job,
        by,
        models,
        tests.validation,
        opened,
        scores.tables,
        notes=[*notes_of(scores, models), *tests.notes],
        shown={"cluster": drawn_by(job)},
        beside=beside,
    )


def check(job: ReplicationJob, place: Place) -> str:
    """Validate the tests of a job; list which of them some models lack."""
    opened = open_tests(job, place.folder, place.targets)
    by = groups_of(job, opened)
    with reading(", ".join(job.items)):
        validation = validate(opened.table, contract_of(opened, by, job))
        tests = with_evidence(job, validation.valid).collect()
        absent = absent_tests(opened.table, by)
    return "\n".join([str(validation), *notes_of_directions(tests), *notes_of_absent(absent)])


class _Tests(NamedTuple):
    """Tests with their evidence, what their contract found, and notes for readers."""

    table: pl.DataFrame
    validation: Validation
    notes: Sequence[str]


def _tests(job: ReplicationJob, opened: Tests, by: Sequence[str], temporary: Path | None) -> _Tests:
    """The valid tests of a job with their evidence."""
    contract = contract_of(opened, by, job)
    validation, tests = opened.rows.checked(contract, temporary)
    notes: list[str] = []
    if opened.responses is not None:
        both, notes = _both_sides(opened, tests.table, by)
        tests = Rows(implementation_of(job).chain.agents_where_humans_tell(both))
    as_read = [*values_of_table(tests.schema), *_without_effects(tests, job)]
    evidence = tests.collect(partial(with_evidence, job.of_rows()))
    return _Tests(_with_domains(evidence), validation, [*as_read, *notes])


def _without_effects(tests: Rows, job: ReplicationJob) -> list[str]:
    """A note about tests of unknown types, which only results may have."""
    if not job.results:
        return []
    typed = tests.then(methodcaller("with_columns", test_type=original_type()))
    unknown = unknown_types(types_of(typed), implementation_of(job).chain)
    if unknown.is_empty():
        return []
    return [f"Effects: none are computed for tests of unknown types: {listed_types(unknown)}."]


def _both_sides(
    opened: Tests, tests: pl.LazyFrame, by: Sequence[str]
) -> tuple[pl.LazyFrame, list[str]]:
    """The tests with both sides, and notes about them."""
    if opened.responses is None or opened.design is None:
        return tests, []
    joined = with_agents(tests, opened.responses, opened.design, by)
    if not joined.without_humans:
        return joined.tests, []
    return joined.tests, [
        "Left out: tests of the responses that the table of tests lacks: "
        f"{joined.without_humans:,}."
    ]


def _with_domains(tests: pl.DataFrame) -> pl.DataFrame:
    """The tests with domains, by default those of the benchmark's studies."""
    domains = ef.replication.domain(pl.col("study_id").cast(pl.String))
    return tests if "domain" in tests.columns else tests.with_columns(domains)


def _check_summary(folder: Path, opened: Tests, by: Sequence[str]) -> None:
    """Raise now if the files of a summary cannot be written later."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder.name} is a file; name a folder for the summary")
    if not folder.parent.is_dir():
        raise OutputError(
            f"cannot make {folder.name}: no folder {str(folder.parent)!r}; create it first"
        )
    if any(file.path.resolve().is_relative_to(folder.resolve()) for file in opened.files):
        raise OutputError(f"{folder.name} holds inputs; write the summary elsewhere")
    if not by:
        raise ParameterError("the files of a summary are of models; name them by a column (--by)")


def _write_summary(
    tests: pl.DataFrame, folder: Path, opened: Tests, by: Sequence[str], job: ReplicationJob
) -> None:
    """Write the files of the original in addition to the tables of the job."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder.name} ({error.strerror})") from error
    model = pl.concat_str(pl.col(by).cast(pl.String).fill_null(""), separator="_")
    results = humanstudy_bench.result_tables(
        tests.with_columns(model.alias("model")),
        runs=opened.beside.get("runs") if [*by] == ["model"] else None,
        finding_rule=job.finding_rule,
        study_rule=job.study_rule,
        finding_key=job.finding_key,
        missing=job.missing,
        numbers="original" if job.rules == "reference" else "sound",
    )
    humanstudy_bench.write_results(results, folder, overwrite=True)
