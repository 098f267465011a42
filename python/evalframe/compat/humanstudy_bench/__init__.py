"""HumanStudy-Bench (HEAD of February 2026): its files, its numbers, and its legacy quantities."""

from evalframe.compat.humanstudy_bench.agreement import (
    concordance_correlation,
    pas,
    pas_ratio,
    pas_three_way,
    posterior,
    posterior_three_way,
    prior_repair,
    repaired_pas,
    with_pas,
    with_posteriors,
)
from evalframe.compat.humanstudy_bench.bayes_factors import (
    bayes_factor_binomial,
    bayes_factor_bound,
    bayes_factor_chi2,
    bayes_factor_directional_bound,
    bayes_factor_f,
    bayes_factor_r,
    bayes_factor_t,
    bayes_factor_u,
    bayes_factor_variance_ratio,
    with_bayes_factors,
)
from evalframe.compat.humanstudy_bench.effects import (
    cohens_d_f,
    cohens_d_std_error,
    cohens_d_t,
    effect_d,
    effect_r,
    fisher_z,
    fisher_z_std_error,
    log_odds_ratio,
    log_odds_ratio_std_error,
    n_eff,
    proportion,
    proportion_difference,
    proportion_difference_std_error,
    proportion_std_error,
    rank_biserial,
    rank_biserial_std_error,
    with_effect_sizes,
)
from evalframe.compat.humanstudy_bench.files.evaluation_files import (
    detailed_stats,
    evaluation_results,
    write_detailed_stats,
)
from evalframe.compat.humanstudy_bench.files.evaluations import Evaluations, read_evaluation
from evalframe.compat.humanstudy_bench.files.output import write_results
from evalframe.compat.humanstudy_bench.files.results import Pooling, Results, result_tables
from evalframe.compat.humanstudy_bench.files.simple_results import (
    read_results,
    simple_results,
    write_simple_results,
)
from evalframe.compat.humanstudy_bench.files.summary import (
    benchmark_summary,
    write_benchmark_summary,
)
from evalframe.compat.humanstudy_bench.p_values import (
    direction,
    direction_match,
    p_value,
    repaired_posterior,
)
from evalframe.compat.humanstudy_bench.rates import (
    inverse_variance_pas,
    replicated,
    replication_rates,
)
from evalframe.compat.humanstudy_bench.replication_fields import (
    replication_fields,
)
from evalframe.compat.humanstudy_bench.reports import (
    reported_p_value,
    reported_statistic,
)
from evalframe.compat.humanstudy_bench.scores import (
    domain_scores,
    ecs,
    finding_scores,
    model_scores,
    study_scores,
)
from evalframe.compat.humanstudy_bench.strict_ecs import (
    consistency,
    finding_consistency,
    strict_ecs,
    study_consistency,
    z_difference,
)
from evalframe.compat.humanstudy_bench.uncertainty import (
    bootstrap_moments,
    model_differences,
    participant_intervals,
    random_alignment,
    with_evidence,
)

__all__ = [
    "Evaluations",
    "Pooling",
    "Results",
    "bayes_factor_binomial",
    "bayes_factor_bound",
    "bayes_factor_chi2",
    "bayes_factor_directional_bound",
    "bayes_factor_f",
    "bayes_factor_r",
    "bayes_factor_t",
    "bayes_factor_u",
    "bayes_factor_variance_ratio",
    "benchmark_summary",
    "bootstrap_moments",
    "cohens_d_f",
    "cohens_d_std_error",
    "cohens_d_t",
    "concordance_correlation",
    "consistency",
    "detailed_stats",
    "direction",
    "direction_match",
    "domain_scores",
    "ecs",
    "effect_d",
    "effect_r",
    "evaluation_results",
    "finding_consistency",
    "finding_scores",
    "fisher_z",
    "fisher_z_std_error",
    "inverse_variance_pas",
    "log_odds_ratio",
    "log_odds_ratio_std_error",
    "model_differences",
    "model_scores",
    "n_eff",
    "p_value",
    "participant_intervals",
    "pas",
    "pas_ratio",
    "pas_three_way",
    "posterior",
    "posterior_three_way",
    "prior_repair",
    "proportion",
    "proportion_difference",
    "proportion_difference_std_error",
    "proportion_std_error",
    "random_alignment",
    "rank_biserial",
    "rank_biserial_std_error",
    "read_evaluation",
    "read_results",
    "repaired_pas",
    "repaired_posterior",
    "replicated",
    "replication_fields",
    "replication_rates",
    "reported_p_value",
    "reported_statistic",
    "result_tables",
    "simple_results",
    "strict_ecs",
    "study_consistency",
    "study_scores",
    "with_bayes_factors",
    "with_effect_sizes",
    "with_evidence",
    "with_pas",
    "with_posteriors",
    "write_benchmark_summary",
    "write_detailed_stats",
    "write_results",
    "write_simple_results",
    "z_difference",
]


def __dir__() -> list[str]:
    return __all__
