"""Strict ECS and z-differences: how far effects lie apart in standard errors.

They say as much about the sizes of the samples as about agreement: an agent that is far off agrees
with few participants, and one that is nearly right disagrees with many. Report PAS and ECS instead.
Upper tails are one less the probability below, so that they are 0 from about 1e-16 on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.compat.humanstudy_bench.p_values import chi2_p_value, normal_p_value
from evalframe.core.choices import FindingKey, check_choice
from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.rows import columns_read
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication import p_values as sound
from evalframe.replication.agreement.scored_tests import keys_of
from evalframe.replication.numbers import finite, number, over_numbers

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


FindingConsistencyRule: TypeAlias = Literal["joint", "root_mean_square"]
StudyConsistencyRule: TypeAlias = Literal["stouffer", "mean"]
StrictLevel: TypeAlias = Literal["finding", "study", "overall"]

_MADE = ("ecs_strict", "n_findings", "n_tests", "n_missing")

_CERTAIN = 10.0
"""Normal quantile of 0 and of 1."""

_BEYOND_FLOATS = 40.0
"""A normal quantile above those of all floats above 0."""


def z_difference(
    effect_human: IntoExpr = "effect_size_human",
    std_error_human: IntoExpr = "std_error_human",
    effect_agent: IntoExpr = "effect_size_agent",
    std_error_agent: IntoExpr = "std_error_agent",
) -> pl.Expr:
    """The agent's effect less the human one, over the standard error of the difference.

    If both standard errors are 0, equal effects give 0 and others plus infinity. An infinite
    standard error gives 0.

    Args:
        effect_human: Effect of the human side.
        std_error_human: Its standard error.
        effect_agent: Effect of the agent's side, in the same unit.
        std_error_agent: Its standard error.

    Returns:
        Float64, named `z_difference`; null if an input is null or NaN.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import z_difference
        >>> effects = pl.DataFrame({"human": [0.25], "agent": [0.5], "se_1": [0.3], "se_2": [0.4]})
        >>> effects.select(z_difference("human", "se_1", "agent", "se_2")).item()
        0.5
    """
    columns = (effect_human, std_error_human, effect_agent, std_error_agent)
    human, error, agent, other = map(number, columns)
    gap, variance = agent - human, error**2 + other**2
    # Infinite effects can be equal, though they have no difference.
    exact = pl.when(agent == human).then(0.0).otherwise(math.inf)
    known = gap.is_not_null() & variance.is_not_null()
    scaled = pl.when(variance > 0).then(gap / variance.sqrt()).otherwise(exact)
    return pl.when(known).then(scaled).fill_nan(None).alias("z_difference")


def consistency(z: IntoExpr = "z_difference") -> pl.Expr:
    """The two-sided p-value of a z-difference: 1 for equal effects, near 0 far apart.

    Args:
        z: The z-difference.

    Returns:
        Float64 in [0, 1], named `consistency`. 0 if z is null, NaN or infinite.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import consistency
        >>> round(pl.select(consistency(pl.lit(-1.959964))).item(), 6)
        0.05
    """
    return normal_p_value(number(z), pl.lit(sound.TWO_SIDED)).fill_null(0.0).alias("consistency")


def finding_consistency(
    z: IntoExpr = "z_difference", *, rule: FindingConsistencyRule = "joint"
) -> pl.Expr:
    """The consistency of the tests of a finding, as an aggregation over their z-differences.

    Args:
        z: The z-difference of each test; null, NaN and infinity are left out.
        rule: `joint`: the upper tail of chi-square at the sum of squares, with as many degrees of
            freedom as tests. `root_mean_square`: the consistency of the root mean square, as the
            documentation of the program has it; that is no p-value.

    Returns:
        Float64 in [0, 1], named `finding_consistency`; 0 without a z-difference.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import finding_consistency
        >>> tests = pl.DataFrame({"z_difference": [3.0, None]})
        >>> round(tests.select(finding_consistency()).item(), 4)
        0.0027
    """
    check_choice("rule", rule, FindingConsistencyRule)
    known = finite(z)
    total, count = (known**2).sum(), known.count()
    if rule == "joint":
        several = chi2_p_value(total, count)
    else:
        several = normal_p_value((total / count).sqrt(), pl.lit(sound.TWO_SIDED))
    alone = normal_p_value(total.sqrt(), pl.lit(sound.TWO_SIDED))
    p: pl.Expr = pl.when(count > 1).then(several).when(count == 1).then(alone)
    return p.fill_null(0.0).alias("finding_consistency")


def study_consistency(
    consistency: IntoExpr = "finding_consistency", *, rule: StudyConsistencyRule = "stouffer"
) -> pl.Expr:
    """The consistency of the findings of a study, or of all, as an aggregation over theirs.

    Args:
        consistency: The consistency of each finding, clipped to [0, 1]; null, NaN and infinity are
            left out.
        rule: `stouffer` (1949): one-sided, the p-value of the mean of normal quantiles, where 1
            counts as -10 and 0 as 10. `mean`: their mean, as the documentation of the program has
            it; that is a score and no p-value.

    Returns:
        Float64 in [0, 1], named `study_consistency`; 0 without a finding.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import study_consistency
        >>> findings = pl.DataFrame({"finding_consistency": [0.05, 0.05]})
        >>> round(findings.select(study_consistency()).item(), 4)
        0.01
    """
    check_choice("rule", rule, StudyConsistencyRule)
    p = finite(consistency).clip(0.0, 1.0)
    if rule == "mean":
        pooled = p.mean()
    else:
        count = p.count()
        mean = over_numbers(_quantile, [p]).sum() / count.sqrt()
        tail = over_numbers(_upper, [mean])
        pooled = pl.when(count == 1).then(p.max()).when(count > 1).then(tail)
    return pooled.fill_null(0.0).alias("study_consistency")


@like_input
def strict_ecs(
    tests: Frame,
    level: StrictLevel = "study",
    *,
    by: By = None,
    z: IntoExpr = "z_difference",
    finding_key: FindingKey = "composite",
    finding_rule: FindingConsistencyRule = "joint",
    study_rule: StudyConsistencyRule = "stouffer",
) -> pl.LazyFrame:
    """Strict ECS of findings, of studies, or over all findings of all studies.

    It is high for small samples, and falls with every participant that is added.

    Args:
        tests: One row per test, with `study_id`, `sub_study_id` (unless the key is `finding_id`),
            `finding_id` and the z-difference.
        level: `finding`, `study` or `overall`.
        by: Group keys; by default `model` if the table has one.
        z: The z-difference of each test.
        finding_key: See `replication.replication_rates`.
        finding_rule: See `finding_consistency`.
        study_rule: See `study_consistency`; also over all.

    Returns:
        by..., then the keys of the level, `ecs_strict` (Float64 in [0, 1]), `n_findings` (with a
        consistency, not by finding), `n_tests` (with a z-difference) and `n_missing` (tests without
        one): Int64. Sorted by keys. Lazy if `tests` is.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import strict_ecs
        >>> tests = pl.DataFrame({"study_id": "s", "finding_id": "F1", "z_difference": [0.0, None]})
        >>> strict_ecs(tests, finding_key="finding_id").row(0)
        ('s', 1.0, 1, 1, 1)
    """
    check_choice("level", level, StrictLevel)
    check_choice("finding_key", finding_key, FindingKey)
    of_finding = finding_consistency(z, rule=finding_rule)
    of_study = study_consistency("ecs_strict", rule=study_rule)
    return pooled_consistency(tests, level, by, finite(z), finding_key, of_finding, of_study)


def sound_strict_ecs(tests: Frame, level: StrictLevel, finding_key: FindingKey) -> pl.LazyFrame:
    """Strict ECS without invented values: what is unknown is null, and infinite z give 0."""
    z, p = number("z_difference"), finite("ecs_strict")
    total, count = (z**2).sum(), z.count()
    several = sound.chi2_p_value(total, count)
    alone = sound.normal_p_value(total.sqrt(), pl.lit(sound.TWO_SIDED))
    of_finding = pl.when(count > 1).then(several).when(count == 1).then(alone)
    mean = over_numbers(_sound_quantile, [p]).sum() / p.count().sqrt()
    tail = sound.normal_p_value(mean, pl.lit(sound.GREATER))
    of_study = pl.when(p.count() == 1).then(p.max()).when(p.count() > 1).then(tail)
    return pooled_consistency(tests, level, None, z, finding_key, of_finding, of_study)


def pooled_consistency(
    tests: Frame,
    level: StrictLevel,
    by: By,
    z: pl.Expr,
    finding_key: FindingKey,
    of_finding: pl.Expr,
    of_study: pl.Expr,
) -> pl.LazyFrame:
    """Aggregate z-differences by finding, and these consistencies by study or over all."""
    sub_study = ["sub_study_id"] if finding_key == "composite" else []
    finding = ["study_id", *sub_study, "finding_id"]
    lazy = tests.lazy()
    schema = lazy.collect_schema()
    keys = keys_of(by, schema, [*finding, *_MADE])
    if missing := {*finding, *columns_read([*keys.exprs, z])} - {*schema}:
        raise MissingColumnsError.of("strict_ecs", missing, schema)
    findings = (
        lazy.with_columns(keys.select())
        .group_by([*keys.inner, *finding])
        .agg(
            of_finding.alias("ecs_strict"),
            n_tests=z.count().cast(pl.Int64),
            n_missing=z.null_count().cast(pl.Int64),
        )
    )
    if level == "finding":
        return findings.sort([*keys.inner, *finding], nulls_last=True).rename(keys.restore())
    group = [*keys.inner, *(["study_id"] if level == "study" else [])]
    pooled = [
        of_study.alias("ecs_strict"),
        (pl.col("n_tests") > 0).sum().cast(pl.Int64).alias("n_findings"),
        pl.col("n_tests", "n_missing").sum(),
    ]
    if not group:
        return findings.select(pooled)
    studies = findings.group_by(group).agg(pooled).sort(group, nulls_last=True)
    return studies.rename(keys.restore())


def _quantile(p: Floats) -> Floats:
    import numpy as np
    from scipy.special import ndtri

    return np.where(p >= 1, -_CERTAIN, np.where(p <= 0, _CERTAIN, ndtri(1.0 - p)))


def _upper(z: Floats) -> Floats:
    from scipy.special import ndtr

    return 1.0 - ndtr(z)  # type: ignore[no-any-return]


def _sound_quantile(p: Floats) -> Floats:
    import numpy as np
    from scipy.special import ndtri

    return np.clip(-ndtri(p), -_CERTAIN, _BEYOND_FLOATS)  # type: ignore[no-any-return]
