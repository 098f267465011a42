"""Legacy quantities, kept to compare with earlier results: not to be reported as primary.

Strict ECS, z-differences, replication rates, p-values and directions say as much about the sizes of
the samples as about agreement: an agent that is far off replicates with few participants, and one
that is nearly right fails with many. Report PAS and ECS instead.

`rules="reference"` gives the numbers of HumanStudy-Bench (HEAD of February 2026):

| | documented | reference |
|---|---|---|
| tails | survival functions, down to 1e-308 | one less the probability below: 0 from 1e-16 on |
| an infinite standard error | null | z is 0, so that consistency is 1 |
| standard errors of 0, effects that differ | z infinite, with its sign | z is plus infinity |
| nothing known | null | 0, or not significant |
| an infinite z in a finding | consistency 0 | left out |
| names of tests, words of directions | in any case, one list each | as written, by several lists |
| alternative where no direction is expected | two-sided | greater |
| a direction but `positive`, `pos` and `+` | as it says | -1 |
| a Mann-Whitney statistic | U | z where above a tenth of the pairs, else U |
| degrees of freedom of F | `df1`, `df2` | the sizes of the groups |
| p of chi-square | upper tail | none |
| p of counts without `k` or `p0` | `stat` and 0.5 | none |
| direction of t or r of 0 | 0 | -1 |
| direction of F, and where unknown | null | as expected, else 1 or 0 |
| statistic in a report | read | not read |
| `p < x` in a report | at most x | x / 2, significant at any level |
| `p = .05.` in a report | 0.05 | an error: the test has no fields |
| no p in a report | null | 0.025 where the statistic is large, else 0.10 |
| two groups, of which the second has no size | null | an error: no effect of either side |

Both rule sets pool the tests of a finding by the tail of chi-square, and findings by Stouffer, as
the original computes; `rule="root_mean_square"` and `rule="mean"` are what its documentation says.
"""

from evalframe.compat.humanstudy_bench.legacy.consistency import consistency, z_difference
from evalframe.compat.humanstudy_bench.legacy.directions import direction, direction_match
from evalframe.compat.humanstudy_bench.legacy.fields import replication_fields
from evalframe.compat.humanstudy_bench.legacy.p_values import p_value
from evalframe.compat.humanstudy_bench.legacy.rates import replicated, replication_rates
from evalframe.compat.humanstudy_bench.legacy.repair import repaired_posterior
from evalframe.compat.humanstudy_bench.legacy.reports import reported_p_value, reported_statistic
from evalframe.compat.humanstudy_bench.legacy.strict_ecs import (
    finding_consistency,
    strict_ecs,
    study_consistency,
)

__all__ = [
    "consistency",
    "direction",
    "direction_match",
    "finding_consistency",
    "p_value",
    "repaired_posterior",
    "replicated",
    "replication_fields",
    "replication_rates",
    "reported_p_value",
    "reported_statistic",
    "strict_ecs",
    "study_consistency",
    "z_difference",
]
