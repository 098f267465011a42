"""The sample of the selective family as a run document."""

from __future__ import annotations

from evalframe.compat.ai_psychiatrist.writer import encode_run
from evalframe.core.samples import SampleFile
from evalframe.selective import sample
from evalframe.selective.sample import MODES, sample_participants, sample_signals


def sample_document(*, participants: int = 60, seed: int = 0) -> bytes:
    """The sample as a run document with an experiment for each mode, as JSON.

    Args:
        participants: Number of participants that were attempted.
        seed: Seed of the items.

    Example:
        >>> from evalframe.compat.ai_psychiatrist import open_run, sample_document
        >>> run = open_run(sample_document(participants=10), mode="few_shot")
        >>> run.included.len(), run.failed.to_list()
        (9, [308])
    """
    items = sample_signals(participants=participants, seed=seed)
    failed = sample_participants(participants=participants, seed=seed).filter(status="failed")
    return encode_run(
        {mode: items.filter(mode=mode).drop("mode") for mode in MODES},
        failed={mode: failed.filter(mode=mode)["participant_id"].to_list() for mode in MODES},
        run_id=f"sample-{participants}-{seed}",
    )


def sample_files(*, participants: int = 60, seed: int = 0) -> list[SampleFile]:
    """The sample of the family as files, and the same answers as a run document."""
    return [
        *sample.sample_files(participants=participants, seed=seed),
        SampleFile(
            name="run.json",
            row="a run document with an experiment for each mode, as `read_run` reads it",
            generator="evalframe.compat.ai_psychiatrist.sample_document"
            f"(participants={participants}, seed={seed})",
            seed=seed,
            content=sample_document(participants=participants, seed=seed),
        ),
    ]
