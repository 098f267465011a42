"""Leaderboards of dtef-app: one run per segment, and ties in the order of first appearance.

Each function calls the documented one on the selected runs and ranks its rows again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe import survey
from evalframe.compat.dtef.context_tables import slopes, stereotypes
from evalframe.compat.dtef.disparity import ordered_gaps, question_gaps
from evalframe.compat.dtef.original_runs import (
    FIRST,
    ROW,
    best_and_worst,
    select_runs,
    with_categories,
    without_contexts,
)
from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.core.tables import lazy
from evalframe.survey.leaderboards.disparity import largest_gaps
from evalframe.survey.leaderboards.leaderboard import cluster_of, required_columns
from evalframe.survey.leaderboards.rows import CLUSTER, CONTEXT

if TYPE_CHECKING:
    from evalframe.compat.dtef.original_runs import Runs
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.resample.methods import Bootstrap
    from evalframe.survey.leaderboards.leaderboard import Level, Weighting


@like_input
def segment_scores(scored: Frame, *, by: By = None, runs: str = "kept") -> pl.LazyFrame:
    """Segment scores in the order of first appearance, see `ef.survey.segment_scores`.

    With `runs="all"` there is a row per amount of context, round and `run_id`.
    """
    if runs not in ("kept", "all"):
        raise ParameterError(f"runs must be 'kept' or 'all', got {runs!r}")
    original = select_runs("segment_scores", scored, by)
    ids = []
    if runs == "kept":
        table = original.scores()
    else:
        key = [*original.by, *original.run]
        table = without_contexts(survey.segment_scores(original.every, by=key))
        first = pl.col(ROW).filter(pl.col("score").is_not_null()).min().alias(FIRST)
        on = [*original.segment, *original.run]
        table = table.join(original.every.group_by(on).agg(first), on=on, nulls_equal=True)
        ids = [name for name in original.run if name != CONTEXT]
    contexts = []
    if CONTEXT in original.run and "context_count" not in original.by:
        contexts = [pl.col(CONTEXT).alias("context_count")]
    optional = {"sample_size": "sample_size", "parse_rate": "status"}
    others = [name for name, source in optional.items() if source in original.columns]
    keys = [*original.segment, *ids]
    columns = table.sort(FIRST).select(*keys, "category", "score", "n_items", *contexts, *others)
    return columns.rename({name: name.removeprefix(":") for name in ids})


@like_input
def leaderboard(
    scored: Frame,
    level: Level = "overall",
    *,
    by: By = None,
    weighting: Weighting = "segment",
    baselines: bool = True,
    attributes: Frame | None = None,
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """Leaderboard with a rank for each model, see `ef.survey.leaderboard`."""
    cluster = {} if resample is None else {CLUSTER: cluster_of(resample)}
    needs = required_columns(level, weighting)
    runs = select_runs("leaderboard", scored, by, needs=needs, baselines=baselines, extra=cluster)
    if level == "category":
        runs = runs.with_category(attributes)
    board = survey.leaderboard(
        runs.rows,
        level,
        by=runs.by,
        weighting=weighting,
        attributes=attributes,
        resample=resample and replace(resample, cluster=CLUSTER),
    )
    return ranked(runs, board, level, weighting, attributes)


def ranked(
    runs: Runs,
    board: pl.LazyFrame,
    level: Level,
    weighting: Weighting = "segment",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """A documented leaderboard with the ranks and the best and worst segments of dtef-app."""
    keys = {
        "overall": [],
        "segment": ["segment_id"],
        "category": ["category"],
        "question": ["question_id"],
    }
    group = [*runs.by, *keys[level]]
    entry = [*group, "model"]
    if level == "question":
        seen = runs.rows.group_by(entry).agg(pl.col(ROW).min().alias(FIRST))
    else:
        segments = runs.scores()
        if level == "category":
            segments = with_categories(segments, attributes)
        seen = segments.group_by(entry).agg(pl.col(FIRST).min())
        if level != "segment":
            if weighting == "sample_size":
                segments = segments.drop_nulls("sample_size")
            ends = segments.group_by(entry).agg(best_and_worst(settled(pl.col("score"))))
            seen = seen.join(ends, on=entry, how="left", nulls_equal=True)
    columns = without_contexts(board).collect_schema().names()
    replaced = ("rank", "best_segment", "worst_segment")
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return (
        board.drop(replaced, strict=False)
        .join(seen, on=entry, how="left", nulls_equal=True)
        .sort(*group, -settled(pl.col("score")), FIRST, nulls_last=True)
        .with_columns(rank=place.over(group) if group else place)
        .select(columns)
    )


@like_input
def consistency(
    scored: Frame, *, by: By = None, min_segments: int = 1, baselines: bool = True
) -> pl.LazyFrame:
    """Models by the deviation of their segment scores, see `ef.survey.consistency`.

    Models with a single segment come first, with 0, and baselines are among the others.
    """
    runs = select_runs("consistency", scored, by)
    table = survey.consistency(
        runs.rows, by=runs.by, min_segments=min_segments, baselines=baselines
    )
    return by_deviation(runs, table)


def by_deviation(runs: Runs, table: pl.LazyFrame) -> pl.LazyFrame:
    """The documented table of deviations; equal ones in the order of the overall leaderboard."""
    entry = [*runs.by, "model"]
    columns = without_contexts(table).collect_schema().names()
    seen = runs.selected.group_by(entry).agg(pl.col(FIRST).min())
    place = pl.when(pl.col("rank").is_not_null()).then(pl.int_range(1, pl.len() + 1))
    return (
        table.join(seen, on=entry, how="left", nulls_equal=True)
        .sort(*runs.by, "rank", -settled(pl.col("score")), FIRST, nulls_last=True)
        .with_columns(rank=place.over(runs.by) if runs.by else place)
        .select(columns)
    )


@like_input
def attribute_breakdown(scored: Frame, attributes: Frame, *, by: By = None) -> pl.LazyFrame:
    """Scores by the values of attributes, see `ef.survey.attribute_breakdown`."""
    runs = select_runs("attribute_breakdown", scored, by)
    return without_contexts(survey.attribute_breakdown(runs.rows, attributes, by=runs.by))


@like_input
def category_leaders(
    scored: Frame, *, by: By = None, attributes: Frame | None = None
) -> pl.LazyFrame:
    """The best model of each category, one of tied ones, see `ef.survey.category_leaders`."""
    return leaders(leaderboard(lazy(scored), "category", by=by, attributes=attributes))


def leaders(board: pl.LazyFrame) -> pl.LazyFrame:
    """The first model of each category of a leaderboard."""
    names = board.collect_schema().names()
    group = names[: names.index("rank")]
    return board.filter(pl.col("rank") == 1).select(*group, "model", "score", "n_segments")


@like_input
def segment_overview(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """Segments with their best model, the first of tied ones, see `ef.survey.segment_overview`."""
    runs = select_runs("segment_overview", scored, by)
    return overview(runs, survey.segment_overview(runs.rows, by=runs.by))


def overview(runs: Runs, table: pl.LazyFrame) -> pl.LazyFrame:
    """The documented overview with the best models of dtef-app."""
    on = [*runs.by, "segment_id"]
    columns = without_contexts(table).collect_schema().names()
    best = pl.col("model").sort_by(-settled(pl.col("score")), FIRST).first()
    models = runs.scores().group_by(on).agg(best_model=best)
    return (
        table.drop("best_model")
        .join(models, on=on, how="left", nulls_equal=True, maintain_order="left")
        .select(columns)
    )


def leaderboards(
    scored: Frame, *, by: By = None, baselines: bool = True, attributes: Frame | None = None
) -> dict[str, pl.DataFrame]:
    """All leaderboards of a table of scores, see `ef.survey.leaderboards`."""
    runs = select_runs("leaderboards", scored, by, baselines=baselines)
    every, rows, selected = pl.collect_all([runs.every, runs.rows, runs.selected])
    runs = replace(runs, every=every.lazy(), rows=rows.lazy(), selected=selected.lazy())
    documented = survey.leaderboards(runs.rows, by=runs.by, attributes=attributes)
    tables = {name: table.lazy() for name, table in documented.items()}
    for level in ("overall", "segment", "category", "question"):
        if level in tables:
            tables[level] = ranked(runs, tables[level], level, attributes=attributes)
    tables["category_leaders"] = leaders(tables["category"])
    tables["segment_overview"] = overview(runs, tables["segment_overview"])
    tables["consistency"] = by_deviation(
        runs, survey.consistency(runs.rows, by=runs.by, min_segments=1, baselines=True)
    )
    gaps = ordered_gaps(runs, tables["disparity"], attributes)
    tables["disparity"] = gaps
    tables["model_disparity"] = largest_gaps(gaps, runs.by)
    if "question" in tables:
        tables["question_disparity"] = question_gaps(runs)
    if "context_count" in runs.columns:
        tables["context_responsiveness"] = slopes(runs)
        tables["stereotype_score"] = stereotypes(runs)
    return dict(zip(tables, pl.collect_all(tables.values()), strict=True))
