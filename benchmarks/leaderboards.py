"""Leaderboards of item scores: all of them, and each alone, beside a bare mean of the same rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.measure import Figure, against
from evalframe.resample.methods import Bootstrap
from evalframe.survey.boards.leaderboard import leaderboard
from evalframe.survey.boards.side_tables import leaderboards

if TYPE_CHECKING:
    from evalframe.survey.boards.scores import Level

_MODELS = 52
_PAIRS = 18_632
"""Questions times segments of the eight real rounds; with the models 968,864 scores."""

_FEW_PAIRS = 5_684
"""Those of 24 models in published leaderboards."""

_SEGMENTS = 50
_AT_MOST = 0.25
"""Seconds for all leaderboards; the original takes 1.13."""

_AT_MOST_RESAMPLED = 0.5
"""Seconds for intervals and ranks of the smaller table."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    frame = scores(1_000 if small else _PAIRS)
    rounds = 1 if small else 7
    mean = partial(bare, frame)
    told = f"{len(frame):,} scores"
    figures = [
        against(
            f"all leaderboards, {told}",
            partial(leaderboards, frame),
            mean,
            called="mean by model and segment",
            at_most=_AT_MOST,
            rounds=rounds,
        )
    ]
    levels: tuple[Level, ...] = ("overall", "segment", "category", "question")
    figures += [
        against(
            f"leaderboard by {level}, {told}" if level != "overall" else f"leaderboard, {told}",
            partial(one, frame, level),
            mean,
            called="mean by model and segment",
            rounds=rounds,
        )
        for level in levels
    ]
    few = scores(1_000 if small else _FEW_PAIRS, models=24)
    figures += [
        against(
            f"leaderboard with 1,000 resamples of {cluster}, {len(table):,} scores",
            partial(one, table, "overall", Bootstrap(cluster=cluster, n=1_000)),
            at_most=_AT_MOST_RESAMPLED if table is few else None,
            rounds=1 if small else 3,
        )
        for table in (frame, few)
        for cluster in ("segment_id", "question_id")
    ]
    return figures


def scores(pairs: int, seed: int = 0, models: int = _MODELS) -> pl.DataFrame:
    """Scores of some models on questions and segments of eight rounds, as a survey has them."""
    rng = np.random.default_rng(seed)
    number = pl.int_range(pl.len())
    question = number // _SEGMENTS
    categories = pl.Series(["ageGroup", "gender", "religion", "country", "country"])
    asked = pl.select(pl.int_range(pairs).alias("number")).select(
        round=pl.format("GD{}", question % 8),
        segment_id=pl.format(
            "{}:segment-{}",
            pl.lit(categories).gather(number % _SEGMENTS // 10),
            number % _SEGMENTS,
        ),
        question_id=pl.format("question-{}-of-the-survey", question),
    )
    names = [f"openrouter:provider/model-{k}[temp:0.3]" for k in range(models)]
    crossed = asked.join(pl.DataFrame({"model": names}), how="cross")
    return crossed.with_columns(score=pl.Series(rng.random(len(crossed)).round(2)))


def bare(frame: pl.DataFrame) -> pl.DataFrame:
    """The limit: one mean of each model and segment."""
    keys = ["model", "round", "segment_id"]
    return frame.lazy().group_by(keys).agg(pl.col("score").mean()).collect()


def one(frame: pl.DataFrame, level: Level, resample: Bootstrap | None = None) -> pl.DataFrame:
    """One leaderboard."""
    return leaderboard(frame, level, resample=resample)
