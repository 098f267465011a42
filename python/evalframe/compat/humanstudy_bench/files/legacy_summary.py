"""The summary of all models in earlier versions of the program."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl

from evalframe.compat.humanstudy_bench.files.completed import STUDY
from evalframe.compat.humanstudy_bench.files.documents import Row, by_run, finite, nested
from evalframe.compat.humanstudy_bench.files.evaluation_files import with_ecs_corr
from evalframe.compat.humanstudy_bench.files.fields import FINDINGS, STATISTICS, TESTS
from evalframe.compat.humanstudy_bench.files.results import (
    TOTALS,
    UNTITLED,
    Pooling,
    Results,
    scores_by,
    tests_and_pooling,
)
from evalframe.compat.humanstudy_bench.strict import StrictLevel, sound_strict_ecs, strict_ecs

_USAGE = dict(
    zip(("input_tokens", "output_tokens", "total_tokens", "total_cost"), TOTALS, strict=True)
)
_OF_TEST = (
    "test_name",
    "finding_id",
    "pi_human",
    "pi_agent",
    "pas",
    "test_weight",
    "p_value_human",
    "p_value_agent",
    "is_significant_human",
    "is_significant_agent",
    "direction_match",
    "replication_consistency",
    "significance_level",
)
_NO_TIME = 10.0
"""Seconds; a longer run without tokens has lost its usage."""

_TEST_FIELDS = tuple(field for field in TESTS if field.column in _OF_TEST)
_FINDING_FIELDS = tuple(field for field in FINDINGS if field.column != "sub_study_id")


def legacy_models(results: Results) -> dict[str, Row]:
    """By model its `summary` and its `studies`, with findings and tests.

    Standard errors are those of repeated runs, else what runs have in `score_se`, by a bootstrap if
    they say its iterations.
    """
    tests, pooling = tests_and_pooling(results)
    rows = tests.with_columns(
        pl.coalesce(
            "replicated", scores_by(pooling).replicated(significance_level="significance_level")
        )
    )
    studies = _studies(results, rows, pooling)
    findings_of = by_run(
        results.findings.with_columns(pl.col("finding_weight").fill_null(1.0), finding_score="pas")
    )
    tests_of = by_run(tests)
    rows_of: defaultdict[str, list[Row]] = defaultdict(list)
    documents: defaultdict[str, list[Row]] = defaultdict(list)
    for run, (row,) in by_run(studies).items():
        document = _study(row)
        document["findings"] = [nested(finding, _FINDING_FIELDS) for finding in findings_of[run]]
        document["tests"] = [nested(test, _TEST_FIELDS) for test in tests_of[run]]
        rows_of[row["model"]].append(row)
        documents[row["model"]].append(document | nested(row, STATISTICS))
    models = finite(_models(results, rows, studies, pooling)).iter_rows(named=True)
    return {
        row["model"]: {
            "summary": _summary(row, rows_of[row["model"]]),
            "studies": documents[row["model"]],
        }
        for row in models
    }


def _strict_ecs(tests: pl.DataFrame, level: StrictLevel, pooling: Pooling) -> pl.LazyFrame:
    """Strict ECS of the tests of results."""
    key = pooling.finding_key
    if pooling.is_original:
        return strict_ecs(tests.lazy(), level, finding_key=key)
    return sound_strict_ecs(tests, level, key)


def total_usage(row: Row) -> Row:
    """Tokens and cost of a model or study."""
    return {name: row[column] for name, column in _USAGE.items()}


def _studies(results: Results, tests: pl.DataFrame, pooling: Pooling) -> pl.DataFrame:
    """The studies with their standard errors, strict ECS and replication rates."""
    key = pooling.finding_key
    strict = _strict_ecs(tests, "study", pooling)
    rates = scores_by(pooling).replication_rates(
        tests.lazy(),
        "study",
        test_weight="test_weight",
        finding_weight="finding_weight",
        finding_key=key,
    )
    passed = tests.lazy().group_by(STUDY).agg(pl.col("replicated").sum().alias("passed_tests"))
    bootstrapped = pl.col("score_se").is_not_null() & (pl.col("bootstrap_iterations") > 0)
    method = (
        pl.when(pl.col("score_repeat_se").is_not_null())
        .then(pl.lit("repeat"))
        .when(bootstrapped)
        .then(pl.lit("bootstrap"))
        .when(pl.col("score_se").is_not_null())
        .then(pl.lit("stored"))
        .otherwise(pl.lit("none"))
    )
    return (
        with_ecs_corr(results)
        .lazy()
        .join(strict.select(*STUDY, "ecs_strict"), on=STUDY, how="left")
        .join(
            rates.select(*STUDY, "replication_rate", "passes", known_tests="n_tests"),
            on=STUDY,
            how="left",
        )
        .join(passed, on=STUDY, how="left")
        .with_columns(
            method.alias("se_method"),
            (2.0 * pl.col("pas") - 1.0).alias("normalised"),
            pl.coalesce("score_repeat_se", "score_se").alias("raw_se"),
            pl.coalesce("normalized_score_repeat_se", "normalized_score_se").alias("normalised_se"),
            pl.col("passes").fill_null(value=False),
            pl.col("passed_tests", "known_tests").fill_null(0),
        )
        .sort(STUDY)
        .collect()
    )


def _models(
    results: Results, tests: pl.DataFrame, studies: pl.DataFrame, pooling: Pooling
) -> pl.DataFrame:
    """The models with scores pooled over their studies."""
    key = pooling.finding_key
    strict = _strict_ecs(tests, "overall", pooling)
    chain = scores_by(pooling).model_scores(
        tests.lazy(), finding_rule="mean", study_rule="mean", finding_key=key
    )
    pooled = scores_by(pooling).inverse_variance_pas("pas", "raw_se").struct
    counted = (
        studies.lazy()
        .group_by("model")
        .agg(
            pl.len().cast(pl.Int64).alias("total_studies"),
            (pl.col("normalised") > 0).sum().cast(pl.Int64).alias("positive_studies"),
            pl.col("normalised").mean(),
            pooled.field("pas").alias("pas_agg"),
            pooled.field("std_error").alias("pas_agg_se"),
            pl.col("replication_rate").mean(),
            pl.col("passes").sum().cast(pl.Int64).alias("passed_studies"),
        )
    )
    average = pl.col("normalised" if pooling.is_original else "pas").alias("average_pas_raw")
    return (
        results.models.lazy()
        .join(counted, on="model")
        .join(strict.select("model", "ecs_strict"), on="model", how="left")
        .join(chain.select("model", pas_mean_chain="pas"), on="model", how="left")
        .with_columns(average)
        .sort("model")
        .collect()
    )


def _summary(row: Row, studies: list[Row]) -> Row:
    total, known = row["total_studies"], [study for study in studies if study["n_tests"]]
    return {
        "total_studies": total,
        "positive_studies": row["positive_studies"],
        "pass_rate": row["positive_studies"] / total,
        "average_pas_raw": row["average_pas_raw"],
        "average_pas": row["average_pas_raw"],
        "pas_agg": row["pas_agg"],
        "pas_agg_se": row["pas_agg_se"],
        "pas_mean_chain": row["pas_mean_chain"],
        "ecs_overall": row["ecs"],
        "ecs_per_study": {study["study_id"]: study["ecs"] for study in known},
        "average_ecs": row["ecs"],
        "ecs_corr_overall": row["pearson"],
        "ecs_corr_per_study": {study["study_id"]: study["pearson"] for study in known},
        "ecs_missing_rate_overall": row["missing_rate"],
        "ecs_n_tests_total": row["n_tests"],
        "ecs_n_tests_valid": row["n_effects"],
        "ecs_strict_overall": row["ecs_strict"],
        "caricature_overall": {"a": row["slope"], "b": row["intercept"]},
        "average_consistency_score": row["ecs_strict"],
        "statistical_replication": {
            "average_score": row["replication_rate"],
            "pass_rate": row["passed_studies"] / total,
            "passed_studies": row["passed_studies"],
            "total_studies": total,
        },
        "total_usage": total_usage(row),
    }


def _study(row: Row) -> dict[str, Any]:
    positive = row["normalised"] is not None and row["normalised"] > 0
    return {
        "study_id": row["study_id"],
        "title": row["title"] or UNTITLED,
        "pas": {
            "normalized": row["normalised"],
            "normalized_se": row["normalised_se"],
            "raw": row["pas"],
            "raw_se": row["raw_se"],
            "status": _status(passed=positive),
            "se_method": row["se_method"],
        },
        "statistical_replication": {
            "score": row["replication_rate"],
            "pass_rate": row["replication_rate"],
            "average_ecs": row["ecs_corr"],
            "ecs_corr_study": row["ecs_corr"],
            "ecs_strict_study": row["ecs_strict"],
            "replication_consistency": row["ecs_strict"],
            "passed_tests": row["passed_tests"],
            "total_tests": row["known_tests"],
            "status": _status(passed=row["passes"]),
        },
        "participants": {"count": row["n_participants"] or 0},
        "usage": total_usage(row)
        | {name: row[name] for name in ("avg_tokens_per_participant", "avg_cost_per_participant")}
        | {"missing_data": (row["elapsed_time"] or 0.0) > _NO_TIME and not row["total_tokens"]},
    }


def _status(*, passed: bool) -> str:
    return "pass" if passed else "fail"
