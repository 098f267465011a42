"""The responses of the sample: three simulated models, without and with context."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.samples import unit_draws
from evalframe.survey.sample.questions import QUESTIONS, ROUNDS, SEGMENTS
from evalframe.survey.sample.replies import FORMS, reply
from evalframe.survey.sample.survey import questions_asked, shares
from evalframe.survey.surveys.names import segment_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalframe.survey.sample.survey import Asked


class Model(NamedTuple):
    """How a simulated model differs from the others."""

    grasp: float
    """How much of the difference between segments it sees."""
    error: float
    """The spread of its errors about where a segment stands."""
    use: float
    """How much of that error four answers of the segment take away."""
    forms: tuple[int, ...]
    """How often it answers in each of `FORMS`, in shares of 100."""


MODELS: Mapping[str, Model] = {
    "harbor-7b": Model(0.2, 0.16, 0.1, (38, 6, 8, 8, 4, 3, 6, 5, 4, 3, 3, 4, 3, 2, 1, 2)),
    "lantern-13b": Model(0.6, 0.12, 0.5, (50, 10, 6, 6, 6, 3, 4, 3, 3, 2, 2, 2, 1, 1, 0, 1)),
    "quill-70b": Model(1.1, 0.08, 0.3, (70, 12, 2, 3, 5, 2, 1, 1, 1, 0, 1, 1, 0, 0, 0, 1)),
}

CONTEXT_COUNTS = (0, 4)

_MINDS, _FORMS = 2, 3
"""Streams of the seed."""


def sample_responses(*, seed: int = 0) -> pl.DataFrame:
    """One row per model, round, question, segment and context count.

    A segment that stands at x, while the mean of all segments is m, stands in the mind of a model
    at `m + grasp (x - m) + error (1 - use c) z` for c 0 without and 1 with context, z a draw
    `2 (U1 + U2 + U3) - 3` of its own for question, segment, model and context, of which 0.6 is
    shared by models. It answers with the shares that this place has, in whole per cent, in a form
    of its own: as lists, lines, tables, objects or letters, or not at all.

    Args:
        seed: That of the survey.

    Returns:
        `model, round, segment_id, question_id, context_count, n_options, response`, ordered by
        model, context count, round, question and segment, each as declared. `response` is null
        where a request failed.

    Raises:
        ParameterError: A negative seed.

    Example:
        >>> sample_responses().group_by("model").len().sort("model").rows()
        [('harbor-7b', 300), ('lantern-13b', 300), ('quill-70b', 300)]
    """
    schema = {
        "model": pl.String(),
        "round": pl.String(),
        "segment_attribute": pl.String(),
        "segment_value": pl.String(),
        "question_id": pl.String(),
        "context_count": pl.Int64(),
        "n_options": pl.Int64(),
        "response": pl.String(),
    }
    table = pl.DataFrame(_rows(seed), schema=schema, orient="row")
    return table.select(
        "model",
        "round",
        segment_id("segment_attribute", "segment_value"),
        "question_id",
        "context_count",
        "n_options",
        "response",
    )


def _rows(seed: int) -> Iterator[tuple[object, ...]]:
    asked = list(questions_asked(seed))
    forms = [_forms(model, m, len(asked), seed) for m, model in enumerate(MODELS.values())]
    for m, model in enumerate(MODELS):
        for c, count in enumerate(CONTEXT_COUNTS):
            for a, about in enumerate(asked):
                options = QUESTIONS[about.question].options
                minds = _percents(about, m, c, seed)
                for s, segment in enumerate(SEGMENTS):
                    text = reply(forms[m][c][a][s], minds[s], options, about.question_id)
                    place = (list(ROUNDS)[about.round], segment.attribute, segment.value)
                    yield (model, *place, about.question_id, count, len(options), text)


def _percents(asked: Asked, model: int, context: int, seed: int) -> list[list[int]]:
    """What a model has in mind for each segment, in whole per cent."""
    import numpy as np

    traits = list(MODELS.values())[model]
    key = [seed, _MINDS, asked.round, asked.question]
    draws = unit_draws(len(SEGMENTS), key, (1 + len(MODELS), len(CONTEXT_COUNTS)))
    error = 0.6 * draws[0, :, 0] + 0.8 * draws[1 + model, :, context]
    mean = sum(asked.places.tolist()) / len(SEGMENTS)
    seen = mean + traits.grasp * (asked.places - mean)
    mind = seen + traits.error * (1 - traits.use * context) * error
    expected = shares(mind, len(QUESTIONS[asked.question].options))
    percents: list[list[int]] = np.floor(100 * expected + 0.5).astype(np.int64).tolist()
    return percents


def _forms(model: Model, number: int, count: int, seed: int) -> list[list[list[str]]]:
    """The form of each reply, by context, question and segment."""
    import numpy as np

    ends = np.cumsum(model.forms)
    generator = np.random.Generator(np.random.PCG64([seed, _FORMS, number]))
    draws = generator.random((len(CONTEXT_COUNTS), count, len(SEGMENTS)))
    chosen = (draws[..., None] * ends[-1] >= ends[:-1]).sum(axis=-1)
    return [[[FORMS[k] for k in row] for row in part] for part in chosen.tolist()]
