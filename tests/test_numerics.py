"""Areas against exact arithmetic, on losses that are large and differ by little."""

from fractions import Fraction
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef

METRICS = [
    ef.aurc(),
    ef.augrc(),
    ef.aurc_optimal(),
    ef.augrc_optimal(),
    ef.eaurc(),
    ef.eaugrc(),
    ef.aurc(convention="rectangle_per_item").alias("rectangle"),
    ef.selective_risk(),
]


def curve(items):
    """Working points (accepted, summed loss) of items (rank, loss), the smallest rank first."""
    points, accepted, loss = [], 0, Fraction(0)
    for _, level in groupby(sorted(items), key=itemgetter(0)):
        own = [value for _, value in level]
        accepted, loss = accepted + len(own), loss + sum(own)
        points.append((accepted, loss))
    return points


def areas(items, total):
    """AURC and AUGRC by spec section 6."""
    points = curve(items)
    first_accepted, first_loss = points[0]
    aurc, augrc = first_loss, first_accepted * first_loss / 2
    for (m0, l0), (m1, l1) in pairwise(points):
        aurc += (m1 - m0) * (l1 / m1 + l0 / m0) / 2
        augrc += (m1 - m0) * (l1 + l0) / 2
    return aurc / total, augrc / total**2


def exactly(losses, confidences, total):
    """All metrics in rational numbers; `total` counts the abstentions too."""
    losses = [Fraction(loss) for loss in losses]
    actual = [(-confidence, loss) for confidence, loss in zip(confidences, losses, strict=True)]
    aurc, augrc = areas(actual, total)
    # The oracle goes item by item.
    optimal, generalized = areas(list(enumerate(sorted(losses))), total)
    rectangle, before = Fraction(0), (0, Fraction(0))
    for accepted, loss in curve(actual):
        mean = (loss - before[1]) / (accepted - before[0])
        rectangle += sum(
            (before[1] + (k - before[0]) * mean) / k for k in range(before[0] + 1, accepted + 1)
        )
        before = (accepted, loss)
    return {
        "aurc": aurc,
        "augrc": augrc,
        "aurc_optimal": optimal,
        "augrc_optimal": generalized,
        "eaurc": aurc - optimal,
        "eaugrc": augrc - generalized,
        "rectangle": rectangle / len(losses),
        "selective_risk": sum(losses) / len(losses),
    }


def check(losses, confidences, abstained, scale):
    frame = pl.DataFrame(
        {
            "loss": [*losses, *[None] * abstained],
            "confidence": [*confidences, *[None] * abstained],
        },
        schema={"loss": pl.Float64, "confidence": pl.Float64},
    )
    exact = exactly(losses, confidences, len(frame))
    routes = {"expression": frame.select(METRICS).row(0, named=True)}
    for plan in ("sorted", "levels"):
        result = ef.evaluate(frame, METRICS, plan=plan)
        routes[plan] = dict(result.select("metric", "estimate").rows())
    for route, values in routes.items():
        for name, value in values.items():
            error = abs(Fraction(value) - exact[name])
            # Excess areas are as exact as their losses' differences, not as the losses.
            size = scale if name.startswith("ea") else exact["selective_risk"]
            assert error <= 1e-13 * size, (
                f"{name} by {route}: {value}, exactly {float(exact[name])}"
            )


ROWS = st.lists(st.tuples(st.integers(0, 1 << 12), st.integers(0, 12)), min_size=1, max_size=40)


@settings(max_examples=25, deadline=None)
@given(ROWS, st.integers(0, 3), st.sampled_from([2.0**-10, 2.0**-20]))
def test_small_differences_of_large_losses(rows, abstained, tick):
    losses = [1e8 + ticks * tick for ticks, _ in rows]
    check(losses, [confidence for _, confidence in rows], abstained, scale=(1 << 12) * tick)


def test_losses_of_very_different_size():
    losses = [10.0**power for power in range(-9, 9)]
    check(losses, list(range(18)), 2, scale=1e8)
    check(losses, [-c for c in range(18)], 0, scale=1e8)
    check(losses, [1.0] * 18, 0, scale=1e8)


def in_ticks(own, mass):
    """AURC times n and AUGRC times n squared of integer losses; all sums fit 64 bits."""
    accepted, at = np.cumsum(mass), np.cumsum(own)
    risk = at / accepted
    earlier = np.concatenate([risk[:1], risk[:-1]])
    return (mass * (risk + earlier) / 2).sum(dtype=np.longdouble), int(mass @ (2 * at - own)) / 2


@pytest.mark.parametrize("ties", [False, True])
def test_a_million_items(ties):
    n, tick = 1_000_000, 2.0**-10
    ticks = np.random.default_rng(1).integers(0, 1024, n)
    rank = np.arange(n) // (244 if ties else 1)
    items = pl.DataFrame({"loss": 1e8 + ticks * tick, "confidence": -rank.astype(np.float64)})
    result = ef.evaluate(items, [ef.aurc(), ef.augrc(), ef.eaurc()])

    own, mass = np.bincount(rank, ticks).astype(np.int64), np.bincount(rank)
    aurc, augrc = in_ticks(own, mass)
    optimal, _ = in_ticks(
        np.repeat(np.arange(1024), np.bincount(ticks)), np.ones(n, dtype=np.int64)
    )
    # A constant loss adds itself to AURC, half of itself to AUGRC and nothing to the excess.
    expected = [1e8 + aurc / n * tick, 0.5e8 + augrc / n**2 * tick, (aurc - optimal) / n * tick]
    for metric, value, exact in zip(result["metric"], result["estimate"], expected, strict=True):
        assert value == pytest.approx(float(exact), rel=1e-12), metric
