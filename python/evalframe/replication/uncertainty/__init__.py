"""Uncertainty of scores: bootstraps of studies, findings and participants; differences.

`model_scores`, `domain_scores` and `ecs` have intervals of PAS and ECS by a bootstrap of studies,
or of findings within studies: their argument `resample`.
"""

from evalframe.replication.uncertainty.differences import model_differences
from evalframe.replication.uncertainty.participants import participant_intervals, random_alignment
from evalframe.replication.uncertainty.standard_errors import (
    bootstrap_moments,
    preferred_std_error,
)

__all__ = [
    "bootstrap_moments",
    "model_differences",
    "participant_intervals",
    "preferred_std_error",
    "random_alignment",
]
