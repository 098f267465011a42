"""Differences of models in PAS and ECS, paired by study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_choice
from evalframe.core.tables import Keys, lazy
from evalframe.replication.agreement.alignment import HUMAN
from evalframe.replication.agreement.ecs_rows import ecs_rows
from evalframe.replication.agreement.given import LEVELS, Settings, given_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.replication.agreement.ecs_weights import Weighting
    from evalframe.replication.agreement.rules import FindingKey, FindingRule, Missing, StudyRule
    from evalframe.resample.methods import Bootstrap

Score: TypeAlias = Literal["pas", "pas_normalised", "ecs"]
Correction: TypeAlias = Literal["holm", "bonferroni", "benjamini_hochberg", "none"]


def model_differences(
    scores: Frame,
    *,
    resample: Bootstrap,
    between: IntoExpr = "model",
    by: By = None,
    metrics: Sequence[Score] | None = None,
    finding_rule: FindingRule | None = None,
    study_rule: StudyRule | None = None,
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing | None = None,
    human: IntoExpr = "effect_d_human",
    agent: IntoExpr = "effect_d_agent",
    weighting: Weighting | None = None,
    correction: Correction = "holm",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Differences of all pairs of models in PAS and ECS, over the studies that both have.

    Both models of a pair see the same draws, so that what is easy or hard about a study does not
    count as uncertainty of their difference. With few studies p-values of most intervals are too
    small, and with five or fewer 1,000 draws cannot give a small one, see `ef.compare`.

    Args:
        scores: Tests, findings or studies, as `model_scores` takes them; ECS needs tests.
        resample: `ef.Bootstrap(cluster="study_id")`, or `cluster="finding_id"` for findings within
            their study; see `model_scores`.
        between: What is compared, each with each other.
        by: Compare within each group of these keys.
        metrics: `pas`, `pas_normalised`, `ecs`; by default `pas`, and `ecs` if there are effects.
        finding_rule: How tests are pooled; see `finding_scores`.
        study_rule: How findings are pooled; see `study_scores`.
        finding_key: `composite` or `finding_id`; see `finding_scores`.
        weight: How often each row of the table given counts.
        missing: `skip` or `chance`; see `study_scores`.
        human: Standardised effect of humans.
        agent: Standardised effect of agents.
        weighting: Of tests in the ECS; see `ecs`.
        correction: Of the p-values of all pairs and scores: `holm`, `bonferroni`,
            `benjamini_hochberg` or `none`.
        rules: `documented`, or `reference` for the original's scores.

    Returns:
        by..., `metric` (`pas`, ...), `left`, `right` (models in order), `estimate_left`,
        `estimate_right` (over shared studies), `delta` (right minus left), `std_error`, `lower`,
        `upper` (of delta), `p_value` (two-sided, that delta is 0, by inverting the
        interval), `p_adjusted`, `n_clusters` (Int64, shared studies in which both have the score)
        and `drop_rate`: as `ef.compare` gives them. Null where undefined: no shared study, or no
        cluster that could have been another. Sorted. Lazy; the bootstrap is computed at once.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, there are no two models, or no two
            clusters to draw.

    References:
        Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> from evalframe.replication.uncertainty import model_differences
        >>> studies = pl.DataFrame(
        ...     {
        ...         "model": ["a"] * 4 + ["b"] * 4,
        ...         "study_id": ["s1", "s2", "s3", "s4"] * 2,
        ...         "pas": [0.5, 0.75, 0.25, 0.5, 0.75, 0.75, 0.5, 1.0],
        ...     }
        ... )
        >>> found = model_differences(studies, resample=ef.Bootstrap(cluster="study_id"))
        >>> found.select("left", "right", "delta", "lower", "upper", "n_clusters").collect().rows()
        [('a', 'b', 0.25, 0.0, 0.5, 4)]
    """
    from evalframe.replication.uncertainty.compared import compared_concordance, compared_scores
    from evalframe.replication.uncertainty.sampling import cluster_drawn
    from evalframe.replication.uncertainty.spreads import numbers
    from evalframe.resample.intervals import adjusted_p_values
    from evalframe.resample.paired import PAIRED_RESULT

    check_choice("correction", correction, Correction)
    cluster = cluster_drawn("model_differences", resample)
    wanted = _metrics(scores, metrics, human, agent)
    Keys.of(by, PAIRED_RESULT)
    keys = [*_listed(by), between]
    compared: list[pl.DataFrame] = []
    of_pas = [name for name in wanted if name != "ecs"]
    if of_pas:
        settings = Settings.of(rules, finding_rule, study_rule, finding_key, missing)
        given = given_table("model_differences", scores, keys, weight, settings, levels=LEVELS)
        compared.append(compared_scores(resample, given, cluster, of_pas))
        restore = given.keys.restore()
    if "ecs" in wanted:
        rows = ecs_rows(
            "model_differences",
            *(scores, "overall", keys, human, agent, weighting, finding_key, weight, rules),
        )
        compared.append(compared_concordance(resample, rows, cluster, rules))
        restore = rows.keys.restore()
    inner = [*restore]
    found = pl.concat(compared)
    p_adjusted = adjusted_p_values(numbers(found["p_value"]), correction)
    found = found.with_columns(pl.Series("p_adjusted", p_adjusted).fill_nan(None))
    order = pl.col("metric").replace_strict(wanted, [*range(len(wanted))])
    table = found.sort(*inner[:-1], order, "left", "right").select(*inner[:-1], *PAIRED_RESULT)
    return table.lazy().rename({name: restore[name] for name in inner[:-1]})


def _metrics(
    scores: Frame, metrics: Sequence[Score] | None, human: IntoExpr, agent: IntoExpr
) -> list[Score]:
    """The scores asked for, or those that the table has."""
    if metrics is not None:
        for name in metrics:
            check_choice("metrics", name, Score)
        if not metrics:
            raise ParameterError(f"metrics is empty; name some of {[*get_args(Score)]}")
        return [*dict.fromkeys(metrics)]
    present = {*lazy(scores).collect_schema().names()}
    effects = columns_read([as_expr(human), as_expr(agent)])
    has_ecs = {"finding_id", *effects} <= present
    has_pas = any(present >= {*names} for names in (["pas"], ["pi_human", "pi_agent"], HUMAN))
    found: list[Score] = ["pas"] if has_pas or not has_ecs else []
    return [*found, "ecs"] if has_ecs else found


def _listed(by: By) -> Sequence[IntoExpr]:
    if by is None:
        return []
    return [by] if isinstance(by, str | pl.Expr) else by
