"""Public names of `evalframe.compat.humanstudy_bench`, each with its module."""

from evalframe.compat.humanstudy_bench.agreement import (
    concordance_correlation as concordance_correlation,
    pas as pas,
    pas_ratio as pas_ratio,
    pas_three_way as pas_three_way,
    posterior as posterior,
    posterior_three_way as posterior_three_way,
    prior_repair as prior_repair,
    repaired_pas as repaired_pas,
    with_pas as with_pas,
    with_posteriors as with_posteriors,
)
from evalframe.compat.humanstudy_bench.bayes_factors import (
    bayes_factor_binomial as bayes_factor_binomial,
    bayes_factor_bound as bayes_factor_bound,
    bayes_factor_chi2 as bayes_factor_chi2,
    bayes_factor_directional_bound as bayes_factor_directional_bound,
    bayes_factor_f as bayes_factor_f,
    bayes_factor_r as bayes_factor_r,
    bayes_factor_t as bayes_factor_t,
    bayes_factor_u as bayes_factor_u,
    bayes_factor_variance_ratio as bayes_factor_variance_ratio,
    with_bayes_factors as with_bayes_factors,
)
from evalframe.compat.humanstudy_bench.effects import (
    cohens_d_f as cohens_d_f,
    cohens_d_std_error as cohens_d_std_error,
    cohens_d_t as cohens_d_t,
    effect_d as effect_d,
    effect_r as effect_r,
    fisher_z as fisher_z,
    fisher_z_std_error as fisher_z_std_error,
    log_odds_ratio as log_odds_ratio,
    log_odds_ratio_std_error as log_odds_ratio_std_error,
    n_eff as n_eff,
    proportion as proportion,
    proportion_difference as proportion_difference,
    proportion_difference_std_error as proportion_difference_std_error,
    proportion_std_error as proportion_std_error,
    rank_biserial as rank_biserial,
    rank_biserial_std_error as rank_biserial_std_error,
    with_effect_sizes as with_effect_sizes,
)
from evalframe.compat.humanstudy_bench.files.evaluation_files import (
    detailed_stats as detailed_stats,
    evaluation_results as evaluation_results,
    write_detailed_stats as write_detailed_stats,
)
from evalframe.compat.humanstudy_bench.files.evaluations import (
    Evaluations as Evaluations,
    read_evaluation as read_evaluation,
)
from evalframe.compat.humanstudy_bench.files.published import (
    read_results as read_results,
    simple_results as simple_results,
    write_simple_results as write_simple_results,
)
from evalframe.compat.humanstudy_bench.files.results import (
    Pooling as Pooling,
    Results as Results,
    result_tables as result_tables,
)
from evalframe.compat.humanstudy_bench.files.summary import (
    benchmark_summary as benchmark_summary,
    write_benchmark_summary as write_benchmark_summary,
    write_results as write_results,
)
from evalframe.compat.humanstudy_bench.legacy_fields import replication_fields as replication_fields
from evalframe.compat.humanstudy_bench.p_values import (
    direction as direction,
    direction_match as direction_match,
    p_value as p_value,
    repaired_posterior as repaired_posterior,
)
from evalframe.compat.humanstudy_bench.reports import (
    reported_p_value as reported_p_value,
    reported_statistic as reported_statistic,
)
from evalframe.compat.humanstudy_bench.scores import (
    domain_scores as domain_scores,
    ecs as ecs,
    finding_scores as finding_scores,
    inverse_variance_pas as inverse_variance_pas,
    model_scores as model_scores,
    replicated as replicated,
    replication_rates as replication_rates,
    study_scores as study_scores,
)
from evalframe.compat.humanstudy_bench.strict import (
    consistency as consistency,
    finding_consistency as finding_consistency,
    strict_ecs as strict_ecs,
    study_consistency as study_consistency,
    z_difference as z_difference,
)
from evalframe.compat.humanstudy_bench.uncertainty import (
    bootstrap_moments as bootstrap_moments,
    model_differences as model_differences,
    participant_intervals as participant_intervals,
    random_alignment as random_alignment,
    with_evidence as with_evidence,
)

__all__: list[str]
