"""At which level of units a cluster's weight enters, and designs in which it would mean two things.

The weight enters once: at the coarsest level each of whose units lies in one cluster, so that
copies are new units; or at the rows, so that copies are more rows of the same unit. If some units
lie in one cluster and others in several, a draw would mean both: such designs are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.per import Node, is_ordered
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.state import LEVEL, OWN, Axis
from evalframe.resample.contraction import GROUP
from evalframe.resample.methods import Linearized, Method

if TYPE_CHECKING:
    from evalframe.core.states import States

_TRIED = 1000
"""Levels for which terms are tried."""


def with_levels(
    method: Method, states: States[pl.DataFrame], on: Sequence[str]
) -> States[pl.DataFrame]:
    """The states with what is drawn of each nested metric; ParameterError for mixed designs.

    `on` are the columns of a cluster; if there are two, the first is its stratum. What is known
    already, from more groups than these, stays.
    """
    if states.drawn:
        return states
    strata, is_linear = len(on) > 1, isinstance(method, Linearized)
    cluster = _called(method, states)
    drawn: dict[tuple[tuple[str, ...], bool], bool] = {}
    for root in states.forest.roots:
        if not isinstance(root, Node):
            continue
        pending = [root]
        while pending:
            node = pending.pop()
            is_drawn = _is_drawn(states, root, node, cluster, [*on], strata=strata)
            if is_linear and not is_drawn:
                _check_derivative(root, node, cluster)
            drawn[node.path, node.per.fixed] = is_drawn
            if not is_drawn:
                pending += [part for part in node.parts.values() if isinstance(part, Node)]
    return replace(states, drawn=drawn)


def _called(method: Method, states: States[pl.DataFrame]) -> str:
    """The cluster as the user named it: a column, or a whole expression."""
    if method.cluster is None:
        return repr(states.cluster)
    expr = as_expr(method.cluster)
    return repr(expr.meta.output_name()) if expr.meta.is_column() else str(expr)


def _is_drawn(
    states: States[pl.DataFrame],
    root: Node,
    node: Node,
    cluster: str,
    on: list[str],
    *,
    strata: bool,
) -> bool:
    """True if each unit lies in one cluster, False if draws change units row by row."""
    path = [*node.path]
    table = next(
        table
        for block, table in zip(states.blocks, states.tables, strict=True)
        if {use.number for use in block.uses} & {*node.leaves}
    )
    rows = table.select(GROUP, *on, *path).unique().filter(pl.col(path[-1]).is_not_null())
    cells = rows.group_by(GROUP, *path).agg(pl.len().alias(":clusters"))
    cut = (pl.col(":clusters") > 1).any()
    units = cells.group_by(path).agg(cut.alias(":cut"))
    overall = rows.select(*on, *path).unique().group_by(path).agg(pl.len().alias(":clusters"))
    several = overall.filter(pl.col(":clusters") > 1)
    if several.is_empty():
        if node.per.fixed and len(overall):
            unit = "/".join(map(repr, node.per.unit))
            raise ParameterError(
                f"metric {root.per.name!r}: units of {unit} are fixed, but each lies in one "
                f"cluster of {cluster}, which would draw them; name a finer cluster"
            )
        return True
    if strata:
        units_of_strata = rows.group_by(on[0]).agg(pl.struct(path).n_unique().alias(":units"))
        # Where each stratum lies in one unit, draws within strata keep all units.
        if (units_of_strata[":units"] <= 1).all():
            return False
    large = rows.group_by(GROUP).agg(pl.struct(on).n_unique().alias(":clusters"))
    large = large.filter(pl.col(":clusters") > 1)
    uncut = large.join(cells.filter(pl.col(":clusters") > 1), on=GROUP, how="anti")
    if node.per.fixed or (units[":cut"].all() and uncut.is_empty()):
        return False
    example = several.sort(path).head(1).select(path)
    clusters = rows.join(example, on=path).select(on[-1]).unique().sort(on[-1]).to_series()
    raise _mixed(root, node, cluster, units[":cut"], example, clusters)


def _mixed(
    root: Node,
    node: Node,
    cluster: str,
    is_cut: pl.Series,
    example: pl.DataFrame,
    clusters: pl.Series,
) -> ParameterError:
    """The error for units of which some lie in one cluster; `example` lies in several `clusters`.

    `is_cut` says for each unit if it lies in several clusters of one group.
    """
    name = root.per.name
    unit, listed = (mark.join(map(repr, node.per.unit)) for mark in ("/", ", "))
    shown = ", ".join(repr(value) for value in example.row(0)[-len(node.own) :])
    among = ", ".join(repr(value) for value in clusters.head(2).to_list())
    if not is_cut.any():
        return ParameterError(
            f"metric {name!r}: each unit of {unit} lies in one cluster of {cluster} in "
            f"its group, but {shown} in other ones in other groups, such as {among}; if ids begin "
            f"anew in groups, add the key to the unit, ef.per([key, {listed}], ...); if they are "
            "the same units: fixed=True"
        )
    whole = int((~is_cut).sum())
    return ParameterError(
        f"metric {name!r}: {len(is_cut) - whole:,} units of {unit} lie in several clusters of "
        f"{cluster}, such as {shown} in {among}, and {whole:,} in one in each group; a "
        "draw would mean two things. Name a cluster that fits, make parts units of their own, "
        f"ef.per([{listed}, {cluster}], ...), or say fixed=True if the units are the same "
        "whatever is drawn"
    )


def _check_derivative(root: Node, node: Node, cluster: str) -> None:
    """Raise ParameterError if running sums over units are in an order that draws change."""
    for axis in node.then.state.axes:
        roles = columns_read(node.then.columns[role] for role in columns_read([axis.level]))
        if is_ordered(axis) and (recomputed := sorted(roles & {*node.columns})):
            raise ParameterError(
                f"metric {root.per.name!r}: {node.then.metric.name!r} orders units by "
                f"{recomputed[0]!r}, which a draw of {cluster} recomputes; that has no "
                "derivative. Use ef.Bootstrap"
            )


def drawn_of(states: States[pl.DataFrame]) -> list[str | None]:
    """What is drawn of each metric: paths of units such as `study/finding`, or `rows`."""
    return [
        ", ".join(dict.fromkeys(_paths(states, root, ""))) if isinstance(root, Node) else None
        for root in states.forest.roots
    ]


def _paths(states: States[pl.DataFrame], node: Node, outer: str) -> Iterator[str]:
    path = f"{outer}{'_'.join(node.per.unit)}"
    if states.drawn[node.path, node.per.fixed]:
        yield path
        return
    for part in node.parts.values():
        if isinstance(part, Node):
            yield from _paths(states, part, f"{path}/")
        else:
            yield "rows"


def check_terms(method: Method, states: States[pl.DataFrame], on: Sequence[str]) -> None:
    """Raise ParameterError if levels are units in disguise, and terms of them not linear.

    A term of a level alone, such as pass@k of a problem, is a metric of a unit. If each level lies
    in one cluster, a cluster that is drawn twice should count twice; with twice the rows in its
    sums, such a term would be of another unit, one with twice as many rows.
    """
    cluster = _called(method, states)
    for block, table in zip(states.blocks, states.tables, strict=True):
        for use in block.uses:
            axis, alone = use.axis, lone_terms(use.axis)
            if axis is None or not alone:
                continue
            keys = [GROUP, *block.units, LEVEL]
            levels = table.filter(pl.col(LEVEL).is_not_null())
            clusters = levels.group_by(keys).agg(pl.struct(on).n_unique().alias(":clusters"))
            if clusters.is_empty() or clusters[":clusters"].max() > 1:  # type: ignore[operator]
                continue
            for name in _not_linear(levels.head(_TRIED), axis, alone):
                unit = axis.level.meta.root_names()[0]
                column = block.columns[unit].meta.undo_aliases()
                shown = column.meta.root_names()[0] if column.meta.root_names() else unit
                raise ParameterError(
                    f"metric {use.metric.name!r}: its term {name!r} is not linear in the sums of a "
                    f"level, and each level lies in one cluster of {cluster}: a cluster "
                    "that is drawn twice would not count twice. Write the metric of one unit, "
                    f"without an axis, and take it per unit: ef.per({shown!r}, ...)"
                )


def lone_terms(axis: Axis | None) -> dict[str, pl.Expr]:
    """The terms that read the sums of their own level only, where levels may be units."""
    # Levels that are computed, such as bins, are no units, whatever lies in them.
    if axis is None or not axis.level.meta.is_column():
        return {}
    if axis.regroup is not None or axis.hull is not None:
        return {}
    return {name: term for name, term in axis.terms.items() if _is_alone(term)}


def _is_alone(term: pl.Expr) -> bool:
    """True if a term reads the sums of its own level only."""
    names = term.meta.root_names()
    return bool(names) and all(name.endswith(OWN) for name in names)


def _not_linear(levels: pl.DataFrame, axis: Axis, terms: dict[str, pl.Expr]) -> list[str]:
    """The terms that are not twice as large for twice the sums."""
    once = levels.select(pl.col(name).alias(name + OWN) for name in axis.sums)
    first, second = (each.select(**terms).cast(pl.Float64) for each in (once, once * 2))
    twice = second.select(
        pl.col(name).is_close(2 * first[name], rel_tol=1e-9, abs_tol=1e-12) for name in terms
    )
    return [name for name in terms if not twice[name].fill_null(value=True).all()]
