"""Differences of models in PAS and ECS, paired by study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from evalframe.core.choices import FindingKey, FindingRule, Missing, StudyRule, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.state import N
from evalframe.core.states import States
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.alignment import HUMAN
from evalframe.replication.agreement.ecs import (
    EcsRows,
    Weighting,
    ecs_rows,
    rescaled,
)
from evalframe.replication.agreement.pairs import Values, agreement_values
from evalframe.replication.agreement.scored_tests import LEVELS, Rows, Settings
from evalframe.replication.agreement.studies import scored_rows, scored_studies

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.replication.uncertainty.scores import Cluster
    from evalframe.resample.methods import Bootstrap


Score: TypeAlias = Literal["pas", "pas_normalised", "ecs"]
Correction: TypeAlias = Literal["holm", "bonferroni", "benjamini_hochberg", "none"]


@like_input
def model_differences(
    scores: Frame,
    *,
    resample: Bootstrap,
    between: IntoExpr = "model",
    by: By = None,
    metrics: Sequence[Score] | None = None,
    finding_rule: FindingRule = "fisher_z",
    study_rule: StudyRule = "mean",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "skip",
    human: IntoExpr = "effect_d_human",
    agent: IntoExpr = "effect_d_agent",
    weighting: Weighting = "two_level",
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """Differences of all pairs of models in PAS and ECS, over the studies that both have.

    Both models of a pair see the same draws: differences between studies do not add to the
    uncertainty of the difference of models. With few studies p-values of most intervals are too
    small, and with five or fewer 1,000 draws cannot give a small one, see `ef.compare`.

    Args:
        scores: Tests, findings or studies as in `model_scores`; ECS needs tests.
        resample: `ef.Bootstrap(cluster="study_id")`, or `cluster="finding_id"` for findings within
            their study; see `model_scores`.
        between: The models that are compared, all pairs of them.
        by: Compare within each group of these keys.
        metrics: `pas`, `pas_normalised`, `ecs`; by default `pas`, and `ecs` if there are effects.
        finding_rule: As in `model_scores`.
        study_rule: As in `model_scores`.
        finding_key: As in `model_scores`.
        weight: As in `model_scores`.
        missing: As in `model_scores`.
        human: As in `ecs`.
        agent: As in `ecs`.
        weighting: As in `ecs`.
        correction: Correction of the p-values of all pairs and scores: `holm`, `bonferroni`,
            `benjamini_hochberg` or `none`.

    Returns:
        by..., `metric` (`pas`, ...), `left`, `right` (models in order), `estimate_left`,
        `estimate_right` (over shared studies), `delta` (right minus left), `std_error`, `lower`,
        `upper` (of delta), `p_value` (two-sided, that delta is 0, by inverting the interval),
        `p_adjusted`, `n_clusters` (Int64, shared studies in which both have the score) and
        `drop_rate`, as in `ef.compare`. Null if undefined: no shared study, or no cluster that
        could have been another. Sorted. The bootstrap is computed at once.

    Raises:
        ParameterError: An argument is invalid, or there are fewer than two models or clusters.

    References:
        Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> studies = pl.DataFrame({"model": [*"aaaabbbb"], "study_id": [*"12341234"]})
        >>> pas = pl.Series("pas", [0.5, 0.75, 0.25, 0.5, 0.75, 0.75, 0.5, 1.0])
        >>> studies = studies.with_columns(pas)
        >>> drawn = ef.Bootstrap(cluster="study_id")
        >>> result = ef.replication.model_differences(studies, resample=drawn)
        >>> result.select(pl.col("delta", "lower", "upper").round(3), "n_clusters").rows()
        [(0.25, -0.086, 0.586, 4)]
    """
    settings = Settings(finding_rule, study_rule, finding_key, missing)
    caller, keys = "model_differences", comparison_keys(by, between)
    selected = selected_metrics(scores, metrics, human, agent)
    scored = effects = None
    if {*selected} != {"ecs"}:
        rows = scored_rows(caller, scores, keys, weight, settings, LEVELS)
        scored = rows, scored_studies(rows)
    if "ecs" in selected:
        effects = ecs_rows(
            *(caller, scores, "overall", keys, human, agent, weighting, finding_key, weight)
        )
        effects = rescaled(effects, weight)
    return differences(resample, selected, correction, scored, effects, agreement_values)


def comparison_keys(by: By, between: IntoExpr) -> list[IntoExpr]:
    """The group keys and what is compared; raise if a key has a name of the result."""
    from evalframe.resample.paired import PAIRED_RESULT

    Keys.of(by, PAIRED_RESULT)
    keys = [] if by is None else [by] if isinstance(by, str | pl.Expr) else by
    return [*keys, between]


def selected_metrics(
    scores: Frame, metrics: Sequence[Score] | None, human: IntoExpr, agent: IntoExpr
) -> list[Score]:
    """The requested scores, or those that the table has."""
    if metrics is not None:
        for name in metrics:
            check_choice("metrics", name, Score)
        if not metrics:
            raise ParameterError(f"metrics is empty; name some of {[*get_args(Score)]}")
        return [*dict.fromkeys(metrics)]
    columns = {*lazy(scores).collect_schema().names()}
    effects = columns_read([as_expr(human), as_expr(agent)])
    has_ecs = {"finding_id", *effects} <= columns
    has_pas = any(columns >= {*names} for names in (["pas"], ["pi_human", "pi_agent"], HUMAN))
    pas: list[Score] = ["pas"] if has_pas or not has_ecs else []
    return [*pas, "ecs"] if has_ecs else pas


def differences(
    resample: Bootstrap,
    selected: Sequence[Score],
    correction: Correction,
    scored: tuple[Rows, Rows] | None,
    effects: EcsRows | None,
    values: Values,
) -> pl.LazyFrame:
    """Differences in PAS of rows and studies, and in ECS of effects, if there are such, sorted."""
    from evalframe.replication.uncertainty.scores import cluster_of, numbers
    from evalframe.resample.corrections import adjusted_p_values
    from evalframe.resample.paired import PAIRED_RESULT

    check_choice("correction", correction, Correction)
    cluster = cluster_of("model_differences", resample)
    tables: list[pl.DataFrame] = []
    if scored is not None:
        restore = scored[0].keys.restore()
        names = [name for name in selected if name != "ecs"]
        tables.append(_score_differences(resample, *scored, cluster, names))
    if effects is not None:
        restore = effects.keys.restore()
        tables.append(_ecs_differences(resample, effects, cluster, values))
    *by, _ = restore  # the last key is the model
    table = pl.concat(tables, how="diagonal")
    p_adjusted = adjusted_p_values(numbers(table["p_value"]), correction)
    table = table.with_columns(pl.Series("p_adjusted", p_adjusted).fill_nan(None))
    order = pl.col("metric").replace_strict(selected, [*range(len(selected))])
    table = table.sort(*by, order, "left", "right").select(*by, *PAIRED_RESULT)
    return table.lazy().rename({name: restore[name] for name in by})


def _score_differences(
    method: Bootstrap,
    rows: Rows,
    studies: Rows,
    cluster: Cluster,
    names: Sequence[str],
) -> pl.DataFrame:
    """Differences of all pairs of models in PAS, the keys under internal names."""
    from evalframe.replication.uncertainty.scores import drawn_scores

    drawn = drawn_scores("model_differences", rows, studies, cluster, None)
    if missing := {*names} - {*drawn.metrics}:
        raise MissingColumnsError.of("model_differences", missing, rows.columns)
    # PAS is always computed: two models share the studies in which both have it.
    metrics = [each for name, each in drawn.metrics.items() if name in ("pas", *names)]
    table = _paired(method, drawn.rows.lazy(), metrics, rows.keys, drawn.cluster, cluster)
    return table.filter(pl.col("metric").is_in(names))


def _ecs_differences(
    method: Bootstrap, rows: EcsRows, cluster: Cluster, values: Values
) -> pl.DataFrame:
    """Differences of all pairs of models in ECS, the keys under internal names."""
    from evalframe.replication.uncertainty.concordance import concordance, with_effects
    from evalframe.replication.uncertainty.scores import (
        ENTRY,
        clusters_within,
        rows_to_draw,
        with_entries,
    )

    tests = rows_to_draw(rows.frame)
    entries = tests.select(rows.group).unique().sort(rows.group)
    centred = with_effects(with_entries(tests, entries, rows.group), ENTRY)
    clusters = clusters_within(cluster, rows.finding[1:], None)
    metrics = [metric for metric in concordance(values) if metric.bound.name == "ecs"]
    return _paired(method, centred, metrics, rows.keys, clusters, cluster)


def _paired(
    method: Bootstrap,
    rows: pl.LazyFrame,
    metrics: Sequence[MetricExpr],
    keys: Keys,
    clusters: pl.Expr,
    cluster: Cluster,
) -> pl.DataFrame:
    from evalframe.resample.draws import MEMBER, STRATUM
    from evalframe.resample.paired import Comparison, Matching, paired_spread

    inner = type(keys)(tuple(keys.inner), tuple(map(pl.col, keys.inner)))
    bounds = [metric.bound for metric in metrics]
    states = States.of(rows, bounds, inner, clusters).collected()
    *by, model = keys.inner
    entries = states.groups()
    if entries.select(by).is_unique().all() if by else len(entries) < 2:
        where = " in a group of the keys" if by else ""
        models = entries[model].unique().sort().to_list()
        raise ParameterError(f"a comparison needs two models{where}, found {models}")
    shared = MEMBER if cluster == "study_id" else STRATUM
    matching = Matching(shared, pl.col(N) > 0)
    return paired_spread(method, states, Comparison(correction="none", matching=matching))
