"""Bayes factors of test statistics, as expressions and for complete tables."""

from evalframe.replication.bayes_factors.expressions import (
    bayes_factor_binomial,
    bayes_factor_bound,
    bayes_factor_chi2,
    bayes_factor_directional_bound,
    bayes_factor_f,
    bayes_factor_r,
    bayes_factor_t,
    bayes_factor_u,
    bayes_factor_variance_ratio,
    log_bayes_factor_binomial,
    log_bayes_factor_bound,
    log_bayes_factor_chi2,
    log_bayes_factor_directional_bound,
    log_bayes_factor_f,
    log_bayes_factor_r,
    log_bayes_factor_t,
    log_bayes_factor_u,
    log_bayes_factor_variance_ratio,
)
from evalframe.replication.bayes_factors.formulas import yates_chi_square
from evalframe.replication.bayes_factors.table import with_bayes_factors

__all__ = [
    "bayes_factor_binomial",
    "bayes_factor_bound",
    "bayes_factor_chi2",
    "bayes_factor_directional_bound",
    "bayes_factor_f",
    "bayes_factor_r",
    "bayes_factor_t",
    "bayes_factor_u",
    "bayes_factor_variance_ratio",
    "log_bayes_factor_binomial",
    "log_bayes_factor_bound",
    "log_bayes_factor_chi2",
    "log_bayes_factor_directional_bound",
    "log_bayes_factor_f",
    "log_bayes_factor_r",
    "log_bayes_factor_t",
    "log_bayes_factor_u",
    "log_bayes_factor_variance_ratio",
    "with_bayes_factors",
    "yates_chi_square",
]
