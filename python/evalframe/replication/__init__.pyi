"""Public names of `evalframe.replication`, each with its module."""

from evalframe.replication.agreement.alignment import (
    pas as pas,
    pas_three_way as pas_three_way,
    with_pas as with_pas,
    with_posteriors as with_posteriors,
)
from evalframe.replication.agreement.ecs import (
    ecs as ecs,
    p_null as p_null,
    with_ecs_weights as with_ecs_weights,
)
from evalframe.replication.agreement.findings import finding_scores as finding_scores
from evalframe.replication.agreement.metrics import (
    concordance_correlation as concordance_correlation,
    mean_pas as mean_pas,
    pooled_pas as pooled_pas,
    regression_intercept as regression_intercept,
    regression_slope as regression_slope,
)
from evalframe.replication.agreement.posteriors import (
    human_prior_odds as human_prior_odds,
    posterior as posterior,
    posterior_three_way as posterior_three_way,
)
from evalframe.replication.agreement.scalings import (
    field_comparable_pas as field_comparable_pas,
    human_ceiling as human_ceiling,
    pas_above_chance as pas_above_chance,
    pas_ratio as pas_ratio,
    pas_within_range as pas_within_range,
)
from evalframe.replication.agreement.studies import (
    DOMAINS as DOMAINS,
    domain as domain,
    domain_scores as domain_scores,
    model_scores as model_scores,
    study_scores as study_scores,
)
from evalframe.replication.bayes_factors.expressions import (
    bayes_factor_binomial as bayes_factor_binomial,
    bayes_factor_bound as bayes_factor_bound,
    bayes_factor_chi2 as bayes_factor_chi2,
    bayes_factor_directional_bound as bayes_factor_directional_bound,
    bayes_factor_f as bayes_factor_f,
    bayes_factor_r as bayes_factor_r,
    bayes_factor_t as bayes_factor_t,
    bayes_factor_u as bayes_factor_u,
    bayes_factor_variance_ratio as bayes_factor_variance_ratio,
    log_bayes_factor_binomial as log_bayes_factor_binomial,
    log_bayes_factor_bound as log_bayes_factor_bound,
    log_bayes_factor_chi2 as log_bayes_factor_chi2,
    log_bayes_factor_directional_bound as log_bayes_factor_directional_bound,
    log_bayes_factor_f as log_bayes_factor_f,
    log_bayes_factor_r as log_bayes_factor_r,
    log_bayes_factor_t as log_bayes_factor_t,
    log_bayes_factor_u as log_bayes_factor_u,
    log_bayes_factor_variance_ratio as log_bayes_factor_variance_ratio,
)
from evalframe.replication.bayes_factors.formulas import yates_chi_square as yates_chi_square
from evalframe.replication.bayes_factors.table import with_bayes_factors as with_bayes_factors
from evalframe.replication.contract import (
    designs_contract as designs_contract,
    missing_tests as missing_tests,
    replication_contract as replication_contract,
    responses_contract as responses_contract,
)
from evalframe.replication.effects.by_kind import (
    effect_d as effect_d,
    effect_r as effect_r,
    n_eff as n_eff,
)
from evalframe.replication.effects.counts import (
    log_odds_ratio as log_odds_ratio,
    log_odds_ratio_std_error as log_odds_ratio_std_error,
    proportion as proportion,
    proportion_difference as proportion_difference,
    proportion_difference_std_error as proportion_difference_std_error,
    proportion_std_error as proportion_std_error,
)
from evalframe.replication.effects.kinds import known_test_types as known_test_types
from evalframe.replication.effects.sizes import (
    cohens_d_f as cohens_d_f,
    cohens_d_std_error as cohens_d_std_error,
    cohens_d_t as cohens_d_t,
    fisher_z as fisher_z,
    fisher_z_std_error as fisher_z_std_error,
    rank_biserial as rank_biserial,
    rank_biserial_std_error as rank_biserial_std_error,
)
from evalframe.replication.effects.table import with_effect_sizes as with_effect_sizes
from evalframe.replication.evidence import with_evidence as with_evidence
from evalframe.replication.p_values import p_value as p_value
from evalframe.replication.participants.replicates import (
    resampled_statistics as resampled_statistics,
)
from evalframe.replication.participants.rows import unmatched_responses as unmatched_responses
from evalframe.replication.participants.statistics import (
    participant_statistics as participant_statistics,
)
from evalframe.replication.rates import (
    inverse_variance_pas as inverse_variance_pas,
    replicated as replicated,
    replication_rates as replication_rates,
)
from evalframe.replication.reports import (
    reported_p_value as reported_p_value,
    reported_statistic as reported_statistic,
)
from evalframe.replication.uncertainty.differences import model_differences as model_differences
from evalframe.replication.uncertainty.participants import (
    bootstrap_moments as bootstrap_moments,
    participant_intervals as participant_intervals,
    preferred_std_error as preferred_std_error,
    random_alignment as random_alignment,
)

__all__: list[str]
