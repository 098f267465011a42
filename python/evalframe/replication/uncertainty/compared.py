"""Differences of models, as `ef.compare` gives them, over the studies that both models have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.states import States
from evalframe.replication.uncertainty.sampling import drawn_within, rows_to_draw
from evalframe.replication.uncertainty.score_states import (
    KNOWN,
    concordance,
    with_effects,
    with_scores,
)
from evalframe.replication.uncertainty.scores import drawn_rows, drawn_scores
from evalframe.replication.uncertainty.spreads import ENTRY, with_entries
from evalframe.resample.paired import Comparison, Matching, paired_spread
from evalframe.resample.strata import MEMBER, STRATUM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.metric import MetricExpr
    from evalframe.core.rules import Rules
    from evalframe.core.tables import Keys
    from evalframe.replication.agreement.ecs_rows import EcsRows
    from evalframe.replication.agreement.given import Given
    from evalframe.replication.uncertainty.sampling import Cluster
    from evalframe.resample.methods import Bootstrap


def compared_scores(
    method: Bootstrap, given: Given, cluster: Cluster, names: Sequence[str]
) -> pl.DataFrame:
    """The differences of all pairs of models in PAS, the keys under internal names.

    Raises:
        MissingColumnsError: There is no normalised PAS, and it is asked for.
        ParameterError: No group has two models.
    """
    rows, _ = drawn_rows("model_differences", given, cluster)
    drawn = drawn_scores(rows, cluster, None)
    if missing := {*names} - {*drawn.pooled}:
        raise MissingColumnsError.of("model_differences", missing, rows.columns)
    # Whether a study is shared is asked of its PAS.
    metrics = [each for each in drawn.metrics if each.bound.name in ("pas", *names)]
    scored = with_scores(drawn.rows, drawn.pooled)
    found = _differences(method, scored, metrics, given.keys, drawn.cluster, cluster)
    return found.filter(pl.col("metric").is_in(names))


def compared_concordance(
    method: Bootstrap, rows: EcsRows, cluster: Cluster, rules: Rules
) -> pl.DataFrame:
    """The differences of all pairs of models in ECS, the keys under internal names."""
    tests = rows_to_draw(rows.frame)
    entries = tests.select(rows.group).unique().sort(rows.group)
    centred = with_effects(with_entries(tests, entries, rows.group), ENTRY)
    drawn = drawn_within(cluster, rows.finding[1:], None)
    return _differences(method, centred, concordance(rules)[:1], rows.keys, drawn, cluster)


def _differences(
    method: Bootstrap,
    rows: pl.LazyFrame,
    metrics: Sequence[MetricExpr],
    keys: Keys,
    drawn: pl.Expr,
    cluster: Cluster,
) -> pl.DataFrame:
    bounds = [metric.bound for metric in metrics]
    inner = type(keys)(tuple(keys.inner), tuple(map(pl.col, keys.inner)))
    states = States.of(rows, bounds, inner, drawn).collected()
    *by, model = keys.inner
    entries = states.groups()
    if entries.select(by).is_unique().all() if by else len(entries) < 2:
        where = " in a group of the keys" if by else ""
        models = entries[model].unique().sort().to_list()
        raise ParameterError(f"a comparison needs two models{where}, found {models}")
    shared = MEMBER if cluster == "study_id" else STRATUM
    matching = Matching(shared, pl.col(KNOWN) > 0)
    return paired_spread(method, states, Comparison(correction="none", matching=matching))
