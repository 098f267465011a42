"""Metrics with parameters set, metrics that need a parameter, and several metrics as one.

A metric with a parameter that has no default, such as a coverage, is made by a function of it, such
as `risk_at(0.5)`, which returns a `preset` metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ParamSpec, Protocol, cast

from evalframe.core.errors import ParameterError
from evalframe.core.metric import MetricExpr, MetricFunction, function_of
from evalframe.core.typing import IntoExpr

P = ParamSpec("P")


def variant(
    function: MetricFunction[P], *, name: str | None = None, **params: str | float | None
) -> MetricFunction[P]:
    """A metric with some parameters set, under a name of its own.

    Args:
        function: A declared metric, or a variant of one.
        name: The output name; by default the metric's own naming of its parameters.
        **params: Parameters to set, plain values.

    Returns:
        A function of the same roles and parameters, with those as their defaults.

    Raises:
        ParameterError: The metric has no such parameter.

    Examples:
        >>> import evalframe as ef
        >>> peer = ef.variant(ef.aurc, name="aurc_peer", convention="trapezoid_predicted")
        >>> peer("loss", "confidence").meta.output_name()
        'aurc_peer'
    """
    function = getattr(function, "function", function)  # of a preset metric
    metric = function.metric
    unknown = sorted(set(params) - set(metric.params))
    if unknown:
        raise ParameterError(
            f"{metric.name} has no parameter {', '.join(unknown)}; it has {list(metric.params)}"
        )
    return function_of(metric, {**function.preset, **params}, name, function)


class PresetMetric(MetricExpr):
    """A metric whose parameters are set: an expression, and a function of other columns."""

    # `ef.risk_at(0.5)` in `agg` is over its default columns; `ef.risk_at(0.5)("loss", "score")` is
    # the same metric of others.

    function: MetricFunction[...]

    @property
    def preset(self) -> Mapping[str, Any]:
        """The parameters that are set."""
        return self.function.preset

    @property
    def output_name(self) -> str | None:
        """The name that it was given."""
        return self.function.output_name

    def __call__(
        self, *roles: IntoExpr, weight: IntoExpr | None = None, **keywords: Any
    ) -> MetricExpr:
        """The metric of these columns."""
        return self.function(*roles, weight=weight, **keywords)


def preset(
    function: MetricFunction[...],
    *roles: IntoExpr,
    weight: IntoExpr | None = None,
    **params: Any,
) -> PresetMetric:
    """A metric with parameters set, of columns; see `PresetMetric`."""
    renamed = variant(function, **params)
    self = cast("PresetMetric", PresetMetric.of(renamed(*roles, weight=weight).bound))
    self.function = renamed
    return self


class MetricSet(Protocol):
    """A function that returns the expressions of several metrics."""

    def __call__(
        self, *roles: IntoExpr, weight: IntoExpr | None = None, **keywords: IntoExpr | float | None
    ) -> list[MetricExpr]:
        """The metrics of these columns."""


def metric_set(*functions: MetricFunction[Any]) -> MetricSet:
    """Several metrics as one: called with columns, it gives the list of their expressions.

    Args:
        *functions: Declared metrics, or variants of them.

    Returns:
        A function of the roles and parameters that all of them have.

    Examples:
        >>> import evalframe as ef
        >>> areas = ef.metric_set(ef.aurc, ef.augrc, ef.risk_at(0.5))
        >>> [e.meta.output_name() for e in areas("loss", "token_msp")]
        ['aurc', 'augrc', 'risk_at_0.50']
    """

    def bind(*roles: IntoExpr, weight: IntoExpr | None = None, **keywords: Any) -> list[MetricExpr]:
        return [function(*roles, weight=weight, **keywords) for function in functions]

    return bind
