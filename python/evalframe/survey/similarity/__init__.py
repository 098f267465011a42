"""How alike two distributions over the same options are: one number for each pair of lists.

Every measure is an elementwise expression over two columns of lists, or of arrays of one size, and
gives one Float64 for each row. `rules="reference"` gives the numbers of dtef-app 52d79c0:

| | documented | reference |
|---|---|---|
| shares of 0 in Jensen-Shannon | add nothing: 0 log 0 is 0 | are raised to 1e-10 once normalised: \
disjoint distributions get 1.6e-9 and not 0. `epsilon=0` raises nothing |
| numbers that are all 0 | null | the uniform distribution; cosine 0 |
| negative numbers | null | count as they are in sums and cosines, and are raised to 1e-10 in \
Jensen-Shannon; a vector with sum 0 is uniform |
| infinite numbers | null | null, as infinity over infinity is |
| NaN, or a null within a list | null | null (the original's NaN) |
| a null list | null | null |
| lists of different lengths | null | as many options as are predicted; null if fewer are actual |
| empty lists | null | Jensen-Shannon and earth mover's 1, cosine 0 |
| cosine | of shares, at most 1 | of the numbers as they are, up to rounding above 1 |
| per-option accuracy | of percentages | of the numbers as they are; 0 for different lengths |
| numbers whose sum is too large for a float | scaled first | what infinite sums lead to |

Earth mover's similarity is raw by both rules, `max(0, 1 - W)`; `normalised=True` divides the work W
by its range. All other measures are this package's own and have one definition.
"""

from evalframe.survey.similarity.agreement import (
    mode_agreement,
    per_option_accuracy,
    rank_agreement,
)
from evalframe.survey.similarity.divergences import (
    hellinger_distance,
    jensen_shannon_distance,
    jensen_shannon_similarity,
    kullback_leibler_divergence,
    total_variation_distance,
)
from evalframe.survey.similarity.errors import (
    cosine_similarity,
    distribution_absolute_error,
    distribution_root_mean_squared_error,
)
from evalframe.survey.similarity.individual import (
    answer_letter,
    answer_probabilities,
    individual_score,
)
from evalframe.survey.similarity.long import similarity_table
from evalframe.survey.similarity.transport import earth_mover_similarity

__all__ = [
    "answer_letter",
    "answer_probabilities",
    "cosine_similarity",
    "distribution_absolute_error",
    "distribution_root_mean_squared_error",
    "earth_mover_similarity",
    "hellinger_distance",
    "individual_score",
    "jensen_shannon_distance",
    "jensen_shannon_similarity",
    "kullback_leibler_divergence",
    "mode_agreement",
    "per_option_accuracy",
    "rank_agreement",
    "similarity_table",
    "total_variation_distance",
]
