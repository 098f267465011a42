"""The files of the sample."""

from __future__ import annotations

from evalframe.core.samples import SampleFile
from evalframe.selective.sample.items import sample_items, sample_participants
from evalframe.selective.sample.run import sample_document


def sample_files(*, participants: int = 60, seed: int = 0) -> list[SampleFile]:
    """The sample as files: `items.parquet`, `participants.parquet` and `run.json`.

    The run document holds the same answers with all confidence signals, an experiment for each
    mode.

    Args:
        participants: How many participants were attempted.
        seed: Non-negative integer.

    Raises:
        ParameterError: No participant or a negative seed.

    Example:
        >>> [file.name for file in sample_files(participants=2)]
        ['items.parquet', 'participants.parquet', 'run.json']
    """
    call = f"evalframe.selective.sample.{{}}(participants={participants}, seed={seed})"
    return [
        SampleFile(
            name="items.parquet",
            row="one item of one participant as answered in one mode; a null prediction abstains",
            generator=call.format("sample_items"),
            seed=seed,
            content=sample_items(participants=participants, seed=seed),
        ),
        SampleFile(
            name="participants.parquet",
            row="one run: a participant in a mode, included in the items or failed",
            generator=call.format("sample_participants"),
            seed=seed,
            content=sample_participants(participants=participants, seed=seed),
        ),
        SampleFile(
            name="run.json",
            row="a run document with an experiment for each mode, as `read_run` reads it",
            generator=call.format("sample_document"),
            seed=seed,
            content=sample_document(participants=participants, seed=seed),
        ),
    ]
