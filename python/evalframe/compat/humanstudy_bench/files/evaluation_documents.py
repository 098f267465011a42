"""Evaluation results as the original writes them: a document for each model and study."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.compat.humanstudy_bench.files.fields import FINDINGS, GIVEN_OF_RUNS, TESTS
from evalframe.compat.humanstudy_bench.files.tables import scores_by, tests_and_pooling
from evalframe.compat.humanstudy_bench.files.writing import by_run, nested
from evalframe.replication.agreement.studies import DOMAINS, domain

if TYPE_CHECKING:
    from evalframe.compat.humanstudy_bench.files.tables import Pooling, Results
    from evalframe.compat.humanstudy_bench.files.writing import Row, Run

_RUN = ":run"
_BY = ["model", _RUN]


def evaluation_results(results: Results) -> dict[Run, dict[str, Any]]:
    """The content of `evaluation_results.json` of each model and study that has tests.

    As the original writes it, key for key; what is null, NaN or infinite is left out, but for the
    scores. `ecs_corr` is the ECS of the study's tests by two-level weights. By the original's rules
    labels of tests ("Study 1") stand for studies in it and in `ecs_corr_details`, as they do there,
    so that `ecs_domain` is null for each of its domains: it knows them by other names of studies.
    A key of our own, `pooling`, says how `score` and `finding_score` were pooled.

    Args:
        results: As `result_tables` gives them.

    Returns:
        Documents by model and study, sorted.

    Raises:
        ParameterError: The results were not made from tests.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluation results.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import evaluation_results, result_tables
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> documents = evaluation_results(result_tables(pl.DataFrame([test])))
        >>> documents["m", "s"]["finding_results"]
        [{'finding_id': 'F1', 'finding_score': 0.8, 'finding_weight': 1.0, 'n_tests': 1}]
    """
    tests, pooling = tests_and_pooling(results)
    findings = results.findings.with_columns(
        pl.col("finding_weight").fill_null(1.0), finding_score="pas"
    )
    tests = tests.with_columns(pl.coalesce("study_label", "study_id").alias("study_label"))
    head, tests_of = by_run(results.studies), by_run(tests)
    findings_of, effects = by_run(findings), _effects(tests, pooling)
    return {
        run: {
            "score": head[run][0]["pas"],
            "substudy_results": [],
            "finding_results": [nested(row, FINDINGS) for row in findings_of[run]],
            "test_results": [nested(row, TESTS) for row in rows],
            **effects[run],
            **nested(head[run][0], GIVEN_OF_RUNS),
            "pooling": asdict(pooling),
        }
        for run, rows in sorted(tests_of.items())
    }


def with_ecs_corr(results: Results) -> pl.DataFrame:
    """The studies with `ecs_corr`, the ECS that their documents state. Sorted."""
    stated = _ecs_of_runs(*tests_and_pooling(results)).select("model", "study_id", ecs_corr="ecs")
    return results.studies.join(stated, on=["model", "study_id"], how="left").sort(
        "model", "study_id"
    )


def _ecs_of_runs(tests: pl.DataFrame, pooling: Pooling) -> pl.DataFrame:
    """The ECS of the tests of each model and study by two-level weights, as `ecs` gives it."""
    key, rules = pooling.finding_key, pooling.rules
    made: pl.LazyFrame = scores_by(rules).ecs(_within_runs(tests, pooling), by=_BY, finding_key=key)
    return made.rename({_RUN: "study_id"}).collect()


def _within_runs(tests: pl.DataFrame, pooling: Pooling) -> pl.DataFrame:
    """The tests with their study in `_RUN`, and in `study_id` what documents take for studies."""
    inner = "study_label" if pooling.rules == "reference" else "study_id"
    run = pl.col("study_id").alias(_RUN)
    return tests.with_columns(run, pl.coalesce(inner, "study_id").alias("study_id"))


def _effects(tests: pl.DataFrame, pooling: Pooling) -> dict[Run, Row]:
    """What documents say of the concordance of effects."""
    rows = _within_runs(tests, pooling)
    key, rules = pooling.finding_key, pooling.rules
    every: Row = {}
    if rules == "reference":
        rows, every = rows.with_columns(domain()), dict.fromkeys(DOMAINS.values())
    known = rows.filter(pl.col("domain").is_not_null())
    by_study = scores_by(rules).ecs(rows, "study", by=_BY, finding_key=key)
    studies = by_run(by_study.collect(), _RUN)
    by_domain = scores_by(rules).ecs(known, "domain", by=_BY, finding_key=key)
    domains = by_run(by_domain.collect(), _RUN)
    return {
        run: {
            "ecs_corr": row["ecs"],
            "ecs_corr_details": {
                "n_tests_overall": row["n_tests"],
                "n_tests_per_study": {
                    each["study_id"]: each["n_tests"] for each in studies[run] if each["n_tests"]
                },
                "ecs_per_study": {each["study_id"]: each["ecs"] for each in studies[run]},
                "ecs_domain": every | {each["domain"]: each["ecs"] for each in domains[run]},
                "caricature_overall": {"a": row["slope"], "b": row["intercept"]},
                "ecs_missing_rate": row["missing_rate"],
            },
            "ecs_corr_study": row["ecs"],
        }
        for run, (row,) in by_run(_ecs_of_runs(tests, pooling)).items()
    }
