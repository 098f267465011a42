"""The table that a score is asked of: tests, findings or studies, whichever was given.

A table without `finding_id` holds studies; one with `finding_id` and `n_tests`, and without
`test_id`, holds findings; any other holds tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import Rules, check_choice
from evalframe.replication.agreement.directions import (
    CONFLICT,
    with_directions,
    with_ways,
)
from evalframe.replication.agreement.possible import has_possible_weights
from evalframe.replication.agreement.posteriors import WAYS
from evalframe.replication.agreement.rules import FindingKey, FindingRule, Missing, StudyRule
from evalframe.replication.effects.types import SIDES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalframe.core.tables import Keys
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By

Level: TypeAlias = Literal["tests", "findings", "studies"]

LEVELS: tuple[Level, ...] = ("tests", "findings", "studies")

WEIGHT = ":weight"

TWO_WAY = "is_two_way"
"""Whether the PAS of a test is two-way, null where nothing says."""

TEXTS = ("study_id", "sub_study_id", "finding_id", "domain")
"""Columns of any type that tell rows apart."""

NUMBERS = (
    "pas",
    "pas_normalised",
    "z_pas",
    "score",
    "n_eff",
    "test_weight",
    "finding_weight",
    "pi_human",
    "pi_agent",
    *(f"{way}_{side}" for side in ("human", "agent") for way in WAYS),
)
COUNTS = (
    "n_studies",
    "n_studies_without_data",
    "n_findings",
    "n_findings_without_data",
    "n_tests",
    "n_two_way",
    "n_missing",
)
"""Counts of what a score rests on, and of what it lacks."""

_TAKEN = (*TEXTS, "pas", "pas_normalised", "z_pas", "finding_weight", *COUNTS)


@dataclass(frozen=True)
class Settings:
    """How scores are pooled from level to level."""

    rules: Rules
    finding_rule: FindingRule
    study_rule: StudyRule
    finding_key: FindingKey
    missing: Missing

    @classmethod
    def of(
        cls,
        rules: Rules,
        finding_rule: FindingRule | None,
        study_rule: StudyRule | None,
        finding_key: FindingKey,
        missing: Missing | None,
    ) -> Settings:
        """The settings, with the defaults of the rules.

        Raises:
            ParameterError: A name is unknown.
        """
        check_choice("rules", rules, Rules)
        original = rules == "reference"
        finding_rule = finding_rule or ("mean_z" if original else "fisher_z")
        study_rule = study_rule or ("mean_z" if original else "mean")
        check_choice("the rule of findings", finding_rule, FindingRule)
        check_choice("the rule of studies", study_rule, StudyRule)
        check_choice("finding_key", finding_key, FindingKey)
        missing = missing or ("chance" if original else "skip")
        check_choice("missing", missing, Missing)
        return cls(rules, finding_rule, study_rule, finding_key, missing)


@dataclass(frozen=True)
class Given:
    """Rows of one level, with keys under internal names and the columns that scores read.

    Attributes:
        frame: The rows; their weight is the column `WEIGHT`, null for a row that cannot count.
        level: What a row is.
        keys: The group keys.
        columns: Which of the columns the caller's table has.
        settings: How scores are pooled.
    """

    frame: pl.LazyFrame
    level: Level
    keys: Keys
    columns: frozenset[str]
    settings: Settings

    @property
    def study(self) -> list[str]:
        """What names a study."""
        return [*self.keys.inner, "study_id"]

    @property
    def finding(self) -> list[str]:
        """What names a finding."""
        within = ["sub_study_id"] if "sub_study_id" in self.columns else []
        return [*self.study, *within, "finding_id"]

    @property
    def domains(self) -> dict[str, pl.Expr]:
        """The domain of a study's rows, if there are domains: of several the first by name."""
        return {"domain": pl.col("domain").min()} if "domain" in self.columns else {}

    def raised(self, frame: pl.LazyFrame, columns: Sequence[str]) -> Given:
        """The rows of the next level, which weigh the same."""
        level = LEVELS[LEVELS.index(self.level) + 1]
        weighed = _counting(frame.with_columns(pl.lit(1.0).alias(WEIGHT)), columns, self.settings)
        return replace(self, frame=weighed, level=level, columns=frozenset(columns))


def given_table(
    caller: str,
    frame: Frame,
    by: By,
    weight: IntoExpr | None,
    settings: Settings,
    *,
    levels: Sequence[Level],
    needs: Sequence[str] = (),
) -> Given:
    """The rows of a table, whichever level it holds.

    Rows of weight 0 are left out, as if they were not there. Rows without a study, and those with
    an impossible weight of their own, do not count.

    Args:
        caller: Who asks, for messages.
        frame: Tests, findings or studies.
        by: Group keys; by default `model` where there is one.
        weight: How often each row counts.
        settings: How scores are pooled.
        levels: What the table may hold.
        needs: Further columns that must be there.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: The table holds another level, a key is named as a column of the result, a
            column is no number, or findings told apart by sub-study are asked for without it.
    """
    lazy = tables.lazy(frame)
    schema = lazy.collect_schema()
    keys = keys_of(by, schema, _TAKEN)
    level = _level(schema)
    if level not in levels:
        why = "it has no finding_id" if level == "studies" else "it has n_tests and no test_id"
        raise ParameterError(
            f"{caller} needs a table of {' or '.join(levels)}, and this is one of {level}: {why}"
        )
    weights = [] if weight is None else [as_expr(weight)]
    if level == "findings" and settings.finding_key == "finding_id" and "sub_study_id" in schema:
        raise ParameterError(
            f"{caller}: these findings are told apart by sub-study already, and "
            "finding_key='finding_id' is for tests; pass it to finding_scores, or give tests here"
        )
    if level == "tests" and "pas" not in schema and settings.rules == "documented":
        lazy = with_all_ways(caller, lazy)
        schema = lazy.collect_schema()
    required = {"study_id", *needs, *columns_read((*keys.exprs, *weights))}
    if level != "studies":
        required.add("finding_id")
    if level != "tests":
        required.add("pas")
    if missing := required - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    numbers = [name for name in NUMBERS if name in schema]
    check_numbers(caller, lazy, [*numbers, *weights])
    texts = [name for name in TEXTS if name in schema]
    if settings.finding_key == "finding_id" and "sub_study_id" in texts:
        texts.remove("sub_study_id")
    counts = [name for name in COUNTS if name in schema and level != "tests"]
    two_way = [TWO_WAY] if level == "tests" and TWO_WAY in schema else []
    times = weights[0].cast(pl.Float64) if weights else pl.lit(1.0)
    rows = lazy.select(
        *keys.select(),
        *texts,
        *(pl.col(name).cast(pl.Float64) for name in numbers),
        *(pl.col(name).cast(pl.Int64) for name in counts),
        *(pl.col(name).cast(pl.Boolean) for name in two_way),
        times.alias(WEIGHT),
    )
    rows = rows.filter(pl.col(WEIGHT).ne_missing(0.0)) if weights else rows
    columns = frozenset((*texts, *numbers, *counts, *two_way))
    return Given(_counting(rows, columns, settings), level, keys, columns, settings)


def keys_of(by: By, schema: pl.Schema, taken: Sequence[str]) -> Keys:
    """The group keys: those asked for, by default the model where the table has one."""
    if by is None and "model" in schema:
        by = "model"
    return tables.Keys.of(by, taken=taken)


def with_all_ways(caller: str, tests: pl.LazyFrame) -> pl.LazyFrame:
    """The tests with directions, and three-way posteriors where two-way ones have them.

    Raises:
        ParameterError: A posterior or direction is no number.
    """
    schema = tests.collect_schema()
    names = [f"{kind}_{side}" for side in SIDES for kind in ("direction", "pi", *WAYS)]
    check_numbers(caller, tests, [name for name in names if name in schema])
    # A table that says of conflicts has its directions already.
    return with_ways(tests if CONFLICT in schema else with_directions(tests))


def check_numbers(caller: str, frame: pl.LazyFrame, columns: Sequence[IntoExpr]) -> None:
    """Raise where a column holds no numbers.

    Raises:
        ParameterError: It names the column and its type.
    """
    exprs = [as_expr(column) for column in columns]
    named = [expr.alias(str(place)) for place, expr in enumerate(exprs)]
    dtypes = frame.select(named).collect_schema().values()
    for expr, dtype in zip(exprs, dtypes, strict=True):
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise ParameterError(f"{caller}: {expr} must be numbers, but is {dtype}; cast it")


def added_if_known(count: pl.Expr) -> pl.Expr:
    """The sum of a count, null where nothing says it."""
    return pl.when(count.count() > 0).then(count.sum())


def usable_weight() -> pl.Expr:
    """Whether the weight of a row is a finite number, and not negative."""
    weight = pl.col(WEIGHT)
    return (weight.is_finite() & (weight >= 0.0)).fill_null(value=False)


def _counting(rows: pl.LazyFrame, columns: Collection[str], settings: Settings) -> pl.LazyFrame:
    """The rows, without weight where they belong to no study or have an impossible weight.

    The original drops what belongs to no study.
    """
    known = pl.col("study_id").is_not_null()
    if settings.rules == "reference":
        return rows.filter(known)
    return rows.with_columns(pl.when(known & has_possible_weights(columns)).then(WEIGHT))


def _level(schema: pl.Schema) -> Level:
    if "finding_id" not in schema:
        return "studies"
    return "findings" if "n_tests" in schema and "test_id" not in schema else "tests"
