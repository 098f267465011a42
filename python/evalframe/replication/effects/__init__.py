"""Effect sizes of tests, their standard errors and sample sizes, and equivalents on one scale.

Elementwise expressions with one convention each: d is positive if the first group is higher, a log
odds ratio if the first group has the first outcome more often, a rank-biserial correlation if the
first group is ahead; chances of binomial tests are proportions. Impossible input (sizes of 0 or
less, |r| > 1, k > n, negative cells, infinite statistics) gives null.
"""

from evalframe.replication.effects.associations import (
    fisher_z,
    fisher_z_std_error,
    log_odds_ratio,
    log_odds_ratio_std_error,
    rank_biserial,
    rank_biserial_std_error,
)
from evalframe.replication.effects.conversions import effect_d, effect_r
from evalframe.replication.effects.kinds import known_test_types
from evalframe.replication.effects.means import cohens_d_f, cohens_d_std_error, cohens_d_t
from evalframe.replication.effects.proportions import (
    proportion,
    proportion_difference,
    proportion_difference_std_error,
    proportion_std_error,
)
from evalframe.replication.effects.sample_sizes import n_eff
from evalframe.replication.effects.table import with_effect_sizes

__all__ = [
    "cohens_d_f",
    "cohens_d_std_error",
    "cohens_d_t",
    "effect_d",
    "effect_r",
    "fisher_z",
    "fisher_z_std_error",
    "known_test_types",
    "log_odds_ratio",
    "log_odds_ratio_std_error",
    "n_eff",
    "proportion",
    "proportion_difference",
    "proportion_difference_std_error",
    "proportion_std_error",
    "rank_biserial",
    "rank_biserial_std_error",
    "with_effect_sizes",
]
