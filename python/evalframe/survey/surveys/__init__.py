"""Surveys: tidy tables, and the files they come from and go to."""

from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.dialogues import read_dialogues
from evalframe.survey.surveys.names import (
    CATEGORIES,
    canonical_id,
    canonical_value,
    category,
    segment_id,
    slug,
)
from evalframe.survey.surveys.reading import read_survey
from evalframe.survey.surveys.tables import Survey, as_distributions, as_long
from evalframe.survey.surveys.validating import SurveyReport, validate
from evalframe.survey.surveys.writing import write_survey

__all__ = [
    "CATEGORIES",
    "Survey",
    "SurveyReport",
    "as_distributions",
    "as_long",
    "as_survey",
    "canonical_id",
    "canonical_value",
    "category",
    "read_dialogues",
    "read_survey",
    "segment_id",
    "slug",
    "validate",
    "write_survey",
]
