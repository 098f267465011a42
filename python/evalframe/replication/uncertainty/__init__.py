"""Uncertainty of scores: bootstraps of studies, findings and participants; differences.

Intervals of PAS and ECS under a bootstrap of studies, or of findings within studies, are columns of
`model_scores`, `domain_scores` and `ecs`, which take `resample`.
"""

from evalframe.replication.uncertainty.alignment import random_alignment
from evalframe.replication.uncertainty.differences import model_differences
from evalframe.replication.uncertainty.moments import bootstrap_moments
from evalframe.replication.uncertainty.participants import participant_intervals
from evalframe.replication.uncertainty.standard_errors import preferred_std_error

__all__ = [
    "bootstrap_moments",
    "model_differences",
    "participant_intervals",
    "preferred_std_error",
    "random_alignment",
]
