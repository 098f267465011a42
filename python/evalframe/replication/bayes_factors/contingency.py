"""Chi-square of a table of two by two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.bayes_factors.columns import known

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr


def yates_chi_square(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """Chi-square of the table [[a, b], [c, d]] with Yates' correction, as the original takes it.

    Args:
        a: Count of the first row and first column, 0 or more.
        b: First row, second column.
        c: Second row, first column.
        d: Second row, second column.

    Returns:
        Float64, named `yates_chi_square`; 0 where a row or column is empty, null where a count is
        missing or negative.

    References:
        Yates (1934), Contingency tables involving small numbers and the χ² test.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import yates_chi_square
        >>> tables = pl.DataFrame({"a": [10, 0], "b": [20, 0], "c": [20, 3], "d": [10, 4]})
        >>> tables.select(yates_chi_square()).to_series().to_list()
        [5.4, 0.0]
    """
    a, b, c, d = (known(count) for count in (a, b, c, d))
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    total = a + b + c + d
    gap = ((a * d - b * c).abs() - total / 2.0).clip(0.0)
    statistic = pl.when(margins > 0).then(total * gap.pow(2) / margins).otherwise(0.0)
    possible = pl.all_horizontal(count >= 0 for count in (a, b, c, d))
    return pl.when(possible).then(statistic).alias("yates_chi_square")
