"""Similarities of distributions, against one pass of logarithms, and scores of predictions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from benchmarks.measure import Figure, against
from evalframe.compat import dtef
from evalframe.core import segments
from evalframe.survey.scoring import score
from evalframe.survey.similarity.distances import earth_mover_similarity
from evalframe.survey.similarity.divergences import jensen_shannon_similarity
from evalframe.survey.similarity.registry import similarity_table

_PAIRS = 10_000_000

_AT_MOST = 9.9 / 8
"""An eighth of the seconds that the original takes for ten million pairs."""

_WITHIN = 4
"""Passes of a logarithm over all shares, predicted and actual."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    count = 20_000 if small else _PAIRS
    rounds = 1 if small else 5
    frame = pairs(count)
    shares = pl.concat([frame["predicted"].explode(), frame["actual"].explode()]).to_frame("share")
    arrays = fixed(count)
    logarithms = partial(streamed, shares, pl.col("share").log())
    figure = partial(against, limit=logarithms, called="log of all shares", rounds=rounds)
    figures = [
        figure(
            f"Jensen-Shannon, {count:,} pairs of 2-9 options",
            partial(streamed, frame, jensen_shannon_similarity()),
            at_most=_AT_MOST,
            within=_WITHIN,
        ),
        figure(
            f"the same in memory, {count:,} pairs",
            partial(frame.select, jensen_shannon_similarity()),
            within=_WITHIN,
        ),
        figure(
            f"the same by the original's rules, {count:,} pairs",
            partial(streamed, frame, dtef.jensen_shannon_similarity()),
            within=_WITHIN,
        ),
        figure(
            f"Jensen-Shannon, {count:,} pairs of arrays of 5 options",
            partial(streamed, arrays, jensen_shannon_similarity()),
            within=_WITHIN,
        ),
        figure(
            f"earth mover's, {count:,} pairs of 2-9 options",
            partial(streamed, frame, earth_mover_similarity()),
        ),
    ]
    few = frame.head(count // 10)
    return [*figures, *_tables(few, rounds)]


def _tables(frame: pl.DataFrame, rounds: int) -> list[Figure]:
    bare = partial(streamed, frame, jensen_shannon_similarity())
    long = frame.with_row_index("pair").explode("predicted", "actual")
    long = long.with_columns(option_index=pl.int_range(pl.len()).over("pair"))
    timed: dict[str, Callable[[], pl.DataFrame]] = {
        f"score, {len(frame):,} predictions": lambda: scored(frame, score),
        f"score as the original, {len(frame):,} predictions": lambda: scored(frame, dtef.score),
        f"similarity_table, {len(long):,} options": lambda: similarity_table(long, by="pair"),
    }
    return [
        against(name, ours, bare, called="the similarity alone", rounds=rounds)
        for name, ours in timed.items()
    ]


def pairs(count: int, seed: int = 0) -> pl.DataFrame:
    """Pairs of lists of 2 to 9 shares."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 10, count)
    known = np.ones(count, dtype=np.bool_)
    return pl.DataFrame(
        {
            name: segments.listed(rng.random(sizes.sum()), sizes, known)
            for name in ("predicted", "actual")
        }
    )


def fixed(count: int, seed: int = 0) -> pl.DataFrame:
    """Pairs of arrays of 5 shares."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({name: rng.random((count, 5)) for name in ("predicted", "actual")})


def streamed(frame: pl.DataFrame, expr: pl.Expr) -> pl.DataFrame:
    """One expression of a table in memory."""
    return frame.lazy().select(expr).collect(engine="streaming")


def scored(frame: pl.DataFrame, scores: Callable[..., pl.LazyFrame]) -> pl.DataFrame:
    """The scores alone."""
    return scores(frame.lazy()).select("score").collect(engine="streaming")
