"""Comparison of systems over the same range of coverage.

An area under the risk-coverage curve ends at Cmax, the share of items that a system predicts at
all, so of two systems the one that abstains more has the smaller area. Here both sides of every
difference are integrated over [0, C], with one C for all systems of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.comparison import Correction, Test, compare, paired_method
from evalframe.core import tables
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.frames import like_input
from evalframe.core.metric import Metric
from evalframe.core.rows import as_expr
from evalframe.core.state import WEIGHT, First, State, Totals, total
from evalframe.core.typing import By, Frame, IntoExpr, Role
from evalframe.evaluation import evaluate
from evalframe.selective.areas import augrc_at, augrc_until, aurc_at, aurc_until
from evalframe.selective.conventions import (
    RISK,
    Items,
    coverage_at,
    refuse_negative,
    zero_if_abstained,
)
from evalframe.selective.working_points import risk_at, slack

if TYPE_CHECKING:
    from evalframe.resample.methods import Bootstrap


AtCoverage: TypeAlias = Literal["aurc", "augrc", "risk"]

USED = ("coverage_used", "coverage_left", "coverage_right")
"""Columns about coverage, after those of `compare`."""

_SYSTEM, _CLUSTER, _ALL = ":system", ":cluster", ":all"
_SPLIT = 2.0**27 + 1.0


@like_input
def compare_at_coverage(
    frame: Frame,
    *,
    between: IntoExpr,
    pair_on: IntoExpr | None = None,
    metrics: AtCoverage | Sequence[AtCoverage] = ("aurc", "augrc"),
    coverage: float | Literal["common"] = "common",
    by: By = None,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    weight: IntoExpr | None = None,
    resample: Bootstrap | None = None,
    test: Test = "bootstrap",
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """Differences between systems over the same range of coverage, whatever each one's Cmax.

    Only the clusters that all systems of a group share are used; `n_clusters` is their number. If a
    replicate reaches only C' < C, its curve continues at its last risk, so that every replicate
    covers the same range: the AURC gains (C - C') r and the AUGRC (C - C') (g + (C - C') r / 2),
    with r and g the last selective and generalized risk. `compare` of `ef.aurc_at(C)` stops at C'
    instead, which mixes ranges.

    Args:
        frame: Records of all systems, one row each.
        between: The systems. For several confidences of one system, unpivot their columns first.
        pair_on: The clusters, such as participants; by default the cluster of `resample`.
        metrics: `aurc`, `augrc`, and `risk`, the selective risk at the bound.
        coverage: `common`: in each group of `by` the smallest Cmax of its systems. Or a number in
            (0, 1], which every system must reach.
        by: Compare within each group of these keys.
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down.
        weight: Weight of each row.
        resample: The bootstrap; by default 1,000 reference draws. The bound is not resampled.
        test: As for `compare`.
        correction: As for `compare`; the family is all p-values of the call.

    Returns:
        The columns of `compare`, the metrics named `aurc_at_common` or `aurc_at_0.50`, then
        `coverage_used`, the bound, and `coverage_left` and `coverage_right`, the Cmax of each side
        on the shared clusters. Estimates are null where the bound is 0, since some system of the
        group predicts nothing, and where nothing is predicted.

    Raises:
        ContractError: A loss is negative.
        ParameterError: A system does not reach the coverage; the systems of a group share no
            cluster; or see `compare`.

    Examples:
        Two systems that accept the same items first, of which one then abstains:

        >>> import polars as pl, evalframe as ef
        >>> losses = [0.0, 1.0, 0.5, 0.5, 0.0, 1.0, None, None]
        >>> items = pl.DataFrame({"system": ["bold"] * 4 + ["careful"] * 4, "loss": losses})
        >>> confidence = pl.Series([0.9, 0.8, 0.7, 0.6] * 2)
        >>> items = items.with_columns(confidence=confidence, person=pl.Series([1, 2, 3, 4] * 2))
        >>> by_system = {"between": "system", "pair_on": "person"}
        >>> ef.compare(items, ef.aurc(), **by_system).select("^estimate_.*$").row(0)
        (0.3125, 0.0625)
        >>> fair = ef.selective.compare_at_coverage(items, **by_system, metrics="aurc")
        >>> fair.select("^estimate_.*$", "^coverage_.*$").row(0)
        (0.0625, 0.0625, 0.5, 1.0, 0.5)
    """
    from evalframe.resample.paired import PAIRED_RESULT

    named = _named(metrics, coverage)
    method, cluster = paired_method(pair_on, resample)
    keys = tables.Keys.of(by, [*PAIRED_RESULT, *USED])
    rows = _rows(tables.lazy(frame), keys, as_expr(between), cluster, loss, confidence, weight)
    weight = None if weight is None else WEIGHT
    groups = [*keys.inner, _ALL]
    refuse_negative(rows)
    rows = _of_shared_clusters(rows, groups, keys)
    metric = _REACHED.bind(weight=weight)
    reached = evaluate(rows, metric, by=[*groups, _SYSTEM]).collect()
    reached = reached.select(*groups, _SYSTEM, cmax="estimate")
    if coverage == "common":
        used = pl.col("cmax").min().over(groups)
    else:
        _check_reached(reached, groups, keys, coverage)
        used = pl.lit(coverage, dtype=pl.Float64)
    reached = reached.with_columns(used.alias("coverage_used"))
    bounds = reached.lazy().select(*groups, bound="coverage_used").unique()
    result = compare(
        rows.join(bounds, on=groups, nulls_equal=True),
        [_METRICS[metric].bind(weight=weight, name=name) for metric, name in named.items()],
        between=_SYSTEM,
        pair_on=_CLUSTER,
        by=keys.inner,
        resample=method,
        test=test,
        correction=correction,
    )
    return _with_coverages(result.collect(), reached, keys).rename(keys.restore()).lazy()


def _named(
    metrics: AtCoverage | Sequence[AtCoverage], coverage: float | str
) -> dict[AtCoverage, str]:
    """The requested metrics with their names in the result."""
    listed: list[AtCoverage] = [metrics] if isinstance(metrics, str) else list(metrics)
    if not listed:
        raise ParameterError(f"no metrics were given; name some of {', '.join(_METRICS)}")
    for metric in listed:
        if metric not in _METRICS:
            raise UnknownNameError.of("metric up to a coverage", metric, _METRICS)
    if coverage == "common":
        return {metric: f"{metric}_at_common" for metric in listed}
    if not isinstance(coverage, int | float):
        raise ParameterError(f"coverage must be 'common' or a number in (0, 1], got {coverage!r}")
    at_a_number = {"aurc": aurc_at, "augrc": augrc_at, "risk": risk_at}
    return {metric: at_a_number[metric](coverage)().meta.output_name() for metric in listed}


def _rows(
    frame: pl.LazyFrame,
    keys: tables.Keys,
    system: pl.Expr,
    cluster: pl.Expr,
    loss: IntoExpr,
    confidence: IntoExpr,
    weight: IntoExpr | None,
) -> pl.LazyFrame:
    """The required columns under internal names."""
    metric = _REACHED.bind((loss, confidence), weight=weight)
    tables.check_columns(frame, [metric], *keys.exprs, system, cluster)
    return frame.select(
        *keys.select(),
        pl.lit(0).alias(_ALL),  # a key that is always there
        system.alias(_SYSTEM),
        cluster.alias(_CLUSTER),
        **metric.bound.columns,
    )


def _of_shared_clusters(rows: pl.LazyFrame, groups: list[str], keys: tables.Keys) -> pl.LazyFrame:
    """The rows of the clusters that all systems of their group have."""
    present = rows.select(*groups, _SYSTEM, _CLUSTER).unique().collect()
    holders = pl.len().over(*groups, _CLUSTER)
    shared = present.filter(holders == pl.col(_SYSTEM).n_unique().over(groups))
    if shared.height == present.height:
        return rows
    lost = present.join(shared, on=groups, how="anti", nulls_equal=True).sort(*groups, _SYSTEM)
    if lost.height:
        first = lost.join(lost.head(1), on=groups, how="semi", nulls_equal=True)
        systems = ", ".join(map(repr, first[_SYSTEM].unique(maintain_order=True)))
        raise ParameterError(
            f"no cluster is shared by all of the systems {systems}{_group(first, keys)}; check the "
            "column to pair on, or leave a system out"
        )
    clusters = shared.lazy().select(*groups, _CLUSTER).unique()
    return rows.join(clusters, on=[*groups, _CLUSTER], how="semi", nulls_equal=True)


def _check_reached(
    reached: pl.DataFrame, groups: list[str], keys: tables.Keys, coverage: float
) -> None:
    """Raise ParameterError if a compared system ends below the coverage."""
    compared = reached.filter(pl.len().over(groups) > 1)
    short = compared.filter(pl.col("cmax").fill_null(0.0) < coverage).sort("cmax", *groups, _SYSTEM)
    if short.height:
        first = short.row(0, named=True)
        others = f", and {short.height - 1} more fall short" if short.height > 1 else ""
        none = "no coverage, since none of its predicted items can be ranked"
        ends = none if first["cmax"] is None else f"a coverage of {first['cmax']:.4g}"
        raise ParameterError(
            f"system {first[_SYSTEM]!r} reaches {ends}{_group(short, keys)}, below the "
            f"{coverage:g} asked for{others}; lower the coverage, or compare at coverage='common'"
        )


def _group(rows: pl.DataFrame, keys: tables.Keys) -> str:
    """The group of the first row, for messages."""
    values = zip(keys.names, rows.select(keys.inner).head(1).iter_columns(), strict=True)
    text = ", ".join(f"{name}={value.item()!r}" for name, value in values)
    return text and f" in the group {text}"


def _with_coverages(result: pl.DataFrame, reached: pl.DataFrame, keys: tables.Keys) -> pl.DataFrame:
    """The differences with the bound, and with the Cmax of both sides."""
    left = reached.select(*keys.inner, "coverage_used", left=_SYSTEM, coverage_left="cmax")
    right = reached.select(*keys.inner, right=_SYSTEM, coverage_right="cmax")
    for name, side in (("left", left), ("right", right)):
        on = [*keys.inner, name]
        result = result.join(side, on=on, how="left", nulls_equal=True, maintain_order="left")
    return result


_BOUND = total.bound_high / total.items + total.bound_low / total.items
"""The bound within terms."""


def _up_to_bound(
    name: str,
    first: Callable[[pl.Expr], First],
    value: Callable[[Totals, pl.Expr], pl.Expr],
) -> Metric:
    """A metric up to a bound, which is a column that is constant within the group.

    `first` is its value at the bound, given the weight; `value` makes the result of the totals and
    of the coverage that the curve lacks.
    """

    def define(
        loss: Role = "loss",
        confidence: Role = "confidence",
        bound: Role = "bound",
        *,
        weight: Role = None,
    ) -> State:
        # The mean of the bound must be exact: its two halves have so few digits that their sums
        # over fewer than 2**27 items are.
        rounded = bound * _SPLIT
        high = rounded - (rounded - bound)
        items = Items(loss, confidence, weight)
        state = items.state(items.axis(firsts={"first": first(weight)}), finish=finish)
        return replace(
            state,
            sums={**state.sums, "bound_high": weight * high, "bound_low": weight * (bound - high)},
            valid=items.valid & bound.is_not_nan().fill_null(value=False),
        )

    def finish(t: Totals) -> pl.Expr:
        bound = t.bound_high / t.items + t.bound_low / t.items
        reached = t.mass / t.items
        beyond = pl.when(bound > reached).then(bound - reached).otherwise(0.0)
        return pl.when((t.mass > 0) & (bound > 0)).then(value(t, beyond))

    return _metric(name, define, "loss", "confidence", "bound")


def _metric(name: str, define: Callable[..., State], *roles: str) -> Metric:
    """A metric that is not registered."""
    columns, ends = {role: role for role in roles}, (0.0, float("inf"))
    return Metric(name, define, "minimize", ends, columns, labels=frozenset(), params={})


def _cmax(loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None) -> State:
    """Share of the usable items that are predicted: the end of the curve."""
    items = Items(loss, confidence, weight)
    return items.state(items.axis(), finish=lambda t: zero_if_abstained(t, t.mass / t.items))


def _augrc(t: Totals, beyond: pl.Expr) -> pl.Expr:
    return t.first / t.items**2 + beyond * (t.loss / t.items + beyond * t.loss / t.mass / 2)


_REACHED = _metric("coverage", _cmax, "loss", "confidence")
_METRICS: dict[AtCoverage, Metric] = {
    "aurc": _up_to_bound(
        "aurc",
        lambda weight: aurc_until(_BOUND, "trapezoid_total"),
        lambda t, beyond: t.first / t.items + beyond * t.loss / t.mass,
    ),
    "augrc": _up_to_bound("augrc", lambda weight: augrc_until(_BOUND, "trapezoid_total"), _augrc),
    "risk": _up_to_bound(
        "risk",
        lambda weight: First(coverage_at("trapezoid_total"), _BOUND * slack(weight), RISK),
        # Beyond its end the curve keeps the risk of all items.
        lambda t, beyond: pl.when(t.first.is_not_nan()).then(t.first).otherwise(t.loss / t.mass),
    ),
}
