"""Cluster bootstraps and derivatives, against a numpy kernel of the same areas and bare sums."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

import evalframe as ef
from benchmarks import data
from benchmarks.measure import Figure, against
from evalframe.core.segments import lower_hull

Floats = npt.NDArray[np.float64]

AREAS = [
    ef.aurc(),
    ef.augrc(),
    ef.aurc_at(0.5),
    ef.augrc_at(0.5)(),
    ef.aurc_optimal(),
    ef.augrc_optimal(),
    ef.eaurc(),
    ef.eaugrc(),
    ef.aurc_achievable(),
]
CURVE = AREAS[:4]
RISKS = [ef.risk_at(i / 10)() for i in range(1, 10)]
ARTIFACT = [ef.coverage(), *CURVE, *RISKS]
"""The fourteen quantities that the original bootstraps."""

EVERYTHING = [ef.coverage(), *AREAS, *RISKS]
"""These and the optimal, excess and achievable areas, which it gives as points only."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 5
    figures = []
    for levels, at_most in ((None, 0.40), (6, 0.15)):
        for metrics in (ARTIFACT, EVERYTHING):
            draws = 200 if small else 10_000
            figures.append(quantities(41, levels, draws, metrics, rounds, at_most, within=3.0))
    for metrics in (ARTIFACT, EVERYTHING):
        participants, draws = (100, 50) if small else (1_000, 1_000)
        figures.append(quantities(participants, None, draws, metrics, rounds, at_most=0.8))
    many = 200 if small else 20_000
    figures += few_levels(data.items(many, levels=6), draws, rounds)
    for models, size, at_most in ((11, 300 if small else 3_000, 0.5), (50, many, 5.0)):
        figures.append(pairs(3 if small else models, size, draws, rounds, at_most))
    return [*figures, *(linearised(many, levels, rounds) for levels in (6, None))]


def pairs(models: int, size: int, draws: int, rounds: int, at_most: float) -> Figure:
    """All pairs of models on the same items: each model is computed once."""
    score = np.random.default_rng(1).random(models * size) < 0.6
    frame = pl.DataFrame(
        {
            "model": np.repeat(np.arange(models), size),
            "item": np.tile(np.arange(size), models),
            "score": score.astype(np.float64),
        }
    )
    method = ef.Bootstrap(cluster="item", n=draws)
    some, sums = min(draws, 200), score.reshape(models, size).T.astype(np.float64)
    return against(
        f"compare {models} models on {size:,} items, all pairs, {draws:,} draws",
        lambda: ef.compare(frame, ef.mean("score"), between="model", resample=method),
        lambda: [counts(size, some) @ sums for _ in range(draws // some)],
        called="draws, counts and their matrix product",
        at_most=at_most,
        rounds=rounds,
    )


def linearised(participants: int, levels: int | None, rounds: int) -> Figure:
    """Errors of three models by derivatives: one pass for all clusters."""
    frame = pl.concat(
        data.items(participants, levels=levels).with_columns(model=pl.lit(model))
        for model in ("a", "b", "c")
    )
    kind = "nearly unique levels" if levels is None else f"{levels} levels"
    method = ef.Linearized(cluster="participant_id")
    return against(
        f"linearised aurc, 3 models x {participants:,} x 8, {kind}",
        lambda: ef.evaluate(frame, ef.aurc(), by="model", resample=method),
        lambda: frame.group_by("model", "participant_id", "confidence").agg(pl.col("loss").sum()),
        called="group-by of clusters and levels",
        at_most=1.0,
        rounds=rounds,
    )


def quantities(
    participants: int,
    levels: int | None,
    draws: int,
    metrics: Sequence[pl.Expr],
    rounds: int,
    at_most: float,
    within: float | None = None,
) -> Figure:
    """All quantities of the original's artifact at once."""
    frame = data.items(participants, levels=levels)
    kind = "continuous" if levels is None else f"{levels} levels"
    return against(
        f"{len(metrics)} quantities, {participants:,} x 8, {kind}, {draws:,} draws",
        lambda: bootstrap(frame, metrics, draws),
        lambda: numpy_kernel(frame, draws, everything=metrics is EVERYTHING),
        called="numpy kernel",
        at_most=at_most,
        within=within,
        rounds=rounds,
    )


def few_levels(frame: pl.DataFrame, draws: int, rounds: int) -> list[Figure]:
    """Many clusters at few levels: nearly all of it is draws, counts and one matrix product."""
    ours = partial(bootstrap, frame, AREAS[:2], draws)
    participants = len(frame) // 8
    weights, states = counts(participants, min(draws, 200)), cluster_states(frame)
    repeats = draws // len(weights)
    return [
        against(
            f"aurc and augrc, {participants:,} x 8, 6 levels, {draws:,} draws",
            ours,
            partial(drawn_product, frame, draws),
            called="draws, counts and their matrix product",
            at_most=1.0,
            within=2.0,
            rounds=rounds,
        ),
        against(
            "the same against the product alone",
            ours,
            lambda: [weights @ states for _ in range(repeats)],
            called="matrix product without draws",
            within=2.0,
            rounds=rounds,
            note="most of the time are the draws of the reference generator and their counts",
        ),
    ]


def bootstrap(frame: pl.DataFrame, metrics: Sequence[pl.Expr], draws: int) -> pl.DataFrame:
    """What is measured."""
    resample = ef.Bootstrap(cluster="participant_id", n=draws, seed=42)
    return ef.evaluate(frame, metrics, resample=resample)


def counts(participants: int, draws: int) -> Floats:
    """How often each participant is drawn."""
    drawn = np.random.RandomState(42).randint(0, participants, size=(draws, participants))
    drawn += np.arange(draws)[:, None] * participants
    counted = np.bincount(drawn.ravel(), minlength=draws * participants)
    return counted.reshape(draws, participants).astype(np.float64)


def cluster_states(frame: pl.DataFrame) -> Floats:
    """Mass and loss of clusters by levels."""
    participants = frame["participant_id"].n_unique()
    places = frame["confidence"].rank("dense").to_numpy().astype(int) - 1
    states = np.zeros((participants, 2 * (places.max() + 1)))
    loss = frame["loss"].fill_null(0).to_numpy()
    owner = frame["participant_id"].to_numpy()
    np.add.at(states, (owner, 2 * places), 1.0)
    np.add.at(states, (owner, 2 * places + 1), loss)
    return states


def drawn_product(frame: pl.DataFrame, draws: int) -> Floats:
    """What cannot be avoided: draw, count, multiply by the states of clusters."""
    states = cluster_states(frame)
    participants = len(states)
    chunk = max(1, (1 << 22) // participants)
    parts = [counts(participants, min(chunk, draws - i)) @ states for i in range(0, draws, chunk)]
    return np.concatenate(parts)


def numpy_kernel(frame: pl.DataFrame, draws: int, *, everything: bool) -> list[Floats]:
    """The same quantities by plain numpy, for one table and one order of levels."""
    participants = frame["participant_id"].n_unique()
    weights = counts(participants, draws)
    totals = weights.sum(axis=1) * (len(frame) / participants)
    predicted = frame.filter(pl.col("loss").is_not_null())
    results: list[Floats] = []
    size = max(1, (1 << 18) // len(predicted))
    for first in range(0, draws, size):
        part, items = weights[first : first + size], totals[first : first + size, None]
        mass, loss = _running(part, predicted.sort("confidence", descending=True), "confidence")
        coverage, risk = mass / items, loss / np.maximum(mass, 1e-300)
        results += [coverage[:, -1], *_areas(coverage, risk, loss / items)]
        reached = [coverage >= target / 10 for target in range(1, 10)]
        at = [hit.argmax(axis=1) for hit in reached]
        results += [risk[np.arange(len(risk)), place] for place in at]
        if everything:
            results += _optima(part, predicted, items)
            results.append(_hull_area(coverage, risk))
    return results


def _running(weights: Floats, ordered: pl.DataFrame, level: str) -> tuple[Floats, Floats]:
    """Running mass and loss at the end of each level, replicates by levels."""
    drawn = weights[:, ordered["participant_id"].to_numpy()]
    value = ordered[level].to_numpy()
    ends = np.append(value[1:] != value[:-1], True)
    mass, loss = np.cumsum(drawn, axis=1), np.cumsum(drawn * ordered["loss"].to_numpy(), axis=1)
    return (mass, loss) if ends.all() else (mass[:, ends], loss[:, ends])


def _areas(coverage: Floats, risk: Floats, joint: Floats, bound: float = 0.5) -> list[Floats]:
    width = np.diff(coverage, axis=1, prepend=0.0)
    risk_before = np.concatenate([risk[:, :1], risk[:, :-1]], axis=1)
    joint_before = np.concatenate([np.zeros((len(joint), 1)), joint[:, :-1]], axis=1)
    kept = np.clip(bound - (coverage - width), 0.0, width)
    part = kept / np.maximum(width, 1e-300)
    return [
        (width * (risk + risk_before) / 2).sum(axis=1),
        (width * (joint + joint_before) / 2).sum(axis=1),
        (kept * (risk_before + (risk - risk_before) * part / 2)).sum(axis=1),
        (kept * (joint_before + (joint - joint_before) * part / 2)).sum(axis=1),
    ]


def _optima(weights: Floats, predicted: pl.DataFrame, items: Floats) -> list[Floats]:
    from scipy.special import digamma

    mass, loss = _running(weights, predicted.sort("loss"), "loss")
    zeros = np.zeros((len(mass), 1))
    before, loss_before = (np.concatenate([zeros, x[:, :-1]], axis=1) for x in (mass, loss))
    own, own_loss = mass - before, loss - loss_before
    mean = own_loss / np.maximum(own, 1e-300)
    steps = digamma(mass + 1) - digamma(before + 1)
    best = np.where((before == 0) & (mass > 0), mean, 0.0).sum(axis=1)
    risks = (own_loss + (loss_before - before * mean) * steps).sum(axis=1)
    last = loss[:, -1] / mass[:, -1]
    joint = (own * (loss + loss_before) / 2).sum(axis=1)
    return [(risks + (best - last) / 2) / items[:, 0], joint / items[:, 0] ** 2]


def _hull_area(coverage: Floats, risk: Floats) -> Floats:
    new = np.diff(coverage, axis=1, prepend=0.0) > 0
    starts = np.concatenate([[0], np.cumsum(new.sum(axis=1))])
    x, y = coverage[new], risk[new]
    vertices = lower_hull(x, y, starts)
    x, y, starts = x[vertices], y[vertices], np.searchsorted(vertices, starts)
    width, before = np.diff(x, prepend=0.0), np.concatenate([[0.0], y[:-1]])
    first = starts[:-1]
    width[first], before[first] = x[first], y[first]
    return np.asarray(np.add.reduceat(width * (y + before) / 2, first))
