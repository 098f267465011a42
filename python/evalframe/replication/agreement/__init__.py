"""Posteriors, PAS from test to model, and ECS: how far agents agree with humans."""

from evalframe.replication.agreement.alignment import (
    pas,
    pas_three_way,
    with_pas,
    with_posteriors,
)
from evalframe.replication.agreement.ecs import ecs, with_ecs_weights
from evalframe.replication.agreement.findings import finding_scores
from evalframe.replication.agreement.metrics import (
    concordance_correlation,
    mean_pas,
    pooled_pas,
    regression_intercept,
    regression_slope,
)
from evalframe.replication.agreement.pairs import p_null
from evalframe.replication.agreement.posteriors import (
    human_prior_odds,
    posterior,
    posterior_three_way,
)
from evalframe.replication.agreement.scalings import (
    field_comparable_pas,
    human_ceiling,
    pas_above_chance,
    pas_ratio,
    pas_within_range,
)
from evalframe.replication.agreement.studies import (
    DOMAINS,
    domain,
    domain_scores,
    model_scores,
    study_scores,
)

__all__ = [
    "DOMAINS",
    "concordance_correlation",
    "domain",
    "domain_scores",
    "ecs",
    "field_comparable_pas",
    "finding_scores",
    "human_ceiling",
    "human_prior_odds",
    "mean_pas",
    "model_scores",
    "p_null",
    "pas",
    "pas_above_chance",
    "pas_ratio",
    "pas_three_way",
    "pas_within_range",
    "pooled_pas",
    "posterior",
    "posterior_three_way",
    "regression_intercept",
    "regression_slope",
    "study_scores",
    "with_ecs_weights",
    "with_pas",
    "with_posteriors",
]
