"""Scored predictions as leaderboards read them: which columns say what, under which rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.survey import contexts
from evalframe.survey.surveys.segments import category

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.tables import Keys
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.survey.contexts import Context

CONTEXT = ":context"
"""The amount of context of a row, 0 where it is not known."""

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
    *contexts.TOLD,
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
        columns: Names of the columns there are.
        caller: Who asks, for messages; None where a table may lack what makes a part of the answer.
        every: The rows before they were marked by the amount of context that counts, if they are;
            `score` and `status` of others are null in `frame`.
        context: Which amount of context counts.
        coded: Columns of text that stand as categories, which are grouped several times faster.
        unrepeated: Whether it is known that no question of a segment stands in several rows.
    """

    frame: pl.LazyFrame
    keys: Keys
    columns: frozenset[str]
    caller: str | None = None
    every: pl.LazyFrame | None = None
    context: Context = "highest"
    coded: tuple[str, ...] = ()
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
        """The round, if the table has rounds."""
        return ["round"] if "round" in self.columns else []

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
        """Columns that name a run within a segment of a model: its context and its id."""
        names = {"context_count": CONTEXT, "run_id": "run_id"}
        return [inner for name, inner in names.items() if name in self.columns]

    def at(self, context: Context) -> Rows:
        """The same rows, marked by whether they are of the amount of context that counts.

        Raises:
            ParameterError: There is no such amount.
            MissingColumnsError: It is asked for, but the table has no amounts.
        """
        frame = contexts.marked(self.frame, context, ["model", *self.keys.inner])
        if "context_count" not in self.columns:
            return self
        counts = [pl.col(name) for name in ("score", "status") if name in self.columns]
        counted = [pl.when(pl.col(contexts.OTHER) == 0).then(each) for each in counts]
        return replace(self, frame=frame.with_columns(counted), every=self.frame, context=context)

    @property
    def marked(self) -> bool:
        """Whether rows are marked by the amount of context that counts."""
        return self.every is not None

    @property
    def summed(self) -> dict[str, pl.Expr]:
        """Sums of what rows, or segments, are marked by."""
        return contexts.summed() if self.marked else {}

    @property
    def told(self) -> dict[str, pl.Expr]:
        """What a table says of the amounts of context behind it."""
        said = contexts.told() if self.marked else {}
        return {name: expr for name, expr in said.items() if name not in self.keys.names}


def scored_rows(
    caller: str,
    scored: Frame,
    by: By,
    *,
    needs: Sequence[str] = (),
    taken: Sequence[str] = (),
    baselines: bool = True,
    extra: Mapping[str, pl.Expr] | None = None,
) -> Rows:
    """The rows of a table of scores, checked, of all amounts of context.

    Args:
        caller: Who asks, for messages.
        scored: The table.
        by: Group keys.
        needs: Columns beside model, segment and score that must be there.
        taken: Further columns of the result.
        baselines: Whether pseudo-models are kept.
        extra: Further columns to have, by internal names.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Scores are not numbers, or a key is named as a column of the result.
    """
    # A result that is grouped by the amount of context has its column from that.
    grouped = any(map(contexts.is_amount, tables.Keys.of(by, taken=()).exprs))
    keys = tables.Keys.of(by, taken={*_TAKEN, *taken} - ({contexts.COUNT} if grouped else set()))
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
    return Rows(rows, keys, columns, caller)


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


def category_source(columns: frozenset[str]) -> str:
    """Where `category_of` looks."""
    return "segment_attribute" if "segment_attribute" in columns else "segment_id"


def check_categories(caller: str, source: str, segments: pl.Series) -> pl.Series:
    """Whether each segment has a category, if there are none or if one of them has.

    Args:
        caller: Who asks.
        source: `segment_id`, `segment_attribute` or `attributes`: where categories come from.
        segments: Structs of `segment_id` and `category`.

    Raises:
        ParameterError: None has one.
    """
    known = segments.struct.field("category").is_not_null()
    if known.is_empty() or known.any():
        return known
    names = segments.struct.field("segment_id").cast(pl.String).unique().sort()
    looked = {
        "segment_id": "what stands before a ':' in segment_id, as in 'gender:male'",
        "segment_attribute": "the column segment_attribute, which is null for all of them",
        "attributes": "their segment_id in the table of attributes",
    }
    raise ParameterError(
        f"{caller}: no segment has a category; looked for {looked[source]}, and found "
        f"{len(names):,} segments, such as {names[0]!r}. Name segments 'category:value', or state "
        "the category of each in a column segment_attribute"
    )


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
