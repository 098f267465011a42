"""ECS: the concordance of human and agent effects, by groups, domains, studies and findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.choices import FindingKey, check_choice
from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.state import ratio
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.pairs import MASS, Values, X, Y, agreement_values, pair_sums
from evalframe.replication.agreement.posteriors import fisher_z
from evalframe.replication.agreement.scored_tests import check_numbers, keys_of

if TYPE_CHECKING:
    from evalframe.core.tables import Keys
    from evalframe.resample.methods import Bootstrap


EcsLevel: TypeAlias = Literal["overall", "domain", "study", "finding"]
Weighting: TypeAlias = Literal["two_level", "two_level_valid", "equal"]

LEAST = 3
"""Smallest number of tests of an ECS."""

_FLAT = 1e-10
"""Standard deviations up to this have no correlation within a finding."""

_RESERVED = (
    *("study_id", "sub_study_id", "finding_id", "domain", "ecs", "pearson", "slope", "intercept"),
    *("p_null", "n_tests", "n_missing", "missing_rate"),
)


@like_input
def ecs(
    tests: Frame,
    level: EcsLevel = "overall",
    *,
    by: By = None,
    human: IntoExpr = "effect_d_human",
    agent: IntoExpr = "effect_d_agent",
    weighting: Weighting = "two_level",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """Effect concordance score: Lin's concordance correlation of human and agent effects.

    The weight of a test is 1 / (findings of its study) / (tests of its finding): studies have equal
    weights, and findings within a study. Findings and tests without effects are counted there: a
    study has less weight the more of them are missing.

    Args:
        tests: One row per model, study, sub-study, finding and test: `study_id`, `finding_id`,
            effects, and if present `model`, `sub_study_id`, `domain`.
        level: `overall`, by `domain`, by `study`, or by `finding`.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        human: Standardised effect of humans (d); null, NaN and infinite values are missing.
        agent: Standardised effect of agents.
        weighting: `two_level`, as above. `two_level_valid`: count only findings and tests with both
            effects; then every study with one has the same weight. `equal`: all tests equally.
        finding_key: `composite`: findings of different sub-studies are different; `finding_id`: see
            `finding_scores`.
        weight: Number of times that each test is included, in addition to these weights. Tests of
            weight 0 are dropped.
        resample: `ef.Bootstrap(cluster="study_id")` draws studies, by domains within them.
            `ef.Bootstrap(cluster="finding_id")` draws findings within their study. A cluster drawn
            twice is included twice, with its weight. All groups see the same draws. See
            `model_scores`.

    Returns:
        by..., `domain`, `study_id` or the finding's keys; `ecs` (Float64 in [-1, 1]; null if fewer
        than 3 tests have both effects, or squares of effects overflow or underflow, beyond 1e150 or
        1e-140; 0 if one side is constant; if both are, 1 if they are equal, else 0), `pearson`
        (weighted; null if a side is constant), `slope` and `intercept` (of agents on humans, the
        caricature; null if humans do not vary), `n_tests` (Int64, with both effects), `n_missing`
        and `missing_rate` (their share). A finding has a `pearson` from 2 tests on, if both
        standard deviations exceed 1e-10, and `p_null`, its two-sided p-value by Fisher's z. Sorted
        by the keys.

        With `resample` each of `ecs`, `pearson`, `slope` and `intercept` is followed by its
        `_std_error`, `_lower`, `_upper` and `_drop_rate`, and `n_clusters` (Int64, studies or
        findings with both effects) is the last column; null if nothing varies. Replicates with
        fewer than 3 tests are dropped. The bootstrap is computed at once.

    Raises:
        ParameterError: An argument is invalid, or there are fewer than two clusters.

    References:
        HumanStudy-Bench (HEAD of February 2026), ECS; Lin (1989), A concordance correlation
        coefficient to evaluate reproducibility; arXiv 2602.00685.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"study_id": "s1", "finding_id": ["F1", "F2", "F3"]})
        >>> human, agent = (pl.Series(effects) for effects in ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]))
        >>> tests = tests.with_columns(effect_d_human=human, effect_d_agent=agent)
        >>> ef.replication.ecs(tests).select(pl.col("ecs", "slope").round(6), "n_tests").row(0)
        (0.571429, 1.0, 3)
    """
    rows = ecs_rows("ecs", tests, level, by, human, agent, weighting, finding_key, weight)
    return ecs_table(rescaled(rows, weight), level, agreement_values, resample)


@dataclass(frozen=True)
class EcsRows:
    """Tests with effects and weights: keys under internal names, `domain` if present, X, Y, MASS.

    `finding` has the columns of a finding within the keys, the study first, and `group` those of a
    row of the result.
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
    weighting: Weighting,
    finding_key: FindingKey,
    weight: IntoExpr | None,
) -> EcsRows:
    """The tests with their weights; arguments as in `ecs`."""
    check_choice("level", level, EcsLevel)
    requires = ["domain"] if level == "domain" else []
    columns = [human, agent, *([] if weight is None else [weight])]
    schema, keys, finding = checked_tests(
        caller, tests, by, columns, weighting, finding_key, requires
    )
    times = pl.lit(1.0) if weight is None else as_expr(weight).cast(pl.Float64)
    rows = tables.lazy(tests).select(
        *keys.select(),
        *finding,
        *(["domain"] if "domain" in schema else []),
        as_expr(human).cast(pl.Float64).alias(X),
        as_expr(agent).cast(pl.Float64).alias(Y),
        times.alias(MASS),
    )
    if weight is not None:
        rows = rows.filter(pl.col(MASS).ne_missing(0.0))
    within = [*keys.inner, *finding], [*keys.inner, "study_id"]
    by_finding, by_study = ([pl.col(name) for name in names] for names in within)
    share = share_of(by_finding, by_study, pl.col(X), pl.col(Y), weighting)
    names = {"overall": [], "domain": ["domain"], "study": ["study_id"], "finding": finding}
    group = [*keys.inner, *names[level]]
    return EcsRows(rows.with_columns(pl.col(MASS) * share), keys, finding, group)


def rescaled(rows: EcsRows, weight: IntoExpr | None) -> EcsRows:
    """Divide weights from users by the power of 2 below the largest.

    The shares stay the same, and sums do not overflow.
    """
    if weight is None:
        return rows
    mass = pl.col(MASS)
    largest = pl.when(mass.is_finite() & (mass > 0.0)).then(mass).max()
    exponent = largest.log(2.0).floor().clip(upper_bound=1023.0)
    scaled = mass / (2.0**exponent).fill_null(1.0)
    return replace(rows, frame=rows.frame.with_columns(scaled.alias(MASS)))


def ecs_table(
    rows: EcsRows, level: EcsLevel, values: Values, resample: Bootstrap | None
) -> pl.LazyFrame:
    """The ECS of groups, with intervals if tests are resampled, by the names of the keys."""
    if resample is not None:
        from evalframe.replication.uncertainty.scores import with_ecs_spreads

        return with_ecs_spreads(resample, rows, level, values).rename(rows.keys.restore())
    return ecs_of(rows, level, values).rename(rows.keys.restore())


def ecs_of(rows: EcsRows, level: EcsLevel, values: Values) -> pl.LazyFrame:
    """The ECS of groups, under internal names of the keys, sorted."""
    sums = pair_sums(rows.frame, rows.group)
    all_values = values(pl.col)
    count, missing = pl.col("n_tests"), pl.col("n_missing")
    columns: dict[str, pl.Expr] = {
        name: pl.when(count >= LEAST).then(value) for name, value in all_values.items()
    }
    if level == "finding":
        smallest = pl.min_horizontal("x_squares", "y_squares")
        spread = ratio(smallest, pl.col("mass")).sqrt() > _FLAT
        columns["pearson"] = pl.when((count >= 2) & spread).then(all_values["pearson"])
        columns["p_null"] = p_null(columns["pearson"], count)
    rate = ratio(missing.cast(pl.Float64), (count + missing).cast(pl.Float64))
    table = sums.select(
        *rows.group,
        *(value.alias(name) for name, value in columns.items()),
        count,
        missing,
        rate.alias("missing_rate"),
    )
    return table.sort(rows.group) if rows.group else table


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
        tests: As in `ecs`.
        by: As in `ecs`.
        human: As in `ecs`.
        agent: As in `ecs`.
        weighting: As in `ecs`.
        finding_key: As in `ecs`.

    Returns:
        The table, its rows in their order, with `ecs_weight` (Float64, null for a test without a
        study, and with `two_level_valid` for one without both effects).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"study_id": ["s1"] * 3, "finding_id": ["F1", "F1", "F2"]})
        >>> tests = tests.with_columns(effect_d_human=pl.lit(0.5), effect_d_agent=pl.lit(0.4))
        >>> ef.replication.with_ecs_weights(tests)["ecs_weight"].to_list()
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
    counted = study[-1].is_not_null()
    if weighting == "equal":
        return pl.when(counted).then(1.0)
    if weighting == "two_level_valid":
        counted = counted & (x.is_finite() & y.is_finite()).fill_null(value=False)
    per_test = pl.when(counted).then(1.0 / counted.sum().over(finding))
    # The shares of the tests of a finding sum to 1, those of a study to its number of findings.
    return per_test / per_test.sum().over(study).round()


def p_null(r: IntoExpr = "pearson", n: IntoExpr = "n_tests") -> pl.Expr:
    """Two-sided p-value of a zero correlation by Fisher's z: 2 (1 - Phi(|z| sqrt(n - 3))).

    Args:
        r: Correlation, between -1 and 1.
        n: Number of pairs.

    Returns:
        Float64 in [0, 1], named `p_null`; null if r is null or not inside (-1, 1), or n is below 4.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.p_null(pl.lit(0.5), pl.lit(19))).to_series().round(6).item()
        0.028004
    """
    correlation, count = as_expr(r).cast(pl.Float64), as_expr(n).cast(pl.Float64)
    defined = (correlation.abs() < 1.0) & (count >= 4.0)
    z = pl.when(defined).then(fisher_z(correlation).abs() * (count - 3.0).sqrt())
    return z.map_batches(_two_tails, return_dtype=pl.Float64, is_elementwise=True).alias("p_null")


def _two_tails(z: pl.Series) -> pl.Series:
    import numpy as np
    from scipy.special import erfc

    return pl.Series(z.name, erfc(z.to_numpy() / np.sqrt(2.0)), nan_to_null=True)
