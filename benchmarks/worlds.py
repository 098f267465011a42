"""Simulated worlds whose true values are known: clusters, such as persons, with an ability each.

All rows of a cluster share what its ability, caution or effect is, so that they resemble each
other as those of real participants, questions, segments and studies do. The true value of a metric
is that of an endless number of clusters, in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

import evalframe as ef

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int64]
    Bools: TypeAlias = npt.NDArray[np.bool_]
    Floats: TypeAlias = npt.NDArray[np.float64]

WORLD, CLUSTER, SYSTEM = "world", "cluster", "system"


@dataclass(frozen=True)
class Family:
    """How rows of one family come about.

    Attributes:
        name: Of the family.
        clusters: What its clusters are.
        sizes: The fewest and the most rows of a cluster (of one system).
        rows: From the cluster of each row and the number of clusters to the columns.
        metrics: What is estimated.
        truth: The true value of each metric, by its name.
        within: The column of the strata that clusters are drawn within, if any.
    """

    name: str
    clusters: str
    sizes: tuple[int, int]
    rows: Callable[[np.random.Generator, Ints, int], pl.DataFrame]
    metrics: tuple[pl.Expr, ...]
    truth: Mapping[str, float]
    within: str | None = None

    def sample(self, worlds: int, clusters: int, *, systems: int = 1, seed: int) -> pl.DataFrame:
        """Rows of some worlds, each with its own clusters, which all systems share.

        The systems are equally good: they share abilities, and differ by chance alone.
        """
        rng = np.random.default_rng([seed, clusters, systems])
        total = worlds * clusters
        low, high = self.sizes
        sizes = np.tile(rng.integers(low, high + 1, total), systems)
        owner = np.repeat(np.tile(np.arange(total), systems), sizes)
        system = np.repeat(np.repeat(np.arange(systems), total), sizes)
        return self.rows(rng, owner, total).with_columns(
            pl.Series(WORLD, owner // clusters),
            pl.Series(CLUSTER, owner % clusters),
            pl.Series(SYSTEM, system),
        )


LEVELS = np.array([0.45, 0.55, 0.65, 0.75, 0.85, 0.95])
LEVEL_SHARES = np.array(
    [[0.20, 0.20, 0.20, 0.15, 0.15, 0.10], [0.05, 0.08, 0.12, 0.20, 0.25, 0.30]]
)
"""How often each confidence is said, by the wrong and by the right."""

ABSTAINED = np.array([1.0, 0.5])
"""How often, in units of a person's caution, the wrong and the right abstain."""

LOSSES = np.array([1 / 3, 2 / 3, 1.0])
"""Losses of the wrong, one as likely as the other."""

ABILITY, CAUTION = (6.0, 2.0), (2.0, 2.0)


def items(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Items of persons who differ in ability and caution."""
    correct = rng.random(len(owner)) < rng.beta(*ABILITY, clusters)[owner]
    which = correct.astype(np.int64)
    abstains = rng.random(len(owner)) < rng.beta(*CAUTION, clusters)[owner] * ABSTAINED[which]
    above = rng.random(len(owner))[:, None] > np.cumsum(LEVEL_SHARES, axis=1)[which, :-1]
    loss = np.where(correct, 0.0, LOSSES[rng.integers(0, len(LOSSES), len(owner))])
    return _items(LEVELS[above.sum(axis=1)], correct, loss, abstains)


def all_items() -> pl.DataFrame:
    """Every item that there can be, with its share of an endless population as `weight`."""
    ability, caution = (a / (a + b) for a, b in (ABILITY, CAUTION))
    right = pl.DataFrame({"correct": [False, True], "share": [1.0 - ability, ability]})
    levels = pl.DataFrame({"level": range(len(LEVELS))})
    losses = pl.DataFrame({"loss": LOSSES})
    every = right.join(levels, how="cross").join(losses, how="cross")
    every = every.join(pl.DataFrame({"abstains": [False, True]}), how="cross")
    which = every["correct"].cast(pl.Int64).to_numpy()
    abstains = every["abstains"].to_numpy()
    abstained = caution * ABSTAINED[which]
    weight = (
        every["share"].to_numpy()
        * LEVEL_SHARES[which, every["level"].to_numpy()]
        * np.where(abstains, abstained, 1.0 - abstained)
        / len(LOSSES)
    )
    correct = which == 1
    loss = np.where(correct, 0.0, every["loss"].to_numpy())
    made = _items(LEVELS[every["level"].to_numpy()], correct, loss, abstains)
    return made.with_columns(weight=weight)


def _items(confidence: Floats, correct: Bools, loss: Floats, abstains: Bools) -> pl.DataFrame:
    answered = pl.DataFrame({"confidence": confidence, "correct": correct, "loss": loss})
    kept = pl.when(pl.Series(~abstains))
    return answered.select(
        kept.then(pl.col("correct").cast(pl.Int64)).alias("prediction"),
        "confidence",
        kept.then("correct").alias("correct"),
        kept.then("loss").alias("loss"),
    )


def responses(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Responses to questions that differ in difficulty."""
    right = rng.random(len(owner)) < rng.beta(9.0, 1.0, clusters)[owner]
    rejected = rng.random(len(owner)) < 0.5
    label = np.where(right, 1, np.where(rejected, -1, 0))
    return pl.DataFrame({"label": label.reshape(-1, 1)}, schema={"label": pl.List(pl.Int64)})


def scores(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Scores of the questions of segments, the mean of a segment varying about 0.85."""
    return pl.DataFrame({"score": _shares(rng, rng.beta(17.0, 3.0, clusters)[owner], 8.0)})


def tests(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Tests of studies: PAS, mostly near 0 or 1, and effects whose sizes are skewed."""
    pas = _shares(rng, rng.beta(2.0, 1.0, clusters)[owner], 1.5)
    effect = rng.gamma(2.0, 0.25, clusters)[owner]
    own = rng.normal(0.1, 0.2, clusters)[owner]
    human = (effect + rng.normal(0.0, 0.2, len(owner))).round(1)
    agent = (0.6 * effect + own + rng.normal(0.0, 0.25, len(owner))).round(1)
    return pl.DataFrame({"pas": pas, "effect_d_human": human, "effect_d_agent": agent})


def tasks(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Items of tasks that differ in difficulty; the tasks are drawn."""
    correct = rng.random(len(owner)) < rng.beta(6.0, 2.0, clusters)[owner]
    return pl.DataFrame({"correct": correct})


TASKS = np.array([0.3, 0.5, 0.7, 0.85, 0.95])
"""How often items of each of five tasks are answered correctly."""


def items_of_tasks(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Tries of items; the tasks are fixed, and items drawn within them."""
    correct = rng.random(len(owner)) < _shares(rng, TASKS[np.arange(clusters) % 5], 4.0)[owner]
    return pl.DataFrame({"task": owner % 5, "correct": correct})


def tries(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Tries at problems that differ in difficulty."""
    return pl.DataFrame({"correct": rng.random(len(owner)) < rng.beta(1.0, 3.0, clusters)[owner]})


EASE = np.linspace(0.5, 1.0, 8)
"""How easy each of eight items is."""


def people(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Answers of persons, who differ in ability, to some of the same items."""
    item = (3 * owner + _places(owner)) % len(EASE)
    correct = rng.random(len(owner)) < (rng.beta(*ABILITY, clusters)[owner] * EASE[item])
    return pl.DataFrame({"item": item, "correct": correct})


def findings(rng: np.random.Generator, owner: Ints, clusters: int) -> pl.DataFrame:
    """Tests of up to three findings of studies, which differ, and so do their findings."""
    finding = _places(owner) % 3
    means = _shares(rng, np.repeat(rng.beta(2.0, 1.0, clusters), 3), 4.0)
    pas = _shares(rng, means[3 * owner + finding], 4.0)
    return pl.DataFrame({"finding": finding, "pas": pas})


def _places(owner: Ints) -> Ints:
    """The number of each row among those of its cluster, of one system."""
    rows = np.arange(len(owner))
    is_first = np.diff(owner, prepend=-1) != 0
    return rows - np.maximum.accumulate(np.where(is_first, rows, 0))


def _shares(rng: np.random.Generator, mean: Floats, spread: float) -> Floats:
    """Shares about a mean; the larger `spread`, the nearer."""
    mean = np.clip(mean, 1e-6, 1.0 - 1e-6)
    return rng.beta(mean * spread, (1.0 - mean) * spread)


def families() -> list[Family]:
    """The four families with their main metrics, and metrics of units."""
    areas = (ef.aurc(), ef.augrc(), ef.coverage(), ef.expected_calibration_error())
    known = ef.evaluate(all_items(), areas, weight="weight")
    # Effects have variances 0.125 + 0.04 and 0.36 x 0.125 + 0.04 + 0.0625, means 0.5 and 0.4, and a
    # covariance of 0.6 x 0.125. Rounding to one decimal, for speed, adds 0.01 / 12 to variances.
    concordance = 2 * 0.075 / (0.165 + 0.1475 + 2 * 0.01 / 12 + 0.1**2)
    return [
        Family(
            "selective",
            "persons",
            (8, 8),
            items,
            areas,
            dict(known.select("metric", "estimate").iter_rows()),
        ),
        Family(
            "rag", "questions", (3, 5), responses, (ef.answer_accuracy(),), {"answer_accuracy": 0.9}
        ),
        Family("survey", "segments", (5, 15), scores, (ef.mean_score(),), {"mean_score": 0.85}),
        Family(
            "replication",
            "studies",
            (1, 4),
            tests,
            (ef.mean_pas(), ef.concordance_correlation()),
            {"mean_pas": 2 / 3, "concordance_correlation": concordance},
        ),
        *nested_families(),
    ]


def nested_families() -> list[Family]:
    """Metrics of units, by what is drawn."""
    correct, pas = ef.mean("correct"), ef.mean("pas")
    # 1 - (1 - p)^5 for p of Beta(1, 3) has the mean 1 - 3 / 8.
    truth = [0.75, TASKS.mean(), 5 / 8, 0.75 * EASE.mean(), 2 / 3]
    drawn = [
        ("tasks", (5, 15), tasks, ef.per(CLUSTER, correct)),
        ("items within tasks", (1, 3), items_of_tasks, ef.per("task", correct)),
        ("problems, pass@5", (5, 8), tries, ef.per(CLUSTER, ef.pass_at("correct", k=5))),
        ("persons across items", (3, 6), people, ef.per("item", correct)),
        ("studies of findings", (1, 6), findings, ef.per(CLUSTER, ef.per("finding", pas))),
    ]
    return [
        Family("nested", name, sizes, rows, (metric.alias(name),), {name: float(value)}, within)
        for (name, sizes, rows, metric), value in zip(drawn, truth, strict=True)
        for within in ["task" if rows is items_of_tasks else None]
    ]
