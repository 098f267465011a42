"""Confidences that let invalid signals through, as ai-psychiatrist does.

| signals | evalframe | ai-psychiatrist |
|---|---|---|
| NaN in a signal whose confidence is clipped to [0, 1] | null | 1.0, full confidence |
| NaN in a count, similarity, entropy or deviation that is not clipped | null | NaN |
| infinity, unless it means a confidence of 0 | null | as it computes, such as 1.0 |
| infinity in a feature of `calibrated` | null | the end of the calibrated scale |
| an artifact | checked by `read_calibration` | read without checks |

If the program stops with an error, the value is null. A feature of `calibrated` must be a column;
`open_run` makes one of every signal that is requested. The program refuses features that are true
or text, which a column of numbers no longer shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalframe.compat.ai_psychiatrist.calibration import read_calibration
from evalframe.core.typing import Frame
from evalframe.selective import confidences
from evalframe.selective.variants import (
    ANY,
    FINITE_EXP,
    WHOLE,
    Calibrated,
    Demand,
    Requirement,
    parse,
)
from evalframe.selective.variants import REQUIREMENTS as SOUND

if TYPE_CHECKING:
    import polars as pl

    from evalframe.selective.confidences import Calibration


_NOT_MINUS_ONE = Demand("is not -1", lambda x: x != -1)
_NO_OVERFLOW = Demand(
    "has no overflowing exponential", lambda x: ~x.is_finite() | FINITE_EXP.holds(x)
)
_DEMANDS = {
    "verbalized_confidence": WHOLE,
    "token_pe": _NOT_MINUS_ONE,
    "token_energy": _NO_OVERFLOW,
    "consistency_score_std": _NOT_MINUS_ONE,
}
REQUIREMENTS = {
    column: replace(need, demand=_DEMANDS.get(column, ANY)) for column, need in SOUND.items()
}
"""Requirements of each signal."""


def confidence(variant: str, *, calibration: Calibration | None = None) -> pl.Expr:
    """Confidence of each item by a named variant.

    Takes the arguments and raises the errors of `evalframe.selective.confidence`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import ai_psychiatrist
        >>> items = pl.DataFrame({"token_msp": [0.5, float("nan")]})
        >>> items.select(ai_psychiatrist.confidence("token_msp")).to_series().to_list()
        [0.5, 1.0]
    """
    return confidences.confidence_by(REQUIREMENTS, variant, _read(variant, calibration))


def requirements(
    variant: str, *, calibration: Calibration | None = None
) -> tuple[Requirement, ...]:
    """Columns that a variant reads, with the program's demands, which admit more values.

    Takes the arguments and raises the errors of `evalframe.selective.requirements`.

    Examples:
        >>> from evalframe.compat import ai_psychiatrist
        >>> [need.demand.words for need in ai_psychiatrist.requirements("token_pe")]
        ['is not -1']
    """
    return confidences.requirements_by(REQUIREMENTS, variant, _read(variant, calibration))


def check_signals(
    frame: Frame,
    variants: str | Sequence[str],
    *,
    calibration: Calibration | None = None,
    where: pl.Expr | None = None,
) -> None:
    """Check the signals that some variants need against the program's demands.

    Takes the arguments and raises the errors of `evalframe.selective.check_signals`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import ai_psychiatrist
        >>> items = pl.DataFrame({"token_msp": [float("inf")]})
        >>> ai_psychiatrist.check_signals(items, "token_msp")
    """
    required = partial(requirements, calibration=calibration)
    confidences.check_needs(frame, confidences.needs_of(variants, required), where)


def _read(variant: str, calibration: Calibration | None) -> Calibration | None:
    """Read an artifact without checks if the variant needs it."""
    if isinstance(parse(variant), Calibrated) and isinstance(calibration, str | Path | Mapping):
        return read_calibration(calibration)
    return calibration
