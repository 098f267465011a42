"""Disparity: gaps between the segments of a category, and between those asked one question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.survey.leaderboards.leaderboard import with_category
from evalframe.survey.leaderboards.rows import is_baseline, scored_rows
from evalframe.survey.leaderboards.segments import kept_segments
from evalframe.survey.surveys.segments import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.survey.contexts import Context
    from evalframe.survey.leaderboards.rows import Rows

CONCERN = 0.10
"""Gaps above it are a concern."""

_ROUNDING = 1e-12
_GAPS = ("gap", "best_segment", "best_score", "worst_segment", "worst_score", "concern")


@like_input
def disparity(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The gap between the best and the worst segment of each category, by model.

    Gaps are taken within a round, whose segments were asked the same questions. A gap of small
    segments is noise to a large part: see the sampling noise of the segments before a gap is called
    a bias.

    Args:
        scored: One row per item, see `segment_scores`.
        by: Group keys.
        context: Which amount of context counts, see `at_context`.
        attributes: A row per attribute of a segment (`segment_id`, `attribute`, perhaps `round`),
            for segments with several attributes; by default the category is `segment_attribute`,
            or else what stands before the first `:` of the id.

    Returns:
        by..., `model`, `round` (if it tells segments apart), `category` and `category_label`
        (String), `gap` (Float64), `best_segment`, `best_score`, `worst_segment`, `worst_score`,
        `n_segments` (Int64, 2 or more), `concern` (Boolean: the gap is above 0.10, and the model
        is no baseline) and as of `leaderboard` `context_count` and `n_other_context`. The largest
        gap first. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or no segment has a category.

    References:
        dtef-app 52d79c0, strata disparities and fairness concerns.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import disparity
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a"] * 3,
        ...         "segment_id": ["gender:male", "gender:female", "country:peru"],
        ...         "score": [0.5, 0.75, 0.9],
        ...     }
        ... )
        >>> found = disparity(scored).select("category", "gap", "worst_segment", "concern")
        >>> found.rows()
        [('gender', 0.25, 'gender:male', True)]
    """
    rows = scored_rows("disparity", scored, by, taken=_GAPS).at(context)
    table = category_gaps(rows, kept_segments(rows), attributes)
    return table.rename(rows.keys.restore())


def category_gaps(rows: Rows, kept: pl.LazyFrame, attributes: Frame | None = None) -> pl.LazyFrame:
    """The table of `disparity`, under internal names of the keys."""
    segments = with_category(rows, kept, attributes)
    entry = [*rows.keys.inner, "model", *rows.rounds, "category"]
    gaps = _gaps(rows, segments, entry)
    label = pl.col("category").replace(LABELS).alias("category_label")
    concern = ((pl.col("gap") > CONCERN + _ROUNDING) & ~is_baseline()).alias("concern")
    named = gaps.with_columns(label, concern)
    order = ["model", *rows.rounds, "category"]
    ordered = named.sort(*rows.keys.inner, -settled(pl.col("gap")), *order)
    shown = [*entry, "category_label", *_GAPS[:-1], "n_segments", "concern"]
    return ordered.select(*shown, **rows.told)


_SETTLED, _BEST, _WORST, _COUNT = ":settled", ":best", ":worst", ":count"
_NAMES = ("best_segment", "worst_segment")


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
        scored: As for `disparity`.
        by: Group keys.
        context: Likewise.
        attributes: Likewise.

    Returns:
        by..., `rank` (Int64), `model`, `overall_gap` (Float64), `category` (of that gap),
        `n_categories` (Int64, those with a gap) and `context_count` and `n_other_context` of that
        gap. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or no segment has a category.

    References:
        dtef-app 52d79c0, model DPDs.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import model_disparity
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a", "b", "b"],
        ...         "segment_id": ["gender:male", "gender:female"] * 2,
        ...         "score": [0.5, 0.75, 0.5, 0.5],
        ...     }
        ... )
        >>> model_disparity(scored).select("rank", "model", "overall_gap").rows()
        [(1, 'b', 0.0), (2, 'a', 0.25)]
    """
    rows = scored_rows("model_disparity", scored, by, taken=("overall_gap",)).at(context)
    gaps = category_gaps(rows, kept_segments(rows), attributes)
    table = largest_gaps(gaps, rows.keys.inner, rows.told)
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
    shown = [*group, "rank", "model", "overall_gap", "category", "n_categories"]
    return ordered.select(*shown, *others)


@like_input
def question_disparity(
    scored: Frame, *, by: By = None, context: Context = "highest"
) -> pl.LazyFrame:
    """The gap between the best and the worst segment of each question, by model.

    Args:
        scored: One row per item, see `segment_scores`, with `question_id`. Prompts about several
            questions (a null one) are left out, repeated ones are averaged.
        by: Group keys.
        context: As for `disparity`.

    Returns:
        by..., `model`, `round` (if it tells questions apart), `question_id`, `gap` (Float64),
        `best_segment`, `best_score`, `worst_segment`, `worst_score`, `n_segments` (Int64, 2 or
        more) and as of `leaderboard` `context_count` and
        `n_other_context`. The largest gap first. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    References:
        dtef-app 52d79c0, question DPDs.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import question_disparity
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a", "a"],
        ...         "segment_id": ["gender:male", "gender:female", "gender:male"],
        ...         "question_id": ["q1", "q1", "q2"],
        ...         "score": [0.5, 0.75, 0.5],
        ...     }
        ... )
        >>> question_disparity(scored).select("question_id", "gap").rows()
        [('q1', 0.25)]
    """
    rows = scored_rows("question_disparity", scored, by, needs=["question_id"], taken=_GAPS)
    return question_gaps(rows.at(context).checked(scored)).rename(rows.keys.restore())


def question_gaps(rows: Rows) -> pl.LazyFrame:
    """The table of `question_disparity`, under internal names of the keys."""
    asked = rows.frame.filter(pl.col("question_id").is_not_null())
    entry = [*rows.keys.inner, "model", *rows.question]
    if not rows.unrepeated:
        asked = asked.group_by(rows.asked).agg(pl.col("score").mean(), **rows.summed)
    gaps = _gaps(rows, asked, entry)
    ordered = gaps.sort(*rows.keys.inner, -settled(pl.col("gap")), "model", *rows.question)
    return ordered.select(*entry, *_GAPS[:-1], "n_segments", **rows.told)


def _gaps(rows: Rows, segments: pl.LazyFrame, entry: list[str]) -> pl.LazyFrame:
    """Best and worst of two or more segments of each entry; of tied ones the first by name."""
    score, segment = pl.col(_SETTLED), pl.col("segment_id")
    is_best, is_worst = score == pl.col(_BEST), score == pl.col(_WORST)
    # Few rows are at either end, so that the segments are looked for in these alone.
    ends = segments.with_columns(settled(pl.col("score")).alias(_SETTLED)).with_columns(
        score.max().over(entry).alias(_BEST),
        score.min().over(entry).alias(_WORST),
        score.count().over(entry).cast(pl.Int64).alias(_COUNT),
        **{name: expr.over(entry) for name, expr in rows.summed.items()},
    )
    ends = ends.filter((pl.col(_COUNT) > 1) & (is_best | is_worst))
    made = ends.group_by(entry).agg(
        best_segment=segment.filter(is_best).min(),
        best_score=pl.col("score").max(),
        worst_segment=segment.filter(is_worst).min(),
        worst_score=pl.col("score").min(),
        n_segments=pl.col(_COUNT).first(),
        **{name: pl.col(name).first() for name in rows.summed},
    )
    gap = pl.col("best_score") - pl.col("worst_score")
    several = rows.decoded(made)
    names = [pl.col(name).cast(pl.String) for name in _NAMES] if rows.coded else []
    return several.with_columns(*names, gap=gap)
