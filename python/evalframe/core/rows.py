"""Rows: what callers hand over as columns, and what makes an author's state sound over them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.state import BEFORE, LEVEL, N_MISSING, OWN, TOTAL, WEIGHT, N, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from evalframe.core.state import Totals
    from evalframe.core.typing import IntoExpr


def as_expr(column: IntoExpr) -> pl.Expr:
    """A column name becomes an expression; an expression stays what it is.

    Raises:
        ParameterError: It is neither.
    """
    if isinstance(column, str):
        return pl.col(column)
    if isinstance(column, pl.Expr):
        return column
    raise ParameterError(
        f"expected a column name or a Polars expression, got {column!r}; a constant is pl.lit(...)"
    )


def columns_read(exprs: Iterable[pl.Expr]) -> set[str]:
    """The names of all columns that expressions read.

    >>> sorted(columns_read([pl.col("x") + pl.col("y"), pl.lit(1)]))
    ['x', 'y']
    """
    return {name for expr in exprs for name in expr.meta.root_names()}


def is_row_level(expr: pl.Expr) -> bool:
    """Whether each value follows from its own row alone.

    >>> is_row_level(pl.col("x").abs() / 3), is_row_level(pl.col("x") / pl.col("x").max())
    (True, False)
    """
    meta = expr.meta
    if meta.is_column() or meta.is_literal():
        return True
    try:
        return meta.is_row_separable() and all(is_row_level(part) for part in meta.pop())
    except pl.exceptions.PolarsError:  # a function of the user's own: not to be known
        return True


def spread_literals(columns: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """The columns, with constants repeated as often as there are rows.

    Raises:
        ParameterError: All are constants, so that nothing says how many rows there are.
    """
    anchor = next((expr for expr in columns.values() if expr.meta.root_names()), None)
    if anchor is None:
        raise ParameterError(f"none of {', '.join(columns)} names a column; at least one must")
    return {
        name: expr
        if expr.meta.root_names()
        else pl.when(anchor.is_null()).then(expr).otherwise(expr)
        for name, expr in columns.items()
    }


def complete(
    name: str, state: State, columns: Mapping[str, pl.Expr], labels: Collection[str]
) -> State:
    """The state made sound: incomplete rows masked and counted, all Float64, undefined is null.

    Args:
        name: Of the metric, for messages.
        state: As the author of the metric wrote it.
        columns: Role expressions, and the weight if there is one.
        labels: Roles of any dtype, which can be null but not NaN.

    Raises:
        ParameterError: What the author wrote is no state, or its names do not fit together.
    """
    for complaint in _complaints(state):
        raise ParameterError(f"metric {name}: {complaint}")
    needed = [role for role in columns if role != WEIGHT and state.valid is None]
    present = [
        columns[role].is_not_null()
        if role in labels
        else columns[role].is_not_nan().fill_null(value=False)
        for role in needed
    ]
    if WEIGHT in columns:
        weight = columns[WEIGHT]
        present.append(((weight >= 0) & weight.is_finite()).fill_null(value=False))
    if state.valid is not None:
        present.append(state.valid)
    valid = pl.all_horizontal(present) if len(present) > 1 else present[0]

    def masked(sums: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
        return {
            name: pl.when(valid).then(expr.cast(pl.Float64)).otherwise(0.0).fill_null(0.0)
            for name, expr in sums.items()
        }

    def finish(totals: Totals) -> pl.Expr:
        return state.finish(totals).cast(pl.Float64).fill_nan(None)

    counts = {N: valid.cast(pl.Float64), N_MISSING: (~valid).cast(pl.Float64)}
    axes = tuple(
        replace(axis, sums=masked(axis.sums), where=valid & axis.where) for axis in state.axes
    )
    sums = masked(state.sums) | counts
    return replace(state, sums=sums, axes=axes, valid=valid, finish=finish)


def _complaints(state: Any) -> Iterator[str]:
    """What is wrong with a state, worst first."""
    if not isinstance(state, State):
        yield f"it must return ef.State(...), got {type(state).__name__}"
        return
    axes: Any = state.axes
    if not isinstance(axes, tuple | list):
        yield "axes must be a list of ef.Axis(...)"
        return
    sums: dict[str, pl.Expr] = {}
    parts: list[Mapping[str, Any]] = [state.sums, *(axis.sums for axis in state.axes)]
    for part in parts:
        for name, expr in part.items():
            if not isinstance(expr, pl.Expr):
                yield f"sum {name!r} must be an expression, got {expr!r}"
            elif not sums.setdefault(name, expr).meta.eq(expr):
                yield f"two different sums are named {name!r}; give one another name"
    for name in sums:
        if name in (N, N_MISSING) or ":" in name:
            yield f"a sum cannot be named {name!r}, which is counted for every metric"
    terms = [n for axis in state.axes for n in (*axis.terms, *axis.maxima, *axis.firsts)]
    for name in terms:
        if terms.count(name) > 1 or name in sums:
            yield f"a term is named {name!r} as another term or sum is; give it another name"
    for axis in state.axes:
        reading = {f"term {name!r}": exprs for name, exprs in axis.results.items()}
        if axis.regroup is not None:
            reading["regroup"] = (axis.regroup,)
        for reader, exprs in reading.items():
            for root in (root for expr in exprs for root in expr.meta.root_names()):
                known = sums if root.endswith(TOTAL) else axis.sums
                base = root.removesuffix(TOTAL).removesuffix(BEFORE).removesuffix(OWN)
                if root != LEVEL and base not in known:
                    yield f"{reader} reads {base!r}, but the sums are {sorted(known)}"
