"""Predictions as scores, with baselines beside the models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.choices import BaselineKind
from evalframe.jobs.survey.job import METRIC, USUAL, SurveyJob
from evalframe.survey.baselines import MODELS

if TYPE_CHECKING:
    from evalframe.jobs.survey.truth import Truth


_BATCH = "batch-"
"""Prefix of the ids of prompts about several questions."""


def functions_of(rules: str) -> Any:
    """The package whose functions a rule set uses."""
    return dtef if rules == "reference" else ef.survey


def scored(job: SurveyJob, valid: pl.LazyFrame, value: str, truth: Truth | None) -> pl.LazyFrame:
    """Valid predictions with their scores, from `value`, and with columns of the survey."""
    functions = functions_of(job.rules)
    rows = with_temperatures(job, valid)
    if truth is None:
        return rows
    rows = truth.attached(rows)
    if value == "score":
        return rows
    if value == "response":
        if job.rules == "reference":  # its runner takes blank responses for failed requests
            text = pl.col("response")
            rows = rows.with_columns(pl.when(text.str.strip_chars() != "").then(text))
        key = _key(rows.collect_schema())
        rows = functions.parse(rows, question_key=key, options="options").drop("response")
    elif "status" in rows.collect_schema():
        rows = rows.with_columns(_status())
    scores: pl.LazyFrame = functions.score(rows, metric=job.metric or METRIC)
    return scores


def with_temperatures(job: SurveyJob, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Split models by temperature, `model[temp:0.3]`, unless results are grouped by it."""
    if "temperature" not in rows.collect_schema() or "temperature" in job.by:
        return rows
    several = rows.group_by("model").agg(pl.col("temperature").n_unique() > 1)
    if not several.select(pl.col("temperature").any()).collect().item():
        return rows
    named = pl.format("{}[temp:{}]", "model", "temperature")
    return rows.with_columns(pl.coalesce(named, "model").alias("model"))


def _status() -> pl.Expr:
    """The status of predictions, which follows from them if it is missing or "ok"."""
    stated, predicted = pl.col("status").cast(pl.String), pl.col("predicted")
    followed = (
        pl.when(predicted.is_null())
        .then(pl.lit("unparsed"))
        .when(predicted.list.len() != pl.col("actual").list.len())
        .then(pl.lit("length_mismatch"))
        .otherwise(pl.lit("ok"))
    )
    return pl.when(stated.fill_null("ok") == "ok").then(followed).otherwise(stated).alias("status")


def _key(schema: pl.Schema) -> pl.Expr | None:
    """The key of a question in a response to several."""
    if "question_key" in schema:
        return pl.col("question_key")
    if "prompt_id" in schema:
        return pl.when(pl.col("prompt_id").str.starts_with(_BATCH)).then("question_id")
    return None


def kinds_of(job: SurveyJob, truth: Truth | None) -> Sequence[BaselineKind]:
    """The baselines of a job, by default the usual ones that the survey allows."""
    if truth is None:
        return ()
    if job.baselines is not None:
        return job.baselines
    sizes = truth.distributions["sample_size"].count() > 0
    return [kind for kind in USUAL if sizes or kind != "marginal"]


def added_kinds(job: SurveyJob, rows: pl.DataFrame, truth: Truth | None) -> list[BaselineKind]:
    """The baselines of a job that are not yet among the models of the table."""
    models = {*rows["model"]}
    return [kind for kind in kinds_of(job, truth) if MODELS[kind] not in models]


def with_baselines(job: SurveyJob, rows: pl.DataFrame, truth: Truth | None) -> pl.DataFrame:
    """Add the scores of baselines for the same questions and segments in each group."""
    kinds = added_kinds(job, rows, truth)
    if truth is None or not kinds:
        return rows
    keys = [*truth.rounds, "segment_id", "question_id"]
    has_questions = rows["question_id"].count() == len(rows)
    on = keys if has_questions else keys[:-1]
    others = [name for name in ("round", *job.by) if name in rows.columns and name not in on]
    pairs = rows.select(*on, *others).unique(maintain_order=True).drop_nulls(on)
    parts: list[pl.DataFrame] = []
    for kind in kinds:
        scores = functions_of(job.rules).baseline(truth.survey, kind, metric=job.metric or METRIC)
        scores = scores.drop(others, strict=False)
        prompt = pl.format("{}-{}", "question_id", "segment_id").alias("prompt_id")
        parts.append(scores.with_columns(prompt).join(pairs, on=on, maintain_order="left"))
    columns = [name for name in parts[0].columns if name in rows.columns]
    baselines = pl.concat(part.select(columns) for part in parts)
    return pl.concat([rows, baselines], how="diagonal_relaxed")
