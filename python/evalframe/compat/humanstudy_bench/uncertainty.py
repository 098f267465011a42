"""Uncertainty of the scores of HumanStudy-Bench, and its evidence.

These functions draw and compare like those of `ef.replication`; the scores are those published.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.agreement import posteriors_of, with_pas, with_posteriors
from evalframe.compat.humanstudy_bench.bayes_factors import with_bayes_factors
from evalframe.compat.humanstudy_bench.effects import KIND_NAMES, with_effect_sizes
from evalframe.compat.humanstudy_bench.scores import (
    agreement_values,
    domain_scores,
    ecs,
    effect_rows,
    model_scores,
    scored_rows,
    scored_studies,
    study_scores,
)
from evalframe.core.choices import FindingKey, FindingRule, Missing, StudyRule
from evalframe.core.frames import like_input
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.posteriors import AGENT_PRIOR_ODDS, HUMAN_PRIOR_ODDS
from evalframe.replication.agreement.scored_tests import LEVELS, Settings
from evalframe.replication.chain import Chain, Level, Pipeline
from evalframe.replication.effects.kinds import kind_of
from evalframe.replication.evidence import check_tests, evidence_by
from evalframe.replication.uncertainty import participants
from evalframe.replication.uncertainty.differences import (
    Correction,
    Score,
    comparison_keys,
    differences,
    selected_metrics,
)

if TYPE_CHECKING:
    from evalframe.core.choices import MissingAgent
    from evalframe.replication.agreement.ecs import Weighting
    from evalframe.resample.methods import Bootstrap


CHAIN = Chain(
    kind_of=partial(kind_of, names=KIND_NAMES),
    bayes_factors=with_bayes_factors,
    with_posteriors=with_posteriors,
    posteriors=posteriors_of,
    with_directions=lambda tests, sides: tests,
    agents_where_humans_tell=lambda tests: tests,
    effect_sizes=with_effect_sizes,
    pas=with_pas,
    scores={"model": model_scores, "domain": domain_scores, "study": study_scores},
    ecs=ecs,
)
"""The functions of the published program from test statistics to scores."""


_OF_ALL = ":of_all"


@like_input
def with_evidence(
    tests: Frame,
    *,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
    missing_agent: MissingAgent = "skip",
) -> pl.LazyFrame:
    """`ef.replication.with_evidence` by the functions of this program.

    Directions are columns only, and tests are not checked for what is possible.
    """
    table = lazy(tests)
    check_tests(table, missing_agent)
    return evidence_by(CHAIN, table, human_prior_odds, agent_prior_odds, missing_agent)


@like_input
def model_differences(
    scores: Frame,
    *,
    resample: Bootstrap,
    between: IntoExpr = "model",
    by: By = None,
    metrics: Sequence[Score] | None = None,
    finding_rule: FindingRule = "mean_z",
    study_rule: StudyRule = "mean_z",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "chance",
    human: IntoExpr = "effect_d_human",
    agent: IntoExpr = "effect_d_agent",
    weighting: Weighting | None = None,
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """`ef.replication.model_differences` of the published scores."""
    settings = Settings(finding_rule, study_rule, finding_key, missing)
    caller, keys = "model_differences", comparison_keys(by, between)
    selected = selected_metrics(scores, metrics, human, agent)
    scored = effects = None
    if {*selected} != {"ecs"}:
        rows = scored_rows(caller, scores, keys, weight, settings, LEVELS)
        scored = rows, scored_studies(rows)
    if "ecs" in selected:
        effects = effect_rows(
            *(caller, scores, "overall", keys, human, agent, weighting, finding_key, weight)
        )
    return differences(resample, selected, correction, scored, effects, agreement_values)


@like_input
def participant_intervals(
    responses: Frame,
    design: Frame,
    tests: Frame,
    *,
    resample: Bootstrap,
    level: Level = "model",
    by: By = "model",
    finding_rule: FindingRule = "mean_z",
    study_rule: StudyRule = "mean_z",
    finding_key: FindingKey = "composite",
    missing: Missing = "chance",
    weighting: Weighting | None = None,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
) -> pl.LazyFrame:
    """`ef.replication.participant_intervals` of the published scores."""
    from evalframe.replication.uncertainty.participant_replicates import with_participant_spreads

    settings = Settings(finding_rule, study_rule, finding_key, missing)
    pipeline = Pipeline.of(
        CHAIN,
        tests,
        by,
        level,
        settings,
        weighting,
        human_prior_odds,
        agent_prior_odds,
    )
    return with_participant_spreads(pipeline, responses, design, by, resample)


@like_input
def random_alignment(
    responses: Frame,
    design: Frame,
    tests: Frame,
    *,
    participant: IntoExpr = "participant_id",
    pooled: IntoExpr = "model",
    by: By = None,
    n: int = 100,
    seed: int = 42,
    level: Level = "model",
    finding_rule: FindingRule = "mean_z",
    study_rule: StudyRule = "mean_z",
    finding_key: FindingKey = "composite",
    missing: Missing = "chance",
    weighting: Weighting | None = None,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
) -> pl.LazyFrame:
    """`ef.replication.random_alignment` of the published scores."""
    from evalframe.replication.uncertainty.participant_replicates import random_scores

    settings = Settings(finding_rule, study_rule, finding_key, missing)
    pipeline = Pipeline.of(
        CHAIN,
        tests,
        by,
        level,
        settings,
        weighting,
        human_prior_odds,
        agent_prior_odds,
    )
    return random_scores(
        pipeline, responses, design, participant=participant, pooled=pooled, by=by, n=n, seed=seed
    )


@like_input
def bootstrap_moments(
    rows: Frame, statistic: pl.Expr, *, by: By = None, n: int = 1000, seed: int = 42
) -> pl.LazyFrame:
    """`ef.replication.bootstrap_moments` without nulls.

    Without a finite replicate the mean is the statistic of all rows, or 0 without rows; a standard
    error that is undefined is 0.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import humanstudy_bench
        >>> studies = pl.DataFrame({"pas": [0.2]})
        >>> moments = humanstudy_bench.bootstrap_moments(studies, pl.col("pas").std(), n=10)
        >>> moments.rows()
        [(0.0, 0.0, 0)]
    """
    moments = participants.bootstrap_moments(lazy(rows), statistic, by=by, n=n, seed=seed)
    keys = Keys.of(by)
    of_all = statistic.cast(pl.Float64).alias(_OF_ALL)
    table = lazy(rows)
    if keys.names:
        totals = table.group_by(keys.exprs).agg(of_all)
        moments = moments.join(
            totals, on=[*keys.names], how="left", nulls_equal=True, maintain_order="left"
        )
    else:
        moments = pl.concat([moments, table.select(of_all)], how="horizontal")
    return moments.with_columns(
        pl.col("mean").fill_null(pl.col(_OF_ALL)).fill_null(0.0), pl.col("std_error").fill_null(0.0)
    ).drop(_OF_ALL)
