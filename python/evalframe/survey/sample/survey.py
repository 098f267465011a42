"""The survey of the sample: a smooth model of opinion, and one answer per respondent."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.samples import check_size, unit_draws
from evalframe.survey.surveys.segments import segment_id
from evalframe.survey.surveys.tables import RESPONSES

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


class Question(NamedTuple):
    """A question, the mean of its answers, and how far segments are from it."""

    text: str
    options: tuple[str, ...]
    level: float
    tilt: float


class Segment(NamedTuple):
    """A group: its category, its value, its opinion from -1 to 1, and its size in each round."""

    attribute: str
    value: str
    opinion: float
    sizes: tuple[int, ...]


_DATA = tomllib.loads(resources.files(__package__).joinpath("survey.toml").read_text("utf-8"))
QUESTIONS = [
    Question(**each | {"options": _DATA["scales"].get(str(each["options"]), each["options"])})
    for each in _DATA["questions"]
]
SEGMENTS = [Segment(**each) for each in _DATA["segments"]]
ROUNDS: dict[str, list[int]] = _DATA["rounds"]

_WIDTH = 20.0
_DRIFT, _ANSWERS = 0, 1  # streams of the seed


class Asked(NamedTuple):
    """A question of a round, and the position of each segment among its options, from 0 to 1."""

    round: int
    question: int
    question_id: str
    places: Floats


def sample_survey(*, seed: int = 0) -> pl.DataFrame:
    """One row per round, question, segment and option, in the layout of `read_survey`.

    Segment s is at `x = level_q + tilt_q opinion_s / 2 + 0.06 z` of question q, with a draw `z` of
    `2 (U1 + U2 + U3) - 3` for each round. The share of option j of k is in proportion to
    `1 / (1 + 20 (x - j / (k - 1))^2)`; each respondent answers at random. Percentages have one
    decimal.

    Example:
        >>> asked = sample_survey().filter(question_id="mb1-q5", segment_id="gender:male")
        >>> asked.select("option_label", "sample_size", "percent").rows()
        [('Yes', 250, 42.4), ('No', 250, 57.6)]
    """
    check_size(1, seed, of="questions")
    rows = [row for question in questions_asked(seed) for row in _rows(question, seed)]
    columns = [name for name in RESPONSES if name not in ("segment_id", "share")]
    schema = {name: RESPONSES[name] for name in columns} | {"question_text": pl.String()}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return table.with_columns(
        segment_id("segment_attribute", "segment_value"), share=pl.col("percent") / 100
    ).select(*RESPONSES, "question_text")


def questions_asked(seed: int) -> Iterator[Asked]:
    """All questions of all rounds, with the positions of the segments."""
    drift = unit_draws(len(QUESTIONS), [seed, _DRIFT], (len(ROUNDS), len(SEGMENTS)))
    for r, (round_, numbers) in enumerate(ROUNDS.items()):
        for q in numbers:
            question = QUESTIONS[q]
            opinions = [question.tilt * segment.opinion / 2 for segment in SEGMENTS]
            positions = question.level + 0.06 * drift[r, q] + opinions
            yield Asked(r, q, f"{round_.lower()}-q{q + 1}", positions)


def shares(positions: Floats, n_options: int) -> Floats:
    """The share of each option at these positions."""
    import numpy as np

    distance = positions[..., None] - np.arange(n_options) / (n_options - 1)
    weight = 1 / (1 + _WIDTH * distance * distance)
    # Summed in order, since the order of a numpy sum is not defined.
    total = np.cumsum(weight, axis=-1)[..., -1:]
    return np.asarray(weight / total)


def _rows(about: Asked, seed: int) -> Iterator[tuple[object, ...]]:
    """The rows of a question without id of the segment and share."""
    import numpy as np

    question, round_ = QUESTIONS[about.question], list(ROUNDS)[about.round]
    expected = shares(about.places, len(question.options))
    for s, segment in enumerate(SEGMENTS):
        size = segment.sizes[about.round]
        key = [seed, _ANSWERS, about.round, about.question, s]
        draws = np.random.Generator(np.random.PCG64(key)).random(size)
        for j, percent in enumerate(_percents(expected[s], draws)):
            yield (
                round_,
                about.question_id,
                j,
                question.options[j],
                segment.attribute,
                segment.value,
                size,
                percent,
                question.text,
            )


def _percents(expected: Floats, draws: Floats) -> list[float]:
    """The percentages of options among respondents, with one decimal."""
    import numpy as np

    ends = np.cumsum(expected)[:-1]
    chosen = (draws[:, None] >= ends).sum(axis=1)
    counts = np.bincount(chosen, minlength=len(expected))
    percents: list[float] = (np.floor(1000 * counts / len(draws) + 0.5) / 10).tolist()
    return percents
