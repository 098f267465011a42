"""Public names of `evalframe.survey`, each with its module."""

from evalframe.survey.baselines import baseline as baseline
from evalframe.survey.permutations import permutation_baseline as permutation_baseline
from evalframe.survey.boards.context import (
    context_responsiveness as context_responsiveness,
    stereotype_score as stereotype_score,
)
from evalframe.survey.boards.gaps import (
    disparity as disparity,
    model_disparity as model_disparity,
    question_disparity as question_disparity,
)
from evalframe.survey.boards.leaderboard import leaderboard as leaderboard
from evalframe.survey.boards.rows import is_baseline as is_baseline
from evalframe.survey.boards.rows import segment_scores as segment_scores
from evalframe.survey.boards.scores import leaderboard_score as leaderboard_score
from evalframe.survey.boards.side_tables import (
    attribute_breakdown as attribute_breakdown,
    category_leaders as category_leaders,
    consistency as consistency,
    leaderboards as leaderboards,
    segment_overview as segment_overview,
)
from evalframe.survey.contexts import at_context as at_context
from evalframe.survey.contract import (
    distributions_contract as distributions_contract,
    predictions_contract as predictions_contract,
    survey_contract as survey_contract,
)
from evalframe.survey.inference.common import adjusted_p_value as adjusted_p_value
from evalframe.survey.inference.context import context_test as context_test
from evalframe.survey.inference.differences import welch_test as welch_test
from evalframe.survey.inference.gap import (
    gap_decomposition as gap_decomposition,
    gap_summary as gap_summary,
)
from evalframe.survey.inference.means import (
    mean_intervals as mean_intervals,
    weighted_means as weighted_means,
)
from evalframe.survey.inference.respondents import (
    respondent_differences as respondent_differences,
    respondent_gaps as respondent_gaps,
    respondent_intervals as respondent_intervals,
)
from evalframe.survey.inference.differences import sign_flip_test as sign_flip_test
from evalframe.survey.noise import (
    minimum_sample_size as minimum_sample_size,
    noise_ceiling as noise_ceiling,
    normalised_score as normalised_score,
)
from evalframe.survey.parsing.parse import parse as parse
from evalframe.survey.prompting.configurations import (
    blueprints as blueprints,
    config_id as config_id,
)
from evalframe.survey.prompting.exchange import (
    read_responses as read_responses,
    write_prompts as write_prompts,
)
from evalframe.survey.surveys.tables import population_marginals as population_marginals
from evalframe.survey.prompting.prompts import prompts as prompts
from evalframe.survey.prompting.selection import (
    Curation as Curation,
    curate as curate,
    seeded_sample as seeded_sample,
)
from evalframe.survey.prompting.texts import (
    available_tokens as available_tokens,
    estimate_tokens as estimate_tokens,
    fitting as fitting,
)
from evalframe.survey.scoring import (
    prompt_scores as prompt_scores,
    score as score,
)
from evalframe.survey.similarity.distances import (
    mode_agreement as mode_agreement,
    per_option_accuracy as per_option_accuracy,
    rank_agreement as rank_agreement,
)
from evalframe.survey.similarity.distances import (
    cosine_similarity as cosine_similarity,
    distribution_absolute_error as distribution_absolute_error,
    distribution_root_mean_squared_error as distribution_root_mean_squared_error,
    earth_mover_similarity as earth_mover_similarity,
    hellinger_distance as hellinger_distance,
    total_variation_distance as total_variation_distance,
)
from evalframe.survey.similarity.divergences import (
    jensen_shannon_distance as jensen_shannon_distance,
    jensen_shannon_similarity as jensen_shannon_similarity,
    kullback_leibler_divergence as kullback_leibler_divergence,
)
from evalframe.survey.similarity.individual import (
    answer_letter as answer_letter,
    answer_probabilities as answer_probabilities,
    individual_score as individual_score,
)
from evalframe.survey.similarity.registry import similarity_table as similarity_table
from evalframe.survey.surveys.segments import CATEGORIES as CATEGORIES
from evalframe.survey.surveys.assembling import as_survey as as_survey
from evalframe.survey.surveys.assembling import read_survey as read_survey
from evalframe.survey.surveys.segments import (
    canonical_id as canonical_id,
    canonical_value as canonical_value,
    category as category,
    segment_id as segment_id,
    slug as slug,
)
from evalframe.survey.surveys.tables import (
    Survey as Survey,
    as_distributions as as_distributions,
    as_long as as_long,
)

__all__: list[str]
