"""Tests, intervals and decompositions of scores."""

from evalframe.survey.inference.adjust import adjusted_p_value
from evalframe.survey.inference.context import context_test
from evalframe.survey.inference.experiments import welch_test
from evalframe.survey.inference.gap import gap_decomposition, gap_summary
from evalframe.survey.inference.means import mean_intervals, weighted_means
from evalframe.survey.inference.respondents import (
    respondent_differences,
    respondent_gaps,
    respondent_intervals,
)
from evalframe.survey.inference.sign_flips import sign_flip_test

__all__ = [
    "adjusted_p_value",
    "context_test",
    "gap_decomposition",
    "gap_summary",
    "mean_intervals",
    "respondent_differences",
    "respondent_gaps",
    "respondent_intervals",
    "sign_flip_test",
    "weighted_means",
    "welch_test",
]
