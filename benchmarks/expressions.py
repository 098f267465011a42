"""Metrics as expressions, against those of polarbearings, if it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, against

_WITHIN = 1.2


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    if importlib.util.find_spec("polarbearings") is None:
        return []
    frame = rows(1_000 if small else 1_000_000, 100)
    contexts: dict[str, Callable[[pl.Expr], object]] = {
        "select": frame.select,
        "lazy select": lambda expr: frame.lazy().select(expr).collect(),
        "agg": lambda expr: frame.group_by("group").agg(expr),
        "over": lambda expr: frame.select(expr.over("group")),
    }
    return [
        against(
            f"{name}, {context}, {len(frame):,} rows",
            partial(call, ours),
            partial(call, theirs),
            called="polarbearings",
            within=_WITHIN,
            rounds=1 if small else 11,
        )
        for name, (ours, theirs) in pairs().items()
        for context, call in contexts.items()
    ]


def pairs() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Each metric that both have: ours, theirs."""
    other = importlib.import_module("polarbearings")
    scores, classes, chances = ("label", "prediction"), ("correct", "said"), ("correct", "chance")
    return {
        "MAE": (ef.mean_absolute_error(), other.mae(*scores)),
        "RMSE": (ef.root_mean_squared_error(), other.rmse(*scores)),
        "Brier score": (ef.brier_score("chance"), other.brier_score(*chances)),
        "log loss": (ef.negative_log_likelihood("chance"), other.log_loss(*chances)),
        "accuracy": (ef.accuracy("said", "correct"), other.accuracy(*classes, threshold=1)),
        "precision": (ef.precision("said", "correct"), other.precision(*classes, threshold=1)),
        "recall": (ef.recall("said", "correct"), other.recall(*classes, threshold=1)),
        "F1": (ef.f1_score("said", "correct"), other.f1_score(*classes, threshold=1)),
        "ECE": (
            ef.expected_calibration_error("chance"),
            other.expected_calibration_error(*chances),
        ),
        "AUROC": (ef.auroc("chance", "correct"), other.roc_auc(*chances)),
    }


def rows(count: int, groups: int) -> pl.DataFrame:
    """Rows with scores, classes and probabilities, none missing."""
    rng = np.random.default_rng(0)
    chance = rng.random(count)
    return pl.DataFrame(
        {
            "group": rng.integers(0, groups, count),
            "prediction": rng.normal(size=count),
            "label": rng.normal(size=count),
            "said": rng.integers(0, 2, count),
            "chance": chance,
            "correct": (rng.random(count) < chance).astype(np.int64),
        }
    )
