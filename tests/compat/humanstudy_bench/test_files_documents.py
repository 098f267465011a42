"""Evaluation documents, tables of tests and published scores, written: by hand."""

import csv
import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from compat.humanstudy_bench.file_data import lines, results_of, table_of
from evalframe.compat.humanstudy_bench import (
    benchmark_summary,
    detailed_stats,
    evaluation_results,
    read_results,
    result_tables,
    write_detailed_stats,
    write_simple_results,
)
from evalframe.core.errors import (
    OutputError,
    ParameterError,
)


def test_detailed_stats_by_hand(tmp_path):
    tests = table_of(
        scenario=["a, b", 'say "x"', None, ""],
        report_human=["t(38) = 2.5", None, "two\nlines", None],
        stat_agent=[1.5, 0.25, 2.0, -3.14159],
        n1_agent=[20, 50, 10, 10],
        n2_agent=[20, None, 10, None],
        effect_size_human=[None, 0.12345, -0.00001, 1e6],
    )
    path = tmp_path / "detailed_stats.csv"
    write_detailed_stats(result_tables(tests), path)
    assert path.read_bytes().endswith(b"\r\n")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        *("Study_ID", "Sub_Study_ID", "Finding_ID", "Test_Name", "Scenario"),
        *("Statistical_Test_Type", "Human_Test_Statistic", "Agent_Test_Statistic", "Z_Diff"),
        *("ECS_Test", "Agent_Effect_Size", "Human_Effect_Size", "Agent_Effect_d"),
        *("Human_Effect_d", "PAS_Raw"),
    ]
    assert list(rows[0].values()) == [
        *("s2", "", "F1", "only", "a, b", "t-test", "t(38) = 2.5", "t(38) = 1.5", "", ""),
        *("", "", "0.5000", "", "0.9000"),
    ]
    column = {name: [row[name] for row in rows] for name in rows[0]}
    assert column["Agent_Test_Statistic"] == [
        *("t(38) = 1.5", "r(48) = 0.25", "t(18) = 2", "t(9) = -3.1416"),
    ]
    assert column["Z_Diff"] == ["", "0.0000", "1.0000", ""]
    assert column["ECS_Test"] == ["", "1.0000", "0.3173", "0.0000"]
    assert column["Human_Effect_Size"] == ["", "0.1235", "-0.0000", "1000000.0000"]
    assert column["Human_Effect_Size"][1:] == [f"{x:.4f}" for x in (0.12345, -0.00001, 1e6)]
    assert column["Human_Test_Statistic"][2] == "two\nlines"
    with pytest.raises(OutputError, match="1 of 1 files are there already"):
        write_detailed_stats(result_tables(tests), path)
    write_detailed_stats(result_tables(tests, numbers="original"), path, overwrite=True)
    assert "PAS_Raw" not in path.read_text()


def test_statistics_become_text_for_every_kind_of_test():
    kinds = ["anova", "chi2", "mannwhitneyu", "binomial", "t_test", "odd", "f-test"]
    tests = pl.DataFrame(
        {
            "model": "m",
            "study_id": "s",
            "finding_id": "F1",
            "test_id": kinds,
            "test_type": kinds,
            "stat_human": [3.5, 5.25, 130.0, None, 2.0, 1.0, None],
            "df1_human": [2, 1, None, None, None, None, 1],
            "df2_human": [57, None, None, None, None, None, 38],
            "k_human": [None, None, None, 15, None, None, None],
            "n1_human": [None, None, 20, 20, 10, None, None],
            "n2_human": [None, None, 20, None, 10, None, None],
            "independent_human": [None, None, None, None, False, None, None],
        }
    )
    assert detailed_stats(result_tables(tests))["Human_Test_Statistic"].to_list() == [
        *("F(2, 57) = 3.5", "chi2(1) = 5.25", "U = 130", "k = 15", "t(9) = 2", None, None),
    ]


def test_evaluation_results_by_hand():
    documents = evaluation_results(results_of())
    assert list(documents) == [("m", "s1"), ("m", "s2")]
    document = documents["m", "s1"]
    assert list(document) == [
        *("score", "substudy_results", "finding_results", "test_results", "ecs_corr"),
        *("ecs_corr_details", "ecs_corr_study", "n_participants", "usage_stats", "failure_rates"),
        *("score_se", "bootstrap_iterations", "pooling"),
    ]
    assert document["finding_results"][1] == {
        "sub_study_id": "x",
        "finding_id": "F10",
        "finding_score": pytest.approx(0.7),
        "finding_weight": 1.0,
        "n_tests": 1,
    }
    assert document["test_results"][0] == {
        "study_id": "s1",
        "sub_study_id": "x",
        "finding_id": "F10",
        "test_name": "third",
        "statistical_test_type": "correlation",
        "pas": 0.7,
        "test_weight": 1.0,
        "p_value_agent": 0.04,
        "direction_match": True,
        "z_diff": 0.0,
        "replication_consistency": 1.0,
        "human_effect_d": 2.0,
        "agent_effect_d": 3.0,
    }
    assert "z_diff" not in document["test_results"][2]
    details = document["ecs_corr_details"]
    assert details["n_tests_per_study"] == {"s1": 3}
    assert details["ecs_per_study"] == {"s1": document["ecs_corr"]}
    assert details["ecs_missing_rate"] == 0.0
    assert document["usage_stats"] == {
        "total_prompt_tokens": 100,
        "total_tokens": 150,
        "total_cost": 0.25,
    }
    assert documents["m", "s2"]["ecs_corr"] is None
    assert documents["m", "s2"]["ecs_corr_details"]["n_tests_per_study"] == {}
    assert documents["m", "s2"]["ecs_corr_details"]["ecs_per_study"] == {"s2": None}


def test_labels_stand_for_studies_by_the_rules_of_the_original():
    label = ["Study 1", "Study 2", "Study 1", "Study 1"]
    tests = table_of(study_label=label, domain=["Social"] * 4)
    original = evaluation_results(result_tables(tests, numbers="original"))["m", "s1"]
    assert original["ecs_corr_details"]["n_tests_per_study"] == {"Study 1": 2, "Study 2": 1}
    assert original["ecs_corr_details"]["ecs_per_study"] == {"Study 1": None, "Study 2": None}
    # It knows its domains by other names of studies, and has no effects of the label without any.
    nothing = dict.fromkeys(["Cognition", "Social", "Strategic"])
    assert original["ecs_corr_details"]["ecs_domain"] == nothing
    alone = evaluation_results(result_tables(tests, numbers="original"))["m", "s2"]
    assert alone["ecs_corr_details"]["n_tests_per_study"] == {}
    assert alone["ecs_corr_details"]["ecs_per_study"] == {"Study 1": None}
    # Labels weigh alike, so that "Study 2" has half of all weight: weights 1, 1/2, 1/2 of x, x + 1.
    # Means 5/4 and 9/4; squares 1 * 9/16 + 1/2 * 25/16 + 1/2 * 1/16 = 11/8; 2 * 11/8 / (11/4 + 1).
    assert original["ecs_corr"] == pytest.approx(11 / 15)
    ours = evaluation_results(result_tables(tests))["m", "s1"]
    assert ours["ecs_corr_details"]["n_tests_per_study"] == {"s1": 3}
    assert ours["test_results"][0]["study_id"] == "Study 2"


def test_simple_files_by_hand(tmp_path):
    files = write_simple_results(results_of(), tmp_path)
    assert [path.name for path in files] == [
        "simple_findings.csv",
        "simple_results.json",
        "simple_studies.csv",
    ]
    assert lines(tmp_path / "simple_findings.csv") == [
        "config,study_id,finding_idx,sub_study_id,finding_id,finding_score,n_tests",
        "m,s1,0,x,F2,0.500000,2",
        "m,s1,1,x,F10,0.700000,1",
        "m,s2,0,,F1,0.900000,1",
    ]
    assert lines(tmp_path / "simple_studies.csv") == [
        "config,study_id,title,pas_raw,ecs,total_tokens,total_cost",
        "m,s1,One; two; and a very long title that goes on; and on,0.6000,0.5789,150,0.2500",
        "m,s2,N/A,0.9000,,10,",
        "m,s3,No tests,,,,",
    ]
    document = json.loads((tmp_path / "simple_results.json").read_text())
    assert document["metadata"] == {
        "format": "simple_results",
        "pooling": {
            "rules": "documented",
            "finding_rule": "fisher_z",
            "study_rule": "mean",
            "finding_key": "composite",
        },
    }
    config = document["configs"]["m"]
    assert list(config) == ["pas_raw", "ecs", "total_tokens", "total_cost", "studies", "findings"]
    assert config["studies"][0]["title"].startswith("One, two")
    assert config["findings"][2] == {
        "study_id": "s2",
        "finding_idx": 0,
        "sub_study_id": "",
        "finding_id": "F1",
        "finding_score": 0.9,
        "n_tests": 1,
    }


def test_published_scores_written_and_read_give_the_same(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir(), second.mkdir()
    results = results_of()
    write_simple_results(results, first)
    found = read_results(first)
    for name in ("models", "studies", "findings"):
        table = getattr(found, name)
        expected = getattr(results, name).select(table.columns)
        assert_frame_equal(table, expected)
    write_simple_results(found, second)
    for name in ("simple_studies.csv", "simple_findings.csv"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    with pytest.raises(ParameterError, match="scores without tests; make them from tests by"):
        benchmark_summary(found)
    with pytest.raises(ParameterError, match="scores without tests"):
        evaluation_results(found)


def test_studies_of_the_original_have_domains_by_its_rules():
    effects = {"effect_d_human": [0.5, 2.0, 0.0, 1.0], "study_id": ["study_009"] * 4}
    tests = table_of(domain=["Social"] * 4, **effects)
    told = evaluation_results(result_tables(tests, numbers="original"))["m", "study_009"]
    details = told["ecs_corr_details"]
    domains = dict(details["ecs_domain"])
    assert domains.pop("Strategic") == pytest.approx(told["ecs_corr"], rel=1e-12)
    assert domains == {"Cognition": None, "Social": None}
    assert told["ecs_corr"] is not None
