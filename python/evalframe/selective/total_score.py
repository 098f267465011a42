"""PHQ-8 totals: severity tiers, and totals of participants with the bounds of abstentions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.errors import ContractError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.metric import MetricExpr, metric
from evalframe.core.rows import as_expr
from evalframe.core.state import State, ratio
from evalframe.core.typing import Frame, IntoExpr, Role
from evalframe.selective.score_error import (
    mean_absolute_error,
    pearson_correlation,
    root_mean_squared_error,
    scored,
)
from evalframe.selective.working_points import coverage

ITEM_NAMES = (
    *("NoInterest", "Depressed", "Sleep", "Tired"),
    *("Appetite", "Failure", "Concentrating", "Moving"),
)
"""The items of the PHQ-8, in its order."""

TIERS = ("MINIMAL", "MILD", "MODERATE", "MOD_SEVERE", "SEVERE")
"""The tiers, in order."""

UPPER_BOUNDS = (4, 9, 14, 19)
"""The highest total of each tier but the last, which has none."""

Tier = pl.Enum(TIERS)

Mode: TypeAlias = Literal["item", "total", "binary"]

POSITIVE, NEGATIVE = "depressed", "not_depressed"
"""The two classes."""

TOTALS = (
    *("min_total", "max_total", "available", "predicted_total", "actual_total"),
    *("predicted_class", "actual_class"),
)
"""Columns of every table of totals, after the keys."""

_ROWS = ":rows"


def severity_tier(total: IntoExpr = "total") -> pl.Expr:
    """The severity tier of a PHQ-8 total.

    Tiers end at 4, 9, 14 and 19; totals outside 0 to 24 belong to the first or the last.

    Args:
        total: The total, a number.

    Returns:
        Enum of `TIERS`, which compares in their order, named `severity_tier`; null where the
        total is null or NaN.

    References:
        Kroenke et al. (2009), The PHQ-8 as a measure of current depression in the general
        population.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"total": [10]}).select(ef.selective.severity_tier()).item()
        'MODERATE'
    """
    value = as_expr(total).cast(pl.Float64)
    bounded = (
        pl.when(value <= bound).then(pl.lit(tier))
        for tier, bound in zip(TIERS, UPPER_BOUNDS, strict=False)
    )
    beyond = pl.when(value.is_not_nan()).then(pl.lit(TIERS[-1]))
    return pl.coalesce(*bounded, beyond).cast(Tier).alias("severity_tier")


def is_mdd(total: IntoExpr = "total") -> pl.Expr:
    """True if a PHQ-8 total indicates a major depressive disorder: at least the tier MODERATE.

    Args:
        total: The total, a number; the tier begins at 10.

    Returns:
        Boolean, named `is_mdd`; null where the total is null or NaN.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"total": [10]}).select(ef.selective.is_mdd()).item()
        True
    """
    return (severity_tier(total) >= pl.lit("MODERATE", dtype=Tier)).alias("is_mdd")


@metric(family="selective", direction="maximize", range=(0.0, 1.0))
def severity_tier_accuracy(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Share of the predicted totals that fall into the tier of the true total.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> totals = pl.DataFrame({"prediction": [4, 10, None], "label": [0, 9, 3]})
        >>> totals.select(ef.severity_tier_accuracy()).item()
        0.5
    """
    same = severity_tier(prediction) == severity_tier(label)
    return State(
        sums={
            "mass": pl.when(prediction.is_not_null()).then(weight),
            "same_tier": pl.when(same).then(weight),
        },
        finish=lambda t: ratio(t.same_tier, t.mass),
        valid=scored(prediction, label),
    )


@like_input
def total_scores(
    items: Frame,
    prediction: IntoExpr = "prediction",
    label: IntoExpr = "label",
    *,
    by: IntoExpr | Sequence[IntoExpr] = "participant_id",
    mode: Mode = "total",
    min_coverage: float = 0.5,
    threshold: float = 10,
    n_items: int = 8,
    highest: int = 3,
) -> pl.LazyFrame:
    """Total score and class of each participant from the predicted items.

    An item without a prediction can have any score from 0 to `highest`, so the predicted items
    bound the total from both sides. The total is reported as its lower bound, the class only if
    both bounds are on one side of the threshold.

    Args:
        items: Items, one row each.
        prediction: Predicted score, a number; null is an abstention.
        label: True score, a number.
        by: Keys of a questionnaire, such as `["mode", "participant_id"]`.
        mode: `total` and `binary`: the total and the class are null if fewer than
            ceil(n_items * min_coverage) items are predicted. `item`: the total is never null.
        min_coverage: Share of the items that must be predicted, in [0, 1].
        threshold: The lowest total of a depressed participant.
        n_items: Items of the questionnaire. Those without a row are not predicted, and make the
            actual total null.
        highest: The highest score of an item.

    Returns:
        by..., then `min_total`, `max_total`, `available` (number of predicted items, Int64),
        `predicted_total`, `actual_total` (null unless all items have a label), `predicted_class`
        and `actual_class` (`depressed` or `not_depressed`; null if unknown). Totals are Int64 if
        the scores are integers, otherwise Float64. Sorted by the keys.

    Raises:
        ContractError: When collected: a participant has more rows than items, or a prediction
            that is NaN.
        ParameterError: There is no key.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"participant_id": 1, "prediction": [3, None], "label": [3, 2]})
        >>> totals = ef.selective.total_scores(items, n_items=2, threshold=3)
        >>> totals.select("min_total", "max_total", "predicted_class").row(0)
        (3, 6, 'depressed')
    """
    from evalframe.core import tables

    _check(mode, min_coverage, n_items, threshold, highest)
    lazy, keys = tables.lazy(items), tables.Keys.of(by, taken=TOTALS)
    if not keys.names:
        raise ParameterError("by names no column; totals need the key of a participant")
    error = mean_absolute_error(prediction, label).alias("total_scores")
    tables.check_columns(lazy, [error], *keys.exprs)
    columns = lazy.select(prediction=as_expr(prediction), label=as_expr(label)).collect_schema()
    answer, true = (
        as_expr(column).cast(pl.Int64 if columns[role].is_integer() else pl.Float64)
        for role, column in (("prediction", prediction), ("label", label))
    )
    labelled = true.is_not_nan().sum() == n_items
    available = answer.count().cast(pl.Int64)
    bounds = {
        "min_total": answer.sum(),
        "max_total": answer.sum() + highest * (n_items - available),
        "available": available,
        "actual_total": pl.when(labelled).then(true.sum()),
        _ROWS: pl.len().cast(pl.Int64),
    }
    least = 0 if mode == "item" else math.ceil(n_items * min_coverage)
    enough, actual = pl.col("available") >= least, pl.col("actual_total")
    lowest, largest = pl.col("min_total"), pl.col("max_total")

    def checked(people: pl.DataFrame) -> pl.DataFrame:
        _check_people(people, keys.restore(), n_items)
        return people

    return (
        lazy.group_by(keys.select())
        .agg(**bounds)
        # Without pushdown, so that rows and columns that the caller drops are checked too.
        .map_batches(checked, projection_pushdown=False, predicate_pushdown=False)
        .sort(keys.inner)
        .with_columns(
            predicted_total=pl.when(enough).then(lowest),
            predicted_class=_class(enough & (lowest >= threshold), enough & (largest < threshold)),
            actual_class=_class(actual >= threshold, actual < threshold),
        )
        .select(*keys.inner, *TOTALS)
        .rename(keys.restore())
    )


def total_score_metrics(
    prediction: IntoExpr = "predicted_total",
    label: IntoExpr = "actual_total",
    *,
    weight: IntoExpr | None = None,
) -> list[MetricExpr]:
    """All metrics of total scores that may be abstained from, over the table `total_scores`.

    Args:
        prediction: Predicted total; null is an abstention.
        label: True total.
        weight: Weight of each row.

    Returns:
        Expressions for `evaluate` or `agg`: `coverage_total`, `mean_absolute_error`,
        `root_mean_squared_error`, `pearson_correlation` and `severity_tier_accuracy`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> people = pl.DataFrame({"predicted_total": [4, None], "actual_total": [2, 8]})
        >>> ef.evaluate(people, ef.selective.total_score_metrics())["estimate"].to_list()
        [0.5, 2.0, 2.0, None, 1.0]
    """
    errors = (mean_absolute_error, root_mean_squared_error, pearson_correlation)
    return [
        coverage(prediction, weight=weight).alias("coverage_total"),
        *(error(prediction, label, weight=weight) for error in (*errors, severity_tier_accuracy)),
    ]


def _class(positive: pl.Expr, negative: pl.Expr) -> pl.Expr:
    return pl.when(positive).then(pl.lit(POSITIVE)).when(negative).then(pl.lit(NEGATIVE))


def _check(mode: str, min_coverage: float, n_items: int, threshold: float, highest: int) -> None:
    check_choice("mode", mode, Mode)
    if isinstance(min_coverage, bool) or not 0 <= min_coverage <= 1:
        raise ParameterError(
            f"min_coverage must lie in [0, 1], got {min_coverage!r}; 0.5 asks for half of the items"
        )
    if not n_items >= 1:
        raise ParameterError(f"n_items must be at least 1, got {n_items!r}; the PHQ-8 has 8")
    if not math.isfinite(threshold):
        raise ParameterError(f"threshold must be a finite number, got {threshold!r}")
    if not highest >= 0:
        raise ParameterError(f"highest must be at least 0, got {highest!r}; that of the PHQ-8 is 3")


def _check_people(people: pl.DataFrame, names: dict[str, str], n_items: int) -> None:
    crowded = people.filter(pl.col(_ROWS) > n_items).sort(*names)
    if len(crowded):
        raise ContractError(
            f"total_scores: {len(crowded):,} of {len(people):,} participants have more than "
            f"{n_items} items: {_first(crowded, names)} has {crowded[_ROWS][0]}. Name in `by` what "
            "else tells questionnaires apart, such as the mode, or drop the repeats."
        )
    wild = people.filter(pl.col("min_total").cast(pl.Float64).is_nan()).sort(*names)
    if len(wild):
        raise ContractError(
            f"total_scores: {len(wild):,} of {len(people):,} participants have a prediction that "
            f"is NaN: {_first(wild, names)}. Set it to null if it is an abstention."
        )


def _first(people: pl.DataFrame, names: dict[str, str]) -> str:
    return ", ".join(f"{key}={people[name][0]!r}" for name, key in names.items())
