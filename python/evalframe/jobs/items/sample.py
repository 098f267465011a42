"""Samples from a seed: answers of three models to two tasks, and their logs of a quiz."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from evalframe.core.samples import SampleFile, check_size, unit_draws
from evalframe.logs.inspect.sample import sample_log

_MODELS = {"harbor-7b": -0.5, "lantern-13b": 0.4, "quill-70b": 0.5}
_SKILLS = {"harbor-7b": 0.2, "lantern-13b": 0.6, "quill-70b": 0.65}
_TASKS = {"arithmetic": 60, "geography": 40}
_EPOCHS = 3


def sample_answers(*, seed: int = 0) -> pl.DataFrame:
    """A table with a row for each answer, right (1) or wrong (0); some were not scored."""
    check_size(1, seed, of="answers")
    samples = sum(_TASKS.values())
    shape = (len(_MODELS), _EPOCHS)
    ease = unit_draws(samples, [seed, 1], (1,))[0]
    luck = unit_draws(samples, [seed, 2], (2, *shape))
    skill = np.array([*_MODELS.values()])[:, None]
    right = skill + ease[:, None, None] + 0.7 * luck[0] > 0
    scored = luck[1] < 2.2
    numbers = np.indices((samples, *shape)).reshape(3, -1)
    tasks = [task for task, size in _TASKS.items() for _ in range(size)]
    names = [f"q{number + 1}" for size in _TASKS.values() for number in range(size)]
    return pl.DataFrame(
        {
            "task": pl.Series(tasks).gather(numbers[0]),
            "model": pl.Series([*_MODELS]).gather(numbers[1]),
            "scorer": "match",
            "sample_id": pl.Series(names).gather(numbers[0]),
            "epoch": numbers[2] + 1,
            "score": np.where(scored, right, np.nan).ravel(),
        }
    ).with_columns(pl.col("score").fill_nan(None))


def sample_files(*, seed: int) -> Sequence[SampleFile]:
    """The files of the sample: a table, and a log for each model."""
    row = "one answer of one model to one question of a task"
    table = SampleFile("answers.parquet", row, "sample_answers()", seed, sample_answers(seed=seed))
    return [table, *(_quiz(model, skill, seed) for model, skill in _SKILLS.items())]


def _quiz(model: str, skill: float, seed: int) -> SampleFile:
    log = sample_log(model=model, skill=skill, seed=seed)
    call = f"sample_log(model={model!r}, skill={skill})"
    return SampleFile(f"quiz/{model}.eval", "a log of Inspect of one model", call, seed, log)
