"""A job of the rag family as data: what to read, what to compute, where to write."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import msgspec

from evalframe.core.errors import ParameterError
from evalframe.jobs.settings import Bootstrap, OnInvalid, check_items

Mode: TypeAlias = Literal["strict", "lenient"]
Dropped: TypeAlias = Literal["excluded", "wrong"]
RateIntervals: TypeAlias = Literal["wilson", "none"]

MODES: tuple[str, ...] = get_args(Mode)
DROPPED: tuple[str, ...] = get_args(Dropped)
RATE_INTERVALS: tuple[str, ...] = get_args(RateIntervals)

KEYS = ("model", "dataset", "noise_rate", "passage_num", "correct_passage_rate")
"""What responses are grouped by unless a job says otherwise, as far as the table has it."""


class RagJob(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="family",
    tag="rag",
):
    """One run of the rag family: everything that decides the numbers, and the output.

    Attributes:
        items: Tables of responses, as files, globs or folders; with `rgb` prediction files.
        rgb: Whether the items are prediction files of RGB.
        instances: A table of instances, to take the answers from.
        output: A file for the table of rates, or a folder for all tables.
        by: Columns to group by; by default `KEYS`, as far as the table has them.
        mode: How responses are labelled; by default strictly, unless the table has labels.
        dropped: What becomes of responses without a label.
        intervals: Of rates where nothing is resampled.
        level: Confidence level of these intervals.
        weight: A column of weights.
        key: Columns that identify a row; by default `by` and `id`.
        bootstrap: Resampling of questions, or none.
        on_invalid: What happens to rows that break the contract.
        hash_inputs: Whether the provenance holds SHA-256 sums of the inputs.
    """

    items: tuple[str, ...]
    rgb: bool = False
    instances: str | None = None
    output: str | None = None
    by: tuple[str, ...] | None = None
    mode: Mode | None = None
    dropped: Dropped = "excluded"
    intervals: RateIntervals = "wilson"
    level: float = 0.95
    weight: str | None = None
    key: tuple[str, ...] | None = None
    bootstrap: Bootstrap | None = None
    on_invalid: OnInvalid = "raise"
    hash_inputs: bool = False

    def __post_init__(self) -> None:
        check_items(self.items)
        if not 0 < self.level < 1:
            raise ParameterError(f"level must lie between 0 and 1, got {self.level}; usual is 0.95")
        if self.rgb and self.instances:
            raise ParameterError("prediction files hold their answers; leave out the instances")
