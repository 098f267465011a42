"""The registry of similarities and distances, and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.tables import Keys
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.similarity import distances, divergences

Metric: TypeAlias = "str | pl.Expr"

_PREDICTED, _ACTUAL, _OPTION = ":predicted", ":actual", ":option"


@dataclass(frozen=True)
class Similarity:
    """A measure of two distributions; its name is that of its function."""

    expression: Callable[..., pl.Expr]
    is_score: bool = True
    """True if values lie from 0 to 1 and more is better."""
    is_symmetric: bool = False
    alias: str | None = None
    """The name in the documents of dtef-app."""

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.expression.__name__


REGISTRY = (
    Similarity(divergences.jensen_shannon_similarity, is_symmetric=True, alias="js-divergence"),
    Similarity(distances.cosine_similarity, is_symmetric=True, alias="cosine"),
    Similarity(distances.earth_mover_similarity, is_symmetric=True, alias="earth-mover"),
    Similarity(distances.mode_agreement),
    Similarity(distances.per_option_accuracy),
    Similarity(divergences.jensen_shannon_distance, is_score=False),
    Similarity(distances.total_variation_distance, is_score=False),
    Similarity(distances.hellinger_distance, is_score=False),
    Similarity(divergences.kullback_leibler_divergence, is_score=False),
    Similarity(distances.distribution_absolute_error, is_score=False),
    Similarity(distances.distribution_root_mean_squared_error, is_score=False),
    Similarity(distances.rank_agreement, is_score=False),
)
"""To add a similarity, write its function and add it here."""

SIMILARITIES = {each.name: each.expression for each in REGISTRY if each.is_score}
OTHERS = {each.name: each.expression for each in REGISTRY if not each.is_score}
ALIASES = {each.alias: each.name for each in REGISTRY if each.alias is not None}


def metric_expression(
    metric: Metric,
    predicted: IntoExpr,
    actual: IntoExpr,
    registry: Mapping[str, Callable[..., pl.Expr]] = SIMILARITIES,
) -> pl.Expr:
    """Return the row-level expression of a metric, which can be one already."""
    if isinstance(metric, pl.Expr):
        return metric
    name = ALIASES.get(metric, metric)
    if name not in registry:
        raise UnknownNameError.of("metric", metric, registry)
    return registry[name](predicted, actual)


def is_symmetric(metric: Metric) -> bool:
    """True if a metric is known to be the same with both distributions exchanged."""
    name = ALIASES.get(metric, metric) if isinstance(metric, str) else None
    return any(each.name == name and each.is_symmetric for each in REGISTRY)


@like_input
def similarity_table(
    frame: Frame,
    *,
    metric: Metric = "jensen_shannon_similarity",
    by: IntoExpr | Sequence[IntoExpr],
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    option: IntoExpr = "option_index",
) -> pl.LazyFrame:
    """The similarity, or distance, of each distribution of a table with one row per option.

    The numbers are those of the row-level expressions. An option without a row is not part of the
    distribution: give it a row with a share of 0.

    Args:
        frame: One row for each option of each distribution, in any order.
        metric: Name of a similarity or distance of `evalframe.survey`, or such an expression over
            the lists `predicted` and `actual`.
        by: The columns that identify a distribution: model, round, segment and question.
        predicted: The predicted share, percentage or count.
        actual: The actual one.
        option: The position of the option.

    Returns:
        The columns of `by`, `n_options` (Int64, rows of the distribution) and the metric under its
        name (Float64), sorted by `by`. The metric is null where its expression would be, and where
        an option is null or occurs twice. Lazy if the frame is.

    Raises:
        UnknownNameError: Unknown metric.
        ParameterError: No keys.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> shares = {"predicted": [50.0, 50.0], "actual": [0.5, 0.5]}
        >>> options = pl.DataFrame({"question_id": ["q"] * 2, "option_index": [1, 0], **shares})
        >>> ef.survey.similarity_table(options, by="question_id").rows()
        [('q', 2, 1.0)]
    """
    value = metric_expression(metric, "predicted", "actual", SIMILARITIES | OTHERS)
    name = value.meta.output_name()
    keys = Keys.of(by, taken=("n_options", name))
    if not keys.names:
        raise ParameterError("similarity_table: by must name the columns of a distribution")
    lazy = frame.lazy()
    inputs = {_PREDICTED: as_expr(predicted), _ACTUAL: as_expr(actual), _OPTION: as_expr(option)}
    columns = lazy.collect_schema().names()
    if missing := columns_read([*keys.exprs, *inputs.values()]) - {*columns}:
        raise MissingColumnsError.of("similarity_table", missing, columns)
    rows = lazy.select(*keys.select(), **inputs).sort([*keys.inner, _OPTION])
    lists = rows.group_by(keys.inner, maintain_order=True).agg(_PREDICTED, _ACTUAL, _OPTION)
    options = pl.col(_OPTION).list
    are_distinct = options.drop_nulls().list.n_unique() == options.len()
    table = lists.with_columns(
        pl.when(are_distinct).then(_PREDICTED).alias("predicted"), pl.col(_ACTUAL).alias("actual")
    ).select(*keys.inner, options.len().cast(pl.Int64).alias("n_options"), value)
    return table.sort(keys.inner).rename(keys.restore())
