"""Scores in which missing results count: replication rates, and PAS pooled by precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication import rates
from evalframe.replication.inverse_variance import pooled_by_precision
from evalframe.replication.numbers import finite, number

if TYPE_CHECKING:
    from evalframe.core.choices import FindingKey
    from evalframe.replication.rates import RateLevel


def replicated(
    p_value_agent: IntoExpr = "p_value_agent",
    direction_match: IntoExpr = "direction_match",
    *,
    p_value_human: IntoExpr | None = None,
    significance_level: IntoExpr | None = None,
) -> pl.Expr:
    """`replication.replicated`, but false if an input is missing."""
    return rates.replicated(
        p_value_agent,
        direction_match,
        p_value_human=p_value_human,
        significance_level=significance_level,
    ).fill_null(value=False)


@like_input
def replication_rates(
    tests: Frame,
    level: RateLevel = "model",
    *,
    by: By = None,
    replicated: IntoExpr = "replicated",
    test_weight: IntoExpr | None = None,
    finding_weight: IntoExpr | None = None,
    finding_key: FindingKey = "composite",
) -> pl.LazyFrame:
    """`replication.replication_rates`, but unknown tests have not replicated, with any weight."""
    weight, importance = (number(each).fill_null(1.0) for each in (test_weight, finding_weight))
    known = number(replicated).fill_null(0.0)
    return rates.rates_of(tests, level, by, known, weight, importance, finding_key)


def inverse_variance_pas(pas: IntoExpr = "pas", std_error: IntoExpr = "std_error") -> pl.Expr:
    """`replication.inverse_variance_pas`, but 0 without a study or a standard error."""
    value, spread = pooled_by_precision(finite(pas), finite(std_error))
    columns = (value.fill_null(0.0).alias("pas"), spread.fill_null(0.0).alias("std_error"))
    return pl.struct(columns).alias("inverse_variance_pas")
