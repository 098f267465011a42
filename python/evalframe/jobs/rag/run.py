"""What a job of the rag family computes: open, validate, label, count."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.compat import rgb
from evalframe.compat.rgb.rates import RATES
from evalframe.core.contract import Contract, validate
from evalframe.core.errors import ParameterError
from evalframe.jobs.family import Outcome, Place
from evalframe.jobs.paths import reading
from evalframe.jobs.provenance import provenance
from evalframe.jobs.rag.inputs import Opened, language_of, open_responses
from evalframe.jobs.rag.job import KEYS, LEVEL
from evalframe.jobs.rag.outputs import tables_of
from evalframe.jobs.rag.report import rates_report
from evalframe.rag.contract import responses_contract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.rag.job import RagJob
    from evalframe.resample.methods import Progress


def compute(job: RagJob, place: Place, progress: Progress | None) -> Outcome:
    """Label the responses of a job, and count."""
    opened, keys, contract = _opened(job, place)
    schema = opened.table.collect_schema()
    with reading(", ".join(job.items)):
        report = validate(
            opened.table, contract, on_invalid=job.on_invalid, quarantine=place.rejects
        )
        labelled = _labelled(job, report.valid, schema, language_of(job.language, place.folder))
        resample = _resample(job, schema, progress)
        if place.all_tables:  # several tables read it
            labelled = _in_memory(labelled, [*keys, *_question(schema)], job)
        notes = opened.notes() if _is_labelled_anew(job, schema) else []
        rates = rgb.rates(
            labelled,
            by=keys,
            weight=job.weight,
            dropped=job.dropped,
            intervals=None if resample or job.intervals == "none" else "wilson",
            level=job.level or LEVEL,
            resample=resample,
        ).collect()
    metrics = [metric.alias(name) for name, metric in RATES.items()]
    record = provenance(job, metrics, opened.describe(), report.describe())
    tables = partial(tables_of, job, labelled, rates, keys, resample)
    return Outcome(job, keys, rates, report, record, tables, notes=notes)


def check(job: RagJob, place: Place) -> str:
    """What is found in responses that keep their contract.

    Raises:
        ContractError: They do not.
        InputError: An input cannot be read.
    """
    opened, _, contract = _opened(job, place)
    with reading(", ".join(job.items)):
        return str(validate(opened.table, contract))


def written(outcome: Outcome, *, markdown: bool = False, width: int | None = None) -> str:
    """The rates for a reader."""
    return rates_report(
        outcome.result,
        outcome.keys,
        notes=outcome.notes,
        markdown=markdown,
        level=outcome.job.shown_level,
        width=width,
    )


def _opened(job: RagJob, place: Place) -> tuple[Opened, list[str], Contract]:
    """The responses, what they are grouped by, and their contract."""
    opened = open_responses(job, place.folder, place.targets)
    schema = opened.table.collect_schema()
    keys = [*(key for key in KEYS if key in schema)] if job.by is None else [*job.by]
    return opened, keys, _contract(job, schema, keys)


def _contract(job: RagJob, present: pl.Schema, keys: Sequence[str]) -> Contract:
    """The contract of the columns that the table has."""
    roles = {role: role if role in present else None for role in (*KEYS, *_TEXTS)}
    labelled = not _is_labelled_anew(job, present)
    contract = responses_contract(
        **roles,
        answers="answers" if not labelled and "answers" in present else None,
        label="label" if labelled else None,
        factlabel="factlabel" if labelled and "factlabel" in present else None,
        weight=job.weight,
        by=[key for key in keys if key not in KEYS],
    )
    return contract if job.key is None else replace(contract, key=job.key)


def _question(present: pl.Schema) -> list[str]:
    return [name for name in ("dataset", "id") if name in present]


def _in_memory(labelled: pl.LazyFrame, needed: list[str], job: RagJob) -> pl.LazyFrame:
    """What tables read of the responses, without their texts, so that they are labelled once."""
    cluster = None if job.bootstrap is None else job.bootstrap.cluster
    read = [*needed, "label", "factlabel", "noise_rate", "evaluation", job.weight, cluster]
    known = labelled.collect_schema()
    wanted = dict.fromkeys(name for name in read if name is not None and name in known)
    return labelled.select(*wanted).collect().lazy()


_TEXTS = ("id", "response", "evaluation")


def _is_labelled_anew(job: RagJob, present: pl.Schema) -> bool:
    """Whether labels are made: not if the table has some and no mode is asked for."""
    return job.mode is not None or "label" not in present


def _labelled(
    job: RagJob, responses: pl.LazyFrame, schema: pl.Schema, language: ef.rag.Language | None
) -> pl.LazyFrame:
    """The responses with labels: their own, unless a mode is asked for or there are none.

    Raises:
        ParameterError: The job sets options of labelling, but the table has labels already.
    """
    if _is_labelled_anew(job, schema):
        return ef.rag.label(responses, language=language, mode=job.mode or "strict")
    for name in ("language", "flat_answers"):
        if getattr(job, name) is not None:
            raise ParameterError(
                f"the responses have labels, so that {name} says nothing; name the mode to make new"
                " ones (--mode strict), or leave it out"
            )
    return responses


def _resample(job: RagJob, schema: pl.Schema, progress: Progress | None) -> ef.Bootstrap | None:
    if job.bootstrap is None:
        return None
    question = pl.struct(_question(schema))
    return job.bootstrap.method(job.bootstrap.cluster or question, progress)
