"""Evaluation results, read: every value in its column, and whose it is."""

import math

import polars as pl
import pytest

from compat.humanstudy_bench.file_data import DOCUMENT, TEST, read, stored
from evalframe.compat.humanstudy_bench import read_evaluation
from evalframe.core.errors import InputError, ParameterError
from evalframe.replication.contract import replication_contract


def test_every_value_of_a_test_is_in_its_column():
    row = read_evaluation(DOCUMENT, model="m", study_id="two-maps").tests.row(0, named=True)
    expected = {
        "model": "m",
        "study_id": "two-maps",
        "sub_study_id": "lamps",
        "finding_id": "F1",
        "test_id": "lit or dim",
        "domain": "Judgement",
        "test_type": "t-test",
        "test_weight": 2.0,
        "finding_weight": 3.0,
        "study_label": "Study 1",
        "test_name": "lit or dim",
        "scenario": "a queue",
        "report_human": "t(38) = 2.5, p < .05",
        "report_agent": "1.5",
        "pi_human": 0.9,
        "pi_agent": 0.5,
        "pi_plus_human": 0.75,
        "pi_minus_human": 0.125,
        "pi_zero_human": 0.125,
        "pi_plus_agent": 0.5,
        "pi_minus_agent": 0.0,
        "pi_zero_agent": 0.5,
        "pas": 0.4375,
        "pi_human_source": "a table",
        "agent_reason": "n = 40",
        "p_value_human": 0.02,
        "p_value_agent": 0.2,
        "is_significant_human": True,
        "is_significant_agent": False,
        "direction_human": 1,
        "direction_agent": -1,
        "direction_match": False,
        "significance_level": 0.05,
        "z_difference": -0.5,
        "replication_consistency": 0.617,
        "effect_size_human": 0.8,
        "effect_size_agent": 0.5,
        "effect_d_human": 0.8,
        "effect_d_agent": 0.5,
        "effect_r_human": 0.37,
        "effect_r_agent": 0.24,
        "n_eff": 40.0,
        "n1_human": 20.0,
        "n2_human": 20.0,
        "n1_agent": 21.0,
        "n2_agent": 19.0,
        "score": None,
        "stat_agent": None,
        "replicated": None,
        "file": "document 0",
    }
    assert row == expected


def test_runs_and_findings_have_what_files_say():
    found = read_evaluation(DOCUMENT, model="m", study_id="two-maps")
    run = {k: v for k, v in found.runs.row(0, named=True).items() if v is not None}
    assert run == {
        "model": "m",
        "study_id": "two-maps",
        "score": 0.4375,
        "ecs_missing_rate": 0.0,
        "n_participants": 40,
        "n_runs": 1,
        "total_prompt_tokens": 10,
        "total_tokens": 15,
        "total_cost": 0.25,
        "raw_failure_rate": 2.5,
        "raw_failed": 1,
        "raw_total": 40,
        "raw_failed_empty": 1,
        "raw_failed_refusal": 0,
        "raw_failed_other": 0,
        "final_failed": 0,
        "score_se": 0.1,
        "bootstrap_iterations": 200,
        "iterations_mean_score": 0.5,
        "n_iterations": 100,
        "aggregated_from_iterations": True,
        "n_tests": 1,
        "unread": [],
        "file": "document 0",
    }
    assert found.findings.row(0) == ("m", "two-maps", "lamps", "F1", 0.4375, 3.0, 1)


def test_tests_that_are_read_keep_the_contract():
    contract = replication_contract()
    tests = read_evaluation(DOCUMENT, model="m", study_id="s").tests
    contract.check_schema(tests.schema)
    broken = tests.select(pl.any_horizontal(r.broken for r in contract.row_rules(tests.schema)))
    assert broken.to_series().to_list() == [False]


def test_a_folder_says_model_and_study(tmp_path):
    for study, model in (("s2", "b"), ("s1", "b"), ("s1", "a")):
        stored(tmp_path / "results" / "benchmark", study, model, DOCUMENT)
    (tmp_path / "results" / "benchmark" / "s1" / "a" / "full_benchmark.json").write_text("{")
    found = read_evaluation(tmp_path)
    assert found.runs.select("study_id", "model").rows() == [("s1", "a"), ("s1", "b"), ("s2", "b")]
    assert found.tests.select("study_id", "model").rows() == [
        ("s1", "a"),
        ("s1", "b"),
        ("s2", "b"),
    ]
    glob = f"{tmp_path}/**/b/evaluation_results.json"
    assert read_evaluation(glob).runs["study_id"].to_list() == ["s1", "s2"]
    # The same file by two ways is read once.
    assert len(read_evaluation([tmp_path, glob]).runs) == 3
    given = read_evaluation(glob, model="c").runs
    assert given["model"].unique().to_list() == ["c"]


def test_the_same_model_and_study_twice_is_refused_or_told_apart(tmp_path):
    first = stored(tmp_path / "runs" / "x", "s", "m", DOCUMENT)
    second = stored(tmp_path / "runs" / "y", "s", "m", DOCUMENT)
    with pytest.raises(InputError) as refused:
        read_evaluation(tmp_path)
    assert str(refused.value) == (
        f"{first} and {second} are both of model 'm' and study 's'. Read one of them, or both, by"
        " duplicates='keep', and tell them apart by the column 'file'"
    )
    kept = read_evaluation(tmp_path, duplicates="keep")
    assert kept.tests["file"].to_list() == [str(first), str(second)]
    with pytest.raises(ParameterError, match="duplicates must be one of"):
        read_evaluation(tmp_path, duplicates="drop")


def test_a_document_can_say_whose_it_is_and_else_the_caller_must():
    said = read_evaluation(DOCUMENT | {"model": "m", "study_id": "s", "title": "Lamps"})
    assert said.runs.select("model", "study_id", "title").row(0) == ("m", "s", "Lamps")
    with pytest.raises(InputError, match=r"document 0: nothing says its study_id; give study_id="):
        read_evaluation(DOCUMENT, model="m")
    with pytest.raises(ParameterError, match="model must be a text that is not empty, but is ''"):
        read_evaluation(DOCUMENT, model="")


def test_tests_are_named_within_their_finding():
    names = ["a", "a", None, "b", "a"]
    tests = [{"finding_id": "F1", "test_name": name} for name in names]
    tests += [{"finding_id": "F2", "test_name": "a"}, {"finding_id": "F2", "test_name": ""}]
    assert read(*tests).tests["test_id"].to_list() == ["a", "a #2", "2", "b", "a #3", "a", "1"]
    clash = [{"finding_id": "F1", "test_name": name} for name in ("a", "a", "a #2")]
    assert read(*clash).tests["test_id"].to_list() == ["0", "1", "2"]


def test_weights_of_findings_reach_tests_by_sub_study_or_by_id_alone():
    tests = [
        {"sub_study_id": "x", "finding_id": "F1"},
        {"sub_study_id": "y", "finding_id": "F1"},
        {"sub_study_id": "y", "finding_id": "F2"},
        {"finding_id": "F3"},
    ]
    findings = [
        {"sub_study_id": "x", "finding_id": "F1", "finding_weight": 2.0},
        {"finding_id": "F1", "finding_weight": 3.0},
        {"finding_id": "F1", "finding_weight": 9.0},
        {"sub_study_id": "x", "finding_id": "F2", "finding_weight": 4.0},
        {"finding_id": "F3", "finding_weight": 5.0},
    ]
    found = read(*tests, finding_results=findings)
    assert found.tests["finding_weight"].to_list() == [2.0, 3.0, None, 5.0]
    assert len(found.findings) == 5


def test_the_loose_schema_of_the_hub():
    test = {
        "study_id": "study_013",
        "finding_id": "F1",
        "t_stat": 2.5,
        "p_value": 0.01,
        "significant": True,
        "direction_match": True,
        "human_p_value": 0.03,
        "replication": True,
    }
    names = [
        *("study_label", "stat_agent", "p_value_agent", "is_significant_agent"),
        *("direction_match", "p_value_human", "replicated", "pas"),
    ]
    found = read(test, test | {"p_value_agent": 0.5}, {"score": 0.25}).tests
    assert found.select(names).row(0) == ("study_013", 2.5, 0.01, True, True, 0.03, True, None)
    # The usual name of a value comes first.
    assert found["p_value_agent"].to_list() == [0.01, 0.5, None]
    assert found["score"].to_list() == [None, None, 0.25]


def test_known_studies_have_their_domain():
    found = read_evaluation({"test_results": [{}]}, model="m", study_id="study_009").tests
    assert found["domain"].to_list() == ["Strategic"]
    details = {"ecs_domain": {"Social": 0.5, "Strategic": None}}
    several = {"test_results": [{}], "ecs_corr_details": details}
    assert read_evaluation(several, model="m", study_id="s").tests["domain"].to_list() == [None]


def test_nothing_is_dropped_without_a_word():
    found = read(
        {"pas": 0.5, "mood": 1, "pi_human_3way": {"pi_plus": 1.0, "pi_odd": 0.0}},
        finding_results=[{"finding_id": "F1", "note": ""}],
        substudy_results=[{}],
        usage_stats={"cache": 1},
        timestamp="now",
    )
    assert found.runs["unread"].to_list() == [
        [
            "finding_results.note",
            "substudy_results",
            "test_results.mood",
            "test_results.pi_human_3way.pi_odd",
            "timestamp",
            "usage_stats.cache",
        ]
    ]


def test_an_evaluation_that_failed_is_a_run_without_tests():
    found = read_evaluation({"score": 0.0, "error": "no data"}, model="m", study_id="s")
    assert found.tests.is_empty()
    assert found.runs.select("error", "n_tests").row(0) == ("no data", 0)
    assert found.tests.schema == read(TEST).tests.schema


def test_missing_values_stay_missing_and_numbers_exact():
    found = read(
        {"pas": math.nan, "n_eff": 2**53 + 1, "z_diff": math.inf, "scenario": ""},
        {"pas": None, "pi_human": 0, "pi_human_3way": None},
        n_participants=40.0,
    )
    tests = found.tests
    assert tests["pas"].is_nan().to_list() == [True, None]
    assert tests["z_difference"].to_list() == [math.inf, None]
    assert tests["scenario"].to_list() == [None, None]
    assert tests["pi_human"].to_list() == [None, 0.0]
    assert found.runs["n_participants"].to_list() == [40]
