"""Responses as rows of numbers, joined with their design; and those that the design lacks.

A row has its measures, the indices of its condition and category, and is valid or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.effects.types import SIDES, Side
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
    compared,
    is_text,
    keys_like,
    keys_of,
    numbered_design,
    places,
)
from evalframe.replication.participants.formulas import STATISTICS

_COLUMNS = (
    Column("value", ("number", "boolean", "string"), required=False, meaning="the measure"),
    Column(
        "value_2", ("number", "boolean", "string"), required=False, meaning="the second measure"
    ),
    Column("condition", "value", required=False),
)

_MOST = 2.0**53
"""Up to this a float is exact for whole numbers."""


X, Y, WEIGHT, VALID = ":x", ":y", ":weight", ":valid"
"""Measures, weight, and true for rows that count; in other rows the first three are 0."""

SCALE = ":scale"
"""Magnitude of the two numbers whose difference is the measure, else 0."""

CLUSTER = ":cluster"

GROUP = ":group"
"""Index of a test of a group."""

_VALUE = ":said"
"""The value in the type of categories."""

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
        tests: Key columns of tests.
    """

    table: pl.LazyFrame
    design: pl.DataFrame
    keys: Keys
    tests: list[str]

    @property
    def units(self) -> list[str]:
        """Columns that identify a test of a group."""
        return [*self.keys.inner, TEST]


def rows_of(
    responses: Frame,
    design: Frame,
    by: IntoExpr | Sequence[IntoExpr] | None,
    side: Side,
    weight: IntoExpr | None = None,
    cluster: IntoExpr | None = None,
) -> Rows:
    """Responses joined with their design."""
    if side not in SIDES:
        raise ParameterError(f'side must be "human" or "agent", got {side!r}')
    tests = keys_of(design)
    known = numbered_design(design)
    table = lazy(responses)
    schema = table.collect_schema()
    present = schema.names()
    of_side = (f"{name}_{side}" for name in (*STATISTICS, "n_missing"))
    keys = Keys.of(by, (*tests, "test_type", "replicate", *of_side))
    required = {*tests, "value"}
    required |= {"condition"} if known["conditions"].is_not_null().any() else set()
    for expr in (*keys.exprs, *(as_expr(e) for e in (weight, cluster) if e is not None)):
        required |= {*expr.meta.root_names()}
    if missing := required - {*present}:
        raise MissingColumnsError.of("test statistics", missing, present)
    check_types(schema)
    alike = keys_like(known.schema, schema, tests)
    attributes = known.lazy().select(*alike, TEST, KIND, "null_value", "n_conditions")
    if weight is not None:
        _check_weights(table, as_expr(weight), tests)
    for name in ("value", "value_2"):
        if name in schema and is_text(schema[name]):
            _check_numbers(table, name, alike, attributes)
    by_condition = places(known, schema.get("condition", pl.Null()))
    by_value = category_places(known, schema["value"]).rename({"value": _VALUE})
    in_design = by_condition.schema["condition"]
    condition = pl.lit(None, dtype=in_design)
    if "condition" in schema:
        condition = compared(pl.col("condition"), schema["condition"], in_design)
    read = table.select(
        *alike,
        *keys.select(),
        _number("value", schema).alias(X),
        _number("value_2", schema).alias(Y),
        as_category(pl.col("value"), schema["value"], by_value.schema[_VALUE]).alias(_VALUE),
        condition.alias("condition"),
        (pl.lit(1.0) if weight is None else as_expr(weight).cast(pl.Float64)).alias(WEIGHT),
        (pl.lit(None) if cluster is None else as_expr(cluster)).alias(CLUSTER),
    )
    joined = read.join(attributes, on=tests, nulls_equal=True)
    placed = joined.join(by_condition.lazy(), on=[TEST, "condition"], how="left").join(
        by_value.lazy(), on=[TEST, _VALUE], how="left"
    )
    return Rows(_valid(placed, [*keys.inner, TEST]), known, keys, tests)


def _number(name: str, schema: pl.Schema) -> pl.Expr:
    """The column as Float64; null if missing, infinite, or a text that is no number."""
    if name not in schema:
        return pl.lit(None, dtype=pl.Float64)
    value = compared(pl.col(name), schema[name], pl.Float64())
    return pl.when(value.is_finite()).then(value)


def as_category(value: pl.Expr, dtype: pl.DataType, shared: pl.DataType) -> pl.Expr:
    """The value in the type of categories; NaN and infinity are no answers."""
    answer = pl.when(value.is_finite()).then(value) if dtype.is_float() else value
    return compared(answer, dtype, shared)


def _valid(placed: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Mask rows that do not count, and centre measures of samples."""
    # About the mean of the test, large measures that differ little lose no digits.
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


def check_types(schema: pl.Schema) -> None:
    """Raise ContractError if a measure or condition is a date, a list or the like."""
    Contract("responses", _COLUMNS).check_schema(schema)


def _check_weights(responses: pl.LazyFrame, weight: pl.Expr, keys: Sequence[str]) -> None:
    """Raise ContractError unless weights are whole numbers of 0 or more, null or NaN."""
    name = weight.meta.output_name()
    read = responses.select(**{key: pl.col(key) for key in keys} | {name: weight})
    column = Column(name, ("number", "boolean"), meaning="the weight")
    Contract("responses", (column,)).check_schema(read.collect_schema())
    number = pl.col(name).cast(pl.Float64).fill_nan(None)
    is_whole = number.is_between(0, _MOST) & (number == number.floor())
    remedy = f"let {name!r} say how often the participant counts, or null for not at all"
    _check(read, Rule(f"{name} is a whole number of 0 or more", is_whole, (*keys, name), remedy))


def _check_numbers(
    responses: pl.LazyFrame, name: str, keys: Sequence[pl.Expr], tests: pl.LazyFrame
) -> None:
    """Raise ContractError if a test on numbers has a text that is no number."""
    text = pl.col(name).cast(pl.String)
    names = [key.meta.output_name() for key in keys]
    # Rows of the same number as the caller's.
    placed = responses.select(*keys, text).join(
        tests, on=names, how="left", nulls_equal=True, maintain_order="left"
    )
    number = pl.col(KIND).is_in(COUNTED) | text.cast(pl.Float64, strict=False).is_not_null()
    remedy = (
        f"write numbers in {name!r}, and null for no answer; texts are for the categories of "
        "chi-square and binomial tests"
    )
    holds = number | text.is_null()
    _check(placed, Rule(f"{name} is a number in tests on numbers", holds, (*names, name), remedy))


def _check(table: pl.LazyFrame, rule: Rule) -> None:
    if table.select(rule.broken.any()).collect().item():
        validate(table, Contract("responses", (), (rule,)))


_SORTED, _CONDITION = ":sorted", ":condition"

NO_TEST, NO_CONDITION, NO_CATEGORY = "no such test", "no such condition", "no such category"


@like_input
def unmatched_responses(responses: Frame, design: Frame) -> pl.LazyFrame:
    """Responses that enter no statistic, because the design lacks their test or value.

    Most often a name is written in two ways. Missing values are not among them.

    Args:
        responses: As in `participant_statistics`.
        design: As in `participant_statistics`.

    Returns:
        The keys of the design, `reason` (`no such test`, `no such condition`, `no such category`),
        `found` (the condition or category as text, null for a test) and `rows` (Int64), sorted.
        Lazy if `responses` is.

    Raises:
        MissingColumnsError: A table lacks a column.
        ContractError: The design breaks its contract, or cannot be compared with the responses.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> keys = {"study_id": "s1", "finding_id": "F1"}
        >>> people = {"condition": ["red", "Red"], "value": [1.0, 2.0]}
        >>> design = pl.DataFrame({**keys, "test_type": "anova", "conditions": [["red", "blue"]]})
        >>> ef.replication.unmatched_responses(pl.DataFrame({**keys, **people}), design).rows()
        [('s1', 'F1', 'no such condition', 'Red', 1)]
    """
    keys, known, table = keys_of(design), numbered_design(design), lazy(responses)
    schema = table.collect_schema()
    present = schema.names()
    if missing := {*keys, "value"} - {*present}:
        raise MissingColumnsError.of("unmatched_responses", missing, present)
    check_types(schema)
    alike = keys_like(known.schema, schema, keys)
    theirs, measure = schema.get("condition", pl.Null()), schema["value"]
    by_condition = places(known, theirs).rename({"condition": _CONDITION})
    by_value = category_places(known, measure).rename({"value": _VALUE})
    condition = pl.col("condition") if "condition" in present else pl.lit(None)
    value = pl.col("value")
    number = value.cast(pl.Float64).fill_nan(None) if measure.is_numeric() else value
    read = table.select(
        *alike,
        condition.cast(pl.String).alias("condition"),
        number.cast(pl.String).alias("value"),
        compared(condition, theirs, by_condition.schema[_CONDITION]).alias(_CONDITION),
        as_category(value, measure, by_value.schema[_VALUE]).alias(_VALUE),
    )
    counted = by_value.select(TEST).unique().with_columns(pl.lit(True).alias(_SORTED))
    placed = (
        read.join(
            known.lazy().select(*alike, TEST, "conditions"), on=keys, how="left", nulls_equal=True
        )
        .join(by_condition.lazy(), on=[TEST, _CONDITION], how="left")
        .join(by_value.lazy(), on=[TEST, _VALUE], how="left")
        .join(counted.lazy(), on=TEST, how="left")
    )
    no_condition = pl.col("conditions").is_not_null() & pl.col(PLACE).is_null()
    no_category = pl.col(_SORTED) & pl.col(CATEGORY).is_null() & pl.col("value").is_not_null()
    reasons = (
        (pl.col(TEST).is_null(), NO_TEST, pl.lit(None, dtype=pl.String)),
        (no_condition, NO_CONDITION, pl.col("condition")),
        (no_category, NO_CATEGORY, pl.col("value")),
    )
    parts = [
        placed.filter(broken).select(*keys, pl.lit(reason).alias("reason"), value.alias("found"))
        for broken, reason, value in reasons
    ]
    columns = [*keys, "reason", "found"]
    counts = pl.concat(parts).group_by(columns).agg(pl.len().cast(pl.Int64).alias("rows"))
    return counts.sort(columns)
