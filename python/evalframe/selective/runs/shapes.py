"""What is decoded of a run document, and what is skipped; loaded with msgspec on first use."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Raw, Struct


class Metadata(Struct, frozen=True):
    """Where a run came from."""

    run_id: Any = None
    git_commit: Any = None


class Provenance(Struct, frozen=True):
    """How an experiment was made; only its mode is read."""

    mode: Any = None


class Results(Struct, frozen=True):
    """The outcome of an experiment, its entries left undecoded; nothing if they are not there."""

    mode: Any = None
    results: Raw = Raw(b"")


class Experiment(Struct, frozen=True):
    """One mode of a run."""

    provenance: Provenance = Provenance()
    results: Results = Results()


class Document(Struct, frozen=True):
    """A run document."""

    run_metadata: Metadata = Metadata()
    experiments: list[Experiment] = []


class Entry(Struct, gc=False):
    """One attempt at one participant. `UNSET` is a key that is not there."""

    participant_id: Any = UNSET
    success: Any = UNSET
    ground_truth_items: Any = UNSET
    predicted_items: Any = UNSET
    item_signals: Any = UNSET
