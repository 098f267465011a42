"""A small survey and the responses of three models from a seed.

Everything is invented: a town that does not exist, its people, and three models that were never
trained. Numbers are computed from uniform draws by sums, products, quotients and comparisons, which
IEEE arithmetic defines to the last bit: the same seed gives the same tables on every machine.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.samples import SampleFile, check_size, unit_draws
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


_DATA = tomllib.loads(resources.files(__package__).joinpath("sample.toml").read_text("utf-8"))
QUESTIONS = [
    Question(**each | {"options": _DATA["scales"].get(str(each["options"]), each["options"])})
    for each in _DATA["questions"]
]
SEGMENTS = [Segment(**each) for each in _DATA["segments"]]
ROUNDS: dict[str, list[int]] = _DATA["rounds"]

_WIDTH = 20.0
_LETTERS = "abcdef"
_DRIFT, _ANSWERS, _MINDS, _FORMS = range(4)  # streams of the seed

N_INDIVIDUALS = 20
"""Letters of a reply of individuals."""

FORMS: list[str] = _DATA["forms"]
"""Forms of a reply: six that dtef-app reads, five that it does not, and five failures."""

CONTEXT_COUNTS = (0, 4)


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

    Examples:
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
    distance = positions[..., None] - np.arange(n_options) / (n_options - 1)
    weight = 1 / (1 + _WIDTH * distance * distance)
    # Summed in order, since the order of a numpy sum is not defined.
    total = np.cumsum(weight, axis=-1)[..., -1:]
    return np.asarray(weight / total)


def _rows(about: Asked, seed: int) -> Iterator[tuple[object, ...]]:
    """The rows of a question without id of the segment and share."""
    question, round_ = QUESTIONS[about.question], list(ROUNDS)[about.round]
    expected = shares(about.places, len(question.options))
    for s, segment in enumerate(SEGMENTS):
        size = segment.sizes[about.round]
        key = [seed, _ANSWERS, about.round, about.question, s]
        draws = np.random.Generator(np.random.PCG64(key)).random(size)
        group = (segment.attribute, segment.value, size)
        for j, percent in enumerate(_percents(expected[s], draws)):
            option = (round_, about.question_id, j, question.options[j])
            yield (*option, *group, percent, question.text)


def _percents(expected: Floats, draws: Floats) -> list[float]:
    """The percentages of options among respondents, with one decimal."""
    chosen = (draws[:, None] >= np.cumsum(expected)[:-1]).sum(axis=1)
    counts = np.bincount(chosen, minlength=len(expected))
    percents: list[float] = (np.floor(1000 * counts / len(draws) + 0.5) / 10).tolist()
    return percents


class Model(NamedTuple):
    """Properties of a simulated model."""

    grasp: float  # share of the difference between segments that it sees
    error: float  # spread of its errors about the position of a segment
    use: float  # share of that error which four answers of the segment remove
    forms: list[int]  # frequencies of `FORMS`, of 100


MODELS = {name: Model(**each) for name, each in _DATA["models"].items()}


def sample_responses(*, seed: int = 0) -> pl.DataFrame:
    """One row per model, round, question, segment and context count.

    A segment at x, where m is the mean of all segments, has for a model the position
    `m + grasp (x - m) + error (1 - use c) z`, with c 0 without and 1 with context, and a draw `z`
    of `2 (U1 + U2 + U3) - 3` for each question, segment, model and context, of which models share
    0.6. It answers with the shares at this position, in whole percent, as lists, lines, tables,
    objects or letters, or not at all. `response` is null if a request failed.

    Examples:
        >>> sample_responses().group_by("model").len().sort("model").rows()
        [('harbor-7b', 300), ('lantern-13b', 300), ('quill-70b', 300)]
    """
    return pl.DataFrame([*_replies(seed)], infer_schema_length=None)


def _replies(seed: int) -> Iterator[dict[str, object]]:
    segments = pl.DataFrame(SEGMENTS, orient="row").select(segment_id("attribute", "value"))
    questions = list(questions_asked(seed))
    forms = [_forms(model, m, len(questions), seed) for m, model in enumerate(MODELS.values())]
    for m, model in enumerate(MODELS):
        for c, count in enumerate(CONTEXT_COUNTS):
            for a, about in enumerate(questions):
                options = QUESTIONS[about.question].options
                minds = _predicted(about, m, c, seed)
                for s, segment in enumerate(segments["segment_id"]):
                    yield {
                        "model": model,
                        "round": list(ROUNDS)[about.round],
                        "segment_id": segment,
                        "question_id": about.question_id,
                        "context_count": count,
                        "n_options": len(options),
                        "response": reply(forms[m][c][a][s], minds[s], options, about.question_id),
                    }


def _predicted(about: Asked, model: int, context: int, seed: int) -> list[list[int]]:
    """The answer of a model for each segment, in whole percent."""
    traits = list(MODELS.values())[model]
    key = [seed, _MINDS, about.round, about.question]
    draws = unit_draws(len(SEGMENTS), key, (1 + len(MODELS), len(CONTEXT_COUNTS)))
    error = 0.6 * draws[0, :, 0] + 0.8 * draws[1 + model, :, context]
    mean = sum(about.places.tolist()) / len(SEGMENTS)
    seen = mean + traits.grasp * (about.places - mean)
    mind = seen + traits.error * (1 - traits.use * context) * error
    expected = shares(mind, len(QUESTIONS[about.question].options))
    percents: list[list[int]] = np.floor(100 * expected + 0.5).astype(np.int64).tolist()
    return percents


def _forms(model: Model, number: int, count: int, seed: int) -> list[list[list[str]]]:
    """The form of each reply, by context, question and segment."""
    ends = np.cumsum(model.forms)
    generator = np.random.Generator(np.random.PCG64([seed, _FORMS, number]))
    draws = generator.random((len(CONTEXT_COUNTS), count, len(SEGMENTS)))
    chosen = (draws[..., None] * ends[-1] >= ends[:-1]).sum(axis=-1)
    return [[[FORMS[k] for k in row] for row in part] for part in chosen.tolist()]


def reply(
    form: str, percents: Sequence[int], options: Sequence[str], question_id: str
) -> str | None:
    """The response in one of the forms; None for a request that failed."""
    listed = ", ".join(map(str, percents))
    quoted = ", ".join(f'"{percent}"' for percent in percents)
    letters = ", ".join(f'"{letter}"' for letter in _individuals(percents))
    replies = {
        "bracket": f"[{listed}]",
        "reasoned": f"This group leans a little to one side.\nDISTRIBUTION: [{listed}]",
        "line": "My estimate:\n" + ", ".join(f"{percent}%" for percent in percents),
        "lettered": _lines("{letter}. {option}: {percent}%", percents, options),
        "keyed": f'```json\n{{"{question_id}": [{listed}]}}\n```',
        "individuals": f"[{letters}]",
        "named": _lines("- {option}: {percent}%", percents, options),
        "closed": _lines("{letter}) {option} {percent}%", percents, options),
        "table": "| Option | Percent |\n|---|---|\n"
        + _lines("| {option} | {percent} |", percents, options),
        "quoted": f"[{quoted}]",
        "cited": f"From what is known [1], the answers were [{listed}].",
        "short": f"[{', '.join(map(str, percents[1:]))}]",
        "refused": "I cannot say how a group of people would answer this.",
        "error": "<<error>> the model did not respond",
        "empty": " ",
    }
    return replies.get(form)


def _lines(template: str, percents: Sequence[int], options: Sequence[str]) -> str:
    """A line for each option."""
    rows = zip(_LETTERS, options, percents, strict=False)
    return "\n".join(
        template.format(letter=letter, option=option, percent=percent)
        for letter, option, percent in rows
    )


def _individuals(percents: Sequence[int]) -> list[str]:
    """Letters of individuals, as close to the percentages as possible."""
    ends = np.cumsum(percents)
    positions = (2 * np.arange(N_INDIVIDUALS) + 1) * ends[-1]
    indices = np.searchsorted(2 * N_INDIVIDUALS * ends[:-1], positions, side="right")
    return [_LETTERS[index] for index in indices]


def sample_files(*, seed: int = 0) -> list[SampleFile]:
    """The sample as files: the survey and the responses of models.

    Examples:
        >>> [file.name for file in sample_files()]
        ['survey.parquet', 'survey_responses.parquet']
    """
    tables = {
        "survey": (sample_survey, "one option of a question, as a segment of a round answered it"),
        "survey_responses": (
            sample_responses,
            "one response of a simulated model for a question and a segment; null if failed",
        ),
    }
    return [
        SampleFile(
            name=f"{name}.parquet",
            row=row,
            generator=f"{__name__}.{draw.__name__}(seed={seed})",
            seed=seed,
            content=draw(seed=seed),
        )
        for name, (draw, row) in tables.items()
    ]
