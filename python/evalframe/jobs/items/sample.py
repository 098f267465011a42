"""A sample log from a seed: three models answer the questions of two tasks, several times each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from evalframe.core.samples import SampleFile, check_size, unit_draws
from evalframe.logs.inspect.sample import sample_log

_MODELS = {"harbor-7b": -0.5, "lantern-13b": 0.4, "quill-70b": 0.5}
_TASKS = {"arithmetic": 60, "geography": 40}
_EPOCHS = 3
_LOGS = {"small": 0.3, "large": 0.8}
_QUESTIONS = 20


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
    """The table of the sample, and two logs of Inspect."""
    row = "one answer of one model to one question of a task"
    table = SampleFile("answers.parquet", row, "sample_answers()", seed, sample_answers(seed=seed))
    return [table, *(_log(name, skill, seed) for name, skill in _LOGS.items())]


def _log(name: str, skill: float, seed: int) -> SampleFile:
    made = sample_log(model=f"made/{name}", samples=_QUESTIONS, skill=skill, seed=seed)
    call = f"evalframe.logs.sample_log(model='made/{name}', samples={_QUESTIONS}, skill={skill})"
    row = "a question of a quiz, asked twice, with two scores, as `read_inspect` reads it"
    return SampleFile(f"quiz_{name}.eval", row, call, seed, made)
