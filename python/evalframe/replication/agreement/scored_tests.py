"""The table that scores are computed from: tests, findings or studies.

A table without `finding_id` holds studies; one with `finding_id` and `n_tests`, and without
`test_id`, holds findings; any other holds tests.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.choices import FindingKey, FindingRule, Missing, StudyRule, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.directions import CONFLICT, with_directions, with_ways
from evalframe.replication.agreement.posteriors import WAYS
from evalframe.replication.effects.types import SIDES

if TYPE_CHECKING:
    from evalframe.core.tables import Keys


Level: TypeAlias = Literal["tests", "findings", "studies"]

LEVELS: tuple[Level, ...] = ("tests", "findings", "studies")

WEIGHT, VALUE = ":weight", ":value"
"""Weight of a row, and the value that is averaged: null in rows that are not included."""

TWO_WAY = "is_two_way"
"""True if the PAS of a test is two-way, null if unknown."""

NAMES = ("study_id", "sub_study_id", "finding_id", "domain")
"""Columns of any type that identify rows."""

NUMBERS = (
    *("pas", "pas_normalised", "z_pas", "score", "n_eff", "test_weight", "finding_weight"),
    *("pi_human", "pi_agent", *(f"{way}_{side}" for side in SIDES for way in WAYS)),
)
COUNTS_OF_FINDINGS = ("n_tests", "n_two_way", "n_missing")
COUNTS_OF_STUDIES = ("n_findings", "n_findings_without_data", *COUNTS_OF_FINDINGS)
COUNTS = ("n_studies", "n_studies_without_data", *COUNTS_OF_STUDIES)
"""Counts of models: of the rows that a score includes, and of missing ones."""

_RESERVED = (*NAMES, "pas", "pas_normalised", "z_pas", "finding_weight", *COUNTS)


@dataclass(frozen=True)
class PoolingRule:
    """A mean of PAS: with the weights of a column, and by way of Fisher's z or not."""

    weight: str | None
    fisher: bool
    label: str


FINDING_RULES: dict[FindingRule, PoolingRule] = {
    "fisher_z": PoolingRule("n_eff", fisher=True, label="Fisher's z, weighted by n_eff"),
    "mean_z": PoolingRule(None, fisher=True, label="Fisher's z"),
    "weighted_mean": PoolingRule("test_weight", fisher=False, label="their weighted mean"),
    "mean": PoolingRule(None, fisher=False, label="their mean"),
}
"""How tests are pooled to findings."""

STUDY_RULES: dict[StudyRule, PoolingRule] = {
    "mean": PoolingRule(None, fisher=False, label="their mean"),
    "mean_z": PoolingRule(None, fisher=True, label="Fisher's z"),
    "weighted_mean": PoolingRule("finding_weight", fisher=False, label="their weighted mean"),
}
"""How findings are pooled to studies."""


@dataclass(frozen=True)
class Settings:
    """How scores are pooled from level to level."""

    finding_rule: FindingRule = "fisher_z"
    study_rule: StudyRule = "mean"
    finding_key: FindingKey = "composite"
    missing: Missing = "skip"

    def __post_init__(self) -> None:
        check_choice("the rule of findings", self.finding_rule, FindingRule)
        check_choice("the rule of studies", self.study_rule, StudyRule)
        check_choice("finding_key", self.finding_key, FindingKey)
        check_choice("missing", self.missing, Missing)


@dataclass(frozen=True)
class Rows:
    """Rows of one level, with keys under internal names, the columns of scores, and `WEIGHT`."""

    frame: pl.LazyFrame
    level: Level
    keys: Keys
    columns: frozenset[str]
    settings: Settings

    @property
    def study(self) -> list[str]:
        """Columns that identify a study."""
        return [*self.keys.inner, "study_id"]

    @property
    def finding(self) -> list[str]:
        """Columns that identify a finding."""
        within = ["sub_study_id"] if "sub_study_id" in self.columns else []
        return [*self.study, *within, "finding_id"]

    @property
    def domains(self) -> dict[str, pl.Expr]:
        """The domain of a group of rows, the first by name, if the table has domains."""
        return {"domain": pl.col("domain").min()} if "domain" in self.columns else {}

    @property
    def rule(self) -> PoolingRule:
        """How the rows are pooled; studies are averaged as they are."""
        if self.level == "tests":
            return FINDING_RULES[self.settings.finding_rule]
        return STUDY_RULES[self.settings.study_rule if self.level == "findings" else "mean"]

    @property
    def by_chance(self) -> bool:
        """True if a group without data has the score of chance, as findings and studies may."""
        return self.settings.missing == "chance" and self.level != "studies"

    def next_level(self, frame: pl.LazyFrame, columns: Sequence[str]) -> Rows:
        """Rows of the next level, each of weight 1."""
        weighed = frame.select(*columns, pl.lit(1.0).alias(WEIGHT))
        level = LEVELS[LEVELS.index(self.level) + 1]
        return replace(self, frame=weighed, level=level, columns=frozenset(columns))

    def result(self, by: Sequence[str]) -> pl.LazyFrame:
        """The rows as users see them, sorted."""
        return self.frame.drop(WEIGHT).sort(by).rename(self.keys.restore())


def level_of(schema: pl.Schema) -> Level:
    """The level of the rows of a table."""
    if "finding_id" not in schema:
        return "studies"
    return "findings" if "n_tests" in schema and "test_id" not in schema else "tests"


def read_table(
    caller: str,
    frame: Frame,
    by: By,
    weight: IntoExpr | None,
    settings: Settings,
    levels: Sequence[Level],
    requires: Sequence[str] = (),
) -> Rows:
    """Read a table of one of these levels; rows of weight 0 are dropped."""
    lazy = tables.lazy(frame)
    schema = lazy.collect_schema()
    keys = keys_of(by, schema, _RESERVED)
    level = level_of(schema)
    if level not in levels:
        why = "it has no finding_id" if level == "studies" else "it has n_tests and no test_id"
        raise ParameterError(
            f"{caller} needs a table of {' or '.join(levels)}, and this is one of {level}: {why}"
        )
    weights = [] if weight is None else [as_expr(weight)]
    if level == "findings" and settings.finding_key == "finding_id" and "sub_study_id" in schema:
        raise ParameterError(
            f"{caller}: these findings are already separate by sub-study, and "
            "finding_key='finding_id' is for tests; pass it to finding_scores, or pass tests here"
        )
    required = {"study_id", *requires, *columns_read((*keys.exprs, *weights))}
    required |= {"finding_id"} if level != "studies" else set()
    required |= {"pas"} if level != "tests" else set()
    if missing := required - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    numbers = [name for name in NUMBERS if name in schema]
    check_numbers(caller, lazy, [*numbers, *weights])
    names = [name for name in NAMES if name in schema]
    if settings.finding_key == "finding_id" and "sub_study_id" in names:
        names.remove("sub_study_id")
    counts = [name for name in COUNTS if name in schema and level != "tests"]
    two_way = [TWO_WAY] if level == "tests" and TWO_WAY in schema else []
    times = weights[0].cast(pl.Float64) if weights else pl.lit(1.0)
    rows = lazy.select(
        *keys.select(),
        *names,
        pl.col(numbers).cast(pl.Float64),
        pl.col(counts).cast(pl.Int64),
        pl.col(two_way).cast(pl.Boolean),
        times.alias(WEIGHT),
    )
    rows = rows.filter(pl.col(WEIGHT).ne_missing(0.0)) if weights else rows
    columns = frozenset((*names, *numbers, *counts, *two_way))
    return Rows(rows, level, keys, columns, settings)


def with_ways_of_tests(caller: str, frame: Frame) -> pl.LazyFrame:
    """Add to tests without a PAS all ways that their posteriors and directions give."""
    lazy = tables.lazy(frame)
    schema = lazy.collect_schema()
    is_scored = "pas" in schema or level_of(schema) != "tests"
    return lazy if is_scored else with_all_ways(caller, lazy)


def keys_of(by: By, schema: pl.Schema, reserved: Sequence[str]) -> Keys:
    """The group keys, by default the model if the table has it."""
    if by is None and "model" in schema:
        by = "model"
    return tables.Keys.of(by, taken=reserved)


def with_all_ways(caller: str, tests: pl.LazyFrame) -> pl.LazyFrame:
    """Add directions, and the three-way posteriors that follow from them."""
    schema = tests.collect_schema()
    names = [f"{kind}_{side}" for side in SIDES for kind in ("direction", "pi", *WAYS)]
    check_numbers(caller, tests, [name for name in names if name in schema])
    # A table with conflicts already has its directions.
    return with_ways(tests if CONFLICT in schema else with_directions(tests))


def check_numbers(caller: str, frame: pl.LazyFrame, columns: Sequence[IntoExpr]) -> None:
    """Raise ParameterError if a column is not numeric."""
    exprs = [as_expr(column) for column in columns]
    dtypes = frame.select(expr.alias(str(i)) for i, expr in enumerate(exprs)).collect_schema()
    for expr, dtype in zip(exprs, dtypes.values(), strict=True):
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise ParameterError(f"{caller}: {expr} must be numbers, but is {dtype}; cast it")


def sum_if_any(count: pl.Expr) -> pl.Expr:
    """The sum of a count, null if all rows are null."""
    return pl.when(count.count() > 0).then(count.sum())


def usable_weight() -> pl.Expr:
    """True if the weight of a row is finite and not negative."""
    weight = pl.col(WEIGHT)
    return (weight.is_finite() & (weight >= 0.0)).fill_null(value=False)


def is_included(columns: Collection[str]) -> pl.Expr:
    """True for rows of a study whose weights are all possible.

    A weight that is null or NaN is missing and does not exclude a row.
    """
    finite = [
        pl.col(name).is_infinite().not_().fill_null(value=True)
        for name in ("n_eff", "test_weight", "finding_weight")
        if name in columns
    ]
    not_negative = [
        (pl.col(name) >= 0.0).fill_null(value=True)
        for name in ("test_weight", "finding_weight")
        if name in columns
    ]
    has_study = pl.col("study_id").is_not_null()
    return pl.all_horizontal(usable_weight(), has_study, *finite, *not_negative)


def of_a_study(*names: str) -> pl.Expr:
    """Columns in rows of a study, null in rows without one."""
    return pl.when(pl.col("study_id").is_not_null()).then(pl.col(*names)).name.keep()
