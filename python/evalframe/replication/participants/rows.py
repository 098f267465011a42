"""Responses as rows of numbers: measures, numbers of condition and category, and whether valid."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.replication.effects.types import SIDES
from evalframe.replication.participants.checks import (
    check_numbers,
    check_types,
    check_weights,
    text_measures,
)
from evalframe.replication.participants.design import (
    ANOVA,
    CATEGORY,
    CHI_SQUARED,
    COUNTED,
    KIND,
    ONE_SAMPLE,
    PAIRED,
    PEARSON,
    PLACE,
    RANK_SUM,
    SPEARMAN,
    TEST,
    TWO_SAMPLES,
    category_places,
    keys_of,
    numbered_design,
    places,
)
from evalframe.replication.participants.formulas import STATISTICS
from evalframe.replication.participants.matching import compared, keys_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.replication.effects.types import Side

X, Y, WEIGHT, VALID = ":x", ":y", ":weight", ":valid"
"""Measures, multiplicity, and whether the row counts: else the other three are 0."""

SCALE = ":scale"
"""Size of the numbers whose difference a measure is, else 0."""

CLUSTER = ":cluster"

GROUP = ":group"
"""Number of a test of a group, among all of them."""

_SAID = ":said"
"""The value as categories are compared with it."""

_CORRELATED = (PEARSON, SPEARMAN)
_TWO_MEASURES = (PAIRED, *_CORRELATED)
_SHIFTED = (TWO_SAMPLES, PAIRED, ONE_SAMPLE)
_SEVERAL = (TWO_SAMPLES, ANOVA, RANK_SUM, CHI_SQUARED)


class Rows(NamedTuple):
    """Responses of the tests of a design.

    Attributes:
        table: `:test`, the keys of `by` under internal names, `:kind`, `:place`, `:category`,
            `:x`, `:y`, `:scale`, `:weight`, `:valid`, `:cluster`; lazy.
        design: The design, complete and numbered.
        keys: The keys of `by`.
        tests: Key columns of tests.
    """

    table: pl.LazyFrame
    design: pl.DataFrame
    keys: Keys
    tests: list[str]

    @property
    def units(self) -> list[str]:
        """What identifies a test of a group."""
        return [*self.keys.inner, TEST]


def rows_of(
    responses: Frame,
    design: Frame,
    by: IntoExpr | Sequence[IntoExpr] | None,
    side: Side,
    weight: IntoExpr | None = None,
    cluster: IntoExpr | None = None,
) -> Rows:
    """Responses joined with their design.

    Raises:
        MissingColumnsError: A table lacks a column.
        UnknownNameError: A test type is not known.
        ContractError: The design breaks its contract, or the responses are not what it needs: a
            key, measure, condition or weight of another type, a weight that is no whole number.
        ParameterError: There is no such side.
    """
    if side not in SIDES:
        raise ParameterError(f'side must be "human" or "agent", got {side!r}')
    tests = keys_of(design)
    known = numbered_design(design)
    table = lazy(responses)
    schema = table.collect_schema()
    present = schema.names()
    own = (f"{name}_{side}" for name in (*STATISTICS, "n_missing"))
    keys = Keys.of(by, (*tests, "test_type", "replicate", *own))
    needed = {*tests, "value"}
    needed |= {"condition"} if known["conditions"].is_not_null().any() else set()
    for expr in (*keys.exprs, *(as_expr(e) for e in (weight, cluster) if e is not None)):
        needed |= {*expr.meta.root_names()}
    if missing := needed - {*present}:
        raise MissingColumnsError.of("test statistics", missing, present)
    check_types(schema)
    alike = keys_like(known.schema, schema, tests)
    attributes = known.lazy().select(*alike, TEST, KIND, "null_value", "n_conditions")
    if weight is not None:
        check_weights(table, as_expr(weight), tests)
    for name in text_measures(schema):
        check_numbers(table, name, alike, attributes)
    by_condition = places(known, schema.get("condition", pl.Null()))
    by_value = category_places(known, schema["value"]).rename({"value": _SAID})
    read = table.select(
        *alike,
        *keys.select(),
        _number("value", schema).alias(X),
        _number("value_2", schema).alias(Y),
        said(pl.col("value"), schema["value"], by_value.schema[_SAID]).alias(_SAID),
        _condition(schema, by_condition.schema["condition"]).alias("condition"),
        (pl.lit(1.0) if weight is None else as_expr(weight).cast(pl.Float64)).alias(WEIGHT),
        (pl.lit(None) if cluster is None else as_expr(cluster)).alias(CLUSTER),
    )
    joined = read.join(attributes, on=tests, nulls_equal=True)
    placed = joined.join(by_condition.lazy(), on=[TEST, "condition"], how="left").join(
        by_value.lazy(), on=[TEST, _SAID], how="left"
    )
    return Rows(_valid(placed, [*keys.inner, TEST]), known, keys, tests)


def _number(name: str, schema: pl.Schema) -> pl.Expr:
    """The column as Float64, null where it is missing, infinite, or a text that is no number."""
    if name not in schema:
        return pl.lit(None, dtype=pl.Float64)
    value = compared(pl.col(name), schema[name], pl.Float64())
    return pl.when(value.is_finite()).then(value)


def said(value: pl.Expr, dtype: pl.DataType, shared: pl.DataType) -> pl.Expr:
    """The value as categories are compared with it; NaN and infinity are no answers."""
    answer = pl.when(value.is_finite()).then(value) if dtype.is_float() else value
    return compared(answer, dtype, shared)


def _condition(schema: pl.Schema, shared: pl.DataType) -> pl.Expr:
    if "condition" not in schema:
        return pl.lit(None, dtype=shared)
    return compared(pl.col("condition"), schema["condition"], shared)


def _valid(placed: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Rows that do not count masked; measures of samples taken about the mean of their test.

    Differences of means then lose nothing where measures are large and differ little.
    """
    kind, x, y, place = pl.col(KIND), pl.col(X), pl.col(Y), pl.col(PLACE)
    counted, twofold = kind.is_in(COUNTED), kind.is_in(_TWO_MEASURES)
    valid = (
        (place.is_not_null() | pl.col("n_conditions").is_null())
        & pl.when(counted).then(CATEGORY).otherwise(X).is_not_null()
        & (y.is_not_null() | ~twofold)
    )
    shifted = pl.when(kind.is_in(_SHIFTED) & (place.fill_null(0) == 0)).then("null_value")
    measure = x - pl.when(kind == PAIRED).then(y).otherwise(0.0) - shifted.otherwise(0.0)
    several = kind.is_in([TWO_SAMPLES, ANOVA])
    masked = placed.with_columns(
        valid.alias(VALID),
        pl.when(valid & ~counted).then(measure).alias(X),
        pl.when(valid & kind.is_in(_CORRELATED)).then(y).otherwise(0.0).alias(Y),
        pl.when(valid & (kind == PAIRED)).then(x.abs() + y.abs()).fill_null(0.0).alias(SCALE),
        pl.when(kind.is_in(_SEVERAL)).then(place).fill_null(0).alias(PLACE),
        pl.col(CATEGORY).fill_null(0),
        pl.col(WEIGHT).fill_nan(None).fill_null(0.0),
    )
    mean = pl.col(X).mean().over(units)
    centre = pl.when(several).then(mean).otherwise(0.0)
    columns = (KIND, PLACE, CATEGORY, Y, SCALE, WEIGHT, VALID, CLUSTER)
    return masked.select(*units, (pl.col(X) - centre).fill_null(0.0).alias(X), *columns)
