"""Ranks of systems by a metric, and what is certain of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.asked import AnyMetric, as_exprs
from evalframe.core.choices import check_choice
from evalframe.core.errors import Argument, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.resample.independence import named_cluster

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.engine.opening import AnyEngine
    from evalframe.engine.store import AnyStore
    from evalframe.resample.methods import Bootstrap


Best: TypeAlias = Literal["highest", "lowest"]
Correction: TypeAlias = Literal["holm", "bonferroni", "max_t", "none"]


@like_input
def rank(
    frame: Frame,
    metric: AnyMetric,
    *,
    between: IntoExpr,
    resample: Bootstrap,
    by: By = None,
    weight: IntoExpr | None = None,
    best: Best | None = None,
    correction: Correction = "holm",
    level: float | None = None,
    engine: AnyEngine | None = None,
    state: AnyStore | None = None,
) -> pl.LazyFrame:
    """Rank systems by a metric, and say which ranks are certain.

    Every replicate draws the same clusters for all systems of a group, so that what they have in
    common cancels. Each system is scored on all clusters that it has, as on a leaderboard, where
    `compare` takes those that both sides have.

    The result has two corrections. `tied_with_best` and the rank sets compare all pairs of systems
    of a group at once, by the largest deviation of a replicate, in steps, and wider for few
    clusters as `expanded` intervals are. `p_adjusted` corrects the p-values of all pairs in all
    groups: the best is found in the same data, so its own pairs would be too small a family. `holm`
    reads p-values one by one, as for `compare`: with n draws, none of m adjusted ones lies below
    2 m / (n + 1) by percentiles, so many systems need many draws. `max_t` reads the largest
    deviation of each joint replicate: it uses what pairs have in common, and resolves 1 / (n + 1)
    whatever their number. See `ef.explain("intervals")`.

    Args:
        frame: Records, one row each; of a LazyFrame the result is lazy.
        metric: A metric that declares a state, flat or `ef.per(...)`.
        between: Column or expression whose values are the systems.
        resample: `ef.Bootstrap(cluster=...)` with the clusters that systems share, such as items.
            Draws `within` strata of m clusters show (m - 1) / m of the variance: with two or three
            items each, rank sets and `tied_with_best` are too narrow to rely on. Take coarser
            strata, or none.
        by: Group keys; each group has its ranks.
        weight: How often each row counts.
        best: Which end is best; by default what the metric's direction says.
        correction: Of `p_adjusted`: `holm`, `bonferroni` and `none` as for `compare`; `max_t` by
            the joint replicates of a group, times the number of groups, and never below `p_value`.
        level: Of intervals and rank sets; by default that of `resample`.
        engine: Where shards are computed, and what they are, as for `ef.evaluate`.
        state: A folder that keeps the sums of files, as for `ef.evaluate`.

    Returns:
        by..., `rank` (Int64; ties to 12 decimals share the better one, null without an estimate),
        the system, `metric`, `estimate`, `std_error`, `lower`, `upper`, `n_clusters`, `drop_rate`
        as of `evaluate`, `rank_lower` and `rank_upper` (central ranks of the replicates),
        `rank_set_lower` and `rank_set_upper` (ranks that remain after a simultaneous comparison of
        all pairs), `tied_with_best` (no system is significantly better), `margin_to_best` (a
        difference from the best beyond it would be certain in that comparison; null for the best),
        `p_value` (two-sided, that the system equals the best; the largest if several are; null for
        the best), `p_adjusted` and `n_missing` (rows left out); of a metric of units also
        `n_units`, `n_units_missing`, `drawn` and `unit_drop_rate`. Sorted by groups, rank and
        system. A system with one cluster has no error and no p-value, and any rank.

    Raises:
        ParameterError: No group has two systems; a metric without a state, or without a direction
            while `best` is not given; no bootstrap, no cluster, or a cluster that never varies.
        MissingColumnsError: The frame lacks a column that a metric, key or cluster uses.

    References:
        Rank sets: Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks. `max_t`: Romano
        and Wolf (2005), Exact and approximate stepdown methods for multiple hypothesis testing.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> loss = {"a": [0, 0, 0, 1, 0, 0], "b": [1, 1, 1, 1, 1, 0], "c": [0, 0, 1, 0, 0, 0]}
        >>> items = pl.DataFrame(loss).with_row_index("item")
        >>> items = items.unpivot(index="item", variable_name="model", value_name="loss")
        >>> resample = ef.Bootstrap(cluster="item")
        >>> board = ef.rank(items, ef.selective_risk(), between="model", resample=resample)
        >>> board.select("rank", "model", "rank_set_lower", "rank_set_upper").rows()
        [(1, 'a', 1, 2), (1, 'c', 1, 2), (3, 'b', 3, 3)]
    """
    from evalframe.core import tables
    from evalframe.core.per import units_of
    from evalframe.engine.rows import resampled, rows_of
    from evalframe.resample.entries import RANKED, ranked_systems
    from evalframe.resample.methods import Bootstrap

    check_choice("correction", correction, Correction)
    check_choice("best", best, Best, optional=True)
    exprs = as_exprs(metric, weight)
    if len(exprs) > 1:
        raise ParameterError(f"rank orders by one metric, got {len(exprs)}; call it once for each")
    bounds = tables.declared(exprs, "systems cannot be ranked by it")
    if not isinstance(resample, Bootstrap):
        raise ParameterError(
            f"ranks are of joint draws; use ef.Bootstrap(cluster=...), got {resample!r}"
        )
    method = resample if level is None else replace(resample, level=level)
    cluster = named_cluster("rank", method)
    outer = tables.Keys.of(by)
    taken = (*RANKED, *(tables.NESTED if units_of(bounds[0]) else ()))
    keys = tables.Keys.of([*outer.exprs, as_expr(between)], taken)
    tables.check_units(bounds, keys)
    is_lowest = best_end(bounds[0], best) == "lowest"
    ranked = partial(ranked_systems, correction=correction, is_lowest=is_lowest)
    rows = rows_of(frame, engine, state)
    result = resampled([rows], exprs, keys, cluster, method, ranked, engine, state)
    return result.lazy().rename(keys.restore())


def best_end(metric: AnyBound, best: Best | None) -> Best:
    """Which end is the best; ParameterError if neither the metric nor the user says so."""
    if best is not None:
        return best
    if metric.metric.direction == "none":
        raise ParameterError(
            f"metric {metric.name!r}: neither direction is better; say which end is the best, ",
            Argument("best", "highest"),
            " or ",
            Argument("best", "lowest"),
        )
    return "highest" if metric.metric.direction == "maximize" else "lowest"
