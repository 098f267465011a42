"""Surveys: tidy tables, and the files they come from and go to."""

from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.reading import read_survey
from evalframe.survey.surveys.segments import (
    CATEGORIES,
    canonical_id,
    canonical_value,
    category,
    segment_id,
    slug,
)
from evalframe.survey.surveys.tables import Survey, as_distributions, as_long

__all__ = [
    "CATEGORIES",
    "Survey",
    "as_distributions",
    "as_long",
    "as_survey",
    "canonical_id",
    "canonical_value",
    "category",
    "read_survey",
    "segment_id",
    "slug",
]
