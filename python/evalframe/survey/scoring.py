"""Scores of predictions: what an answer is worth, also one that could not be read.

`rules="reference"` gives the item scores of dtef-app 52d79c0:

| | documented | reference |
|---|---|---|
| `unparsed` | 0 | 0 |
| `length_mismatch` | 0 | 0.1 |
| `failed`: no text was generated | null, left out | null, left out |
| `ok`, but no distribution: all 0, or negative | 0 | what the metric makes of it |
| no actual distribution | null, left out | null for `ok`; else as above |
| the metric's values | as they are | put into [0, 1], then rounded to 2 decimals |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_choice, check_rules
from evalframe.core.tables import Keys
from evalframe.survey.similarity.named import OTHERS, SIMILARITIES, metric_expression
from evalframe.survey.similarity.rules import shares
from evalframe.survey.similarity.shapes import over_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.similarity.named import Metric

Failures: TypeAlias = Literal["by_rules", "zero", "null"]
Rounding: TypeAlias = int | Literal["by_rules"] | None

STATUSES = ("ok", "unparsed", "length_mismatch", "failed")
"""What became of a response."""

_MISMATCH = {"documented": 0.0, "reference": 0.1}
_DECIMALS = {"documented": None, "reference": 2}
_MOST_DECIMALS = 10
_SPLITTER = 2.0**27 + 1

_STATUS, _VALUE = ":status", ":value"
_PREDICTED, _ACTUAL = ":predicted", ":actual"


def score(
    predictions: Frame,
    *,
    metric: Metric = "jensen_shannon_similarity",
    rules: Rules = "documented",
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    status: str = "status",
    failures: Failures = "by_rules",
    round_items: Rounding = "by_rules",
) -> pl.LazyFrame:
    """Score each prediction against the actual distribution of its segment and question.

    An answer that could not be read, or is no distribution, scores 0: a model must not gain by
    failing, and `parse_rate` says how often it did. A response that was never generated is missing.

    Args:
        predictions: One row per model, segment and question, with the actual distribution joined.
        metric: `jensen_shannon_similarity`, `cosine_similarity`, `earth_mover_similarity`,
            `mode_agreement`, `per_option_accuracy`, one of the original's names (`js-divergence`,
            `cosine`, `earth-mover`), or any row-level expression of which more is better and 0 is
            worst, such as `ef.earth_mover_similarity(normalised=True)`, which is then computed as
            it stands.
        rules: `documented`, or `reference` for the original's numbers.
        predicted: List(number) or Array(number); null where nothing was read.
        actual: The same.
        status: The column of `ok`, `unparsed`, `length_mismatch` or `failed`. Where it is not there
            or null, it follows from the lists, and a missing list is `unparsed`.
        failures: What `unparsed`, `length_mismatch` and an answer that is no distribution score:
            `by_rules` as in the table above, `zero`, or `null` to leave them out.
        round_items: Decimals to round to, 0 to 10, exactly: by the decimal expansion of the float,
            halves up. None for none; `by_rules` for 2 with `rules="reference"` and else none.

    Returns:
        The columns of `predictions`, the status (String, never null) and `score` (Float64), which
        replace columns of these names. The score is null where the status is `failed`, and
        where there is no actual distribution (by the original's rules only if the status is `ok`).
        Lazy; rows keep their order.

    Raises:
        MissingColumnsError: A column is not there.
        UnknownNameError: There is no such metric.
        ParameterError: An argument lies outside its domain.
        polars.exceptions.InvalidOperationError: When collected, for a status of another name.

    References:
        dtef-app 52d79c0, `distribution_metric` and its item scores.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> predictions = pl.DataFrame(
        ...     {
        ...         "predicted": [[50, 50], [9, 1], None, None],
        ...         "actual": [[0.5, 0.5], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8]],
        ...         "status": ["ok", "ok", "unparsed", "failed"],
        ...     }
        ... )
        >>> ef.survey.score(predictions).collect()["score"].round(4).to_list()
        [1.0, 0.3697, 0.0, None]
        >>> ef.survey.score(predictions, rules="reference").collect()["score"].to_list()
        [1.0, 0.37, 0.0, None]
    """
    check_choice("failures", failures, Failures)
    if isinstance(metric, str) and metric in OTHERS:
        raise ParameterError(
            f"score: {metric} is none of which more is better from 0 to 1; turn it round in an "
            "expression, such as metric=1 - ef.survey.total_variation_distance()"
        )
    value = metric_expression(metric, _PREDICTED, _ACTUAL, rules, SIMILARITIES)
    decimals = _decimals(round_items, rules)
    lazy = predictions.lazy()
    lists = {_PREDICTED: as_expr(predicted), _ACTUAL: as_expr(actual)}
    schema = lazy.collect_schema()
    needed = [*lists.values(), value] if isinstance(metric, pl.Expr) else [*lists.values()]
    if missing := columns_read(needed) - {*schema}:
        raise MissingColumnsError.of("score", missing, schema)
    rows = lazy.with_columns(**lists)
    sizes = {name: _length(name, rows.collect_schema()[name]) for name in lists}
    stated = pl.col(status) if status in schema else pl.lit(None, dtype=pl.String)
    known = _status(stated, sizes[_PREDICTED], sizes[_ACTUAL])
    mismatch = None if failures == "null" else 0.0 if failures == "zero" else _MISMATCH[rules]
    unread = pl.lit(None if failures == "null" else 0.0, dtype=pl.Float64)
    came_of = pl.col(_STATUS)
    if rules == "documented":
        is_answer, is_truth = _is_distribution(_PREDICTED), _is_distribution(_ACTUAL)
        read = pl.when(is_answer).then(_VALUE).otherwise(unread)
    else:
        is_truth, read = pl.lit(value=True), pl.col(_VALUE).clip(0.0, 1.0)
    worth = (
        pl.when(~is_truth)
        .then(None)
        .when(came_of == "ok")
        .then(read)
        .when(came_of == "unparsed")
        .then(unread)
        .when(came_of == "length_mismatch")
        .then(pl.lit(mismatch, dtype=pl.Float64))
    )
    with_status = rows.with_columns(known.alias(_STATUS), value.cast(pl.Float64).alias(_VALUE))
    scored = with_status.with_columns(**{status: came_of, "score": worth}).drop(
        _STATUS, _VALUE, _PREDICTED, _ACTUAL
    )
    return scored if decimals is None else scored.with_columns(rounded("score", decimals))


def prompt_scores(
    points: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    score: IntoExpr = "score",
    rules: Rules = "documented",
    round_items: Rounding = "by_rules",
) -> pl.LazyFrame:
    """The score of each prompt: the mean over the questions that it asked at once.

    The original rounds the mean, not its parts, so score them with `round_items=None` first.

    Args:
        points: One row per question of a prompt.
        by: The columns that name a prompt, such as model, run and prompt.
        score: The score of a question; null or NaN is left out.
        rules: `documented`, or `reference`, which puts scores into [0, 1] and gives 0 where none is
            left.
        round_items: As of `score`.

    Returns:
        The columns of `by`, `score` (Float64, null where no question has one) and `n_points`
        (Int64, questions that count), sorted by `by`. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Unknown rules, or decimals that are none.

    References:
        dtef-app 52d79c0, `avgCoverageExtent`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> points = pl.DataFrame({"prompt": ["a", "a", "b"], "score": [0.5, 0.75, None]})
        >>> ef.survey.prompt_scores(points, by="prompt").collect().rows()
        [('a', 0.625, 2), ('b', None, 0)]
    """
    check_rules(rules)
    decimals = _decimals(round_items, rules)
    keys = Keys.of(by, taken=("score", "n_points"))
    lazy, point = points.lazy(), as_expr(score)
    present = lazy.collect_schema().names()
    exprs = [*keys.exprs, point]
    if missing := columns_read(exprs) - {*present}:
        raise MissingColumnsError.of("prompt_scores", missing, present)
    known = point.cast(pl.Float64).fill_nan(None)
    mean = known.mean()
    if rules == "reference":
        mean = known.clip(0.0, 1.0).mean().fill_null(0.0)
    rows = lazy.with_columns(keys.select())
    means = rows.group_by(keys.inner).agg(score=mean, n_points=known.count().cast(pl.Int64))
    if decimals is not None:
        means = means.with_columns(rounded(pl.col("score"), decimals))
    return means.sort(keys.inner).rename(keys.restore())


def rounded(value: IntoExpr, decimals: int = 2) -> pl.Expr:
    """The value rounded by its exact decimal expansion, halves away from zero.

    So does `toFixed` of ECMAScript; `Expr.round` does not: 0.285 is a little below 0.285 and
    becomes 0.28.

    Args:
        value: Float64.
        decimals: 0 to 10.

    Returns:
        Float64, the nearest to the decimal number, under the name of the value.

    Raises:
        ParameterError: Decimals outside of 0 to 10.

    References:
        ECMA-262, Number.prototype.toFixed; Dekker (1971) for the exact product.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.scoring import rounded
        >>> pl.Series([0.125, 0.285, -0.125]).to_frame("x").select(rounded("x"))["x"].to_list()
        [0.13, 0.28, -0.13]
    """
    if not 0 <= decimals <= _MOST_DECIMALS:
        raise ParameterError(f"decimals must be 0 to {_MOST_DECIMALS}, got {decimals!r}")
    column = as_expr(value)
    size, scale = column.abs(), 10.0**decimals
    # size * scale = product + rest, exactly: the scale has few enough bits to need no splitting.
    product = size * scale
    wide = size * _SPLITTER
    high = wide - (wide - size)
    rest = (high * scale - product) + (size - high) * scale
    whole = product.floor()
    up = (product - whole - 0.5) >= -rest
    # By a column, since Polars would multiply by the reciprocal of a number, which rounds twice.
    nearest = (whole + up.cast(pl.Float64)) / (size * 0.0 + scale)
    fixed = pl.when(product < 2.0**52).then(nearest).otherwise(size)
    return pl.when(column < 0).then(-fixed).otherwise(fixed).alias(column.meta.output_name())


def _decimals(round_items: Rounding, rules: Rules) -> int | None:
    if round_items == "by_rules":
        return _DECIMALS[rules]
    whole = isinstance(round_items, int) and not isinstance(round_items, bool)
    if round_items is not None and not (whole and 0 <= round_items <= _MOST_DECIMALS):
        raise ParameterError(
            f'round_items must be 0 to {_MOST_DECIMALS}, None or "by_rules", got {round_items!r}'
        )
    return round_items


def _length(name: str, dtype: pl.DataType) -> pl.Expr:
    """How many options a list has.

    Raises:
        ParameterError: It is no list.
    """
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
    """What became of each response, by what is stated and then by the lists.

    A vector of another length than the truth is a mismatch, also where it is stated to be `ok`.
    """
    known = stated.cast(pl.Enum(STATUSES)).cast(pl.String)
    followed = (
        pl.when(options.is_null())
        .then(pl.lit("unparsed"))
        .when(options != actual_options)
        .then(pl.lit("length_mismatch"))
        .otherwise(pl.lit("ok"))
    )
    return pl.when(known.is_null() | (known == "ok")).then(followed).otherwise(known)


def _is_distribution(column: str) -> pl.Expr:
    """Whether a list is one: finite numbers, none negative, not all 0."""
    return over_rows("is_distribution", _sound, column, column).is_not_null()


def _sound(values: Floats, _: Floats) -> Floats:
    return shares(values).sum(axis=0)  # type: ignore[no-any-return]
