"""Replication scores: all of a table of tests, and bootstraps of studies and of participants."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from benchmarks.bayes_factors import bare as bare_integrals
from benchmarks.bayes_factors import mixed_tests
from benchmarks.measure import Figure, against
from evalframe.replication.agreement.alignment import with_pas, with_posteriors
from evalframe.replication.agreement.ecs import ecs
from evalframe.replication.agreement.findings import finding_scores
from evalframe.replication.agreement.studies import model_scores, study_scores
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.effects.table import with_effect_sizes
from evalframe.replication.uncertainty.differences import model_differences
from evalframe.replication.uncertainty.participants import participant_intervals
from evalframe.resample.methods import Bootstrap

_TESTS, _PER_FINDING, _PER_STUDY = 10_000, 5, 50
"""The size that the original was timed with: 2,000 findings in 200 studies, 4.6 s of CPU."""

_STUDIES, _PEOPLE = 200, 100
_MODELS = 20


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 7
    tests = studied_tests(500 if small else _TESTS)
    integrals = tests.filter(~pl.col("test_type").is_in(["chi2", "binomial"])).height
    figures = [
        against(
            f"Bayes factors to ECS of {len(tests):,} tests, both sides",
            partial(everything, tests),
            partial(bare_integrals, 2 * integrals),
            called="bare kernel",
            at_most=0.25,
            rounds=rounds,
        )
    ]
    figures += _bootstraps(tests, 100 if small else 10_000, rounds)
    figures.append(_participants(10 if small else _STUDIES, 20 if small else 1_000, small))
    return figures


def everything(tests: pl.DataFrame) -> list[pl.DataFrame]:
    """All tables from raw statistics, each read once by the next."""
    factors = with_bayes_factors(tests)
    scored = with_effect_sizes(with_pas(with_posteriors(factors))).lazy().collect()
    findings = finding_scores(scored)
    studies = study_scores(findings)
    levels = [ecs(scored), ecs(scored, "domain"), ecs(scored, "study")]
    return [model_scores(studies), *levels]


def studied_tests(count: int, seed: int = 0) -> pl.DataFrame:
    """Tests of one model in findings and studies, in the mixture of the original's timing."""
    rng = np.random.default_rng(seed)
    place = np.arange(count)
    study = pl.Series(place // _PER_STUDY)
    sides = {
        f"{name}_{side}": values
        for side in ("human", "agent")
        for name, values in (
            ("direction", rng.choice([-1.0, 1.0], count)),
            *((cell, rng.integers(5, 60, count).astype(np.float64)) for cell in "abcd"),
        )
    }
    return mixed_tests(count, seed).with_columns(
        pl.lit("model-0").alias("model"),
        pl.format("study_{}", study).alias("study_id"),
        pl.format("domain_{}", study % 3).alias("domain"),
        pl.format("F{}", pl.Series(place % _PER_STUDY // _PER_FINDING)).alias("finding_id"),
        pl.Series("test_id", place % _PER_FINDING),
        **{name: pl.Series(values) for name, values in sides.items()},
    )


def _bootstraps(tests: pl.DataFrame, draws: int, rounds: int) -> list[Figure]:
    """Bootstraps of several models on the same tests."""
    scored = with_effect_sizes(with_pas(with_posteriors(with_bayes_factors(tests))))
    rng = np.random.default_rng(1)
    models = pl.concat(
        scored.with_columns(
            pl.lit(f"model-{model}").alias("model"),
            pas=(pl.col("pas") + pl.Series(rng.normal(0.0, 0.1, len(scored)))).clip(0.0, 1.0),
            effect_d_agent=pl.col("effect_d_agent") + pl.Series(rng.normal(0.0, 0.1, len(scored))),
        )
        for model in range(_MODELS)
    )
    findings = finding_scores(models)
    studies = study_scores(findings)
    count = studies["study_id"].n_unique()
    told = f"{_MODELS} models on {count} studies, {draws:,} draws"
    by_study = Bootstrap(cluster="study_id", n=draws)
    by_finding = Bootstrap(cluster="finding_id", n=max(draws // 10, 10))
    product = partial(bare_product, draws, count, 4 * _MODELS)
    moments = partial(bare_product, draws, count, 9 * _MODELS)
    return [
        against(
            f"PAS of {told}",
            lambda: model_scores(studies, resample=by_study),
            product,
            called="draws and product",
            rounds=rounds,
        ),
        against(
            f"PAS by finding, {_MODELS} models, {by_finding.n:,} draws",
            lambda: model_scores(findings, resample=by_finding),
            rounds=min(rounds, 3),
        ),
        against(
            f"ECS of {told}",
            lambda: ecs(models, resample=by_study),
            moments,
            called="draws and product",
            rounds=min(rounds, 3),
        ),
        against(
            f"all differences of {told}",
            lambda: model_differences(studies, resample=by_study),
            product,
            called="draws and product",
            rounds=min(rounds, 3),
        ),
    ]


def bare_product(draws: int, clusters: int, columns: int) -> None:
    """Counts of drawn clusters, and their product with a table of sums."""
    drawn = np.random.RandomState(0).randint(0, clusters, size=(draws, clusters))
    drawn += np.arange(draws)[:, None] * clusters
    weights = np.bincount(drawn.ravel(), minlength=draws * clusters).astype(np.float64)
    weights.reshape(draws, clusters) @ np.ones((clusters, columns))


def _participants(studies: int, draws: int, small: bool) -> Figure:
    """A bootstrap of participants, from responses to the PAS and the ECS of a model."""
    responses, design, people = participants(studies)
    method = Bootstrap(cluster="participant_id", n=draws)
    return against(
        f"participants drawn {draws:,} times, {studies} studies of {_PEOPLE}, {len(design)} tests",
        lambda: participant_intervals(responses, design, people, resample=method),
        partial(bare_integrals, draws * len(design)),
        called="bare kernel",
        at_most=30.0,
        rounds=1 if small else 2,
    )


def participants(studies: int, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Responses of one model, the design of two tests in each study, and the human side."""
    rng = np.random.default_rng(seed)
    kinds = ("t-test", "anova", "chi-square", "binomial", "mannwhitneyu", "correlation")
    keys = pl.DataFrame(
        {
            "study_id": np.repeat([f"study_{number}" for number in range(studies)], 2),
            "finding_id": ["F1", "F2"] * studies,
            "test_type": [kinds[number % len(kinds)] for number in range(2 * studies)],
        }
    )
    alone = pl.col("test_type").is_in(["binomial", "correlation"])
    design = keys.with_columns(
        pl.when(~alone).then(pl.lit(["x", "y"])).alias("conditions"),
    )
    people = keys.drop("test_type").with_columns(
        pl.Series("pi_human", rng.random(len(keys))),
        pl.Series("effect_d_human", rng.normal(0.4, 0.3, len(keys))),
    )
    members = pl.DataFrame({"participant_id": np.arange(_PEOPLE)}).with_columns(
        condition=pl.when(pl.col("participant_id") % 2 == 0)
        .then(pl.lit("x"))
        .otherwise(pl.lit("y"))
    )
    crossed = keys.join(members, how="cross")
    value, value_2 = rng.normal(0.2, 1.0, (2, len(crossed)))
    counted = pl.col("test_type").is_in(["binomial", "chi-square"])
    responses = crossed.with_columns(
        pl.lit("model-0").alias("model"), value=pl.Series(value), value_2=pl.Series(value_2)
    ).with_columns(
        value=pl.when(counted).then((pl.col("value") > 0).cast(pl.Float64)).otherwise("value")
    )
    return responses.drop("test_type"), design, people
