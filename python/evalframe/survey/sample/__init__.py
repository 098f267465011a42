"""A small survey and the responses of three models from a seed.

Everything is invented: a town that does not exist, its people, and three models that were never
trained. Numbers are computed from uniform draws by sums, products, quotients and comparisons, which
IEEE arithmetic defines to the last bit: the same seed gives the same tables on every machine.
"""

from evalframe.core.samples import SampleFile
from evalframe.survey.sample.responses import MODELS, sample_responses
from evalframe.survey.sample.survey import sample_survey

__all__ = ["MODELS", "sample_files", "sample_responses", "sample_survey"]


def sample_files(*, seed: int = 0) -> list[SampleFile]:
    """The sample as files: the survey and the responses of models.

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
