"""The tables of a survey job, and the report of the overall leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.jobs.survey.scoring import functions_of
from evalframe.report.table import numbers
from evalframe.report.wide_table import wide_table

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
"""Names of the Parquet files in an output folder."""

DISTRIBUTION = ("round", "segment_id", "question_id")
"""Columns that name a distribution."""

TAKEN = ("round", "run_id", "segment_attribute", "sample_size", "status")
"""Columns of results; a group key with such a name becomes `by_<column>`."""


def group_names(job: SurveyJob) -> list[str]:
    """Names of the group keys in results."""
    return [f"by_{name}" if name in TAKEN else name for name in job.by]


def groups_of(job: SurveyJob) -> list[pl.Expr]:
    """Group keys of a job under their names in results."""
    return [pl.col(name).alias(key) for name, key in zip(job.by, group_names(job), strict=True)]


def overall(job: SurveyJob, scores: pl.DataFrame, resample: ef.Bootstrap | None) -> pl.DataFrame:
    """The overall leaderboard, with intervals if the job resamples."""
    board: pl.DataFrame = functions_of(job.rules).leaderboard(
        scores, weighting=job.weighting, resample=resample, **_options(job)
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
        tables["pairwise"] = functions.sign_flip_test(
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


def leaderboard_report(
    overall: pl.DataFrame,
    by: Sequence[str],
    *,
    notes: Sequence[str] = (),
    markdown: bool = False,
    level: float | None = None,
    width: int | None = None,
) -> str:
    """Format the overall leaderboard as text or Markdown, with notes beneath it."""
    in_rounds = "by_round" not in by and _several_rounds(overall)
    ends = [_end(overall, end, ["round"] * in_rounds) for end in ("best", "worst")]
    table = overall.with_columns(ends).rename(
        {"lower": "score_lower", "upper": "score_upper"}, strict=False
    )
    if "tied_with_best" in table.columns:
        tied = pl.when("tied_with_best").then(pl.lit("yes")).otherwise(pl.lit(""))
        table = table.with_columns(tied.alias("tied_with_best"))
        notes = ["Tied: with the best, as far as the resamples tell.", *notes]
    shown = {name: head for name, head in _SHOWN.items() if name in table.columns}
    return wide_table(
        table,
        [*by, "rank", "model"],
        shown,
        markdown=markdown,
        level=level,
        width=width,
        notes=notes,
    )


def _end(overall: pl.DataFrame, end: str, rounds: Sequence[str]) -> pl.Series:
    """A segment with its score, and its round if there are several."""
    score = pl.Series(numbers(overall[f"{end}_score"], _DIGITS).cells, dtype=pl.String)
    names = [f"{end}_{name}" for name in (*rounds, "segment")]
    return overall.select(
        pl.concat_str(*names, pl.lit(score), separator=" ").alias(end)
    ).to_series()


def _several_rounds(overall: pl.DataFrame) -> bool:
    ends = [overall[name] for name in ("best_round", "worst_round") if name in overall.columns]
    return bool(ends) and pl.concat(ends).drop_nulls().n_unique() > 1
