"""Bayes factors of mixed types, against as many exponentials and logarithms as one rule takes."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from benchmarks.measure import Figure, against
from evalframe.compat import humanstudy_bench
from evalframe.replication.bayes_factors.expressions import log_bayes_factor_t
from evalframe.replication.bayes_factors.table import with_bayes_factors

_MANY = 500_000
"""Tests of two sides each: a million Bayes factors."""

_FEW = 10_000

_NODES = 48
"""What most integrals take."""

_SHARES = {
    "t-test": 0.35,
    "paired": 0.10,
    "anova": 0.15,
    "correlation": 0.10,
    "chi2": 0.20,
    "mannwhitneyu": 0.03,
    "binomial": 0.07,
}


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 5
    few, many = mixed_tests(_FEW), mixed_tests(1_000 if small else _MANY)
    figures = [
        _both_sides(few, None, rounds),
        _both_sides(many, 10.0, rounds),
        against(
            f"the same by the original's rules, {2 * len(many):,}",
            lambda: humanstudy_bench.with_bayes_factors(many),
            at_most=10.0,
            rounds=rounds,
        ),
    ]
    alone = pl.DataFrame({"t": many["stat_human"], "n": many["n1_human"]})
    return [
        *figures,
        against(
            f"t of one sample as an expression, {len(alone):,}",
            lambda: alone.select(log_bayes_factor_t("t", "n")),
            partial(bare, len(alone)),
            called="bare kernel",
            rounds=rounds,
        ),
    ]


def _both_sides(frame: pl.DataFrame, at_most: float | None, rounds: int) -> Figure:
    integrals = frame.filter(~pl.col("test_type").is_in(["chi2", "binomial"])).height
    return against(
        f"Bayes factors of mixed types, {2 * len(frame):,}",
        lambda: with_bayes_factors(frame),
        partial(bare, 2 * integrals),
        called="bare kernel",
        at_most=at_most,
        rounds=rounds,
    )


def bare(integrals: int) -> None:
    """Two exponentials and two logarithms at each node, on one thread, and nothing else."""
    cells = np.linspace(0.1, 3.0, 1 << 15)
    for _ in range(integrals * _NODES // len(cells) + 1):
        np.exp(cells)
        np.log1p(cells)
        np.log1p(cells)
        np.exp(cells)


def mixed_tests(count: int, seed: int = 0) -> pl.DataFrame:
    """Tests of both sides, in the mixture that the original was timed with."""
    rng = np.random.default_rng(seed)
    kind = rng.choice([*_SHARES], count, p=[*_SHARES.values()])
    columns: dict[str, pl.Series] = {
        "test_type": pl.Series(np.where(kind == "paired", "t-test", kind))
    }
    for side in ("human", "agent"):
        z = rng.normal(0.0, 3.0, count)
        n1, n2 = (rng.integers(10, 500, count).astype(np.float64) for _ in "12")
        chances = {
            "anova": z * z,
            "chi2": z * z,
            "correlation": np.tanh(z / 8.0),
            "mannwhitneyu": np.floor(n1 * n2 * rng.random(count)),
            "binomial": np.floor(n1 * rng.random(count)),
        }
        stat = np.select([kind == name for name in chances], list(chances.values()), z)
        grouped = np.isin(kind, ["t-test", "mannwhitneyu"])
        numbers = {
            "stat": stat,
            "n1": n1,
            "n2": np.where(grouped, n2, np.nan),
            "df1": rng.integers(1, 5, count).astype(np.float64),
            "df2": n1 + n2,
        }
        columns |= {
            f"{name}_{side}": pl.Series(values, nan_to_null=True)
            for name, values in numbers.items()
        }
        columns[f"independent_{side}"] = pl.Series(kind != "paired")
    return pl.DataFrame(columns).with_columns(
        pl.when(pl.col("test_type") != "chi2").then(pl.col(f"df1_{side}"))
        for side in ("human", "agent")
    )
