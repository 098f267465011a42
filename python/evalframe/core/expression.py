"""A metric as one Polars expression.

Plain sums become native aggregations. A curve needs its rows sorted, and Polars has no way to bind
the sorted rows to a name inside one expression; so the role columns are gathered into lists, and
one whole-column kernel call sorts and serves all groups at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import kernel
from evalframe.core.soundness import parts_of_choice
from evalframe.core.state import (
    LEVEL,
    N_MISSING,
    ONE,
    Axis,
    N,
    State,
    Totals,
    as_numbers,
    ratio,
)

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_OWNER = ":owner"

_MANY = 1 << 12
"""Rows of a group that are looked at for ties; smaller groups are sorted."""


def sums(state: State, columns: Mapping[str, pl.Expr] | None = None) -> pl.Expr:
    """The expression of a metric without axes: native sums of what rows are worth."""

    # `columns` are role expressions that take work, which the state reads as fields. In a structure
    # each sum does it once: Polars shares equal parts of expressions in lazy frames only.
    def worth(name: str, expr: pl.Expr) -> pl.Expr:
        if columns is None:
            return expr
        roles = pl.struct([role.alias(each) for each, role in columns.items()]).struct
        return roles.with_fields(expr.alias(name)).struct.field(name)

    totals = {name: worth(name, e).sum().cast(pl.Float64) for name, e in state.sums.items()}
    value = state.finish(Totals({name: pl.col(name) for name in totals}))
    read = value.meta.root_names()
    if len(read) < 2:
        return state.finish(Totals(totals))
    for number, count in itertools.permutations(dict.fromkeys(read), 2):
        condition, rows = parts_of_choice(state.sums[number])
        if condition is None or rows is None or not condition.meta.eq(state.sums[count]):
            continue
        if _reads_only(value, ratio(pl.col(number), pl.col(count))):
            # The finish of a mean: Polars has it as one aggregation.
            mean = worth(number, pl.when(condition).then(rows.fill_null(0.0))).mean()
            return state.finish(Totals({**totals, number: mean, count: ONE}))

    # For the same reason the finish, which reads totals more than once, is one call: it gives a
    # total a name, in eager frames and lazy ones, and plans with it stream.
    def finished(series: pl.Series) -> pl.Series:
        return series.struct.unnest().select(value).to_series()

    named = pl.struct([totals[name].alias(name) for name in dict.fromkeys(read)])
    return named.map_batches(finished, return_dtype=pl.Float64, is_elementwise=True)


def _reads_only(expr: pl.Expr, part: pl.Expr) -> bool:
    """True if an expression reads columns in no other part than this."""
    if expr.meta.eq(part) or not expr.meta.root_names():
        return True
    return not expr.meta.is_column() and all(_reads_only(each, part) for each in expr.meta.pop())


def curve(columns: Mapping[str, pl.Expr], state: State) -> pl.Expr:
    """The expression of a metric with axes, over role expressions by canonical name."""

    def whole_column(lists: Sequence[pl.Series]) -> pl.Series:
        named = zip(columns, lists, strict=True)
        return group_values(pl.DataFrame({name: values for name, values in named}), state)

    lists = [expr.implode() for expr in columns.values()]
    return pl.map_batches(lists, whole_column, return_dtype=pl.Float64, is_elementwise=True)


def group_values(groups: pl.DataFrame, state: State) -> pl.Series:
    """The value of a curve metric for each group; columns hold the lists of its rows."""
    from evalframe.core import segments

    starts = segments.starts_of(groups.to_series().list.len().to_numpy())
    plain = as_numbers({n: e for n, e in state.sums.items() if n not in (N, N_MISSING)})
    named: dict[str, Floats] = {}
    for axis in state.axes:
        if _is_tied(groups, starts, axis):
            named |= _level_summary(groups, axis, plain)
        else:
            named |= kernel.summary_of_rows(_flat(groups), starts, plain, [("", axis)])
    value = state.finish(Totals({name: pl.col(name) for name in named}))
    return pl.DataFrame(named).select(value).to_series()


def _is_tied(groups: pl.DataFrame, starts: Ints, axis: Axis) -> bool:
    """True if rows share levels so much that adding them up beats sorting them."""
    if starts[-1] < _MANY * len(groups):
        return False
    head = _flat(groups.head(1).select(pl.all().list.head(_MANY)))
    return bool(head.select(axis.level.n_unique()).item() * 8 <= len(head))


def _level_summary(
    groups: pl.DataFrame, axis: Axis, plain: Mapping[str, pl.Expr]
) -> dict[str, Floats]:
    """Totals and terms per group from rows added up by level."""
    import numpy as np

    level, sums = kernel.level_of(axis).alias(LEVEL), {**plain, **as_numbers(axis.sums)}
    if len(groups) == 1:  # By one key rows are grouped in half the time.
        rows = _flat(groups).lazy().select(level, **sums)
        levels = rows.group_by(LEVEL).agg(pl.all().sum()).collect(engine="in-memory")
        levels = levels.sort(LEVEL, descending=axis.descending)
        return kernel.summary_of_levels(levels, np.array([0, len(levels)]), plain, [("", axis)])
    rows = _owned(groups).lazy().select(_OWNER, level, **sums)
    levels = rows.group_by(_OWNER, LEVEL).agg(pl.all().sum()).collect(engine="in-memory")
    levels = levels.sort(_OWNER, LEVEL, descending=[False, axis.descending])
    starts = np.searchsorted(levels[_OWNER].to_numpy(), np.arange(len(groups) + 1))
    return kernel.summary_of_levels(levels, starts, plain, [("", axis)])


def _owned(groups: pl.DataFrame) -> pl.DataFrame:
    """The rows of all groups, each with the number of its group."""
    owner = pl.int_range(pl.len()).repeat_by(pl.nth(0).list.len())
    return _flat(groups.with_columns(owner.alias(_OWNER)))


def _flat(groups: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([values.explode(empty_as_null=False) for values in groups])
