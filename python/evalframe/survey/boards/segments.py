"""Scores of segments: the first stage of every leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.typing import By, Frame
from evalframe.survey import contexts
from evalframe.survey.boards.rows import CONTEXT, Rows, category_of, scored_rows

if TYPE_CHECKING:
    from evalframe.core.choices import Context


RunsOf: TypeAlias = Literal["kept", "all"]

N_OK, N_ATTEMPTED, _N_ROWS = ":n_ok", ":n_attempted", ":n_rows"


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
        context: The amount of context to include, see `at_context`. For a row per amount group
            `by="context_count"`.
        runs: `kept`, or `all` for a row per amount of context.

    Returns:
        by..., `model`, `round` (if the table has it), `segment_id`, `category` (String, null if
        there is none), `score` (Float64, null if no item has one), `n_items` (Int64, items with a
        score), and if the table allows `context_count` (Int64, the included amount; null for
        several), `n_other_context` (Int64, rows of other amounts; not with `runs="all"`),
        `sample_size` (Float64, mean of the items where it is above 0) and `parse_rate`. Sorted by
        these keys. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is missing.
        ParameterError: An argument lies outside its domain.

    References:
        dtef-app 52d79c0, demographic aggregation.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import segment_scores
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a"] * 4,
        ...         "segment_id": ["gender:male", "gender:male", "gender:male", "country:chad"],
        ...         "context_count": [0, 5, 5, 0],
        ...         "score": [0.1, 0.5, 0.7, 0.9],
        ...     }
        ... )
        >>> segment_scores(scored).select("segment_id", "score", "n_items").rows()
        [('country:chad', 0.9, 1), ('gender:male', 0.6, 2)]
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
    rate = [parse_rate()] if "status" in rows.columns else []
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


def parse_rate() -> pl.Expr:
    """The share of attempted items that were read, null without attempts."""
    attempted = pl.col(N_ATTEMPTED)
    rate = pl.when(attempted > 0).then(pl.col(N_OK).cast(pl.Float64) / attempted)
    return rate.alias("parse_rate")
