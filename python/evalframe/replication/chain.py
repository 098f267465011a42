"""The functions of the chain from test statistics to scores, as one value.

The chain is computed in one go by `with_evidence`, and anew per draw by `participant_intervals`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.agreement.alignment import Posteriors, with_pas, with_posteriors
from evalframe.replication.agreement.directions import agents_where_humans_tell, with_directions
from evalframe.replication.agreement.ecs import ecs
from evalframe.replication.agreement.posteriors import WAYS, posteriors_of
from evalframe.replication.agreement.studies import domain_scores, model_scores, study_scores
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.effects.kinds import kind_of
from evalframe.replication.effects.table import with_effect_sizes
from evalframe.replication.effects.types import SIDES, Side

Level: TypeAlias = Literal["model", "domain", "study"]

GIVEN = ":given:"
"""Prefix of columns with the values that a table has before a step."""


def _posteriors_where_missing(tests: pl.LazyFrame, **options: Any) -> pl.LazyFrame:
    """`with_posteriors`, but no three-way posteriors in rows that already have a two-way one."""
    table = with_posteriors(tests, **options)
    schema = table.collect_schema()
    return table.with_columns(
        pl.when(pl.col(f"{GIVEN}pi_{side}").cast(pl.Float64).fill_nan(None).is_null()).then(name)
        for side in SIDES
        for name in (f"{way}_{side}" for way in WAYS)
        if f"{GIVEN}pi_{side}" in schema and name in schema
    )


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The functions from test statistics to scores; `uncertainty` runs all of them per draw.

    Attributes:
        kind_of: Kind of a test by its type.
        bayes_factors: Like `with_bayes_factors`.
        with_posteriors: Like `with_posteriors`, for rows that may already have some.
        posteriors: Like `posteriors_of`.
        with_directions: Like `with_directions`.
        agents_where_humans_tell: Like `agents_where_humans_tell`.
        effect_sizes: Like `with_effect_sizes`.
        pas: Like `with_pas`.
        scores: Like `model_scores`, by level.
        ecs: Like `ecs`.
    """

    kind_of: Callable[[IntoExpr], pl.Expr] = kind_of
    bayes_factors: Callable[..., pl.LazyFrame] = with_bayes_factors
    with_posteriors: Callable[..., pl.LazyFrame] = _posteriors_where_missing
    posteriors: Posteriors = posteriors_of
    with_directions: Callable[[pl.LazyFrame, Sequence[Side]], pl.LazyFrame] = with_directions
    agents_where_humans_tell: Callable[[pl.LazyFrame], pl.LazyFrame] = agents_where_humans_tell
    effect_sizes: Callable[[pl.LazyFrame], pl.LazyFrame] = with_effect_sizes
    pas: Callable[[pl.LazyFrame], pl.LazyFrame] = with_pas
    scores: Mapping[Level, Callable[..., pl.LazyFrame]] = field(
        default_factory=lambda: {
            "model": model_scores,
            "domain": domain_scores,
            "study": study_scores,
        }
    )
    ecs: Callable[..., pl.LazyFrame] = ecs
