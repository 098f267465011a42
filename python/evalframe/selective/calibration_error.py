"""Calibration errors: the gap between confidence and accuracy, bin by bin.

A bin holds items of about the same confidence; its gap is their accuracy minus their mean
confidence. The errors differ in how they sum the gaps.

Equal width: bin k of B reaches from k/B to (k + 1)/B, with the edges as floats, k * (1/B), which is
what `numpy.linspace(0, 1, B + 1)` gives. They decide where a confidence such as 0.3 falls, since
3 * 0.1 is 0.30000000000000004.

Equal mass: an item falls into bin floor(B * m), where m is the share of all items with a lower
confidence. Items of equal confidence stay together, so no value depends on row order, and a bin
inside a large block of ties does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError
from evalframe.core.metric import metric
from evalframe.core.rows import all_hold
from evalframe.core.state import Axis, State, Totals, before, own, ratio, total
from evalframe.core.typing import Role

Binning: TypeAlias = Literal["equal_width", "equal_mass"]
Closed: TypeAlias = Literal["left", "right"]

TO_UNIT = "divide percent by 100"
"""The remedy for confidences outside [0, 1]."""

_ABOVE = 1.0 + 2.0**-50

_ROUNDING = 1e-9
"""Weights that are not binary fractions can add up to slightly less than an integer."""


def by_bin(
    confidence: pl.Expr,
    sums: Mapping[str, pl.Expr],
    bins: int | None,
    binning: str,
    closed: str,
    *,
    terms: Mapping[str, pl.Expr] | None = None,
    maxima: Mapping[str, pl.Expr] | None = None,
) -> Axis:
    """Sums per bin, from the least confident up; `sums` must have the weight as `mass`."""
    check_binning(1 if bins is None else bins, binning, closed)
    level, regroup = confidence, None
    if bins is not None and binning == "equal_width":
        level = bin_number(confidence, bins, closed)
    elif bins is not None:
        regroup = mass_bin(before.mass, total.mass, bins)
    return Axis(level, sums, terms=terms or {}, maxima=maxima or {}, regroup=regroup)


def check_binning(bins: object, binning: str, closed: str) -> None:
    """Raise ParameterError unless the bins, the binning and the closed end are valid."""
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ParameterError(f"bins must be a whole number of at least 1, got {bins!r}")
    check_choice("binning", binning, Binning)
    check_choice("closed", closed, Closed)


def bin_number(confidence: pl.Expr, bins: int, closed: str = "left") -> pl.Expr:
    """The bin of equal width that each confidence in [0, 1] falls into, counted from 0."""
    width = 1.0 / bins
    # A little more than the product is never a bin too low, and one too high only at an edge.
    product = confidence * (bins * _ABOVE)
    if closed == "left":
        number = product.floor()
        beyond = confidence < number * width
    else:
        number = (product.ceil() - 1.0).clip(0.0)
        beyond = (confidence <= number * width) & (number > 0.0)
    return pl.when(beyond | (number >= bins)).then(number - 1.0).otherwise(number)


def mass_bin(mass_before: pl.Expr, mass: pl.Expr, bins: int) -> pl.Expr:
    """The bin of equal mass of a confidence with so much mass below it, counted from 0."""
    return (bins * mass_before / mass + _ROUNDING).floor()


def are_probabilities(*values: pl.Expr) -> pl.Expr:
    """True if all lie in [0, 1]; false if one is null or NaN."""
    return all_hold(*(value.is_between(0.0, 1.0) for value in values))


def is_outside(confidence: pl.Expr) -> pl.Expr:
    """True if a finite number is outside [0, 1]."""
    return confidence.is_finite() & ~confidence.is_between(0.0, 1.0)


def per_bin(sums: pl.Expr) -> pl.Expr:
    """A sum of a bin over its mass, 0 in a bin without mass."""
    return pl.when(own.mass > 0).then(sums / own.mass).otherwise(0.0)


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

    References:
        Naeini, Cooper & Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
        binning; Guo et al. (2017), On calibration of modern neural networks. Values of
        equal-width bins match ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75, 1.0], "correct": [1, 1, 1]})
        >>> round(items.select(ef.expected_calibration_error()).item(), 6)
        0.166667
    """
    return _by_gap(
        (confidence, correct, weight),
        (bins, binning, closed),
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

    References:
        Naeini, Cooper & Hauskrecht (2015), as for `expected_calibration_error`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75, 0.25], "correct": [1, 0, 0]})
        >>> items.select(ef.maximum_calibration_error()).item()
        0.25
    """
    return _by_gap(
        (confidence, correct, weight),
        (bins, binning, closed),
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

    References:
        Nixon et al. (2019), Measuring calibration in deep learning.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.25, 0.5, 0.75, 1.0], "correct": [0, 1, 1, 1]})
        >>> items.select(ef.adaptive_calibration_error(bins=2)).item()
        0.125
    """
    return _by_gap(
        (confidence, correct, weight),
        (bins, "equal_mass", "left"),
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

    References:
        Kumar, Liang & Ma (2019), Verified uncertainty calibration, and their package
        uncertainty-calibration (`unbiased_square_ce`).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75] * 4, "correct": [1, 1, 1, 0]})
        >>> plain = ef.squared_calibration_error(debiased=False)
        >>> items.select(ef.squared_calibration_error(), plain=plain).row(0)
        (-0.0625, 0.0)
    """
    squares, usable = own.mass * _GAP**2, own.mass
    if debiased:
        accuracy = per_bin(own.correct)
        variance = accuracy * (1.0 - accuracy) / (own.mass - 1.0)
        squares = (
            pl.when(own.mass > 1.0 + _ROUNDING).then(squares - own.mass * variance).otherwise(0.0)
        )
        usable = pl.when(own.mass > 1.0 + _ROUNDING).then(own.mass).otherwise(0.0)
    return _by_gap(
        (confidence, correct, weight),
        (bins, binning, closed),
        terms={"squares": squares, "usable": usable},
        finish=lambda t: pl.when(t.usable > 0).then(ratio(t.squares, t.mass)),
        more={"correct": weight * correct},
    )


def _by_gap(
    roles: tuple[pl.Expr, pl.Expr, pl.Expr],
    binned: tuple[int, str, str],
    *,
    finish: Callable[[Totals], pl.Expr],
    terms: Mapping[str, pl.Expr] | None = None,
    maxima: Mapping[str, pl.Expr] | None = None,
    more: Mapping[str, pl.Expr] | None = None,
) -> State:
    """The state of a metric of gaps per bin."""
    check_binning(*binned)
    confidence, correct, weight = roles
    sums = {"mass": weight, "gap": weight * (correct - confidence), **(more or {})}
    axis = by_bin(confidence, sums, *binned, terms=terms, maxima=maxima)
    return State(axes=(axis,), finish=finish, valid=are_probabilities(confidence, correct))
