"""Confidences that let invalid signals through, and metrics of such, as in ai-psychiatrist.

| signals | evalframe | ai-psychiatrist |
|---|---|---|
| NaN in a signal whose confidence is clipped to [0, 1] | null | 1.0, full confidence |
| NaN in a count, similarity, entropy or deviation that is not clipped | null | NaN |
| infinity, unless it means a confidence of 0 | null | as it computes, such as 1.0 |
| infinity in a feature of `calibrated` | null | the end of the calibrated scale |
| an artifact | checked by `read_calibration` | read without checks |
| a confidence outside [0, 1] in `expected_calibration_error` or `negative_log_likelihood` | \
missing, counted | clipped |
| `expected_calibration_error` without items | null | 0.0 |
| `f1_score` of positives, none of them predicted | 0 | null |

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

import polars as pl

from evalframe.compat.ai_psychiatrist.calibration import read_calibration
from evalframe.core.frames import any_frame
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr
from evalframe.selective import calibration_error, confidences, scoring, screening
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
    from evalframe.core.metric import MetricExpr
    from evalframe.selective.calibration_error import Binning, Closed
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

    Examples:
        >>> from evalframe.compat import ai_psychiatrist
        >>> [need.demand.words for need in ai_psychiatrist.requirements("token_pe")]
        ['is not -1']
    """
    return confidences.requirements_by(REQUIREMENTS, variant, _read(variant, calibration))


@any_frame
def check_signals(
    frame: Frame,
    variants: str | Sequence[str],
    *,
    calibration: Calibration | None = None,
    where: pl.Expr | None = None,
) -> None:
    """Check the signals that some variants need against the program's demands.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import ai_psychiatrist
        >>> items = pl.DataFrame({"token_msp": [float("inf")]})
        >>> ai_psychiatrist.check_signals(items, "token_msp")
    """
    required = partial(requirements, calibration=calibration)
    confidences.check_needs(frame, confidences.needs_of(variants, required), where)


def expected_calibration_error(
    confidence: IntoExpr = "confidence",
    correct: IntoExpr = "correct",
    *,
    weight: IntoExpr | None = None,
    bins: int = 10,
    binning: Binning = "equal_width",
    closed: Closed = "left",
) -> pl.Expr:
    """Expected calibration error of confidences clipped to [0, 1], 0.0 without items.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import ai_psychiatrist
        >>> items = pl.DataFrame({"confidence": [1.5, 0.5], "correct": [True, False]})
        >>> items.select(ai_psychiatrist.expected_calibration_error()).item()
        0.25
    """
    clipped = as_expr(confidence).clip(0.0, 1.0)
    error = calibration_error.expected_calibration_error(
        clipped, correct, weight=weight, bins=bins, binning=binning, closed=closed
    )
    return error.fill_null(0.0)


def negative_log_likelihood(
    confidence: IntoExpr = "confidence",
    correct: IntoExpr = "correct",
    *,
    weight: IntoExpr | None = None,
) -> MetricExpr:
    """Mean negative log-likelihood of confidences clipped to [0, 1].

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import ai_psychiatrist
        >>> items = pl.DataFrame({"confidence": [2.0, 0.5], "correct": [True, True]})
        >>> round(items.select(ai_psychiatrist.negative_log_likelihood()).item(), 4)
        0.3466
    """
    clipped = as_expr(confidence).clip(0.0, 1.0)
    return scoring.negative_log_likelihood(clipped, correct, weight=weight)


def f1_score(
    prediction: IntoExpr = "prediction",
    label: IntoExpr = "label",
    *,
    weight: IntoExpr | None = None,
    positive: str | int | float | bool = True,
) -> pl.Expr:
    """Harmonic mean of precision and recall, null if no positive row is predicted positive.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> from evalframe.compat import ai_psychiatrist
        >>> rows = pl.DataFrame({"prediction": [False], "label": [True]})
        >>> rows.select(ef.f1_score().alias("f1"), ai_psychiatrist.f1_score()).row(0)
        (0.0, None)
    """
    score = screening.f1_score(prediction, label, weight=weight, positive=positive)
    return pl.when(score > 0).then(score).alias("f1_score")


def _read(variant: str, calibration: Calibration | None) -> Calibration | None:
    """Read an artifact without checks if the variant needs it."""
    if isinstance(parse(variant), Calibrated) and isinstance(calibration, str | Path | Mapping):
        return read_calibration(calibration)
    return calibration
