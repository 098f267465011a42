"""The similarities and distances by name, for tables and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.rules import check_rules
from evalframe.survey.similarity.agreement import (
    mode_agreement,
    per_option_accuracy,
    rank_agreement,
)
from evalframe.survey.similarity.divergences import (
    hellinger_distance,
    jensen_shannon_distance,
    jensen_shannon_similarity,
    kullback_leibler_divergence,
    total_variation_distance,
)
from evalframe.survey.similarity.errors import (
    cosine_similarity,
    distribution_absolute_error,
    distribution_root_mean_squared_error,
)
from evalframe.survey.similarity.transport import earth_mover_similarity

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

Metric: TypeAlias = str | pl.Expr

SIMILARITIES: dict[str, Callable[..., pl.Expr]] = {
    each.__name__: each
    for each in (
        jensen_shannon_similarity,
        cosine_similarity,
        earth_mover_similarity,
        mode_agreement,
        per_option_accuracy,
    )
}
"""Those with values from 0 to 1 of which more is better."""

OTHERS: dict[str, Callable[..., pl.Expr]] = {
    each.__name__: each
    for each in (
        jensen_shannon_distance,
        total_variation_distance,
        hellinger_distance,
        kullback_leibler_divergence,
        distribution_absolute_error,
        distribution_root_mean_squared_error,
        rank_agreement,
    )
}
"""Distances, and the agreement of ranks, which can be negative."""

ORIGINAL_NAMES = {
    "js-divergence": "jensen_shannon_similarity",
    "cosine": "cosine_similarity",
    "earth-mover": "earth_mover_similarity",
}
"""What the original calls its three."""

_BY_RULES = {*ORIGINAL_NAMES.values(), "jensen_shannon_distance", "per_option_accuracy"}


def metric_expression(
    metric: Metric,
    predicted: IntoExpr,
    actual: IntoExpr,
    rules: Rules,
    known: dict[str, Callable[..., pl.Expr]],
) -> pl.Expr:
    """The row-level expression of a metric, which may be one already.

    Raises:
        UnknownNameError: None of those that are known has such a name.
        ParameterError: Unknown rules, or the original has no such metric.
    """
    check_rules(rules)
    if isinstance(metric, pl.Expr):
        return metric
    name = ORIGINAL_NAMES.get(metric, metric)
    if name not in known:
        raise UnknownNameError.of("metric", metric, known)
    if name in _BY_RULES:
        return known[name](predicted, actual, rules=rules)
    if rules == "reference":
        raise ParameterError(
            f'the original has no {name}, so that rules="reference" says nothing about it; '
            f"it has {', '.join(sorted(_BY_RULES))}"
        )
    return known[name](predicted, actual)
