"""Training rows of calibrators: checked, and added up to distinct feature rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.selective.calibration_error import TO_UNIT, is_outside
from evalframe.selective.calibrators.grouped import Grouped
from evalframe.selective.calibrators.maps import Fitted

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


AnyFitted = TypeVar("AnyFitted", bound=Fitted)


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


BINARY = {"0 or 1": lambda y: (y == 0) | (y == 1)}
"""The demand that a target is right or wrong."""

PROBABILITY = {f"in [0, 1] ({TO_UNIT})": lambda p: ~is_outside(p)}
"""The demand that a feature is a probability."""


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
