"""The edges of every result: group keys, checks of the columns read, the long table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.metric import Bound, MetricExpr
from evalframe.core.per import AnyBound, leaves_of, units_of
from evalframe.core.rows import as_expr, columns_read, is_row_level
from evalframe.core.state import WEIGHT
from evalframe.core.typing import Frame, IntoExpr

if TYPE_CHECKING:
    from evalframe.core.segments import Ints


RESULT = {
    "metric": pl.String(),
    "estimate": pl.Float64(),
    "std_error": pl.Float64(),
    "lower": pl.Float64(),
    "upper": pl.Float64(),
    "n": pl.Int64(),
    "n_missing": pl.Int64(),
    "n_clusters": pl.Int64(),
    "drop_rate": pl.Float64(),
}
"""Columns of every result, after the group keys."""

NESTED = {
    "n_units": pl.Int64(),
    "n_units_missing": pl.Int64(),
    "drawn": pl.String(),
    "unit_drop_rate": pl.Float64(),
}
"""Further columns if a metric over units is among the metrics; null for flat ones."""


@dataclass(frozen=True)
class Keys:
    """Group keys under internal names, so that no column of the user's can collide."""

    names: tuple[str, ...]
    exprs: tuple[pl.Expr, ...]

    @classmethod
    def of(
        cls, by: IntoExpr | Sequence[IntoExpr] | None, taken: Collection[str] = tuple(RESULT)
    ) -> Keys:
        """Keys from column names or expressions; the result's own columns are taken."""
        if by is None:
            by = []
        elif isinstance(by, str | pl.Expr) or not isinstance(by, Sequence):
            by = [by]
        exprs = tuple(as_expr(key) for key in by)
        names = tuple(expr.meta.output_name() for expr in exprs)
        clash = sorted(set(names) & set(taken))
        if clash:
            raise ParameterError(f"the result has a column {clash[0]!r} of its own; rename the key")
        if len(set(names)) < len(names):
            raise ParameterError(f"keys must have different names, got {list(names)}")
        return cls(names, exprs)

    @property
    def inner(self) -> list[str]:
        """The internal names."""
        return [f":key{i}" for i in range(len(self.names))]

    def select(self) -> list[pl.Expr]:
        """The keys under their internal names."""
        return [expr.alias(name) for expr, name in zip(self.exprs, self.inner, strict=True)]

    def restore(self) -> dict[str, str]:
        """Internal to public names."""
        return dict(zip(self.inner, self.names, strict=True))


def result_schema(frame: pl.LazyFrame, keys: Keys, metrics: Sequence[AnyBound]) -> pl.Schema:
    """Columns and dtypes of the result for these keys of this frame."""
    nested = NESTED if any(units_of(metric) for metric in metrics) else {}
    return pl.Schema({**frame.select(keys.exprs).collect_schema(), **RESULT, **nested})


def check_units(metrics: Sequence[AnyBound], keys: Keys) -> None:
    """Raise ParameterError if a group key is also a unit."""
    for metric in metrics:
        for unit in units_of(metric):
            for name, expr in unit.items():
                if any(expr.meta.eq(key) for key in keys.exprs):
                    raise ParameterError(
                        f"{name!r} is a group key and a unit of {metric.name!r}: each group would "
                        "have one"
                    )


def check_columns(frame: pl.LazyFrame, metrics: Sequence[pl.Expr], *others: pl.Expr) -> None:
    """Raise if the frame lacks a column that is read, or a role of a metric is no number."""
    present = frame.collect_schema().names()
    for expr in metrics:
        bounds = leaves_of(expr.bound) if isinstance(expr, MetricExpr) else []
        exprs = [column for bound in bounds for column in bound.columns.values()] or [expr]
        if isinstance(expr, MetricExpr):
            exprs += [each for unit in units_of(expr.bound) for each in unit.values()]
        missing = columns_read(exprs) - set(present)
        if missing:
            raise MissingColumnsError.of(f"metric {expr.meta.output_name()!r}", missing, present)
        others_rows = [e for e in exprs if not is_row_level(e)]
        if isinstance(expr, MetricExpr) and others_rows:
            raise ParameterError(
                f"metric {expr.bound.name!r}: a column of it is computed from other rows, "
                f"{others_rows[0].meta.undo_aliases()}; groups, shards and resamples would each "
                "give another one. Add it to the table first, by with_columns(...)"
            )
        for bound in bounds:
            _check_types(frame, bound)
    missing = columns_read(others) - set(present)
    if missing:
        raise MissingColumnsError.of("the grouping", missing, present)


def check_row_level(*groups: pl.Expr) -> None:
    """Raise ParameterError if a key or a cluster of shards is no value of its row."""
    for expr in groups:
        if not is_row_level(expr):
            raise ParameterError(
                f"{expr.meta.output_name()!r} is computed from other rows, and each shard would "
                "give another one; add it to the table first, by with_columns(...)"
            )


def _check_types(frame: pl.LazyFrame, bound: Bound) -> None:
    exprs = {**bound.roles} if bound.weight is None else {**bound.roles, WEIGHT: bound.weight}
    types = frame.select(**exprs).collect_schema()
    labels = [role for role in bound.metric.labels if role in types and types[role].is_float()]
    for role, dtype in types.items():
        if dtype == pl.Boolean and role not in (*bound.metric.labels, WEIGHT) and labels:
            raise ParameterError(
                f"metric {bound.name!r}: {role} is true or false, {exprs[role]}, and {labels[0]} "
                f"a fraction, {exprs[labels[0]]}; are they swapped? Name them: {role}=..., "
                f"{labels[0]}=..."
            )
        number = dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)
        if not number and role not in bound.metric.labels:
            raise ParameterError(
                f"metric {bound.name!r}: {role} must be a number, but {exprs[role]} is {dtype}; "
                "cast it, or compute the number first"
            )


def starts_of_groups(frame: pl.DataFrame, keys: Sequence[str]) -> Ints:
    """Offsets of the runs of equal keys in a frame sorted by them; one run if there are none."""
    import numpy as np

    if not keys:
        return np.array([0, len(frame)], dtype=np.int64)
    if not len(frame):
        return np.zeros(1, dtype=np.int64)
    changed = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift(1)) for key in keys)
    first = frame.select(changed.alias("first")).to_series().to_numpy().copy()
    first[0] = True
    return np.append(np.flatnonzero(first), len(frame))


def starts_if_ordered(frame: pl.DataFrame, keys: Sequence[str], level: str) -> Ints | None:
    """Offsets of groups, if rows are sorted by keys and level and no level repeats in a group.

    None if they are not sorted. None, too, if most groups have one row: the check would then take
    as long as the sort that it can save.
    """
    import numpy as np

    starts = starts_of_groups(frame, keys)
    if 2 * (len(starts) - 1) > len(frame):
        return None
    if keys:
        heads = frame.select(keys)[starts[:-1]]
        if not heads.equals(heads.unique().sort(keys)):
            return None
    levels = frame[level].fill_null(-np.inf).to_numpy()
    rises = np.ones(len(levels), dtype=np.bool_)
    np.greater(levels[1:], levels[:-1], out=rises[1:])
    rises[starts[:-1]] = True
    return starts if rises.all() else None


def side_by_side(
    units: Sequence[tuple[str, ...]], parts: Sequence[pl.DataFrame], keys: list[str]
) -> dict[tuple[str, ...], pl.DataFrame]:
    """Totals of numbered blocks as columns `<block>:<name>`, by the columns of their units.

    Blocks of the same units have the same groups, sorted.
    """
    named: dict[tuple[str, ...], list[pl.DataFrame]] = {}
    for number, (inner, part) in enumerate(zip(units, parts, strict=True)):
        mine = {*keys, *inner}
        part = part.rename({name: f"{number}:{name}" for name in part.columns if name not in mine})
        others = named.setdefault(inner, [])
        if others and not others[0].select(mine).equals(part.select(mine)):
            raise ParameterError(
                "the state lacks rows: its sums are of different groups; make it anew"
            )
        others.append(part.drop(mine) if others else part)
    return {inner: pl.concat(some, how="horizontal") for inner, some in named.items()}


def matched(
    left: pl.DataFrame, right: pl.DataFrame, keys: Sequence[str], how: Literal["inner", "left"]
) -> pl.DataFrame:
    """The join of two tables by keys of groups, in the order of the first; null is a key, and NaN.

    Examples:
        >>> one = pl.DataFrame({"key": [float("nan")]})
        >>> matched(one, one.with_columns(place=0), ["key"], "left").rows()
        [(nan, 0)]
    """
    query = left.lazy().join(
        right.lazy(), on=list(keys), how=how, nulls_equal=True, maintain_order="left"
    )
    # In memory Polars takes a single NaN for different from a single NaN.
    return query.collect(engine="streaming" if len(left) == len(right) == 1 else "in-memory")


def finished(long: pl.DataFrame, keys: Keys, order: Sequence[str]) -> pl.DataFrame:
    """The result with all its columns, in order of keys and then of the metrics asked for."""
    present = long.columns
    columns = RESULT | (NESTED if "n_units" in present else {})
    filled = [
        (pl.col(name).fill_nan(None) if dtype == pl.Float64 else pl.col(name))
        if name in present
        else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in columns.items()
    ]
    rank = pl.col("metric").replace_strict(list(order), list(range(len(order))))
    return (
        long.select(*keys.inner, *filled)
        .with_columns(rank.alias(":rank"))
        .sort([*keys.inner, ":rank"])
        .drop(":rank")
        .rename(keys.restore())
    )


def stateless(frame: pl.LazyFrame, keys: Keys, exprs: Sequence[pl.Expr]) -> pl.DataFrame:
    """The long result of expressions that declare no state."""
    names = [f":value{i}" for i in range(len(exprs))]
    values = [expr.alias(name) for expr, name in zip(exprs, names, strict=True)]
    rows = [
        pl.struct(
            pl.lit(expr.meta.output_name()).alias("metric"),
            pl.col(name).cast(pl.Float64).alias("estimate"),
            pl.col(":n").cast(pl.Int64).alias("n"),
        )
        for expr, name in zip(exprs, names, strict=True)
    ]
    keyed, counted = frame.with_columns(keys.select()), [*values, pl.len().alias(":n")]
    wide = keyed.group_by(keys.inner).agg(counted) if keys.inner else keyed.select(counted)
    long = wide.select(*keys.inner, pl.concat_list(rows).alias(":rows")).collect()
    return long.explode(":rows", empty_as_null=False).unnest(":rows")


def split(metrics: Sequence[pl.Expr]) -> tuple[list[AnyBound], list[pl.Expr]]:
    """Metrics that declare a state, and expressions that do not; their names must differ."""
    names = [expr.meta.output_name() for expr in metrics]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ParameterError(
            f"two metrics are named {twice[0]!r}; give one another name with .alias(...)"
        )
    bounds = [expr.bound for expr in metrics if isinstance(expr, MetricExpr)]
    return bounds, [expr for expr in metrics if not isinstance(expr, MetricExpr)]


def declared(metrics: Sequence[pl.Expr], lacking: str) -> list[AnyBound]:
    """Metrics that all declare a state; ParameterError, which says what is `lacking` without."""
    bounds, others = split(metrics)
    if others:
        raise ParameterError(
            f"{others[0].meta.output_name()!r} declares no state, so {lacking}; "
            "declare it with @ef.metric"
        )
    return bounds


def lazy(frame: Frame) -> pl.LazyFrame:
    """The frame as a lazy one; ParameterError if it is none."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame.lazy()
    raise ParameterError(
        f"expected a table (of Polars, pandas, pyarrow or DuckDB, or a path), got "
        f"{type(frame).__name__}; pl.DataFrame(...) makes one of lists and dicts"
    )
