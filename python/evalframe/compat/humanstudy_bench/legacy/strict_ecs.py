"""Strict ECS: consistencies pooled per finding, study and overall. Not a primary result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.compat.humanstudy_bench.legacy.tails import (
    TWO_SIDED,
    chi2_p_value,
    elementwise,
    normal_p_value,
)
from evalframe.core.errors import MissingColumnsError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_choice, check_rules
from evalframe.replication.agreement.given import keys_of
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By

FindingConsistencyRule: TypeAlias = Literal["joint", "root_mean_square"]
StudyConsistencyRule: TypeAlias = Literal["stouffer", "mean"]
StrictLevel: TypeAlias = Literal["finding", "study", "overall"]
FindingKey: TypeAlias = Literal["composite", "finding_id"]

_MADE = ("ecs_strict", "n_findings", "n_tests", "n_missing")

_CERTAIN = 10.0
"""What the original takes for the normal quantile of 0 and of 1."""

_BEYOND_FLOATS = 40.0
"""A normal quantile above those of all floats above 0."""


def finding_consistency(
    z: IntoExpr = "z_difference",
    *,
    rule: FindingConsistencyRule = "joint",
    rules: Rules = "documented",
) -> pl.Expr:
    """The consistency of the tests of a finding, as an aggregation over their z-differences.

    Args:
        z: The z-difference of each test.
        rule: `joint`: the upper tail of chi-square at the sum of squares, with as many degrees of
            freedom as tests, which is a p-value that no effect of the finding differs.
            `root_mean_square`: the consistency of the root mean square, as the original's
            documentation has it; that is no p-value.
        rules: `reference`: infinite z are left out as missing ones are, upper tails are one less
            the probability below, and no z at all gives 0.

    Returns:
        Float64 in [0, 1], named `finding_consistency`. Null z and NaN are left out. Documented null
        where none is left, and 0 where one is infinite.

    Raises:
        ParameterError: Unknown rule or rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import finding_consistency
        >>> tests = pl.DataFrame({"finding_id": ["F1", "F1"], "z_difference": [3.0, None]})
        >>> tests.group_by("finding_id").agg(finding_consistency().round(4)).row(0)
        ('F1', 0.0027)
    """
    check_rules(rules)
    check_choice("rule", rule, FindingConsistencyRule)
    known = _known(z, rules)
    total, count = (known**2).sum(), known.count()
    if rule == "joint":
        several = chi2_p_value(total, count, rules)
    else:
        several = normal_p_value((total / count).sqrt(), pl.lit(TWO_SIDED), rules)
    alone = normal_p_value(total.sqrt(), pl.lit(TWO_SIDED), rules)
    p: pl.Expr = pl.when(count > 1).then(several).when(count == 1).then(alone)
    if rules == "reference":
        p = p.fill_null(0.0)
    return p.alias("finding_consistency")


def study_consistency(
    consistency: IntoExpr = "finding_consistency",
    *,
    rule: StudyConsistencyRule = "stouffer",
    rules: Rules = "documented",
) -> pl.Expr:
    """The consistency of the findings of a study, or of all, as an aggregation over theirs.

    Args:
        consistency: The consistency of each finding.
        rule: `stouffer`: one-sided, the p-value of the mean of normal quantiles, where 1 counts as
            -10 and 0 (documented) as 40, beyond the least float above 0. `mean`: their mean, as the
            original's documentation has it; that is a score and no p-value.
        rules: `reference`: clipped to [0, 1], 0 counts as 10, quantiles and tails are of one less
            the probability, and no consistency at all gives 0.

    Returns:
        Float64 in [0, 1], named `study_consistency`. Null, NaN and infinite values are left out,
        documented also those outside [0, 1]; documented null where none is left.

    Raises:
        ParameterError: Unknown rule or rules.

    References:
        Stouffer et al. (1949); HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import study_consistency
        >>> findings = pl.DataFrame({"finding_consistency": [0.05, 0.05]})
        >>> round(findings.select(study_consistency()).item(), 4)
        0.01
    """
    check_rules(rules)
    check_choice("rule", rule, StudyConsistencyRule)
    p = number(consistency, "documented")
    p = p.clip(0.0, 1.0) if rules == "reference" else pl.when(p.is_between(0.0, 1.0)).then(p)
    if rule == "mean":
        pooled = p.mean()
    else:
        z = elementwise(partial(_quantile, rules=rules), p)
        count = p.count()
        tail = elementwise(partial(_upper, rules=rules), z.sum() / count.sqrt())
        pooled = pl.when(count == 1).then(p.max()).when(count > 1).then(tail)
    if rules == "reference":
        pooled = pooled.fill_null(0.0)
    return pooled.alias("study_consistency")


def strict_ecs(
    tests: Frame,
    level: StrictLevel = "study",
    *,
    by: By = None,
    z: IntoExpr = "z_difference",
    finding_key: FindingKey = "composite",
    finding_rule: FindingConsistencyRule = "joint",
    study_rule: StudyConsistencyRule = "stouffer",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Strict ECS of findings, of studies, or over all findings of all studies.

    It is a legacy quantity, not to be reported as primary: it is high where samples are small, and
    falls with every participant that is added. `ecs` says how effects agree.

    Args:
        tests: One row per test, with `study_id`, `sub_study_id` (unless the key is `finding_id`),
            `finding_id` and the z-difference.
        level: `finding`, `study` or `overall`.
        by: Group keys; by default `model` if the table has one.
        z: The z-difference of each test.
        finding_key: `composite`: findings of different sub-studies are different. `finding_id`:
            they are the same where they have the same name.
        finding_rule: See `finding_consistency`.
        study_rule: See `study_consistency`; also over all.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        by..., then the keys of the level, `ecs_strict` (Float64 in [0, 1], null where nothing is
        known), `n_findings` (with a consistency, not by finding), `n_tests` (with a z-difference)
        and `n_missing` (tests without one): Int64. Sorted by keys. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import strict_ecs
        >>> tests = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a"],
        ...         "study_id": ["s", "s"],
        ...         "sub_study_id": ["1", "2"],
        ...         "finding_id": ["F1", "F1"],
        ...         "z_difference": [0.0, None],
        ...     }
        ... )
        >>> strict_ecs(tests).collect().rows()
        [('a', 's', 1.0, 1, 1, 1)]
    """
    check_rules(rules)
    check_choice("level", level, StrictLevel)
    check_choice("finding_key", finding_key, FindingKey)
    sub_study = ["sub_study_id"] if finding_key == "composite" else []
    finding = ["study_id", *sub_study, "finding_id"]
    lazy = tests.lazy()
    schema, value = lazy.collect_schema(), as_expr(z)
    keys = keys_of(by, schema, [*finding, *_MADE])
    if missing := {*finding, *columns_read([*keys.exprs, value])} - {*schema}:
        raise MissingColumnsError.of("strict_ecs", missing, schema)
    known = _known(value, rules)
    findings = (
        lazy.with_columns(keys.select())
        .group_by([*keys.inner, *finding])
        .agg(
            finding_consistency(value, rule=finding_rule, rules=rules).alias("ecs_strict"),
            n_tests=known.count().cast(pl.Int64),
            n_missing=known.null_count().cast(pl.Int64),
        )
    )
    if level == "finding":
        return findings.sort([*keys.inner, *finding], nulls_last=True).rename(keys.restore())
    shown = [*keys.inner, *(["study_id"] if level == "study" else [])]
    pooled = [
        study_consistency("ecs_strict", rule=study_rule, rules=rules).alias("ecs_strict"),
        (pl.col("n_tests") > 0).sum().cast(pl.Int64).alias("n_findings"),
        pl.col("n_tests", "n_missing").sum(),
    ]
    if not shown:
        return findings.select(pooled)
    made = findings.group_by(shown).agg(pooled).sort(shown, nulls_last=True)
    return made.rename(keys.restore())


def _known(z: IntoExpr, rules: Rules) -> pl.Expr:
    value = number(z, "reference")
    return pl.when(value.is_finite()).then(value) if rules == "reference" else value


def _quantile(p: Floats, rules: Rules) -> Floats:
    import numpy as np
    from scipy.special import ndtri

    if rules == "reference":
        z = ndtri(1.0 - p)
        return np.where(p >= 1, -_CERTAIN, np.where(p <= 0, _CERTAIN, z))
    return np.clip(-ndtri(p), -_CERTAIN, _BEYOND_FLOATS)  # type: ignore[no-any-return]


def _upper(z: Floats, rules: Rules) -> Floats:
    from scipy.special import ndtr

    return 1.0 - ndtr(z) if rules == "reference" else ndtr(-z)  # type: ignore[no-any-return]
