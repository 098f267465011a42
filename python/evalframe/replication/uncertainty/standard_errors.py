"""Which of several standard errors of a PAS to use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr


def preferred_std_error(
    repeat: IntoExpr | None = None,
    bootstrap: IntoExpr | None = "pas_std_error",
    stored: IntoExpr | None = None,
) -> pl.Expr:
    """The standard error of a PAS: of repeated runs if known, else bootstrapped, else stored.

    A row-level expression; null, NaN, infinity and numbers below 0 are not known. Runs that were
    repeated hold all that varies, a bootstrap of participants only their sampling.

    Args:
        repeat: Standard error over repeated runs.
        bootstrap: Standard error of a bootstrap, as `participant_intervals` gives it for studies.
        stored: Standard error that came with the scores.

    Returns:
        Struct of Float64 `std_error` and String `se_method` (`repeat`, `bootstrap`, `stored`),
        named `preferred_std_error`; both null where none is known.

    Raises:
        ParameterError: No column is given.

    References:
        HumanStudy-Bench (HEAD of February 2026), `raw_se` and `se_method` of its legacy summary.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.uncertainty import preferred_std_error
        >>> studies = pl.DataFrame({"pas_std_error": [0.1, None], "score_se": [0.3, 0.2]})
        >>> studies.select(preferred_std_error(stored="score_se")).unnest(pl.all()).rows()
        [(0.1, 'bootstrap'), (0.2, 'stored')]
    """
    given = {"repeat": repeat, "bootstrap": bootstrap, "stored": stored}
    known = {name: _std_error(column) for name, column in given.items() if column is not None}
    if not known:
        raise ParameterError(f"name a column of standard errors: {', '.join(given)}")
    methods = (pl.when(error.is_not_null()).then(pl.lit(name)) for name, error in known.items())
    return pl.struct(
        pl.coalesce(*known.values()).alias("std_error"),
        pl.coalesce(*methods).alias("se_method"),
    ).alias("preferred_std_error")


def _std_error(column: IntoExpr) -> pl.Expr:
    error = as_expr(column).cast(pl.Float64)
    return pl.when(error.is_finite() & (error >= 0)).then(error)
