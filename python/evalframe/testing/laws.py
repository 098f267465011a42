"""The laws that hold for every metric with a state, as functions to run on your own metrics.

Each law computes the same table by several routes and compares the others with the first. It
returns nothing, or raises an `AssertionError` that names the law, the metric, the group and both
numbers.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias, cast, get_args

import numpy as np
import polars as pl

from evalframe.core import tables
from evalframe.core.asked import AnyMetric, as_exprs
from evalframe.core.errors import ParameterError
from evalframe.core.metric import MetricExpr
from evalframe.core.per import Node, Per
from evalframe.core.retraction import RecomputeError
from evalframe.core.rows import as_expr
from evalframe.core.state_files import packed, unpacked
from evalframe.core.states import CLUSTER, Plan, States
from evalframe.core.tables import Keys
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.evaluation import evaluate, finish, merge, partial, retract
from evalframe.resample.independence import cluster_of
from evalframe.resample.levels import with_levels
from evalframe.resample.methods import Bootstrap
from evalframe.resample.nested import contract
from evalframe.resample.pools import pools
from evalframe.resample.uncertainty import number_groups
from evalframe.testing.agreement import agree

Metrics: TypeAlias = AnyMetric | Sequence[AnyMetric]

RTOL = 1e-12
_COUNTED = ("estimate", "n", "n_missing")
_SPREAD = ("estimate", "std_error", "lower", "upper", "n_clusters", "drop_rate")
_TIMES, _UNIT = ":times", ":row"
_CLUSTERS = ":clusters"
_WEIGHT, _COPY, _PLACE, _DRAW = ":weight", ":copy", ":place", ":draw"
_SETTLED = 1e-11
"""Values that order units are settled to 12 decimals."""


def check_laws(
    metrics: Metrics,
    frame: Frame,
    *,
    by: By = None,
    cluster: IntoExpr | None = None,
    rtol: float = RTOL,
) -> None:
    """Check that metrics keep all laws on one frame, as every metric of this package does.

    They are: an expression is what a table has; states of shards add up, and can be taken away; a
    weight of 2 is two rows, and of 0 none; the order of rows does not matter; units are groups; and
    sums by cluster and replicates are those of the rows.

    Make the frame hard: ties, missing values, groups of one row, clusters of unequal size. A
    metric that jumps, such as one that compares with a threshold, keeps the laws only up to
    rounding at the jump; numbers that add up exactly, such as eighths, avoid that.

    Args:
        metrics: What `evaluate` takes; all must declare a state.
        frame: Records.
        by: Group keys.
        cluster: What is resampled; by default single rows.
        rtol: Tolerance, relative to numbers above 1 and absolute below.

    Raises:
        AssertionError: A law does not hold.
        ParameterError: A metric declares no state, or the frame has no rows.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"model": [*"aaab"], "loss": [0.0, 1.0, None, 0.5]})
        >>> items = items.with_columns(confidence=pl.Series([0.9, 0.9, 0.1, 0.7]))
        >>> ef.testing.check_laws([ef.aurc, ef.risk_at(0.5)], items, by="model")
    """
    if tables.lazy(frame).head(1).collect().is_empty():
        raise ParameterError("check_laws: the frame has no rows, of which every law holds")
    for law in (
        expressions_equal_tables,
        shards_add_up,
        parts_can_be_taken_away,
        integer_weights_repeat_rows,
        zero_weights_remove_rows,
        row_order_does_not_matter,
        units_are_groups,
    ):
        law(metrics, frame, by=by, rtol=rtol)
    for law_of_clusters in (clusters_add_up, replicates_resample_rows, replicates_copy_units):
        law_of_clusters(metrics, frame, by=by, cluster=cluster, rtol=rtol)


def expressions_equal_tables(
    metrics: Metrics, frame: Frame, *, by: By = None, rtol: float = RTOL
) -> None:
    """The expression in `select`, `agg` and `over`, eager, lazy and streaming = every plan."""
    rows, exprs, keys = _opened(metrics, frame, by)
    routes: dict[str, Frame] = {
        f"evaluate(plan={plan!r})": evaluate(rows, exprs, by=by, plan=plan)
        for plan in get_args(Plan)
    }
    query = rows.lazy().group_by(keys.exprs).agg(exprs) if by else rows.lazy().select(exprs)
    wide = {
        "the eager expression": rows.group_by(keys.exprs).agg(exprs) if by else rows.select(exprs),
        "the lazy expression in memory": query.collect(engine="in-memory"),
        "the lazy expression, streaming": query.collect(engine="streaming"),
    }
    if by:
        over = [expr.over(keys.exprs) for expr in exprs]
        wide["the expression over the keys"] = rows.select(*keys.exprs, *over).unique()
    names = [expr.meta.output_name() for expr in exprs]
    for route, values in wide.items():
        routes[route] = values.unpivot(
            names, index=list(keys.names), variable_name="metric", value_name="estimate"
        )
    agree("expressions equal tables", routes, keys, rtol, _COUNTED)


def shards_add_up(
    metrics: Metrics, frame: Frame, *, by: By = None, shards: int = 3, rtol: float = RTOL
) -> None:
    """States of shards, as bytes, through Parquet, merged and finished = the whole."""
    rows, exprs, keys = _opened(metrics, frame, by)
    places = pl.int_range(pl.len())
    cuts = {
        "every third row": [rows.filter(places % shards == shard) for shard in range(shards)],
        "consecutive rows": [
            rows.filter(places * shards // pl.len() == shard) for shard in range(shards)
        ],
    }
    routes: dict[str, Frame] = {"evaluate": evaluate(rows, exprs, by=by)}
    for cut, parts in cuts.items():
        states = [_travelled(partial(part, exprs, by=by)) for part in parts]
        routes[f"merged shards of {cut}"] = finish(merge(*states))
        routes[f"shards of {cut} merged the other way round"] = finish(
            merge(states[-1], merge(*states[:-1]))
        )
    agree("shards add up", routes, keys, rtol, _COUNTED)


def parts_can_be_taken_away(
    metrics: Metrics, frame: Frame, *, by: By = None, rtol: float = RTOL
) -> None:
    """The state of all rows without that of a part = the other rows, or it says why it cannot."""
    rows, exprs, keys = _opened(metrics, frame, by)
    for count in (0, len(rows) // 2):
        left, part = (partial(each, exprs, by=by) for each in (rows[:count], rows[count:]))
        try:
            found = finish(retract(merge(left, part), part))
        except RecomputeError:
            continue
        routes: dict[str, Frame] = {"the other rows": finish(left), "retract": found}
        agree("parts can be taken away", routes, keys, rtol, _COUNTED)


def integer_weights_repeat_rows(
    metrics: Metrics, frame: Frame, *, by: By = None, rtol: float = RTOL
) -> None:
    """A row of weight 3 = the same row three times."""
    _weighted("integer weights repeat rows", 4, metrics, frame, by, rtol)


def zero_weights_remove_rows(
    metrics: Metrics, frame: Frame, *, by: By = None, rtol: float = RTOL
) -> None:
    """A row of weight 0 = no such row."""
    _weighted("zero weights remove rows", 2, metrics, frame, by, rtol)


def row_order_does_not_matter(
    metrics: Metrics, frame: Frame, *, by: By = None, rtol: float = RTOL
) -> None:
    """Rows in any order give the same numbers."""
    rows, exprs, keys = _opened(metrics, frame, by)
    routes: dict[str, Frame] = {}
    for plan in ("sorted", "levels"):
        routes[f"rows as given, {plan}"] = evaluate(rows, exprs, by=by, plan=plan)
        routes[f"rows reversed, {plan}"] = evaluate(rows.reverse(), exprs, by=by, plan=plan)
        shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
        routes[f"rows shuffled, {plan}"] = evaluate(shuffled, exprs, by=by, plan=plan)
    agree("row order does not matter", routes, keys, rtol, _COUNTED)


def clusters_add_up(
    metrics: Metrics,
    frame: Frame,
    *,
    by: By = None,
    cluster: IntoExpr | None = None,
    rtol: float = RTOL,
) -> None:
    """States of clusters, added up as tables or by unit weights in the bootstrap = the whole."""
    rows, exprs, keys = _opened(metrics, frame, by)
    rows, cluster = _clustered(rows, cluster)
    state = partial(rows, exprs, by=by, cluster=cluster)
    routes: dict[str, Frame] = {
        "evaluate": evaluate(rows, exprs, by=by),
        "finish(partial(cluster=...))": finish(state),
    }
    method = Bootstrap(cluster=cluster, n=1, interval="percentile")
    if _can_vary(rows, keys, cluster) and _has_draws(rows, exprs, keys, method):
        routes |= {
            "evaluate with unit weights of clusters": evaluate(rows, exprs, by=by, resample=method),
            "finish with unit weights of clusters": finish(state, resample=method),
        }
    agree("clusters add up", routes, keys, rtol, _COUNTED)


def replicates_resample_rows(
    metrics: Metrics,
    frame: Frame,
    *,
    by: By = None,
    cluster: IntoExpr | None = None,
    n: int = 20,
    rtol: float = RTOL,
) -> None:
    """A bootstrap of states = the same draws of the rows themselves."""
    rows, exprs, keys = _opened(metrics, frame, by)
    rows, cluster = _clustered(rows, cluster)
    exprs = [expr for expr in exprs if not _is_nested(expr)]
    if not exprs or not _can_vary(rows, keys, cluster):
        return
    method = Bootstrap(cluster=cluster, n=n, interval="percentile")
    bounds, others = tables.split(exprs)
    plain = [*(bound.expr for bound in bounds), *others]
    routes: dict[str, Frame] = {
        "sums per cluster": evaluate(rows, exprs, by=by, resample=method),
        "resampled rows": evaluate(rows, plain, by=by, resample=method),
    }
    agree("replicates resample rows", routes, keys, rtol, _SPREAD)


def units_are_groups(metrics: Metrics, frame: Frame, *, by: By = None, rtol: float = RTOL) -> None:
    """A metric of units = the metrics of units as groups, then the metric over their table."""
    rows, exprs, keys = _opened(metrics, frame, by)
    for expr in filter(_is_nested, exprs):
        per = cast("Per", cast("MetricExpr", expr).bound)
        known = rows.filter(
            unit.is_not_null() & unit.cast(pl.String).ne("NaN") for unit in per.unit.values()
        )
        if known.is_empty():
            continue
        columns = [
            MetricExpr.of(replace(part, name=name))
            for name, part in [*per.columns.items(), (_WEIGHT, per.weight)]
            if part is not None
        ]
        units = evaluate(known, columns, by=[*keys.exprs, *per.unit.values()])
        table = units.pivot("metric", index=[*keys.names, *per.unit], values="estimate")
        then = MetricExpr.of(replace(per.then, name=per.name))
        if per.weight is not None:
            then = then.bound.reweighted(_WEIGHT)
        routes: dict[str, Frame] = {
            "the table of units": evaluate(table, then, by=list(keys.names)),
            "the metric of units": evaluate(known, expr, by=by),
        }
        agree("units are groups", routes, keys, max(rtol, _SETTLED))


def replicates_copy_units(
    metrics: Metrics,
    frame: Frame,
    *,
    by: By = None,
    cluster: IntoExpr | None = None,
    n: int = 5,
    rtol: float = RTOL,
) -> None:
    """A replicate of a metric of units = the metric of copied rows.

    Copies of units that are drawn are new units; copies of other rows are more rows of their unit.
    Designs that mean two things have no replicates.
    """
    rows, exprs, keys = _opened(metrics, frame, by)
    rows, cluster = _clustered(rows, cluster)
    exprs = [expr for expr in exprs if _is_nested(expr)]
    if not exprs or not _can_vary(rows, keys, cluster):
        return
    method = Bootstrap(cluster=cluster, n=n, interval="percentile")
    if not _has_draws(rows, exprs, keys, method):
        return
    bounds, _ = tables.split(exprs)
    states = States.of(rows.lazy(), bounds, keys, as_expr(cluster)).collected()
    groups = states.groups()
    found = list(pools(method, number_groups(states, groups)))
    marked = rows.with_columns(as_expr(cluster).alias(_CLUSTERS), *keys.select())
    for pool in found:
        contraction = contract(pool.states, len(pool.groups), pool.clusters)
        weights = next(pool.drawn.chunks(n))
        values = contraction.values(weights)
        roots = pool.states.forest.roots
        nodes = [root for root in roots if isinstance(root, Node)]
        copied = [
            MetricExpr.of(replace(_copied(node, pool.states), name=str(metric)))
            for metric, node in enumerate(nodes)
        ]
        times = pl.Series(_TIMES, np.asarray(weights).astype(int).T.tolist())
        drawn = []
        for place, number in enumerate(pool.groups):
            group = marked
            if keys.inner:
                group = marked.join(groups[[number]], on=keys.inner, how="semi", nulls_equal=True)
            ids = group.select(pl.col(_CLUSTERS).unique().sort(), times)
            counts = ids.with_columns(pl.int_ranges(pl.lit(len(weights))).alias(_DRAW))
            copies = group.join(counts.explode(_TIMES, _DRAW), on=_CLUSTERS).with_columns(
                pl.int_ranges(_TIMES).alias(_COPY), pl.lit(place).alias(_PLACE)
            )
            drawn.append(copies.explode(_COPY, empty_as_null=False))
        of_copies = evaluate(pl.concat(drawn), copied, by=[_PLACE, _DRAW])
        shown = of_copies.select("metric", _DRAW, _PLACE, pl.col("estimate").fill_null(np.nan))
        for metric, draw, place, expected in shown.iter_rows():
            value = values[int(metric), draw, place]
            if not np.isclose(value, expected, rtol=rtol, atol=rtol, equal_nan=True):
                raise AssertionError(
                    f"replicates copy units: {bounds[int(metric)].name!r} is {expected!r} of "
                    f"copied rows, but {value!r} in replicate {draw} of group {place}"
                )


def _copied(node: Node, states: States[pl.DataFrame]) -> Per:
    """The metric over copied rows, in which copies of drawn units are new units."""
    if states.drawn[node.path, node.per.fixed]:
        return replace(node.per, unit={**node.per.unit, _COPY: pl.col(_COPY)})
    columns = {
        name: _copied(part, states) if isinstance(part, Node) else node.per.columns[name]
        for name, part in node.columns.items()
    }
    weight = node.per.weight
    if isinstance(node.weight, Node):
        weight = _copied(node.weight, states)
    return replace(node.per, columns=columns, weight=weight)


def _has_draws(rows: pl.DataFrame, exprs: Sequence[pl.Expr], keys: Keys, method: Bootstrap) -> bool:
    """False if draws would mean two things for a metric of units, which raises."""
    bounds, _ = tables.split([expr for expr in exprs if _is_nested(expr)])
    if not bounds:
        return True
    states = States.of(rows.lazy(), bounds, keys, cast("pl.Expr", cluster_of(method))).collected()
    numbered = number_groups(states, states.groups())
    try:
        with_levels(method, numbered, [CLUSTER])
    except ParameterError:
        return False
    return True


def _is_nested(expr: pl.Expr) -> bool:
    return isinstance(expr, MetricExpr) and isinstance(expr.bound, Per)


def _opened(metrics: Metrics, frame: Frame, by: By) -> tuple[pl.DataFrame, list[pl.Expr], Keys]:
    return tables.lazy(frame).collect(), as_exprs(metrics), Keys.of(by)


def _travelled(state: pl.DataFrame) -> pl.DataFrame:
    """The state after it was bytes, which must not change it, and Parquet."""
    again = unpacked(packed(state))
    if again.schema != state.schema or not again.equals(state):
        raise AssertionError(f"shards add up: as bytes a state becomes another:\n{state}\n{again}")
    file = io.BytesIO()
    again.write_parquet(file)
    file.seek(0)
    return pl.read_parquet(file)


def _clustered(rows: pl.DataFrame, cluster: IntoExpr | None) -> tuple[pl.DataFrame, IntoExpr]:
    return (rows.with_row_index(_UNIT), _UNIT) if cluster is None else (rows, cluster)


def _can_vary(rows: pl.DataFrame, keys: Keys, cluster: IntoExpr) -> bool:
    """False if no group has two clusters, which a bootstrap refuses."""
    count = as_expr(cluster).n_unique().alias(_CLUSTERS)
    counts = rows.group_by(keys.select()).agg(count) if keys.names else rows.select(count)
    return counts[_CLUSTERS].max() != 1


def _weighted(law: str, modulus: int, metrics: Metrics, frame: Frame, by: By, rtol: float) -> None:
    rows, exprs, keys = _opened(metrics, frame, by)
    rows = rows.with_columns((pl.int_range(pl.len()) % modulus).alias(_TIMES))
    repeated = rows.select(pl.all().repeat_by(_TIMES).explode(empty_as_null=False))
    routes: dict[str, Frame] = {"repeated rows": evaluate(repeated, exprs, by=by)}
    for plan in ("sorted", "levels"):
        weighted = evaluate(rows, exprs, by=by, weight=_TIMES, plan=plan)
        if by:  # A group whose weights are all 0 has no repeated rows.
            left = repeated.select(keys.exprs)
            weighted = weighted.join(left, on=keys.names, how="semi", nulls_equal=True)
        routes[f"weights, {plan}"] = weighted
    agree(law, routes, keys, rtol)
