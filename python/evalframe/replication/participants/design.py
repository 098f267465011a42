"""Designs: how the responses to a test become its statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError, UnknownNameError
from evalframe.core.tables import lazy
from evalframe.replication.contract import KEYS, designs_contract
from evalframe.replication.effects.kinds import SOME_KINDS, kind_of_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame

TWO_SAMPLES, PAIRED, ONE_SAMPLE, ANOVA = "two samples", "paired", "one sample", "anova"
PEARSON, SPEARMAN = "pearson", "spearman"
CHI_SQUARED, RANK_SUM, BINOMIAL_TEST = "chi-square", "rank sum", "binomial"

TEST, KIND, PLACE, CATEGORY = ":test", ":kind", ":place", ":category"
"""Number of the test in the design, its kind, and numbers of condition and category from 0."""

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
_TWO_VALUES = (1.0, 0.0)
_EVEN = 0.5


def keys_of(design: Frame) -> list[str]:
    """Which of the key columns the design has, by which it is joined with responses."""
    present = lazy(design).collect_schema().names()
    return [name for name in KEYS if name in present]


def numbered_design(design: Frame) -> pl.DataFrame:
    """The design checked and complete, sorted by its keys, each test with number and kind.

    Raises:
        MissingColumnsError: A key or `test_type` is not there.
        UnknownNameError: A test type is not known.
        ContractError: A row breaks `designs_contract`.
    """
    keys = keys_of(design)
    table = lazy(design).collect()
    if missing := {"study_id", "finding_id", "test_type"} - {*table.columns}:
        raise MissingColumnsError.of("the design of tests", missing, table.columns)
    optional = {name: name if name in keys else None for name in ("sub_study_id", "test_id")}
    contract = designs_contract(sub_study_id=optional["sub_study_id"], test_id=optional["test_id"])
    contract.check_schema(table.schema)
    _check_types(table.select("test_type").cast(pl.String))
    complete = table.with_columns(
        (pl.col(name) if name in table.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in _OPTIONAL.items()
    ).select(*keys, pl.col("test_type").cast(pl.String), *_OPTIONAL)
    validate(complete, contract)
    ranked = pl.col("test_type").str.to_lowercase().str.strip_chars() == SPEARMAN
    named = kind_of_test("test_type").replace_strict(_KINDS)
    kind = pl.when(ranked).then(pl.lit(SPEARMAN)).otherwise(named)
    independent = pl.col("samples").fill_null("independent") == "independent"
    single = (kind == TWO_SAMPLES) & ~independent
    differences = pl.col("samples") == "paired"
    which = pl.when(differences).then(pl.lit(PAIRED)).otherwise(pl.lit(ONE_SAMPLE))
    counted = pl.col("conditions").list.len().cast(pl.Int64)
    twofold = pl.lit(list(_TWO_VALUES), dtype=pl.List(pl.Float64()))
    return (
        complete.sort(keys, maintain_order=True)
        .with_columns(
            pl.when(single).then(which).otherwise(kind).alias(KIND),
            pl.col("categories").fill_null(twofold),
            pl.col("p0").fill_null(_EVEN),
            pl.col("null_value").fill_null(0.0),
            counted.alias("n_conditions"),
        )
        .with_columns(pl.col("categories").list.len().cast(pl.Int64).alias("n_categories"))
        .with_row_index(TEST)
        .with_columns(pl.col(TEST).cast(pl.Int64))
    )


def _check_types(types: pl.DataFrame) -> None:
    unknown = types.filter(kind_of_test("test_type").is_null()).drop_nulls()
    for name in unknown["test_type"].head(1):
        raise UnknownNameError.of("test type", name, SOME_KINDS)


def keys_like(design: pl.DataFrame, schema: pl.Schema, keys: Sequence[str]) -> list[pl.Expr]:
    """The keys in the types that responses have them in, for joins.

    Raises:
        ContractError: A key is a text here and a number there.
    """
    for name in keys:
        ours, theirs = design.schema[name], schema[name]
        if ours.is_numeric() != theirs.is_numeric() and pl.Null() not in (ours, theirs):
            raise ContractError(
                f"{name!r} is {theirs} in the responses, but {ours} in the design. Cast one: "
                f"design.with_columns(pl.col({name!r}).cast(pl.{theirs}))."
            )
    return [pl.col(name).cast(schema[name]) for name in keys]


def places(design: pl.DataFrame) -> pl.DataFrame:
    """Test, condition and its number, for the tests that name conditions."""
    return _numbered(design, "conditions", "condition", PLACE)


def category_places(design: pl.DataFrame) -> pl.DataFrame:
    """Test, value and its number, for tests on categories."""
    on_categories = pl.col(KIND).is_in([CHI_SQUARED, BINOMIAL_TEST])
    return _numbered(design.filter(on_categories), "categories", "value", CATEGORY)


def _numbered(design: pl.DataFrame, lists: str, name: str, place: str) -> pl.DataFrame:
    return (
        design.select(TEST, pl.col(lists).alias(name))
        .drop_nulls(name)
        .explode(name, empty_as_null=False)
        .with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over(TEST).alias(place))
    )
