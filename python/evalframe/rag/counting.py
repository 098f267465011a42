"""The table of a benchmark run: counters and rates of labelled responses over any keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl
from polars import selectors as cs

from evalframe.core.choices import Dropped, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.per import leaves_of
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.special import wilson
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.evaluation import evaluate
from evalframe.rag import metrics
from evalframe.rag.metrics import good, has_value, judge_detected, judge_rejected, rejected
from evalframe.resample.independence import cluster_of

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.resample.methods import Method


Intervals: TypeAlias = Literal["wilson"]

DROPPED = ":dropped"
"""Column that is True for responses without a label."""

_LABEL, _FACTLABEL, _EVALUATION = pl.col("label"), pl.col("factlabel"), pl.col("evaluation")
_LABELLED, _DETECTED, _GOOD = _LABEL.is_not_null(), _FACTLABEL == 1, good(_LABEL)
_REJECTED = rejected(_LABEL)
_JUDGE_DETECTED = judge_detected(_EVALUATION)

COUNTERS = {
    "n": _LABELLED,
    "n_dropped": pl.col(DROPPED),
    "n_correct": _GOOD & ~_REJECTED,
    "n_rejected": _REJECTED,
    "n_wrong": ~_GOOD & ~_REJECTED,
    "n_partial": has_value(_LABEL, 1) & has_value(_LABEL, 0) & ~_REJECTED,
    "n_fact_checked": _LABELLED & _FACTLABEL.is_not_null(),
    "n_error_detected": _LABELLED & _DETECTED,
    "n_error_corrected": _DETECTED & _GOOD,
    "n_detected_and_rejected": _DETECTED & _REJECTED,
    "n_judged": _LABELLED & _EVALUATION.is_not_null(),
    "n_judge_rejected": _LABELLED & judge_rejected(_EVALUATION),
    "n_judge_detected": _LABELLED & _JUDGE_DETECTED,
    "n_judge_corrected": _JUDGE_DETECTED & _GOOD,
}
"""The responses that each column counts, in the order of the table."""

RATES: dict[str, MetricExpr] = {
    "accuracy": metrics.answer_accuracy(),
    "rejection_rate": metrics.rejection_rate(),
    "all_rate": metrics.all_rate(),
    "error_detection_rate": metrics.error_detection_rate(),
    "error_correction_rate": metrics.error_correction_rate(),
    "judge_rejection_rate": metrics.judge_rejection_rate(),
    "judge_detection_rate": metrics.judge_detection_rate(),
    "judge_correction_rate": metrics.judge_correction_rate(),
}
"""The metric of each rate."""

_ENDS = ("", "_lower", "_upper")
_ROWS = ":rows:"
"""Prefix of the weight of rows that a rate is a share of."""

_NUMBER = cs.numeric() | cs.boolean(), "a number", "cast it"
_TYPES = {
    "label": (
        cs.list(cs.integer() | cs.by_dtype(pl.Null)),
        "lists of integers",
        "make it with evalframe.rag.label",
    ),
    "factlabel": _NUMBER,
    "noise_rate": _NUMBER,
    "evaluation": (cs.string() | cs.categorical() | cs.enum(), "text", "cast it"),
}
"""Types of the columns that rates read, as text, and a remedy; all can be null throughout."""

_READ = {"factlabel": pl.Int8(), "noise_rate": pl.Float64(), "evaluation": pl.String()}
"""Optional columns; counts and rates that need a missing one are null."""


@like_input
def rates(
    labelled: Frame,
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    dropped: Dropped = "excluded",
    intervals: Intervals | None = None,
    level: float = 0.95,
    resample: Method | None = None,
) -> pl.LazyFrame:
    """Counters and rates of labelled responses: one row for each group, all noise levels together.

    The rates are the metrics of the family under short names: `ef.evaluate` and `ef.compare` with
    `ef.answer_accuracy()` and the others give the same numbers.

    Args:
        labelled: Responses with `label`, and if present `factlabel`, `noise_rate` and `evaluation`
            (the judge's text), as `evalframe.rag.label` returns them.
        by: Group keys, such as model, dataset, noise_rate, passage_num, correct_passage_rate.
        weight: How often each row counts; counters are then sums of weights. A row with a null,
            negative or infinite weight counts nowhere.
        dropped: For responses without a label (failed requests, answers of a wrong shape):
            `excluded` from every count but `n_dropped`, or also counted as `wrong`.
        intervals: `wilson`: score intervals of each rate, for independent responses.
        level: Confidence level of these intervals.
        resample: `ef.Bootstrap(cluster=...)` or another method, for intervals of each rate that
            respect the clusters. Groups with the same clusters are resampled alike: with the
            question as cluster, models and noise levels are paired.

    Returns:
        by..., then the counters (Int64, Float64 with a weight): `n` (responses counted),
        `n_dropped`, `n_correct` (every group of the answer found), `n_rejected`, `n_wrong`
        (neither), `n_partial` (wrong, with some group found), `n_fact_checked` (with a factlabel),
        `n_error_detected`, `n_error_corrected` (detected, and every group found),
        `n_detected_and_rejected`, `n_judged`, `n_judge_rejected`, `n_judge_detected`,
        `n_judge_corrected`; then the rates (Float64, null if the denominator is 0): `accuracy`,
        `rejection_rate`, `all_rate`, `error_detection_rate`, `error_correction_rate`,
        `judge_rejection_rate`, `judge_detection_rate`, `judge_correction_rate`. With intervals each
        rate is followed by its `_lower` and `_upper`. Columns are null if the table lacks what they
        need. Sorted by the keys.

    Raises:
        ParameterError: Both kinds of intervals are requested, or a key has the name of a column of
            the result.

    References:
        Chen et al. (2024), Benchmarking large language models in retrieval-augmented generation;
        RGB 65ec39e. Wilson (1927), Probable inference.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> labels = [[-1], [1], [1], [0], [-1], None]
        >>> labelled = pl.DataFrame({"model": ["a"] * 4 + ["b"] * 2, "label": labels})
        >>> table = ef.rag.rates(labelled, by="model")
        >>> table.select("model", "n", "n_dropped", "n_rejected", "rejection_rate").rows()
        [('a', 4, 0, 1, 0.25), ('b', 1, 1, 1, 1.0)]
    """
    return table_of(COUNTERS, RATES, labelled, by, weight, dropped, intervals, level, resample)


def table_of(
    counters: Mapping[str, pl.Expr],
    metrics: Mapping[str, MetricExpr],
    labelled: Frame,
    by: By,
    weight: IntoExpr | None,
    dropped: Dropped,
    intervals: Intervals | None,
    level: float,
    resample: Method | None,
) -> pl.LazyFrame:
    """The table of `rates` with these counters and metrics."""
    if intervals is not None and resample is not None:
        raise ParameterError("rates takes intervals or resample, not both; leave one out")
    check_choice("intervals", intervals, Intervals, optional=True)
    responses = lazy(labelled)
    keys = Keys.of(by, taken=[*counters, *(rate + end for rate in metrics for end in _ENDS)])
    weights = [] if weight is None else [as_expr(weight)]
    rows = with_outcomes(responses, dropped, [*keys.exprs, *weights], resample)
    table = _wide(rows, keys, weight, counters, metrics)
    if intervals == "wilson":
        table = table.with_columns(_wilson_bounds(metrics, level))
    elif resample is not None:
        table = _resampled(table, rows, keys, weight, metrics, resample)
    ends = _ENDS[:1] if intervals is None and resample is None else _ENDS
    columns = [*counters, *(rate + end for rate in metrics for end in ends)]
    absent = {"factlabel", "evaluation"} - {*responses.collect_schema()}
    unknown = [name for name, flag in counters.items() if absent & {*flag.meta.root_names()}]
    table = table.with_columns(pl.when(pl.lit(value=False)).then(pl.col(name)) for name in unknown)
    return table.sort(keys.inner).select(*keys.inner, *columns).rename(keys.restore())


def _wide(
    rows: pl.LazyFrame,
    keys: Keys,
    weight: IntoExpr | None,
    counters: Mapping[str, pl.Expr],
    metrics: Mapping[str, MetricExpr],
) -> pl.LazyFrame:
    """Counters and rates, one row for each group, under the internal names of the keys."""
    weighted = {
        name: metric if weight is None else metric.bound.reweighted(weight)
        for name, metric in metrics.items()
    }
    exprs = _counts(counters, weight)
    for name, metric in weighted.items():
        (bound,) = leaves_of(metric.bound)
        rows_of_rate = bound.metric.state(bound.columns, bound.params).sums["rows"]
        exprs += [metric.alias(name), rows_of_rate.sum().cast(pl.Float64).alias(_ROWS + name)]
    keyed = rows.with_columns(keys.select())
    return keyed.group_by(keys.inner).agg(exprs) if keys.inner else keyed.select(exprs)


def _counts(counters: Mapping[str, pl.Expr], weight: IntoExpr | None) -> list[pl.Expr]:
    if weight is None:
        return [flag.sum().cast(pl.Int64).alias(name) for name, flag in counters.items()]
    mass = as_expr(weight).cast(pl.Float64)
    usable = (mass >= 0) & mass.is_finite()
    return [
        pl.when(flag & usable).then(mass).otherwise(0.0).sum().alias(name)
        for name, flag in counters.items()
    ]


def _wilson_bounds(metrics: Iterable[str], level: float) -> list[pl.Expr]:
    bounds = []
    for rate in metrics:
        rows = pl.col(_ROWS + rate)
        ends = zip(_ENDS[1:], wilson(pl.col(rate), rows, level), strict=True)
        bounds += [pl.when(rows > 0).then(value).alias(rate + end) for end, value in ends]
    return bounds


def _resampled(
    table: pl.LazyFrame,
    rows: pl.LazyFrame,
    keys: Keys,
    weight: IntoExpr | None,
    metrics: Mapping[str, MetricExpr],
    resample: Method,
) -> pl.LazyFrame:
    """The table with the limits of resampled intervals."""
    named = [metric.alias(name) for name, metric in metrics.items()]
    groups = [expr.alias(name) for expr, name in zip(keys.exprs, keys.inner, strict=True)]
    long = evaluate(rows, named, by=groups, weight=weight, resample=resample)
    ends = [
        pl.col(end).filter(pl.col("metric") == rate).first().alias(f"{rate}_{end}")
        for rate in metrics
        for end in ("lower", "upper")
    ]
    if not keys.inner:
        return pl.concat([table, long.select(ends)], how="horizontal")
    return table.join(
        long.group_by(keys.inner).agg(ends), on=keys.inner, how="left", nulls_equal=True
    )


def with_outcomes(
    responses: pl.LazyFrame,
    dropped: Dropped,
    exprs: Sequence[pl.Expr],
    resample: Method | None,
    caller: str = "rates",
) -> pl.LazyFrame:
    """The responses with all columns that rates read, null if the table lacks them."""
    check_choice("dropped", dropped, Dropped)
    schema = responses.collect_schema()
    roots = columns_read(exprs)
    if missing := {"label", *roots} - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema.names())
    for name, (fits, words, remedy) in _TYPES.items():
        valid = cs.expand_selector(schema, fits | cs.by_dtype(pl.Null))
        if name in schema and name not in valid:
            raise ParameterError(
                f"{caller}: {name} must be {words}, but is {schema[name]}; {remedy}"
            )
    label = pl.col("label").cast(pl.List(pl.Int64))
    absent = [pl.lit(None, dtype=_READ[name]).alias(name) for name in _READ if name not in schema]
    rows = responses.with_columns(label, label.is_null().alias(DROPPED), *absent)
    if dropped == "wrong":
        failure = pl.concat_list(pl.lit(0, dtype=pl.Int64))
        unflagged = pl.when(DROPPED).then(pl.col("factlabel").fill_null(0)).otherwise("factlabel")
        rows = rows.with_columns(pl.col("label").fill_null(failure), unflagged.alias("factlabel"))
    if resample is None:
        return rows
    # The rows are read twice, so they are collected, and labels are computed once.
    cluster = cluster_of(resample)
    roots = columns_read(exprs if cluster is None else [*exprs, cluster])
    names = dict.fromkeys(["label", *_READ, DROPPED, *sorted(roots)])
    return rows.select(*names).collect().lazy()
