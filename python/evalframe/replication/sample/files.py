"""The files of the sample."""

from __future__ import annotations

from evalframe.core.samples import SampleFile
from evalframe.replication.sample.responses import sample_designs, sample_participants
from evalframe.replication.sample.tests import sample_tests


def sample_files(*, seed: int = 0) -> list[SampleFile]:
    """The sample as files: tests of both sides, responses of participants, and their design.

    Args:
        seed: Non-negative integer.

    Raises:
        ParameterError: A negative seed.

    Example:
        >>> [file.name for file in sample_files()][:2]
        ['replication_tests.parquet', 'replication_responses.parquet']
    """
    call = f"evalframe.replication.sample.{{}}(seed={seed})"
    return [
        SampleFile(
            name="replication_tests.parquet",
            row="one test of an invented finding: people, and those whom a simulated model plays",
            generator=call.format("sample_tests"),
            seed=seed,
            content=sample_tests(seed=seed),
        ),
        SampleFile(
            name="replication_responses.parquet",
            row="the response of one participant, played by a simulated model, to one test",
            generator=call.format("sample_participants"),
            seed=seed,
            content=sample_participants(seed=seed),
        ),
        SampleFile(
            name="replication_designs.parquet",
            row="one test: how responses become its statistic",
            generator="evalframe.replication.sample.sample_designs()",
            seed=seed,
            content=sample_designs(),
        ),
    ]
