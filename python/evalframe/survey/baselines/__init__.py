"""Baselines of a survey: what a score is worth."""

from evalframe.survey.baselines.baseline import MODELS, baseline
from evalframe.survey.baselines.permutation import permutation_baseline

__all__ = ["MODELS", "baseline", "permutation_baseline"]
