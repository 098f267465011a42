"""The weights of tests in the ECS: studies count alike, and findings within a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_choice
from evalframe.replication.agreement.given import check_numbers, keys_of
from evalframe.replication.agreement.rules import FindingKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.tables import Keys
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By

Weighting: TypeAlias = Literal["two_level", "two_level_valid", "equal"]

_TAKEN = (
    "study_id",
    "sub_study_id",
    "finding_id",
    "domain",
    "ecs",
    "pearson",
    "slope",
    "intercept",
    "p_null",
    "n_tests",
    "n_missing",
    "missing_rate",
)


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
        study, and with `two_level_valid` for one without both effects). Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import with_ecs_weights
        >>> tests = pl.DataFrame({"study_id": ["s1"] * 3, "finding_id": ["F1", "F1", "F2"]})
        >>> tests = tests.with_columns(effect_d_human=pl.lit(0.5), effect_d_agent=pl.lit(0.4))
        >>> with_ecs_weights(tests).collect()["ecs_weight"].to_list()
        [0.25, 0.25, 0.5]
    """
    _, keys, finding = opened(
        "with_ecs_weights", tests, by, [human, agent], weighting, finding_key, []
    )
    lazy = tables.lazy(tests)
    x, y = as_expr(human).cast(pl.Float64), as_expr(agent).cast(pl.Float64)
    by_name = [pl.col(name) for name in finding]
    share = share_of([*keys.exprs, *by_name], [*keys.exprs, pl.col("study_id")], x, y, weighting)
    return lazy.with_columns(share.alias("ecs_weight"))


def opened(
    caller: str,
    tests: Frame,
    by: By,
    columns: Sequence[IntoExpr],
    weighting: Weighting,
    finding_key: FindingKey,
    needs: Sequence[str],
) -> tuple[pl.Schema, Keys, list[str]]:
    """The columns of tests, checked, with the keys and what names a finding within them.

    Args:
        caller: Who asks, for messages.
        tests: The table.
        by: Group keys.
        columns: Effects and weights, which must be numbers.
        weighting: How tests are weighed.
        finding_key: What names a finding within a study.
        needs: Further columns that must be there.
    """
    check_choice("weighting", weighting, Weighting)
    check_choice("finding_key", finding_key, FindingKey)
    lazy = tables.lazy(tests)
    schema = lazy.collect_schema()
    keys = keys_of(by, schema, _TAKEN)
    exprs = [as_expr(column).alias(f":{place}") for place, column in enumerate(columns)]
    if missing := {"study_id", "finding_id", *needs, *columns_read((*keys.exprs, *exprs))} - {
        *schema
    }:
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
    """The weight of each test, null without a study.

    Args:
        finding: What names a finding.
        study: What names a study, its id last.
        x: Effect of humans.
        y: Effect of agents.
        weighting: How tests are weighed.
    """
    known = study[-1].is_not_null()
    if weighting == "equal":
        return pl.when(known).then(1.0)
    counted = known
    if weighting == "two_level_valid":
        counted = known & (x.is_finite() & y.is_finite()).fill_null(value=False)
    per_test = pl.when(counted).then(1.0 / counted.sum().over(finding))
    # The shares of a finding's tests sum to 1, those of a study's tests to its number of findings.
    return per_test / per_test.sum().over(study).round()
