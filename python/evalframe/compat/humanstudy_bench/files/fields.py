"""Fields of documents in the order of the program, and their columns."""

from __future__ import annotations

from evalframe.compat.humanstudy_bench.files.records import Field, field

TESTS: tuple[Field, ...] = (
    field("study_id", "study_label", "text"),
    field("sub_study_id", "sub_study_id", "text"),
    field("finding_id", "finding_id", "text"),
    field("test_name", "test_name", "text"),
    field("scenario", "scenario", "text"),
    field("statistical_test_type", "test_type", "text"),
    field("human_test_statistic", "report_human", "report"),
    field("agent_test_statistic", "report_agent", "report"),
    field("pi_human", "pi_human", "number"),
    field("pi_agent", "pi_agent", "number"),
    *(
        field(f"pi_{side}_3way.{way}", f"{way}_{side}", "number")
        for side in ("human", "agent")
        for way in ("pi_plus", "pi_minus", "pi_zero")
    ),
    field("pas", "pas", "number"),
    field("test_weight", "test_weight", "number"),
    field("pi_human_source", "pi_human_source", "text"),
    field("agent_reason", "agent_reason", "text"),
    field("p_value_human", "p_value_human", "number"),
    field("p_value_agent", "p_value_agent", "number"),
    field("is_significant_human", "is_significant_human", "flag"),
    field("is_significant_agent", "is_significant_agent", "flag"),
    field("human_direction", "direction_human", "sign"),
    field("agent_direction", "direction_agent", "sign"),
    field("direction_match", "direction_match", "flag"),
    field("significance_level", "significance_level", "number"),
    field("z_diff", "z_difference", "number"),
    field("replication_consistency", "replication_consistency", "number"),
    *(
        field(f"{side}_{name}", f"{name}_{side}", "number")
        for name in ("effect_size", "effect_d", "effect_r")
        for side in ("human", "agent")
    ),
    field("n_eff", "n_eff", "number"),
    field("n_human_extracted", "n1_human", "number"),
    field("n2_human_extracted", "n2_human", "number"),
    field("n_agent_extracted", "n1_agent", "number"),
    field("n2_agent_extracted", "n2_agent", "number"),
)
"""An entry of `test_results`."""

LOOSE_TESTS: tuple[Field, ...] = (
    field("score", "score", "number"),
    field("t_stat", "stat_agent", "number"),
    field("p_value", "p_value_agent", "number"),
    field("significant", "is_significant_agent", "flag"),
    field("human_p_value", "p_value_human", "number"),
    field("replication", "replicated", "flag"),
)
"""Further fields of an entry: the older name of PAS, and names of the hub's studies."""

FINDINGS: tuple[Field, ...] = (
    field("sub_study_id", "sub_study_id", "text"),
    field("finding_id", "finding_id", "text"),
    field("finding_score", "finding_score", "number"),
    field("finding_weight", "finding_weight", "number"),
    field("n_tests", "n_tests", "count"),
)
"""An entry of `finding_results`."""

USAGE: tuple[Field, ...] = (
    field("usage_stats.total_prompt_tokens", "total_prompt_tokens", "count"),
    field("usage_stats.total_completion_tokens", "total_completion_tokens", "count"),
    field("usage_stats.total_tokens", "total_tokens", "count"),
    field("usage_stats.total_cost", "total_cost", "number"),
    field("usage_stats.avg_tokens_per_participant", "avg_tokens_per_participant", "number"),
    field("usage_stats.avg_cost_per_participant", "avg_cost_per_participant", "number"),
)

FAILURES: tuple[Field, ...] = (
    field("failure_rates.raw_failure_rate", "raw_failure_rate", "number"),
    field("failure_rates.raw_failed", "raw_failed", "count"),
    field("failure_rates.raw_total", "raw_total", "count"),
    *(
        field(f"failure_rates.raw_failure_breakdown.{why}", f"raw_failed_{why}", "count")
        for why in ("empty", "refusal", "other")
    ),
    field("failure_rates.final_failure_rate", "final_failure_rate", "number"),
    field("failure_rates.final_failed", "final_failed", "count"),
    field("failure_rates.final_total", "final_total", "count"),
)

LEGACY: tuple[Field, ...] = (
    field("normalized_score", "normalized_score", "number"),
    field("score_se", "score_se", "number"),
    field("normalized_score_se", "normalized_score_se", "number"),
    field("score_repeat_se", "score_repeat_se", "number"),
    field("normalized_score_repeat_se", "normalized_score_repeat_se", "number"),
    field("bootstrap_iterations", "bootstrap_iterations", "count"),
    field("elapsed_time", "elapsed_time", "number"),
    field("variance_method", "variance_method", "text"),
    field("variance_method_note", "variance_method_note", "text"),
    field("ecs_strict_study", "ecs_strict_study", "number"),
    field("average_consistency_score", "average_consistency_score", "number"),
    field("_statistics.mean_score", "iterations_mean_score", "number"),
    field("_statistics.std_score", "iterations_std_score", "number"),
    field("_statistics.n_iterations", "n_iterations", "count"),
    field("_statistics.aggregated_from_iterations", "aggregated_from_iterations", "flag"),
)
"""Fields of older versions."""

GIVEN_OF_RUNS: tuple[Field, ...] = (
    field("n_participants", "n_participants", "count"),
    field("n_runs", "n_runs", "count"),
    *USAGE,
    *FAILURES,
    *LEGACY,
)
"""Fields of the run of a study."""

RUNS: tuple[Field, ...] = (
    field("title", "title", "text"),
    field("error", "error", "text"),
    field("score", "score", "number"),
    field("ecs_corr", "ecs_corr", "number"),
    field("ecs_corr_study", "ecs_corr_study", "number"),
    field("ecs_corr_details.ecs_missing_rate", "ecs_missing_rate", "number"),
    *GIVEN_OF_RUNS,
)
"""A document without its tests and findings."""
