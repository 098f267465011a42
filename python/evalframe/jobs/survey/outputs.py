"""The tables of a survey job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef

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

TAKEN = ("round", "context_count", "run_id", "segment_attribute", "sample_size", "status")
"""Columns of predictions that results have, too; a group by one of them is called `by_<column>`."""


def group_names(job: SurveyJob) -> list[str]:
    """The columns that a job groups by, as results call them."""
    return [f"by_{name}" if name in TAKEN else name for name in job.by]


def groups_of(job: SurveyJob) -> list[pl.Expr]:
    """The columns that a job groups by."""
    return [pl.col(name).alias(key) for name, key in zip(job.by, group_names(job), strict=True)]


def overall(job: SurveyJob, scores: pl.DataFrame, resample: ef.Bootstrap | None) -> pl.DataFrame:
    """The overall leaderboard, with intervals if they are asked for."""
    return ef.survey.leaderboard(
        scores, by=groups_of(job), weighting=job.weighting, rules=job.rules, resample=resample
    ).collect()


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
    tables = dict.fromkeys(TABLES, pl.DataFrame())
    tables |= ef.survey.leaderboards(
        scores, by=groups_of(job), rules=job.rules, attributes=attributes
    )
    tables |= _of_the_best(job, scores, attributes)
    if job.weighting != "segment" or resample is not None:
        tables["category"] = ef.survey.leaderboard(
            scores,
            "category",
            by=groups_of(job),
            weighting=job.weighting,
            rules=job.rules,
            attributes=attributes,
            resample=resample,
        ).collect()
    tables["segment_scores"] = ef.survey.segment_scores(
        scores, by=groups_of(job), rules=job.rules
    ).collect()
    if attributes is not None:
        tables["attribute_breakdown"] = ef.survey.attribute_breakdown(
            scores, attributes, by=groups_of(job), rules=job.rules
        ).collect()
    if job.bootstrap is not None and scores["model"].n_unique() > 1:
        named = [name for name in DISTRIBUTION if name in scores.columns]
        kept = scores if job.rules == "reference" else _kept(scores, tables["segment_scores"])
        tables["pairwise"] = ef.survey.sign_flip_test(
            kept.drop_nulls("question_id"),
            on=[*dict.fromkeys((*job.by, *named))],
            n=job.bootstrap.n,
            seed=job.bootstrap.seed,
            rules=job.rules,
        ).collect()
    return tables | {"scores": scores}


def _kept(scores: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """The scores of the runs that leaderboards count; the original's tests take all."""
    if "context_count" not in scores.columns:
        return scores
    shared = [name for name in segments.columns if name in ("model", *DISTRIBUTION)]
    keys = [*shared, "context_count"]
    known = scores.with_columns(pl.col("context_count").fill_null(0))
    return known.join(segments.select(keys), on=keys, how="semi", nulls_equal=True)


def _of_the_best(
    job: SurveyJob, scores: pl.DataFrame, attributes: pl.DataFrame | None
) -> dict[str, pl.DataFrame]:
    """Tables that name the best model, which a baseline is not, unless there is nothing else."""
    models = scores.filter(~ef.survey.is_baseline())
    rows = models if len(models) else scores
    leaders = ef.survey.category_leaders(
        rows, by=groups_of(job), rules=job.rules, attributes=attributes
    )
    overview = ef.survey.segment_overview(rows, by=groups_of(job), rules=job.rules)
    return {"category_leaders": leaders.collect(), "segment_overview": overview.collect()}
