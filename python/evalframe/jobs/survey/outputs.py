"""The scores and tables of a survey job, and the overall leaderboard as it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.choices import BaselineKind
from evalframe.core.errors import ParameterError
from evalframe.jobs.survey import METRIC, USUAL, SurveyJob
from evalframe.reporting.names import number
from evalframe.reporting.table import written
from evalframe.reporting.verdict import verdict
from evalframe.survey.baselines import MODELS

if TYPE_CHECKING:
    from evalframe.jobs.rows import Rows
    from evalframe.jobs.survey.contract import Truth


METRICS = ("mean_score", "parse_rate", "generation_rate")
"""Names of the metrics of jobs."""

TABLES = (
    "overall",
    "category",
    "segment",
    "question",
    "consistency",
    "disparity",
    "model_disparity",
    "question_disparity",
    "category_leaders",
    "segment_overview",
    "segment_scores",
    "attribute_breakdown",
    "context_responsiveness",
    "stereotype_score",
    "pairwise",
    "scores",
)
"""Names of the Parquet files in an output folder."""

DISTRIBUTION = ("round", "segment_id", "question_id")
"""Columns that name a distribution."""

TAKEN = ("round", "run_id", "segment_attribute", "sample_size", "status")
"""Columns of results; a group key with such a name becomes `by_<column>`."""

_BATCH = "batch-"
"""Prefix of the ids of prompts about several questions."""


def functions_of(rules: str) -> Any:
    """The package whose functions a rule set uses."""
    return dtef if rules == "reference" else ef.survey


def scored(job: SurveyJob, valid: Rows, value: str, truth: Truth | None) -> Rows:
    """Valid predictions with their scores, from `value`, and with columns of the survey."""
    rows = with_temperatures(job, valid)
    return rows if truth is None else rows.then(partial(_scored, job.of_rows(), value, truth))


def _scored(job: SurveyJob, value: str, truth: Truth, table: pl.LazyFrame) -> pl.LazyFrame:
    functions, rows = functions_of(job.rules), truth.attached(table)
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


def with_temperatures(job: SurveyJob, rows: Rows) -> Rows:
    """Split models by temperature, `model[temp:0.3]`, unless results are grouped by it."""
    if "temperature" not in rows.schema or "temperature" in job.by:
        return rows
    pairs = rows.collect(_temperatures).unique()
    if not pairs["model"].is_duplicated().any():
        return rows
    named = pl.coalesce(pl.format("{}[temp:{}]", "model", "temperature"), "model").alias("model")
    return rows.then(methodcaller("with_columns", named))


def _temperatures(table: pl.LazyFrame) -> pl.LazyFrame:
    return table.select("model", "temperature").unique()


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
    has_questions = rows["question_id"].count() == len(rows)
    on = [*truth.rounds, "segment_id", *["question_id"] * has_questions]
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


def group_names(job: SurveyJob) -> list[str]:
    """Names of the group keys in results."""
    return [f"by_{name}" if name in TAKEN else name for name in job.by]


def groups_of(job: SurveyJob) -> list[pl.Expr]:
    """Group keys of a job under their names in results."""
    return [pl.col(name).alias(key) for name, key in zip(job.by, group_names(job), strict=True)]


def overall(job: SurveyJob, scores: pl.DataFrame, resample: ef.Bootstrap | None) -> pl.DataFrame:
    """The overall leaderboard, with intervals if the job resamples."""
    board: pl.DataFrame = functions_of(job.rules).leaderboard(
        scores, weighting=job.weighting, resample=resample, fixed=job.fixed, **_options(job)
    )
    return board


def _options(job: SurveyJob) -> dict[str, Any]:
    """Options of all tables of a job; dtef-app has no choice of context."""
    if job.rules == "documented":
        return {"by": groups_of(job), "context": job.context}
    if job.context != "highest":
        raise ParameterError("the original has no choice of context; leave out rules or context")
    return {"by": groups_of(job)}


def tables_of(
    job: SurveyJob,
    scores: pl.DataFrame,
    attributes: pl.DataFrame | None,
    resample: ef.Bootstrap | None,
) -> dict[str, pl.DataFrame]:
    """All tables of a folder except the overall one; those without data are empty."""
    # dtef-app takes categories from the ids of segments.
    if job.rules == "reference" or (attributes is not None and attributes.is_empty()):
        attributes = None
    if attributes is not None and "round" not in scores.columns:
        attributes = attributes.drop("round").unique(maintain_order=True)
    functions = functions_of(job.rules)
    tables = dict.fromkeys(TABLES, pl.DataFrame())
    tables |= functions.leaderboards(scores, attributes=attributes, **_options(job))
    has_categories = not tables["category"].is_empty()
    tables |= _of_the_best(job, scores, attributes, has_categories=has_categories)
    if has_categories and (job.weighting != "segment" or resample is not None):
        tables["category"] = functions.leaderboard(
            scores,
            "category",
            weighting=job.weighting,
            attributes=attributes,
            resample=resample,
            fixed=job.fixed,
            **_options(job),
        )
    tables["segment_scores"] = functions.segment_scores(scores, **_options(job))
    if attributes is not None:
        tables["attribute_breakdown"] = functions.attribute_breakdown(
            scores, attributes, **_options(job)
        )
    if job.bootstrap is not None and scores["model"].n_unique() > 1:
        named = [name for name in DISTRIBUTION if name in scores.columns]
        options = _options(job)
        del options["by"]
        drawn = {}
        if resample is not None and job.rules != "reference":  # the original flips each key
            drawn["cluster"] = resample.cluster
        tables["pairwise"] = functions.sign_flip_test(
            scores.drop_nulls("question_id"),
            on=[*dict.fromkeys((*job.by, *named, *drawn.values()))],
            n=job.bootstrap.n,
            seed=job.bootstrap.seed,
            **drawn,
            **options,
        )
    return tables | {"scores": scores}


def _of_the_best(
    job: SurveyJob,
    scores: pl.DataFrame,
    attributes: pl.DataFrame | None,
    *,
    has_categories: bool,
) -> dict[str, pl.DataFrame]:
    """Tables that name the best model, which is no baseline if there are models."""
    models = scores.filter(~ef.survey.is_baseline())
    rows = models if len(models) else scores
    functions = functions_of(job.rules)
    best = {"segment_overview": functions.segment_overview(rows, **_options(job))}
    if has_categories:
        best["category_leaders"] = functions.category_leaders(
            rows, attributes=attributes, **_options(job)
        )
    return best


_SHOWN = {
    "score": "score",
    "parse_rate": "parsed",
    "tied_with_best": "tied",
    "best": "best segment",
    "worst": "worst segment",
    "n_segments": "segments",
    "n_items": "items",
}
_DIGITS = 3
"""Decimals of the scores of segments."""


def printed_leaderboard(
    overall: pl.DataFrame,
    by: Sequence[str],
    *,
    notes: Sequence[str] = (),
    cluster: str | None = None,
    **style: Any,
) -> str:
    """Format the overall leaderboard as text or Markdown, with notes beneath it."""
    in_rounds = "by_round" not in by and _several_rounds(overall)
    ends = [_end(overall, end, ["round"] * in_rounds) for end in ("best", "worst")]
    said = verdict(overall, cluster=cluster) if "tied_with_best" in overall.columns else ""
    table = overall.with_columns(ends).rename(
        {"lower": "score_lower", "upper": "score_upper"}, strict=False
    )
    if "tied_with_best" in table.columns:
        notes = ["Tied: with the best, as far as the resamples tell.", *notes]
    text = written(table, _SHOWN, keys=[*by, "rank", "model"], notes=notes, **style)
    return f"{said}\n\n{text}" if said else text


def _end(overall: pl.DataFrame, end: str, rounds: Sequence[str]) -> pl.Series:
    """A segment with its score, and its round if there are several."""
    texts = [number(score, _DIGITS) for score in overall[f"{end}_score"]]
    score = pl.Series(texts, dtype=pl.String)
    names = [f"{end}_{name}" for name in (*rounds, "segment")]
    return overall.select(
        pl.concat_str(*names, pl.lit(score), separator=" ").alias(end)
    ).to_series()


def _several_rounds(overall: pl.DataFrame) -> bool:
    ends = [overall[name] for name in ("best_round", "worst_round") if name in overall.columns]
    return bool(ends) and pl.concat(ends).drop_nulls().n_unique() > 1
