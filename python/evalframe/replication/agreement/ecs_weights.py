"""The weights of tests in the ECS: studies count alike, and findings within a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_choice
from evalframe.replication.agreement.scored_tests import FindingKey, check_numbers, keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.tables import Keys
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By

Weighting: TypeAlias = Literal["two_level", "two_level_valid", "equal"]

_RESERVED = (
    *("study_id", "sub_study_id", "finding_id", "domain", "ecs", "pearson", "slope", "intercept"),
    *("p_null", "n_tests", "n_missing", "missing_rate"),
)


@like_input
def with_ecs_weights(
    tests: Frame,
    *,
    by: By = None,
    human: IntoExpr = "effect_d_human",
    agent: IntoExpr = "effect_d_agent",
    weighting: Weighting = "two_level",
    finding_key: FindingKey = "composite",
) -> pl.LazyFrame:
    """The tests with `ecs_weight`, the weight of each in the ECS.

    Args:
        tests: As `ecs` takes them.
        by: Group keys; by default `model` if the table has it.
        human: Standardised effect of humans.
        agent: Standardised effect of agents.
        weighting: `two_level`, `two_level_valid` or `equal`; see `ecs`.
        finding_key: `composite` or `finding_id`; see `ecs`.

    Returns:
        The table, its rows in their order, with `ecs_weight` (Float64, null for a test without a
        study, and with `two_level_valid` for one without both effects).

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import with_ecs_weights
        >>> tests = pl.DataFrame({"study_id": ["s1"] * 3, "finding_id": ["F1", "F1", "F2"]})
        >>> tests = tests.with_columns(effect_d_human=pl.lit(0.5), effect_d_agent=pl.lit(0.4))
        >>> with_ecs_weights(tests)["ecs_weight"].to_list()
        [0.25, 0.25, 0.5]
    """
    _, keys, finding = checked_tests(
        "with_ecs_weights", tests, by, [human, agent], weighting, finding_key, []
    )
    lazy = tables.lazy(tests)
    x, y = as_expr(human).cast(pl.Float64), as_expr(agent).cast(pl.Float64)
    by_name = [pl.col(name) for name in finding]
    share = share_of([*keys.exprs, *by_name], [*keys.exprs, pl.col("study_id")], x, y, weighting)
    return lazy.with_columns(share.alias("ecs_weight"))


def checked_tests(
    caller: str,
    tests: Frame,
    by: By,
    columns: Sequence[IntoExpr],
    weighting: Weighting,
    finding_key: FindingKey,
    requires: Sequence[str],
) -> tuple[pl.Schema, Keys, list[str]]:
    """Check the numeric columns of tests; return schema, keys and the columns of a finding."""
    check_choice("weighting", weighting, Weighting)
    check_choice("finding_key", finding_key, FindingKey)
    lazy = tables.lazy(tests)
    schema = lazy.collect_schema()
    keys = keys_of(by, schema, _RESERVED)
    exprs = [as_expr(column).alias(f":{i}") for i, column in enumerate(columns)]
    required = {"study_id", "finding_id", *requires, *columns_read((*keys.exprs, *exprs))}
    if missing := required - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    check_numbers(caller, lazy, columns)
    composite = finding_key == "composite" and "sub_study_id" in schema
    return schema, keys, ["study_id", *["sub_study_id"] * composite, "finding_id"]


def share_of(
    finding: Sequence[pl.Expr],
    study: Sequence[pl.Expr],
    x: pl.Expr,
    y: pl.Expr,
    weighting: Weighting,
) -> pl.Expr:
    """The weight of each test, null without a study, whose id is the last of `study`."""
    known = study[-1].is_not_null()
    if weighting == "equal":
        return pl.when(known).then(1.0)
    if weighting == "two_level_valid":
        known = known & (x.is_finite() & y.is_finite()).fill_null(value=False)
    per_test = pl.when(known).then(1.0 / known.sum().over(finding))
    # The shares of the tests of a finding sum to 1, those of a study to its number of findings.
    return per_test / per_test.sum().over(study).round()
