"""What scores agents have by chance: those of participants drawn from all models together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.tables import lazy
from evalframe.replication.agreement.posteriors import AGENT_PRIOR_ODDS, HUMAN_PRIOR_ODDS
from evalframe.replication.uncertainty.pipeline import SCORES, Level, Pipeline

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.replication.agreement.ecs_weights import Weighting
    from evalframe.replication.agreement.rules import FindingKey, FindingRule, Missing, StudyRule

PERCENTILES = {
    "percentile_2_5": 0.025,
    "percentile_5": 0.05,
    "median": 0.5,
    "percentile_95": 0.95,
    "percentile_97_5": 0.975,
}
"""Columns of the result and the quantiles that they are, interpolated linearly."""

_POOLED = ":pooled"
_GAP = "\x1f"


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
    finding_rule: FindingRule | None = None,
    study_rule: StudyRule | None = None,
    finding_key: FindingKey = "composite",
    missing: Missing | None = None,
    weighting: Weighting | None = None,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """PAS and ECS of participants drawn at random from all models together: a baseline.

    The participants of all models are pooled; each replicate draws as many of each study as the
    pool has, with replacement, and scores them as one model.

    Args:
        responses: Participants of several models, as `participant_intervals` takes them.
        design: Likewise.
        tests: The human side, likewise.
        participant: Who a response is of, within a model and a study.
        pooled: What tells apart the models that are pooled.
        by: Keys whose groups are pooled apart.
        n: How many times to draw.
        seed: Of the draws.
        level: `model`; `domain` or `study` for the scores of each.
        finding_rule: How tests are pooled; see `finding_scores`.
        study_rule: How findings are pooled; see `study_scores`.
        finding_key: `composite` or `finding_id`; see `finding_scores`.
        missing: `skip` or `chance`; see `study_scores`.
        weighting: Of tests in the ECS; see `ecs`.
        human_prior_odds: Prior odds of the human side where the table has none.
        agent_prior_odds: Prior odds of the agents.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        by..., `domain` or `study_id`; `metric` (`pas`, `pas_normalised`, `ecs`), `mean`, `sd`
        (population standard deviation, of the replicates), `percentile_2_5`, `percentile_5`,
        `median`, `percentile_95`, `percentile_97_5` (Float64, interpolated linearly, null without a
        replicate) and `n_replicates` (Int64, those that have a score). Sorted. Lazy; drawn at once.

    Raises:
        MissingColumnsError: A table lacks a column.
        UnknownNameError: A test type is not known.
        ContractError: The design breaks its contract, or a statistic is impossible.
        ParameterError: An argument lies outside its domain.

    References:
        HumanStudy-Bench (HEAD of February 2026), random alignment of 100 resamples.

    Examples:
        >>> from evalframe.replication.sample import sample_designs, sample_participants
        >>> from evalframe.replication.sample import sample_tests
        >>> from evalframe.replication.uncertainty import random_alignment
        >>> found = random_alignment(
        ...     sample_participants(), sample_designs(), sample_tests(), n=20
        ... ).collect()
        >>> found.select("metric", "n_replicates").rows()
        [('pas', 20), ('pas_normalised', 20), ('ecs', 20)]
    """
    from evalframe.replication.uncertainty.participant_replicates import replicate_scores
    from evalframe.resample.methods import Bootstrap

    pipeline = Pipeline.of(
        *(tests, by, level, finding_rule, study_rule, finding_key, missing, weighting),
        *(human_prior_odds, agent_prior_odds, rules),
    )
    names = [as_expr(column).cast(pl.String) for column in (pooled, participant)]
    together = lazy(responses).with_columns(pl.concat_str(names, separator=_GAP).alias(_POOLED))
    method = Bootstrap(cluster=_POOLED, n=n, seed=seed)
    keys = [] if by is None else by
    drawn = pl.concat(replicate_scores(pipeline, together, design, keys, method))
    group = [*pipeline.group, "metric"]
    long = drawn.lazy().unpivot(
        on=[*SCORES], index=pipeline.group, variable_name="metric", value_name="score"
    )
    score = pl.col("score")
    quantiles = {
        name: score.quantile(share, interpolation="linear") for name, share in PERCENTILES.items()
    }
    summed = long.group_by(group).agg(
        mean=score.mean(),
        sd=score.std(ddof=0),
        **quantiles,
        n_replicates=score.count().cast(pl.Int64),
    )
    order = pl.col("metric").replace_strict([*SCORES], [*range(len(SCORES))])
    return summed.sort(*pipeline.group, order)
