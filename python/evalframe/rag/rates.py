"""The table of a benchmark run: counters and rates of labelled responses over any keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.special import wilson
from evalframe.rag import outcomes
from evalframe.rag.metrics import (
    all_rate,
    answer_accuracy,
    error_correction_rate,
    error_detection_rate,
    judge_correction_rate,
    judge_detection_rate,
    judge_rejection_rate,
    rejection_rate,
)

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.core.tables import Keys
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.resample.methods import Method

Dropped: TypeAlias = Literal["excluded", "wrong"]
Intervals: TypeAlias = Literal["wilson"]

COUNTERS = (
    "n",
    "n_dropped",
    "n_correct",
    "n_rejected",
    "n_wrong",
    "n_partial",
    "n_error_detected",
    "n_error_corrected",
    "n_error_corrected_original",
    "n_detected_and_rejected",
    "n_judged",
    "n_judge_rejected",
    "n_judge_detected",
    "n_judge_corrected",
)
"""Counts of responses, in the order of the table."""

RATES = {
    "accuracy": ("n", answer_accuracy()),
    "rejection_rate": ("n", rejection_rate()),
    "all_rate": ("n", all_rate()),
    "error_detection_rate": ("n", error_detection_rate()),
    "error_correction_rate": ("n_error_detected", error_correction_rate()),
    "error_correction_rate_original": (
        "n_error_detected",
        error_correction_rate(rules="reference"),
    ),
    "judge_rejection_rate": ("n_judged", judge_rejection_rate()),
    "judge_detection_rate": ("n_judged", judge_detection_rate()),
    "judge_correction_rate": ("n_judge_detected", judge_correction_rate()),
}
"""Each rate with the counter that it is a share of, and the metric that it is."""

_NEEDS = {
    name: "evaluation" if "judge" in name else "factlabel"
    for name in COUNTERS
    if "judge" in name or "detected" in name or "error" in name
}
"""The column that a counter needs beside the label."""

_READ = {"factlabel": pl.Int8(), "noise_rate": pl.Float64(), "evaluation": pl.String()}
"""Columns that a table may lack; what needs them is then null."""


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

    The rates are the metrics of the family under short names, so `ef.evaluate` and `ef.compare`
    with `ef.answer_accuracy()` and its kin give the same numbers.

    Args:
        labelled: Responses with `label`, and as far as there are `factlabel`, `noise_rate` and
            `evaluation` (the judge's text), as `evalframe.rag.label` or `read_rgb` give them.
        by: Group keys, such as model, dataset, noise_rate, passage_num, correct_passage_rate.
        weight: How often each row counts; counters are then weights.
        dropped: What becomes of responses without a label, of requests that failed or of answers
            of a wrong shape: `excluded` from every count but `n_dropped`, as the original does
            silently, or counted as `wrong` as well.
        intervals: `wilson`: score intervals of each rate, which take responses as independent.
        level: Their confidence level.
        resample: `ef.Bootstrap(cluster=...)` or another method, for intervals of each rate that
            respect the clusters. Groups with the same clusters are resampled alike: with the
            question as cluster, models and noise levels are paired.

    Returns:
        by..., then the counters (Int64, Float64 with a weight): `n` (responses counted),
        `n_dropped`, `n_correct` (every group of the answer found), `n_rejected`, `n_wrong`
        (neither), `n_partial` (wrong, with some group found), `n_error_detected`,
        `n_error_corrected` (detected, and every group found), `n_error_corrected_original`
        (detected, and no group missed: refusals count), `n_detected_and_rejected`, `n_judged`,
        `n_judge_rejected`, `n_judge_detected`, `n_judge_corrected`; then the rates (Float64, null
        where the denominator is 0): `accuracy`, `rejection_rate`, `all_rate`,
        `error_detection_rate`, `error_correction_rate`, `error_correction_rate_original` (0 where
        nothing is detected), `judge_rejection_rate`, `judge_detection_rate`,
        `judge_correction_rate`. With intervals each rate is followed by its `_lower` and `_upper`.
        What would need a column that is not there is null. Sorted by the keys.

    Raises:
        MissingColumnsError: No label, or no column of a key or the weight.
        ParameterError: Labels are no lists of integers, an unknown choice, both kinds of interval
            at once, or a key with the name of a column of the result.

    References:
        Chen et al. (2024), Benchmarking large language models in retrieval-augmented generation;
        RGB 65ec39e. Wilson (1927), Probable inference, the law of succession, and statistical
        inference.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> labelled = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a", "a", "b", "b", "b"],
        ...         "noise_rate": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        ...         "label": [[-1], [1], [0], [-1], [-1], None],
        ...     }
        ... )
        >>> table = ef.rag.rates(labelled, by=["model", "noise_rate"])
        >>> table.select("model", "n", "n_dropped", "n_rejected", "rejection_rate").collect()
        shape: (2, 5)
        ┌───────┬─────┬───────────┬────────────┬────────────────┐
        │ model ┆ n   ┆ n_dropped ┆ n_rejected ┆ rejection_rate │
        │ ---   ┆ --- ┆ ---       ┆ ---        ┆ ---            │
        │ str   ┆ i64 ┆ i64       ┆ i64        ┆ f64            │
        ╞═══════╪═════╪═══════════╪════════════╪════════════════╡
        │ a     ┆ 3   ┆ 0         ┆ 1          ┆ 0.333333       │
        │ b     ┆ 2   ┆ 1         ┆ 2          ┆ 1.0            │
        └───────┴─────┴───────────┴────────────┴────────────────┘
    """
    from evalframe.core.tables import Keys, lazy

    if intervals is not None and resample is not None:
        raise ParameterError("rates takes intervals or resample, not both; leave one out")
    if intervals not in (None, *get_args(Intervals)):
        raise ParameterError(f"unknown intervals {intervals!r}; known: wilson")
    responses = lazy(labelled)
    bounds = [f"{rate}_{end}" for rate in RATES for end in ("lower", "upper")]
    keys = Keys.of(by, taken=[*COUNTERS, *RATES, *bounds])
    rows = with_outcomes(responses, dropped, [*keys.exprs, *_given(weight)])
    table = _wide(rows, keys, weight)
    shown: list[str] = [*COUNTERS, *RATES]
    if intervals == "wilson":
        table = table.with_columns(_wilson_bounds(level))
    elif resample is not None:
        table = _resampled(table, rows, keys, weight, resample)
    if intervals is not None or resample is not None:
        ends = [[rate, f"{rate}_lower", f"{rate}_upper"] for rate in RATES]
        shown = [*COUNTERS, *(name for names in ends for name in names)]
    known = responses.collect_schema()
    unknown = [name for name, column in _NEEDS.items() if column not in known]
    table = table.with_columns(pl.when(pl.lit(value=False)).then(pl.col(name)) for name in unknown)
    return table.sort(keys.inner).select(*keys.inner, *shown).rename(keys.restore())


def with_outcomes(responses: pl.LazyFrame, dropped: Dropped, needed: list[pl.Expr]) -> pl.LazyFrame:
    """The responses with all that rates read, null where the table lacks it.

    Raises:
        MissingColumnsError: No label, or nothing to group by.
        ParameterError: Labels are no lists of integers, or `dropped` is unknown.
    """
    if dropped not in get_args(Dropped):
        known = ", ".join(get_args(Dropped))
        raise ParameterError(f"unknown choice dropped={dropped!r}; known: {known}")
    schema = responses.collect_schema()
    roots = {root for expr in needed for root in expr.meta.root_names()}
    if missing := {"label", *roots} - {*schema}:
        raise MissingColumnsError.of("rates", missing, schema.names())
    match schema["label"]:
        case pl.List(inner=inner) if inner.is_integer() or inner == pl.Null:
            pass
        case pl.Null():
            pass
        case other:
            raise ParameterError(f"label must hold lists of integers, but is {other}; make it "
                                 "with evalframe.rag.label")  # fmt: skip
    label = pl.col("label").cast(pl.List(pl.Int8))
    absent = [pl.lit(None, dtype=_READ[name]).alias(name) for name in _READ if name not in schema]
    rows = responses.with_columns(label, label.is_null().alias(_DROPPED), *absent)
    if dropped == "excluded":
        return rows
    failure = pl.concat_list(pl.lit(0, dtype=pl.Int8))
    unflagged = pl.when(_DROPPED).then(pl.col("factlabel").fill_null(0)).otherwise("factlabel")
    return rows.with_columns(pl.col("label").fill_null(failure), unflagged.alias("factlabel"))


_DROPPED = ":dropped"


def _wide(rows: pl.LazyFrame, keys: Keys, weight: IntoExpr | None) -> pl.LazyFrame:
    """Counters and rates, one row for each group, under the internal names of the keys."""
    counters = _counters(weight)
    metrics = [
        (metric if weight is None else metric.bound.reweighted(weight)).alias(name)
        for name, (_, metric) in RATES.items()
    ]
    keyed = rows.with_columns(keys.select())
    if keys.inner:
        return keyed.group_by(keys.inner).agg(*counters, *metrics)
    return keyed.select(*counters, *metrics)


def _counters(weight: IntoExpr | None) -> list[pl.Expr]:
    label, factlabel, evaluation = pl.col("label"), pl.col("factlabel"), pl.col("evaluation")
    present, detected = label.is_not_null(), outcomes.detected(factlabel)
    flags = {
        "n": present,
        "n_dropped": pl.col(_DROPPED),
        "n_correct": outcomes.correct(label),
        "n_rejected": outcomes.rejected(label),
        "n_wrong": outcomes.wrong(label),
        "n_partial": outcomes.partial(label),
        "n_error_detected": detected & present,
        "n_error_corrected": detected & outcomes.good(label),
        "n_error_corrected_original": detected & outcomes.not_missed(label),
        "n_detected_and_rejected": detected & outcomes.rejected(label),
        "n_judged": present & evaluation.is_not_null(),
        "n_judge_rejected": present & outcomes.judge_rejected(evaluation),
        "n_judge_detected": present & outcomes.judge_detected(evaluation),
        "n_judge_corrected": outcomes.judge_detected(evaluation) & outcomes.good(label),
    }
    if weight is None:
        return [flag.sum().cast(pl.Int64).alias(name) for name, flag in flags.items()]
    mass = as_expr(weight).cast(pl.Float64)
    usable = (mass >= 0) & mass.is_finite()
    return [
        pl.when(flag & usable).then(mass).otherwise(0.0).sum().alias(name)
        for name, flag in flags.items()
    ]


def _wilson_bounds(level: float) -> list[pl.Expr]:
    made = []
    for rate, (counter, _) in RATES.items():
        lower, upper = wilson(pl.col(rate), pl.col(counter), level)
        some = pl.when(pl.col(counter) > 0)
        made += [some.then(lower).alias(f"{rate}_lower"), some.then(upper).alias(f"{rate}_upper")]
    return made


def _resampled(
    table: pl.LazyFrame,
    rows: pl.LazyFrame,
    keys: Keys,
    weight: IntoExpr | None,
    resample: Method,
) -> pl.LazyFrame:
    """The table with the ends of resampled intervals beside each rate."""
    from evalframe.evaluation import evaluate

    metrics: list[MetricExpr] = [metric.alias(name) for name, (_, metric) in RATES.items()]
    groups = [expr.alias(name) for expr, name in zip(keys.exprs, keys.inner, strict=True)]
    long = evaluate(rows, metrics, by=groups, weight=weight, resample=resample)
    ends = [
        pl.col(end).filter(pl.col("metric") == rate).first().alias(f"{rate}_{end}")
        for rate in RATES
        for end in ("lower", "upper")
    ]
    if not keys.inner:
        return pl.concat([table, long.select(ends)], how="horizontal")
    return table.join(
        long.group_by(keys.inner).agg(ends), on=keys.inner, how="left", nulls_equal=True
    )


def _given(weight: IntoExpr | None) -> list[pl.Expr]:
    return [] if weight is None else [as_expr(weight)]
