"""The score of a leaderboard as a metric of units, whose states of shards add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.choices import Weighting, check_choice
from evalframe.core.per import per
from evalframe.standard.summaries import mean

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr

Level: TypeAlias = Literal["overall", "segment", "category", "question"]


def leaderboard_score(
    level: Level = "overall", *, weighting: Weighting = "segment", rounds: bool = False
) -> MetricExpr:
    """The score of `leaderboard` as a metric of units, for states of shards and for `ef.compare`.

    Group it by `model` and what has a leaderboard: `segment_id` or `question_id` (with `round`), or
    `ef.survey.category("segment_id")`. Shards may cut through segments and questions. Rows count as
    they are: filter them first by context, with `at_context`, and by baselines.

    Args:
        level: As for `leaderboard`.
        weighting: As for `leaderboard`.
        rounds: True if the table has a column `round`, so that a segment of two rounds is two.

    Returns:
        Float64 named `score` over the columns of `leaderboard`: the mean of segments, or of
        questions, of the means in them; by segment the mean of items. Null without scores. Other
        columns of the leaderboard are metrics of segments, too: `sd_segments` is
        `ef.per("segment_id", ef.mean("score"), then=ef.deviation())`, and `gap` has `ef.spread()`.

    Raises:
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> segments = ["gender:male"] * 2 + ["gender:female", "gender:male"]
        >>> scores = {"model": ["a", "a", "a", "b"], "score": [0.6, 0.8, 0.9, 0.75]}
        >>> scored = pl.DataFrame({"segment_id": segments, **scores})
        >>> score = ef.survey.leaderboard_score()
        >>> states = [ef.partial(shard, score, by="model") for shard in (scored[::2], scored[1::2])]
        >>> ef.finish(ef.merge(*states)).select("model", "estimate", "n_units", "n").rows()
        [('a', 0.8, 2, 3), ('b', 0.75, 1, 1)]
    """
    check_choice("level", level, Level)
    check_choice("weighting", weighting, Weighting)
    last, before = units_of(level, weighting, ["round"] if rounds else [])
    score, size = mean("score"), None
    if weighting == "sample_size":
        known = pl.col("score").is_not_null() & pl.col("score").is_not_nan()
        given = pl.col("sample_size")
        size = mean(pl.when(known & (given > 0) & given.is_finite()).then(given))
    if before:
        score = per(before, score)
    return (per(last, score, weight=size) if last else score).alias("score")


def units_of(level: Level, weighting: Weighting, rounds: list[str]) -> tuple[list[str], list[str]]:
    """Columns of the units that are averaged last, and of those averaged within them before."""
    match level, weighting:
        case "segment", _:
            return [], []
        case "question", _:  # a leaderboard of one round
            return ["segment_id"], []
        case _, "question":
            return [*rounds, "question_id"], ["segment_id"]
    return [*rounds, "segment_id"], []
