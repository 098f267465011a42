"""Scored predictions as leaderboards read them, and their first stage: scores of segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.survey import contexts
from evalframe.survey.surveys.segments import category

if TYPE_CHECKING:
    from evalframe.core.choices import Context
    from evalframe.core.tables import Keys


RunsOf: TypeAlias = Literal["kept", "all"]

CONTEXT = ":context"
"""The amount of context of a row, 0 if unknown."""

CLUSTER, SIZE, MASS = ":cluster", ":size", ":mass"
"""The cluster of a bootstrap, the weight of a unit, and that of an item within its unit."""

N_OK, N_ATTEMPTED, _N_ROWS = ":n_ok", ":n_attempted", ":n_rows"
"""Numbers of items that were read, of those with a status, and of all."""

IDS = ("model", "round", "segment_id", "question_id")
"""Names, which are read as text of any type."""

_STRINGS = (*IDS, "segment_attribute", "status")
_USED = (*_STRINGS, "score", "context_count", "run_id", "sample_size")
_TAKEN = (
    *_USED,
    *contexts.COLUMNS,
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
    """Scored predictions, and the columns that identify their segments and runs.

    Attributes:
        frame: The used columns, with group keys under internal names and `score` null where it is
            NaN. If rows are marked by context, score and status of other amounts are null.
        columns: Names of the used columns that the table has.
        caller: The function for messages; None if missing categories are not an error.
        every: The rows before they were marked by context, if they are.
        context: The selected amount of context.
        coded: String columns that are categorical, which are grouped several times faster.
        unrepeated: True if no question of a segment has several rows, False if unknown.
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
        """The same rows in memory, with categorical strings, checked for repeated questions."""
        schema = self.frame.collect_schema()
        names = (*IDS, "run_id", "status")
        coded = tuple(name for name in names if schema.get(name) == pl.String)
        frame = self.frame.with_columns(pl.col(coded).cast(pl.Categorical)).collect()
        return replace(self, frame=frame.lazy(), coded=coded).checked(frame)

    def checked(self, scored: Frame) -> Rows:
        """The same rows, checked for repeated questions if the table is in memory."""
        if "question_id" not in self.columns or isinstance(scored, pl.LazyFrame):
            return self
        return replace(self, unrepeated=_are_distinct(self.frame, self.item, self.coded))

    def decoded(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """A table of these rows with its categorical columns as strings."""
        names = [name for name in frame.collect_schema() if name in self.coded]
        return frame.with_columns(pl.col(names).cast(pl.String)) if names else frame

    @property
    def rounds(self) -> list[str]:
        """The round, if the table has rounds."""
        return ["round"] if "round" in self.columns else []

    @property
    def segment(self) -> list[str]:
        """Columns that identify a segment."""
        return [*self.rounds, "segment_id"]

    @property
    def question(self) -> list[str]:
        """Columns that identify a question."""
        return [*self.rounds, "question_id"]

    @property
    def item(self) -> list[str]:
        """Columns that identify a question to a model about a segment."""
        return [*self.keys.inner, "model", *self.segment, "question_id"]

    @property
    def run(self) -> list[str]:
        """Columns that identify a run of a model within a segment: its context and its id."""
        names = {"context_count": CONTEXT, "run_id": "run_id"}
        return [inner for name, inner in names.items() if name in self.columns]

    def at(self, context: Context) -> Rows:
        """The same rows, marked by whether they have the selected amount of context."""
        frame = contexts.mark(self.frame, context, ["model", *self.keys.inner])
        if "context_count" not in self.columns:
            return self
        values = [pl.col(name) for name in ("score", "status") if name in self.columns]
        included = [pl.when(pl.col(contexts.OTHER) == 0).then(each) for each in values]
        return replace(self, frame=frame.with_columns(included), every=self.frame, context=context)

    @property
    def is_marked(self) -> bool:
        """True if rows are marked by context."""
        return self.every is not None

    @property
    def context_sums(self) -> dict[str, pl.Expr]:
        """Aggregates of the marks of rows or segments."""
        return contexts.sums() if self.is_marked else {}

    @property
    def context_columns(self) -> dict[str, pl.Expr]:
        """Columns of a table about the amounts of context behind it."""
        columns = contexts.result_columns() if self.is_marked else {}
        return {name: expr for name, expr in columns.items() if name not in self.keys.names}


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
    """Check a table of scores and select the used columns, of all amounts of context.

    `needs` are required besides model, segment and score, `taken` are further columns of the
    result, and `extra` are further columns to select.
    """
    # A result that is grouped by the amount of context has that column from the key.
    is_grouped = any(map(contexts.is_context_count, tables.Keys.of(by, taken=()).exprs))
    keys = tables.Keys.of(by, taken={*_TAKEN, *taken} - ({contexts.COUNT} if is_grouped else set()))
    lazy = tables.lazy(scored)
    schema = lazy.collect_schema()
    others = dict(extra or {})
    roots = columns_read([*keys.exprs, *others.values()])
    if missing := {"model", "segment_id", "score", *needs, *roots} - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    for name in ("score", "context_count", "sample_size"):
        dtype = schema.get(name)
        if dtype is not None and not dtype.is_numeric() and dtype != pl.Null:
            raise ParameterError(f"{caller}: {name} must be numbers, but is {dtype}; cast it")
    if "status" in schema and not _is_string(schema["status"]):
        raise ParameterError(f"{caller}: status must be text, but is {schema['status']}")
    columns = frozenset(name for name in _USED if name in schema)
    exprs = {name: pl.col(name).cast(pl.String) for name in _STRINGS if name in columns}
    exprs["score"] = pl.col("score").cast(pl.Float64).fill_nan(None)
    if "context_count" in columns:
        count = _finite("context_count").cast(pl.Int64, strict=False)
        exprs |= {"context_count": count, CONTEXT: count.fill_null(0)}
    if "sample_size" in columns:
        size = _finite("sample_size")
        exprs["sample_size"] = pl.when(size > 0).then(size)
    if "run_id" in columns:
        exprs["run_id"] = pl.col("run_id")
    rows = lazy.select(*keys.select(), **exprs, **others)
    return Rows(rows if baselines else rows.filter(~is_baseline()), keys, columns, caller)


def deviation(score: pl.Expr) -> pl.Expr:
    """The population standard deviation, null without scores."""
    return pl.when(score.count() > 0).then(score.std(ddof=0))


def is_baseline(model: IntoExpr = "model") -> pl.Expr:
    """Return True for names of baselines, such as `baseline:uniform`.

    Args:
        model: Names of models.

    Returns:
        Boolean, under the name of the column; null where the name is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.survey.is_baseline(pl.lit("baseline:uniform"))).item()
        True
    """
    return as_expr(model).cast(pl.String).str.starts_with("baseline:")


def category_of(columns: frozenset[str]) -> pl.Expr:
    """The category of a segment: `segment_attribute`, or else the prefix of its id."""
    if "segment_attribute" in columns:
        return pl.col("segment_attribute").alias("category")
    return category("segment_id").alias("category")


def category_source(columns: frozenset[str]) -> str:
    """The column that `category_of` reads."""
    return "segment_attribute" if "segment_attribute" in columns else "segment_id"


def check_categories(caller: str, source: str, segments: pl.Series) -> pl.Series:
    """Return which segments have a category; raise ParameterError if none of them has one.

    Segments are structs of `segment_id` and `category`, which comes from the source: `segment_id`,
    `segment_attribute` or `attributes`.
    """
    has_category = segments.struct.field("category").is_not_null()
    if has_category.is_empty() or has_category.any():
        return has_category
    names = segments.struct.field("segment_id").cast(pl.String).unique().sort()
    searched = {
        "segment_id": "the text before a ':' in segment_id, as in 'gender:male'",
        "segment_attribute": "the column segment_attribute, which is null for all of them",
        "attributes": "their segment_id in the table of attributes",
    }
    raise ParameterError(
        f"{caller}: no segment has a category; searched {searched[source]}, and got "
        f"{len(names):,} segments, such as {names[0]!r}. Name segments 'category:value', or add a "
        "column segment_attribute with the category of each"
    )


def _finite(name: str) -> pl.Expr:
    """A column as Float64, null where it is not finite."""
    value = pl.col(name).cast(pl.Float64)
    return pl.when(value.is_finite()).then(value)


def _is_string(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Null)


def _are_distinct(frame: pl.LazyFrame, names: Sequence[str], coded: Sequence[str]) -> bool:
    """Return True if all rows are provably distinct; a hash collision can hide this.

    Codes of categorical columns are the digits of a number, which differs for different rows; the
    other columns are hashed together. This is several times faster than to count distinct rows.
    """
    codes = [pl.col(name).to_physical().cast(pl.UInt64) for name in names if name in coded]
    others = [name for name in names if name not in coded]
    number = pl.struct(others).hash() if others else pl.lit(0, pl.UInt64)
    for code in codes:
        number = number * (code.max() + 1) + code
    return bool(frame.select(number.n_unique() == pl.len()).collect().item())


@like_input
def segment_scores(
    scored: Frame, *, by: By = None, context: Context = "highest", runs: RunsOf = "kept"
) -> pl.LazyFrame:
    """The mean item score of each model in each segment.

    Args:
        scored: One row per item, as `evalframe.survey.score` returns them: `model`, `segment_id`,
            `score` (null or NaN is left out), and optionally `round`, `context_count`, `run_id`,
            `sample_size`, `status` and `segment_attribute`. Ids can have any type and become
            String.
        by: Group keys, such as temperature.
        context: As for `at_context`. For a row per amount group `by="context_count"`.
        runs: `kept`, or `all` for a row per amount of context.

    Returns:
        by..., `model`, `round` (if the table has it), `segment_id`, `category` (String, null
        without one), `score` (Float64, null if no item has one), `n_items` (Int64, items with a
        score), and if the table allows `context_count` (Int64, the included amount; null for
        several), `n_other_context` (Int64, rows of other amounts; not with `runs="all"`),
        `sample_size` (Float64, mean of the items where it is above 0) and `parse_rate`. Sorted by
        these keys.

    Raises:
        ParameterError: An argument lies outside its domain.

    References:
        dtef-app 52d79c0, demographic aggregation.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"context_count": [0, 5, 5], "score": [0.1, 0.5, 0.7]}
        >>> scored = pl.DataFrame({"model": "a", "segment_id": "gender:male", **scores})
        >>> ef.survey.segment_scores(scored).select("segment_id", "score", "n_items").rows()
        [('gender:male', 0.6, 2)]
    """
    if runs not in ("kept", "all"):
        raise ParameterError(f"runs must be 'kept' or 'all', got {runs!r}")
    if runs == "all" and context != "highest":
        raise ParameterError('runs="all" has every amount of context; leave out context')
    rows = scored_rows("segment_scores", scored, by, taken=("n_items",))
    amount = []
    if runs == "kept":
        rows = rows.at(context)
        table, columns = segments_of(rows), rows.context_columns
    else:
        amount = [name for name in rows.run if name == CONTEXT]
        table, columns = run_scores(rows, amount), {}
        if amount and "context_count" not in rows.keys.names:
            columns = {"context_count": pl.col(CONTEXT)}
    names = [*rows.keys.inner, "model", *rows.segment]
    size = [pl.col("sample_size")] if "sample_size" in rows.columns else []
    rate = [share_read()] if "status" in rows.columns else []
    added = [expr.alias(name) for name, expr in columns.items()]
    selected = table.sort(*names, *amount).select(
        *names, "category", "score", "n_items", *added, *size, *rate
    )
    return selected.rename(rows.keys.restore())


def run_scores(rows: Rows, run: Sequence[str], **others: pl.Expr) -> pl.LazyFrame:
    """The mean item score of each run of each model in each segment, with other aggregates."""
    score = pl.col("score")
    aggregates = {
        **others,
        "score": score.mean(),
        "n_items": score.count().cast(pl.Int64),
        _N_ROWS: pl.len().cast(pl.Int64),
    }
    if "sample_size" in rows.columns:
        aggregates["sample_size"] = pl.col("sample_size").filter(score.is_not_null()).mean()
    if "status" in rows.columns:
        status = pl.col("status")
        aggregates[N_OK] = (status == "ok").sum().cast(pl.Int64)
        aggregates[N_ATTEMPTED] = status.count().cast(pl.Int64)
    if "segment_attribute" in rows.columns:
        aggregates["segment_attribute"] = pl.col("segment_attribute").max()
    key = [*rows.keys.inner, "model", *rows.segment, *run]
    runs = rows.decoded(rows.frame.group_by(key).agg(**aggregates, **rows.context_sums))
    return runs.with_columns(category_of(rows.columns))


def segments_of(rows: Rows, runs: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """One row per model and segment, of the selected amount of context.

    `runs` are their `run_scores`, if each segment and amount of context has a single one.
    """
    if rows.every is not None and rows.context in ("highest", "lowest"):
        every = replace(rows, frame=rows.every, every=None)
        return _selected(rows, run_scores(every, [CONTEXT]) if runs is None else runs)
    return run_scores(rows, []) if runs is None or rows.is_marked else runs


def _selected(rows: Rows, runs: pl.LazyFrame) -> pl.LazyFrame:
    """Select the amount of context among runs, which are fewer than rows."""
    key = [*rows.keys.inner, "model", *rows.segment]
    amounts = runs.with_columns(pl.col(CONTEXT).alias(contexts.COUNT))
    marked = contexts.mark(amounts, rows.context, ["model", *rows.keys.inner])
    others = (pl.col(contexts.OTHER) * pl.col(_N_ROWS)).sum().over(key)
    counts = marked.with_columns(others.alias(_N_ROWS), pl.col("category").max().over(key))
    return contexts.included(counts).with_columns(pl.col(_N_ROWS).alias(contexts.OTHER))


def share_read() -> pl.Expr:
    """The share of attempted items that were read, null without attempts."""
    attempted = pl.col(N_ATTEMPTED)
    rate = pl.when(attempted > 0).then(pl.col(N_OK).cast(pl.Float64) / attempted)
    return rate.alias("parse_rate")
