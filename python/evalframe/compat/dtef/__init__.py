"""dtef-app: surveys, run results, and its numbers where they differ."""

from evalframe.compat.dtef.baselines import baseline, permutation_baseline
from evalframe.compat.dtef.context_tables import context_responsiveness, stereotype_score
from evalframe.compat.dtef.dialogues import read_dialogues
from evalframe.compat.dtef.disparity import disparity, model_disparity, question_disparity
from evalframe.compat.dtef.inference import (
    adjusted_p_value,
    context_test,
    gap_decomposition,
    gap_summary,
    mean_intervals,
    respondent_differences,
    respondent_intervals,
    sign_flip_test,
    weighted_means,
    welch_test,
)
from evalframe.compat.dtef.leaderboards import (
    attribute_breakdown,
    category_leaders,
    consistency,
    leaderboard,
    leaderboards,
    segment_overview,
    segment_scores,
)
from evalframe.compat.dtef.parsing import parse
from evalframe.compat.dtef.prompting import prompts
from evalframe.compat.dtef.reading import read_survey
from evalframe.compat.dtef.runs import RunResults, open_runs, read_runs
from evalframe.compat.dtef.scoring import (
    noise_ceiling,
    normalised_score,
    prompt_scores,
    score,
)
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
    "adjusted_p_value",
    "attribute_breakdown",
    "baseline",
    "category_leaders",
    "consistency",
    "context_responsiveness",
    "context_test",
    "cosine_similarity",
    "disparity",
    "earth_mover_similarity",
    "gap_decomposition",
    "gap_summary",
    "individual_score",
    "jensen_shannon_distance",
    "jensen_shannon_similarity",
    "leaderboard",
    "leaderboards",
    "mean_intervals",
    "model_disparity",
    "noise_ceiling",
    "normalised_score",
    "open_runs",
    "parse",
    "per_option_accuracy",
    "permutation_baseline",
    "prompt_scores",
    "prompts",
    "question_disparity",
    "read_dialogues",
    "read_runs",
    "read_survey",
    "respondent_differences",
    "respondent_intervals",
    "score",
    "segment_overview",
    "segment_scores",
    "sign_flip_test",
    "stereotype_score",
    "summary",
    "validate",
    "weighted_means",
    "welch_test",
    "write_summary",
    "write_survey",
]


def __dir__() -> list[str]:
    return __all__
