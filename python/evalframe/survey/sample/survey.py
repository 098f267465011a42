"""The survey of the sample: a smooth model of opinion, and as many answers as respondents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.samples import check_size, unit_draws
from evalframe.survey.sample.questions import QUESTIONS, ROUNDS, SEGMENTS
from evalframe.survey.surveys.names import segment_id
from evalframe.survey.surveys.tables import RESPONSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalframe.core.segments import Floats

_WIDTH = 20.0
_DRIFT, _ANSWERS = 0, 1
"""Streams of the seed."""


class Asked(NamedTuple):
    """A question in a round: its number there and in all, its id, and where segments stand."""

    round: int
    question: int
    question_id: str
    places: Floats
    """Of each segment, among the options from 0 to 1."""


def sample_survey(*, seed: int = 0) -> pl.DataFrame:
    """One row per round, question, segment and option, in the layout of `read_survey`.

    Segment s stands at `x = level_q + tilt_q opinion_s / 2 + 0.06 z` of question q, z a draw
    `2 (U1 + U2 + U3) - 3` of its own for each round. The share of option j of k is in proportion to
    `1 / (1 + 20 (x - j / (k - 1))^2)`; as many respondents as the segment has answer at random.

    Args:
        seed: Non-negative integer.

    Returns:
        The columns of the long table, and `question_text`. Percentages have one decimal.

    Raises:
        ParameterError: A negative seed.

    Example:
        >>> asked = sample_survey().filter(question_id="mb1-q5", segment_id="gender:male")
        >>> asked.select("option_label", "sample_size", "percent").rows()
        [('Yes', 250, 42.4), ('No', 250, 57.6)]
    """
    check_size(1, seed, of="questions")
    rows = [row for asked in questions_asked(seed) for row in _rows(asked, seed)]
    columns = [name for name in RESPONSES if name not in ("segment_id", "share")]
    schema = {name: RESPONSES[name] for name in columns} | {"question_text": pl.String()}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return table.with_columns(
        segment_id("segment_attribute", "segment_value"), share=pl.col("percent") / 100
    ).select(*RESPONSES, "question_text")


def questions_asked(seed: int) -> Iterator[Asked]:
    """All questions of all rounds, with the places of the segments."""
    drift = unit_draws(len(QUESTIONS), [seed, _DRIFT], (len(ROUNDS), len(SEGMENTS)))
    for r, (round_, numbers) in enumerate(ROUNDS.items()):
        for q in numbers:
            question = QUESTIONS[q]
            opinions = [question.tilt * segment.opinion / 2 for segment in SEGMENTS]
            places = question.level + 0.06 * drift[r, q] + opinions
            yield Asked(r, q, f"{round_.lower()}-q{q + 1}", places)


def shares(places: Floats, n_options: int) -> Floats:
    """The share of each option for those who stand at these places."""
    import numpy as np

    distance = places[..., None] - np.arange(n_options) / (n_options - 1)
    weight = 1 / (1 + _WIDTH * distance * distance)
    # Added up one after the other, since the order of a numpy sum is its own.
    total = np.cumsum(weight, axis=-1)[..., -1:]
    return np.asarray(weight / total)


def _rows(asked: Asked, seed: int) -> Iterator[tuple[object, ...]]:
    """The rows of a question without id of the segment and share."""
    import numpy as np

    question, round_ = QUESTIONS[asked.question], list(ROUNDS)[asked.round]
    expected = shares(asked.places, len(question.options))
    for s, segment in enumerate(SEGMENTS):
        size = segment.sizes[asked.round]
        key = [seed, _ANSWERS, asked.round, asked.question, s]
        draws = np.random.Generator(np.random.PCG64(key)).random(size)
        for j, percent in enumerate(_percents(expected[s], draws)):
            yield (
                round_,
                asked.question_id,
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
