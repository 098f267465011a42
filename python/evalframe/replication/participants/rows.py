"""Responses as rows of numbers: measures, numbers of condition and category, and whether valid."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.replication.contract import SIDES
from evalframe.replication.participants import design as designs
from evalframe.replication.participants.design import (
    ANOVA,
    BINOMIAL_TEST,
    CATEGORY,
    CHI_SQUARED,
    KIND,
    ONE_SAMPLE,
    PAIRED,
    PEARSON,
    PLACE,
    RANK_SUM,
    SPEARMAN,
    TEST,
    TWO_SAMPLES,
    keys_of,
    numbered_design,
)
from evalframe.replication.participants.formulas import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.replication.contract import Side

X, Y, WEIGHT, VALID = ":x", ":y", ":weight", ":valid"
"""Measures, multiplicity, and whether the row counts: else the other three are 0."""

SCALE = ":scale"
"""Size of the numbers whose difference a measure is, else 0."""

CLUSTER = ":cluster"

GROUP = ":group"
"""Number of a test of a group, among all of them."""

_COUNTED = (CHI_SQUARED, BINOMIAL_TEST)
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
        ContractError: The design breaks its contract.
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
    alike = designs.keys_like(known, schema, tests)
    attributes = known.select(*alike, TEST, KIND, "null_value", "n_conditions")
    read = table.select(
        *tests,
        *keys.select(),
        _number("value", present).alias(X),
        _number("value_2", present).alias(Y),
        _text("condition", present).alias("condition"),
        (pl.lit(1.0) if weight is None else as_expr(weight).cast(pl.Float64)).alias(WEIGHT),
        (pl.lit(None) if cluster is None else as_expr(cluster)).alias(CLUSTER),
    )
    joined = read.join(attributes.lazy(), on=tests, nulls_equal=True)
    by_condition = designs.places(known).lazy()
    by_value = designs.category_places(known).rename({"value": X}).lazy()
    placed = joined.join(by_condition, on=[TEST, "condition"], how="left").join(
        by_value, on=[TEST, X], how="left"
    )
    return Rows(_valid(placed, [*keys.inner, TEST]), known, keys, tests)


def _number(name: str, present: Sequence[str]) -> pl.Expr:
    """The column as Float64, null where it is missing or infinite."""
    if name not in present:
        return pl.lit(None, dtype=pl.Float64)
    value = pl.col(name).cast(pl.Float64)
    return pl.when(value.is_finite()).then(value)


def _text(name: str, present: Sequence[str]) -> pl.Expr:
    return pl.col(name).cast(pl.String) if name in present else pl.lit(None, dtype=pl.String)


def _valid(placed: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Rows that do not count masked; measures of samples taken about the mean of their test.

    Differences of means then lose nothing where measures are large and differ little.
    """
    kind, x, y, place = pl.col(KIND), pl.col(X), pl.col(Y), pl.col(PLACE)
    counted, twofold = kind.is_in(_COUNTED), kind.is_in(_TWO_MEASURES)
    valid = (
        (place.is_not_null() | pl.col("n_conditions").is_null())
        & (pl.col(CATEGORY).is_not_null() | ~counted)
        & x.is_not_null()
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
