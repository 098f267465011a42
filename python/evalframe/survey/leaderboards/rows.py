"""Scored predictions as leaderboards read them: which columns say what, under which rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_rules
from evalframe.survey.surveys.names import category

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.tables import Keys
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By

ROW = ":row"
"""When a row, a run, a segment or a model was first seen; only the original's rules ask."""

CONTEXT = ":context"

CLUSTER, SIZE, MASS = ":cluster", ":size", ":mass"
"""What a bootstrap draws, the weight of a unit, and that of an item within its unit."""

IDS = ("model", "round", "segment_id", "question_id")
"""What names things; texts, whatever they were."""

_TEXTS = (*IDS, "segment_attribute", "status")

_USED = (
    "model",
    "round",
    "segment_id",
    "question_id",
    "score",
    "context_count",
    "run_id",
    "sample_size",
    "status",
    "segment_attribute",
)
_TAKEN = (
    *_USED,
    "category",
    "weighting",
    "rank",
    "gap",
    "n_segments",
    "n_items",
    "sd_segments",
    "parse_rate",
)


@dataclass(frozen=True)
class Rows:
    """Scored predictions, and what tells their segments and runs apart.

    Attributes:
        frame: The columns that are used, with group keys under internal names and `score` null
            where it is NaN.
        keys: The group keys.
        rules: Whose rules.
        columns: Names of the columns there are.
        apart: Whether runs of the same context are told apart under all rules.
        coded: Columns of text that stand as categories, which are grouped several times faster.
        single: Whether it is known that all rows are of the runs that count.
        unrepeated: Whether it is known that no question of a segment stands in several rows.
    """

    frame: pl.LazyFrame
    keys: Keys
    rules: Rules
    columns: frozenset[str]
    apart: bool = False
    coded: tuple[str, ...] = ()
    single: bool = False
    unrepeated: bool = False

    def encoded(self) -> Rows:
        """The same rows in memory, with texts as categories, and whether questions repeat."""
        schema = self.frame.collect_schema()
        names = (*IDS, "run_id", "status")
        coded = tuple(name for name in names if schema.get(name) == pl.String)
        frame = self.frame.with_columns(pl.col(coded).cast(pl.Categorical)).collect()
        return replace(self, frame=frame.lazy(), coded=coded).checked(frame)

    def checked(self, scored: Frame) -> Rows:
        """The same rows, with a look for repeated questions if the table is in memory."""
        if "question_id" not in self.columns or isinstance(scored, pl.LazyFrame):
            return self
        return replace(self, unrepeated=_are_distinct(self.frame, self.asked, self.coded))

    def decoded(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """A table of these rows, with its categories as texts."""
        names = [name for name in frame.collect_schema() if name in self.coded]
        return frame.with_columns(pl.col(names).cast(pl.String)) if names else frame

    @property
    def rounds(self) -> list[str]:
        """The round, where rounds are told apart: by the original's rules they are not."""
        return ["round"] if "round" in self.columns and self.rules == "documented" else []

    @property
    def segment(self) -> list[str]:
        """What names a segment."""
        return [*self.rounds, "segment_id"]

    @property
    def question(self) -> list[str]:
        """What names a question."""
        return [*self.rounds, "question_id"]

    @property
    def asked(self) -> list[str]:
        """What names a question that a model was asked about a segment."""
        return [*self.keys.inner, "model", *self.segment, "question_id"]

    @property
    def run(self) -> list[str]:
        """What names a run within a segment of a model: its context, for the original also its id.

        Runs of the same context are one by the documented rules, so that none is preferred,
        unless `apart` asks for each.
        """
        context = [CONTEXT] if "context_count" in self.columns else []
        if self.rules == "documented" and not self.apart:
            return context
        further = [name for name in ("round", "run_id") if name in self.columns]
        return [*context, *(name for name in further if name not in self.segment)]


def scored_rows(
    caller: str,
    scored: Frame,
    by: By,
    rules: Rules,
    *,
    needs: Sequence[str] = (),
    taken: Sequence[str] = (),
    baselines: bool = True,
    extra: Mapping[str, pl.Expr] | None = None,
) -> Rows:
    """The rows of a table of scores, checked.

    Args:
        caller: Who asks, for messages.
        scored: The table.
        by: Group keys.
        rules: Whose rules.
        needs: Columns beside model, segment and score that must be there.
        taken: Further columns of the result.
        baselines: Whether pseudo-models are kept.
        extra: Further columns to have, by internal names.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Unknown rules, scores that are no numbers, or a key named as a column of
            the result.
    """
    check_rules(rules)
    keys = tables.Keys.of(by, taken=(*_TAKEN, *taken))
    lazy = tables.lazy(scored)
    schema = lazy.collect_schema()
    others = dict(extra or {})
    read = [*keys.exprs, *others.values()]
    roots = columns_read(read)
    if missing := {"model", "segment_id", "score", *needs, *roots} - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    for name in ("score", "context_count", "sample_size"):
        dtype = schema.get(name)
        if dtype is not None and not dtype.is_numeric() and dtype != pl.Null:
            raise ParameterError(f"{caller}: {name} must be numbers, but is {dtype}; cast it")
    if "status" in schema and not _is_text(schema["status"]):
        raise ParameterError(f"{caller}: status must be texts, but is {schema['status']}")
    columns = frozenset(name for name in _USED if name in schema)
    made = {name: pl.col(name).cast(pl.String) for name in _TEXTS if name in columns}
    made["score"] = pl.col("score").cast(pl.Float64).fill_nan(None)
    if "context_count" in columns:
        count = _number("context_count").cast(pl.Int64, strict=False)
        made |= {"context_count": count, CONTEXT: count.fill_null(0)}
    if "sample_size" in columns:
        size = _number("sample_size")
        made["sample_size"] = pl.when(size > 0).then(size)
    kept = [name for name in _USED if name in columns and name not in made]
    rows = lazy.select(*kept, *keys.select(), **made, **others)
    if not baselines:
        rows = rows.filter(~is_baseline())
    if rules == "reference":
        rows = rows.with_row_index(ROW)
    return Rows(rows, keys, rules, columns)


def deviation(score: pl.Expr) -> pl.Expr:
    """The population standard deviation, null where there is no score."""
    return pl.when(score.count() > 0).then(score.std(ddof=0))


def is_baseline(model: IntoExpr = "model") -> pl.Expr:
    """Whether a model is none, but a baseline such as `baseline:uniform`.

    Args:
        model: Names of models.

    Returns:
        Boolean, under the name of the column; null where there is no name.

    Examples:
        >>> pl.select(is_baseline(pl.lit("baseline:uniform"))).item()
        True
    """
    return as_expr(model).cast(pl.String).str.starts_with("baseline:")


def category_of(columns: frozenset[str]) -> pl.Expr:
    """The category of a segment: what the table says, or else the prefix of its id."""
    if "segment_attribute" in columns:
        return pl.col("segment_attribute").alias("category")
    return category("segment_id").alias("category")


def _number(name: str) -> pl.Expr:
    """A column as Float64; what is not finite is missing."""
    value = pl.col(name).cast(pl.Float64)
    return pl.when(value.is_finite()).then(value)


def _is_text(dtype: pl.DataType) -> bool:
    """Whether values are texts, or all null."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Null)


def _are_distinct(frame: pl.LazyFrame, names: Sequence[str], coded: Sequence[str]) -> bool:
    """Whether it is sure that no two rows have the same values.

    Different numbers prove different rows. Other rows may share a number too, so that the answer is
    no more than that this is not sure.
    """
    codes = [pl.col(name).to_physical().cast(pl.UInt64) for name in names if name in coded]
    others = [name for name in names if name not in coded]
    number = pl.struct(others).hash() if others else pl.lit(0, pl.UInt64)
    for code in codes:
        number = number * (code.max() + 1) + code
    return bool(frame.select(number.n_unique() == pl.len()).collect().item())
