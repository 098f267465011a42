"""Scores of predictions, also of answers that could not be read, and metrics of scored ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.metric import metric
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.state import State, ratio
from evalframe.core.tables import Keys
from evalframe.core.typing import Frame, IntoExpr, Role
from evalframe.survey.similarity.lists import over_rows, shares
from evalframe.survey.similarity.registry import OTHERS, SIMILARITIES, Metric, metric_expression

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


Failures: TypeAlias = Literal["zero", "null"]

STATUSES = ("ok", "unparsed", "length_mismatch", "failed")
"""Results of reading a response."""

STATUS, VALUE, PREDICTED, ACTUAL = ":status", ":value", ":predicted", ":actual"
"""Columns of `with_values`."""

_MOST_DECIMALS = 10
_SPLITTER = 2.0**27 + 1


@like_input
def score(
    predictions: Frame,
    *,
    metric: Metric = "jensen_shannon_similarity",
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    status: str = "status",
    failures: Failures = "zero",
    round_items: int | None = None,
) -> pl.LazyFrame:
    """Score each prediction against the actual distribution of its segment and question.

    An answer that could not be read, or is not a distribution, scores 0: a model must not gain by
    failing, and `parse_rate` reports how often it did. A response that was never generated is
    missing.

    Args:
        predictions: One row per model, segment and question, with the actual distribution joined.
        metric: Name of a similarity with values from 0 to 1, or a row-level expression that
            is 0 for the worst and higher for better predictions, such as
            `ef.earth_mover_similarity(normalised=True)`.
        predicted: List(number) or Array(number); null if nothing was read.
        actual: The actual numbers of the same options in the same order.
        status: The column of `ok`, `unparsed`, `length_mismatch` or `failed`. If it is missing or
            null, it follows from the lists, and a missing list is `unparsed`.
        failures: Score of `unparsed`, `length_mismatch` and an answer that is not a distribution:
            `zero`, or `null` to leave them out.
        round_items: Decimals to round to, 0 to 10, by the exact decimal expansion of the float,
            halves up. None for no rounding.

    Returns:
        The columns of `predictions`, the status (String, never null) and `score` (Float64), which
        replace columns of these names. The score is null if the status is `failed`, and without
        an actual distribution. Rows keep their order.

    Raises:
        UnknownNameError: Unknown metric.
        polars.exceptions.InvalidOperationError: When collected, for an unknown status.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> lists = {"predicted": [[50, 50], None], "actual": [[0.5, 0.5], [0.2, 0.8]]}
        >>> ef.survey.score(pl.DataFrame(lists)).select("status", "score").rows()
        [('ok', 1.0), ('unparsed', 0.0)]
    """
    check_choice("failures", failures, Failures)
    rows = with_values(predictions, metric, SIMILARITIES, predicted, actual, status)
    failed = pl.lit(0.0 if failures == "zero" else None, dtype=pl.Float64)
    is_read = (pl.col(STATUS) == "ok") & _is_distribution(PREDICTED)
    value = (
        pl.when(~_is_distribution(ACTUAL) | (pl.col(STATUS) == "failed"))
        .then(None)
        .when(is_read)
        .then(VALUE)
        .otherwise(failed)
    )
    return with_scores(rows, status, value, round_items)


@like_input
def prompt_scores(
    points: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    score: IntoExpr = "score",
    round_items: int | None = None,
) -> pl.LazyFrame:
    """The score of each prompt: the mean over the questions that it asked at once.

    Args:
        points: One row per question of a prompt.
        by: The columns that identify a prompt, such as model, run and prompt.
        score: The score of a question; null or NaN is left out.
        round_items: Decimals to round the mean to, as in `score`.

    Returns:
        The columns of `by`, `score` (Float64, null if no question has one) and `n_points` (Int64,
        questions with a score), sorted by `by`. As `avgCoverageExtent` in dtef-app 52d79c0.

    Raises:
        MissingColumnsError: The score or a column of `by` is missing.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> points = pl.DataFrame({"prompt": ["a", "a", "b"], "score": [0.5, 0.75, None]})
        >>> ef.survey.prompt_scores(points, by="prompt").rows()
        [('a', 0.625, 2), ('b', None, 0)]
    """
    check_decimals(round_items)
    keys = Keys.of(by, taken=("score", "n_points"))
    lazy, point = points.lazy(), as_expr(score)
    columns = lazy.collect_schema().names()
    if missing := columns_read([*keys.exprs, point]) - {*columns}:
        raise MissingColumnsError.of("prompt_scores", missing, columns)
    values = point.cast(pl.Float64).fill_nan(None)
    rows = lazy.with_columns(keys.select()).group_by(keys.inner)
    means = rows.agg(score=values.mean(), n_points=values.count().cast(pl.Int64))
    if round_items is not None:
        means = means.with_columns(rounded(pl.col("score"), round_items))
    return means.sort(keys.inner).rename(keys.restore())


def with_values(
    predictions: Frame,
    metric: Metric,
    registry: Mapping[str, Callable[..., pl.Expr]],
    predicted: IntoExpr,
    actual: IntoExpr,
    status: str,
) -> pl.LazyFrame:
    """Add the lists, the value of the metric and the status of each prediction."""
    if isinstance(metric, str) and metric in OTHERS:
        raise ParameterError(
            f"score: {metric} is not a similarity from 0 to 1 of which more is better; turn it "
            "around in an expression, such as metric=1 - ef.survey.total_variation_distance()"
        )
    value = metric_expression(metric, PREDICTED, ACTUAL, registry)
    lazy = predictions.lazy()
    lists = {PREDICTED: as_expr(predicted), ACTUAL: as_expr(actual)}
    schema = lazy.collect_schema()
    required = [*lists.values(), value] if isinstance(metric, pl.Expr) else [*lists.values()]
    if missing := columns_read(required) - {*schema}:
        raise MissingColumnsError.of("score", missing, schema)
    rows = lazy.with_columns(**lists)
    dtypes = rows.collect_schema()
    sizes = [_length(name, dtypes[name]) for name in lists]
    stated = pl.col(status) if status in schema else pl.lit(None, dtype=pl.String)
    return rows.with_columns(
        _status(stated, *sizes).alias(STATUS), value.cast(pl.Float64).alias(VALUE)
    )


def with_scores(
    rows: pl.LazyFrame, status: str, value: pl.Expr, round_items: int | None
) -> pl.LazyFrame:
    """Add the score and the status, and drop the columns of `with_values`."""
    check_decimals(round_items)
    scored = rows.with_columns(**{status: pl.col(STATUS), "score": value})
    scored = scored.drop(STATUS, VALUE, PREDICTED, ACTUAL)
    return scored if round_items is None else scored.with_columns(rounded("score", round_items))


def rounded(value: IntoExpr, decimals: int = 2) -> pl.Expr:
    """Round a Float64 by its exact decimal expansion, halves away from zero.

    `toFixed` of ECMAScript does this; `Expr.round` does not: 0.285 is slightly less than 0.285 and
    becomes 0.28.

    >>> pl.Series([0.125, 0.285, -0.125]).to_frame("x").select(rounded("x"))["x"].to_list()
    [0.13, 0.28, -0.13]
    """
    column = as_expr(value)
    size, scale = column.abs(), 10.0**decimals
    # size * scale = product + rest, exactly (Dekker 1971): only the size is split, since the scale
    # has few bits.
    product = size * scale
    wide = size * _SPLITTER
    high = wide - (wide - size)
    rest = (high * scale - product) + (size - high) * scale
    floor = product.floor()
    up = (product - floor - 0.5) >= -rest
    # Divide by a column: Polars multiplies by the reciprocal of a number, which rounds twice.
    nearest = (floor + up.cast(pl.Float64)) / (size * 0.0 + scale)
    result = pl.when(product < 2.0**52).then(nearest).otherwise(size)
    return pl.when(column < 0).then(-result).otherwise(result).alias(column.meta.output_name())


def check_decimals(round_items: int | None) -> None:
    """Raise ParameterError unless decimals are None or from 0 to 10."""
    is_int = isinstance(round_items, int) and not isinstance(round_items, bool)
    if round_items is not None and not (is_int and 0 <= round_items <= _MOST_DECIMALS):
        raise ParameterError(
            f"round_items must be 0 to {_MOST_DECIMALS} or None, got {round_items!r}"
        )


def _length(name: str, dtype: pl.DataType) -> pl.Expr:
    """Number of options of a column of lists."""
    match dtype:
        case pl.List():
            return pl.col(name).list.len()
        case pl.Array():
            return pl.when(pl.col(name).is_not_null()).then(pl.lit(dtype.size, dtype=pl.UInt32))
        case pl.Null():
            return pl.lit(None, dtype=pl.UInt32)
    role = name.removeprefix(":")
    raise ParameterError(f"score: {role} must be lists of numbers, but is {dtype}")


def _status(stated: pl.Expr, options: pl.Expr, actual_options: pl.Expr) -> pl.Expr:
    """The stated status; one that is null, or `ok` with a wrong length, follows from the lists."""
    valid = stated.cast(pl.Enum(STATUSES)).cast(pl.String)
    derived = (
        pl.when(options.is_null())
        .then(pl.lit("unparsed"))
        .when(options != actual_options)
        .then(pl.lit("length_mismatch"))
        .otherwise(pl.lit("ok"))
    )
    return pl.when(valid.is_null() | (valid == "ok")).then(derived).otherwise(valid)


def _is_distribution(column: str) -> pl.Expr:
    """True if a list has finite numbers, none negative and not all 0."""
    return over_rows("is_distribution", _sum_of_shares, column, column).is_not_null()


def _sum_of_shares(values: Floats, _: Floats) -> Floats:
    return shares(values).sum(axis=0)  # type: ignore[no-any-return]


@metric(family="survey", direction="maximize", range=(0.0, 1.0))
def mean_score(score: Role = "score", *, weight: Role = None) -> State:
    """Mean score of the predictions.

    It pools rows of several amounts of context, which leaderboards do not: select the rows first
    with `evalframe.survey.at_context`, or group by `context_count`. As the run score of dtef-app
    52d79c0, whose leaderboards are means of the segments' means.

    Args:
        score: Scores of `evalframe.survey.score`, from 0 to 1; null is missing.
        weight: How often each row counts, such as the sample size of its segment.

    Returns:
        Float64 in [0, 1], null where no row has a score.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scored = pl.DataFrame({"score": [0.5, 0.25, None], "sample_size": [30, 10, 5]})
        >>> scored.select(ef.mean_score(), weighted=ef.mean_score(weight="sample_size")).row(0)
        (0.375, 0.4375)
    """
    return State(
        sums={"score": weight * score, "rows": weight},
        finish=lambda totals: ratio(totals.score, totals.rows),
    )


@metric(family="survey", direction="maximize", range=(0.0, 1.0), labels=("status",))
def parse_rate(status: Role = "status", *, weight: Role = None) -> State:
    """Share of the attempted predictions that could be read as a distribution of the right length.

    Responses that were never generated count as attempted.

    Args:
        status: Result of `evalframe.survey.parse`: `ok`, `unparsed`, `length_mismatch` or
            `failed`. A null status means not attempted and is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where nothing was attempted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> parsed = pl.DataFrame({"status": ["ok", "ok", "unparsed", "failed"]})
        >>> parsed.select(ef.parse_rate(), ef.generation_rate()).row(0)
        (0.5, 0.75)
    """
    return State(
        sums={"ok": pl.when(status == "ok").then(weight).otherwise(0.0), "rows": weight},
        finish=lambda totals: ratio(totals.ok, totals.rows),
    )


@metric(family="survey", direction="maximize", range=(0.0, 1.0), labels=("status",))
def generation_rate(status: Role = "status", *, weight: Role = None) -> State:
    """Share of the attempted predictions for which there was a response.

    `parse_rate` divided by it is the share of responses that could be read.

    Args:
        status: As for `parse_rate`.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where nothing was attempted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"status": ["ok", "failed"]}).select(ef.generation_rate()).item()
        0.5
    """
    return State(
        sums={"responses": pl.when(status != "failed").then(weight).otherwise(0.0), "rows": weight},
        finish=lambda totals: ratio(totals.responses, totals.rows),
    )
