"""Effect sizes of tests, their standard errors and sample sizes, and what they are on one scale.

Plain elementwise expressions. One convention each: d is positive where the first group is higher, a
log odds ratio where the first group has the first outcome more often, a rank-biserial correlation
where the first group is ahead; chances of binomial tests are proportions. By the documented rules
impossible input (sizes of 0 or less, |r| > 1, k > n, negative cells, infinite statistics) gives
null. `rules="reference"` gives the numbers of HumanStudy-Bench (HEAD of February 2026):

| | documented | reference |
|---|---|---|
| sizes of 0 or less | null | effects 0, standard errors infinite (0 for proportions) |
| d from F | sign of `direction`; null where df1 is not 1 | never negative, for any df1 |
| r outside [-1, 1], n of 3 or less | null | z and its standard error infinite |
| odds of an empty group | null | by the correction of 0.5 alone |
| rank-biserial correlation | 2U / (n1 n2) - 1 | 1 - 2U / (n1 n2) |
| its standard error | that of the documentation | sqrt((1 - r²) / (n1 + n2 - 1)) |
| stored n_eff of 2.9 | 2.9 | 2 |
| r equivalents | by way of d, or r itself | x / sqrt(x² + 4) but for correlations; 0 for none |
| d of proportions | about `p0` of the test | about 0.5 |
| names of tests | those of `known_test_types` | as each function knows |
"""

from evalframe.replication.effects.conversions import effect_d, effect_r
from evalframe.replication.effects.correlations import fisher_z, fisher_z_std_error
from evalframe.replication.effects.differences import (
    cohens_d_f,
    cohens_d_std_error,
    cohens_d_t,
)
from evalframe.replication.effects.kinds import kind_of_test, known_test_types
from evalframe.replication.effects.odds import log_odds_ratio, log_odds_ratio_std_error
from evalframe.replication.effects.proportions import (
    proportion,
    proportion_difference,
    proportion_difference_std_error,
    proportion_std_error,
)
from evalframe.replication.effects.ranks import rank_biserial, rank_biserial_std_error
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
    "kind_of_test",
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
