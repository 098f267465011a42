"""The files of the sample."""

from __future__ import annotations

from evalframe.core.samples import SampleFile
from evalframe.rag.sample.instances import sample_instances, sample_instances_int
from evalframe.rag.sample.responses import sample_responses


def sample_files(*, questions: int = 30, seed: int = 0) -> list[SampleFile]:
    """The sample as files: two of instances, since `positive` has two shapes, one of responses.

    Args:
        questions: How many questions `en` and `zh` each have.
        seed: Non-negative integer.

    Raises:
        ParameterError: No question or a negative seed.

    Example:
        >>> [file.name for file in sample_files(questions=1)]
        ['rag_instances.parquet', 'rag_instances_int.parquet', 'rag_responses.parquet']
    """
    call = f"evalframe.rag.sample.{{}}(questions={questions}, seed={seed})"
    return [
        SampleFile(
            name="rag_instances.parquet",
            row="one question of a default or counterfactual data set, with its documents",
            generator=call.format("sample_instances"),
            seed=seed,
            content=sample_instances(questions=questions, seed=seed),
        ),
        SampleFile(
            name="rag_instances_int.parquet",
            row="one question of an integration data set, with documents for each group of answers",
            generator=call.format("sample_instances_int"),
            seed=seed,
            content=sample_instances_int(questions=questions, seed=seed),
        ),
        SampleFile(
            name="rag_responses.parquet",
            row="one response of a simulated model to a question in a setting; null if it failed",
            generator=call.format("sample_responses"),
            seed=seed,
            content=sample_responses(questions=questions, seed=seed),
        ),
    ]
