"""From test statistics of agents to PAS and ECS, beside a human side that is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rules import check_choice
from evalframe.core.tables import Keys, lazy
from evalframe.replication.agreement.alignment import HUMAN
from evalframe.replication.agreement.columns import posteriors_of, with_pas
from evalframe.replication.agreement.directions import agents_where_humans_tell, with_directions
from evalframe.replication.agreement.ecs import ecs
from evalframe.replication.agreement.studies import domain_scores, model_scores, study_scores
from evalframe.replication.bridge import with_bayes_factors, with_effect_sizes
from evalframe.replication.contract import KEYS
from evalframe.replication.participants.replicates import REPLICATE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.replication.agreement.ecs import EcsLevel
    from evalframe.replication.agreement.ecs_weights import Weighting
    from evalframe.replication.agreement.rules import FindingKey, FindingRule, Missing, StudyRule

Level: TypeAlias = Literal["model", "domain", "study"]

SCORES = {"pas": (0.0, 1.0), "pas_normalised": (-1.0, 1.0), "ecs": (-1.0, 1.0)}
"""The scores and their ranges."""

_OF_PAS = ("pas", "pas_normalised")
_GIVEN = ("domain", "test_weight", "finding_weight", "prior_odds_agent", "direction_human")
_WITHIN: dict[Level, list[str]] = {"model": [], "domain": ["domain"], "study": ["study_id"]}
_SCORES: dict[Level, Callable[..., pl.LazyFrame]] = {
    "model": model_scores,
    "domain": domain_scores,
    "study": study_scores,
}
_ECS_LEVELS: dict[Level, EcsLevel] = {"model": "overall", "domain": "domain", "study": "study"}


@dataclass(frozen=True)
class Pipeline:
    """All steps from test statistics to scores, with their settings.

    Attributes:
        human: The human side, one row per test.
        on: What joins it with statistics.
        group: What scores are asked by.
        names: The keys of who was tested.
        level: Of the scores.
        pooling: How tests become studies, as arguments of `study_scores`.
        weighting: Of tests in the ECS.
        agent_prior_odds: Prior odds of agents.
        rules: `documented` or `reference`.
    """

    human: pl.DataFrame
    on: list[str]
    group: list[str]
    names: list[str]
    level: Level
    pooling: dict[str, Any]
    weighting: Weighting | None
    agent_prior_odds: IntoExpr | float
    rules: Rules

    @classmethod
    def of(
        cls,
        tests: Frame,
        by: By,
        level: Level,
        finding_rule: FindingRule | None,
        study_rule: StudyRule | None,
        finding_key: FindingKey,
        missing: Missing | None,
        weighting: Weighting | None,
        human_prior_odds: IntoExpr | float,
        agent_prior_odds: IntoExpr | float,
        rules: Rules,
    ) -> Pipeline:
        """The steps for a human side; arguments as in `participant_intervals`.

        Raises:
            MissingColumnsError: The human side says nothing.
            ParameterError: It names a test twice, or an argument lies outside its domain.
        """
        check_choice("level", level, Level)
        names = [*Keys.of(by, [REPLICATE, *KEYS, *SCORES, "n_clusters"]).names]
        table = lazy(tests)
        schema = table.collect_schema()
        on = [name for name in (*KEYS, *names) if name in schema]
        human = _human_side(table, on, human_prior_odds, rules).collect()
        if human.select(on).is_duplicated().any():
            twice = human.filter(pl.struct(on).is_duplicated()).row(0, named=True)
            told = ", ".join(f"{name}={twice[name]!r}" for name in on)
            raise ParameterError(
                f"the human side has a test twice, and not alike: {told}; give one row per test"
            )
        if level == "domain" and "domain" not in human.columns:
            raise ParameterError("the human side has no column 'domain'; add it to the tests")
        pooling = {
            "finding_rule": finding_rule,
            "study_rule" if level != "study" else "rule": study_rule,
            "finding_key": finding_key,
            "missing": missing,
        }
        group = [*names, *_WITHIN[level]]
        return cls(human, on, group, names, level, pooling, weighting, agent_prior_odds, rules)

    def scores(self, statistics: Frame, further: Sequence[str]) -> pl.DataFrame:
        """The scores of groups of test statistics, sorted.

        Args:
            statistics: The agent side, as `participant_statistics` gives it.
            further: Keys beside those of who was tested.
        """
        by = [*further, *self.names]
        agents = with_bayes_factors(statistics, "agent", rules=self.rules)
        made = self._with_humans(agents, by)
        if self.rules == "documented":
            made = agents_where_humans_tell(made)
        odds = {"agent": self.agent_prior_odds}
        made = posteriors_of("with_posteriors", made, odds, "skip", self.rules)
        # In memory, since PAS and ECS both read it.
        tests = with_pas(with_effect_sizes(made, rules=self.rules), rules=self.rules).collect()
        group = [*further, *self.group]
        score = _SCORES[self.level]
        pas = score(tests, by=by, rules=self.rules, **self.pooling).select([*group, *_OF_PAS])
        concordance = ecs(
            tests,
            _ECS_LEVELS[self.level],
            by=by,
            weighting=self.weighting,
            finding_key=self.pooling["finding_key"],
            rules=self.rules,
        ).select(*group, "ecs")
        if not group:
            return pl.concat(pl.collect_all([pas, concordance]), how="horizontal")
        joined = pas.join(concordance, on=group, how="left", nulls_equal=True)
        table: pl.DataFrame = joined.sort(group).collect()
        return table

    def _with_humans(self, agents: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
        """All tests of the human side for each group; those without responses lack the agents."""
        tests = self.human.lazy()
        if by:
            groups = agents.select(by).unique()
            own = [name for name in self.names if name in self.on]
            tests = (
                groups.join(tests, on=own, nulls_equal=True)
                if own
                else groups.join(tests, how="cross")
            )
        present = agents.collect_schema()
        on = dict.fromkeys([*by, *(name for name in self.on if name in present)])
        return tests.join(agents, on=[*on], how="left", nulls_equal=True, maintain_order="left")

    def with_domains(self, people: pl.LazyFrame) -> pl.LazyFrame:
        """The table with the domains of its studies, if scores are asked by them."""
        if self.level != "domain":
            return people
        domains = self.human.lazy().group_by("study_id").agg(pl.col("domain").min())
        return people.join(domains, on="study_id", how="left")


def _human_side(
    tests: pl.LazyFrame, on: Sequence[str], prior_odds: IntoExpr | float, rules: Rules
) -> pl.LazyFrame:
    """Posteriors and effects of people, from what the table has of them."""
    if rules == "documented":
        tests = with_directions(tests, ["human"])
    known = {*tests.collect_schema()}
    if not ({*HUMAN} <= known or "pi_human" in known):
        if not {"log_bayes_factor_human", "bayes_factor_human"} & known:
            tests = with_bayes_factors(tests, "human", rules=rules)
        tests = posteriors_of("the human side", tests, {"human": prior_odds}, "skip", rules)
    if "effect_d_human" not in known and "test_type" in known:
        tests = with_effect_sizes(tests, rules=rules)
    present = {*tests.collect_schema()}
    posteriors = [name for name in ("pi_human", *HUMAN) if name in present]
    given = [name for name in _GIVEN if name in present]
    effect = pl.col("effect_d_human") if "effect_d_human" in present else pl.lit(None)
    effect = effect.cast(pl.Float64).alias("effect_d_human")
    return tests.select(*on, *posteriors, *given, effect).unique()
