"""The files of the sample."""

from __future__ import annotations

from evalframe.core.samples import SampleFile
from evalframe.survey.sample.responses import sample_responses
from evalframe.survey.sample.survey import sample_survey


def sample_files(*, seed: int = 0) -> list[SampleFile]:
    """The sample as files: the survey, and what models said about it.

    Args:
        seed: Non-negative integer.

    Raises:
        ParameterError: A negative seed.

    Example:
        >>> [file.name for file in sample_files()]
        ['survey.parquet', 'survey_responses.parquet']
    """
    call = f"evalframe.survey.sample.{{}}(seed={seed})"
    return [
        SampleFile(
            name="survey.parquet",
            row="one option of a question, as a segment of a round answered it",
            generator=call.format("sample_survey"),
            seed=seed,
            content=sample_survey(seed=seed),
        ),
        SampleFile(
            name="survey_responses.parquet",
            row="one response of a simulated model for a question and a segment; null if failed",
            generator=call.format("sample_responses"),
            seed=seed,
            content=sample_responses(seed=seed),
        ),
    ]
