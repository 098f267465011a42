"""Proper scores of probabilities, the parts of the Brier score, and overconfidence."""

from __future__ import annotations

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import State, Totals, own, ratio, total
from evalframe.core.typing import Role
from evalframe.selective.calibration_error import (
    Binning,
    Closed,
    are_probabilities,
    by_bin,
    per_bin,
)

NEARLY = 1e-6
"""Probabilities are clipped to this distance from 0 and 1 before a logarithm."""

_ROUNDING = 1e-15


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def negative_log_likelihood(
    confidence: Role = "confidence", correct: Role = "correct", *, weight: Role = None
) -> State:
    """Mean negative log-likelihood of the outcomes, also called log loss or cross-entropy.

    Natural logarithms; confidences are kept 1e-6 away from 0 and 1, so that one certain mistake
    costs 13.8 and not infinity.

    References:
        Good (1952), Rational decisions. Values match ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.5, 0.25], "correct": [True, False]})
        >>> round(items.select(ef.negative_log_likelihood()).item(), 6)
        0.490415
    """
    # The same as `clip`, in a fifth of the time.
    low, high = confidence < NEARLY, confidence > 1.0 - NEARLY
    p = pl.when(low).then(NEARLY).when(high).then(1.0 - NEARLY).otherwise(confidence)
    likelihood = correct * p.log() + (1.0 - correct) * (1.0 - p).log()
    return State(
        sums={"mass": weight, "log_likelihood": weight * likelihood},
        finish=lambda t: -ratio(t.log_likelihood, t.mass),
        valid=are_probabilities(confidence, correct),
    )


@metric(family="selective", direction="minimize", range=(0.0, 1.0))
def brier_score(
    confidence: Role = "confidence", correct: Role = "correct", *, weight: Role = None
) -> State:
    """Brier score: mean squared difference between confidence and outcome.

    It equals `brier_reliability - brier_resolution + brier_uncertainty`.

    References:
        Brier (1950), Verification of forecasts expressed in terms of probability.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [1.0, 0.5], "correct": [True, False]})
        >>> items.select(ef.brier_score()).item()
        0.125
    """
    return State(
        sums={"mass": weight, "squares": weight * (correct - confidence) ** 2},
        finish=lambda t: ratio(t.squares, t.mass),
        valid=are_probabilities(confidence, correct),
    )


@metric(family="selective", direction="maximize", range=(float("-inf"), 1.0))
def brier_skill(
    confidence: Role = "confidence", correct: Role = "correct", *, weight: Role = None
) -> State:
    """Brier skill score: the share of the uncertainty that the confidence explains.

    1 - `brier_score` / `brier_uncertainty`; 0 for a constant confidence equal to the accuracy.

    Returns:
        Null without items, and if all outcomes are the same.

    References:
        Murphy (1973), A new vector partition of the probability score.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [1.0, 0.5], "correct": [True, False]})
        >>> items.select(ef.brier_skill()).item()
        0.5
    """

    def finish(t: Totals) -> pl.Expr:
        uncertainty = _variance(t)
        return pl.when(uncertainty > _ROUNDING).then(1.0 - t.squares / t.mass / uncertainty)

    squares = weight * (correct - confidence) ** 2
    return State(
        sums={"squares": squares, **_outcomes(correct, weight)},
        finish=finish,
        valid=are_probabilities(confidence, correct),
    )


@metric(family="selective", direction="minimize", range=(0.0, 1.0))
def brier_reliability(
    confidence: Role = "confidence",
    correct: Role = "correct",
    *,
    weight: Role = None,
    bins: int | None = None,
    binning: Binning = "equal_width",
    closed: Closed = "left",
) -> State:
    """Reliability part of the Brier score: mean squared gap between accuracy and confidence.

    0 is best. Without bins, every distinct confidence is a separate bin.

    Args:
        bins: Number of bins; None for the distinct confidences.

    References:
        Murphy (1973), as for `brier_skill`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75, 0.0], "correct": [1, 0, 0]})
        >>> round(items.select(ef.brier_reliability()).item(), 6)
        0.041667
    """
    gap = per_bin(own.correct) - per_bin(own.confidence)
    sums, terms = _moments(confidence, correct, weight), {"squares": own.mass * gap**2}
    return State(
        axes=(by_bin(confidence, sums, bins, binning, closed, terms=terms),),
        finish=lambda t: ratio(t.squares, t.mass),
        valid=are_probabilities(confidence, correct),
    )


@metric(family="selective", direction="maximize", range=(-1.0, 0.25))
def brier_resolution(
    confidence: Role = "confidence",
    correct: Role = "correct",
    *,
    weight: Role = None,
    bins: int | None = None,
    binning: Binning = "equal_width",
    closed: Closed = "left",
) -> State:
    """Resolution part of the Brier score: how much accuracy varies with confidence.

    With bins it is the generalised resolution: the variance between bins, plus twice the
    covariance of confidence and outcome within bins, minus the variance of confidence within
    bins. So the three parts add up to the Brier score with any bins.

    Args:
        bins: Number of bins; None for the distinct confidences.

    Returns:
        At most 0.25, and at least 0 without bins; null without items.

    References:
        Murphy (1973), as for `brier_skill`; Stephenson, Coelho & Jolliffe (2008), Two extra
        components in the Brier score decomposition.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75, 0.0], "correct": [1, 0, 0]})
        >>> round(items.select(ef.brier_resolution()).item(), 6)
        0.055556
    """
    accuracy = per_bin(own.correct)
    terms = {"between": own.mass * (accuracy - total.correct / total.mass) ** 2}
    sums = _moments(confidence, correct, weight)
    if bins is not None:
        sums |= {
            "confidence_squares": weight * confidence**2,
            "products": weight * confidence * correct,
        }
        covariance = own.products - own.correct * per_bin(own.confidence)
        variance = own.confidence_squares - own.confidence * per_bin(own.confidence)
        terms["within"] = 2.0 * covariance - variance
    return State(
        axes=(by_bin(confidence, sums, bins, binning, closed, terms=terms),),
        finish=lambda t: ratio(t.between if bins is None else t.between + t.within, t.mass),
        valid=are_probabilities(confidence, correct),
    )


@metric(family="selective", direction="none", range=(0.0, 0.25))
def brier_uncertainty(
    confidence: Role = "confidence", correct: Role = "correct", *, weight: Role = None
) -> State:
    """Uncertainty part of the Brier score: the variance of the outcomes.

    For Boolean outcomes it is accuracy (1 - accuracy). It says nothing about the confidence,
    which decides only what rows count.

    References:
        Murphy (1973), as for `brier_skill`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75, 0.0, 1.0], "correct": [1, 0, 0, 1]})
        >>> items.select(ef.brier_uncertainty()).item()
        0.25
    """
    return State(
        sums=_outcomes(correct, weight),
        finish=_variance,
        valid=are_probabilities(confidence, correct),
    )


@metric(family="selective", direction="none", range=(0.0, 1.0))
def mean_confidence(
    confidence: Role = "confidence", correct: Role = None, *, weight: Role = None
) -> State:
    """Mean confidence of the items.

    Args:
        correct: Not needed; rows without it are left out, as in calibration errors.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"confidence": [1.0, 0.5, None]}).select(ef.mean_confidence()).item()
        0.75
    """
    needed = (confidence,) if correct is None else (confidence, correct)
    return State(
        sums={"mass": weight, "confidence": weight * confidence},
        finish=lambda t: ratio(t.confidence, t.mass),
        valid=are_probabilities(*needed),
    )


@metric(family="selective", direction="none", range=(-1.0, 1.0))
def overconfidence(
    confidence: Role = "confidence", correct: Role = "correct", *, weight: Role = None
) -> State:
    """Mean confidence minus accuracy: above 0 is overconfident, below 0 underconfident.

    References:
        Lichtenstein, Fischhoff & Phillips (1982), Calibration of probabilities: the state of the
        art to 1980.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [1.0, 0.5], "correct": [True, False]})
        >>> items.select(ef.overconfidence()).item()
        0.25
    """
    return State(
        sums={"mass": weight, "excess": weight * (confidence - correct)},
        finish=lambda t: ratio(t.excess, t.mass),
        valid=are_probabilities(confidence, correct),
    )


def _moments(confidence: pl.Expr, correct: pl.Expr, weight: pl.Expr) -> dict[str, pl.Expr]:
    return {"mass": weight, "confidence": weight * confidence, "correct": weight * correct}


def _outcomes(correct: pl.Expr, weight: pl.Expr) -> dict[str, pl.Expr]:
    return {"mass": weight, "correct": weight * correct, "correct_squares": weight * correct**2}


def _variance(t: Totals) -> pl.Expr:
    """The population variance of the outcomes, null without mass."""
    mean = ratio(t.correct, t.mass)
    return (t.correct_squares / t.mass - mean**2).clip(0.0)
