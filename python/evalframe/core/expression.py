"""A metric as one Polars expression.

Plain sums become native aggregations. A curve needs its rows sorted, and Polars has no way to bind
the sorted rows to a name inside one expression; so the role columns are sorted natively, gathered
into lists, and one whole-column kernel call serves all groups at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import kernel, segments
from evalframe.core.state import Axis, State, Totals

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints

_SEGMENT = ":segment"


def inline(columns: Mapping[str, pl.Expr], state: State, canonical: State) -> pl.Expr:
    """The expression of a metric over the user's columns.

    Args:
        columns: Role expressions, and the weight if there is one, by canonical name.
        state: The state over those expressions.
        canonical: The state over columns of those names.
    """
    if not state.axes:
        return state.finish(Totals({name: expr.sum() for name, expr in state.sums.items()}))
    first = state.axes[0]
    sorted_columns = [expr.implode() for expr in _sorted(columns, first)]

    def whole_column(lists: Sequence[pl.Series]) -> pl.Series:
        lengths = lists[0].list.len().to_numpy()
        rows = pl.DataFrame(
            {
                name: values.explode(empty_as_null=False)
                for name, values in zip(columns, lists, strict=True)
            }
        )
        return group_values(rows, segments.starts_of(lengths), canonical)

    return pl.map_batches(
        sorted_columns, whole_column, return_dtype=pl.Float64, is_elementwise=True
    )


def _sorted(columns: Mapping[str, pl.Expr], axis: Axis) -> list[pl.Expr]:
    """The columns in the order of the axis, rows kept together under ties as far as needed."""
    order = {"descending": axis.descending}
    others = [expr for expr in columns.values() if not expr.meta.eq(axis.level)]
    # Ties may come in any order, unless two columns must come in the same.
    stable = len(others) > 1
    return [
        expr.sort(**order)
        if len(others) < len(columns) and expr.meta.eq(axis.level)
        else expr.sort_by(axis.level, maintain_order=stable, **order)
        for expr in columns.values()
    ]


def group_values(rows: pl.DataFrame, starts: Ints, state: State) -> pl.Series:
    """The value of a curve metric for each segment of rows sorted for its first axis."""
    import numpy as np

    named: dict[str, Floats] = {}
    for position, axis in enumerate(state.axes):
        if position:
            order = [_SEGMENT, ":order"]
            owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            rows = rows.with_columns(axis.level.alias(":order"), pl.Series(_SEGMENT, owner))
            rows = rows.sort(order, descending=[False, axis.descending]).drop(order)
        named |= axis_summary(rows, starts, state.sums, [("", axis)])
    summary = pl.DataFrame(named)
    value = state.finish(Totals({name: pl.col(name) for name in named}))
    return summary.select(value.cast(pl.Float64)).to_series()


def axis_summary(
    rows: pl.DataFrame,
    starts: Ints,
    plain: Mapping[str, pl.Expr],
    uses: Sequence[tuple[str, Axis]],
) -> dict[str, Floats]:
    """Totals and added-up terms of axes that share level, direction and rows, per segment.

    Args:
        rows: Role columns, sorted by level within segments.
        starts: Segments.
        plain: Sums that belong to no level.
        uses: Prefix for the names of an axis's terms, and the axis.
    """
    import numpy as np

    axis = uses[0][1]
    sums = {name: expr for _, axis in uses for name, expr in axis.sums.items()}
    made = rows.select(axis.where.alias(":where"), axis.level.alias(":level"), **{**plain, **sums})
    totals = {name: segments.totals(made[name].to_numpy(), starts) for name in {**plain, **sums}}
    inside = made[":where"].to_numpy()
    if not inside.all():
        made = made.filter(":where")
        count = np.zeros(len(inside) + 1, dtype=np.int64)
        np.cumsum(inside, out=count[1:])
        starts = count[starts]
    own = {name: made[name].to_numpy() for name in sums}
    levels, own, starts = kernel.collapse(made[":level"].to_numpy(), own, starts)
    return totals | kernel.terms(kernel.Views(own, starts, totals, levels), uses)
