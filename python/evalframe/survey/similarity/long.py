"""Similarities of distributions in long tables, one row for each option."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.tables import Keys
from evalframe.survey.similarity.named import OTHERS, SIMILARITIES, metric_expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.similarity.named import Metric

_PREDICTED, _ACTUAL, _OPTION = ":predicted", ":actual", ":option"


def similarity_table(
    frame: Frame,
    *,
    metric: Metric = "jensen_shannon_similarity",
    by: IntoExpr | Sequence[IntoExpr],
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    option: IntoExpr = "option_index",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """The similarity, or distance, of each distribution of a table with one row for each option.

    The numbers are those of the row-level expressions. An option without a row is no option of the
    distribution: give it a row with a share of 0.

    Args:
        frame: One row for each option of each distribution, in any order.
        metric: Name of a similarity or distance of `evalframe.survey`, or such an expression over
            the lists `predicted` and `actual`.
        by: The columns that name a distribution, such as model, round, segment and question.
        predicted: The predicted share, percentage or count.
        actual: The actual one.
        option: The place of the option.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        The columns of `by`, `n_options` (Int64, rows of the distribution) and the metric under its
        name (Float64), sorted by `by`. The metric is null where its expression would be, and where
        an option is null or stands twice. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        UnknownNameError: There is no such metric.
        ParameterError: No keys, unknown rules, or the original has no such metric.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> options = pl.DataFrame(
        ...     {
        ...         "question_id": ["q1", "q1", "q2", "q2"],
        ...         "option_index": [1, 0, 0, 1],
        ...         "predicted": [50.0, 50.0, 100.0, 0.0],
        ...         "actual": [0.5, 0.5, 0.0, 1.0],
        ...     }
        ... )
        >>> ef.survey.similarity_table(options, by="question_id").collect()
        shape: (2, 3)
        ┌─────────────┬───────────┬───────────────────────────┐
        │ question_id ┆ n_options ┆ jensen_shannon_similarity │
        │ ---         ┆ ---       ┆ ---                       │
        │ str         ┆ i64       ┆ f64                       │
        ╞═════════════╪═══════════╪═══════════════════════════╡
        │ q1          ┆ 2         ┆ 1.0                       │
        │ q2          ┆ 2         ┆ 0.0                       │
        └─────────────┴───────────┴───────────────────────────┘
    """
    value = metric_expression(metric, "predicted", "actual", rules, SIMILARITIES | OTHERS)
    name = value.meta.output_name()
    keys = Keys.of(by, taken=("n_options", name))
    if not keys.names:
        raise ParameterError("similarity_table: by must name the columns of a distribution")
    lazy = frame.lazy()
    read = {_PREDICTED: as_expr(predicted), _ACTUAL: as_expr(actual), _OPTION: as_expr(option)}
    present = lazy.collect_schema().names()
    exprs = [*keys.exprs, *read.values()]
    if missing := columns_read(exprs) - {*present}:
        raise MissingColumnsError.of("similarity_table", missing, present)
    rows = lazy.select(*keys.select(), **read).sort([*keys.inner, _OPTION])
    lists = rows.group_by(keys.inner, maintain_order=True).agg(_PREDICTED, _ACTUAL, _OPTION)
    options = pl.col(_OPTION)
    clear = (options.list.n_unique() == options.list.len()) & (
        options.list.drop_nulls().list.len() == options.list.len()
    )
    made = lists.with_columns(
        pl.when(clear).then(_PREDICTED).alias("predicted"), pl.col(_ACTUAL).alias("actual")
    ).select(*keys.inner, options.list.len().cast(pl.Int64).alias("n_options"), value)
    return made.sort(keys.inner).rename(keys.restore())
