"""PAS from tests to models, and ECS, of HumanStudy-Bench (HEAD of February 2026).

| case | here | `ef.replication` |
|---|---|---|
| rule of findings and studies | `mean_z` | `fisher_z`, `mean` |
| a test without PAS | `score` if there is one, else 0.5 | missing |
| a test with PAS 0 | as without PAS, but 0 for `weighted_mean` | 0 |
| a PAS of NaN | perfect agreement | missing |
| an impossible PAS or weight | unchanged | missing |
| a finding or study without a usable test | 0.5 | null |
| a test without a study | dropped | missing |
| n_eff of 12.7 | 12 | 12.7 |
| divisor of the concordance | squares not divided by the weights, unlike the shift | divided |
| both sides constant | concordance 1 | 1 if they are equal, else 0 |
| one side constant | correlation 0 | null |
| weights of tests within a study | equal | equal for findings |
| ECS of a finding | Pearson's correlation | concordance |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.agreement import pas_of_posteriors, pas_ratio
from evalframe.core.choices import FindingKey, FindingRule, Missing, StudyRule
from evalframe.core.frames import like_input
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication import rates
from evalframe.replication.agreement.alignment import HUMAN
from evalframe.replication.agreement.ecs import (
    EcsLevel,
    EcsRows,
    Weighting,
    ecs_rows,
    ecs_table,
)
from evalframe.replication.agreement.findings import pooled_tests
from evalframe.replication.agreement.pairs import (
    both_vary,
    correlation,
    if_varying,
    quotient,
    regression,
)
from evalframe.replication.agreement.pooling import N_EFF, PAS, Z
from evalframe.replication.agreement.posteriors import CHANCE, clamped_fisher_z
from evalframe.replication.agreement.scored_tests import (
    LEVELS,
    TWO_WAY,
    VALUE,
    Level,
    Rows,
    Settings,
    read_table,
    usable_weight,
)
from evalframe.replication.agreement.studies import mean_scores, studies_of
from evalframe.replication.numbers import finite, number
from evalframe.replication.rates import pooled_by_precision

if TYPE_CHECKING:
    from evalframe.replication.rates import RateLevel
    from evalframe.resample.methods import Bootstrap


SETTINGS = Settings("mean_z", "mean_z", "composite", "chance")
"""The defaults of the published code."""


@like_input
def finding_scores(
    tests: Frame,
    *,
    by: By = None,
    rule: FindingRule = "mean_z",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "chance",
) -> pl.LazyFrame:
    """`ef.replication.finding_scores` with the published numbers: see the table of this module.

    With `rule="mean"` tests outside [0, 1] are missing, and so is a finding without a test.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import humanstudy_bench
        >>> tests = pl.DataFrame({"study_id": "s1", "finding_id": "F1", "pas": [0.9, None]})
        >>> humanstudy_bench.finding_scores(tests)["pas"].round(3).to_list()
        [0.75]
    """
    settings = Settings(rule, finding_key=finding_key, missing=missing)
    rows = _included(read_table("finding_scores", tests, by, weight, settings, ["tests"]))
    return _findings_of(rows).result(rows.finding)


@like_input
def study_scores(
    scores: Frame,
    *,
    by: By = None,
    rule: StudyRule = "mean_z",
    finding_rule: FindingRule = "mean_z",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "chance",
) -> pl.LazyFrame:
    """`ef.replication.study_scores` with the published numbers: see the table of this module."""
    settings = Settings(finding_rule, rule, finding_key, missing)
    rows = scored_rows("study_scores", scores, by, weight, settings, ["tests", "findings"])
    return studies_of(rows).result(rows.study)


@like_input
def domain_scores(
    scores: Frame,
    *,
    by: By = None,
    finding_rule: FindingRule = "mean_z",
    study_rule: StudyRule = "mean_z",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "chance",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """`ef.replication.domain_scores` with the published numbers: see the table of this module."""
    settings = Settings(finding_rule, study_rule, finding_key, missing)
    rows = scored_rows("domain_scores", scores, by, weight, settings, LEVELS, ["domain"])
    return mean_scores("domain_scores", rows, scored_studies(rows), ["domain"], resample)


@like_input
def model_scores(
    scores: Frame,
    *,
    by: By = None,
    finding_rule: FindingRule = "mean_z",
    study_rule: StudyRule = "mean_z",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "chance",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """`ef.replication.model_scores` with the published numbers: see the table of this module."""
    settings = Settings(finding_rule, study_rule, finding_key, missing)
    rows = scored_rows("model_scores", scores, by, weight, settings, LEVELS)
    return mean_scores("model_scores", rows, scored_studies(rows), [], resample)


def scored_rows(
    caller: str,
    scores: Frame,
    by: By,
    weight: IntoExpr | None,
    settings: Settings,
    levels: Sequence[Level],
    requires: Sequence[str] = (),
) -> Rows:
    """The findings or studies of a table with the value that is averaged; tests become findings."""
    rows = _included(read_table(caller, scores, by, weight, settings, levels, requires))
    return _included(_findings_of(rows)) if rows.level == "tests" else rows


def scored_studies(rows: Rows) -> Rows:
    """The studies of findings or studies with the value that is averaged."""
    return rows if rows.level == "studies" else _included(studies_of(rows))


def _included(rows: Rows) -> Rows:
    """Rows of a study; of findings and studies with `VALUE`, whatever it is."""
    frame = rows.frame.filter(pl.col("study_id").is_not_null())
    if rows.level == "tests":
        return replace(rows, frame=frame)
    value = pl.col("pas").fill_nan(None)
    if rows.rule.fisher:
        z = pl.col("z_pas") if "z_pas" in rows.columns else _z_of_pas(value)
        value = pl.when(z.is_not_nan()).then(z)
    values = {VALUE: value}
    if "pas_normalised" in rows.columns:
        values["pas_normalised"] = pl.col("pas_normalised").fill_nan(None)
    usable = {name: pl.when(usable_weight()).then(expr) for name, expr in values.items()}
    return replace(rows, frame=frame.with_columns(**usable))


def _findings_of(tests: Rows) -> Rows:
    """Findings of tests, under internal names of the keys."""
    columns, rule = tests.columns, tests.settings.finding_rule
    if "pas" in columns:
        share = pl.col("pas")
        two_way = pl.col(TWO_WAY) if TWO_WAY in columns else pl.lit(None, pl.Boolean)
    else:
        share, two_way = pas_of_posteriors("finding_scores", columns, None)
    # The evaluators, whose rule the weighted mean is, keep a PAS of 0.
    missing = share.is_null() if rule == "weighted_mean" else share.is_null() | (share == 0.0)
    other = pl.col("score") if "score" in columns else pl.lit(None, pl.Float64)
    if rule != "mean":
        other = other.fill_null(CHANCE)
    share = pl.when(missing).then(other).otherwise(share)
    if rule == "mean":
        share = pl.when(share.is_between(0.0, 1.0)).then(share)
    n_eff = pl.col("n_eff").fill_nan(None) if "n_eff" in columns else pl.lit(None, pl.Float64)
    rows = tests.frame.with_columns(
        pl.when(usable_weight()).then(share).alias(PAS),
        two_way.alias(TWO_WAY),
        pl.when(n_eff > 0.0).then(n_eff.floor()).otherwise(1.0).alias(N_EFF),
    )
    rows = rows.with_columns(_z_of_pas(pl.col(PAS)).alias(Z))
    skipping = replace(tests.settings, missing="skip") if rule == "mean" else tests.settings
    scored = replace(tests, frame=rows, settings=skipping)
    findings = pooled_tests(scored, _ratio_to_humans(columns), _z_of_pas)
    return replace(findings, settings=tests.settings)


def _ratio_to_humans(columns: Collection[str]) -> pl.Expr | None:
    """`pas_ratio` of each test; the ceiling of the two-way posterior comes first."""
    if "pi_human" not in columns and not {*HUMAN} <= {*columns}:
        return None
    share = pl.col(PAS)
    ratio = pas_ratio(share.fill_nan(float("inf")), "pi_human" if "pi_human" in columns else HUMAN)
    # The original's clamp takes the ratio of NaN for the largest.
    return pl.when(share.is_nan()).then(ratio.abs()).otherwise(ratio)


def _z_of_pas(pas: pl.Expr) -> pl.Expr:
    """Fisher's z from 2 PAS - 1, which rounds in the last digits; the largest of all for NaN."""
    return clamped_fisher_z((2.0 * pas - 1.0).fill_nan(1.0))


@like_input
def ecs(
    tests: Frame,
    level: EcsLevel = "overall",
    *,
    by: By = None,
    human: IntoExpr = "effect_d_human",
    agent: IntoExpr = "effect_d_agent",
    weighting: Weighting | None = None,
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """`ef.replication.ecs` with the published numbers: see the table of this module.

    By default `weighting` is `equal` within a study or finding, otherwise `two_level`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import humanstudy_bench
        >>> tests = pl.DataFrame({"study_id": "s1", "finding_id": ["F1", "F2", "F3"]})
        >>> tests = tests.with_columns(effect_d_human=pl.lit(0.5), effect_d_agent=pl.lit(0.4))
        >>> humanstudy_bench.ecs(tests)["ecs"].to_list()
        [1.0]
    """
    rows = effect_rows("ecs", tests, level, by, human, agent, weighting, finding_key, weight)
    table = ecs_table(rows, level, agreement_values, resample)
    return table.with_columns(ecs="pearson") if level == "finding" else table


def effect_rows(
    caller: str,
    tests: Frame,
    level: EcsLevel,
    by: By,
    human: IntoExpr,
    agent: IntoExpr,
    weighting: Weighting | None,
    finding_key: FindingKey,
    weight: IntoExpr | None,
) -> EcsRows:
    """Tests of a study with their weights; arguments as in `ecs`."""
    if weighting is None:
        weighting = "equal" if level in ("study", "finding") else "two_level"
    rows = ecs_rows(caller, tests, level, by, human, agent, weighting, finding_key, weight)
    return replace(rows, frame=rows.frame.filter(pl.col("study_id").is_not_null()))


def agreement_values(sums: Callable[[str], pl.Expr] = pl.col) -> dict[str, pl.Expr]:
    """`ecs`, `pearson`, `slope` and `intercept` from the sums of `pair_sums`."""
    divisor = sums("x_squares") + sums("y_squares") + sums("gap") ** 2
    lin = quotient(2.0 * sums("products"), divisor, 0.0)
    return {
        "ecs": if_varying(sums, lin, pl.lit(1.0)),
        "pearson": pl.when(both_vary(sums)).then(correlation(sums, 0.0)).otherwise(0.0),
        **regression(sums, 0.0),
    }


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
