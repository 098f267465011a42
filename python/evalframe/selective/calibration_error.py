"""Calibration errors: the gap between confidence and accuracy, bin by bin.

A bin holds items of about the same confidence; its gap is their accuracy minus their mean
confidence. The errors differ in how they sum the gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import State, Totals, own, ratio
from evalframe.core.typing import Role
from evalframe.selective.binning import (
    Binning,
    Closed,
    are_probabilities,
    by_bin,
    check_binning,
    per_bin,
)

_ONE = 1.0 + 1e-9
"""The weight of one item, with rounding."""

_GAP = per_bin(own.gap).abs()
_FILLED = (own.mass > 0).cast(pl.Float64)


@metric(family="selective", direction="minimize", range=(0.0, 1.0))
def expected_calibration_error(
    confidence: Role = "confidence",
    correct: Role = "correct",
    *,
    weight: Role = None,
    bins: int = 10,
    binning: Binning = "equal_width",
    closed: Closed = "left",
) -> State:
    """Expected calibration error: mean gap between accuracy and confidence, weighted by bin size.

    It depends on the bins and is biased upwards in small samples: report `bins` with it, and see
    `squared_calibration_error` for a debiased form.

    Returns:
        Null without items.

    Raises:
        ParameterError: `bins`, `binning` or `closed` is outside its domain.

    References:
        Naeini, Cooper & Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
        binning; Guo et al. (2017), On calibration of modern neural networks. Values of
        equal-width bins match ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame(
        ...     {"confidence": [0.9, 0.9, 0.6, 0.6], "correct": [True, True, True, False]}
        ... )
        >>> round(items.select(ef.expected_calibration_error()).item(), 6)
        0.1
    """
    return _by_gap(
        confidence,
        correct,
        weight,
        bins,
        binning,
        closed,
        terms={"gaps": own.gap.abs()},
        finish=lambda t: ratio(t.gaps, t.mass),
    )


@metric(family="selective", direction="minimize", range=(0.0, 1.0))
def maximum_calibration_error(
    confidence: Role = "confidence",
    correct: Role = "correct",
    *,
    weight: Role = None,
    bins: int = 10,
    binning: Binning = "equal_width",
    closed: Closed = "left",
) -> State:
    """Maximum calibration error: the largest gap between accuracy and confidence of any bin.

    Bins of few items can decide it; bins of equal mass are more stable.

    Returns:
        Null without items.

    Raises:
        ParameterError: `bins`, `binning` or `closed` is outside its domain.

    References:
        Naeini, Cooper & Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
        binning.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75, 0.25], "correct": [1, 0, 0]})
        >>> items.select(ef.maximum_calibration_error()).item()
        0.25
    """
    return _by_gap(
        confidence,
        correct,
        weight,
        bins,
        binning,
        closed,
        maxima={"largest": pl.when(own.mass > 0).then(_GAP)},
        finish=lambda t: t.largest,
    )


@metric(family="selective", direction="minimize", range=(0.0, 1.0))
def adaptive_calibration_error(
    confidence: Role = "confidence",
    correct: Role = "correct",
    *,
    weight: Role = None,
    bins: int = 10,
) -> State:
    """Adaptive calibration error: plain mean of the gaps of bins of equal mass.

    With ties the bins are not of equal mass, but each has the same weight in the mean. For several
    classes, add up one call per class.

    Args:
        bins: Number of bins ("ranges" in the source).

    Returns:
        Null without items.

    Raises:
        ParameterError: `bins` is not a whole number of at least 1.

    References:
        Nixon et al. (2019), Measuring calibration in deep learning.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.25, 0.5, 0.75, 1.0], "correct": [0, 1, 1, 1]})
        >>> items.select(ef.adaptive_calibration_error(bins=2)).item()
        0.125
    """
    return _by_gap(
        confidence,
        correct,
        weight,
        bins,
        "equal_mass",
        "left",
        terms={"gaps": _GAP, "filled": _FILLED},
        finish=lambda t: ratio(t.gaps, t.filled),
    )


@metric(family="selective", direction="minimize", range=(float("-inf"), 1.0))
def squared_calibration_error(
    confidence: Role = "confidence",
    correct: Role = "correct",
    *,
    weight: Role = None,
    bins: int = 10,
    binning: Binning = "equal_width",
    closed: Closed = "left",
    debiased: bool = True,
) -> State:
    """Mean squared gap between accuracy and confidence, weighted by bin size, debiased.

    The plain form is too large by the variance of each bin's accuracy; the debiased form subtracts
    its estimate y (1 - y) / (n - 1). It is not clipped: near perfect calibration it is negative
    about half of the time.

    Args:
        correct: True if the item was answered correctly; the variance is estimated for Booleans.
        weight: How often each row counts (a frequency, part of n).
        debiased: Subtract the variance; bins of one item are then left out.

    Returns:
        Null without items, or, debiased, no bin of more than one.

    Raises:
        ParameterError: `bins`, `binning` or `closed` is outside its domain.

    References:
        Kumar, Liang & Ma (2019), Verified uncertainty calibration, and their package
        uncertainty-calibration (`unbiased_square_ce`).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75, 0.75], "correct": [1, 1, 0]})
        >>> plain = ef.squared_calibration_error(debiased=False).alias("plain")
        >>> items.select(plain, ef.squared_calibration_error())
        shape: (1, 2)
        ┌──────────┬───────────────────────────┐
        │ plain    ┆ squared_calibration_error │
        │ ---      ┆ ---                       │
        │ f64      ┆ f64                       │
        ╞══════════╪═══════════════════════════╡
        │ 0.006944 ┆ -0.104167                 │
        └──────────┴───────────────────────────┘
    """
    squares, usable = own.mass * _GAP**2, own.mass
    if debiased:
        accuracy = per_bin(own.correct)
        variance = accuracy * (1.0 - accuracy) / (own.mass - 1.0)
        squares = pl.when(own.mass > _ONE).then(squares - own.mass * variance).otherwise(0.0)
        usable = pl.when(own.mass > _ONE).then(own.mass).otherwise(0.0)
    return _by_gap(
        confidence,
        correct,
        weight,
        bins,
        binning,
        closed,
        terms={"squares": squares, "usable": usable},
        finish=lambda t: pl.when(t.usable > 0).then(ratio(t.squares, t.mass)),
        more={"correct": weight * correct},
    )


def _by_gap(
    confidence: pl.Expr,
    correct: pl.Expr,
    weight: pl.Expr,
    bins: int,
    binning: str,
    closed: str,
    *,
    finish: Callable[[Totals], pl.Expr],
    terms: Mapping[str, pl.Expr] | None = None,
    maxima: Mapping[str, pl.Expr] | None = None,
    more: Mapping[str, pl.Expr] | None = None,
) -> State:
    """The state of a metric of gaps per bin."""
    check_binning(bins, binning, closed)
    sums = {"mass": weight, "gap": weight * (correct - confidence), **(more or {})}
    axis = by_bin(
        confidence, sums, bins=bins, binning=binning, closed=closed, terms=terms, maxima=maxima
    )
    return State(axes=(axis,), finish=finish, valid=are_probabilities(confidence, correct))
