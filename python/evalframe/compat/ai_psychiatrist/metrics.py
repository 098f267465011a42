"""Metrics of ai-psychiatrist where they differ from `evalframe`.

| function | case | evalframe | ai-psychiatrist |
|---|---|---|---|
| `expected_calibration_error` | a confidence outside [0, 1] | missing, counted | clipped |
| | no items | null | 0.0 |
| `negative_log_likelihood` | a confidence outside [0, 1] | missing, counted | clipped |
| `f1_score` | positives, none of them predicted | 0 | null |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.selective import calibration_error, scoring, screening

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.selective.calibration_error import Binning, Closed


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

    Takes the arguments of `ef.expected_calibration_error`.

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

    Takes the arguments of `ef.negative_log_likelihood`.

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

    Takes the arguments of `ef.f1_score`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> from evalframe.compat import ai_psychiatrist
        >>> rows = pl.DataFrame({"prediction": [False], "label": [True]})
        >>> rows.select(ef.f1_score().alias("f1"), ai_psychiatrist.f1_score()).row(0)
        (0.0, None)
    """
    score = screening.f1_score(prediction, label, weight=weight, positive=positive)
    return pl.when(score > 0).then(score).alias("f1_score")
