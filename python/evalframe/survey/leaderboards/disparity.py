"""Disparity: gaps between the segments of a category, and between those asked one question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.resample.settled import settled
from evalframe.survey.leaderboards.leaderboard import with_category
from evalframe.survey.leaderboards.rows import ROW, is_baseline, scored_rows
from evalframe.survey.leaderboards.segments import kept_rows, kept_segments
from evalframe.survey.surveys.names import LABELS

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.survey.contexts import Context
    from evalframe.survey.leaderboards.rows import Rows

CONCERN = 0.10
"""Gaps above it are a concern."""

_ROUNDING = 1e-12
_GAPS = ("gap", "best_segment", "best_score", "worst_segment", "worst_score", "concern")


def disparity(
    scored: Frame,
    *,
    by: By = None,
    rules: Rules = "documented",
    context: Context = "highest",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The gap between the best and the worst segment of each category, by model.

    Gaps are taken within a round, whose segments were asked the same questions; by the original's
    rules over all rounds, of which one is kept per segment. A gap of small segments is noise to a
    large part: see the sampling noise of the segments before a gap is called a bias.

    Args:
        scored: One row per item, see `segment_scores`.
        by: Group keys.
        rules: `documented`, or `reference` for the original's numbers.
        context: Which amount of context counts, see `at_context`.
        attributes: A row per attribute of a segment (`segment_id`, `attribute`, perhaps `round`),
            for segments with several attributes; by default the category is `segment_attribute`,
            or else what stands before the first `:` of the id. By the original's rules it is the
            latter as it stands, if the original knows it, so that `O3` and `gender` are two
            categories, both labelled Gender.

    Returns:
        by..., `model`, `round` (if it tells segments apart), `category` and `category_label`
        (String), `gap` (Float64), `best_segment`, `best_score`, `worst_segment`, `worst_score`,
        `n_segments` (Int64, 2 or more), `concern` (Boolean: the gap is above 0.10, and the model
        is no baseline) and as of `leaderboard` `context_count` and `n_other_context`. The largest
        gap first. Lazy.

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
        >>> found.collect().rows()
        [('gender', 0.25, 'gender:male', True)]
    """
    rows = scored_rows("disparity", scored, by, rules, taken=_GAPS).at(context)
    table = category_gaps(rows, kept_segments(rows), attributes)
    return table.rename(rows.keys.restore())


def category_gaps(rows: Rows, kept: pl.LazyFrame, attributes: Frame | None = None) -> pl.LazyFrame:
    """The table of `disparity`, under internal names of the keys."""
    segments = with_category(rows, kept, attributes)
    entry = [*rows.keys.inner, "model", *rows.rounds, "category"]
    gaps = _gaps(rows, segments, entry, _settled("score"))
    label = pl.col("category").replace(LABELS).alias("category_label")
    limit = CONCERN if rows.rules == "reference" else CONCERN + _ROUNDING
    concern = ((pl.col("gap") > limit) & ~is_baseline()).alias("concern")
    order = ["model", *rows.rounds, "category"]
    if rows.rules == "reference":
        # Equal gaps stand as models do: by their mean, and then as they were seen.
        means = kept.group_by([*rows.keys.inner, "model"]).agg(-pl.col("score").mean().alias(_MEAN))
        gaps = gaps.join(means, on=[*rows.keys.inner, "model"], nulls_equal=True)
        order = [_MEAN, ROW]
    named = gaps.with_columns(label, concern)
    ordered = named.sort(*rows.keys.inner, -settled(pl.col("gap")), *order)
    shown = [*entry, "category_label", *_GAPS[:-1], "n_segments", "concern"]
    return ordered.select(*shown, **rows.told)


_MEAN, _SETTLED = ":mean", ":settled"
_BEST, _WORST, _COUNT, _FIRST = ":best", ":worst", ":count", ":first"
_NAMES = ("best_segment", "worst_segment")


def model_disparity(
    scored: Frame,
    *,
    by: By = None,
    rules: Rules = "documented",
    context: Context = "highest",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The largest category gap of each model, the fairest model first.

    Args:
        scored: As for `disparity`.
        by: Group keys.
        rules: Likewise.
        context: Likewise.
        attributes: Likewise.

    Returns:
        by..., `rank` (Int64), `model`, `overall_gap` (Float64), `category` (of that gap),
        `n_categories` (Int64, those with a gap) and `context_count` and `n_other_context` of that
        gap. Lazy.

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
        >>> model_disparity(scored).select("rank", "model", "overall_gap").collect().rows()
        [(1, 'b', 0.0), (2, 'a', 0.25)]
    """
    rows = scored_rows("model_disparity", scored, by, rules, taken=("overall_gap",)).at(context)
    table = largest_gaps(rows, category_gaps(rows, kept_segments(rows), attributes))
    return table.rename(rows.keys.restore())


def largest_gaps(rows: Rows, gaps: pl.LazyFrame) -> pl.LazyFrame:
    """The table of `model_disparity`, under internal names of the keys."""
    group = rows.keys.inner
    # Gaps come in order, the largest first.
    table = gaps.group_by([*group, "model"], maintain_order=True).agg(
        overall_gap=pl.col("gap").first(),
        category=pl.col("category").first(),
        n_categories=pl.col("category").n_unique().cast(pl.Int64),
        **{name: pl.col(name).first() for name in rows.told},
    )
    gap = settled(pl.col("overall_gap"))
    rank = gap.rank("min").cast(pl.Int64)
    table = table.with_columns(rank=rank.over(group) if group else rank)
    last = [] if rows.rules == "reference" else ["model"]
    ordered = table.sort(*group, "rank", *last, maintain_order=True)
    shown = [*group, "rank", "model", "overall_gap", "category", "n_categories"]
    return ordered.select(*shown, *rows.told)


def question_disparity(
    scored: Frame, *, by: By = None, rules: Rules = "documented", context: Context = "highest"
) -> pl.LazyFrame:
    """The gap between the best and the worst segment of each question, by model.

    Args:
        scored: One row per item, see `segment_scores`, with `question_id`. Prompts about several
            questions (a null one) are left out.
        by: Group keys.
        rules: `documented`: of the runs that count, repeated ones averaged. `reference`: of all
            runs and amounts of context, so that a gap may be one between two runs.
        context: As for `disparity`.

    Returns:
        by..., `model`, `round` (if it tells questions apart), `question_id`, `gap` (Float64),
        `best_segment`, `best_score`, `worst_segment`, `worst_score`, `n_segments` (Int64, 2 or
        more; by the original's rules the scores) and as of `leaderboard` `context_count` and
        `n_other_context`. The largest gap first. Lazy.

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
        >>> question_disparity(scored).select("question_id", "gap").collect().rows()
        [('q1', 0.25)]
    """
    rows = scored_rows("question_disparity", scored, by, rules, needs=["question_id"], taken=_GAPS)
    rows = rows.at(context)
    rows = rows if rules == "reference" else rows.checked(scored)
    return question_gaps(rows, kept_segments(rows)).rename(rows.keys.restore())


def question_gaps(rows: Rows, kept: pl.LazyFrame) -> pl.LazyFrame:
    """The table of `question_disparity`, under internal names of the keys."""
    reference = rows.rules == "reference"
    asked = rows.frame if reference else kept_rows(rows, kept)
    asked = asked.filter(pl.col("question_id").is_not_null())
    entry = [*rows.keys.inner, "model", *rows.question]
    if reference:
        asked = asked.filter(pl.col("score").is_not_null())
    elif not rows.unrepeated:
        asked = asked.group_by(rows.asked).agg(pl.col("score").mean(), **rows.summed)
    # The original compares item scores, which are no sums, as they are.
    compared = pl.col if reference else _settled
    gaps = _gaps(rows, asked, entry, compared("score"))
    order = [ROW] if reference else ["model", *rows.question]
    ordered = gaps.sort(*rows.keys.inner, -compared("gap"), *order)
    return ordered.select(*entry, *_GAPS[:-1], "n_segments", **rows.told)


def _settled(name: str) -> pl.Expr:
    return settled(pl.col(name))


def _gaps(rows: Rows, segments: pl.LazyFrame, entry: list[str], compared: pl.Expr) -> pl.LazyFrame:
    """Best and worst of the segments of each entry, where there are two.

    Of equal ones the first is best and the last is worst, in the order in which they were seen by
    the original's rules; else the first by name is both.

    Args:
        rows: Scored predictions.
        segments: Scores of segments.
        entry: What has a gap.
        compared: The scores to be compared.
    """
    score, segment = pl.col(_SETTLED), pl.col("segment_id")
    is_best, is_worst = score == pl.col(_BEST), score == pl.col(_WORST)
    best, worst = segment.filter(is_best), segment.filter(is_worst)
    seen = {}
    if rows.rules == "reference":
        row = pl.col(ROW)
        seen = {ROW: pl.col(_FIRST).first()}
        best = best.sort_by(row.filter(is_best)).first()
        worst = worst.sort_by(row.filter(is_worst)).last()
    else:
        best, worst = best.min(), worst.min()
    # Few rows are at either end, so that the segments are looked for in these alone.
    ends = segments.with_columns(compared.alias(_SETTLED)).with_columns(
        score.max().over(entry).alias(_BEST),
        score.min().over(entry).alias(_WORST),
        score.count().over(entry).cast(pl.Int64).alias(_COUNT),
        *([pl.col(ROW).min().over(entry).alias(_FIRST)] if seen else []),
        **{name: expr.over(entry) for name, expr in rows.summed.items()},
    )
    ends = ends.filter((pl.col(_COUNT) > 1) & (is_best | is_worst))
    made = ends.group_by(entry).agg(
        best_segment=best,
        best_score=pl.col("score").max(),
        worst_segment=worst,
        worst_score=pl.col("score").min(),
        n_segments=pl.col(_COUNT).first(),
        **{name: pl.col(name).first() for name in rows.summed},
        **seen,
    )
    gap = pl.col("best_score") - pl.col("worst_score")
    several = rows.decoded(made)
    names = [pl.col(name).cast(pl.String) for name in _NAMES] if rows.coded else []
    return several.with_columns(*names, gap=gap)
