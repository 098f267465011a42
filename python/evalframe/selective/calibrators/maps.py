"""Calibrators: fitted maps from signals to a calibrated value, applied as expressions."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ContractError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr

Link: TypeAlias = Literal["sigmoid", "identity"]
LinearMethod: TypeAlias = Literal["logistic", "platt"]

Knots: TypeAlias = "tuple[Sequence[float], Sequence[float]]"

EDGE = 1e-6
"""Probabilities are clipped to this distance from 0 and 1 before a logit."""


class Calibrator(Protocol):
    """A named method, its features, and a map of their columns.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> calibrator: ef.selective.Calibrator = ef.selective.Temperature(2.0)
        >>> calibrator.method, calibrator.features
        ('temperature_scaling', ('confidence',))
        >>> pl.select(calibrator.apply(pl.lit(0.9))).item()
        0.75
    """

    @property
    def method(self) -> str:
        """The method, as artifacts name it."""

    @property
    def features(self) -> tuple[str, ...]:
        """The columns it reads by default."""

    @property
    def inputs(self) -> tuple[pl.Expr, ...]:
        """The expressions it was fitted on, if not plain columns."""

    def apply(self, *columns: IntoExpr) -> pl.Expr:
        """The calibrated value of each row."""


class _Map:
    """A calibrator with its own parameters."""

    __slots__ = ()

    def apply(self, *columns: IntoExpr) -> pl.Expr:
        """The calibrated value of each row: Float64 in [0, 1], named `calibrated`.

        It is null where a column is null or NaN. ParameterError says which parameters or columns
        do not fit together.

        Args:
            columns: One per feature, in order; by default the features' columns. A temperature
                clips values to [1e-6, 1 - 1e-6], so counts from 1 up are all the same.
        """
        return applied((self,), None, columns)


@dataclass(frozen=True, slots=True)
class Temperature(_Map):
    """Temperature scaling: sigma(logit(p) / T), which moves probabilities towards 1/2 if T > 1.

    Strictly increasing inside the clip range, so it changes no ranking metric.

    Args:
        temperature: T, above 0.
        features: The column it reads.
        target: Name of the target of the fit, if known.
        inputs: The expressions it was fitted on, if not plain columns.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.5, 0.9, None]})
        >>> items.select(ef.selective.Temperature(2.0).apply().round(6)).to_series().to_list()
        [0.5, 0.75, None]
    """

    temperature: float
    features: tuple[str, ...] = ("confidence",)
    target: str | None = None
    inputs: tuple[pl.Expr, ...] = field(default=(), compare=False, repr=False)
    method: ClassVar[str] = "temperature_scaling"

    def faults(self) -> Iterator[str]:
        """Reasons why it cannot be applied."""
        if not (_is_finite(self.temperature) and self.temperature > 0):
            yield f"temperature must be a finite number above 0, got {self.temperature!r}"
        if len(self.features) != 1:
            yield f"a temperature scales exactly one feature, got {list(self.features)}"

    @staticmethod
    def stacked(
        stack: Sequence[Temperature], index: pl.Expr | None, columns: list[pl.Expr]
    ) -> pl.Expr:
        """The value of each row by the calibrator whose number is `index`."""
        p = columns[0].clip(EDGE, 1 - EDGE)
        temperature = pick([each.temperature for each in stack], index)
        # One logarithm and one exponential: sigma(logit(p) / T) = 1 / (1 + odds_against^(1/T)).
        return 1 / (1 + (((1 - p) / p).log() / temperature).exp())


@dataclass(frozen=True, slots=True)
class Linear(_Map):
    """A linear map of standardised features, through a sigmoid or clipped to [0, 1].

    Args:
        features: The columns it reads, in order.
        coefficients: One per feature, on the standardised scale.
        intercept: Added to the weighted sum.
        mean: Subtracted from each feature.
        std: Each feature is divided by it; above 0.
        link: `sigmoid` for a logistic fit, `identity` for a ridge fit.
        method: `logistic` or `platt`, which is logistic with one feature.
        target: As for `Temperature`, also `inputs`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> calibrator = ef.selective.Linear(("count",), (2.0,), 0.0, (1.0,), (0.5,))
        >>> pl.DataFrame({"count": [1, None]}).select(calibrator.apply())["calibrated"].to_list()
        [0.5, None]
    """

    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    mean: tuple[float, ...]
    std: tuple[float, ...]
    link: Link = "sigmoid"
    method: LinearMethod = "logistic"
    target: str | None = None
    inputs: tuple[pl.Expr, ...] = field(default=(), compare=False, repr=False)

    def faults(self) -> Iterator[str]:
        """Reasons why it cannot be applied."""
        if not self.features:
            yield "it has no features"
        for name in ("coefficients", "mean", "std"):
            values = getattr(self, name)
            if len(values) != len(self.features):
                features = f"{len(self.features)} features {list(self.features)}"
                yield f"{features}, but {len(values)} in {name}"
            if not all(map(_is_finite, values)):
                yield f"{name} must be finite numbers, got {list(values)}"
            elif name == "std" and not all(value > 0 for value in values):
                yield f"std must be above 0, got {list(values)}"
        if not _is_finite(self.intercept):
            yield f"intercept must be a finite number, got {self.intercept!r}"
        if self.link not in ("sigmoid", "identity"):
            yield f"link must be 'sigmoid' or 'identity', got {self.link!r}"
        if self.method not in ("logistic", "platt"):
            yield f"method must be 'logistic' or 'platt', got {self.method!r}"

    @staticmethod
    def stacked(stack: Sequence[Linear], index: pl.Expr | None, columns: list[pl.Expr]) -> pl.Expr:
        """The value of each row by the calibrator whose number is `index`."""
        score = pick([each.intercept for each in stack], index)
        for k, column in enumerate(columns):
            mean = pick([each.mean[k] for each in stack], index)
            std = pick([each.std[k] for each in stack], index)
            score += pick([each.coefficients[k] for each in stack], index) * (column - mean) / std
        value = score.clip(0, 1) if stack[0].link == "identity" else 1 / (1 + (-score).exp())
        return value.fill_nan(None)  # infinite features can cancel out


@dataclass(frozen=True, slots=True)
class Isotonic(_Map):
    """A piecewise-linear increasing map of one feature, constant beyond its ends.

    Args:
        features: The one column it reads.
        x_thresholds: Knots, ascending; where two are equal the map jumps there.
        y_thresholds: Values at the knots.
        target: As for `Temperature`, also `inputs`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> calibrator = ef.selective.Isotonic(("msp",), (0.0, 1.0), (0.5, 1.0))
        >>> items = pl.DataFrame({"msp": [-1.0, 0.5, 2.0, None]})
        >>> items.select(calibrator.apply())["calibrated"].to_list()
        [0.5, 0.75, 1.0, None]
    """

    features: tuple[str, ...]
    x_thresholds: tuple[float, ...]
    y_thresholds: tuple[float, ...]
    target: str | None = None
    inputs: tuple[pl.Expr, ...] = field(default=(), compare=False, repr=False)
    method: ClassVar[str] = "isotonic"

    def faults(self) -> Iterator[str]:
        """Reasons why it cannot be applied."""
        x, y = self.x_thresholds, self.y_thresholds
        if len(self.features) != 1:
            yield f"an isotonic map has exactly one feature, got {list(self.features)}"
        if not x or len(x) != len(y):
            yield f"it needs as many x_thresholds as y_thresholds, got {len(x)} and {len(y)}"
        if not all(map(_is_finite, (*x, *y))):
            yield "x_thresholds and y_thresholds must be finite numbers"
        elif falls := first_fall(x):
            yield f"x_thresholds must ascend, got {x[falls - 1]!r} before {x[falls]!r}"

    @staticmethod
    def stacked(
        stack: Sequence[Isotonic], index: pl.Expr | None, columns: list[pl.Expr]
    ) -> pl.Expr:
        """The value of each row by the calibrator whose number is `index`."""
        knots = [(each.x_thresholds, each.y_thresholds) for each in stack]
        return piecewise(columns[0], knots, index).clip(0, 1)


Fitted: TypeAlias = Temperature | Linear | Isotonic
"""A calibrator that is not `Grouped`."""


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
        return applied(self.calibrators, index, columns)

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
        parameters: dict[str, list[Any]] = {name: [] for name in names}
        for name, calibrator in itertools.product(names, self.calibrators):
            value = getattr(calibrator, name)
            parameters[name].append(list(value) if isinstance(value, tuple) else value)
        return self.groups.hstack(pl.DataFrame(parameters))


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


def applied(stack: Sequence[Any], index: pl.Expr | None, columns: Sequence[IntoExpr]) -> pl.Expr:
    """The value of each row by one of several calibrators of one kind, numbered by `index`."""
    for each in stack:
        for fault in each.faults():
            raise ParameterError(f"cannot apply a calibrator ({each.method}): {fault}")
    first = stack[0]
    inputs = columns or first.inputs or first.features
    if len(inputs) != len(first.features):
        raise ParameterError(
            f"a calibrator ({first.method}) of {list(first.features)} takes {len(first.features)} "
            f"columns in this order, got {len(inputs)}"
        )
    values = [as_expr(column).cast(pl.Float64).fill_nan(None) for column in inputs]
    value: pl.Expr = first.stacked(stack, index, values)
    return value.alias("calibrated")


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max


def first_fall(values: Sequence[float]) -> int:
    """The first index at which the values fall, or 0."""
    pairs = enumerate(itertools.pairwise(values), start=1)
    return next((index for index, (one, following) in pairs if following < one), 0)


def pick(values: Sequence[float], index: pl.Expr | None) -> pl.Expr:
    """The value whose number is `index`, or the only one."""
    floats = [float(value) for value in values]
    if index is None:
        return pl.lit(floats[0])
    # A list literal, since `gather` from a column literal does not count as elementwise.
    return pl.lit(floats, dtype=pl.List(pl.Float64)).list.get(index, null_on_oob=True)


def piecewise(x: pl.Expr, maps: Sequence[Knots], index: pl.Expr | None) -> pl.Expr:
    """Linear interpolation between the knots of the map whose number is `index`."""
    # Elementwise for many maps at once, without a join. All starts of chords cut the line into
    # cells; map number m uses the cells from m * width on, so one search in `breaks` finds the
    # chord of any map, and lists hold the chord's ends. The cost does not grow with the maps.
    chords = [_chords(*knots) for knots in maps]
    starts = sorted({start for of_map in chords for start, *_ in of_map})
    rank = {start: number for number, start in enumerate(starts, start=1)}
    cell = x.bin_intervals(starts, labels=False).cast(pl.Int64)
    width = len(starts) + 1
    breaks = [
        number * width + (rank[start] if k else 0)
        for number, of_map in enumerate(chords)
        for k, (start, *_) in enumerate(of_map)
    ]
    cell = cell if index is None else cell + index * width
    chord = cell.bin_intervals(breaks[1:], labels=False)
    left, low, run, rise = (
        pick(column, chord) for column in zip(*itertools.chain(*chords), strict=True)
    )
    return low + ((x - left) / run).clip(0, 1) * rise


def _chords(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float, float, float]]:
    """Start (x, y), run and rise of each chord; the last one is flat."""
    ends = [*zip(x, y, strict=True)]
    chords = [
        (start, low, stop - start, high - low)
        for (start, low), (stop, high) in itertools.pairwise(ends)
        if stop > start
    ]
    # A map that jumps at its first knot is constant up to there.
    flat = [(*ends[0], 1.0, 0.0)] if [*x[:1]] == [*x[1:2]] else []
    return [*flat, *chords, (*ends[-1], 1.0, 0.0)]
