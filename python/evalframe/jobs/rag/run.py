"""Run a rag job: open, validate, label, count; and the rates as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import rgb
from evalframe.compat.rgb.tables import RATES
from evalframe.core.contract import Contract, validate
from evalframe.core.errors import ParameterError
from evalframe.core.scan import reading
from evalframe.jobs.console import terminal_width
from evalframe.jobs.family import Outcome, Place
from evalframe.jobs.rag import KEYS, LEVEL, RagJob
from evalframe.jobs.rag.inputs import language_of, notes_of, open_responses
from evalframe.rag.abilities import ABILITIES, ability
from evalframe.rag.contract import responses_contract
from evalframe.reporting.table import written

if TYPE_CHECKING:
    from evalframe.jobs.inputs import Opened
    from evalframe.jobs.rows import Rows


METRICS = tuple(rate.metric.name for rate in RATES.values())
"""Names of the metrics of jobs."""

TABLES = ("rates", "accuracy_drop", *ABILITIES)
"""The Parquet files of an output folder, by name."""

_TEXTS = ("id", "response", "evaluation")


def compute(job: RagJob, place: Place) -> Outcome:
    """Label the responses of a job, and count."""
    opened, keys, contract = _opened(job, place)
    schema = opened.rows.schema
    with reading(", ".join(job.items)):
        validation, valid = opened.rows.checked(contract, place.rejects)
        rows = _labelled(job, valid, schema, language_of(job.language, place.folder))
        question = pl.struct(_question(schema))
        cluster = (job.bootstrap and job.bootstrap.cluster) or question
        resample = job.resample(cluster)
        labelled = rows.table
        if place.all_tables or rows.is_spread:  # several tables read it
            labelled = _in_memory(rows, [*keys, *_question(schema)], job)
        notes = notes_of(job, opened) if _is_labelled_anew(job, schema) else []
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
    tables = partial(_tables, job, labelled, rates, keys, resample)
    return Outcome(job, keys, rates, validation, opened, tables, metrics, notes=notes)


def check(job: RagJob, place: Place) -> str:
    """What is found of responses that keep their contract."""
    opened, _, contract = _opened(job, place)
    with reading(", ".join(job.items)):
        return str(validate(opened.table, contract))


def _tables(
    job: RagJob,
    labelled: pl.LazyFrame,
    rates: pl.DataFrame,
    keys: Sequence[str],
    resample: ef.Bootstrap | None,
) -> dict[str, pl.DataFrame]:
    """All tables of a folder by name, empty if the rates lack a key that a table needs."""
    tables = dict.fromkeys(TABLES, pl.DataFrame()) | {"rates": rates}
    if "noise_rate" in keys:
        tables["accuracy_drop"] = ef.rag.accuracy_drop(
            labelled,
            by=[key for key in keys if key != "noise_rate"],
            weight=job.weight,
            dropped=job.dropped,
            resample=resample,
        ).collect()
    required = {"dataset", "noise_rate"}
    for name in ABILITIES:
        more = {"passage_num"} if name == "counterfactual_robustness" else set()
        if required | more <= {*keys}:
            tables[name] = ef.rag.published_table(rates, name)
    return tables


def _opened(job: RagJob, place: Place) -> tuple[Opened, list[str], Contract]:
    """The responses, their group keys, and their contract."""
    opened = open_responses(job, place.folder, place.targets, place.workers)
    schema = opened.rows.schema
    keys = [*(key for key in KEYS if key in schema)] if job.by is None else [*job.by]
    return opened, keys, _contract(job, schema, keys)


def _contract(job: RagJob, schema: pl.Schema, keys: Sequence[str]) -> Contract:
    """The contract of the columns in the table."""
    roles = {role: role if role in schema else None for role in (*KEYS, *_TEXTS)}
    labelled = not _is_labelled_anew(job, schema)
    contract = responses_contract(
        **roles,
        answers="answers" if not labelled and "answers" in schema else None,
        label="label" if labelled else None,
        factlabel="factlabel" if labelled and "factlabel" in schema else None,
        weight=job.weight,
        by=[key for key in keys if key not in KEYS],
    )
    return contract if job.key is None else replace(contract, key=job.key)


def _question(schema: pl.Schema) -> list[str]:
    return [name for name in ("dataset", "id") if name in schema]


def _in_memory(labelled: Rows, keys: list[str], job: RagJob) -> pl.LazyFrame:
    """The columns that tables read, in memory: responses are labelled once."""
    cluster = None if job.bootstrap is None else job.bootstrap.cluster
    names = [*keys, "label", "factlabel", "noise_rate", "evaluation", job.weight, cluster]
    schema = labelled.schema
    columns = dict.fromkeys(name for name in names if name is not None and name in schema)
    return labelled.collect(methodcaller("select", [*columns])).lazy()


def _is_labelled_anew(job: RagJob, schema: pl.Schema) -> bool:
    """True unless the table has labels and the job sets no mode."""
    return job.mode is not None or "label" not in schema


def _labelled(
    job: RagJob, responses: Rows, schema: pl.Schema, language: ef.rag.Language | None
) -> Rows:
    """The responses with labels: those in the table, unless the job sets a mode."""
    if _is_labelled_anew(job, schema):
        label = partial(ef.rag.label, language=language, mode=job.mode or "strict")
        return responses.then(label)
    for name in ("language", "flat_answers"):
        if getattr(job, name) is not None:
            raise ParameterError(
                f"the responses have labels, so that {name} says nothing; name the mode to make new"
                " ones (--mode strict), or leave it out"
            )
    return responses


_COUNTS = {"n": "n", "n_dropped": "dropped"}
_SHOWN: dict[str, dict[str, str]] = {
    "noise_robustness": {"accuracy": "accuracy", "rejection_rate": "rejected"},
    "negative_rejection": {
        "rejection_rate": "rejected",
        "judge_rejection_rate": "rejected (judge)",
        "accuracy": "accuracy",
        "all_rate": "all_rate",
    },
    "information_integration": {
        "accuracy": "accuracy",
        "n_partial": "partial",
        "rejection_rate": "rejected",
    },
    "counterfactual_robustness": {
        "accuracy": "accuracy",
        "error_detection_rate": "detected",
        "error_correction_rate": "corrected",
        "judge_detection_rate": "detected (judge)",
        "judge_correction_rate": "corrected (judge)",
    },
}
_ALL = {"accuracy": "accuracy", "rejection_rate": "rejected", "all_rate": "all_rate"}
_SETTINGS = ("noise_rate", "passage_num", "correct_passage_rate")
_UNKNOWN = pl.lit(None, pl.String).alias("ability")


def printed_rates(
    rates: pl.DataFrame,
    keys: Sequence[str],
    *,
    notes: Sequence[str] = (),
    markdown: bool = False,
    **style: Any,
) -> str:
    """The rates of each tested ability, under its name.

    Without data set and noise rate among the keys, all responses share one table.
    """
    rates_by_ability = rates.with_columns(
        ability() if {"dataset", "noise_rate"} <= {*keys} else _UNKNOWN
    )
    parts = []
    for name in (*ABILITIES, None):
        rows = rates_by_ability.filter(pl.col("ability").eq_missing(pl.lit(name, pl.String)))
        if len(rows) or (name is None and not len(rates_by_ability)):
            counts = {key: head for key, head in _COUNTS.items() if key == "n" or rows[key].sum()}
            constant = [key for key in _SETTINGS if key in keys and rows[key].n_unique() == 1]
            text = written(
                rows,
                counts | _SHOWN.get(str(name), _ALL),
                keys=[key for key in keys if key not in constant],
                markdown=markdown,
                **style,
                notes=[f"In all rows {key} is {rows[key][0]}." for key in constant],
            )
            title = "All responses" if name is None else name.replace("_", " ").capitalize()
            parts.append(f"## {title}\n\n{text}" if markdown else f"{title}\n\n{text}")
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def noise_robustness(output: Path) -> str:
    """The first of the four tables that the command prints, for questions in English."""
    rates = pl.read_parquet(output / "rates.parquet")
    english = rates.filter(pl.col("dataset") == "en", pl.col("noise_rate") < 1)
    table = printed_rates(english, KEYS, level=0.95, width=terminal_width())
    return f"{table}\nNot shown: questions in Chinese, and the three other abilities."
