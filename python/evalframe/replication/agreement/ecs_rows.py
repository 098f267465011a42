"""Tests with the weights that they have in the ECS, and the ECS of groups of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.rows import as_expr
from evalframe.core.state import ratio
from evalframe.replication.agreement.ecs_weights import opened, share_of
from evalframe.replication.agreement.pairs import agreement_values, both_spread, p_null, pair_sums

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.tables import Keys
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.replication.agreement.ecs_weights import Weighting
    from evalframe.replication.agreement.rules import FindingKey

EcsLevel: TypeAlias = Literal["overall", "domain", "study", "finding"]

LEAST = 3
"""So many tests an ECS needs."""

X, Y, MASS = ":x", ":y", ":w"


@dataclass(frozen=True)
class EcsRows:
    """Tests with their effects and weights.

    Attributes:
        frame: Keys under internal names, the finding's names, `domain` if there is one, `:x`
            (human), `:y` (agent) and `:w`.
        keys: The group keys.
        finding: What names a finding within them, the study first.
        group: What the ECS is asked by.
    """

    frame: pl.LazyFrame
    keys: Keys
    finding: list[str]
    group: list[str]


def ecs_rows(
    caller: str,
    tests: Frame,
    level: EcsLevel,
    by: By,
    human: IntoExpr,
    agent: IntoExpr,
    weighting: Weighting | None,
    finding_key: FindingKey,
    weight: IntoExpr | None,
    rules: Rules,
) -> EcsRows:
    """The tests, weighed; arguments as in `ecs`, after the name of the function that asks.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or effects are no numbers.
    """
    if weighting is None:
        original = rules == "reference" and level == "study"
        weighting = "equal" if original or level == "finding" else "two_level"
    needs = ["domain"] if level == "domain" else []
    columns = [human, agent, *([] if weight is None else [weight])]
    schema, keys, named = opened(caller, tests, by, columns, weighting, finding_key, needs)
    finding = [*keys.inner, *named]
    times = pl.lit(1.0) if weight is None else as_expr(weight).cast(pl.Float64)
    if weight is not None and rules == "documented":
        times = _near_one(times)
    rows = tables.lazy(tests).select(
        *keys.select(),
        *named,
        *(["domain"] if "domain" in schema else []),
        as_expr(human).cast(pl.Float64).alias(X),
        as_expr(agent).cast(pl.Float64).alias(Y),
        times.alias(MASS),
    )
    if weight is not None:
        rows = rows.filter(pl.col(MASS).ne_missing(0.0))
    study = [*keys.inner, "study_id"]
    by_finding, by_study = [pl.col(name) for name in finding], [pl.col(name) for name in study]
    share = share_of(by_finding, by_study, pl.col(X), pl.col(Y), weighting)
    rows = rows.with_columns(pl.col(MASS) * share)
    if rules == "reference":
        rows = rows.filter(pl.col("study_id").is_not_null())
    group = {
        "overall": keys.inner,
        "domain": [*keys.inner, "domain"],
        "study": study,
        "finding": finding,
    }[level]
    return EcsRows(rows, keys, named, group)


def _near_one(weight: pl.Expr) -> pl.Expr:
    """Weights over the power of 2 below the largest: the same shares, whose sums do not overflow.

    >>> pl.select(_near_one(pl.lit(pl.Series([2.0**999, 2.0**1000])))).to_series().to_list()
    [0.5, 1.0]
    """
    largest = pl.when(weight.is_finite() & (weight > 0.0)).then(weight).max()
    exponent = largest.log(2.0).floor().clip(upper_bound=1023.0)
    return weight / (2.0**exponent).fill_null(1.0)


def ecs_of(rows: EcsRows, level: EcsLevel, rules: Rules) -> pl.LazyFrame:
    """The ECS of groups of rows, under internal names of the keys, sorted."""
    added = pair_sums(rows.frame, rows.group, X, Y, MASS)
    made = agreement_values(rules)
    count, missing = pl.col("n_tests"), pl.col("n_missing")
    values: dict[str, pl.Expr] = {
        name: pl.when(count >= LEAST).then(value) for name, value in made.items()
    }
    if level == "finding":
        values["pearson"] = pl.when((count >= 2) & both_spread()).then(made["pearson"])
        values["p_null"] = p_null(values["pearson"], count)
        if rules == "reference":
            values["ecs"] = values["pearson"]
    rate = ratio(missing.cast(pl.Float64), (count + missing).cast(pl.Float64))
    table = added.select(
        *rows.group,
        *(value.alias(name) for name, value in values.items()),
        count,
        missing,
        rate.alias("missing_rate"),
    )
    return table.sort(rows.group) if rows.group else table
