"""Bins of confidence: of equal width over [0, 1], or of equal mass.

Equal width: bin k of B reaches from k/B to (k + 1)/B, with the edges as floats, k * (1/B), which is
what `numpy.linspace(0, 1, B + 1)` gives. They decide where a confidence such as 0.3 falls, since
3 * 0.1 is 0.30000000000000004.

Equal mass: an item falls into bin floor(B * m), where m is the share of all items with a lower
confidence. Items of equal confidence stay together, so no value depends on row order, and a bin
inside a large block of ties does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError
from evalframe.core.state import Axis, before, own, total

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
    *,
    bins: int | None,
    binning: str,
    closed: str,
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
    """Raise where they describe no bins."""
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
    inside = [value.is_between(0.0, 1.0) for value in values]
    return pl.all_horizontal(inside).fill_null(value=False)


def is_outside(confidence: pl.Expr) -> pl.Expr:
    """True if a finite number is outside [0, 1]."""
    return confidence.is_finite() & ~confidence.is_between(0.0, 1.0)


def per_bin(sums: pl.Expr) -> pl.Expr:
    """A sum of a bin over its mass, 0 in a bin without mass."""
    return pl.when(own.mass > 0).then(sums / own.mass).otherwise(0.0)
