"""A document of the original, its values invented, and what stores and reads such documents."""

import json
import math

import polars as pl

from evalframe.compat.humanstudy_bench import read_evaluation, result_tables

TEST = {
    "study_id": "Study 1",
    "sub_study_id": "lamps",
    "finding_id": "F1",
    "test_name": "lit or dim",
    "scenario": "a queue",
    "statistical_test_type": "t-test",
    "human_test_statistic": "t(38) = 2.5, p < .05",
    "agent_test_statistic": 1.5,
    "pi_human": 0.9,
    "pi_agent": 0.5,
    "pi_human_3way": {"pi_plus": 0.75, "pi_minus": 0.125, "pi_zero": 0.125},
    "pi_agent_3way": {"pi_plus": 0.5, "pi_minus": 0, "pi_zero": 0.5},
    "pas": 0.4375,
    "test_weight": 2,
    "pi_human_source": "a table",
    "agent_reason": "n = 40",
    "p_value_human": 0.02,
    "p_value_agent": 0.2,
    "is_significant_human": True,
    "is_significant_agent": False,
    "human_direction": 1,
    "agent_direction": -1,
    "direction_match": False,
    "significance_level": 0.05,
    "z_diff": -0.5,
    "replication_consistency": 0.617,
    "human_effect_size": 0.8,
    "agent_effect_size": 0.5,
    "human_effect_d": 0.8,
    "agent_effect_d": 0.5,
    "human_effect_r": 0.37,
    "agent_effect_r": 0.24,
    "n_eff": 40,
    "n_human_extracted": 20,
    "n2_human_extracted": 20,
    "n_agent_extracted": 21,
    "n2_agent_extracted": 19,
}
DOCUMENT = {
    "score": 0.4375,
    "substudy_results": [],
    "finding_results": [
        {
            "sub_study_id": "lamps",
            "finding_id": "F1",
            "finding_score": 0.4375,
            "finding_weight": 3.0,
            "n_tests": 1,
        }
    ],
    "test_results": [TEST],
    "ecs_corr": None,
    "ecs_corr_details": {"ecs_missing_rate": 0.0, "ecs_domain": {"Judgement": None}},
    "n_participants": 40,
    "n_runs": 1,
    "usage_stats": {"total_prompt_tokens": 10, "total_tokens": 15, "total_cost": 0.25},
    "failure_rates": {
        "raw_failure_rate": 2.5,
        "raw_failed": 1,
        "raw_total": 40,
        "raw_failure_breakdown": {"empty": 1, "refusal": 0, "other": 0},
        "final_failed": 0,
    },
    "score_se": 0.1,
    "bootstrap_iterations": 200,
    "_statistics": {"mean_score": 0.5, "n_iterations": 100, "aggregated_from_iterations": True},
}


def stored(folder, study, model, document):
    path = folder / study / model / "evaluation_results.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    path.write_bytes(text)
    return path


def read(*tests, **changes):
    """Decoded documents of one model and study."""
    return read_evaluation({"test_results": [*tests], **changes}, model="m", study_id="s")


def table_of(**changes):
    """Two studies of model m: one of three tests in two findings, and one of a single test."""
    columns = {
        "model": ["m"] * 4,
        "study_id": ["s2", "s1", "s1", "s1"],
        "sub_study_id": [None, "x", "x", "x"],
        "finding_id": ["F1", "F10", "F2", "F2"],
        "test_id": ["only", "third", "first", "second"],
        "test_type": ["t-test", "correlation", "t-test", "t-test"],
        "pas": [0.9, 0.7, 0.8, 0.2],
        "test_weight": [1.0, 1.0, 3.0, 1.0],
        "effect_d_human": [None, 2.0, 0.0, 1.0],
        "effect_d_agent": [0.5, 3.0, 1.0, 2.0],
        "z_difference": [None, 0.0, 1.0, math.inf],
        "p_value_agent": [0.01, 0.04, 0.2, 0.01],
        "direction_match": [True, True, True, False],
    }
    return pl.DataFrame({k: v for k, v in (columns | changes).items() if v is not None})


RUNS = pl.DataFrame(
    {
        "model": ["m", "m", "m"],
        "study_id": ["s1", "s2", "s3"],
        "title": ["One, two, and a very long title that goes on, and on", None, "No tests"],
        "n_participants": [40, 20, None],
        "total_prompt_tokens": [100, None, None],
        "total_tokens": [150, 10, None],
        "total_cost": [0.25, None, None],
        "raw_failure_rate": [2.5, None, None],
        "raw_failed": [1, None, None],
        "score_se": [0.1, 0.2, None],
        "bootstrap_iterations": [200, None, None],
    }
)


def results_of(**arguments):
    return result_tables(table_of(), runs=RUNS, **arguments)


def lines(path):
    return path.read_bytes().decode().split("\n")
