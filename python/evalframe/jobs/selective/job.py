"""A job of the selective family as data: what to read, what to compute, where to write."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from evalframe.core.errors import ParameterError
from evalframe.jobs.settings import TableJob

LossName: TypeAlias = Literal["abs", "abs_norm", "zero_one", "squared"]

LOSSES: tuple[str, ...] = get_args(LossName)
RUN_FLAGS = ("mode", "intersection_only", "artifact", "rules")
"""What the command line has for run documents only."""

METRICS = (
    "coverage",
    "selective_risk",
    "aurc",
    "augrc",
    "aurc_at",
    "augrc_at",
    "aurc_optimal",
    "augrc_optimal",
    "eaurc",
    "eaugrc",
    "aurc_achievable",
    "risk_at",
)
"""What is computed unless a job says otherwise: every quantity of a selective report."""


PREDICTION, LABEL, PARTICIPANT, ITEM = "prediction", "label", "participant_id", "item"

ROLES = (
    *(PREDICTION, LABEL, PARTICIPANT, ITEM, "weight", "confidence", "loss", "correct", "score"),
    "mode",
)
"""Columns that a job may name, beside what the metrics of others are computed from."""

_PARTICIPANT = "participant"
"""How the column of participants may be called, too."""


class Loss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named loss of prediction and label, or a column that holds the loss."""

    name: LossName | None = None
    column: str | None = None
    scale: float | None = None

    def __post_init__(self) -> None:
        if (self.name is None) == (self.column is None):
            raise ParameterError(f"a loss is either a name ({', '.join(LOSSES)}) or a column")
        if self.column == "":
            raise ParameterError("the column of the loss is empty; name one")
        if self.scale is None:
            return
        if self.name != "abs_norm":
            other = self.name or f"column {self.column}"
            raise ParameterError(f"a scale belongs to the loss abs_norm, not to {other}; omit it")
        if not 0 < self.scale < math.inf:
            raise ParameterError(f"scale must be above 0 and finite, got {self.scale}")

    @property
    def divisor(self) -> float:
        """What abs_norm divides by; the default is the range of PHQ-8 items."""
        return 3.0 if self.scale is None else self.scale


class SelectiveJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="selective"):
    """One run of the selective family: everything that decides the numbers, and the output.

    Attributes:
        items: Files, globs or folders, as given.
        output: Where the result goes; its extension decides the format.
        by: Columns to group by.
        confidence: Confidence columns; the result has rows for each.
        calibration: A calibration artifact, whose confidence is evaluated as `calibrated`.
        loss: Named loss or column; by default what the table tells, see `choosing`.
        metrics: Names, or tables with `name`, optional `alias` and the metric's arguments; by
            default `METRICS`, as far as the convention defines them.
        coverage_grid: Coverages of a `risk_at` that names none.
        area_coverage: Coverage of an `aurc_at` or `augrc_at` that names none.
        convention: Convention of the metrics that have one and do not name their own.
        columns: Which columns play which roles; `participant` stands for `participant_id`.
        key: Columns that identify a row; by default `by`, participant and item, as present.
        bootstrap: Resampling, or none.
        on_invalid: What happens to rows that break the contract.
        hash_inputs: Whether the provenance holds SHA-256 sums of the inputs.
    """

    by: tuple[str, ...] = ()
    confidence: tuple[str, ...] = ("confidence",)
    calibration: str | None = None
    loss: Loss | None = None
    metrics: tuple[str | dict[str, Any], ...] | None = None
    coverage_grid: tuple[float, ...] = tuple(k / 10 for k in range(1, 10))
    area_coverage: float = 0.5
    convention: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if _PARTICIPANT in self.columns:
            named = {PARTICIPANT if k == _PARTICIPANT else k: v for k, v in self.columns.items()}
            msgspec.structs.force_setattr(self, "columns", named)
        for name in ("confidence", "metrics"):
            if getattr(self, name) == ():
                raise ParameterError(f"{name} is empty; a job needs at least one")
        if len(set(self.confidence)) < len(self.confidence):
            raise ParameterError(f"confidence names a column twice: {', '.join(self.confidence)}")
        if "confidence" in self.by:
            raise ParameterError("the result's column 'confidence' is taken; rename that group")
        for coverage in (*self.coverage_grid, self.area_coverage):
            if not 0 < coverage <= 1:
                raise ParameterError(f"a coverage must lie in (0, 1], got {coverage}")

    @property
    def cluster(self) -> str:
        """The column whose values are resampled together."""
        return (self.bootstrap and self.bootstrap.cluster) or PARTICIPANT
