"""What calibrators are trained on: features of an item, and targets."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import InputError, ParameterError, did_you_mean
from evalframe.core.rows import as_expr
from evalframe.core.rules import check_choice
from evalframe.selective.runs import RunWarning
from evalframe.selective.signals import SIGNALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import IntoExpr

Target: TypeAlias = Literal["correctness", "near_correct", "loss"]


def feature(name: str) -> pl.Expr:
    """A signal as a feature, with the default that the original program puts where it is missing.

    The default stands in for signals that were not measured and is not always sound: a missing
    `consistency_modal_confidence` becomes 3.0, though its range is [0, 1]. Fits never use it on
    their own: pass `feature(...)` where a column name could stand.

    Args:
        name: A numeric column of an item table.

    Returns:
        Float64, named as the column. Null and NaN are replaced by `feature_default(name)`. Polars
        raises where the column is no number, Booleans included.

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame({"verbalized_confidence": [5.0, None]})
        >>> items.select(feature("verbalized_confidence")).to_series().to_list()
        [5.0, 3.0]
    """
    return pl.col(name).fill_nan(None).fill_null(feature_default(name)).cast(pl.Float64)


def feature_default(name: str) -> float:
    """What the original program takes for a missing signal: 3.0 for a confidence, else 0.0.

    >>> [feature_default(name) for name in ("token_msp", "verbalized_confidence")]
    [0.0, 3.0]
    >>> feature_default("similarity_confidence")
    0.0
    """
    return 3.0 if "confidence" in name and "similarity" not in name else 0.0


def check_named(inputs: Sequence[pl.Expr], *, by: str) -> None:
    """Raise where a feature is computed, and yet has the name of a column that it is made of.

    Args:
        inputs: The features as expressions; `feature(...)` may bear the name of its column.
        by: Who knows features by their names only, for the message.

    Raises:
        ParameterError: Naming the feature.
    """
    for expr in inputs:
        name = expr.meta.output_name()
        plain = expr.meta.is_column() or name not in expr.meta.root_names()
        if not plain and not expr.meta.eq(feature(name)):
            raise ParameterError(
                f"{by} knows features by their names only, and {name!r} is computed; make it a "
                "column of a name of its own first"
            )


def check_present(items: pl.DataFrame, features: Sequence[str], rules: str) -> None:
    """Raise, or under reference rules warn, where no item at all has a feature.

    Args:
        items: The item table.
        features: Names of signals.
        rules: `documented` or `reference`.

    Raises:
        InputError: Under documented rules, naming the feature.
    """
    for name in features:
        if not len(items) or (name in items.columns and items[name].fill_nan(None).count()):
            continue
        if rules == "documented":
            hint = did_you_mean(name, SIGNALS)
            raise InputError(
                f"no item has the feature {name!r}, which the calibration needs.{hint} Record it, "
                "or name another calibration or feature"
            )
        warnings.warn(
            f"no item has {name!r}; the original's default, {feature_default(name)}, stands "
            "for it throughout",
            RunWarning,
            stacklevel=2,
        )


def target(name: str, prediction: IntoExpr = "prediction", label: IntoExpr = "label") -> pl.Expr:
    """What a calibrator learns to predict: how good a prediction turned out to be.

    Args:
        name: `correctness`: 1 where the prediction equals the label, numbers or text.
            `near_correct`: 1 where they differ by at most 1. `loss`: 1 - |difference| / 3, which
            in spite of its name is higher for better predictions.
        prediction: What was answered, on the scale 0 to 3 except for `correctness`; null is an
            abstention.
        label: What is true, of the same type.

    Returns:
        Float64, named as the target; null where the prediction or the label is null
        or NaN (the text NaN, too).

    Raises:
        ParameterError: No target has this name.

    References:
        ai-psychiatrist 36e9fba.

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
        # Compared as they are, since labels may be text; NaN is recognised by its name.
        known = (answered.cast(pl.String) != "NaN") & (true.cast(pl.String) != "NaN")
        return pl.when(known).then((answered == true).cast(pl.Float64)).alias(name)
    error = (answered.cast(pl.Float64) - true.cast(pl.Float64)).abs().fill_nan(None)
    if name == "loss":
        return (1 - error / 3).alias(name)
    return (error <= 1).cast(pl.Float64).alias(name)
