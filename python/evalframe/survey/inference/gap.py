"""How a prediction departs from the population: in the direction of the segment, and how far.

With predicted p, actual t and population marginal m, a = p - m is what the model takes the segment
to differ by, and b = t - m what it does differ by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_rules
from evalframe.core.tables import Keys, lazy
from evalframe.survey.contexts import check_context, counted, marked, with_contexts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.contexts import Context

_NOTHING = 1e-10
"""Shifts below are none."""

GAP = {
    "direction": pl.Float64(),
    "magnitude": pl.Float64(),
    "model_shift": pl.Float64(),
    "truth_shift": pl.Float64(),
}
"""The columns that `gap_decomposition` adds."""

_SUMMARY = (
    "mean_direction",
    "share_right_direction",
    "mean_magnitude",
    "mean_overshoot",
    "mean_undershoot",
    "n",
    "n_skipped",
)


def gap_decomposition(
    predictions: Frame,
    *,
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    marginal: IntoExpr = "marginal",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Direction and magnitude of each prediction's departure from the population.

    Args:
        predictions: One row per prediction, with the population marginal joined, such as `percent`
            of `population_marginals`.
        predicted: List(number), as many as options.
        actual: The same.
        marginal: The same.
        rules: `documented`: all three are made percentages that sum to 100. `reference`: numbers
            are taken as they stand, so all must be percentages.

    Returns:
        The columns of `predictions` and: `model_shift`, `truth_shift` (lengths of a and b, in
        percentage points), `direction` (cosine of a and b, -1 to 1; null where either is nothing),
        `magnitude` (length of a over that of b; null where b is nothing). By the original's rules
        the direction is 0 where it is undefined, and the magnitude 1 where both are nothing,
        infinite where b alone is. All null where a list is, or is no distribution (a null, NaN,
        infinite or negative number, or nothing but zeros), or where lengths differ. Columns of
        these names are replaced. Lazy; rows keep their order.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Unknown rules.

    References:
        dtef-app 52d79c0, the gap decomposition of its analysis script.

    Examples:
        >>> import polars as pl
        >>> answer = pl.DataFrame(
        ...     {"predicted": [[60, 40]], "actual": [[70, 30]], "marginal": [[50, 50]]}
        ... )
        >>> gap = gap_decomposition(answer).collect()
        >>> gap.select(pl.col("direction", "magnitude").round(9)).row(0)
        (1.0, 0.5)
    """
    check_rules(rules)
    rows = lazy(predictions)
    names = {":p": as_expr(predicted), ":t": as_expr(actual), ":m": as_expr(marginal)}
    present = rows.collect_schema().names()
    if missing := columns_read(names.values()) - {*present}:
        raise MissingColumnsError.of("gap_decomposition", missing, present)
    lists = {name: expr.cast(pl.List(pl.Float64)) for name, expr in names.items()}
    of_one_length = (pl.col(":p").list.len() == pl.col(":t").list.len()) & (
        pl.col(":m").list.len() == pl.col(":t").list.len()
    )
    usable = rows.with_columns(**lists).with_columns(
        pl.when(of_one_length).then(name).alias(name) for name in names
    )
    if rules == "documented":
        usable = usable.with_columns(_percentages(name) for name in names)
    shifts = usable.with_columns((pl.col(":p") - pl.col(":m")).alias(":a"), _b())
    product = (pl.col(":a") * pl.col(":b")).list.sum()
    lengths = [(pl.col(name) * pl.col(name)).list.sum().sqrt() for name in (":a", ":b")]
    a, b = (pl.when(pl.col(":p").is_not_null()).then(length) for length in lengths)
    made = shifts.with_columns(product.alias(":product"), model_shift=a, truth_shift=b)
    return made.with_columns(*_parts(rules)).drop(*names, ":a", ":b", ":product")


def gap_summary(
    gaps: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr] = "model",
    context: Context = "highest",
    min_shift: float = 1.0,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Mean direction and magnitude over the segments that do differ from the population.

    Args:
        gaps: As `gap_decomposition` gives them.
        by: Groups, such as models, or models and categories.
        context: Which amount of context counts, see `at_context`, in each group and, as far as
            there are, `segment_id` and `round`.
        min_shift: Percentage points that a segment must differ by from the population to count.
        rules: `documented`, or `reference`, which gives 0 where there is nothing to average, and
            takes all amounts of context.

    Returns:
        by..., `mean_direction`, `share_right_direction` (of directions above 0), `mean_magnitude`
        (finite ones), `mean_overshoot` (magnitudes above 1), `mean_undershoot` (1 or less), `n`
        (rows counted), `n_skipped` (smaller shifts) and, if there are amounts of context,
        `context_count` (Int64, the one that counts; null for several) and `n_other_context` (Int64,
        rows of others, which do not count), but not by the original's rules. Rows without a gap, as
        of answers that could not be read, stand in neither count. Sorted by the keys. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Unknown rules, or a negative shift.

    Examples:
        >>> import polars as pl
        >>> answers = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a"],
        ...         "predicted": [[60, 40], [50, 50]],
        ...         "actual": [[70, 30], [50, 50]],
        ...         "marginal": [[50, 50], [50, 50]],
        ...     }
        ... )
        >>> summary = gap_summary(gap_decomposition(answers)).collect()
        >>> summary.select("model", pl.col("mean_magnitude").round(9), "n", "n_skipped").row(0)
        ('a', 0.5, 1, 1)
    """
    check_rules(rules)
    if isinstance(min_shift, bool) or not min_shift >= 0:
        raise ParameterError(f"min_shift must be 0 or more percentage points, got {min_shift!r}")
    keys, rows = Keys.of(by, taken=_SUMMARY), lazy(gaps)
    present = rows.collect_schema().names()
    needed = {*GAP} - {"model_shift"}
    needed |= columns_read(keys.exprs)
    if missing := needed - {*present}:
        raise MissingColumnsError.of("gap_summary", missing, present)
    check_context(context, rules)
    if rules == "documented":
        rows = marked(rows, context, keys.exprs, "truth_shift")
    known = counted(rows).with_columns(keys.select()).drop_nulls("truth_shift")
    counts = pl.col("truth_shift") >= min_shift
    direction = pl.col("direction").filter(counts)
    magnitude = pl.col("magnitude").filter(counts & pl.col("magnitude").is_finite())
    made = {
        "mean_direction": direction.mean(),
        "share_right_direction": (direction > 0).mean(),
        "mean_magnitude": magnitude.mean(),
        "mean_overshoot": magnitude.filter(magnitude > 1).mean(),
        "mean_undershoot": magnitude.filter(magnitude <= 1).mean(),
    }
    if rules == "reference":
        made = {name: mean.fill_null(0.0) for name, mean in made.items()}
    made |= {"n": counts.sum().cast(pl.Int64), "n_skipped": (~counts).sum().cast(pl.Int64)}
    summed = known.group_by(keys.inner).agg(**made) if keys.names else known.select(**made)
    table = summed.sort(keys.inner).rename(keys.restore()) if keys.names else summed
    return with_contexts(table, rows, keys.exprs, keys.names)


def _percentages(name: str) -> pl.Expr:
    """Numbers that sum to 100; null where they are no distribution."""
    values = pl.col(name)
    usable = values.list.eval(
        (pl.element().is_finite() & (pl.element() >= 0)).fill_null(value=False)
    )
    total = values.list.sum()
    return pl.when(usable.list.all() & (total > 0)).then(values / total * 100)


def _b() -> pl.Expr:
    return (pl.col(":t") - pl.col(":m")).alias(":b")


def _parts(rules: Rules) -> list[pl.Expr]:
    """Direction and magnitude, of the lengths of the shifts and their product."""
    a, b = pl.col("model_shift"), pl.col("truth_shift")
    cosine = pl.col(":product") / (a * b)
    if rules == "reference":
        direction = pl.when((b < _NOTHING) | (a == 0)).then(0.0 * a).otherwise(cosine)
        alone = pl.when(a < _NOTHING).then(1.0).otherwise(float("inf"))
        magnitude = pl.when(b < _NOTHING).then(alone).otherwise(a / b)
    else:
        direction = pl.when((a >= _NOTHING) & (b >= _NOTHING)).then(cosine.clip(-1.0, 1.0))
        magnitude = pl.when(b >= _NOTHING).then(a / b)
    return [direction.alias("direction"), magnitude.alias("magnitude")]
