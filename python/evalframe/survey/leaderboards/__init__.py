"""Leaderboards of scored predictions: who predicts best, where, how evenly, and with what."""

from evalframe.survey.leaderboards.all_tables import leaderboards
from evalframe.survey.leaderboards.attributes import (
    attribute_breakdown,
    category_leaders,
    segment_overview,
)
from evalframe.survey.leaderboards.consistency import consistency
from evalframe.survey.leaderboards.context import context_responsiveness, stereotype_score
from evalframe.survey.leaderboards.disparity import disparity, model_disparity, question_disparity
from evalframe.survey.leaderboards.leaderboard import leaderboard
from evalframe.survey.leaderboards.rows import is_baseline
from evalframe.survey.leaderboards.segments import segment_scores

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
