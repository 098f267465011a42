"""What resampling takes as independent: clusters, which are drawn whole, or single rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.per import units_of
from evalframe.core.rows import as_expr
from evalframe.resample.methods import Bootstrap, Jackknife, Linearized
from evalframe.resample.strata import within

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.resample.methods import Method


def cluster_of(method: Method) -> pl.Expr | None:
    """The cluster of a method, with its stratum if it has one; None for single rows."""
    if not isinstance(method, Bootstrap | Jackknife | Linearized):
        raise ParameterError(
            f"resample must be ef.Bootstrap(...), ef.Jackknife(...) or ef.Linearized(...), "
            f"got {method!r}"
        )
    cluster = None if method.cluster is None else as_expr(method.cluster)
    if cluster is not None and method.within is not None:
        return within(as_expr(method.within), cluster)
    return cluster


def named_cluster(caller: str, method: Method) -> pl.Expr:
    """The cluster of a method; ParameterError if that is single rows."""
    cluster = cluster_of(method)
    if cluster is None:
        raise ParameterError(
            f"{caller}: rows are not independent here; name what is drawn together, such as "
            f"{type(method).__name__}(cluster='participant_id')"
        )
    return cluster


def check_independent(metrics: Sequence[AnyBound], resample: Method) -> None:
    """ParameterError if standard errors of a metric of units take its rows as independent."""
    nested = next((metric for metric in metrics if units_of(metric)), None)
    if nested is not None and resample.cluster is None and isinstance(resample, Linearized):
        unit = next(iter(units_of(nested)[0]))
        raise ParameterError(
            f"metric {nested.name!r} is over units of {unit!r}: say what is independent, "
            f"Linearized(cluster={unit!r}), or the rows' id for rows within fixed units"
        )
