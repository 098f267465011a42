"""Uncertainty of PAS and ECS from participants, by chance, and of any statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.choices import FindingKey, FindingRule, Missing, StudyRule
from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.posteriors import AGENT_PRIOR_ODDS, HUMAN_PRIOR_ODDS
from evalframe.replication.agreement.scored_tests import Settings
from evalframe.replication.chain import Chain, Level, Pipeline

if TYPE_CHECKING:
    from evalframe.replication.agreement.ecs import Weighting
    from evalframe.resample.methods import Bootstrap


@like_input
def participant_intervals(
    responses: Frame,
    design: Frame,
    tests: Frame,
    *,
    resample: Bootstrap,
    level: Level = "model",
    by: By = "model",
    finding_rule: FindingRule = "fisher_z",
    study_rule: StudyRule = "mean",
    finding_key: FindingKey = "composite",
    missing: Missing = "skip",
    weighting: Weighting = "two_level",
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
) -> pl.LazyFrame:
    """PAS and ECS of agents, with intervals from drawing their participants anew.

    Each replicate draws as many participants of each study as it has, and computes everything after
    them again: test statistics, Bayes factors, posteriors, PAS from test to model, effects, ECS.
    The human side is fixed. The result is the uncertainty of asking the same agents again; for the
    uncertainty of other studies see `model_scores`.

    Statistics of a resample contain the sampling error twice, so replicates differ from the
    estimate by `bias`. Percentile intervals are moved by it and cut to the range of the score;
    basic and normal ones are not. They are intervals of the average score with this number of
    participants, not with a very large number. In simulations of 16 tests in 8 studies intervals of
    0.95 contained the average score of 40 participants in 0.92 of all cases for PAS and 0.83 for
    ECS, of 100 in 0.88 and 0.91, and of 400 in 0.99 and 0.97.

    Args:
        responses: Those of agents, as in `participant_statistics`.
        design: As in `participant_statistics`.
        tests: The human side, one row per test: the keys of the design; posteriors, else Bayes
            factors, else statistics; and if present `effect_d_human`, `domain`, `test_weight`,
            `finding_weight`, `prior_odds_agent`. A table with the columns of `by` has a human side
            per group. A test without responses is missing; responses to other tests are ignored.
        resample: `ef.Bootstrap(cluster="participant_id")`; not with `bca` intervals, and
            `expanded_bca` is `expanded` here, since no participant is left out.
        level: `model`; `domain` or `study` within it.
        by: Columns that identify the model.
        finding_rule: As in `model_scores`.
        study_rule: As in `model_scores`.
        finding_key: As in `model_scores`.
        missing: As in `model_scores`.
        weighting: As in `ecs`.
        human_prior_odds: Prior odds of the human side in rows without a value.
        agent_prior_odds: Prior odds of the agents.

    Returns:
        by..., `domain` or `study_id`; `pas`, `pas_normalised` and `ecs` (Float64), each followed by
        its `_std_error`, `_lower`, `_upper`, `_drop_rate` and `_bias` (mean of the replicates minus
        the estimate); `n_clusters` (Int64, participants). ECS is null if humans have no effects.
        Sorted by the keys. The bootstrap is computed at once.

    Raises:
        ContractError: The design breaks its contract, or a statistic is impossible.
        ParameterError: An argument is invalid, the human side has a test twice, or no study has two
            participants.

    References:
        HumanStudy-Bench (HEAD of February 2026), `score_se` of its legacy summary, which draws the
        responses of agents 200 times.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> keys = {"study_id": "s1", "finding_id": "F1"}
        >>> values = {"participant_id": range(8), "value": [1.0, 3.0, 2.0, 2.5, 1.5, 4.0, 0.5, 2.0]}
        >>> responses = pl.DataFrame({"model": "a", **keys, **values})
        >>> design = pl.DataFrame({**keys, "test_type": "t-test", "samples": "one"})
        >>> people = pl.DataFrame({**keys, "pi_human": 0.9})
        >>> drawn = ef.Bootstrap(cluster="participant_id", n=200)
        >>> result = ef.replication.participant_intervals(responses, design, people, resample=drawn)
        >>> result.select(pl.col("pas", "pas_std_error").round(2), "n_clusters").rows()
        [(0.88, 0.03, 8)]
    """
    from evalframe.replication.uncertainty.participant_replicates import with_participant_spreads

    settings = Settings(finding_rule, study_rule, finding_key, missing)
    pipeline = Pipeline.of(
        Chain(),
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
    finding_rule: FindingRule = "fisher_z",
    study_rule: StudyRule = "mean",
    finding_key: FindingKey = "composite",
    missing: Missing = "skip",
    weighting: Weighting = "two_level",
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
) -> pl.LazyFrame:
    """PAS and ECS of participants drawn at random from all models together: a baseline.

    The participants of all models are pooled. Each replicate draws as many of each study as the
    pool has, with replacement, and scores them as one model.

    Args:
        responses: Participants of several models, as in `participant_intervals`.
        design: The tests on them, as in `participant_intervals`.
        tests: The human side, as in `participant_intervals`.
        participant: Column that identifies a participant within a model and a study.
        pooled: Column that identifies the models that are pooled.
        by: Keys whose groups are pooled separately.
        n: Number of draws.
        seed: Seed of the draws.
        level: `model`; `domain` or `study` for the scores of each.
        finding_rule: As in `model_scores`.
        study_rule: As in `model_scores`.
        finding_key: As in `model_scores`.
        missing: As in `model_scores`.
        weighting: As in `ecs`.
        human_prior_odds: As in `participant_intervals`.
        agent_prior_odds: As in `participant_intervals`.

    Returns:
        by..., `domain` or `study_id`; `metric` (`pas`, `pas_normalised`, `ecs`), `mean`, `sd`
        (population standard deviation, of the replicates), `percentile_2_5`, `percentile_5`,
        `median`, `percentile_95`, `percentile_97_5` (Float64, interpolated linearly, null without a
        replicate) and `n_replicates` (Int64, with a score). Sorted. Drawn at once.

    Raises:
        ContractError: The design breaks its contract, or a statistic is impossible.

    References:
        HumanStudy-Bench (HEAD of February 2026), random alignment of 100 resamples.

    Examples:
        >>> from evalframe.replication.sample import sample_designs, sample_participants
        >>> from evalframe.replication.sample import sample_tests
        >>> from evalframe.replication import random_alignment
        >>> result = random_alignment(
        ...     sample_participants(), sample_designs(), sample_tests(), n=20
        ... )
        >>> result.select("metric", "n_replicates").rows()
        [('pas', 20), ('pas_normalised', 20), ('ecs', 20)]
    """
    from evalframe.replication.uncertainty.participant_replicates import random_scores

    settings = Settings(finding_rule, study_rule, finding_key, missing)
    pipeline = Pipeline.of(
        Chain(),
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
    """Mean and standard deviation of any statistic over rows drawn with replacement.

    For other statistics than scores and metrics: these have intervals in `model_scores`, `ecs`,
    `participant_intervals` and `ef.evaluate`.

    Args:
        rows: Rows to draw, in each group as many as it has.
        statistic: An aggregating expression.
        by: Group keys.
        n: Number of replicates.
        seed: Seed of the draws.

    Returns:
        by..., `mean` (Float64, of the finite replicates, null without one), `std_error` (their
        standard deviation with ddof 1, null below two) and `n_replicates` (Int64, their number).
        Sorted by the keys. Computed at once.

    References:
        HumanStudy-Bench (HEAD of February 2026), its bootstrap of standard errors.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> studies = pl.DataFrame({"pas": [0.2, 0.4, 0.6, 0.8]})
        >>> ef.replication.bootstrap_moments(studies, pl.col("pas").median()).select(
        ...     pl.col("mean", "std_error").round(2), "n_replicates"
        ... ).rows()
        [(0.49, 0.15, 1000)]
    """
    import numpy as np

    from evalframe.core.progress import bar
    from evalframe.core.states import CLUSTER
    from evalframe.resample.contraction import GROUP
    from evalframe.resample.intervals import Sample
    from evalframe.resample.join import replicates
    from evalframe.resample.methods import Bootstrap

    keys = Keys.of(by, ["mean", "std_error", "n_replicates"])
    table = lazy(rows).with_columns(keys.select()).collect()
    if keys.inner:
        groups = table.select(keys.inner).unique().sort(keys.inner).with_row_index(GROUP)
        numbered = table.join(groups, on=keys.inner, nulls_equal=True, maintain_order="left")
    else:
        groups = pl.DataFrame({GROUP: [0]}, schema={GROUP: pl.UInt32})
        numbered = table.with_columns(pl.lit(0, dtype=pl.UInt32).alias(GROUP))
    numbered = numbered.with_columns(pl.int_range(pl.len()).over(GROUP).alias(CLUSTER))
    method = Bootstrap(cluster=CLUSTER, n=n, seed=seed)
    with bar("bootstrap") as report:
        values = replicates(method, numbered, [statistic], len(groups), report)[0]
    drawn = np.where(np.isfinite(values), values, np.nan)
    sample = Sample(np.zeros(len(groups)), drawn)
    moments = groups.with_columns(
        pl.Series("mean", sample.mean),
        pl.Series("std_error", sample.std_error),
        pl.Series("n_replicates", sample.count, dtype=pl.Int64),
    )
    moments = moments.with_columns(pl.col("mean", "std_error").fill_nan(None))
    return moments.drop(GROUP).lazy().rename(keys.restore())


def preferred_std_error(
    repeat: IntoExpr | None = None,
    bootstrap: IntoExpr | None = "pas_std_error",
    stored: IntoExpr | None = None,
) -> pl.Expr:
    """The first valid standard error of a PAS: of repeated runs, of a bootstrap, or stored.

    A row-level expression; null, NaN, infinite and negative values are not valid. Repeated runs
    contain all variation, a bootstrap of participants only that of sampling them.

    Args:
        repeat: Standard error over repeated runs.
        bootstrap: Standard error of a bootstrap, such as that of `participant_intervals`.
        stored: Standard error stored with the scores.

    Returns:
        Struct of Float64 `std_error` and String `se_method` (`repeat`, `bootstrap`, `stored`),
        named `preferred_std_error`; both null without a valid one.

    Raises:
        ParameterError: All arguments are None.

    References:
        HumanStudy-Bench (HEAD of February 2026), `raw_se` and `se_method` of its legacy summary.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> studies = pl.DataFrame({"pas_std_error": [0.1, None], "score_se": [0.3, 0.2]})
        >>> errors = ef.replication.preferred_std_error(stored="score_se")
        >>> studies.select(errors).unnest(pl.all()).rows()
        [(0.1, 'bootstrap'), (0.2, 'stored')]
    """
    columns = {"repeat": repeat, "bootstrap": bootstrap, "stored": stored}
    errors = {name: _std_error(column) for name, column in columns.items() if column is not None}
    if not errors:
        raise ParameterError(f"name a column of standard errors: {', '.join(columns)}")
    methods = (pl.when(error.is_not_null()).then(pl.lit(name)) for name, error in errors.items())
    return pl.struct(
        pl.coalesce(*errors.values()).alias("std_error"), pl.coalesce(*methods).alias("se_method")
    ).alias("preferred_std_error")


def _std_error(column: IntoExpr) -> pl.Expr:
    error = as_expr(column).cast(pl.Float64)
    return pl.when(error.is_finite() & (error >= 0)).then(error)
