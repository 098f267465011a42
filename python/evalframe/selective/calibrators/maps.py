"""Calibrators: fitted maps from signals to a calibrated value, applied as expressions."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.selective.calibrators.lookup import pick, piecewise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.core.typing import IntoExpr

Link: TypeAlias = Literal["sigmoid", "identity"]
LinearMethod: TypeAlias = Literal["logistic", "platt"]

EDGE = 1e-6
"""How near 0 and 1 a probability may come before its logit is taken."""


class Calibrator(Protocol):
    """What every calibrator is: a named method, its features, and a map of their columns.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective import Temperature
        >>> calibrator: Calibrator = Temperature(2.0)
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
        """The columns it reads unless others are given."""

    @property
    def inputs(self) -> tuple[pl.Expr, ...]:
        """What it was fitted on, if more than columns."""

    def apply(self, *columns: IntoExpr) -> pl.Expr:
        """The calibrated value of each row."""


@dataclass(frozen=True, slots=True)
class Temperature:
    """Temperature scaling: sigma(logit(p) / T), which moves probabilities towards 1/2 if T > 1.

    Strictly increasing inside the clip range, so it changes no ranking metric.

    Args:
        temperature: T, above 0.
        features: The column it reads.
        target: What it was fitted to, if known.
        inputs: What it was fitted on, if more than columns; `apply` computes it.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame({"confidence": [0.5, 0.9, None]})
        >>> items.with_columns(Temperature(2.0).apply())
        shape: (3, 2)
        ┌────────────┬────────────┐
        │ confidence ┆ calibrated │
        │ ---        ┆ ---        │
        │ f64        ┆ f64        │
        ╞════════════╪════════════╡
        │ 0.5        ┆ 0.5        │
        │ 0.9        ┆ 0.75       │
        │ null       ┆ null       │
        └────────────┴────────────┘
    """

    temperature: float
    features: tuple[str, ...] = ("confidence",)
    target: str | None = None
    inputs: tuple[pl.Expr, ...] = field(default=(), compare=False, repr=False)
    method: ClassVar[str] = "temperature_scaling"

    def apply(self, *columns: IntoExpr) -> pl.Expr:
        """The calibrated probability of each row."""
        return applied(type(self), (self,), None, columns)

    def faults(self) -> Iterator[str]:
        """What keeps it from being applied."""
        if not (_is_finite(self.temperature) and self.temperature > 0):
            yield f"temperature must be a finite number above 0, got {self.temperature!r}"
        if len(self.features) != 1:
            yield f"a temperature scales exactly one feature, got {list(self.features)}"

    @classmethod
    def stacked(
        cls, stack: Sequence[Temperature], index: pl.Expr | None, columns: list[pl.Expr]
    ) -> pl.Expr:
        """The value by the calibrator that `index` numbers."""
        p = columns[0].clip(EDGE, 1 - EDGE)
        temperature = pick([own.temperature for own in stack], index)
        # One logarithm and one exponential: sigma(logit(p) / T) = 1 / (1 + odds_against^(1/T)).
        return 1 / (1 + (((1 - p) / p).log() / temperature).exp())


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear map of standardised features, through a sigmoid or clipped to [0, 1].

    Args:
        features: The columns it reads, in order.
        coefficients: One per feature, on the standardised scale.
        intercept: Added to the weighted sum.
        mean: Subtracted from each feature.
        std: Each feature is divided by it; above 0.
        link: `sigmoid` for a logistic fit, `identity` for a ridge fit.
        method: `logistic` or `platt`, which is logistic with one feature.
        target: What it was fitted to, if known.
        inputs: What it was fitted on, if more than columns; `apply` computes it.

    Examples:
        >>> import polars as pl
        >>> calibrator = Linear(("count",), (2.0,), 0.0, (1.0,), (0.5,))
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

    def apply(self, *columns: IntoExpr) -> pl.Expr:
        """The calibrated value of each row."""
        return applied(type(self), (self,), None, columns)

    def faults(self) -> Iterator[str]:
        """What keeps it from being applied."""
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

    @classmethod
    def stacked(
        cls, stack: Sequence[Linear], index: pl.Expr | None, columns: list[pl.Expr]
    ) -> pl.Expr:
        """The value by the calibrator that `index` numbers."""
        score = pick([own.intercept for own in stack], index)
        for place, column in enumerate(columns):
            mean = pick([own.mean[place] for own in stack], index)
            std = pick([own.std[place] for own in stack], index)
            score += pick([own.coefficients[place] for own in stack], index) * (column - mean) / std
        value = score.clip(0, 1) if stack[0].link == "identity" else 1 / (1 + (-score).exp())
        return value.fill_nan(None)  # infinite features can cancel out


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A piecewise-linear increasing map of one feature, constant beyond its ends.

    Args:
        features: The one column it reads.
        x_thresholds: Knots, ascending; where two are equal the map jumps there.
        y_thresholds: Values at the knots.
        target: What it was fitted to, if known.
        inputs: What it was fitted on, if more than columns; `apply` computes it.

    Examples:
        >>> import polars as pl
        >>> calibrator = Isotonic(("msp",), (0.0, 1.0), (0.5, 1.0))
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

    def apply(self, *columns: IntoExpr) -> pl.Expr:
        """The calibrated value of each row."""
        return applied(type(self), (self,), None, columns)

    def faults(self) -> Iterator[str]:
        """What keeps it from being applied."""
        x, y = self.x_thresholds, self.y_thresholds
        if len(self.features) != 1:
            yield f"an isotonic map has exactly one feature, got {list(self.features)}"
        if not x or len(x) != len(y):
            yield f"it needs as many x_thresholds as y_thresholds, got {len(x)} and {len(y)}"
        if not all(map(_is_finite, (*x, *y))):
            yield "x_thresholds and y_thresholds must be finite numbers"
        elif falls := first_fall(x):
            yield f"x_thresholds must ascend, got {x[falls - 1]!r} before {x[falls]!r}"

    @classmethod
    def stacked(
        cls, stack: Sequence[Isotonic], index: pl.Expr | None, columns: list[pl.Expr]
    ) -> pl.Expr:
        """The value by the calibrator that `index` numbers."""
        knots = [(own.x_thresholds, own.y_thresholds) for own in stack]
        return piecewise(columns[0], knots, index).clip(0, 1)


Fitted: TypeAlias = Temperature | Linear | Isotonic
"""A calibrator with parameters of its own."""


def applied(
    kind: type[Any], stack: Sequence[Fitted], index: pl.Expr | None, columns: Sequence[IntoExpr]
) -> pl.Expr:
    """The value of each row by one of several calibrators of one kind, numbered by `index`."""
    for own in stack:
        for fault in own.faults():
            raise ParameterError(f"cannot apply a calibrator ({own.method}): {fault}")
    features = stack[0].features
    given = columns or stack[0].inputs or features
    if len(given) != len(features):
        raise ParameterError(
            f"a calibrator ({stack[0].method}) of {list(features)} takes {len(features)} "
            f"columns in this order, got {len(given)}"
        )
    present = [as_expr(column).cast(pl.Float64).fill_nan(None) for column in given]
    value: pl.Expr = kind.stacked(stack, index, present)
    return value.alias("calibrated")


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max


def first_fall(values: Sequence[float]) -> int:
    """The first place where the values fall, or 0."""
    pairs = enumerate(itertools.pairwise(values), start=1)
    return next((place for place, (one, following) in pairs if following < one), 0)
