"""The answers of all respondents together."""

from __future__ import annotations

import polars as pl

from evalframe.survey.surveys.tables import AnySurvey, as_long, like_survey


@like_survey
def population_marginals(survey: AnySurvey) -> pl.LazyFrame:
    """The answers of all segments to each question, weighted by their respondents.

    A respondent counts once for each category that has a segment of theirs.

    Args:
        survey: As for `as_distributions`.

    Returns:
        `round`, `question_id` and `percent` (List(Float64), by option index): questions in the
        order of the survey. Null if no segment has respondents. Lazy if the survey is a LazyFrame.

    Raises:
        ContractError: As for `as_distributions`.
        MissingColumnsError: As for `as_distributions`.

    References:
        dtef-app 52d79c0.

    Example:
        >>> survey = pl.DataFrame(
        ...     {
        ...         "question_id": ["q", "q"],
        ...         "segment_id": ["gender:male", "gender:female"],
        ...         "sample_size": [100, 300],
        ...         "actual": [[20.0, 80.0], [40.0, 60.0]],
        ...     }
        ... )
        >>> population_marginals(survey).row(0)
        ('survey', 'q', [35.0, 65.0])
    """
    question = ["round", "question_id"]
    size = pl.when(pl.col("sample_size") > 0).then("sample_size").cast(pl.Float64)
    options = as_long(survey).lazy().group_by(*question, "option_index", maintain_order=True)
    percent = (pl.col("percent") * size).sum() / size.sum()
    return (
        options.agg(percent=percent.fill_nan(None))
        .group_by(question, maintain_order=True)
        .agg(pl.col("percent").sort_by("option_index"))
        .with_columns(pl.when(pl.col("percent").list.first().is_not_null()).then("percent"))
    )
