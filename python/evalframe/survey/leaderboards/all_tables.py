"""All leaderboards at once, from one pass for segments and one for questions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.leaderboards.attributes import leaders, overview
from evalframe.survey.leaderboards.consistency import ranked_by_deviation
from evalframe.survey.leaderboards.context import run_points, slopes, stereotypes
from evalframe.survey.leaderboards.disparity import category_gaps, largest_gaps, question_gaps
from evalframe.survey.leaderboards.leaderboard import board
from evalframe.survey.leaderboards.rows import CONTEXT, scored_rows
from evalframe.survey.leaderboards.segments import kept_segments, run_scores

if TYPE_CHECKING:
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.survey.contexts import Context


def leaderboards(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    baselines: bool = True,
    attributes: Frame | None = None,
) -> dict[str, pl.DataFrame]:
    """All leaderboards of a table of scores, each segment counting alike.

    Args:
        scored: One row per item, see `segment_scores`.
        by: Group keys.
        context: Which amount of context counts, see `at_context`.
        baselines: Whether pseudo-models take part.
        attributes: As of `leaderboard`.

    Returns:
        `overall`, `segment` and `category` as of `leaderboard`, `consistency`, `disparity`,
        `model_disparity`, `category_leaders` and `segment_overview`; with `question_id` also
        `question` and `question_disparity`; with `context_count` also `context_responsiveness` and
        `stereotype_score`, which are about all amounts of context. Where no segment has a category,
        the tables of categories are empty.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import leaderboards
        >>> scored = pl.DataFrame(
        ...     {"model": ["a", "b"], "segment_id": ["country:peru"] * 2, "score": [0.5, 0.75]}
        ... )
        >>> tables = leaderboards(scored)
        >>> tables["overall"]["model"].to_list()
        ['b', 'a']
    """
    taken = ("gap", "slope", "improvement", "overall_gap", "best_score", "worst_score")
    asked = scored_rows("leaderboards", scored, by, taken=taken, baselines=baselines).encoded()
    asked = replace(asked, caller=None)
    runs = run_scores(asked, asked.run).collect()
    amount = [name for name in asked.run if name == CONTEXT]
    run = [*asked.keys.inner, "model", *asked.segment, *amount]
    once = not runs.select(run).is_duplicated().any()
    rows = asked.at(context)
    if rows.marked:
        rows = replace(rows, frame=rows.frame.collect().lazy())
    kept = kept_segments(rows, runs.lazy() if once else None).collect().lazy()
    gaps = category_gaps(rows, kept, attributes).collect().lazy()
    made = {
        "overall": board(rows, kept, "overall", "segment"),
        "segment": board(rows, kept, "segment", "segment"),
        "category": board(rows, kept, "category", "segment", attributes),
        "consistency": ranked_by_deviation(rows, kept),
        "disparity": gaps,
        "model_disparity": largest_gaps(gaps, rows.keys.inner, rows.told),
        "category_leaders": leaders(rows, kept, attributes),
        "segment_overview": overview(rows, kept),
    }
    if "question_id" in rows.columns:
        made["question"] = board(rows, kept, "question", "segment")
        made["question_disparity"] = question_gaps(rows)
    if "context_count" in rows.columns:
        unknown = pl.col("context_count").null_count() > 0
        known = not asked.frame.select(unknown).collect().item()
        points = run_points(asked, runs.lazy() if known else None).collect().lazy()
        made["context_responsiveness"] = slopes(asked, points)
        made["stereotype_score"] = stereotypes(asked, points)
    # One after the other: together, the tables that they share would be computed in each.
    return {name: table.rename(rows.keys.restore()).collect() for name, table in made.items()}
