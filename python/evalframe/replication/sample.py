"""Studies of people and of three models that play them, from a seed.

Everything is invented: the studies, their findings, the people and the models. Responses are made
of uniform draws by sums, products, quotients, square roots and comparisons, which IEEE arithmetic
defines to the last bit, and statistics are rounded as papers do: the same seed gives the same
tables on every machine.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.samples import SampleFile, check_size, unit_draws
from evalframe.replication.contract import KEYS
from evalframe.replication.effects.kinds import KIND_NAMES, canonical
from evalframe.replication.participants.statistics import participant_statistics

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


class SampleTest(NamedTuple):
    """A test of an invented finding."""

    study_id: str
    domain: str
    sub_study_id: str
    finding_id: str
    test_id: str
    test_type: str
    effect: float
    """Among people, in standard deviations; r for correlations; 0 for findings of no effect."""
    conditions: list[str]
    samples: str | None
    categories: list[float]

    @property
    def kind(self) -> str:
        """The kind of the test, by its type."""
        return KIND_NAMES[canonical(self.test_type)]


def _parsed(row: dict[str, Any]) -> SampleTest:
    row["effect"], row["samples"] = float(row["effect"]), row["samples"] or None
    for name in ("conditions", "categories"):
        row[name] = [each for each in row[name].split("|") if each]
    return SampleTest(**row | {"categories": [float(each) for each in row["categories"]]})


_DATA = resources.files(__package__).joinpath("sample.csv").read_text("utf-8")
TESTS = [_parsed(row) for row in csv.DictReader(_DATA.splitlines())]
"""All tests, of every type, with three findings of no effect."""


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
_DECIMALS = 4
_RESPONSES, _EFFECTS = 0, 1
"""Streams of the seed."""

_RARE = 2.05
"""Beyond this lie two of a hundred draws."""


def sample_designs() -> pl.DataFrame:
    """One row per test of the invented studies: how responses become its statistic.

    Returns:
        `study_id, sub_study_id, finding_id, test_id, test_type, samples, conditions, categories,
        p0, null_value`, in the order of the studies; the domain is in `sample_tests`.

    Examples:
        >>> sample_designs().select("test_id", "conditions").row(0)
        ('patience', ['lit', 'dim'])
    """
    schema = {
        **dict.fromkeys((*KEYS, "test_type", "samples"), pl.String()),
        "conditions": pl.List(pl.String()),
        "categories": pl.List(pl.Float64()),
        "p0": pl.Float64(),
        "null_value": pl.Float64(),
    }
    rows = [
        (
            *(getattr(test, name) for name in (*KEYS, "test_type", "samples")),
            test.conditions or None,
            test.categories or None,
            0.5 if test.kind == "binomial" else None,
            4.0 if test.samples == "one" else None,
        )
        for test in TESTS
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

    Examples:
        >>> len(sample_participants())
        5400
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

    count = len(TESTS)
    draws = unit_draws(people, [*seed, _RESPONSES], (_QUANTITIES * count,))
    first, second, chance = draws.reshape(_QUANTITIES, count, people)
    errors = unit_draws(count, [*seed, _EFFECTS], (1,))[0]
    effects = model.gain * np.array([test.effect for test in TESTS]) + model.error * errors
    conditions = np.array([len(test.conditions) for test in TESTS])
    place = np.arange(people) % np.maximum(conditions, 1)[:, None]
    value, value_2 = _measures(first, second, place, effects, model.spread)
    missing = np.abs(chance) > _RARE
    keys = sample_designs().select(KEYS)
    names = [f"{letter}{i + 1:02d}" for i in range(people)]
    assigned = [
        test.conditions[p] if test.conditions else None
        for test, row in zip(TESTS, place.tolist(), strict=True)
        for p in row
    ]
    columns = {
        "participant_id": pl.Series(names * count),
        "condition": pl.Series(assigned, dtype=pl.String()),
        "value": pl.Series(np.where(missing, np.nan, value).ravel()).fill_nan(None),
        "value_2": pl.Series(value_2.ravel()).fill_nan(None),
    }
    return keys[np.repeat(np.arange(count), people)].with_columns(**columns)


def _measures(
    first: Floats, second: Floats, place: Ints, effects: Floats, spread: float
) -> tuple[Floats, Floats]:
    """What is measured, tests by participants; NaN for a second measure that is not taken."""
    import numpy as np

    kinds_of_test = np.array([test.kind for test in TESTS])[:, None]
    paired = np.array([test.samples == "paired" for test in TESTS])[:, None]
    sizes = np.array([len(test.conditions) for test in TESTS])[:, None]
    kinds = np.array([len(test.categories) for test in TESTS])[:, None]
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


def sample_tests(*, seed: int = 0) -> pl.DataFrame:
    """One row per model and test: the statistics of the people, and of those that the model plays.

    They are those of `participant_statistics`, rounded to four decimals, so that sums in another
    order give the same.

    Args:
        seed: Non-negative integer.

    Returns:
        `model`, the keys, `domain`, `test_type`, `test_weight` and `finding_weight` (1),
        `prior_odds_human` (10; 0.1 for findings of no effect), `prior_odds_agent` (1), then the
        statistics of both sides. Sorted by model, in the order of the studies.

    Examples:
        >>> sample_tests().select("model", "test_id", "stat_human", "stat_agent").row(0)
        ('harbor-7b', 'patience', 1.7404, -0.9791)
    """
    design = sample_designs()
    human = participant_statistics(sample_people(seed=seed).lazy(), design, by=None, side="human")
    agent = participant_statistics(sample_participants(seed=seed).lazy(), design)
    known = design.select(KEYS).with_columns(
        pl.Series("domain", [test.domain for test in TESTS]),
        pl.Series("prior_odds_human", [10.0 if test.effect else 0.1 for test in TESTS]),
    )
    on = list(KEYS)
    joined = (
        known.lazy()
        .with_row_index(":order")
        .join(human, on=on)
        .join(agent.drop("test_type"), on=on)
        .sort("model", ":order")
    )
    statistics = pl.col("^(stat|n1|n2|df1|df2|n_total|k|n|p0|a|b|c|d)_(human|agent)$")
    one = pl.lit(1.0)
    return joined.select(
        "model",
        *KEYS,
        "domain",
        "test_type",
        one.alias("test_weight"),
        one.alias("finding_weight"),
        "prior_odds_human",
        one.alias("prior_odds_agent"),
        statistics.round(_DECIMALS),
        pl.col("^(independent|direction|n_missing)_(human|agent)$"),
    ).collect()


def sample_files(*, seed: int = 0) -> list[SampleFile]:
    """The sample as files: tests of both sides, responses of participants, and their design.

    Args:
        seed: Non-negative integer.

    Examples:
        >>> sample_files()[0].name
        'replication_tests.parquet'
    """
    call = f"evalframe.replication.sample.{{}}(seed={seed})"
    of_tests = "one test of an invented finding: people, and those whom a simulated model plays"
    of_responses = "the response of one participant, played by a simulated model, to one test"
    of_designs = "one test: how responses become its statistic"
    rows = (
        ("tests", of_tests, call.format("sample_tests"), sample_tests(seed=seed)),
        (
            *("responses", of_responses, call.format("sample_participants")),
            sample_participants(seed=seed),
        ),
        ("designs", of_designs, f"{__name__}.sample_designs()", sample_designs()),
    )
    return [
        SampleFile(
            name=f"replication_{name}.parquet", row=row, generator=call, seed=seed, content=content
        )
        for name, row, call, content in rows
    ]
