"""Scores of segments: the first stage of every leaderboard, from the runs that count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.survey.leaderboards.rows import CONTEXT, ROW, category_of, scored_rows

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.survey.leaderboards.rows import Rows

N_OK, N_ATTEMPTED = ":n_ok", ":n_attempted"


def segment_scores(
    scored: Frame,
    *,
    by: By = None,
    rules: Rules = "documented",
    runs: str = "kept",
) -> pl.LazyFrame:
    """The mean item score of each model in each segment, from the runs that count.

    Where a segment was asked with several amounts of context, the run with the most of it counts;
    an unknown amount is none. All runs of that amount are taken together. By the original's rules
    the one that was first seen counts alone, and rounds are not told apart: of a segment that
    stands in several rounds one is kept.

    Args:
        scored: One row per item, as `evalframe.survey.score` gives them: `model`, `segment_id`,
            `score` (null or NaN is left out), and as far as there are `round`, `context_count`,
            `run_id`, `sample_size`, `status` and `segment_attribute`. Ids may be of any type, and
            come out as String.
        by: Group keys, such as temperature.
        rules: `documented`, or `reference` for the original's numbers.
        runs: `kept`, or `all` for a row per run.

    Returns:
        by..., `model`, `round` (if it tells segments apart), `segment_id`, `category` (String, null
        if there is none), `score` (Float64, null where no item has one), `n_items` (Int64, items
        with a score) and as far as the table tells `context_count` (Int64), `sample_size`
        (Float64, mean of the items where it is above 0) and `parse_rate`. Sorted by these keys; by
        the original's rules in the order in which they were first seen. Lazy.

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
        >>> segment_scores(scored).select("segment_id", "score", "n_items").collect().rows()
        [('country:chad', 0.9, 1), ('gender:male', 0.6, 2)]
    """
    if runs not in ("kept", "all"):
        raise ParameterError(f"runs must be 'kept' or 'all', got {runs!r}")
    rows = scored_rows("segment_scores", scored, by, rules, taken=("n_items",))
    table = kept_segments(rows) if runs == "kept" else run_scores(rows)
    names = [*rows.keys.inner, "model", *rows.segment]
    extra = [name for name in ("run_id", "round") if name in rows.run and runs == "all"]
    order = [ROW] if rules == "reference" else [*names, *([CONTEXT] if CONTEXT in rows.run else [])]
    shown = [*names, *extra, "category", "score", "n_items"]
    if CONTEXT in rows.run:
        shown.append(CONTEXT)
    if "sample_size" in rows.columns:
        shown.append("sample_size")
    made = [parse_rate()] if "status" in rows.columns else []
    renamed = rows.keys.restore() | {CONTEXT: "context_count"}
    return table.sort(order).select(*shown, *made).rename(renamed, strict=False)


def run_scores(rows: Rows) -> pl.LazyFrame:
    """The mean item score of each run of each model in each segment."""
    score = pl.col("score")
    made = {"score": score.mean(), "n_items": score.count().cast(pl.Int64)}
    if "sample_size" in rows.columns:
        made["sample_size"] = pl.col("sample_size").filter(score.is_not_null()).mean()
    if "status" in rows.columns:
        status = pl.col("status")
        made[N_OK] = (status == "ok").sum().cast(pl.Int64)
        made[N_ATTEMPTED] = status.count().cast(pl.Int64)
    if "segment_attribute" in rows.columns:
        made["segment_attribute"] = pl.col("segment_attribute").max()
    if rows.rules == "reference":
        made[ROW] = pl.col(ROW).filter(score.is_not_null()).min()
    key = [*rows.keys.inner, "model", *rows.segment, *rows.run]
    runs = rows.decoded(rows.frame.group_by(key).agg(**made))
    return runs.with_columns(category_of(rows.columns))


def kept_segments(rows: Rows, runs: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """The runs that count, one row for each model and segment.

    Args:
        rows: Scored predictions.
        runs: Their `run_scores`, if these are known already.
    """
    runs = run_scores(rows) if runs is None else runs
    key = [*rows.keys.inner, "model", *rows.segment]
    if rows.rules == "reference":
        ranked = runs.filter(pl.col("n_items") > 0).sort(
            *([-pl.col(CONTEXT)] if CONTEXT in rows.run else []), ROW
        )
        first = ranked.with_columns(pl.col(ROW).alias(_KEPT), pl.col(ROW).min().over(key))
        return first.unique(subset=key, keep="first", maintain_order=True)
    if CONTEXT not in rows.run:
        return runs
    # Runs without a score stand behind all others, and are told apart like these.
    standing = pl.when(pl.col("n_items") > 0).then(CONTEXT).otherwise(-1 - pl.col(CONTEXT))
    return runs.filter(standing == standing.max().over(key))


_KEPT = ":kept"


def kept_rows(rows: Rows, kept: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of the runs that count; by the original's rules these have a score."""
    if rows.single or (rows.rules == "documented" and not rows.run):
        return rows.frame
    key = [*rows.keys.inner, "model", *rows.segment, *rows.run]
    coded = pl.col([name for name in key if name in rows.coded]).cast(pl.Categorical)
    wanted = kept.select(key).with_columns(coded)
    return rows.frame.join(wanted, on=key, how="semi", nulls_equal=True)


def parse_rate() -> pl.Expr:
    """The share of attempted items that could be read, null where none was attempted."""
    attempted = pl.col(N_ATTEMPTED)
    return (
        pl.when(attempted > 0).then(pl.col(N_OK).cast(pl.Float64) / attempted).alias("parse_rate")
    )
