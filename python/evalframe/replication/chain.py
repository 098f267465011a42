"""The chain from test statistics to scores: its functions, and those of agents by human tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.alignment import (
    HUMAN,
    Posteriors,
    check_evidence,
    posterior_columns,
    with_pas,
    with_posteriors,
)
from evalframe.replication.agreement.directions import agents_where_humans_tell, with_directions
from evalframe.replication.agreement.ecs import ecs
from evalframe.replication.agreement.posteriors import WAYS, posteriors_of
from evalframe.replication.agreement.studies import domain_scores, model_scores, study_scores
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.contract import KEYS
from evalframe.replication.effects.kinds import kind_of
from evalframe.replication.effects.table import with_effect_sizes
from evalframe.replication.effects.types import SIDES, Side
from evalframe.replication.participants.replicates import REPLICATE

if TYPE_CHECKING:
    from evalframe.replication.agreement.ecs import Weighting
    from evalframe.replication.agreement.scored_tests import Settings


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

    Each has the arguments of its default; `scores` are by level.
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


SCORES = {"pas": (0.0, 1.0), "pas_normalised": (-1.0, 1.0), "ecs": (-1.0, 1.0)}
"""The scores and their ranges."""

_OF_PAS = ("pas", "pas_normalised")
_HUMAN_COLUMNS = ("domain", "test_weight", "finding_weight", "prior_odds_agent", "direction_human")
_WITHIN: dict[Level, list[str]] = {"model": [], "domain": ["domain"], "study": ["study_id"]}


@dataclass(frozen=True)
class Pipeline:
    """All steps from test statistics to scores, with their settings.

    `human` has one row per test, which the columns `on` join with statistics; `names` are the keys
    of the models, `group` those of the scores; `pooling` has arguments of the functions of scores.
    """

    chain: Chain
    human: pl.DataFrame
    on: list[str]
    group: list[str]
    names: list[str]
    level: Level
    pooling: dict[str, Any]
    weighting: Weighting | None
    agent_prior_odds: IntoExpr | float

    @classmethod
    def of(
        cls,
        chain: Chain,
        tests: Frame,
        by: By,
        level: Level,
        settings: Settings,
        weighting: Weighting | None,
        human_prior_odds: IntoExpr | float,
        agent_prior_odds: IntoExpr | float,
    ) -> Pipeline:
        """The steps for a human side; arguments as in `participant_intervals`."""
        check_choice("level", level, Level)
        names = [*Keys.of(by, [REPLICATE, *KEYS, *SCORES, "n_clusters"]).names]
        table = lazy(tests)
        schema = table.collect_schema()
        on = [name for name in (*KEYS, *names) if name in schema]
        human = _human_side(chain, table, on, human_prior_odds).collect()
        if human.select(on).is_duplicated().any():
            row = human.filter(pl.struct(on).is_duplicated()).row(0, named=True)
            test = ", ".join(f"{name}={row[name]!r}" for name in on)
            raise ParameterError(
                f"the human side has a test twice, and not alike: {test}; give one row per test"
            )
        if level == "domain" and "domain" not in human.columns:
            raise ParameterError("the human side has no column 'domain'; add it to the tests")
        pooling = {
            "finding_rule": settings.finding_rule,
            "study_rule" if level != "study" else "rule": settings.study_rule,
            "finding_key": settings.finding_key,
            "missing": settings.missing,
        }
        group = [*names, *_WITHIN[level]]
        return cls(chain, human, on, group, names, level, pooling, weighting, agent_prior_odds)

    def scores(self, statistics: Frame, extra_keys: Sequence[str]) -> pl.DataFrame:
        """The scores of groups of test statistics of agents, by the models and other keys."""
        chain, by = self.chain, [*extra_keys, *self.names]
        # In memory after each step: the next one reads its types and columns, or checks its rows.
        agents = chain.bayes_factors(lazy(statistics).collect().lazy(), "agent").collect()
        tests = chain.agents_where_humans_tell(self._with_humans(agents.lazy(), by))
        tests = chain.with_directions(tests, ["agent"])
        tests = _with_posteriors(chain, tests, {"agent": self.agent_prior_odds})
        effects = chain.effect_sizes(tests.collect().lazy())
        table = chain.pas(effects.collect().lazy()).collect().lazy()
        group = [*extra_keys, *self.group]
        pas = chain.scores[self.level](table, by=by, **self.pooling).select(*group, *_OF_PAS)
        concordance = chain.ecs(
            table,
            "overall" if self.level == "model" else self.level,
            by=by,
            weighting=self.weighting,
            finding_key=self.pooling["finding_key"],
        )
        concordance = concordance.select(*group, "ecs")
        if not group:
            return pl.concat(pl.collect_all([pas, concordance]), how="horizontal")
        joined = pas.join(concordance, on=group, how="left", nulls_equal=True)
        return joined.sort(group).collect()

    def _with_humans(self, agents: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
        """All tests of the human side for each group; agents are null without responses."""
        tests = self.human.lazy()
        if by:
            groups = agents.select(by).unique()
            shared = [name for name in self.names if name in self.on]
            tests = (
                groups.join(tests, on=shared, nulls_equal=True)
                if shared
                else groups.join(tests, how="cross")
            )
        columns = agents.collect_schema()
        on = dict.fromkeys([*by, *(name for name in self.on if name in columns)])
        return tests.join(agents, on=[*on], how="left", nulls_equal=True, maintain_order="left")

    def with_domains(self, participants: pl.LazyFrame) -> pl.LazyFrame:
        """Add the domains of studies if the scores are by domain."""
        if self.level != "domain":
            return participants
        domains = self.human.lazy().group_by("study_id").agg(pl.col("domain").min())
        return participants.join(domains, on="study_id", how="left")


def _with_posteriors(
    chain: Chain, tests: pl.LazyFrame, prior_odds: Mapping[str, IntoExpr | float]
) -> pl.LazyFrame:
    """Add the posteriors of the sides that have prior odds."""
    caller = "the human side" if "human" in prior_odds else "with_posteriors"
    check_evidence(caller, tests, prior_odds)
    return posterior_columns(caller, tests, prior_odds, "skip", chain.posteriors)


def _human_side(
    chain: Chain, tests: pl.LazyFrame, on: Sequence[str], prior_odds: IntoExpr | float
) -> pl.LazyFrame:
    """Posteriors and effects of humans, computed from the columns that the table has."""
    tests = chain.with_directions(tests, ["human"])
    columns = {*tests.collect_schema()}
    if not ({*HUMAN} <= columns or "pi_human" in columns):
        if not {"log_bayes_factor_human", "bayes_factor_human"} & columns:
            tests = chain.bayes_factors(tests, "human")
        tests = _with_posteriors(chain, tests, {"human": prior_odds})
    if "effect_d_human" not in columns and "test_type" in columns:
        tests = chain.effect_sizes(tests)
    columns = {*tests.collect_schema()}
    selected = [name for name in ("pi_human", *HUMAN, *_HUMAN_COLUMNS) if name in columns]
    effect = pl.col("effect_d_human") if "effect_d_human" in columns else pl.lit(None)
    effect = effect.cast(pl.Float64).alias("effect_d_human")
    return tests.select(*on, *selected, effect).unique()
