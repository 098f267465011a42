"""Metrics of units, against the draws alone, a flat mean and a group-by of their cells."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, against


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 3
    scale = 20 if small else 1
    return [
        *macro_means(14_000 // scale, rounds),
        pass_at(20_000 // scale, rounds),
        *areas_of_questions(2_000 // scale, rounds),
        people_crossing(98 // scale + 1 if small else 98, rounds),
        *people_crossing_studies(200 // scale, rounds),
    ]


def macro_means(items: int, rounds: int) -> list[Figure]:
    """57 tasks and 20 models; items or tasks are drawn."""
    rng = np.random.default_rng(0)
    tasks = rng.integers(0, 57, items)
    frame = pl.DataFrame(
        {
            "model": np.repeat(np.arange(20), items),
            "item": np.tile(np.arange(items), 20),
            "task": np.tile(tasks, 20),
            "score": rng.random(20 * items),
        }
    )
    metric = ef.per("task", ef.mean("score"))
    figures = []
    for name, method in (
        ("items drawn within tasks", ef.Bootstrap(cluster="item", within="task")),
        ("tasks drawn", ef.Bootstrap(cluster="task")),
        ("items left out within tasks", ef.Jackknife(cluster="item", within="task")),
    ):
        figures.append(
            against(
                f"57 tasks, 20 models x {items:,} items, {name}",
                partial(ef.evaluate, frame, metric, by="model", resample=method),
                lambda: ef.evaluate(
                    frame, ef.mean("score"), by="model", resample=ef.Bootstrap(cluster="item")
                ),
                called="the flat mean, items drawn",
                rounds=rounds,
            )
        )
    return figures


def pass_at(problems: int, rounds: int) -> Figure:
    """pass@5 of ten tries by ten models; problems are drawn."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "model": np.repeat(np.arange(10), 10 * problems),
            "problem": np.tile(np.repeat(np.arange(problems), 10), 10),
            "correct": rng.integers(0, 2, 100 * problems),
        }
    )
    method = ef.Bootstrap(cluster="problem")
    return against(
        f"pass@5, 10 models x {problems:,} problems x 10 tries, problems drawn",
        lambda: ef.evaluate(frame, ef.per("problem", ef.pass_at(k=5)), by="model", resample=method),
        lambda: ef.evaluate(frame, ef.mean("correct"), by="model", resample=method),
        called="the flat mean",
        rounds=rounds,
    )


def areas_of_questions(questions: int, rounds: int) -> list[Figure]:
    """AURC over questions of eight epochs, by ten models; questions or epochs are drawn."""
    rng = np.random.default_rng(2)
    rows = 10 * questions * 8
    frame = pl.DataFrame(
        {
            "model": np.repeat(np.arange(10), questions * 8),
            "question": np.tile(np.repeat(np.arange(questions), 8), 10),
            "epoch": np.tile(np.arange(8), 10 * questions),
            "error": rng.integers(0, 2, rows),
            "agreed": rng.integers(0, 2, rows),
        }
    )
    metric = ef.per("question", loss=ef.mean("error"), confidence=ef.mean("agreed"), then=ef.aurc())
    return [
        against(
            f"AURC of {questions:,} questions x 8 epochs, 10 models, {cluster}s drawn",
            partial(ef.evaluate, frame, metric, by="model", resample=ef.Bootstrap(cluster=cluster)),
            lambda: ef.evaluate(
                frame, ef.mean("error"), by="model", resample=ef.Bootstrap(cluster="question")
            ),
            called="the flat mean, questions drawn",
            rounds=rounds,
        )
        for cluster in ("question", "epoch")
    ]


def people_crossing(questions: int, rounds: int) -> Figure:
    """58 segments by 24 models; each question of a segment has three of 40 people."""
    rng = np.random.default_rng(3)
    cells = 58 * questions
    people = rng.permuted(np.tile(np.arange(40), (cells, 1)), axis=1)[:, :3]
    asked = pl.DataFrame({"question": np.repeat(np.arange(cells), 3), "person": people.ravel()})
    frame = pl.concat(
        asked.with_columns(model=pl.lit(model), score=pl.Series(rng.random(len(asked))))
        for model in range(24)
    )
    method = ef.Bootstrap(cluster="person")
    return against(
        f"{cells:,} questions x 24 models, 3 of 40 people each, people drawn",
        lambda: ef.evaluate(
            frame, ef.per("question", ef.mean("score")), by="model", resample=method
        ),
        lambda: ef.evaluate(frame, ef.mean("score"), by="model", resample=method),
        called="the flat mean",
        at_most=5.0,
        rounds=rounds,
    )


def people_crossing_studies(studies: int, rounds: int) -> list[Figure]:
    """Five models; studies of five findings of two tests, each answered by the same 100 people."""
    rng = np.random.default_rng(4)
    place = np.arange(5 * studies * 1_000)
    frame = pl.DataFrame(
        {
            "model": place // (studies * 1_000),
            "study": place // 1_000 % studies,
            "finding": place // 200 % 5,
            "test": place // 100 % 2,
            "person": place % 100,
            "score": rng.random(len(place)),
        }
    )
    cells = ("model", "study", "finding", "test", "person")
    method = ef.Bootstrap(cluster="person", n=200)
    test = ef.per("test", ef.mean("score"))
    return [
        against(
            f"{studies:,} studies, 5 models, 100 people drawn, {name}",
            partial(ef.evaluate, frame, ef.per("study", finding), by="model", resample=method),
            lambda: frame.group_by(cells).agg(pl.col("score").sum()),
            called="group-by of tests and people",
            rounds=rounds,
        )
        for name, finding in (
            ("means of tests", ef.per("finding", test)),
            ("pooled tests", ef.per("finding", pas=test, then=ef.pooled_pas())),
        )
    ]
