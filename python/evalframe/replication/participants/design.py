"""Designs: how responses become a statistic, and the types in which both are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.replication.contract import KEYS, designs_contract, samples_of_design
from evalframe.replication.effects.kinds import form_of, kind_of_design, unknown_type

if TYPE_CHECKING:
    from polars.datatypes import DataTypeClass


_WIDE = (pl.UInt64(), pl.Int128())
"""Integers that do not fit into Int64."""

TWO_SAMPLES, PAIRED, ONE_SAMPLE, ANOVA = "two samples", "paired", "one sample", "anova"
PEARSON, SPEARMAN = "pearson", "spearman"
CHI_SQUARED, RANK_SUM, BINOMIAL_TEST = "chi-square", "rank sum", "binomial"

COUNTED = (CHI_SQUARED, BINOMIAL_TEST)
"""Kinds that count categories, which can be texts."""

TEST, KIND, PLACE, CATEGORY = ":test", ":kind", ":place", ":category"
"""Index of the test in the design, its kind, indices of condition and category, from 0."""

_OPTIONAL = {
    "samples": pl.String(),
    "conditions": pl.List(pl.String()),
    "categories": pl.List(pl.Float64()),
    "p0": pl.Float64(),
    "null_value": pl.Float64(),
}
_KINDS = {
    "t": TWO_SAMPLES,
    "f": ANOVA,
    "correlation": PEARSON,
    "chi_square": CHI_SQUARED,
    "rank": RANK_SUM,
    "binomial": BINOMIAL_TEST,
}
_EVEN = 0.5


def is_text(dtype: pl.DataType | DataTypeClass) -> bool:
    """True for texts, plain or encoded."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def shared_type(ours: pl.DataType, theirs: pl.DataType) -> pl.DataType:
    """The type in which values of a design and of responses are compared.

    The design decides: its texts are compared as texts, its numbers as numbers; a boolean is a
    text if the other is a text, else a number.
    """
    if ours == theirs:
        return ours
    if ours.is_integer() and theirs.is_integer():
        return pl.Int128() if {ours, theirs} & {*_WIDE} else pl.Int64()
    if ours.is_numeric() or (ours == pl.Boolean() and not is_text(theirs)):
        return pl.Float64()
    return pl.String()


def compared(column: pl.Expr, dtype: pl.DataType, shared: pl.DataType) -> pl.Expr:
    """A column in the type in which it is compared, null if it cannot be cast.

    A whole number has no decimal point as text, so that 1.0 and "1" are the same.
    """
    if shared == pl.String() and dtype.is_numeric() and not dtype.is_integer():
        integer = column.cast(pl.Int64, strict=False)
        text = pl.when(integer == column).then(integer.cast(pl.String))
        return text.otherwise(column.cast(pl.String))
    if is_text(dtype):
        column = column.cast(pl.String)  # an Enum is no number, whatever it says
    return column if dtype == shared else column.cast(shared, strict=False)


def keys_like(design: pl.Schema, responses: pl.Schema, keys: Sequence[str]) -> list[pl.Expr]:
    """The keys in types in which both tables can be joined; else ContractError."""
    types = {}
    for name in keys:
        ours, theirs = design[name], responses[name]
        if _family(ours) != _family(theirs) and pl.Null() not in (ours, theirs):
            raise ContractError(
                f"{name!r} is {theirs} in the responses, but {ours} in the design. Cast one: "
                f"design.with_columns(pl.col({name!r}).cast(pl.{theirs}))."
            )
        types[name] = shared_type(ours, theirs)
    return [pl.col(name).cast(dtype) for name, dtype in types.items()]


def _family(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "number"
    return "text" if is_text(dtype) else str(dtype)


def keys_of(design: Frame) -> list[str]:
    """Key columns of the design, by which it is joined with responses."""
    present = lazy(design).collect_schema().names()
    return [name for name in KEYS if name in present]


def numbered_design(design: Frame) -> pl.DataFrame:
    """The design, checked, complete and sorted by its keys, with indices and kinds of tests."""
    keys = keys_of(design)
    table = lazy(design).collect()
    if missing := {"study_id", "finding_id", "test_type"} - {*table.columns}:
        raise MissingColumnsError.of("the design of tests", missing, table.columns)
    optional = {name: name if name in keys else None for name in ("sub_study_id", "test_id")}
    contract = designs_contract(sub_study_id=optional["sub_study_id"], test_id=optional["test_id"])
    contract.check_schema(table.schema)
    tests = table.select(pl.col("test_type").cast(pl.String))
    for (name,) in tests.filter(kind_of_design("test_type").is_null()).drop_nulls().head(1).rows():
        raise unknown_type(name)
    types = {**_OPTIONAL, **_list_types(table.schema)}
    complete = table.with_columns(
        (pl.col(name) if name in table.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in types.items()
    ).select(*keys, pl.col("test_type").cast(pl.String), *_OPTIONAL)
    validate(complete, contract)
    complete = complete.with_columns(samples_of_design().alias("samples"))
    ranked = form_of("test_type") == "ranks"
    named = kind_of_design("test_type").replace_strict(_KINDS)
    kind = pl.when(ranked).then(pl.lit(SPEARMAN)).otherwise(named)
    independent = pl.col("samples") == "independent"
    single = (kind == TWO_SAMPLES) & ~independent
    differences = pl.col("samples") == "paired"
    which = pl.when(differences).then(pl.lit(PAIRED)).otherwise(pl.lit(ONE_SAMPLE))
    counted = pl.col("conditions").list.len().cast(pl.Int64)
    return (
        complete.sort(keys, maintain_order=True)
        .with_columns(
            pl.when(single).then(which).otherwise(kind).alias(KIND),
            pl.col("p0").fill_null(_EVEN),
            pl.col("null_value").fill_null(0.0),
            counted.alias("n_conditions"),
            pl.col("categories").list.len().cast(pl.Int64).fill_null(2).alias("n_categories"),
        )
        .with_row_index(TEST)
        .with_columns(pl.col(TEST).cast(pl.Int64))
    )


def _list_types(schema: pl.Schema) -> dict[str, pl.DataType]:
    """Types of the lists in the design, of texts, numbers or booleans; else ContractError."""
    types: dict[str, pl.DataType] = {}
    for name in ("conditions", "categories"):
        dtype = schema.get(name, pl.Null())
        inner = dtype.inner if isinstance(dtype, pl.List | pl.Array) else dtype
        if pl.Null() == inner:
            continue
        single = inner.is_numeric() or inner == pl.Boolean() or is_text(inner)
        if inner is dtype or not single:
            raise ContractError(
                f"design: column {name!r} is {dtype}, not a list of texts, numbers or booleans. "
                "Give each test a list: pl.Series([['first', 'second'], ...])."
            )
        types[name] = pl.List(pl.String() if is_text(inner) else inner)
    return types


def places(design: pl.DataFrame, theirs: pl.DataType) -> pl.DataFrame:
    """Test, condition and its index; conditions in the type in which they are compared."""
    named = _numbered(design, "conditions", "condition", PLACE)
    ours = named.schema["condition"]
    return named.with_columns(compared(pl.col("condition"), ours, shared_type(ours, theirs)))


def category_places(design: pl.DataFrame, theirs: pl.DataType) -> pl.DataFrame:
    """Test, value and its index, for tests on categories."""
    tests = design.filter(pl.col(KIND).is_in(COUNTED))
    values = pl.Series([True, False] if theirs == pl.Boolean() else [1, 0])
    usual = pl.DataFrame({"value": values, CATEGORY: pl.Series([0, 1], dtype=pl.Int64())})
    unnamed = tests.filter(pl.col("categories").is_null()).select(TEST).join(usual, how="cross")
    named = _numbered(tests, "categories", "value", CATEGORY)
    shared = shared_type(named.schema["value"], theirs)
    return pl.concat(
        part.with_columns(compared(pl.col("value"), part.schema["value"], shared))
        for part in (named, unnamed)
    )


def _numbered(design: pl.DataFrame, lists: str, name: str, place: str) -> pl.DataFrame:
    return (
        design.select(TEST, pl.col(lists).alias(name))
        .drop_nulls(name)
        .explode(name, empty_as_null=False)
        .with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over(TEST).alias(place))
    )
