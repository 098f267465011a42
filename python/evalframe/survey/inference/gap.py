"""How a prediction departs from the population: in the direction of the segment, and how far.

With predicted p, actual t and population marginal m, a = p - m is the departure that the model
predicts for the segment, and b = t - m the actual one.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.choices import Context
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.contexts import included, mark, with_contexts
from evalframe.survey.inference.common import check_columns

NEGLIGIBLE = 1e-10
"""Shifts below it are taken for 0."""

GAP = {
    "direction": pl.Float64(),
    "magnitude": pl.Float64(),
    "model_shift": pl.Float64(),
    "truth_shift": pl.Float64(),
}
"""The columns that `gap_decomposition` adds."""

MEANS = (
    "mean_direction",
    "share_right_direction",
    "mean_magnitude",
    "mean_overshoot",
    "mean_undershoot",
)
"""The means of `gap_summary`."""

_LISTS = (":p", ":t", ":m")


@like_input
def gap_decomposition(
    predictions: Frame,
    *,
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    marginal: IntoExpr = "marginal",
) -> pl.LazyFrame:
    """Direction and magnitude of each prediction's departure from the population.

    Args:
        predictions: One row per prediction, with the population marginal joined, such as `percent`
            of `population_marginals`.
        predicted: List(number), one for each option; scaled to sum to 100.
        actual: List(number), one for each option; scaled to sum to 100.
        marginal: List(number), one for each option; scaled to sum to 100.

    Returns:
        The columns of `predictions` and: `model_shift`, `truth_shift` (lengths of a and b, in
        percentage points), `direction` (cosine of a and b, -1 to 1; null if either is 0),
        `magnitude` (length of a over that of b; null if b is 0). All are null where a list is null
        or not a distribution (a null, NaN, infinite or negative number, or only zeros), or where
        lengths differ. Columns of these names are replaced. Rows keep their order.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> lists = {"predicted": [[60, 40]], "actual": [[70, 30]], "marginal": [[50, 50]]}
        >>> gaps = ef.survey.gap_decomposition(pl.DataFrame(lists))
        >>> gaps.select(pl.col("direction", "magnitude").round(9)).row(0)
        (1.0, 0.5)
    """
    rows = with_lists(predictions, predicted, actual, marginal)
    shifts = with_shifts(rows.with_columns(_percentages(name) for name in _LISTS))
    a, b = pl.col("model_shift"), pl.col("truth_shift")
    shifted = pl.when((a >= NEGLIGIBLE) & (b >= NEGLIGIBLE))
    return shifts.with_columns(
        direction=shifted.then(pl.col(":cosine").clip(-1.0, 1.0)),
        magnitude=pl.when(b >= NEGLIGIBLE).then(a / b),
    ).drop(":cosine")


def with_lists(
    predictions: Frame, predicted: IntoExpr, actual: IntoExpr, marginal: IntoExpr
) -> pl.LazyFrame:
    """Rows with the lists `:p`, `:t` and `:m`, null where their lengths differ."""
    rows = lazy(predictions)
    exprs = dict(zip(_LISTS, map(as_expr, (predicted, actual, marginal)), strict=True))
    check_columns("gap_decomposition", rows, exprs.values())
    length = pl.col(":t").list.len()
    same_length = (pl.col(":p").list.len() == length) & (pl.col(":m").list.len() == length)
    lists = {name: expr.cast(pl.List(pl.Float64)) for name, expr in exprs.items()}
    return rows.with_columns(**lists).with_columns(
        pl.when(same_length).then(name).alias(name) for name in _LISTS
    )


def with_shifts(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows with the lengths of a and b and their `:cosine` in place of the lists."""
    p, t, m = map(pl.col, _LISTS)
    a, b = pl.col(":a"), pl.col(":b")
    has_lists = pl.when(p.is_not_null())
    shifts = rows.with_columns((p - m).alias(":a"), (t - m).alias(":b")).with_columns(
        (a * b).list.sum().alias(":product"),
        model_shift=has_lists.then((a * a).list.sum().sqrt()),
        truth_shift=has_lists.then((b * b).list.sum().sqrt()),
    )
    cosine = pl.col(":product") / (pl.col("model_shift") * pl.col("truth_shift"))
    return shifts.with_columns(cosine.alias(":cosine")).drop(*_LISTS, ":a", ":b", ":product")


def _percentages(name: str) -> pl.Expr:
    """Numbers scaled to sum to 100; null if they are not a distribution."""
    values, each = pl.col(name), pl.element()
    valid = values.list.eval((each.is_finite() & (each >= 0)).fill_null(value=False)).list.all()
    total = values.list.sum()
    return pl.when(valid & (total > 0)).then(values / total * 100)


@like_input
def gap_summary(
    gaps: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr] = "model",
    context: Context = "highest",
    min_shift: float = 1.0,
) -> pl.LazyFrame:
    """Mean direction and magnitude over the segments that do differ from the population.

    Args:
        gaps: Result of `gap_decomposition`.
        by: Groups, such as models, or models and categories.
        context: As for `at_context`; selected in each group and, if present, `segment_id` and
            `round`.
        min_shift: Percentage points by which a segment must differ from the population.

    Returns:
        by..., `mean_direction`, `share_right_direction` (of directions above 0), `mean_magnitude`
        (finite ones), `mean_overshoot` (magnitudes above 1), `mean_undershoot` (1 or less), `n`
        (rows included), `n_skipped` (smaller shifts) and the columns about context of
        `leaderboard`. Rows without a gap, such as answers that could not be read, are in neither
        count. Sorted by the keys.

    Raises:
        ParameterError: A negative shift, or an invalid context.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> lists = {"predicted": [[60, 40]], "actual": [[70, 30]], "marginal": [[50, 50]]}
        >>> gaps = ef.survey.gap_decomposition(pl.DataFrame({"model": "a", **lists}))
        >>> ef.survey.gap_summary(gaps).select("mean_magnitude", "n", "n_skipped").row(0)
        (0.5, 1, 0)
    """
    if isinstance(min_shift, bool) or not min_shift >= 0:
        raise ParameterError(f"min_shift must be 0 or more percentage points, got {min_shift!r}")
    keys, rows = Keys.of(by, taken=(*MEANS, "n", "n_skipped")), lazy(gaps)
    columns = rows.collect_schema().names()
    required = {"direction", "magnitude", "truth_shift", *columns_read(keys.exprs)}
    if missing := required - {*columns}:
        raise MissingColumnsError.of("gap_summary", missing, columns)
    rows = mark(rows, context, keys.exprs, "truth_shift")
    decomposed = included(rows).with_columns(keys.select()).drop_nulls("truth_shift")
    large = pl.col("truth_shift") >= min_shift
    direction = pl.col("direction").filter(large)
    magnitude = pl.col("magnitude").filter(large & pl.col("magnitude").is_finite())
    summaries = {
        "mean_direction": direction.mean(),
        "share_right_direction": (direction > 0).mean(),
        "mean_magnitude": magnitude.mean(),
        "mean_overshoot": magnitude.filter(magnitude > 1).mean(),
        "mean_undershoot": magnitude.filter(magnitude <= 1).mean(),
        "n": large.sum().cast(pl.Int64),
        "n_skipped": (~large).sum().cast(pl.Int64),
    }
    if keys.names:
        table = decomposed.group_by(keys.inner).agg(**summaries).sort(keys.inner)
    else:
        table = decomposed.select(**summaries)
    return with_contexts(table.rename(keys.restore()), rows, keys.exprs, keys.names)
