"""Losses of single items."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr


def _gap(answered: pl.Expr, true: pl.Expr) -> pl.Expr:
    # As floats, since unsigned integers cannot hold a negative difference.
    return answered.cast(pl.Float64) - true.cast(pl.Float64)


LOSSES: Mapping[str, Callable[[pl.Expr, pl.Expr, float], pl.Expr]] = {
    "abs": lambda answered, true, scale: _gap(answered, true).abs(),
    "abs_norm": lambda answered, true, scale: _gap(answered, true).abs() / scale,
    "squared": lambda answered, true, scale: _gap(answered, true) ** 2,
    "zero_one": lambda answered, true, scale: (answered != true).cast(pl.Float64),
}
"""Losses of a prediction, a label, and the largest possible difference."""


def loss(
    name: str,
    prediction: IntoExpr = "prediction",
    label: IntoExpr = "label",
    *,
    scale: float = 3.0,
) -> pl.Expr:
    """Loss of each item, null where the system abstained.

    A row-level expression for `with_columns`, or for the role `loss` of any metric.

    Args:
        name: `abs`: |prediction - label|. `abs_norm`: the same divided by `scale`. `squared`:
            (prediction - label)^2. `zero_one`: 1 where they differ, 0 where they are equal.
        prediction: The answer; null is an abstention.
        label: The true answer. Numbers, except for `zero_one`, which takes any type that compares.
        scale: The largest possible difference, for `abs_norm`; 3 is that of PHQ-8 items.

    Returns:
        Float64, named `loss`. Null where the prediction is null; NaN where there is a prediction
        but no label, so that metrics count the item as missing and not as an abstention.

    Raises:
        UnknownNameError: No loss has this name.
        ParameterError: The scale is not above 0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"prediction": [3, None, 1], "label": [1, 2, 1]})
        >>> items.with_columns(
        ...     ef.selective.loss("abs_norm"), ef.selective.loss("zero_one").alias("wrong")
        ... )
        shape: (3, 4)
        ┌────────────┬───────┬──────────┬───────┐
        │ prediction ┆ label ┆ loss     ┆ wrong │
        │ ---        ┆ ---   ┆ ---      ┆ ---   │
        │ i64        ┆ i64   ┆ f64      ┆ f64   │
        ╞════════════╪═══════╪══════════╪═══════╡
        │ 3          ┆ 1     ┆ 0.666667 ┆ 1.0   │
        │ null       ┆ 2     ┆ null     ┆ null  │
        │ 1          ┆ 1     ┆ 0.0      ┆ 0.0   │
        └────────────┴───────┴──────────┴───────┘
    """
    if not scale > 0:
        raise ParameterError(f"scale must be above 0, got {scale!r}; 3 is that of PHQ-8 items")
    if name not in LOSSES:
        raise UnknownNameError.of("loss", name, LOSSES)
    answered, true = as_expr(prediction), as_expr(label)
    unlabelled = pl.when(answered.is_not_null()).then(float("nan"))
    return pl.coalesce(LOSSES[name](answered, true, scale), unlabelled).alias("loss")
