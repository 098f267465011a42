"""Tests and runs, checked and completed with all columns of the files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench import agreement
from evalframe.compat.humanstudy_bench import effects as original_effects
from evalframe.compat.humanstudy_bench.files.fields import (
    GIVEN_OF_RUNS,
    LARGEST_COUNT,
    TESTS,
    schema_of,
)
from evalframe.compat.humanstudy_bench.strict import consistency
from evalframe.core import tables
from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import MissingColumnsError
from evalframe.core.typing import Frame
from evalframe.replication import with_pas
from evalframe.replication.agreement.alignment import AGENT, HUMAN, Ways
from evalframe.replication.effects.by_kind import effect_d
from evalframe.replication.effects.kinds import in_groups, is_form, kind_of_test
from evalframe.replication.effects.types import KINDS
from evalframe.replication.numbers import number, number_if_present
from evalframe.replication.p_values import TWO_SIDED, normal_p_value

if TYPE_CHECKING:
    from evalframe.core.kinds import Kind


_SYMBOLS = {name: kind.symbol for name, kind in KINDS.items() if kind.symbol}
_KIND, _FIRST, _SECOND, _STAT = ":kind", ":first", ":second", ":stat"
_DECIMALS = 4
_EXACT = 2**53

STUDY = ["model", "study_id"]

OF_RUNS: dict[str, pl.DataType] = {"title": pl.String(), **schema_of(GIVEN_OF_RUNS)}
"""Columns of runs."""

_WITHIN = ["sub_study_id", "finding_id", "test_id"]
_OF_TESTS = {
    name: dtype for name, dtype in schema_of(TESTS).items() if name not in (*STUDY, *_WITHIN)
} | {"domain": pl.String(), "finding_weight": pl.Float64(), "replicated": pl.Boolean()}


def completed_tests(tests: Frame, *, original: bool) -> pl.DataFrame:
    """Tests with all columns of the files, null if unknown; signs can be numbers of any type."""
    # A missing column (not a missing value) is computed from others if possible: PAS from
    # posteriors, standardised effects from effects in their unit, the consistency of a test from
    # its z-difference, the text of a statistic from its numbers.
    lazy = tables.lazy(tests)
    present = lazy.collect_schema().names()
    if missing := {*STUDY, "finding_id"} - {*present}:
        raise MissingColumnsError.of("tests", missing, present)
    within = [name for name in _WITHIN if name in present]
    signs = [
        Rule(
            f"{name} is 1, -1 or 0",
            number(name).is_in([1.0, -1.0, 0.0]),
            (name,),
            "write the sign of the effect",
        )
        for name, dtype in _OF_TESTS.items()
        if dtype == pl.Int8
    ]
    typed = _typed(lazy, "tests", _WITHIN, within, _OF_TESTS, signs)
    three, two = {*HUMAN, *AGENT} <= {*present}, {"pi_human", "pi_agent"} <= {*present}
    to_d = original_effects.effect_d if original else effect_d
    computed = {
        f"effect_d_{side}": to_d("test_type", f"effect_size_{side}") for side in ("human", "agent")
    }
    exact = normal_p_value(number("z_difference"), pl.lit(TWO_SIDED))
    computed["replication_consistency"] = consistency() if original else exact
    computed["test_name"] = pl.col("test_id")
    if (three or two) and "pas" not in present:
        ways: Ways | None = ("three" if three else "two") if original else None
        signs_of_tests = [name for name, dtype in _OF_TESTS.items() if dtype == pl.Int8]
        add_pas = agreement.with_pas if original else with_pas
        typed = add_pas(typed, ways=ways).with_columns(pl.col(signs_of_tests).cast(pl.Int8))
    lacking = {name: value for name, value in computed.items() if name not in present}
    table = typed.with_columns(**lacking)
    for side in ("human", "agent"):
        if f"report_{side}" not in present:
            table = with_report(table, side, present)
    return table.collect()


def completed_runs(runs: Frame | None) -> pl.LazyFrame:
    """Runs with the columns of the files and no others; counts can be numbers of any type."""
    if runs is None:
        return pl.LazyFrame(schema={**dict.fromkeys(STUDY, pl.String()), **OF_RUNS})
    lazy = tables.lazy(runs)
    if missing := {*STUDY} - {*lazy.collect_schema()}:
        raise MissingColumnsError.of("runs", missing, lazy.collect_schema())
    counts = [
        Rule(
            f"{name} is a whole number from 0 to 2**53",
            (number(name) == number(name).round()) & number(name).is_between(0, LARGEST_COUNT),
            (name,),
            f"correct {name!r}",
        )
        for name, dtype in OF_RUNS.items()
        if dtype == pl.Int64
    ]
    return _typed(lazy, "runs", [], [], OF_RUNS, counts).select(*STUDY, *OF_RUNS)


def _typed(
    table: pl.LazyFrame,
    name: str,
    keys: Sequence[str],
    present_keys: Sequence[str],
    types: Mapping[str, pl.DataType],
    rules: Sequence[Rule],
) -> pl.LazyFrame:
    """Check and cast a table, and add nulls for the columns that it lacks."""
    columns = (
        *(Column(key, "key") for key in STUDY),
        *(Column(key, "key", nullable=True) for key in present_keys),
        *(
            Column(column, _kind(dtype), required=False, nullable=True, finite=False)
            for column, dtype in types.items()
        ),
    )
    validate(table, Contract(name, columns, tuple(rules), key=(*STUDY, *present_keys)))
    key_types: dict[str, pl.DataType] = dict.fromkeys((*STUDY, *keys), pl.String())
    every = key_types | {**types}
    schema = table.collect_schema()
    nulls = {column: pl.lit(None, dtype) for column, dtype in every.items() if column not in schema}
    return table.with_columns(**nulls).with_columns(
        (number(column) if dtype.is_integer() else pl.col(column)).cast(dtype)
        for column, dtype in every.items()
    )


def _kind(dtype: pl.DataType) -> Kind:
    if dtype == pl.String:
        return "string"
    return "boolean" if dtype == pl.Boolean else "number"


def with_report(tests: pl.LazyFrame, side: str, present: Collection[str]) -> pl.LazyFrame:
    """Add the statistic of a side as text: `t(38) = 2.5`, `F(2, 57) = 3.1`, `U = 130`, `k = 15`."""

    def first_of(*names: str) -> pl.Expr:
        return pl.coalesce(number_if_present(f"{name}_{side}", present) for name in names)

    kind, n1, n2 = pl.col(_KIND), first_of("n1"), first_of("n2")
    apart = pl.lit(None, pl.Boolean)
    if f"independent_{side}" in present:
        apart = pl.col(f"independent_{side}")
    n2 = pl.when(in_groups(partial(is_form, "test_type"), apart).fill_null(value=True)).then(n2)
    first = (
        pl.when(kind == "t")
        .then(pl.coalesce(n1 + n2 - 2.0, n1 - 1.0))
        .when(kind == "correlation")
        .then(first_of("n", "n1", "n_total") - 2.0)
        .when(kind == "welch")
        .then(first_of("df"))
        .when(kind.is_in(["f", "chi_square", "wald"]))
        .then(first_of("df1"))
    )
    second = pl.when(kind == "f").then(first_of("df2"))
    stat = pl.when(kind == "binomial").then(first_of("k", "stat")).otherwise(first_of("stat"))
    # In stages: one expression would repeat the first ones many times.
    return (
        tests.with_columns(kind_of_test("test_type").alias(_KIND))
        .with_columns(first.alias(_FIRST), second.alias(_SECOND), stat.alias(_STAT))
        .with_columns(_shortest(name) for name in (_FIRST, _SECOND, _STAT))
        .with_columns(pl.concat_list(_FIRST, _SECOND).list.drop_nulls().list.join(", "))
        .with_columns(
            pl.format(
                "{}{} = {}",
                kind.replace_strict(_SYMBOLS, default=None, return_dtype=pl.String),
                pl.when(pl.col(_FIRST) != "").then(pl.format("({})", _FIRST)).otherwise(pl.lit("")),
                _STAT,
            ).alias(f"report_{side}")
        )
        .drop(_KIND, _FIRST, _SECOND, _STAT)
    )


def _shortest(name: str) -> pl.Expr:
    """A number to four decimals as text, a whole one without a point."""
    rounded = pl.col(name).round(_DECIMALS)
    is_whole = (rounded == rounded.floor()) & (rounded.abs() < _EXACT)
    as_whole = pl.when(is_whole).then(rounded).cast(pl.Int64, strict=False).cast(pl.String)
    return pl.coalesce(as_whole, rounded.cast(pl.String))
