"""Scores of segments: the first stage of every leaderboard, from the runs that count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.survey import contexts
from evalframe.survey.leaderboards.rows import CONTEXT, category_of, scored_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.survey.contexts import Context
    from evalframe.survey.leaderboards.rows import Rows

N_OK, N_ATTEMPTED = ":n_ok", ":n_attempted"


@like_input
def segment_scores(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    runs: str = "kept",
) -> pl.LazyFrame:
    """The mean item score of each model in each segment, from the runs that count.

    Where a segment was asked with several amounts of context, `context` says which of them counts,
    see `at_context`. All runs of that amount are taken together.

    Args:
        scored: One row per item, as `evalframe.survey.score` gives them: `model`, `segment_id`,
            `score` (null or NaN is left out), and as far as there are `round`, `context_count`,
            `run_id`, `sample_size`, `status` and `segment_attribute`. Ids may be of any type, and
            come out as String.
        by: Group keys, such as temperature.
        context: Which amount of context counts: `highest`, `lowest`, a number of answers shown,
            or `all` of them, pooled. For a row per amount group `by="context_count"`.
        runs: `kept`, or `all` for a row per amount of context.

    Returns:
        by..., `model`, `round` (if it tells segments apart), `segment_id`, `category` (String, null
        if there is none), `score` (Float64, null where no item has one), `n_items` (Int64, items
        with a score) and as far as the table tells `context_count` (Int64, the amount that counts;
        null for several), `n_other_context` (Int64, rows of other amounts, which do not count;
        not with `runs="all"`), `sample_size` (Float64, mean of the items where it is above 0) and
        `parse_rate`. Sorted by these keys. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    References:
        dtef-app 52d79c0, demographic aggregation.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import segment_scores
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
    names, run = [*rows.keys.inner, "model", *rows.segment], []
    if runs == "kept":
        rows = rows.at(context)
        table = kept_segments(rows)
    else:
        run = [name for name in rows.run if name == CONTEXT]
        table = run_scores(rows, run)
    said = rows.told
    if CONTEXT in rows.run and not rows.marked:
        said = {name: pl.col(CONTEXT) for name in ("context_count",) if name not in rows.keys.names}
    shown = [*names, "category", "score", "n_items"]
    size = [pl.col("sample_size")] if "sample_size" in rows.columns else []
    made = [parse_rate()] if "status" in rows.columns else []
    told = [expr.alias(name) for name, expr in said.items()]
    return table.sort(*names, *run).select(*shown, *told, *size, *made).rename(rows.keys.restore())


def run_scores(rows: Rows, run: Sequence[str]) -> pl.LazyFrame:
    """The mean item score of each run of each model in each segment.

    Args:
        rows: Scored predictions.
        run: What names a run within a segment.
    """
    score = pl.col("score")
    made = {
        "score": score.mean(),
        "n_items": score.count().cast(pl.Int64),
        _ROWS: pl.len().cast(pl.Int64),
    }
    if "sample_size" in rows.columns:
        made["sample_size"] = pl.col("sample_size").filter(score.is_not_null()).mean()
    if "status" in rows.columns:
        status = pl.col("status")
        made[N_OK] = (status == "ok").sum().cast(pl.Int64)
        made[N_ATTEMPTED] = status.count().cast(pl.Int64)
    if "segment_attribute" in rows.columns:
        made["segment_attribute"] = pl.col("segment_attribute").max()
    key = [*rows.keys.inner, "model", *rows.segment, *run]
    runs = rows.decoded(rows.frame.group_by(key).agg(**made, **rows.summed))
    return runs.with_columns(category_of(rows.columns))


def kept_segments(rows: Rows, runs: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """What counts of each model and segment, in one row.

    Args:
        rows: Scored predictions.
        runs: Their `run_scores`, if these are known already and are the only ones of their
            segments and amounts of context.
    """
    if rows.every is not None and rows.context in ("highest", "lowest"):
        every = replace(rows, frame=rows.every, every=None)
        return _chosen(rows, run_scores(every, [CONTEXT]) if runs is None else runs)
    return run_scores(rows, []) if runs is None or rows.marked else runs


_ROWS = ":rows"


def _chosen(rows: Rows, runs: pl.LazyFrame) -> pl.LazyFrame:
    """The runs of the amount of context that counts; of these there are fewer than rows."""
    key = [*rows.keys.inner, "model", *rows.segment]
    amounts = runs.with_columns(pl.col(CONTEXT).alias(contexts.COUNT))
    marked = contexts.marked(amounts, rows.context, ["model", *rows.keys.inner])
    others = (pl.col(contexts.OTHER) * pl.col(_ROWS)).sum().over(key)
    told = marked.with_columns(others.alias(_ROWS), pl.col("category").max().over(key))
    return contexts.counted(told).with_columns(pl.col(_ROWS).alias(contexts.OTHER))


def parse_rate() -> pl.Expr:
    """The share of attempted items that could be read, null where none was attempted."""
    attempted = pl.col(N_ATTEMPTED)
    return (
        pl.when(attempted > 0).then(pl.col(N_OK).cast(pl.Float64) / attempted).alias("parse_rate")
    )
