"""What attributes and segments tell: scores by the values of an attribute, leaders, overviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.core.tables import lazy
from evalframe.survey.leaderboards.leaderboard import board, named_attributes
from evalframe.survey.leaderboards.rows import scored_rows
from evalframe.survey.leaderboards.segments import kept_segments

if TYPE_CHECKING:
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.survey.contexts import Context
    from evalframe.survey.leaderboards.rows import Rows

_TAKEN = ("attribute", "value", "best_model", "best_score", "mean_score", "n_models")


@like_input
def attribute_breakdown(
    scored: Frame,
    attributes: Frame,
    *,
    by: By = None,
    context: Context = "highest",
) -> pl.LazyFrame:
    """The mean segment score of each model by the values of each attribute.

    A segment of several attributes counts under each of them.

    Args:
        scored: One row per item, see `segment_scores`.
        attributes: A row per attribute of a segment: `segment_id`, `attribute`, `value`, perhaps
            `round`, such as `Survey.segment_attributes`.
        by: Group keys.
        context: Which amount of context counts, see `at_context`.

    Returns:
        by..., `model`, `attribute`, `value`, `score` (Float64), `n_segments` and `n_items` (Int64),
        as of `leaderboard` `context_count` and `n_other_context`, and `deviation` (Float64: the
        score less the mean over the values of the attribute). Sorted by these keys. Lazy
        if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or a segment has other values in each
            round while the scores are not told apart by round.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import attribute_breakdown
        >>> scored = pl.DataFrame(
        ...     {"model": ["a", "a"], "segment_id": ["s", "t"], "score": [0.5, 0.75]}
        ... )
        >>> attributes = pl.DataFrame(
        ...     {
        ...         "segment_id": ["s", "s", "t"],
        ...         "attribute": ["age", "gender", "age"],
        ...         "value": ["young", "female", "young"],
        ...     }
        ... )
        >>> found = attribute_breakdown(scored, attributes)
        >>> found.select("attribute", "value", "score", "n_segments").rows()
        [('age', 'young', 0.625, 2), ('gender', 'female', 0.5, 1)]
    """
    rows = scored_rows("attribute_breakdown", scored, by, taken=(*_TAKEN, "deviation"))
    rows = rows.at(context)
    named, on = named_attributes(attributes, rows.segment, "value")
    _check_rounds(rows, attributes)
    kept = kept_segments(rows).drop("category").filter(pl.col("score").is_not_null())
    group = [*rows.keys.inner, "model", "attribute"]
    table = kept.join(named.rename({"category": "attribute"}), on=on)
    table = table.group_by([*group, "value"]).agg(
        score=pl.col("score").mean(),
        n_segments=pl.len().cast(pl.Int64),
        n_items=pl.col("n_items").sum(),
        **rows.summed,
    )
    deviation = pl.col("score") - pl.col("score").mean().over(group)
    table = table.sort(*group, "value")
    shown = [*group, "value", "score", "n_segments", "n_items"]
    table = table.select(*shown, **rows.told, deviation=deviation)
    return table.rename(rows.keys.restore())


def _check_rounds(rows: Rows, attributes: Frame) -> None:
    """Check that values of a segment are the same in all rounds, unless scores tell these apart.

    Raises:
        ParameterError: They are not.
    """
    table = lazy(attributes)
    if rows.rounds or "round" not in table.collect_schema():
        return
    stated, rounds = ["segment_id", "attribute"], pl.col("round").n_unique()
    differs = rounds.over([*stated, "value"]) < rounds.over(stated)
    found = table.filter(differs).select(pl.col(*stated).cast(pl.String)).head(1).collect()
    if len(found):
        segment, attribute = found.row(0)
        raise ParameterError(
            f"attribute_breakdown: {attribute!r} of segment {segment!r} has other values in each"
            " round, but scores of rounds are not told apart; give the scores their round, or the"
            " attributes of one round"
        )


@like_input
def category_leaders(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The best model of each category, by its mean segment score there.

    Args:
        scored: One row per item, see `segment_scores`.
        by: Group keys.
        context: Which amount of context counts, see `at_context`.
        attributes: As of `leaderboard`.

    Returns:
        by..., `category`, `model`, `score` (Float64), `n_segments` (Int64) and as of `leaderboard`
        `context_count` and `n_other_context`.
        Tied models each have a row. Sorted by category. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or no segment has a category.

    References:
        dtef-app 52d79c0, segment-type leaders.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import category_leaders
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a", "b", "a", "b"],
        ...         "segment_id": ["gender:male", "gender:male", "country:kenya", "country:kenya"],
        ...         "score": [0.75, 0.5, 0.25, 0.5],
        ...     }
        ... )
        >>> category_leaders(scored).rows()
        [('country', 'b', 0.5, 1), ('gender', 'a', 0.75, 1)]
    """
    rows = scored_rows("category_leaders", scored, by, taken=("best_score",)).at(context)
    table = leaders(rows, kept_segments(rows), attributes)
    return table.rename(rows.keys.restore())


def leaders(rows: Rows, kept: pl.LazyFrame, attributes: Frame | None = None) -> pl.LazyFrame:
    """The table of `category_leaders`, under internal names of the keys."""
    best = board(rows, kept, "category", "segment", attributes).filter(pl.col("rank") == 1)
    return best.select(*rows.keys.inner, "category", "model", "score", "n_segments", *rows.told)


@like_input
def segment_overview(scored: Frame, *, by: By = None, context: Context = "highest") -> pl.LazyFrame:
    """Each segment with its best model, and the mean over models.

    Args:
        scored: One row per item, see `segment_scores`.
        by: Group keys.
        context: Which amount of context counts, see `at_context`.

    Returns:
        by..., `round` (if it tells segments apart), `segment_id`, `category`, `best_model` (of tied
        ones the first by name), `best_score` and `mean_score` (Float64),
        `n_models` (Int64) and as of `leaderboard` `context_count` and `n_other_context`, of all
        models. Sorted by segment. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    References:
        dtef-app 52d79c0, segment rows.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import segment_overview
        >>> scored = pl.DataFrame(
        ...     {"model": ["a", "b"], "segment_id": ["gender:male"] * 2, "score": [0.75, 0.5]}
        ... )
        >>> segment_overview(scored).rows()
        [('gender:male', 'gender', 'a', 0.75, 0.625, 2)]
    """
    rows = scored_rows("segment_overview", scored, by, taken=_TAKEN).at(context)
    table = overview(rows, kept_segments(rows))
    return table.rename(rows.keys.restore())


def overview(rows: Rows, kept: pl.LazyFrame) -> pl.LazyFrame:
    """The table of `segment_overview`, under internal names of the keys."""
    score = settled(pl.col("score"))
    group = [*rows.keys.inner, *rows.segment, "category"]
    model = pl.col("model").sort_by(score, "model", descending=[True, False]).first()
    scored = kept.filter(score.is_not_null())
    return (
        scored.group_by(group)
        .agg(
            best_model=model,
            best_score=pl.col("score").max(),
            mean_score=pl.col("score").mean(),
            n_models=pl.len().cast(pl.Int64),
            **rows.summed,
        )
        .sort(group)
        .select(*group, "best_model", "best_score", "mean_score", "n_models", **rows.told)
    )
