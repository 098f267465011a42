"""Seeded inputs of any size."""

from __future__ import annotations

import numpy as np
import polars as pl


def items(
    participants: int, each: int = 8, *, levels: int | None = None, seed: int = 0
) -> pl.DataFrame:
    """Items of participants, about half of them abstained; continuous or discrete confidence."""
    rng = np.random.default_rng(seed)
    rows = participants * each
    confidence = (
        rng.random(rows) if levels is None else rng.integers(0, levels, rows) / (levels - 1)
    )
    return pl.DataFrame(
        {
            "participant_id": np.repeat(np.arange(participants), each),
            "prediction": rng.integers(0, 4, rows),
            "confidence": confidence,
            "loss": rng.integers(0, 4, rows) / 3,
            "abstained": rng.random(rows) < 0.5,
        }
    ).select(
        "participant_id",
        pl.when(~pl.col("abstained")).then("prediction"),
        "confidence",
        pl.when(~pl.col("abstained")).then("loss"),
    )


def rows(count: int, groups: int, *, decimals: int | None = None, seed: int = 0) -> pl.DataFrame:
    """Rows with a group, a confidence and a loss."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(count)
    return pl.DataFrame(
        {
            "group": rng.integers(0, groups, count),
            "confidence": confidence if decimals is None else confidence.round(decimals),
            "loss": rng.random(count),
        }
    )
