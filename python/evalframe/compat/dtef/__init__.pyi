"""Public names of `evalframe.compat.dtef`, each with its module."""

from evalframe.compat.dtef.boards import (
    attribute_breakdown as attribute_breakdown,
    category_leaders as category_leaders,
    consistency as consistency,
    leaderboard as leaderboard,
    leaderboards as leaderboards,
    segment_overview as segment_overview,
    segment_scores as segment_scores,
    summary as summary,
    write_summary as write_summary,
)
from evalframe.compat.dtef.dialogues import read_dialogues as read_dialogues
from evalframe.compat.dtef.gaps import (
    context_responsiveness as context_responsiveness,
    disparity as disparity,
    model_disparity as model_disparity,
    question_disparity as question_disparity,
    stereotype_score as stereotype_score,
)
from evalframe.compat.dtef.inference import (
    adjusted_p_value as adjusted_p_value,
    context_test as context_test,
    gap_decomposition as gap_decomposition,
    gap_summary as gap_summary,
    mean_intervals as mean_intervals,
    respondent_differences as respondent_differences,
    respondent_intervals as respondent_intervals,
    sign_flip_test as sign_flip_test,
    weighted_means as weighted_means,
    welch_test as welch_test,
)
from evalframe.compat.dtef.parsing import parse as parse
from evalframe.compat.dtef.prompting import prompts as prompts
from evalframe.compat.dtef.runs import (
    RunResults as RunResults,
    open_runs as open_runs,
    read_runs as read_runs,
)
from evalframe.compat.dtef.scoring import (
    baseline as baseline,
    cosine_similarity as cosine_similarity,
    earth_mover_similarity as earth_mover_similarity,
    individual_score as individual_score,
    jensen_shannon_distance as jensen_shannon_distance,
    jensen_shannon_similarity as jensen_shannon_similarity,
    noise_ceiling as noise_ceiling,
    normalised_score as normalised_score,
    per_option_accuracy as per_option_accuracy,
    permutation_baseline as permutation_baseline,
    prompt_scores as prompt_scores,
    score as score,
)
from evalframe.compat.dtef.survey_documents import (
    read_survey as read_survey,
    write_survey as write_survey,
)
from evalframe.compat.dtef.validating import (
    SurveyValidation as SurveyValidation,
    validate as validate,
)
