"""Features, targets and training rows of calibrators, added up to distinct feature rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from evalframe.core import tables
from evalframe.core.choices import Target, check_choice
from evalframe.core.errors import (
    ContractError,
    InputError,
    MissingColumnsError,
    ParameterError,
    did_you_mean,
)
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.selective.calibration_error import TO_UNIT, is_outside
from evalframe.selective.calibrators.maps import Fitted, Grouped
from evalframe.selective.signals import SIGNALS

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


AnyFitted = TypeVar("AnyFitted", bound=Fitted)

BINARY = {"0 or 1": lambda y: (y == 0) | (y == 1)}
"""The demand that a target is right or wrong."""

PROBABILITY = {f"in [0, 1] ({TO_UNIT})": lambda p: ~is_outside(p)}
"""The demand that a feature is a probability."""


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
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"verbalized_confidence": [5.0, None]})
        >>> items.select(ef.selective.feature("verbalized_confidence")).to_series().to_list()
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

    Examples:
        >>> from evalframe.selective import target
        >>> import polars as pl
        >>> items = pl.DataFrame({"prediction": [3, None], "label": [2, 0]})
        >>> items.select(target("correctness"), target("near_correct"), target("loss")).rows()
        [(0.0, 1.0, 0.6666666666666667), (None, None, None)]
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


@dataclass(frozen=True)
class Levels:
    """Training rows added up to distinct feature rows (levels), by group, ascending in features.

    Attributes:
        x: Levels by features.
        mass: Weight of each level.
        hits: Weighted sum of the target in each level.
        starts: The first level of each group.
        groups: One row per group, a column for each key.
        by: The keys as expressions.
        names: Names of the features.
        inputs: Their expressions, unless all are plain columns.
    """

    x: Floats
    mass: Floats
    hits: Floats
    starts: Ints
    groups: pl.DataFrame
    by: tuple[pl.Expr, ...]
    names: tuple[str, ...]
    inputs: tuple[pl.Expr, ...]

    def place(self, number: int) -> str:
        """The group in messages; empty without keys."""
        if not self.by:
            return ""
        row = self.groups.row(number, named=True)
        return f" in group {', '.join(f'{key}={value!r}' for key, value in row.items())}"

    def fitted(self, calibrators: Sequence[AnyFitted]) -> AnyFitted | Grouped[AnyFitted]:
        """The one calibrator, or those of all groups."""
        calibrators = [replace(each, inputs=self.inputs) for each in calibrators]
        return Grouped(self.by, self.groups, tuple(calibrators)) if self.by else calibrators[0]

    def each(
        self, fit: Callable[[Floats, Floats, Floats], AnyFitted]
    ) -> AnyFitted | Grouped[AnyFitted]:
        """Fit each group by itself: scipy's optimisers take one problem at a time."""
        calibrators = []
        for number in range(len(self.starts) - 1):
            of_group = slice(self.starts[number], self.starts[number + 1])
            try:
                calibrators.append(fit(self.x[of_group], self.mass[of_group], self.hits[of_group]))
            except ParameterError as error:
                raise ParameterError(f"{error}{self.place(number)}") from error
        return self.fitted(calibrators)


def levels(
    fit: str,
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    target: IntoExpr,
    by: By,
    weight: IntoExpr | None,
    *,
    demands: Mapping[str, Callable[[pl.Expr], pl.Expr]],
    feature_demands: Mapping[str, Callable[[pl.Expr], pl.Expr]] | None = None,
    clip: tuple[float, float] | None = None,
) -> Levels:
    """Check the rows and add them up."""
    rows = tables.lazy(frame)
    listed = [features] if isinstance(features, str | pl.Expr) else list(features)
    inputs = [as_expr(column) for column in listed]
    names = tuple(expr.meta.output_name() for expr in inputs)
    if not names:
        raise ParameterError(f"{fit} needs at least one feature")
    if len({*names}) < len(names):
        raise ParameterError(f"{fit}: features must have different names, got {list(names)}")
    keys = tables.Keys.of(by, taken=())
    goal, mass = as_expr(target), pl.lit(1.0) if weight is None else as_expr(weight)
    _check_columns(fit, rows, inputs, goal, mass, keys)
    x = [f":x{k}" for k in range(len(inputs))]
    roles = dict(zip((*x, ":y", ":w"), (*inputs, goal, mass), strict=True))
    rows = rows.select(*keys.select(), **{n: e.cast(pl.Float64) for n, e in roles.items()})
    by_column = dict.fromkeys(x, feature_demands or {}) | {":y": demands}
    named = dict(zip(by_column, (*names, goal.meta.output_name()), strict=True))
    _check_rows(fit, rows, named, by_column)
    if clip is not None:
        rows = rows.with_columns(pl.col(x).clip(*clip))
    added = (
        rows.filter(pl.col(":w") > 0)
        .group_by(*keys.inner, *x)
        .agg(pl.col(":w").sum(), hits=(pl.col(":w") * pl.col(":y")).sum())
        .sort(*keys.inner, *x)
        .collect()
    )
    if not len(added):
        raise ParameterError(f"{fit}: there are no rows to fit on")
    starts = tables.starts_of_groups(added, keys.inner)
    return Levels(
        x=added.select(x).to_numpy(),
        mass=added[":w"].to_numpy(),
        hits=added["hits"].to_numpy(),
        starts=starts,
        groups=added.select(keys.inner).unique(maintain_order=True).rename(keys.restore()),
        by=keys.exprs,
        names=names,
        inputs=() if all(expr.meta.is_column() for expr in inputs) else tuple(inputs),
    )


def _check_columns(
    fit: str,
    rows: pl.LazyFrame,
    inputs: Sequence[pl.Expr],
    goal: pl.Expr,
    mass: pl.Expr,
    keys: tables.Keys,
) -> None:
    present = rows.collect_schema().names()
    required = columns_read((*inputs, goal, mass, *keys.exprs))
    if missing := required - {*present}:
        raise MissingColumnsError.of(fit, missing, present)
    numbers = {f"{k}": expr for k, expr in enumerate((*inputs, goal, mass))}
    dtypes = rows.select(**numbers).collect_schema().dtypes()
    for dtype, expr in zip(dtypes, numbers.values(), strict=True):
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise ParameterError(
                f"{fit}: {expr.meta.output_name()!r} must be a number, but is {dtype}; cast it"
            )


def _check_rows(
    fit: str,
    rows: pl.LazyFrame,
    names: Mapping[str, str],
    demands: Mapping[str, Mapping[str, Callable[[pl.Expr], pl.Expr]]],
) -> None:
    """Count the rows that cannot be used, all reasons in one pass."""
    weight = pl.col(":w")
    holds = {f"{name!r} is finite": pl.col(column).is_finite() for column, name in names.items()}
    holds |= {  # of finite values only, since others are counted above
        f"{names[column]!r} is {words}": ~finite.fill_null(value=False) | rule(pl.col(column))
        for column, of_column in demands.items()
        for finite in [pl.col(column).is_finite()]
        for words, rule in of_column.items()
    }
    holds["the weight is finite and at least 0"] = weight.is_finite() & (weight >= 0)
    broken = [(~rule.fill_null(value=False)).sum().alias(words) for words, rule in holds.items()]
    total, *counts = rows.select(pl.len(), *broken).collect().row(0)
    messages = [f"  {words}: not so in {n:,}" for words, n in zip(holds, counts, strict=True) if n]
    if messages:
        raise ContractError(
            f"{fit}: {total:,} rows, of which some cannot be used. Null counts as not finite; "
            "leave such rows out, or in Python fill them by feature(...) or fill_null(...); on the "
            "command line, for a missing signal --rules reference takes the original's default."
            "\n" + "\n".join(messages)
        )
