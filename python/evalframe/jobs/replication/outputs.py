"""The tables of a replication job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

import evalframe as ef
from evalframe.jobs.replication.inputs import implementation_of

if TYPE_CHECKING:
    from evalframe.jobs.replication import ReplicationJob
    from evalframe.replication.agreement.ecs import EcsLevel
    from evalframe.replication.agreement.scored_tests import Settings


METRICS = ("mean_pas", "pooled_pas", "concordance_correlation")
"""Names of the metrics of jobs."""

TABLES = ("models", "domains", "studies", "findings", "tests", "ecs", "differences")
"""Tables of a folder, Parquet files of these names."""

LEVELS: tuple[EcsLevel, ...] = ("overall", "domain", "study", "finding")
_RESAMPLED: tuple[EcsLevel, ...] = ("overall", "domain")

_ECS = ("ecs", "ecs_std_error", "ecs_lower", "ecs_upper", "ecs_drop_rate")
_ECS_COUNTS = {"n_tests": "ecs_n_tests", "missing_rate": "ecs_missing_rate"}
"""Columns of the ECS that tables of scores of its level get, with their names there."""

_KEYS: dict[EcsLevel, list[str]] = {
    "overall": [],
    "domain": ["domain"],
    "study": ["study_id"],
}
_PLACES = ("domain", "study_id", "sub_study_id", "finding_id")
"""Columns that say which tests an ECS is about, as far as its level has them."""

_WHO = ":who"
_DIGITS = 12
"""Decimals of PAS for ranks; further ones depend on the order of summation."""

Drawn: TypeAlias = "Callable[[pl.DataFrame, EcsLevel], pl.DataFrame]"


@dataclass(frozen=True)
class Scores:
    """The tables of a job. Tables that others need are computed once."""

    tests: pl.DataFrame
    by: Sequence[str]
    job: ReplicationJob
    resample: ef.Bootstrap | None = None
    drawn: Drawn | None = None
    _cache: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    @property
    def _room(self) -> Any:
        return implementation_of(self.job).room

    @property
    def _settings(self) -> Settings:
        return implementation_of(self.job).settings

    @property
    def has_effects(self) -> bool:
        """True if both sides have effects."""
        sides = ["effect_d_human", "effect_d_agent"]
        return {*sides} <= {*self.tests.columns} and all(self.tests[s].count() for s in sides)

    @property
    def has_domains(self) -> bool:
        """True if any test has a domain."""
        return "domain" in self.tests.columns and self.tests["domain"].count() > 0

    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables of a folder; tables without data are empty."""
        tables = (
            self.models(),
            self.domains(),
            self.studies(),
            self.findings(),
            self.tests,
            self.all_ecs(),
            self.differences(),
        )
        return dict(zip(TABLES, tables, strict=True))

    def findings(self) -> pl.DataFrame:
        """PAS of findings."""
        if "findings" not in self._cache:
            self._cache["findings"] = self._room.finding_scores(
                self.tests,
                by=self.by,
                rule=self._settings.finding_rule,
                finding_key=self._settings.finding_key,
                missing=self._settings.missing,
            )
        return self._cache["findings"]

    def studies(self) -> pl.DataFrame:
        """PAS and ECS of studies."""
        scores = self._room.study_scores(
            self.findings(),
            by=self.by,
            rule=self._settings.study_rule,
            finding_key=self._settings.finding_key,
            missing=self._settings.missing,
        )
        return self._complete(scores, "study")

    def domains(self) -> pl.DataFrame:
        """PAS and ECS of domains; empty without domains."""
        if not self.has_domains:
            return pl.DataFrame()
        scores = self._room.domain_scores(
            self.findings(),
            by=self.by,
            **asdict(self._settings),
            resample=self._clusters,
        )
        return self._complete(scores, "domain")

    def models(self) -> pl.DataFrame:
        """PAS and ECS of models, the best first, with the number of tests that only others have."""
        if "models" not in self._cache:
            scores = self._room.model_scores(
                self.findings(),
                by=self.by,
                **asdict(self._settings),
                resample=self._clusters,
            )
            counted = self._with_absent(scores)
            self._cache["models"] = self._ranked(self._complete(counted, "overall"))
        return self._cache["models"]

    def ecs(self, level: EcsLevel) -> pl.DataFrame:
        """The ECS of a level; empty without effects, or without domains."""
        if not self.has_effects or (level == "domain" and not self.has_domains):
            return pl.DataFrame()
        if level not in self._cache:
            self._cache[level] = self._room.ecs(
                self.tests,
                level,
                by=self.by,
                finding_key=self._settings.finding_key,
                resample=self._clusters if level in _RESAMPLED else None,
            )
        return self._cache[level]

    def all_ecs(self) -> pl.DataFrame:
        """The ECS of all levels, one below the other; empty without effects."""
        tables = {level: self.ecs(level) for level in LEVELS}
        parts = [
            table.with_columns(pl.lit(level).alias("level"))
            for level, table in tables.items()
            if not table.is_empty()
        ]
        if not parts:
            return pl.DataFrame()
        table = pl.concat(parts, how="diagonal_relaxed")
        first = [*self.by, "level", *(name for name in _PLACES if name in table.columns)]
        return table.select(*first, pl.exclude(first))

    def differences(self) -> pl.DataFrame:
        """Differences of models in PAS and ECS; empty unless studies or findings are drawn."""
        if self._clusters is None or not self.by or len(self.models()) < 2:
            return pl.DataFrame()
        between = "model" if "model" in self.by else self.by[0]
        differences: pl.DataFrame = self._room.model_differences(
            self.tests,
            resample=self._clusters,
            between=between,
            by=[name for name in self.by if name != between],
            **asdict(self._settings),
        )
        return differences

    @property
    def _clusters(self) -> ef.Bootstrap | None:
        """The bootstrap, if it draws studies or findings."""
        return None if self.drawn is not None else self.resample

    def _complete(self, scores: pl.DataFrame, level: EcsLevel) -> pl.DataFrame:
        """Scores with the ECS of their level, and with intervals from drawing participants."""
        keys = [*self.by, *_KEYS[level]]
        table = self.ecs(level)
        if not table.is_empty():
            names = [name for name in _ECS if name in table.columns]
            effects = table.select(*keys, *names, *_ECS_COUNTS).rename(_ECS_COUNTS)
            scores = _joined(scores, effects, keys)
        if self.drawn is not None:
            scores = _joined(scores, self.drawn(self.tests, level), keys)
        counts = [name for name in scores.columns if name.startswith("n_")]
        counts += [name for name in _ECS_COUNTS.values() if name in scores.columns]
        return scores.select(pl.exclude(counts), *counts)

    def _with_absent(self, models: pl.DataFrame) -> pl.DataFrame:
        """Add the number of tests that others have and a model lacks."""
        if not self.by:
            return models
        absent = absent_tests(self.tests.lazy(), self.by).group_by(self.by).len("n_absent")
        counts = absent.with_columns(pl.col("n_absent").cast(pl.Int64))
        return _joined(models, counts, self.by).with_columns(pl.col("n_absent").fill_null(0))

    def _ranked(self, models: pl.DataFrame) -> pl.DataFrame:
        """The best first."""
        if not self.by:
            return models
        score = pl.col("pas").round(_DIGITS)
        rank = score.rank("min", descending=True).cast(pl.Int64).alias("rank")
        return (
            models.with_columns(rank)
            .sort("rank", *self.by, nulls_last=True)
            .select(*self.by, "rank", pl.exclude(*self.by, "rank"))
        )


def _joined(scores: pl.DataFrame, more: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Scores with the columns of another table, which replace columns of the same name."""
    rest = scores.drop([name for name in more.columns if name not in keys], strict=False)
    if not keys:
        return pl.concat([rest, more], how="horizontal")
    return rest.join(more, on=keys, how="left", nulls_equal=True, maintain_order="left")


def absent_tests(tests: pl.LazyFrame, by: Sequence[str]) -> pl.DataFrame:
    """Tests that only some models have: `by` and the keys, sorted; empty without `by`."""
    if not by:
        return pl.DataFrame()
    who = tests.with_columns(pl.struct(by).alias(_WHO))
    missing = ef.replication.missing_tests(who, model=_WHO).collect()
    return missing.select(pl.col(_WHO).struct.unnest(), pl.exclude(_WHO))
