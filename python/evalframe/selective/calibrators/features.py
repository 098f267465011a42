"""Features and targets that calibrators are trained on."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.choices import Target, check_choice
from evalframe.core.errors import InputError, ParameterError, did_you_mean
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.selective.signals import SIGNALS


def feature(name: str) -> pl.Expr:
    """A signal as a feature, with the default of ai-psychiatrist for missing values.

    The default is not always sound: a missing `consistency_modal_confidence` becomes 3.0, though
    its range is [0, 1]. Fits use it only if they get `feature(...)` in place of a column name.

    Args:
        name: A numeric column of an item table.

    Returns:
        Float64, named as the column, with 3.0 for null and NaN in a confidence that is not a
        similarity, otherwise 0.0. Polars raises if the column is not a number.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame({"verbalized_confidence": [5.0, None]})
        >>> items.select(feature("verbalized_confidence")).to_series().to_list()
        [5.0, 3.0]
    """
    return pl.col(name).fill_nan(None).fill_null(feature_default(name)).cast(pl.Float64)


def feature_default(name: str) -> float:
    """The default of ai-psychiatrist for a missing signal: 3.0 for a confidence, otherwise 0.0."""
    return 3.0 if "confidence" in name and "similarity" not in name else 0.0


def check_named(inputs: Sequence[pl.Expr], *, by: str) -> None:
    """Raise if a computed feature has the name of a column it reads; `feature(...)` may."""
    for expr in inputs:
        name = expr.meta.output_name()
        plain = expr.meta.is_column() or name not in expr.meta.root_names()
        if not plain and not expr.meta.eq(feature(name)):
            raise ParameterError(
                f"{by} knows features by their names only, and {name!r} is computed; make it a "
                "column of a name of its own first"
            )


def absent_features(items: pl.DataFrame, features: Sequence[str]) -> list[str]:
    """Features that no item has, if there are items."""
    return [
        name
        for name in features
        if len(items) and not (name in items.columns and items[name].fill_nan(None).count())
    ]


def check_present(items: pl.DataFrame, features: Sequence[str]) -> None:
    """Raise InputError if no item has one of the features."""
    for name in absent_features(items, features)[:1]:
        hint = did_you_mean(name, SIGNALS)
        raise InputError(
            f"no item has the feature {name!r}, which the calibration needs.{hint} Record it, "
            "or name another calibration or feature"
        )


def target(name: str, prediction: IntoExpr = "prediction", label: IntoExpr = "label") -> pl.Expr:
    """The target of a calibrator: how good a prediction is.

    Args:
        name: `correctness`: 1 where the prediction equals the label, numbers or text.
            `near_correct`: 1 where they differ by at most 1. `loss`: 1 - |difference| / 3, which
            despite its name is higher for better predictions.
        prediction: The answer, on the scale 0 to 3 except for `correctness`; null is an
            abstention.
        label: The true answer, of the same type.

    Returns:
        Float64, named as the target; null where the prediction or the label is null or NaN.

    Raises:
        ParameterError: The target is unknown.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame({"prediction": [3, 1, None], "label": [2, 1, 0]})
        >>> items.select(target("correctness"), target("near_correct"), target("loss"))
        shape: (3, 3)
        ┌─────────────┬──────────────┬──────────┐
        │ correctness ┆ near_correct ┆ loss     │
        │ ---         ┆ ---          ┆ ---      │
        │ f64         ┆ f64          ┆ f64      │
        ╞═════════════╪══════════════╪══════════╡
        │ 0.0         ┆ 1.0          ┆ 0.666667 │
        │ 1.0         ┆ 1.0          ┆ 1.0      │
        │ null        ┆ null         ┆ null     │
        └─────────────┴──────────────┴──────────┘
    """
    check_choice("target", name, Target)
    answered, true = as_expr(prediction), as_expr(label)
    if name == "correctness":
        # Labels may be text, so NaN is found by its name.
        valid = (answered.cast(pl.String) != "NaN") & (true.cast(pl.String) != "NaN")
        return pl.when(valid).then((answered == true).cast(pl.Float64)).alias(name)
    error = (answered.cast(pl.Float64) - true.cast(pl.Float64)).abs().fill_nan(None)
    if name == "loss":
        return (1 - error / 3).alias(name)
    return (error <= 1).cast(pl.Float64).alias(name)
