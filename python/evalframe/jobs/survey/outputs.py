"""The tables of a survey job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    from evalframe.jobs.survey.job import SurveyJob

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
"""What a folder gets, as Parquet files of these names."""

DISTRIBUTION = ("round", "segment_id", "question_id")
"""What names a distribution."""

TAKEN = ("round", "run_id", "segment_attribute", "sample_size", "status")
"""Columns of predictions that results have, too; a group by one of them is called `by_<column>`."""


def group_names(job: SurveyJob) -> list[str]:
    """The columns that a job groups by, as results call them."""
    return [f"by_{name}" if name in TAKEN else name for name in job.by]


def groups_of(job: SurveyJob) -> list[pl.Expr]:
    """The columns that a job groups by."""
    return [pl.col(name).alias(key) for name, key in zip(job.by, group_names(job), strict=True)]


def overall(job: SurveyJob, scores: pl.DataFrame, resample: ef.Bootstrap | None) -> pl.DataFrame:
    """The overall leaderboard, with intervals if they are asked for."""
    board: pl.DataFrame = _implementation(job).leaderboard(
        scores, weighting=job.weighting, resample=resample, **_options(job)
    )
    return board


def _implementation(job: SurveyJob) -> Any:
    """The package with the functions of a job."""
    return dtef if job.rules == "reference" else ef.survey


def _options(job: SurveyJob) -> dict[str, Any]:
    """Options of all tables of a job.

    Raises:
        ParameterError: dtef-app has no choice of context.
    """
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
    """All tables of a folder but the overall one; those without a basis are empty.

    Args:
        job: The job.
        scores: Scored predictions.
        attributes: Attributes of segments; the original's rules go by the ids of segments.
        resample: For the leaderboards of categories.
    """
    if job.rules == "reference" or (attributes is not None and attributes.is_empty()):
        attributes = None
    if attributes is not None and "round" not in scores.columns:
        attributes = attributes.drop("round").unique(maintain_order=True)
    room = _implementation(job)
    tables = dict.fromkeys(TABLES, pl.DataFrame())
    tables |= room.leaderboards(scores, attributes=attributes, **_options(job))
    has_categories = not tables["category"].is_empty()
    tables |= _of_the_best(job, scores, attributes, has_categories=has_categories)
    if has_categories and (job.weighting != "segment" or resample is not None):
        tables["category"] = room.leaderboard(
            scores,
            "category",
            weighting=job.weighting,
            attributes=attributes,
            resample=resample,
            **_options(job),
        )
    tables["segment_scores"] = room.segment_scores(scores, **_options(job))
    if attributes is not None:
        tables["attribute_breakdown"] = room.attribute_breakdown(
            scores, attributes, **_options(job)
        )
    if job.bootstrap is not None and scores["model"].n_unique() > 1:
        named = [name for name in DISTRIBUTION if name in scores.columns]
        options = _options(job)
        del options["by"]
        tables["pairwise"] = room.sign_flip_test(
            scores.drop_nulls("question_id"),
            on=[*dict.fromkeys((*job.by, *named))],
            n=job.bootstrap.n,
            seed=job.bootstrap.seed,
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
    """Tables that name the best model, which a baseline is not, unless there is nothing else."""
    models = scores.filter(~ef.survey.is_baseline())
    rows = models if len(models) else scores
    room = _implementation(job)
    best = {"segment_overview": room.segment_overview(rows, **_options(job))}
    if has_categories:
        best["category_leaders"] = room.category_leaders(
            rows, attributes=attributes, **_options(job)
        )
    return best
