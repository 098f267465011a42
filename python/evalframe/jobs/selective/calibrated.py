"""A calibration artifact applied to the items of a job: one more confidence, `calibrated`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.selective.calibrators import Temperature, read_calibration
from evalframe.selective.confidences import confidence

if TYPE_CHECKING:
    from pathlib import Path

    from evalframe.jobs.selective.job import SelectiveJob
    from evalframe.selective.calibrators.maps import Fitted

CALIBRATED = "calibrated"

_CONFIDENCE, _STATED = "confidence", "verbalized_confidence"


def with_calibration(
    job: SelectiveJob, items: pl.LazyFrame, folder: Path
) -> tuple[SelectiveJob, pl.LazyFrame, dict[str, str]]:
    """The job and its items with the calibrated confidence, and a note on where it comes from."""
    if job.calibration is None:
        return job, items, {}
    calibrator = read_calibration(folder / job.calibration)
    present = items.collect_schema()
    if CALIBRATED in present:
        raise ParameterError(
            f"items: there is a column {CALIBRATED!r} already, and the calibration makes one; "
            "rename the column, or leave out --calibration"
        )
    features, value = _applied(calibrator, present)
    if missing := {*features} - {*present}:
        raise MissingColumnsError.of(f"calibration {job.calibration}", missing, present)
    named = job.confidence
    if named == (_CONFIDENCE,):
        named = features if len(features) == 1 and features != (_STATED,) else ()
    others = [name for name in named if name != CALIBRATED]
    told = f"{calibrator.method} of {', '.join(features)}, from {job.calibration}"
    return (
        msgspec.structs.replace(job, confidence=(*others, CALIBRATED)),
        items.with_columns(value.alias(CALIBRATED)),
        {CALIBRATED: told},
    )


def _applied(calibrator: Fitted, present: pl.Schema) -> tuple[tuple[str, ...], pl.Expr]:
    """The columns that are calibrated, and the calibrated confidence."""
    features = calibrator.features
    if calibrator.target is None and _STATED in present:
        return (_STATED,), confidence("verbalized_calibrated", calibration=calibrator)
    value = calibrator.apply()
    if isinstance(calibrator, Temperature):
        value = pl.when(pl.col(features[0]).is_between(0, 1)).then(value)
    return features, value
