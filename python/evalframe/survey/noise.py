"""Sampling noise: the best score that is to be expected of a perfect prediction.

The answers of n respondents are a sample. Who predicts the population exactly is still scored
against the sample, and stays below 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.rules import check_rules

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

Samples: TypeAlias = Literal[1, 2]

_REFERENCE = 2.0
"""What the original divides by: the expansion of Kullback-Leibler's divergence has a 2."""

_ONE_SAMPLE = 8.0
"""That of Jensen-Shannon's divergence between a distribution and a sample of it has an 8."""


def noise_ceiling(
    n_options: IntoExpr = "n_options",
    sample_size: IntoExpr = "sample_size",
    *,
    samples: Samples = 1,
    rules: Rules = "documented",
) -> pl.Expr:
    """The Jensen-Shannon similarity to expect between a distribution and a sample of it.

    One minus the root of the expected divergence, to second order. With k options and n respondents
    that divergence is `(k - 1) / (8 n ln 2)`. The original takes `(k - 1) / (2 n ln 2)`, which is
    the expected Kullback-Leibler divergence, and so doubles the distance.

    The root of a mean is above the mean of roots, so samples are on average a little more similar
    than the ceiling says: with two options and 30 respondents 0.937, not 0.922; with four options
    and 50 respondents 0.902, not 0.896. The expansion takes all options as chosen now and then;
    options that nobody chooses make the ceiling too low, and very few respondents make it inexact.

    Args:
        n_options: Number of options k, 1 or more.
        sample_size: Respondents n, above 0.
        samples: 1 for a distribution and a sample, 2 for two samples of the same size, such as two
            rounds, whose divergence is twice that.
        rules: `documented`, or `reference`, which has no lower bound: few respondents give numbers
            below 0.

    Returns:
        Float64 in [0, 1], named `noise_ceiling`; 1 for one option. Null where there are no options
        or no respondents. By the original's rules 0 where n is not above 0 or k not above 1.

    Raises:
        ParameterError: Unknown rules, or other numbers of samples.

    References:
        dtef-app 52d79c0, `computeNoiseFloor`; the text calls it the sampling noise ceiling.

    Examples:
        >>> import polars as pl
        >>> pairs = pl.DataFrame({"n_options": [4, 4], "sample_size": [50, 1000]})
        >>> pairs.select(noise_ceiling().round(3)).to_series().to_list()
        [0.896, 0.977]
        >>> pairs.select(noise_ceiling(rules="reference").round(3)).to_series().to_list()
        [0.792, 0.953]
    """
    factor = _factor(samples, rules)
    k, n = as_expr(n_options).cast(pl.Float64), as_expr(sample_size).cast(pl.Float64)
    ceiling = 1 - ((k - 1) / (factor * n * math.log(2))).sqrt()
    if rules == "reference":
        undefined = ((n <= 0) | (k <= 1)).fill_null(value=False)
        made = pl.when(undefined).then(0.0).otherwise(ceiling)
    else:
        made = pl.when((k >= 1) & (n > 0)).then(ceiling.clip(0.0))
    return made.fill_nan(None).alias("noise_ceiling")


def minimum_sample_size(
    n_options: IntoExpr = "n_options",
    *,
    ceiling: float = 0.7,
    samples: Samples = 1,
    rules: Rules = "documented",
) -> pl.Expr:
    """How many respondents it takes for a noise ceiling.

    Args:
        n_options: Number of options, 1 or more.
        ceiling: The ceiling that is wanted, at least 0 and below 1.
        samples: As of `noise_ceiling`.
        rules: The same.

    Returns:
        Int64, named `minimum_sample_size`, at least 1 (by the original's rules 0 for one option);
        null where there are no options.

    Raises:
        ParameterError: An argument lies outside its domain.

    References:
        dtef-app 52d79c0.

    Examples:
        >>> import polars as pl
        >>> questions = pl.DataFrame({"n_options": [2, 5]})
        >>> questions.select(minimum_sample_size(ceiling=0.9)).to_series().to_list()
        [19, 73]
        >>> rules = minimum_sample_size(ceiling=0.9, rules="reference")
        >>> questions.select(rules).to_series().to_list()
        [73, 289]
    """
    factor = _factor(samples, rules)
    if isinstance(ceiling, bool) or not 0 <= ceiling < 1:
        raise ParameterError(f"ceiling must be at least 0 and below 1, got {ceiling!r}")
    k = as_expr(n_options).cast(pl.Float64)
    needed = ((k - 1) / (factor * (1 - ceiling) ** 2 * math.log(2))).ceil()
    least = 0 if rules == "reference" else 1
    return pl.when(k >= 1).then(needed.clip(least)).cast(pl.Int64).alias("minimum_sample_size")


def normalised_score(
    score: IntoExpr = "score",
    uniform: IntoExpr = "uniform",
    ceiling: IntoExpr = "noise_ceiling",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Where a score lies between the uniform baseline, 0, and the noise ceiling, 1.

    Args:
        score: The score of a prediction.
        uniform: The score of the uniform distribution for the same question and segment.
        ceiling: The noise ceiling, see `noise_ceiling`.
        rules: `documented`, or `reference`.

    Returns:
        Float64, named `normalised_score`: below 0 for less than uniform, above 1 for luck. Null
        where the ceiling is not above the uniform score, so that nothing lies between them; by the
        original's rules 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        dtef-app 52d79c0, where nothing uses it.

    Examples:
        >>> import polars as pl
        >>> scores = pl.DataFrame(
        ...     {"score": [0.75, 0.7], "uniform": [0.5, 0.6], "noise_ceiling": [1.0, 0.6]}
        ... )
        >>> scores.select(normalised_score()).to_series().to_list()
        [0.5, None]
    """
    check_rules(rules)
    raw, low, high = (as_expr(each).cast(pl.Float64) for each in (score, uniform, ceiling))
    nothing = 0.0 if rules == "reference" else None
    between = pl.when(high > low).then((raw - low) / (high - low))
    known = raw.is_not_null() & low.is_not_null() & high.is_not_null()
    return between.when(known).then(nothing).fill_nan(None).alias("normalised_score")


def _factor(samples: int, rules: str) -> float:
    """What n is multiplied with in the expected divergence.

    Raises:
        ParameterError: Unknown rules, or other numbers of samples.
    """
    check_rules(rules)
    if samples not in (1, 2):
        raise ParameterError(f"samples must be 1 or 2, got {samples!r}")
    if rules == "reference":
        if samples == 2:
            raise ParameterError("the original has one formula; leave out samples or rules")
        return _REFERENCE
    return _ONE_SAMPLE / samples
