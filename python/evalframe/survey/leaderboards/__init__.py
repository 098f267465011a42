"""Leaderboards of scored predictions: who predicts best, where, how evenly, and with what."""

from evalframe.survey.leaderboards.context import context_responsiveness, stereotype_score
from evalframe.survey.leaderboards.disparity import disparity, model_disparity, question_disparity
from evalframe.survey.leaderboards.leaderboard import leaderboard
from evalframe.survey.leaderboards.rows import is_baseline
from evalframe.survey.leaderboards.segments import segment_scores
from evalframe.survey.leaderboards.side_tables import (
    attribute_breakdown,
    category_leaders,
    consistency,
    leaderboards,
    segment_overview,
)

__all__ = [
    "attribute_breakdown",
    "category_leaders",
    "consistency",
    "context_responsiveness",
    "disparity",
    "is_baseline",
    "leaderboard",
    "leaderboards",
    "model_disparity",
    "question_disparity",
    "segment_overview",
    "segment_scores",
    "stereotype_score",
]
