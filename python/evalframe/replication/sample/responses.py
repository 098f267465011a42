"""Responses of the sample: of people, whose statistics are published, and of three models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.samples import check_size, unit_draws
from evalframe.replication.effects.kinds import KIND_NAMES, canonical
from evalframe.replication.sample.studies import STUDIES

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


class Model(NamedTuple):
    """How a simulated model plays people."""

    gain: float
    """How strong an effect is, times what it is among people."""
    error: float
    """The spread of its effects about that."""
    spread: float
    """How much its participants differ, times what people do."""


MODELS: Mapping[str, Model] = {
    "harbor-7b": Model(0.0, 0.25, 1.0),
    "lantern-13b": Model(1.8, 0.2, 0.7),
    "quill-70b": Model(1.0, 0.1, 0.95),
}
"""One that answers at random, one that exaggerates, and one that replicates."""

PEOPLE, PARTICIPANTS = 120, 60
"""How many people took part in a study, and how many participants a model plays."""

_PEOPLE = Model(1.0, 0.0, 1.0)
_QUANTITIES = 3
_RESPONSES, _EFFECTS = 0, 1
"""Streams of the seed."""


def sample_designs() -> pl.DataFrame:
    """One row per test of the invented studies: how responses become its statistic.

    Returns:
        `study_id, sub_study_id, finding_id, test_id, test_type, samples, conditions, categories,
        p0, null_value`, in the order of the studies; the domain is in `sample_tests`.

    Example:
        >>> sample_designs().select("test_id", "conditions").row(0)
        ('patience', ['lit', 'dim'])
    """
    schema = {
        **dict.fromkeys(("study_id", "sub_study_id", "finding_id", "test_id"), pl.String()),
        "test_type": pl.String(),
        "samples": pl.String(),
        "conditions": pl.List(pl.String()),
        "categories": pl.List(pl.Float64()),
        "p0": pl.Float64(),
        "null_value": pl.Float64(),
    }
    rows = [
        (
            study.study_id,
            test.sub_study_id,
            test.finding_id,
            test.test_id,
            test.test_type,
            test.samples,
            list(test.conditions) or None,
            list(test.categories) or None,
            0.5 if KIND_NAMES[canonical(test.test_type)] == "binomial" else None,
            4.0 if test.samples == "one" else None,
        )
        for study in STUDIES
        for test in study.tests
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def sample_participants(*, seed: int = 0) -> pl.DataFrame:
    """One row per model, test and participant that it plays.

    A participant's disposition is `spread z + effect s`, z a draw `2 (U1 + U2 + U3) - 3`, s from
    1/2 in the first condition to -1/2 in the last. It becomes an answer from 1 to 7, in half
    points, or a choice. Of each participant one answer in fifty is missing.

    Args:
        seed: Non-negative integer.

    Returns:
        `model, study_id, sub_study_id, finding_id, test_id, participant_id, condition, value,
        value_2`, in the order of models, tests and participants.

    Raises:
        ParameterError: A negative seed.

    Example:
        >>> sample_participants().group_by("model").len().sort("model").rows()
        [('harbor-7b', 1800), ('lantern-13b', 1800), ('quill-70b', 1800)]
    """
    check_size(1, seed, of="studies")
    parts = [
        _responses(model, PARTICIPANTS, [seed, number + 1], "p").select(
            pl.lit(name).alias("model"), pl.all()
        )
        for number, (name, model) in enumerate(MODELS.items())
    ]
    return pl.concat(parts)


def sample_people(*, seed: int = 0) -> pl.DataFrame:
    """Responses of the people of the studies, in the columns of `sample_participants`."""
    check_size(1, seed, of="studies")
    return _responses(_PEOPLE, PEOPLE, [seed, 0], "h")


def _responses(model: Model, people: int, seed: list[int], letter: str) -> pl.DataFrame:
    import numpy as np

    tests = [test for study in STUDIES for test in study.tests]
    count = len(tests)
    draws = unit_draws(people, [*seed, _RESPONSES], (_QUANTITIES * count,))
    first, second, chance = draws.reshape(_QUANTITIES, count, people)
    errors = unit_draws(count, [*seed, _EFFECTS], (1,))[0]
    effects = model.gain * np.array([test.effect for test in tests]) + model.error * errors
    conditions = np.array([len(test.conditions) for test in tests])
    place = np.arange(people) % np.maximum(conditions, 1)[:, None]
    value, value_2 = _measures(first, second, place, effects, model.spread)
    missing = np.abs(chance) > _RARE
    keys = sample_designs().select("study_id", "sub_study_id", "finding_id", "test_id")
    names = [f"{letter}{i + 1:02d}" for i in range(people)]
    put = [
        test.conditions[p] if test.conditions else None
        for test, row in zip(tests, place.tolist(), strict=True)
        for p in row
    ]
    columns = {
        "participant_id": pl.Series(names * count),
        "condition": pl.Series(put, dtype=pl.String()),
        "value": pl.Series(np.where(missing, np.nan, value).ravel()).fill_nan(None),
        "value_2": pl.Series(value_2.ravel()).fill_nan(None),
    }
    return keys[np.repeat(np.arange(count), people)].with_columns(**columns)


_RARE = 2.05
"""Beyond this lie two of a hundred draws."""


def _measures(
    first: Floats, second: Floats, place: Ints, effects: Floats, spread: float
) -> tuple[Floats, Floats]:
    """What is measured, tests by participants; NaN for a second measure that is not taken."""
    import numpy as np

    tests = [test for study in STUDIES for test in study.tests]
    kinds_of_test = np.array([KIND_NAMES[canonical(test.test_type)] for test in tests])[:, None]
    paired = np.array([test.samples == "paired" for test in tests])[:, None]
    sizes = np.array([len(test.conditions) for test in tests])[:, None]
    kinds = np.array([len(test.categories) for test in tests])[:, None]
    score = np.where(sizes > 1, 0.5 - place / np.maximum(sizes - 1, 1), 1.0)
    effect = effects[:, None]
    moved = spread * first + effect * score
    chosen = np.where(kinds > 2, 1.0 * (moved > -0.4) + (moved > 0.4), 1.0 * (moved > 0))
    r = np.clip(effect, -0.95, 0.95)
    related = r * first + np.sqrt(1 - r * r) * second
    value = np.where(kinds_of_test == "correlation", spread * first, moved)
    value_2 = np.where(paired, spread * (0.6 * first + 0.8 * second), spread * related)
    is_choice = (kinds_of_test == "chi_square") | (kinds_of_test == "binomial")
    measured = np.where(is_choice, chosen, _answer(value))
    return measured, np.where((kinds_of_test == "correlation") | paired, _answer(value_2), np.nan)


def _answer(disposition: Floats) -> Floats:
    """From 1 to 7, in half points."""
    import numpy as np

    answer: Floats = np.clip(np.floor(8 + 2.4 * disposition + 0.5) / 2, 1.0, 7.0)
    return answer
