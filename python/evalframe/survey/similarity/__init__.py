"""Similarity of two distributions over the same options: one number for each pair of lists.

Every measure is an elementwise expression over two columns of lists, or of arrays of one size, and
gives one Float64 for each row. It is null if the lengths differ, or if a list is null, contains a
null, NaN, negative or infinite number, or only zeros. Numbers are normalised first; numbers whose
sum is too large for a float are scaled.
"""

from evalframe.survey.similarity.agreement import (
    mode_agreement,
    per_option_accuracy,
    rank_agreement,
)
from evalframe.survey.similarity.distances import (
    cosine_similarity,
    distribution_absolute_error,
    distribution_root_mean_squared_error,
    earth_mover_similarity,
    hellinger_distance,
    total_variation_distance,
)
from evalframe.survey.similarity.divergences import (
    jensen_shannon_distance,
    jensen_shannon_similarity,
    kullback_leibler_divergence,
)
from evalframe.survey.similarity.individual import (
    answer_letter,
    answer_probabilities,
    individual_score,
)
from evalframe.survey.similarity.registry import similarity_table

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
