"""P-values corrected for multiple tests, and helpers of tests and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl

from evalframe.core.choices import check_choice, check_level
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import IntoExpr

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


Correction: TypeAlias = Literal["holm", "benjamini_hochberg", "bonferroni", "none"]


def adjusted_p_value(p_value: IntoExpr = "p_value", *, correction: Correction = "holm") -> pl.Expr:
    """P-values adjusted for all tests of the column, or of a group by `.over(...)`.

    Args:
        p_value: One for each test; null, NaN and numbers outside [0, 1] are not tests and are
            ignored.
        correction: `holm` bounds the probability of any false finding; `benjamini_hochberg` the
            expected share of false findings, if tests are independent or positively dependent;
            `bonferroni`; `none`.

    Returns:
        Float64, named `p_adjusted`, null without a test.

    References:
        Holm (1979); Benjamini and Hochberg (1995), Controlling the false discovery rate.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"p_value": [0.01, 0.04, 0.03, 0.005]})
        >>> tests.select(ef.survey.adjusted_p_value()).to_series().to_list()
        [0.03, 0.06, 0.06, 0.02]
    """
    check_choice("correction", correction, Correction)
    from evalframe.resample.corrections import adjusted_p_values

    return adjusted_by(partial(adjusted_p_values, correction=correction), p_value)


def adjusted_by(adjust: Callable[[Floats], Floats], p_value: IntoExpr) -> pl.Expr:
    """Adjust the valid p-values of a column by a function of an array with NaN for the others."""

    def adjusted(column: pl.Series) -> pl.Series:
        p_values = column.cast(pl.Float64)
        valid = p_values.set(~p_values.is_between(0, 1), None).to_numpy()
        return pl.Series(values=adjust(valid), nan_to_null=True)

    return as_expr(p_value).map_batches(adjusted, return_dtype=pl.Float64).alias("p_adjusted")


def check_columns(caller: str, rows: pl.LazyFrame, exprs: Iterable[pl.Expr]) -> None:
    """Raise MissingColumnsError if the table lacks a column that an expression reads."""
    columns = rows.collect_schema().names()
    if missing := columns_read(exprs) - {*columns}:
        raise MissingColumnsError.of(caller, missing, columns)


def shared_keys(on: IntoExpr | Sequence[IntoExpr]) -> list[pl.Expr]:
    """Return the columns that identify what was answered, at least one."""
    keys = [as_expr(key) for key in ([on] if isinstance(on, str | pl.Expr) else on)]
    if not keys:
        raise ParameterError("on is empty; name what was answered, such as question_id")
    return keys


def check_draws(n: int, seed: int, level: float | None = None) -> None:
    """Raise ParameterError if a number of draws, a seed or a level is outside its domain."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ParameterError(f"n must be a whole number of draws, 1 or more, got {n!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be a whole number, 0 or more, got {seed!r}")
    if level is not None:
        check_level(level)


def central_quantiles(replicates: Floats, level: float) -> tuple[Floats, Floats]:
    """Interpolated (type 7) limits of the central part of each column; NaN if a value is NaN."""
    tail = (1.0 - level) / 2.0
    lower, upper = np.quantile(replicates, [tail, 1.0 - tail], axis=0)
    return lower, upper
