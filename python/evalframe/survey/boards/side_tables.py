"""Tables next to the leaderboards: consistency, leaders, overviews, attributes; and all at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame, like_input
from evalframe.core.special import settled
from evalframe.core.tables import lazy
from evalframe.core.typing import By, Frame
from evalframe.survey.boards.context import run_points, slopes, stereotypes
from evalframe.survey.boards.gaps import category_gaps, largest_gaps, question_gaps
from evalframe.survey.boards.leaderboard import (
    SPREAD,
    board,
    cluster_of,
    details,
    named_attributes,
)
from evalframe.survey.boards.rows import (
    CONTEXT,
    Rows,
    deviation,
    is_baseline,
    run_scores,
    scored_rows,
    segments_of,
)

if TYPE_CHECKING:
    from evalframe.core.choices import Context
    from evalframe.resample.methods import Bootstrap


_TAKEN = ("attribute", "value", "best_model", "best_score", "mean_score", "n_models")


@like_input
def consistency(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    min_segments: int = 2,
    baselines: bool = False,
    resample: Bootstrap | None = None,
    fixed: bool = False,
) -> pl.LazyFrame:
    """Models by the population standard deviation of their segment scores, the smallest first.

    A small deviation is not always good: a model that always gives the same answer is consistent.
    As in dtef-app 52d79c0.

    Args:
        scored: As for `segment_scores`.
        by: Group keys.
        context: As for `at_context`.
        min_segments: Models with fewer segments have no rank.
        baselines: True if baselines have a rank.
        resample: `ef.Bootstrap(cluster=...)`, as for `leaderboard`.
        fixed: As for `leaderboard`.

    Returns:
        by..., `rank` (Int64, null for models without), `model`, `sd_segments` and `score`
        (Float64), `n_segments` (Int64) and the columns about context of `leaderboard`; with
        `resample` `std_error`, `lower`, `upper`, `n_clusters` and `drop_rate` of `sd_segments`.
        Sorted by rank.

    Raises:
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"model": ["a", "a", "b", "b"], "score": [0.75, 0.25, 0.5, 0.5]}
        >>> scored = pl.DataFrame({"segment_id": ["country:chad", "country:peru"] * 2, **scores})
        >>> ef.survey.consistency(scored).select("rank", "model", "sd_segments").rows()
        [(1, 'b', 0.0), (2, 'a', 0.25)]
    """
    extra = cluster_of(resample, "consistency")
    rows = scored_rows("consistency", scored, by, taken=SPREAD, extra=extra).at(context)
    if min_segments < 1:
        raise ParameterError(f"min_segments must be 1 or more, got {min_segments!r}")
    segments = segments_of(rows)
    table = ranked_by_deviation(rows, segments, min_segments, baselines=baselines)
    if resample is not None:
        from evalframe.standard.summaries import deviation as over_segments
        from evalframe.survey.boards.replicates import Units, with_errors

        items = details(rows, segments, "overall", "segment")
        units = Units(items, rows.keys.inner, rows.segment, fixed)
        entry = [*rows.keys.inner, "model"]
        table = with_errors(resample, table, units, entry, over_segments().alias("sd_segments"))
    return table.rename(rows.keys.restore())


def ranked_by_deviation(
    rows: Rows, segments: pl.LazyFrame, min_segments: int = 2, *, baselines: bool = False
) -> pl.LazyFrame:
    """The table of `consistency`, under internal names of the keys."""
    score, group = pl.col("score"), rows.keys.inner
    table = segments.group_by([*group, "model"]).agg(
        sd_segments=deviation(score),
        score=score.mean(),
        n_segments=score.count().cast(pl.Int64),
        **rows.context_sums,
    )
    is_ranked = pl.col("n_segments") >= min_segments
    if not baselines:
        is_ranked &= ~is_baseline()
    rank = pl.when(is_ranked).then(settled(pl.col("sd_segments"))).rank("min").cast(pl.Int64)
    table = table.with_columns(rank=rank.over(group) if group else rank)
    columns = [*group, "rank", "model", "sd_segments", "score", "n_segments"]
    ordered = table.sort(*group, "rank", "model", nulls_last=True)
    return ordered.select(*columns, **rows.context_columns)


@like_input
def category_leaders(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The best model of each category, by its mean segment score there, as in dtef-app 52d79c0.

    Args:
        scored: As for `segment_scores`.
        by: Group keys.
        context: As for `at_context`.
        attributes: As for `leaderboard`.

    Returns:
        by..., `category`, `model`, `score` (Float64), `n_segments` (Int64) and the columns about
        context of `leaderboard`. Each tied model has a row. Sorted by category.

    Raises:
        ParameterError: No segment has a category.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"model": ["a", "b"], "score": [0.75, 0.5]}
        >>> ef.survey.category_leaders(pl.DataFrame({"segment_id": "gender:male", **scores})).rows()
        [('gender', 'a', 0.75, 1)]
    """
    rows = scored_rows("category_leaders", scored, by, taken=("best_score",)).at(context)
    return leaders(rows, segments_of(rows), attributes).rename(rows.keys.restore())


def leaders(rows: Rows, segments: pl.LazyFrame, attributes: Frame | None = None) -> pl.LazyFrame:
    """The table of `category_leaders`, under internal names of the keys."""
    best = board(rows, segments, "category", "segment", attributes).filter(pl.col("rank") == 1)
    columns = [*rows.keys.inner, "category", "model", "score", "n_segments"]
    return best.select(*columns, *rows.context_columns)


@like_input
def segment_overview(scored: Frame, *, by: By = None, context: Context = "highest") -> pl.LazyFrame:
    """Each segment with its best model, and the mean over models, as in dtef-app 52d79c0.

    Args:
        scored: As for `segment_scores`.
        by: Group keys.
        context: As for `at_context`.

    Returns:
        by..., `round` (if the table has it), `segment_id`, `category`, `best_model` (the first by
        name of tied ones), `best_score` and `mean_score` (Float64), `n_models` (Int64) and the
        columns about context of `leaderboard`, of all models. Sorted by segment.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"model": ["a", "b"], "score": [0.75, 0.5]}
        >>> ef.survey.segment_overview(pl.DataFrame({"segment_id": "gender:male", **scores})).rows()
        [('gender:male', 'gender', 'a', 0.75, 0.625, 2)]
    """
    rows = scored_rows("segment_overview", scored, by, taken=_TAKEN).at(context)
    return overview(rows, segments_of(rows)).rename(rows.keys.restore())


def overview(rows: Rows, segments: pl.LazyFrame) -> pl.LazyFrame:
    """The table of `segment_overview`, under internal names of the keys."""
    score = settled(pl.col("score"))
    group = [*rows.keys.inner, *rows.segment, "category"]
    aggregates = {
        "best_model": pl.col("model").sort_by(score, "model", descending=[True, False]).first(),
        "best_score": pl.col("score").max(),
        "mean_score": pl.col("score").mean(),
        "n_models": pl.len().cast(pl.Int64),
    }
    models = segments.filter(score.is_not_null())
    table = models.group_by(group).agg(**aggregates, **rows.context_sums)
    return table.sort(group).select(*group, *aggregates, **rows.context_columns)


@like_input
def attribute_breakdown(
    scored: Frame, attributes: Frame, *, by: By = None, context: Context = "highest"
) -> pl.LazyFrame:
    """The mean segment score of each model by the values of each attribute.

    A segment with several attributes is in the mean of each of them.

    Args:
        scored: As for `segment_scores`.
        attributes: A row per attribute of a segment: `segment_id`, `attribute`, `value`, and
            optionally `round`, such as `Survey.segment_attributes`.
        by: Group keys.
        context: As for `at_context`.

    Returns:
        by..., `model`, `attribute`, `value`, `score` (Float64), `n_segments` and `n_items` (Int64),
        the columns about context of `leaderboard`, and `deviation` (Float64: the score less the
        mean over the values of the attribute). Sorted by these keys.

    Raises:
        ParameterError: A segment has other values in each round while the scores have no round.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import attribute_breakdown
        >>> scored = pl.DataFrame({"model": "a", "segment_id": ["s", "t"], "score": [0.5, 0.75]})
        >>> young = pl.DataFrame({"segment_id": ["s", "t"], "attribute": "age", "value": "young"})
        >>> attribute_breakdown(scored, young).select("attribute", "value", "score").rows()
        [('age', 'young', 0.625)]
    """
    rows = scored_rows("attribute_breakdown", scored, by, taken=(*_TAKEN, "deviation")).at(context)
    return breakdown(rows, segments_of(rows), attributes).rename(rows.keys.restore())


def breakdown(rows: Rows, segments: pl.LazyFrame, attributes: Frame) -> pl.LazyFrame:
    """The table of `attribute_breakdown`, under internal names of the keys."""
    named, on = named_attributes(attributes, rows.segment, "value")
    _check_rounds(rows, attributes)
    segments = segments.drop("category").drop_nulls("score")
    group = [*rows.keys.inner, "model", "attribute"]
    table = segments.join(named.rename({"category": "attribute"}), on=on)
    table = table.group_by([*group, "value"]).agg(
        score=pl.col("score").mean(),
        n_segments=pl.len().cast(pl.Int64),
        n_items=pl.col("n_items").sum(),
        **rows.context_sums,
    )
    difference = pl.col("score") - pl.col("score").mean().over(group)
    columns = [*group, "value", "score", "n_segments", "n_items"]
    ordered = table.sort(*group, "value")
    return ordered.select(*columns, **rows.context_columns, deviation=difference)


def _check_rounds(rows: Rows, attributes: Frame) -> None:
    """Raise ParameterError if values differ by round, but the scores have no round."""
    table = lazy(attributes)
    if rows.rounds or "round" not in table.collect_schema():
        return
    key, rounds = ["segment_id", "attribute"], pl.col("round").n_unique()
    differs = rounds.over([*key, "value"]) < rounds.over(key)
    first = table.filter(differs).select(pl.col(*key).cast(pl.String)).head(1).collect()
    if len(first):
        segment, attribute = first.row(0)
        raise ParameterError(
            f"attribute_breakdown: {attribute!r} of segment {segment!r} has other values in each"
            " round, but the scores have no column 'round'; add it, or use the attributes of one"
            " round"
        )


@any_frame
def leaderboards(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    baselines: bool = True,
    attributes: Frame | None = None,
) -> dict[str, pl.DataFrame]:
    """All leaderboards of a table of scores, with equal weights of segments.

    Args:
        scored: As for `segment_scores`.
        by: Group keys.
        context: As for `at_context`.
        baselines: False to leave out baselines.
        attributes: As for `leaderboard`.

    Returns:
        `overall`, `segment` and `category` of `leaderboard`, `consistency`, `disparity`,
        `model_disparity`, `category_leaders` and `segment_overview`; with `question_id` also
        `question` and `question_disparity`; with `context_count` also `context_responsiveness` and
        `stereotype_score`, which use all amounts of context. If no segment has a category, the
        tables of categories are empty. Computed at once.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"model": ["a", "b"], "score": [0.5, 0.75]}
        >>> tables = ef.survey.leaderboards(pl.DataFrame({"segment_id": "country:peru", **scores}))
        >>> tables["overall"]["model"].to_list()
        ['b', 'a']
    """
    taken = ("gap", "slope", "improvement", "overall_gap", "best_score", "worst_score")
    every = scored_rows("leaderboards", scored, by, taken=taken, baselines=baselines).encoded()
    every = replace(every, caller=None)
    runs = run_scores(every, every.run).collect()
    amount = [name for name in every.run if name == CONTEXT]
    run = [*every.keys.inner, "model", *every.segment, *amount]
    is_single = not runs.select(run).is_duplicated().any()
    rows = every.at(context)
    if rows.is_marked:
        rows = replace(rows, frame=rows.frame.collect().lazy())
    segments = segments_of(rows, runs.lazy() if is_single else None).collect().lazy()
    gaps = category_gaps(rows, segments, attributes).collect().lazy()
    tables = {
        "overall": board(rows, segments, "overall", "segment"),
        "segment": board(rows, segments, "segment", "segment"),
        "category": board(rows, segments, "category", "segment", attributes),
        "consistency": ranked_by_deviation(rows, segments),
        "disparity": gaps,
        "model_disparity": largest_gaps(gaps, rows.keys.inner, rows.context_columns),
        "category_leaders": leaders(rows, segments, attributes),
        "segment_overview": overview(rows, segments),
    }
    if "question_id" in rows.columns:
        tables["question"] = board(rows, segments, "question", "segment")
        tables["question_disparity"] = question_gaps(rows)
    if "context_count" in rows.columns:
        has_unknown = pl.col("context_count").null_count() > 0
        all_known = not every.frame.select(has_unknown).collect().item()
        points = run_points(every, runs.lazy() if all_known else None).collect().lazy()
        tables["context_responsiveness"] = slopes(every, points)
        tables["stereotype_score"] = stereotypes(every, points)
    # Collected one by one: `collect_all` would compute the shared inputs for each table again.
    return {name: table.rename(rows.keys.restore()).collect() for name, table in tables.items()}
