"""A calibrator per group, applied by the key of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ContractError
from evalframe.core.typing import Frame, IntoExpr
from evalframe.selective.calibrators.maps import Fitted, applied

AnyFitted = TypeVar("AnyFitted", bound=Fitted, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Grouped(Generic[AnyFitted]):
    """Calibrators of groups, as the fits return them with `by`.

    Args:
        by: Expressions of the keys over the rows to calibrate.
        groups: One row per group, a column for each key; null is a key like any other.
        calibrators: One per group, in the same order, all of one method and the same features.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective import Grouped, Temperature
        >>> models = pl.DataFrame({"model": ["a", "b"]})
        >>> grouped = Grouped((pl.col("model"),), models, (Temperature(1.0), Temperature(2.0)))
        >>> items = pl.DataFrame({"model": ["b", "a", "c"], "confidence": [0.9, 0.9, 0.9]})
        >>> items.select(grouped.apply().round(6))["calibrated"].to_list()
        [0.75, 0.9, None]
        >>> grouped.table().select("model", "temperature").rows()
        [('a', 1.0), ('b', 2.0)]
    """

    by: tuple[pl.Expr, ...]
    groups: pl.DataFrame
    calibrators: tuple[AnyFitted, ...]

    @property
    def method(self) -> str:
        """The method of all its calibrators, as artifacts name it."""
        return self.calibrators[0].method

    @property
    def features(self) -> tuple[str, ...]:
        """The columns they read by default, besides the keys."""
        return self.calibrators[0].features

    @property
    def inputs(self) -> tuple[pl.Expr, ...]:
        """The expressions they were fitted on, if not plain columns."""
        return self.calibrators[0].inputs

    def apply(self, *columns: IntoExpr) -> pl.Expr:
        """The calibrated value of each row by its group; null for an unknown group."""
        index = _group_index(self.by, self.groups)
        return applied(type(self.calibrators[0]), self.calibrators, index, columns)

    def check(self, frame: Frame) -> None:
        """Raise ContractError if a row has keys without a calibrator."""
        unknown = (
            tables.lazy(frame)
            .filter(_group_index(self.by, self.groups).is_null())
            .group_by(self.by)
            .len(":rows")
            .sort(":rows", descending=True)
            .collect()
        )
        if len(unknown):
            *key, rows = unknown.row(0)
            names = dict(zip(self.groups.columns, key, strict=True))
            raise ContractError(
                f"no calibrator for {unknown[':rows'].sum():,} rows in {len(unknown)} groups, "
                f"such as {names} ({rows:,} rows). Fit on these groups too, or leave them out."
            )

    def table(self) -> pl.DataFrame:
        """The parameters: one row per group, its keys and then a column for each parameter."""
        others = [*self.groups.columns, "inputs"]
        names = [field.name for field in fields(self.calibrators[0]) if field.name not in others]
        parameters: dict[str, list[Any]] = {
            name: [getattr(each, name) for each in self.calibrators] for name in names
        }
        listed = {
            n: [list(v) if isinstance(v, tuple) else v for v in p] for n, p in parameters.items()
        }
        return self.groups.hstack(pl.DataFrame(listed))


def _group_index(keys: Sequence[pl.Expr], groups: pl.DataFrame) -> pl.Expr:
    """The number of each row's group, null for unknown keys; null is a valid key."""
    # Keys become one number, their indices among the values of each key as digits, so the lookup
    # is elementwise and streams, which a join with the groups would not.
    number = _number(keys, groups)
    if len(keys) == 1:
        return number
    numbers = groups.select(_number([pl.col(name) for name in groups.columns], groups)).to_series()
    return _position(number, numbers)


def _number(keys: Sequence[pl.Expr], groups: pl.DataFrame) -> pl.Expr:
    """One number per combination of keys."""
    number = pl.lit(0, dtype=pl.Int64)
    for key, column in zip(keys, groups.iter_columns(), strict=True):
        values = column.unique(maintain_order=True)
        number = number * len(values) + _position(key, values)
    return number


def _position(key: pl.Expr, values: pl.Series) -> pl.Expr:
    positions = pl.Series(range(len(values)), dtype=pl.Int64)
    return key.replace_strict(values, positions, default=None, return_dtype=pl.Int64)
