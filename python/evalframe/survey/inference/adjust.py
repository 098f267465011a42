"""P-values corrected for being many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.rules import check_choice, check_rules

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

Correction: TypeAlias = Literal["holm", "benjamini_hochberg", "bonferroni", "none"]


def adjusted_p_value(
    p_value: IntoExpr = "p_value",
    *,
    correction: Correction = "holm",
    rules: Rules = "documented",
) -> pl.Expr:
    """P-values adjusted for all tests of the column, or of a group by `.over(...)`.

    Args:
        p_value: One for each test; null, NaN and numbers outside [0, 1] are no tests and do not
            count.
        correction: `holm` bounds the chance of any false finding; `benjamini_hochberg` the expected
            share of false findings, if tests are independent or depend positively; `bonferroni`;
            `none`.
        rules: `documented`, or `reference` for the original's Holm, which leaves out the running
            maximum, so that a larger p-value can be adjusted to a smaller one. It is not valid:
            tests may pass after one that failed.

    Returns:
        Float64, named `p_adjusted`, null where there is no test.

    Raises:
        ParameterError: Unknown rules or correction, or rules that the original has not.

    References:
        Holm (1979); Benjamini and Hochberg (1995), Controlling the false discovery rate.
        dtef-app 52d79c0.

    Examples:
        >>> import polars as pl
        >>> tests = pl.DataFrame({"p_value": [0.01, 0.04, 0.03, 0.005]})
        >>> tests.select(adjusted_p_value()).to_series().to_list()
        [0.03, 0.06, 0.06, 0.02]
        >>> tests.select(adjusted_p_value(rules="reference")).to_series().to_list()
        [0.03, 0.04, 0.06, 0.02]
        >>> fdr = adjusted_p_value(correction="benjamini_hochberg")
        >>> tests.select(fdr).to_series().round(3).to_list()
        [0.02, 0.04, 0.04, 0.02]
    """
    check_rules(rules)
    check_choice("correction", correction, Correction)
    if rules == "reference" and correction != "holm":
        raise ParameterError(
            f'the original has no {correction}; leave out rules, or take correction="holm"'
        )
    how = "holm_unordered" if rules == "reference" else correction

    def adjusted(column: pl.Series) -> pl.Series:
        from evalframe.resample.intervals import adjusted_p_values

        known = column.cast(pl.Float64)
        values = known.set(~known.is_between(0, 1), None).to_numpy()
        return pl.Series(values=adjusted_p_values(values, how), nan_to_null=True)

    made = as_expr(p_value).map_batches(adjusted, return_dtype=pl.Float64)
    return made.alias("p_adjusted")
