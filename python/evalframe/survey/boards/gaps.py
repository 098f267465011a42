"""Gaps between the best and the worst segment of a category or a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.core.typing import By, Frame
from evalframe.survey.boards.leaderboard import SPREAD, cluster_of, details, with_category
from evalframe.survey.boards.rows import (
    Rows,
    is_baseline,
    scored_rows,
    segments_of,
)
from evalframe.survey.surveys.segments import LABELS

if TYPE_CHECKING:
    from evalframe.core.choices import Context
    from evalframe.resample.methods import Bootstrap


CONCERN = 0.10
"""Larger gaps are a concern."""

_ROUNDING = 1e-12

GAPS = ("gap", "best_segment", "best_score", "worst_segment", "worst_score", "concern")
"""Columns of tables of gaps, which keys cannot have."""

_SETTLED, _BEST, _WORST, _COUNT = ":settled", ":best", ":worst", ":count"
_NAMES = ("best_segment", "worst_segment")


@like_input
def disparity(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    attributes: Frame | None = None,
    resample: Bootstrap | None = None,
    fixed: bool = False,
) -> pl.LazyFrame:
    """The gap between the best and the worst segment of each category, by model.

    Gaps are within a round, whose segments have the same questions. A large part of the gaps of
    small segments is noise, see `respondent_gaps`. As in dtef-app 52d79c0, strata disparities.

    Args:
        scored: As for `segment_scores`.
        by: Group keys.
        context: As for `at_context`.
        attributes: As for `leaderboard`.
        resample: `ef.Bootstrap(cluster=...)`, as for `leaderboard`. Extremes of noisy scores are
            too far apart, in replicates even more.
        fixed: As for `leaderboard`.

    Returns:
        by..., `model`, `round` (if the table has it), `category` and `category_label` (String),
        `gap` (Float64), `best_segment`, `best_score`, `worst_segment`, `worst_score`, `n_segments`
        (Int64, 2 or more), `concern` (Boolean: the gap is above 0.10, and the model is not a
        baseline) and the columns about context of `leaderboard`; with `resample` `std_error`,
        `lower`, `upper`, `n_clusters` and `drop_rate` of the gap. The largest gap first.

    Raises:
        ParameterError: No segment has a category, or an argument lies outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> segments = ["gender:male", "gender:female", "country:peru"]
        >>> scored = pl.DataFrame({"model": "a", "segment_id": segments, "score": [0.5, 0.75, 0.9]})
        >>> ef.survey.disparity(scored).select("category", "gap", "worst_segment", "concern").rows()
        [('gender', 0.25, 'gender:male', True)]
    """
    extra = cluster_of(resample, "disparity")
    rows = scored_rows("disparity", scored, by, taken=(*GAPS, *SPREAD), extra=extra).at(context)
    segments = segments_of(rows)
    table = category_gaps(rows, segments, attributes)
    if resample is not None:
        items = details(rows, segments, "category", "segment", attributes)
        entry = [*rows.keys.inner, "model", *rows.rounds, "category"]
        table = with_gap_errors(resample, table, rows, items, entry, fixed=fixed)
    return table.rename(rows.keys.restore())


def with_gap_errors(
    method: Bootstrap,
    table: pl.LazyFrame,
    rows: Rows,
    items: pl.LazyFrame,
    entry: list[str],
    *,
    fixed: bool,
) -> pl.LazyFrame:
    """Add intervals of gaps between segments, from the items behind them."""
    from evalframe.standard.summaries import spread
    from evalframe.survey.boards.replicates import Units, with_errors

    units = Units(items, [name for name in entry if name != "model"], rows.segment, fixed)
    return with_errors(method, table, units, entry, spread().alias("gap"))


def category_gaps(
    rows: Rows, segments: pl.LazyFrame, attributes: Frame | None = None
) -> pl.LazyFrame:
    """The table of `disparity`, under internal names of the keys."""
    entry = [*rows.keys.inner, "model", *rows.rounds, "category"]
    gaps = _gaps(rows, with_category(rows, segments, attributes), entry)
    label = pl.col("category").replace(LABELS).alias("category_label")
    concern = ((pl.col("gap") > CONCERN + _ROUNDING) & ~is_baseline()).alias("concern")
    order = ["model", *rows.rounds, "category"]
    ordered = gaps.with_columns(label, concern).sort(
        *rows.keys.inner, -settled(pl.col("gap")), *order
    )
    columns = [*entry, "category_label", *GAPS[:-1], "n_segments", "concern"]
    return ordered.select(*columns, **rows.context_columns)


@like_input
def model_disparity(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The largest category gap of each model, the fairest model first.

    Args:
        scored: As for `segment_scores`.
        by: Group keys.
        context: As for `at_context`.
        attributes: As for `leaderboard`.

    Returns:
        by..., `rank` (Int64), `model`, `overall_gap` (Float64), `category` (of that gap),
        `n_categories` (Int64, those with a gap) and the columns about context of that gap.

    Raises:
        ParameterError: No segment has a category.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import model_disparity
        >>> segments = {"segment_id": ["gender:male", "gender:female"] * 2}
        >>> scores = {"model": ["a", "a", "b", "b"], "score": [0.5, 0.75, 0.5, 0.5]}
        >>> model_disparity(pl.DataFrame(segments | scores)).select("rank", "model").rows()
        [(1, 'b'), (2, 'a')]
    """
    rows = scored_rows("model_disparity", scored, by, taken=("overall_gap",)).at(context)
    gaps = category_gaps(rows, segments_of(rows), attributes)
    table = largest_gaps(gaps, rows.keys.inner, rows.context_columns)
    return table.rename(rows.keys.restore())


def largest_gaps(
    gaps: pl.LazyFrame, group: Sequence[str], others: Iterable[str] = ()
) -> pl.LazyFrame:
    """The largest of the ordered gaps of each model, with other columns of it; ties in order."""
    table = gaps.group_by([*group, "model"], maintain_order=True).agg(
        overall_gap=pl.col("gap").first(),
        category=pl.col("category").first(),
        n_categories=pl.col("category").n_unique().cast(pl.Int64),
        **{name: pl.col(name).first() for name in others},
    )
    gap = settled(pl.col("overall_gap"))
    rank = gap.rank("min").cast(pl.Int64)
    table = table.with_columns(rank=rank.over(group) if group else rank)
    ordered = table.sort(*group, "rank", maintain_order=True)
    columns = [*group, "rank", "model", "overall_gap", "category", "n_categories"]
    return ordered.select(*columns, *others)


@like_input
def question_disparity(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    resample: Bootstrap | None = None,
    fixed: bool = False,
) -> pl.LazyFrame:
    """The gap between the best and the worst segment of each question, by model.

    Args:
        scored: As for `segment_scores`, with `question_id`. Prompts about several questions (a null
            one) are left out, repeated ones are averaged.
        by: Group keys.
        context: As for `at_context`.
        resample: `ef.Bootstrap(cluster=...)`, as for `leaderboard`. Extremes of noisy scores are
            too far apart, in replicates even more.
        fixed: As for `leaderboard`.

    Returns:
        by..., `model`, `round` (if the table has it), `question_id`, `gap` (Float64),
        `best_segment`, `best_score`, `worst_segment`, `worst_score`, `n_segments` (Int64, 2 or
        more), the columns about context of `leaderboard` and, with `resample`, those of
        `disparity`. The largest gap first.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"segment_id": ["s", "t"], "score": [0.5, 0.75]}
        >>> scored = pl.DataFrame({"model": "a", "question_id": "q", **scores})
        >>> ef.survey.question_disparity(scored).select("question_id", "gap", "best_segment").rows()
        [('q', 0.25, 't')]
    """
    extra, taken = cluster_of(resample, "question_disparity"), (*GAPS, *SPREAD)
    rows = scored_rows(
        "question_disparity", scored, by, needs=["question_id"], taken=taken, extra=extra
    )
    rows = rows.at(context).checked(scored)
    table = question_gaps(rows)
    if resample is not None:
        items = details(rows, segments_of(rows), "question", "segment")
        entry = [*rows.keys.inner, "model", *rows.question]
        table = with_gap_errors(resample, table, rows, items, entry, fixed=fixed)
    return table.rename(rows.keys.restore())


def question_gaps(rows: Rows) -> pl.LazyFrame:
    """The table of `question_disparity`, under internal names of the keys."""
    items = rows.frame.filter(pl.col("question_id").is_not_null())
    entry = [*rows.keys.inner, "model", *rows.question]
    if not rows.unrepeated:
        items = items.group_by(rows.item).agg(pl.col("score").mean(), **rows.context_sums)
    gaps = _gaps(rows, items, entry)
    ordered = gaps.sort(*rows.keys.inner, -settled(pl.col("gap")), "model", *rows.question)
    return ordered.select(*entry, *GAPS[:-1], "n_segments", **rows.context_columns)


def _gaps(rows: Rows, segments: pl.LazyFrame, entry: list[str]) -> pl.LazyFrame:
    """Best and worst of two or more segments of each entry; of tied ones the first by name."""
    score, segment = pl.col(_SETTLED), pl.col("segment_id")
    is_best, is_worst = score == pl.col(_BEST), score == pl.col(_WORST)
    # Few rows are at either end, so the names are aggregated over these only.
    ends = segments.with_columns(settled(pl.col("score")).alias(_SETTLED)).with_columns(
        score.max().over(entry).alias(_BEST),
        score.min().over(entry).alias(_WORST),
        score.count().over(entry).cast(pl.Int64).alias(_COUNT),
        **{name: expr.over(entry) for name, expr in rows.context_sums.items()},
    )
    ends = ends.filter((pl.col(_COUNT) > 1) & (is_best | is_worst))
    gaps = ends.group_by(entry).agg(
        best_segment=segment.filter(is_best).min(),
        best_score=pl.col("score").max(),
        worst_segment=segment.filter(is_worst).min(),
        worst_score=pl.col("score").min(),
        n_segments=pl.col(_COUNT).first(),
        **{name: pl.col(name).first() for name in rows.context_sums},
    )
    gap = pl.col("best_score") - pl.col("worst_score")
    names = [pl.col(name).cast(pl.String) for name in _NAMES] if rows.coded else []
    return rows.decoded(gaps).with_columns(*names, gap=gap)
