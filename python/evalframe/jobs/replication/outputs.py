"""The tables of a replication job."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

import evalframe as ef
from evalframe.jobs.replication.implementation import implementation_of
from evalframe.replication.contract import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalframe.jobs.replication.job import ReplicationJob
    from evalframe.replication.agreement.ecs import EcsLevel
    from evalframe.replication.agreement.scored_tests import Settings

TABLES = ("models", "domains", "studies", "findings", "tests", "ecs", "differences")
"""What a folder gets, as Parquet files of these names."""

LEVELS: tuple[EcsLevel, ...] = ("overall", "domain", "study", "finding")
_RESAMPLED: tuple[EcsLevel, ...] = ("overall", "domain")

_ECS = ("ecs", "ecs_std_error", "ecs_lower", "ecs_upper", "ecs_drop_rate")
_ECS_COUNTS = {"n_tests": "ecs_n_tests", "missing_rate": "ecs_missing_rate"}
"""What tables of scores take over from the ECS of their level, and under which names."""

_KEYS: dict[EcsLevel, list[str]] = {
    "overall": [],
    "domain": ["domain"],
    "study": ["study_id"],
}
_PLACES = ("domain", *KEYS[:3])

_DIGITS = 12
"""Decimals of PAS that ranks go by; further ones hang on the order of summation."""

Drawn: TypeAlias = "Callable[[pl.DataFrame, EcsLevel], pl.DataFrame]"


@dataclass(frozen=True)
class Scores:
    """What a job makes of its tests. Tables that others rest on are made once.

    Attributes:
        tests: The tests, with PAS and effects.
        by: Columns that tell apart who was tested.
        job: The job.
        resample: How intervals are made, if they are asked for.
        drawn: Makes scores of a level by drawing participants, if they are what is drawn.
    """

    tests: pl.DataFrame
    by: Sequence[str]
    job: ReplicationJob
    resample: ef.Bootstrap | None = None
    drawn: Drawn | None = None
    _made: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    @property
    def _room(self) -> Any:
        return implementation_of(self.job).room

    @property
    def _settings(self) -> Settings:
        return implementation_of(self.job).settings

    @property
    def has_effects(self) -> bool:
        """Whether there are effects of both sides."""
        sides = ["effect_d_human", "effect_d_agent"]
        return {*sides} <= {*self.tests.columns} and all(self.tests[s].count() for s in sides)

    @property
    def has_domains(self) -> bool:
        """Whether any test has a domain."""
        return "domain" in self.tests.columns and self.tests["domain"].count() > 0

    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables of a folder; those without a basis are empty."""
        made = (
            self.models(),
            self.domains(),
            self.studies(),
            self.findings(),
            self.tests,
            self.all_ecs(),
            self.differences(),
        )
        return dict(zip(TABLES, made, strict=True))

    def findings(self) -> pl.DataFrame:
        """PAS of findings."""
        if "findings" not in self._made:
            self._made["findings"] = self._room.finding_scores(
                self.tests,
                by=self.by,
                rule=self._settings.finding_rule,
                finding_key=self._settings.finding_key,
                missing=self._settings.missing,
            )
        return self._made["findings"]

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
        """PAS and ECS of domains; empty where there are none."""
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
        """PAS and ECS of models, the best first, and how many tests they lack that others have."""
        if "models" not in self._made:
            scores = self._room.model_scores(
                self.findings(),
                by=self.by,
                **asdict(self._settings),
                resample=self._clusters,
            )
            counted = self._with_absent(scores)
            self._made["models"] = self._ranked(self._complete(counted, "overall"))
        return self._made["models"]

    def ecs(self, level: EcsLevel) -> pl.DataFrame:
        """The ECS of a level; empty without effects, or without domains."""
        if not self.has_effects or (level == "domain" and not self.has_domains):
            return pl.DataFrame()
        if level not in self._made:
            self._made[level] = self._room.ecs(
                self.tests,
                level,
                by=self.by,
                finding_key=self._settings.finding_key,
                resample=self._clusters if level in _RESAMPLED else None,
            )
        return self._made[level]

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
        whole = pl.concat(parts, how="diagonal_relaxed")
        first = [*self.by, "level", *(name for name in _PLACES if name in whole.columns)]
        return whole.select(*first, pl.exclude(first))

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
        """How studies or findings are drawn, if they are."""
        return None if self.drawn is not None else self.resample

    def _complete(self, scores: pl.DataFrame, level: EcsLevel) -> pl.DataFrame:
        """Scores with the ECS of their level, and with what drawing participants says of them."""
        keys = [*self.by, *_KEYS[level]]
        table = self.ecs(level)
        if not table.is_empty():
            shown = [name for name in _ECS if name in table.columns]
            taken = table.select(*keys, *shown, *_ECS_COUNTS).rename(_ECS_COUNTS)
            scores = _beside(scores, taken, keys)
        if self.drawn is not None:
            scores = _beside(scores, self.drawn(self.tests, level), keys)
        counts = [name for name in scores.columns if name.startswith("n_")]
        counts += [name for name in _ECS_COUNTS.values() if name in scores.columns]
        return scores.select(pl.exclude(counts), *counts)

    def _with_absent(self, models: pl.DataFrame) -> pl.DataFrame:
        """How many tests each lacks that others have."""
        if not self.by:
            return models
        lacking = absent_tests(self.tests.lazy(), self.by).group_by(self.by).len("n_absent")
        counts = lacking.with_columns(pl.col("n_absent").cast(pl.Int64))
        return _beside(models, counts, self.by).with_columns(pl.col("n_absent").fill_null(0))

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


def _beside(scores: pl.DataFrame, more: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Scores with the columns of another table, in place of their own."""
    rest = scores.drop([name for name in more.columns if name not in keys], strict=False)
    if not keys:
        return pl.concat([rest, more], how="horizontal")
    return rest.join(more, on=keys, how="left", nulls_equal=True, maintain_order="left")


def absent_tests(tests: pl.LazyFrame, by: Sequence[str]) -> pl.DataFrame:
    """The tests that some of those who were tested have and others lack.

    Args:
        tests: The tests.
        by: Columns that tell apart who was tested.

    Returns:
        `by` and the keys of the test, sorted; empty without `by`.
    """
    if not by:
        return pl.DataFrame()
    who = tests.with_columns(pl.struct(by).alias(_WHO))
    missing = ef.replication.missing_tests(who, model=_WHO).collect()
    return missing.select(pl.col(_WHO).struct.unnest(), pl.exclude(_WHO))


_WHO = ":who"
