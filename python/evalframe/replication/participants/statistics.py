"""Test statistics from participants' responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.participants.design import (
    CATEGORY,
    KIND,
    PLACE,
    RANK_SUM,
    SPEARMAN,
    TEST,
)
from evalframe.replication.participants.formulas import STATISTICS, all_statistics
from evalframe.replication.participants.rows import SCALE, VALID, WEIGHT, X, Y, rows_of

if TYPE_CHECKING:
    from evalframe.replication.effects.types import Side


RANKED = (RANK_SUM, SPEARMAN)
"""Kinds whose measures are replaced by their ranks."""

ROUNDING = 2.0**-50
"""Relative to their scale, differences of measures that are equal up to rounding."""

_COUNT, _CENTRE_X, _CENTRE_Y = ":count", ":centre_x", ":centre_y"
_LAST = {X: ":last_x", Y: ":last_y"}


def cells_of(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Counts, means and central sums: one row per test, condition and category."""
    # Sums are about the mean of the cell, and 0 if all measures are equal, where rounding of the
    # mean would leave a remainder. `u` counts by how much ranks are above those within the cell.
    ranked = pl.col(KIND).is_in(RANKED)
    measured = pl.concat([rows.filter(~ranked), _ranked(rows.filter(ranked), units)])
    cell = [*units, KIND, PLACE, CATEGORY]
    weight, x, y = (pl.col(WEIGHT) * pl.col(VALID)).alias(_COUNT), pl.col(X), pl.col(Y)
    centres = (
        pl.when(VALID).then(value).mean().over(cell).fill_null(0.0).alias(centre)
        for value, centre in ((x, _CENTRE_X), (y, _CENTRE_Y))
    )
    # Products are columns of rows, so that a group is plain sums, which stream.
    w, dx, dy = pl.col(_COUNT), x - pl.col(_CENTRE_X), y - pl.col(_CENTRE_Y)
    products = {"xx": w * dx * dx, "yy": w * dy * dy, "xy": w * dx * dy}
    values = {"missing": pl.col(WEIGHT) - w, "total": w * x, "x": w * dx, "y": w * dy, **products}
    counts = {"there_x": pl.when(w > 0).then(dx), "there_y": pl.when(w > 0).then(dy)}
    summed = (
        measured.with_columns(weight, *centres)
        .with_columns(**values, **counts)
        .group_by(cell)
        .agg(
            pl.col(_COUNT, *values).sum(),
            pl.col(_CENTRE_X).first(),
            pl.col(SCALE).max(),
            *(pl.col(name).min().name.suffix("_low") for name in counts),
            *(pl.col(name).max().name.suffix("_high") for name in counts),
        )
    )
    return summed.select(*cell, **_central_sums())


def _central_sums() -> dict[str, pl.Expr]:
    n, x, y = pl.col(_COUNT), pl.col("x"), pl.col("y")
    spread_x = pl.col("there_x_high") - pl.col("there_x_low")
    spread_y = pl.col("there_y_high") - pl.col("there_y_low")
    vary_x, vary_y = spread_x > ROUNDING * pl.col(SCALE), spread_y > 0
    sums = {
        "sxx": (vary_x, pl.col("xx") - x * x / n),
        "syy": (vary_y, pl.col("yy") - y * y / n),
        "sxy": (vary_x & vary_y, pl.col("xy") - x * y / n),
    }
    return {
        "n": n,
        "n_missing": pl.col("missing"),
        "x": pl.when(n > 0).then(pl.col(_CENTRE_X) + x / n).otherwise(0.0),
        "u": pl.col("total") - n * (n + 1) / 2,
        **{name: pl.when(vary).then(value).otherwise(0.0) for name, (vary, value) in sums.items()},
    }


def _ranked(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Replace measures by mean ranks; a row of weight w counts as w members."""
    weight = (pl.col(WEIGHT) * pl.col(VALID)).alias(_COUNT)
    # In steps, since a window within a window is another window.
    upto = [
        pl.col(_COUNT).cum_sum().over(units, order_by=name).alias(last)
        for name, last in _LAST.items()
    ]
    ranks = [
        pl.col(last).max().over(*units, name) - (pl.col(_COUNT).sum().over(*units, name) - 1) / 2
        for name, last in _LAST.items()
    ]
    x, y = (rank.alias(name) for rank, name in zip(ranks, _LAST, strict=True))
    ranked = rows.with_columns(weight).with_columns(upto).with_columns(x, y)
    return ranked.drop(_COUNT, *_LAST.values())


@like_input
def participant_statistics(
    responses: Frame,
    design: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr] | None = "model",
    side: Side = "agent",
    weight: IntoExpr | None = None,
) -> pl.LazyFrame:
    """Test statistics of participants' responses, in the columns of a table of tests.

    * t-test: of two independent samples with pooled variance, first minus second condition; of
      paired samples (`value - value_2`); or of one sample; each about `null_value`. `ttest_rel` and
      other names of types imply `samples`.
    * F: one-way analysis of variance over the conditions.
    * correlation, pearson: r of `value` and `value_2`; spearman: r of their mid-ranks.
    * chi-square: of conditions by categories, 2x2 with the correction of Yates.
    * Mann-Whitney: U of the first condition, ties by mid-ranks.
    * binomial: the number of responses in the first category.

    They are those of scipy 1.17: `ttest_ind`, `ttest_rel`, `ttest_1samp`, `f_oneway`, `pearsonr`,
    `spearmanr`, `chi2_contingency`, `mannwhitneyu`.

    Responses without a number, or with a condition or category that
    is not in the design, are left out and counted in `n_missing`. The design decides how conditions
    and categories are compared: its numbers with numbers (and texts that are numbers), its texts
    with texts, in which a whole number has no decimal point.

    Args:
        responses: One row per test, participant and condition: those columns of `study_id`,
            `sub_study_id`, `finding_id`, `test_id` that the design has, `condition`, `value`, and
            `value_2` for paired and correlated measures. Measures are numbers or booleans; texts
            can be numbers or categories.
        design: One row per test: its keys; `test_type`; `conditions`, a list in the order that
            gives the statistic its sign; `samples` of a t-test (`independent`, the default,
            `paired` or `one`); `categories`, a list of values or texts (default `[1, 0]`); `p0`
            (default 0.5); `null_value` (default 0).
        by: Further keys of who was tested; None for humans.
        side: The side whose columns are computed.
        weight: How often a participant counts, a whole number; null and NaN are 0. Weights are
            read at once and checked.

    Returns:
        `by`, the keys, `test_type`, then `stat_s, n1_s, n2_s, df1_s, df2_s, n_total_s, k_s, n_s,
        p0_s, a_s, b_s, c_s, d_s` (Float64), `independent_s` (Boolean), `direction_s` (Float64: the
        sign of the effect; 1 for more than two conditions or categories, which have none) and
        `n_missing_s` (Int64), s being the side. One row per group and test that has responses,
        sorted. `stat_s` is null if it is undefined: too few participants (3 for a correlation, or
        for ranks in both conditions together), no variance within conditions, an empty condition
        or category. Lazy if `responses` is.

    Raises:
        UnknownNameError: A test type is unknown.
        ContractError: The design breaks its contract, or the responses do not fit it: a key of
            another type, a text that is no number in a test on numbers, a weight that is not whole.

    Examples:
        >>> from evalframe.replication import participant_statistics
        >>> import polars as pl
        >>> keys = {"study_id": "s1", "finding_id": "F1"}
        >>> people = {"condition": ["red", "red", "blue", "blue"], "value": [3.0, 5.0, 1.0, 3.0]}
        >>> design = pl.DataFrame({**keys, "test_type": "t-test", "conditions": [["red", "blue"]]})
        >>> tests = participant_statistics(pl.DataFrame({**keys, **people}), design, by=None)
        >>> tests.select("stat_agent", "n1_agent", "n2_agent").row(0)
        (1.414213562373095, 2.0, 2.0)
    """
    rows = rows_of(responses, design, by, side, weight)
    statistics = all_statistics(cells_of(rows.table, rows.units), rows.design, rows.units)
    tests = rows.design.select(TEST, *rows.tests, "test_type").lazy()
    of_side = {name: f"{name}_{side}" for name in (*STATISTICS, "n_missing")}
    return (
        statistics.with_columns(pl.col("stat", "direction").fill_nan(None))  # beyond any number
        .join(tests, on=TEST)
        .sort(*rows.keys.inner, TEST)
        .select(*rows.keys.inner, *rows.tests, "test_type", *of_side)
        .rename({**rows.keys.restore(), **of_side})
    )
