"""Sampling noise: the best score to expect of a perfect prediction.

The answers of n respondents are a sample. A prediction of the exact population is still
scored against the sample, and stays below 1.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr

Samples: TypeAlias = Literal[1, 2]


def noise_ceiling(
    n_options: IntoExpr = "n_options",
    sample_size: IntoExpr = "sample_size",
    *,
    samples: Samples = 1,
) -> pl.Expr:
    """The Jensen-Shannon similarity to expect between a distribution and a sample of it.

    One minus the root of the expected divergence, to second order. With k options and n respondents
    that divergence is `(k - 1) / (8 n ln 2)`.

    The root of a mean is above the mean of roots, so samples are on average slightly more similar
    than the ceiling: with two options and 30 respondents 0.937, not 0.922. The expansion assumes
    that all options are chosen now and then. Options that nobody chooses make the ceiling too low,
    and very few respondents make it inexact.

    Args:
        n_options: Number of options k, 1 or more.
        sample_size: Respondents n, above 0.
        samples: 1 for a distribution and a sample, 2 for two samples of the same size, such as two
            rounds, whose divergence is twice that.

    Returns:
        Float64 in [0, 1], named `noise_ceiling`; 1 for one option. Null without options or
        respondents.

    References:
        dtef-app 52d79c0, `computeNoiseFloor`; its text calls it the sampling noise ceiling.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pairs = pl.DataFrame({"n_options": [4, 4], "sample_size": [50, 1000]})
        >>> pairs.select(ef.survey.noise_ceiling().round(3)).to_series().to_list()
        [0.896, 0.977]
    """
    k, n = as_expr(n_options), as_expr(sample_size)
    value = ceiling_of(k, n, _factor(samples)).clip(0.0)
    return pl.when((k >= 1) & (n > 0)).then(value).fill_nan(None).alias("noise_ceiling")


def minimum_sample_size(
    n_options: IntoExpr = "n_options", *, ceiling: float = 0.7, samples: Samples = 1
) -> pl.Expr:
    """Number of respondents required for a noise ceiling.

    Args:
        n_options: Number of options, 1 or more.
        ceiling: The required ceiling, at least 0 and below 1.
        samples: As for `noise_ceiling`.

    Returns:
        Int64, named `minimum_sample_size`, at least 1; null without options.

    Raises:
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> questions = pl.DataFrame({"n_options": [2, 5]})
        >>> questions.select(ef.survey.minimum_sample_size(ceiling=0.9)).to_series().to_list()
        [19, 73]
    """
    factor = _factor(samples)
    if isinstance(ceiling, bool) or not 0 <= ceiling < 1:
        raise ParameterError(f"ceiling must be at least 0 and below 1, got {ceiling!r}")
    k = as_expr(n_options).cast(pl.Float64)
    size = ((k - 1) / (factor * (1 - ceiling) ** 2 * math.log(2))).ceil().clip(1)
    return pl.when(k >= 1).then(size).cast(pl.Int64).alias("minimum_sample_size")


def normalised_score(
    score: IntoExpr = "score", uniform: IntoExpr = "uniform", ceiling: IntoExpr = "noise_ceiling"
) -> pl.Expr:
    """Position of a score between the uniform baseline, 0, and the noise ceiling, 1.

    Args:
        score: The score of a prediction.
        uniform: The score of the uniform distribution for the same question and segment.
        ceiling: As from `noise_ceiling`.

    Returns:
        Float64, named `normalised_score`: below 0 for less than uniform, above 1 by chance. Null if
        the ceiling is not above the uniform score.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"score": [0.75, 0.7], "uniform": [0.5, 0.6], "noise_ceiling": [1.0, 0.6]}
        >>> pl.DataFrame(scores).select(ef.survey.normalised_score()).to_series().to_list()
        [0.5, None]
    """
    value, low, high = (as_expr(each).cast(pl.Float64) for each in (score, uniform, ceiling))
    position = pl.when(high > low).then((value - low) / (high - low))
    return position.fill_nan(None).alias("normalised_score")


def ceiling_of(n_options: pl.Expr, sample_size: pl.Expr, factor: float) -> pl.Expr:
    """One minus the root of the divergence `(k - 1) / (factor n ln 2)`."""
    k, n = n_options.cast(pl.Float64), sample_size.cast(pl.Float64)
    return 1 - ((k - 1) / (factor * n * math.log(2))).sqrt()


def _factor(samples: int) -> float:
    """8 from the expansion of the Jensen-Shannon divergence to a sample, 4 between two samples."""
    if samples not in (1, 2):
        raise ParameterError(f"samples must be 1 or 2, got {samples!r}")
    return 8.0 / samples
