"""Prompts about surveys: which questions, with which context, in which words."""

from evalframe.survey.prompting.configurations import blueprints, config_id
from evalframe.survey.prompting.exchange import read_responses, write_prompts
from evalframe.survey.prompting.marginals import population_marginals
from evalframe.survey.prompting.prompts import prompts
from evalframe.survey.prompting.selection import Curation, curate, seeded_sample
from evalframe.survey.prompting.tokens import available_tokens, estimate_tokens, fitting

__all__ = [
    "Curation",
    "available_tokens",
    "blueprints",
    "config_id",
    "curate",
    "estimate_tokens",
    "fitting",
    "population_marginals",
    "prompts",
    "read_responses",
    "seeded_sample",
    "write_prompts",
]
