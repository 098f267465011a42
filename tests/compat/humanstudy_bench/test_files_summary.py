"""The summary of all models, by hand."""

import polars as pl
import pytest

from compat.humanstudy_bench.file_data import RUNS, lines, results_of, table_of
from evalframe.compat.humanstudy_bench import (
    benchmark_summary,
    result_tables,
    write_benchmark_summary,
)


def test_the_summary_by_hand(tmp_path):
    tests = table_of(domain=["Judgement", "Belonging", "Belonging", "Belonging"])
    results = result_tables(tests, runs=RUNS)
    summary = benchmark_summary(results, created_at="2026-01-30T00:00:00")
    assert list(summary["metadata"]) == ["generated_at", "version", "format", "pooling"]
    model = summary["models"]["m"]
    assert list(model["summary"]) == [
        *("average_pas_raw", "pas_domain", "ecs_overall", "average_ecs", "ecs_per_study"),
        *("ecs_domain", "caricature_overall", "ecs_missing_rate_overall", "ecs_n_tests_total"),
        *("ecs_n_tests_valid", "total_usage"),
    ]
    assert model["summary"]["average_pas_raw"] == pytest.approx(0.75)
    assert model["summary"]["pas_domain"] == pytest.approx({"Belonging": 0.6, "Judgement": 0.9})
    assert model["summary"]["ecs_domain"]["Judgement"] is None
    assert model["summary"]["ecs_per_study"] == {"s1": pytest.approx(11 / 19), "s2": None}
    assert model["summary"]["total_usage"]["total_tokens"] == 160
    study = model["studies"][0]
    assert list(study) == [
        *("study_id", "title", "pas_raw", "ecs_corr", "usage", "failure_rates", "n_participants"),
    ]
    assert study["failure_rates"] == {"raw_failure_rate": 2.5, "raw_failed": 1}
    assert [each["n_participants"] for each in model["studies"]] == [40, 20, 0]
    write_benchmark_summary(results, tmp_path)
    header = "model,study_id,title,ecs_corr,status,n_participants,test_count,total_tokens"
    title = "One; two; and a very long title that goes on; and on"[:50]
    assert lines(tmp_path / "benchmark_summary.csv") == [
        f"{header},total_cost,pas_raw",
        f"m,s1,{title},0.5789,pass,40,3,150,0.2500,0.6000",
        "m,s2,N/A,,fail,20,1,10,,0.9000",
        "m,s3,No tests,,fail,0,0,,,",
    ]


def test_the_summary_of_the_original_has_no_pas(tmp_path):
    results = results_of(numbers="original")
    summary = benchmark_summary(results)["models"]["m"]
    assert not {"average_pas_raw", "pas_domain"} & {*summary["summary"]}
    assert "pas_raw" not in summary["studies"][0]
    assert summary["summary"]["ecs_domain"] == dict.fromkeys(["Cognition", "Social", "Strategic"])
    assert summary["summary"]["total_usage"] == {
        "input_tokens": 100,
        "output_tokens": 0,
        "total_tokens": 160,
        "total_cost": 0.25,
    }
    write_benchmark_summary(results, tmp_path)
    assert lines(tmp_path / "benchmark_summary.csv")[0].endswith(",total_tokens,total_cost")


def test_the_legacy_summary_by_hand():
    summary = benchmark_summary(results_of(), version="legacy")["models"]["m"]
    told = summary["summary"]
    assert list(told) == [
        *("total_studies", "positive_studies", "pass_rate", "average_pas_raw", "average_pas"),
        *("pas_agg", "pas_agg_se", "pas_mean_chain", "ecs_overall", "ecs_per_study"),
        *("average_ecs", "ecs_corr_overall", "ecs_corr_per_study", "ecs_missing_rate_overall"),
        *("ecs_n_tests_total", "ecs_n_tests_valid", "ecs_strict_overall", "caricature_overall"),
        *("average_consistency_score", "statistical_replication", "total_usage"),
    ]
    assert (told["total_studies"], told["positive_studies"]) == (3, 2)
    assert told["pass_rate"] == pytest.approx(2 / 3)
    assert told["average_pas_raw"] == told["average_pas"] == pytest.approx(0.75)
    # Weights 100 and 25.
    assert told["pas_agg"] == pytest.approx(0.66)
    assert told["pas_agg_se"] == pytest.approx(125**-0.5)
    # Plain means of tests and findings: (0.5 + 0.7) / 2 and 0.9.
    assert told["pas_mean_chain"] == pytest.approx(0.75)
    assert told["ecs_corr_overall"] == pytest.approx(1.0)
    # s1: F2 has one of its weights 3 and 1 without, F10 one of one; s2: one of one.
    assert told["statistical_replication"] == {
        "average_score": pytest.approx(0.75),
        "pass_rate": pytest.approx(2 / 3),
        "passed_studies": 2,
        "total_studies": 3,
    }
    study = summary["studies"][0]
    assert list(study) == [
        *("study_id", "title", "pas", "statistical_replication", "participants", "usage"),
        *("findings", "tests"),
    ]
    assert study["pas"] == {
        "normalized": pytest.approx(0.2),
        "normalized_se": None,
        "raw": pytest.approx(0.6),
        "raw_se": 0.1,
        "status": "pass",
        "se_method": "bootstrap",
    }
    replication = study["statistical_replication"]
    assert (replication["passed_tests"], replication["total_tests"]) == (1, 3)
    assert replication["ecs_corr_study"] == pytest.approx(11 / 19)
    assert told["ecs_per_study"] == {"s1": pytest.approx(11 / 19), "s2": None}
    assert told["ecs_corr_per_study"] == {"s1": pytest.approx(1.0), "s2": None}
    assert (replication["score"], replication["status"]) == (0.5, "pass")
    assert study["findings"][0]["finding_id"] == "F2"
    assert "sub_study_id" not in study["findings"][0]
    assert study["tests"][0]["test_name"] == "third"
    assert [each["pas"]["se_method"] for each in summary["studies"]] == [
        *("bootstrap", "stored", "none"),
    ]
    assert summary["studies"][2]["pas"]["status"] == "fail"


@pytest.mark.parametrize(
    ("seconds", "tokens", "missing"),
    [(10.5, None, True), (10.5, 0, True), (10.5, 1, False), (10.0, 0, False), (None, 0, False)],
)
def test_usage_that_was_lost(seconds, tokens, missing):
    row = {"model": "m", "study_id": "s1", "elapsed_time": seconds, "total_tokens": tokens}
    runs = pl.DataFrame([row], schema_overrides={"elapsed_time": pl.Float64})
    for numbers in ("sound", "original"):
        results = result_tables(table_of(), runs=runs, numbers=numbers)
        studies = benchmark_summary(results, version="legacy")["models"]["m"]["studies"]
        assert [study["usage"]["missing_data"] for study in studies] == [missing, False]


def test_the_legacy_summary_by_the_rules_of_the_original():
    results = results_of(numbers="original")
    told = benchmark_summary(results, version="legacy")["models"]["m"]["summary"]
    pas = results.studies["pas"].drop_nulls()
    assert told["average_pas_raw"] == pytest.approx((2 * pas - 1).mean())
