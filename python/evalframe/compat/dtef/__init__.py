"""dtef-app: surveys, run results, and its numbers where they differ."""

from evalframe.compat.dtef.context_tables import context_responsiveness, stereotype_score
from evalframe.compat.dtef.dialogues import read_dialogues
from evalframe.compat.dtef.disparity import disparity, model_disparity, question_disparity
from evalframe.compat.dtef.leaderboards import (
    attribute_breakdown,
    category_leaders,
    consistency,
    leaderboard,
    leaderboards,
    segment_overview,
    segment_scores,
)
from evalframe.compat.dtef.noise import noise_ceiling, normalised_score
from evalframe.compat.dtef.parsing import parse
from evalframe.compat.dtef.reading import read_survey
from evalframe.compat.dtef.runs import RunResults, open_runs, read_runs
from evalframe.compat.dtef.scoring import prompt_scores, score
from evalframe.compat.dtef.similarity import (
    cosine_similarity,
    earth_mover_similarity,
    individual_score,
    jensen_shannon_distance,
    jensen_shannon_similarity,
    per_option_accuracy,
)
from evalframe.compat.dtef.summary import summary, write_summary
from evalframe.compat.dtef.validating import SurveyReport, validate
from evalframe.compat.dtef.writing import write_survey

__all__ = [
    "RunResults",
    "SurveyReport",
    "attribute_breakdown",
    "category_leaders",
    "consistency",
    "context_responsiveness",
    "cosine_similarity",
    "disparity",
    "earth_mover_similarity",
    "individual_score",
    "jensen_shannon_distance",
    "jensen_shannon_similarity",
    "leaderboard",
    "leaderboards",
    "model_disparity",
    "noise_ceiling",
    "normalised_score",
    "open_runs",
    "parse",
    "per_option_accuracy",
    "prompt_scores",
    "question_disparity",
    "read_dialogues",
    "read_runs",
    "read_survey",
    "score",
    "segment_overview",
    "segment_scores",
    "stereotype_score",
    "summary",
    "validate",
    "write_summary",
    "write_survey",
]
