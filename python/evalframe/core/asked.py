"""Metrics as callers name them: functions or expressions, checked against a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ParameterError
from evalframe.core.metric import MetricExpr
from evalframe.core.rows import as_expr
from evalframe.core.states import States
from evalframe.core.typing import By, Frame, IntoExpr

AnyMetric: TypeAlias = pl.Expr | Callable[..., MetricExpr]


def states_of(
    frame: Frame,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    cluster: IntoExpr | None = None,
) -> States[pl.LazyFrame]:
    """States of metrics, whose tables can be collected together with other queries."""
    lazy = tables.lazy(frame)
    exprs = as_exprs(metrics, weight)
    keys = tables.Keys.of(by)
    clusters = [] if cluster is None else [as_expr(cluster)]
    check_names(keys, *(each.meta.output_name() for each in clusters))
    bounds = tables.declared(exprs, "its shards do not add up")
    tables.check_units(bounds, keys)
    tables.check_columns(lazy, exprs, *keys.exprs, *clusters)
    tables.check_row_level(*keys.exprs, *clusters)
    return States.of(lazy, bounds, keys, *clusters)


def check_names(keys: tables.Keys, cluster: str | None = None) -> None:
    """Raise ParameterError if the columns of groups in a state cannot have these names."""
    if reserved := [name for name in keys.names if name.startswith(":")]:
        raise ParameterError(
            "names that begin with a colon are those of a state; rename the key "
            f"{reserved[0]!r} with .alias(...)"
        )
    if cluster in keys.names:
        raise ParameterError(f"{cluster!r} is both a group key and the cluster; it can be only one")


def as_exprs(
    metrics: AnyMetric | Sequence[AnyMetric], weight: IntoExpr | None = None
) -> list[pl.Expr]:
    """Metrics as expressions; functions are called with their default columns."""
    is_one = isinstance(metrics, str | pl.Expr) or callable(metrics)
    listed: list[Any] = [metrics] if is_one else list(metrics)  # type: ignore[arg-type]
    if not listed:
        raise ParameterError("no metrics were given; name at least one, such as ef.aurc()")
    return [_as_expr(metric, weight) for metric in listed]


def _as_expr(metric: Any, weight: IntoExpr | None) -> pl.Expr:
    if callable(metric) and not isinstance(metric, pl.Expr):
        if not hasattr(metric, "preset"):  # a declared metric says itself what it lacks
            try:
                inspect.signature(metric).bind()
            except TypeError as error:
                name = getattr(metric, "__name__", repr(metric))
                raise ParameterError(f"{name} must be called: {error}, as in {name}(...)") from None
        metric = metric()
    if not isinstance(metric, pl.Expr):
        raise ParameterError(
            f"expected metrics such as ef.aurc() or Polars expressions, got {metric!r}"
        )
    if weight is None:
        return metric
    if not isinstance(metric, MetricExpr):
        raise ParameterError(
            f"{metric.meta.output_name()!r} declares no state and cannot take `weight`; "
            "write the weight into the expression"
        )
    return metric.bound.reweighted(weight)
