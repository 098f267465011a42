"""Files of each model and study: `evaluation_results.json` and `detailed_stats.csv`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.compat.humanstudy_bench.files.documents import (
    Row,
    Run,
    by_run,
    csv_text,
    nested,
    write_texts,
)
from evalframe.compat.humanstudy_bench.files.fields import FINDINGS, GIVEN_OF_RUNS, TESTS
from evalframe.compat.humanstudy_bench.files.results import (
    Pooling,
    Results,
    scores_by,
    tests_and_pooling,
)
from evalframe.replication.agreement.studies import DOMAINS, domain

_RUN = ":run"
_BY = ["model", _RUN]


def evaluation_results(results: Results) -> dict[Run, dict[str, Any]]:
    """The content of `evaluation_results.json` of each model and study that has tests.

    As the original writes it, key for key; what is null, NaN or infinite is left out, but for the
    scores. `ecs_corr` is the ECS of the study's tests by two-level weights. With original numbers
    labels of tests ("Study 1") stand for studies in it and in `ecs_corr_details`, as they do there,
    so that `ecs_domain` is null for each of its domains: it knows them by other names of studies.
    A key of our own, `pooling`, says how `score` and `finding_score` were pooled.

    Args:
        results: As returned by `result_tables`.

    Returns:
        Documents by model and study, sorted.

    Raises:
        ParameterError: `results` has scores but no tests; make it with `result_tables`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import evaluation_results, result_tables
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> documents = evaluation_results(result_tables(pl.DataFrame([test])))
        >>> documents["m", "s"]["score"]
        0.8
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
    """The studies with `ecs_corr`, the ECS in their documents. Sorted."""
    stated = _ecs_of_runs(*tests_and_pooling(results)).select("model", "study_id", ecs_corr="ecs")
    return results.studies.join(stated, on=["model", "study_id"], how="left").sort(
        "model", "study_id"
    )


def _ecs_of_runs(tests: pl.DataFrame, pooling: Pooling) -> pl.DataFrame:
    """The ECS of the tests of each model and study by two-level weights, as `ecs` gives it."""
    key = pooling.finding_key
    effects: pl.DataFrame = scores_by(pooling).ecs(
        _within_runs(tests, pooling), by=_BY, finding_key=key
    )
    return effects.rename({_RUN: "study_id"})


def _within_runs(tests: pl.DataFrame, pooling: Pooling) -> pl.DataFrame:
    """The tests with their study in `_RUN`, and in `study_id` the studies within a document."""
    inner = "study_label" if pooling.is_original else "study_id"
    run = pl.col("study_id").alias(_RUN)
    return tests.with_columns(run, pl.coalesce(inner, "study_id").alias("study_id"))


def _effects(tests: pl.DataFrame, pooling: Pooling) -> dict[Run, Row]:
    """The fields of documents on the concordance of effects."""
    rows = _within_runs(tests, pooling)
    key = pooling.finding_key
    every: Row = {}
    if pooling.is_original:
        rows, every = rows.with_columns(domain()), dict.fromkeys(DOMAINS.values())
    known = rows.filter(pl.col("domain").is_not_null())
    by_study = scores_by(pooling).ecs(rows, "study", by=_BY, finding_key=key)
    studies = by_run(by_study, _RUN)
    by_domain = scores_by(pooling).ecs(known, "domain", by=_BY, finding_key=key)
    domains = by_run(by_domain, _RUN)
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


LINE_END = "\r\n"

_COLUMNS = {
    "Study_ID": "study_id",
    "Sub_Study_ID": "sub_study_id",
    "Finding_ID": "finding_id",
    "Test_Name": "test_name",
    "Scenario": "scenario",
    "Statistical_Test_Type": "test_type",
    "Human_Test_Statistic": "report_human",
    "Agent_Test_Statistic": "report_agent",
    "Z_Diff": "z_difference",
    "ECS_Test": "replication_consistency",
    "Agent_Effect_Size": "effect_size_agent",
    "Human_Effect_Size": "effect_size_human",
    "Agent_Effect_d": "effect_d_agent",
    "Human_Effect_d": "effect_d_human",
}
_PROMISED = {"PAS_Raw": "pas"}
"""Columns that the documentation of the program lists and its code does not write."""


def detailed_stats(results: Results) -> pl.DataFrame:
    """The tests under the names of `detailed_stats.csv`.

    Args:
        results: As returned by `result_tables`.

    Returns:
        `Study_ID`, `Sub_Study_ID`, `Finding_ID`, `Test_Name`, `Scenario`, `Statistical_Test_Type`,
        `Human_Test_Statistic`, `Agent_Test_Statistic` (texts), `Z_Diff`, `ECS_Test` (the test's
        consistency), `Agent_Effect_Size`, `Human_Effect_Size`, `Agent_Effect_d`, `Human_Effect_d`,
        and with sound numbers `PAS_Raw` (Float64), in the order of the tests; not their models.

    Raises:
        ParameterError: `results` has scores but no tests; make it with `result_tables`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import detailed_stats, result_tables
        >>> tests = pl.DataFrame({"model": ["m"], "study_id": ["s"], "finding_id": ["F1"]})
        >>> detailed_stats(result_tables(tests.with_columns(pas=0.8)))[0, "PAS_Raw"]
        0.8
    """
    tests, pooling = tests_and_pooling(results)
    return stats_of(tests, pooling)


def stats_of(tests: pl.DataFrame, pooling: Pooling) -> pl.DataFrame:
    """The tests under the names of `detailed_stats.csv`."""
    columns = _COLUMNS if pooling.is_original else _COLUMNS | _PROMISED
    return tests.select(pl.col(column).alias(name) for name, column in columns.items())


def write_detailed_stats(results: Results, path: str | Path, *, overwrite: bool = False) -> None:
    """Write tests as `detailed_stats.csv`: numbers with 4 decimals, empty for null.

    Args:
        results: Those of one model and study, as returned by `result_tables`.
        path: The file.
        overwrite: True to replace an existing file.

    Raises:
        OutputError: The file exists, or cannot be written.
        ParameterError: `results` has scores but no tests; make it with `result_tables`.

    Examples:
        >>> from pathlib import Path
        >>> import tempfile
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables, write_detailed_stats
        >>> tests = pl.DataFrame({"model": ["m"], "study_id": ["s"], "finding_id": ["F1"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "detailed_stats.csv")
        ...     write_detailed_stats(result_tables(tests.with_columns(pas=0.8)), path)
        ...     print(path.read_text().splitlines()[1])
        s,,F1,,,,,,,,,,,,0.8000
    """
    text = csv_text(detailed_stats(results), line_end=LINE_END)
    write_texts({Path(path): text}, overwrite=overwrite)
