"""Calibrating and scoring many items, against a logarithm of the same columns."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, against
from evalframe.core.typing import IntoExpr
from evalframe.selective.calibration_error import expected_calibration_error
from evalframe.selective.calibrators.maps import Temperature
from evalframe.selective.scoring import brier_score, negative_log_likelihood

_NEARLY = 1e-6
_TEMPERATURE = 1.7


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 9
    frame = answers(10_000 if small else 5_000_000)
    return [
        table(frame, calibrated(), "temperature", rounds),
        table(frame, Temperature(_TEMPERATURE).apply(), "Temperature(...)", rounds),
        table_of_calibrated(frame, rounds),
        *expressions(frame, min(rounds, 3)),
        equal_mass(answers(10_000 if small else 1_000_000), min(rounds, 3)),
        bootstrap(answers(8_000 if small else 160_000), min(rounds, 3)),
    ]


def answers(count: int, seed: int = 0) -> pl.DataFrame:
    """Items of eight to a person, confident and correct with that probability."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(count)
    return pl.DataFrame(
        {
            "person": np.arange(count) // 8,
            "confidence": confidence,
            "correct": (rng.random(count) < confidence).astype(float),
        }
    )


def calibrated() -> pl.Expr:
    """Temperature scaling: a logarithm and an exponential."""
    p = pl.col("confidence").clip(_NEARLY, 1 - _NEARLY)
    return 1 / (1 + (-(p / (1 - p)).log() / _TEMPERATURE).exp())


def scores(confidence: IntoExpr) -> list[pl.Expr]:
    """ECE in ten bins, two more logarithms, and a square."""
    metrics = (expected_calibration_error, negative_log_likelihood, brier_score)
    return [metric(confidence) for metric in metrics]


def logarithm(frame: pl.DataFrame) -> pl.DataFrame:
    """One pass of the two columns through a logarithm, on the streaming engine."""
    lazy = frame.lazy().select(pl.col("confidence", "correct").log())
    return lazy.collect(engine="streaming")


def table(frame: pl.DataFrame, confidence: pl.Expr, called: str, rounds: int) -> Figure:
    """Calibrated on the way, by a bare expression or by the calibrator, which looks for NaN."""
    return against(
        f"evaluate {called}, ECE, NLL and Brier, {len(frame):,} rows",
        lambda: ef.evaluate(frame, scores(confidence)),
        lambda: logarithm(frame),
        called="logarithm of both columns",
        within=3.0,
        rounds=rounds,
    )


def table_of_calibrated(frame: pl.DataFrame, rounds: int) -> Figure:
    """Of confidences as they are."""
    return against(
        f"evaluate ECE, NLL and Brier, {len(frame):,} rows",
        lambda: ef.evaluate(frame, scores("confidence")),
        lambda: logarithm(frame),
        called="logarithm of both columns",
        rounds=rounds,
    )


def expressions(frame: pl.DataFrame, rounds: int) -> list[Figure]:
    """The same as expressions, of a column that is made first and of an expression."""
    lazy = frame.lazy().with_columns(calibrated().alias("calibrated"))
    figure = partial(
        against,
        limit=lambda: logarithm(frame),
        called="logarithm of both columns",
        within=3.0,
        rounds=rounds,
    )
    return [
        figure(
            f"select ECE, NLL and Brier of a calibrated column, {len(frame):,} rows",
            lambda: lazy.select(scores("calibrated")).collect(),
        ),
        figure(
            f"eager select of three calibrated expressions, {len(frame):,} rows",
            lambda: frame.select(scores(calibrated())),
            note="eager queries share no parts of expressions; make a column of it first, as above",
        ),
    ]


def equal_mass(frame: pl.DataFrame, rounds: int) -> Figure:
    """Bins that need an order."""
    metric = expected_calibration_error(binning="equal_mass")
    return against(
        f"evaluate ECE in bins of equal mass, {len(frame):,} rows",
        lambda: ef.evaluate(frame, metric),
        lambda: frame.sort("confidence"),
        called="sort",
        rounds=rounds,
    )


def bootstrap(frame: pl.DataFrame, rounds: int) -> Figure:
    """A thousand replicates of bins."""
    method = ef.Bootstrap(cluster="person", n=1_000, seed=0)
    return against(
        f"bootstrap ECE, {len(frame):,} rows, 1,000 draws of persons",
        lambda: ef.evaluate(frame, expected_calibration_error(), resample=method),
        rounds=rounds,
    )
