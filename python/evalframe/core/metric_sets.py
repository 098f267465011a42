"""Several metrics as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr, MetricFunction
    from evalframe.core.typing import IntoExpr


class MetricSet(Protocol):
    """What several metrics are to their callers: a function that gives all their expressions."""

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
