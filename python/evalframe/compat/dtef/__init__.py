"""dtef-app: surveys, run results, and its numbers where they differ."""

from evalframe.compat.dtef.noise import noise_ceiling, normalised_score
from evalframe.compat.dtef.scoring import prompt_scores, score
from evalframe.compat.dtef.similarity import (
    cosine_similarity,
    earth_mover_similarity,
    individual_score,
    jensen_shannon_distance,
    jensen_shannon_similarity,
    per_option_accuracy,
)

__all__ = [
    "cosine_similarity",
    "earth_mover_similarity",
    "individual_score",
    "jensen_shannon_distance",
    "jensen_shannon_similarity",
    "noise_ceiling",
    "normalised_score",
    "per_option_accuracy",
    "prompt_scores",
    "score",
]
