"""States as authors write them: errors for states that would not add up, masks for rows.

An author's mistake must not become a number. A sum that aggregates by itself, a term that reads
other levels, a finish that reads other groups, a column that is not a role: each would give another
value in every group, shard and resample.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from evalframe.core.errors import ParameterError, did_you_mean
from evalframe.core.rows import all_hold, columns_read, is_row_level
from evalframe.core.state import (
    BEFORE,
    LEVEL,
    N_MISSING,
    ONE,
    OWN,
    TOTAL,
    WEIGHT,
    Axis,
    First,
    N,
    State,
    Totals,
)


def check(name: str, state: Any, roles: Collection[str]) -> None:
    """Raise ParameterError if an author's state would not add up.

    `state` is for columns with the names of the roles and the weight; `roles` lacks the weight.

    >>> state = State(sums={"mass": pl.col("weight")}, finish=lambda t: t.mas)
    >>> check("total", state, ["loss"])
    Traceback (most recent call last):
    evalframe.core.errors.ParameterError: metric total: its finish fails: no sum or term 'mas'.
    Did you mean 'mass'? There are: mass, n, n_missing
    """
    for stage in (_wrong_types, _wrong_names, _wrong_rows, _wrong_views, _wrong_finish):
        for complaint in stage(state, roles):
            raise ParameterError(f"metric {name}: {complaint}")


def complete(state: State, columns: Mapping[str, pl.Expr], labels: Collection[str]) -> State:
    """The state with incomplete rows left out and counted, and undefined as null.

    `columns` are the roles, and the weight if any; `labels` are roles of any dtype, which can be
    null but not NaN. What a sum adds up is a number, null for nothing, or a Boolean, whose true
    rows are counted; see `as_numbers`. Nothing is multiplied by the weight 1.
    """
    valid = _valid(state, columns, labels)

    def value(expr: pl.Expr) -> pl.Expr:
        expr = _unweighted(expr)
        if expr.meta.eq(ONE):
            return valid
        condition, then = parts_of_choice(expr)
        if condition is None or then is None:
            return pl.when(valid).then(expr.cast(pl.Float64))
        then = _unweighted(then)
        if then.meta.eq(ONE):
            return valid & condition
        return pl.when(valid & condition).then(then.cast(pl.Float64))

    def finish(totals: Totals) -> pl.Expr:
        # Not `fill_nan`, which computes what it fills twice.
        return state.finish(totals).cast(pl.Float64).replace(float("nan"), None)

    axes = tuple(
        replace(
            axis,
            sums={n: value(e) for n, e in axis.sums.items()},
            where=valid & all_hold(axis.where),
        )
        for axis in state.axes
    )
    left_out = {n: pl.when(~valid).then(e.cast(pl.Float64)) for n, e in state.left_out.items()}
    sums = {name: value(expr) for name, expr in state.sums.items()}
    return State(finish, sums | left_out | {N: valid, N_MISSING: ~valid}, axes, valid)


def _valid(state: State, columns: Mapping[str, pl.Expr], labels: Collection[str]) -> pl.Expr:
    """True for the rows that count, false for all others."""
    # Each role is read once, since a role may be a cast.
    required = [role for role in columns if role != WEIGHT and state.valid is None]
    conditions = [
        columns[role].is_not_null() if role in labels else columns[role].is_not_nan()
        for role in required
    ]
    if WEIGHT in columns:
        weight = columns[WEIGHT]
        conditions += [weight >= 0.0, weight.is_finite()]
    if state.valid is not None:
        conditions.append(state.valid)
    return all_hold(*conditions)


def _unweighted(expr: pl.Expr) -> pl.Expr:
    """An expression without the factor 1."""
    parts = expr.meta.pop()
    if len(parts) != 2 or not (parts[1] * parts[0]).meta.eq(expr):
        return expr
    right, left = parts
    if left.meta.eq(ONE):
        return right
    if right.meta.eq(ONE):
        return left
    return _unweighted(left) * right


def parts_of_choice(expr: pl.Expr) -> tuple[pl.Expr, pl.Expr] | tuple[None, None]:
    """The condition and the value of a `when` without `otherwise`."""
    parts = expr.meta.pop()
    if len(parts) != 3 or not pl.when(parts[0]).then(parts[2]).meta.eq(expr):
        return None, None
    return parts[0], parts[2]


def _wrong_types(state: Any, roles: Collection[str]) -> Iterator[str]:
    if not isinstance(state, State):
        yield f"it must return ef.State(...), got {type(state).__name__}"
        return
    axes: Any = state.axes
    finish: Any = state.finish
    if not isinstance(axes, tuple | list) or not all(isinstance(axis, Axis) for axis in axes):
        yield f"axes must be a list of ef.Axis(...), got {axes!r}"
        return
    if not callable(finish):
        yield f"finish must be a function, such as lambda t: ..., got {finish!r}"
    for kind, named, expected in _groups(state):
        if not hasattr(named, "items"):
            yield f'{kind}s must be named, such as {{"mass": weight}}, got {named!r}'
            return
        for name, value in named.items():
            if not isinstance(value, expected):
                of = "an expression" if expected is pl.Expr else f"a {expected.__name__}(...)"
                yield f"{kind} {name!r} must be {of}, got {value!r}"
    for part, expr in _row_parts(state):
        if not isinstance(expr, pl.Expr):
            yield f"{part} must be an expression, got {expr!r}"


def _wrong_names(state: State, roles: Collection[str]) -> Iterator[str]:
    sums: dict[str, pl.Expr] = {}
    for part in _summed(state):
        for name, expr in part.items():
            if not sums.setdefault(name, expr).meta.eq(expr):
                yield f"two different sums are named {name!r}; give one another name"
    for name in state.left_out:
        if any(name in axis.sums for axis in state.axes) or name in state.sums:
            yield f"a sum and one of left_out are named {name!r}; give one another name"
    if not sums:
        yield 'there is nothing to add up; name sums, such as sums={"mass": weight}'
    for name in sums:
        if name in (N, N_MISSING) or ":" in name:
            yield f"a sum cannot be named {name!r}, which is counted for every metric"
    terms = [name for axis in state.axes for name in axis.results]
    for name in terms:
        if terms.count(name) > 1 or name in sums:
            yield f"a term is named {name!r} as another term or sum is; give it another name"


def _wrong_rows(state: State, roles: Collection[str]) -> Iterator[str]:
    """Faults of expressions that read more than one row and its roles."""
    known = {*roles, WEIGHT}
    for part, expr in _row_parts(state):
        for name in sorted(columns_read([expr]) - known):
            yield (
                f"{part} reads the column {name!r}, which is no role of the metric."
                f"{did_you_mean(name, known)} Roles: {', '.join(roles)}; another one is a "
                f'parameter of the function, {name}="{name}"'
            )
        if not is_row_level(expr):
            yield (
                f"{part} is computed from other rows, {_shown(expr)}; give the expression of one "
                "row, which is added up afterwards"
            )
    for name, expr in _sums(state):
        if WEIGHT not in columns_read([expr]):
            yield (
                f"sum {name!r} leaves out the weight, so that weights would not count: "
                f"{_shown(expr)}. Multiply it by weight; the count of rows is weight itself"
            )


def _wrong_views(state: State, roles: Collection[str]) -> Iterator[str]:
    """Faults of axes: results that read more than one level and its views."""
    sums = dict(_sums(state))
    for axis in state.axes:
        reading = {f"term {name!r}": exprs for name, exprs in axis.results.items()}
        reading |= {"regroup": (axis.regroup,)} if axis.regroup is not None else {}
        reading |= {"hull": axis.hull} if axis.hull is not None else {}
        for reader, exprs in reading.items():
            for root in sorted(columns_read(exprs)):
                known = sums if root.endswith(TOTAL) else axis.sums
                base = root.removesuffix(TOTAL).removesuffix(BEFORE).removesuffix(OWN)
                if root != LEVEL and base not in known:
                    hint = did_you_mean(base, known)
                    yield (
                        f"{reader} reads {base!r}, but the sums are {sorted(known)}.{hint} "
                        "A term reads sums by ef.at, ef.before, ef.own or ef.total"
                    )
            for expr in exprs:
                if not is_row_level(expr):
                    yield (
                        f"{reader} is computed from other levels, {_shown(expr)}; give the "
                        "expression of one level: ef.at and ef.before are its running sums, and "
                        "terms are added up afterwards"
                    )


def _wrong_finish(state: State, roles: Collection[str]) -> Iterator[str]:
    names = [name for name, _ in _sums(state)]
    names += [name for axis in state.axes for name in axis.results]
    totals = Totals({name: pl.col(name) for name in (*dict.fromkeys(names), N, N_MISSING)})
    try:
        value: Any = state.finish(totals)
    except AttributeError as error:
        yield f"its finish fails: {error}"
        return
    if not isinstance(value, pl.Expr):
        yield f"its finish must return an expression, got {value!r}"
        return
    for name in sorted(columns_read([value]) - {*names, N, N_MISSING}):
        yield f"its finish reads the column {name!r}; it sees totals only, such as t.{names[0]}"
    if not is_row_level(value):
        yield (
            f"its finish is computed from other groups, {_shown(value)}; the value of a group "
            "must follow from its own totals, which are sums already"
        )


def _groups(state: Any) -> Iterator[tuple[str, Any, type[Any]]]:
    yield "sum", state.sums, pl.Expr
    yield "sum", state.left_out, pl.Expr
    for axis in state.axes:
        yield "sum", axis.sums, pl.Expr
        yield "term", axis.terms, pl.Expr
        yield "maximum", axis.maxima, pl.Expr
        yield "first", axis.firsts, First


def _summed(state: State) -> Iterator[Mapping[str, pl.Expr]]:
    yield from (state.sums, state.left_out, *(axis.sums for axis in state.axes))


def _sums(state: State) -> Iterator[tuple[str, pl.Expr]]:
    for part in _summed(state):
        yield from part.items()


def _row_parts(state: State) -> Iterator[tuple[str, Any]]:
    """Every expression of one row, with its name for messages."""
    for name, expr in _sums(state):
        yield f"sum {name!r}", expr
    for axis in state.axes:
        yield "level", axis.level
        yield "where", axis.where
    if state.valid is not None:
        yield "valid", state.valid


def _shown(expr: pl.Expr) -> str:
    text = str(expr)
    return text if len(text) <= 120 else f"{text[:117]}..."
