"""Replication rates: shares of tests in which agents show the effect that humans do."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import FindingKey, check_choice
from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.posteriors import possible_share
from evalframe.replication.agreement.scored_tests import keys_of
from evalframe.replication.numbers import finite, number, raw_number

RateLevel: TypeAlias = Literal["finding", "study", "model"]

_MADE = ("replication_rate", "passes", "pass_rate", "n_studies", "n_tests", "n_missing")

_LEVEL = 0.05
_PASS = 0.5
_LEAST = 1e-10
"""Smallest standard error that gives a weight."""


def replicated(
    p_value_agent: IntoExpr = "p_value_agent",
    direction_match: IntoExpr = "direction_match",
    *,
    p_value_human: IntoExpr | None = None,
    significance_level: IntoExpr | None = None,
) -> pl.Expr:
    """True if agents show a significant effect in the direction of the human one.

    Args:
        p_value_agent: The agent's p-value.
        direction_match: Boolean: true if both directions are the same.
        p_value_human: The human p-value: if set, it must be significant, too, as in the variant of
            the hub of HumanStudy-Bench.
        significance_level: 0.05 by default and if null. P-values must be below it.

    Returns:
        Boolean, named `replicated`; null if an input is null or NaN.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import replicated
        >>> tests = pl.DataFrame({"p_value_agent": [0.01, 0.2], "direction_match": [True, True]})
        >>> tests.select(replicated()).to_series().to_list()
        [True, False]
    """
    level = level_of(significance_level)
    parts = [finite(p_value_agent) < level, as_expr(direction_match)]
    if p_value_human is not None:
        parts.append(finite(p_value_human) < level)
    known = pl.all_horizontal(part.is_not_null() for part in parts)
    return pl.when(known).then(pl.all_horizontal(parts)).alias("replicated")


def level_of(significance_level: IntoExpr | None) -> pl.Expr:
    """The level of significance, 0.05 by default."""
    return finite(significance_level).fill_null(_LEVEL)


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
    """Replication rates of findings, studies or models; APR and SRS of HumanStudy-Bench.

    A finding's rate is the weighted share of its tests that replicate, a study's the weighted mean
    of its findings, a model's the plain mean of its studies. Do not report it as primary result: it
    depends on how many agents were asked. Tests whose result is unknown, or whose weight is
    negative or infinite, are left out and counted, as are findings and studies without others.

    Args:
        tests: One row per test, with `study_id`, `sub_study_id` (unless the key is `finding_id`)
            and `finding_id`.
        level: `finding`, `study` or `model`.
        by: Group keys; by default `model` if the table has one.
        replicated: Boolean, see `replicated`.
        test_weight: Weight of the test in its finding; 1 by default and if null.
        finding_weight: Weight of the finding in its study, the same for all its tests (the largest
            is used); 1 by default and if null.
        finding_key: `composite`: findings of different sub-studies are different. `finding_id`:
            they are the same if they have the same name.

    Returns:
        by..., then the keys of the level, `replication_rate` (Float64 in [0, 1], null if all
        results are unknown), by study `passes` (Boolean: a rate of 0.5 or more), by model
        `pass_rate` (the share of studies that pass) and `n_studies` (with a rate), `n_tests`
        (known) and `n_missing`. Sorted by keys. Lazy if `tests` is.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import replication_rates
        >>> tests = pl.DataFrame({"study_id": "s", "finding_id": "F1", "replicated": [True, False]})
        >>> replication_rates(tests, "study", finding_key="finding_id").row(0)
        ('s', 0.5, True, 2, 0)
    """
    weights = (number(each).fill_null(1.0) for each in (test_weight, finding_weight))
    weight, importance = weights
    known = pl.when(_usable(weight) & _usable(importance)).then(number(replicated))
    return rates_of(tests, level, by, known, weight, importance, finding_key)


def rates_of(
    tests: Frame,
    level: RateLevel,
    by: By,
    replicated: pl.Expr,
    weight: pl.Expr,
    importance: pl.Expr,
    finding_key: FindingKey,
) -> pl.LazyFrame:
    """Rates of tests with a number for replicated, and with weights of tests and findings."""
    check_choice("level", level, RateLevel)
    check_choice("finding_key", finding_key, FindingKey)
    sub_study = ["sub_study_id"] if finding_key == "composite" else []
    of_study = ["study_id", *sub_study, "finding_id"]
    lazy = tests.lazy()
    schema = lazy.collect_schema()
    keys = keys_of(by, schema, [*of_study, *_MADE])
    study = [*keys.inner, "study_id"]
    finding = [*keys.inner, *of_study]
    read = columns_read([*keys.exprs, replicated, weight, importance])
    if missing := {*of_study, *read} - {*schema}:
        raise MissingColumnsError.of("replication_rates", missing, schema)
    lazy = lazy.with_columns(
        *keys.select(),
        replicated.alias(":replicated"),
        weight.alias(":weight"),
        importance.alias(":importance"),
    )
    rate, counts = pl.col("replication_rate"), pl.col("n_tests", "n_missing").sum()
    findings = lazy.group_by(finding).agg(
        _weighted(pl.col(":replicated"), pl.col(":weight")).alias("replication_rate"),
        pl.col(":importance").max(),
        pl.col(":replicated").count().cast(pl.Int64).alias("n_tests"),
        pl.col(":replicated").null_count().cast(pl.Int64).alias("n_missing"),
    )
    if level == "finding":
        findings = findings.drop(":importance").sort(finding, nulls_last=True)
        return findings.rename(keys.restore())
    studies = (
        findings.group_by(study)
        .agg(_weighted(rate, pl.col(":importance")).alias("replication_rate"), counts)
        .select(*study, rate, (rate >= _PASS).alias("passes"), "n_tests", "n_missing")
    )
    if level == "study":
        return studies.sort(study, nulls_last=True).rename(keys.restore())
    of_model = [
        rate.mean(),
        pl.col("passes").mean().alias("pass_rate"),
        rate.count().cast(pl.Int64).alias("n_studies"),
        counts,
    ]
    if not keys.inner:
        return studies.select(of_model)
    models = studies.group_by(keys.inner).agg(of_model).sort(keys.inner, nulls_last=True)
    return models.rename(keys.restore())


def _usable(weight: pl.Expr) -> pl.Expr:
    return weight.is_finite() & (weight >= 0)


def _weighted(value: pl.Expr, weight: pl.Expr) -> pl.Expr:
    mass = pl.when(value.is_not_null()).then(weight).sum()
    return pl.when(mass > 0).then((value * weight).sum() / mass)


def inverse_variance_pas(pas: IntoExpr = "pas", std_error: IntoExpr = "std_error") -> pl.Expr:
    """PAS of several studies, weighted by w = 1 / SE², and its standard error 1 / sqrt(sum w).

    An aggregation. A study whose standard error is unknown, or below 1e-10, has no weight if any
    other study has one. Without weights the PAS is the plain mean, and its standard error the root
    of the sum of SE² over the number of studies, unknown ones counted as 0.

    Args:
        pas: PAS of the studies; null, NaN and those outside [0, 1] are left out.
        std_error: Their standard errors.

    Returns:
        Struct of Float64 `pas` and `std_error`, named `inverse_variance_pas`; both null without a
        study, the standard error also if none is known.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas_agg` and `pas_agg_se`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import inverse_variance_pas
        >>> studies = pl.DataFrame({"pas": [0.5, 0.7], "std_error": [0.1, 0.2]})
        >>> round(studies.select(inverse_variance_pas()).item()["pas"], 6)
        0.54
    """
    share, error = possible_share(raw_number(pas)), finite(std_error)
    pooled, spread = pooled_by_precision(share, error)
    known = pl.when(share.is_not_null()).then(error).count() > 0
    return pl.struct(pooled.alias("pas"), pl.when(known).then(spread).alias("std_error")).alias(
        "inverse_variance_pas"
    )


def pooled_by_precision(share: pl.Expr, error: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The pooled share and its standard error; 0 if no error is known, null without a share."""
    known = pl.when(share.is_not_null()).then(error)
    weight = pl.when(known >= _LEAST).then(known**-2.0)
    total, count = weight.sum(), share.count()
    pooled = (weight * share).sum() / total
    rough: pl.Expr = (known**2).sum().sqrt() / count
    value: pl.Expr = pl.when(total > 0.0).then(pooled).otherwise(share.mean())
    spread: pl.Expr = pl.when(total > 0.0).then(total**-0.5).when(count > 0).then(rough)
    return value, spread
