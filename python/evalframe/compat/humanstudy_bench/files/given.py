"""Tests and runs as callers give them: checked, and with all columns that files hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench import agreement
from evalframe.compat.humanstudy_bench import effects as original
from evalframe.compat.humanstudy_bench.files.columns import LARGEST_COUNT, schema_of
from evalframe.compat.humanstudy_bench.files.fields import GIVEN_OF_RUNS, TESTS
from evalframe.compat.humanstudy_bench.files.reports import with_report
from evalframe.compat.humanstudy_bench.strict_ecs import consistency
from evalframe.core import tables
from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import MissingColumnsError
from evalframe.replication import with_pas
from evalframe.replication.agreement.alignment import AGENT, HUMAN
from evalframe.replication.effects import effect_d
from evalframe.replication.numbers import number
from evalframe.replication.tails import TWO_SIDED, normal_p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.kinds import Kind
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.replication.agreement.alignment import Ways

STUDY = ["model", "study_id"]

OF_RUNS: dict[str, pl.DataType] = {"title": pl.String(), **schema_of(GIVEN_OF_RUNS)}
"""What runs can say."""

_WITHIN = ["sub_study_id", "finding_id", "test_id"]
_OF_TESTS = {
    name: dtype for name, dtype in schema_of(TESTS).items() if name not in (*STUDY, *_WITHIN)
} | {"domain": pl.String(), "finding_weight": pl.Float64(), "replicated": pl.Boolean()}


def given_tests(tests: Frame, rules: Rules) -> pl.DataFrame:
    """Tests in their order, with all columns that are written, null where nothing gives them.

    Signs may be numbers of any type.

    What can be had from other columns is computed where a column is lacking, not where a value is:
    PAS from posteriors, standardised effects from effects in their own unit, the consistency of a
    test from its z-difference, the text of a statistic from its numbers.

    Raises:
        ContractError: Wrong types, no rows, or tests that repeat.
        MissingColumnsError: A key is not there.
    """
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
    is_original = rules == "reference"
    to_d = original.effect_d if is_original else effect_d
    computed = {
        f"effect_d_{side}": to_d("test_type", f"effect_size_{side}") for side in ("human", "agent")
    }
    exact = normal_p_value(number("z_difference"), pl.lit(TWO_SIDED))
    computed["replication_consistency"] = consistency() if is_original else exact
    computed["test_name"] = pl.col("test_id")
    if (three or two) and "pas" not in present:
        ways: Ways | None = ("three" if three else "two") if rules == "reference" else None
        signs_of_tests = [name for name, dtype in _OF_TESTS.items() if dtype == pl.Int8]
        add_pas = agreement.with_pas if rules == "reference" else with_pas
        typed = add_pas(typed, ways=ways).with_columns(pl.col(signs_of_tests).cast(pl.Int8))
    lacking = {name: value for name, value in computed.items() if name not in present}
    made = typed.with_columns(**lacking)
    for side in ("human", "agent"):
        if f"report_{side}" not in present:
            made = with_report(made, side, present)
    return made.collect()


def given_runs(runs: Frame | None) -> pl.LazyFrame:
    """Runs with all columns that are read of them, and no others.

    Counts may be numbers of any type.

    Raises:
        ContractError: Wrong types, a count that is none, no rows, or runs that repeat.
        MissingColumnsError: A key is not there.
    """
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
    """A table, checked and cast, with nulls for columns that it lacks.

    Args:
        table: The table.
        name: What messages call it.
        keys: What tells its rows apart beside model and study, as far as it has them.
        present_keys: Those that it has.
        types: Of the other columns.
        rules: What else must hold.
    """
    columns = (
        *(Column(key, "key") for key in STUDY),
        *(Column(key, "key", nullable=True) for key in present_keys),
        *(
            Column(column, _kind(dtype), required=False, nullable=True, finite=False)
            for column, dtype in types.items()
        ),
    )
    validate(table, Contract(name, columns, tuple(rules), key=(*STUDY, *present_keys)))
    texts: dict[str, pl.DataType] = dict.fromkeys((*STUDY, *keys), pl.String())
    every = texts | {**types}
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
