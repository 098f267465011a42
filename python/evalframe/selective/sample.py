"""Realistic records from a seed: a language model fills in the PHQ-8 for interviewed participants.

All values are sums, products, quotients, square roots and roundings of uniform draws, which IEEE
arithmetic defines to the last bit: the same seed gives the same table on every machine. No value is
of a real person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.samples import SampleFile, check_size, unit_draws
from evalframe.selective.total_score import ITEM_NAMES

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]


class Mode(NamedTuple):
    """Parameters of a way of prompting."""

    skill: float
    """Added to the grasp of every answer."""
    caution: float
    """The model abstains where it perceives less evidence than this."""
    failure: float
    """The run fails if a draw exceeds this."""


MODES: Mapping[str, Mode] = {
    "zero_shot": Mode(skill=-0.2, caution=-0.2, failure=1.7),
    "few_shot": Mode(skill=0.3, caution=-0.5, failure=1.9),
    "chain_of_thought": Mode(skill=0.5, caution=-0.7, failure=1.5),
}

_COMMON = (0.0, 0.1, 0.4, 0.6, 0.1, 0.1, 0.0, -0.6)
"""Frequency of each symptom of the questionnaire."""

_LABEL_CUTS = (0.2, 1.0, 1.7)
_FIRST_ID = 300
_QUANTITIES = 11


def sample_items(*, participants: int = 60, items: int = 8, seed: int = 0) -> pl.DataFrame:
    """One row per participant, mode and item: a prediction, its label, three confidences.

    For participant i, item j and mode m, each z an independent draw `2 (U1 + U2 + U3) - 3` (mean 0,
    variance 1; the indices say what shares it):

        label          y_ij  = number of 0.2, 1.0, 1.7 that are below common_j + 0.8 z_i + 0.6 z_ij
        evidence       e_ij  = z_ij, what the interview reveals
        grasp          g_ijm = skill_m + 0.5 z_i + 0.6 e_ij + 0.6 z_ijm
        prediction           = round(y_ij + 2.2 (1 - s(g_ijm)) z_ijm), within 0..3
        abstained           if e_ij + 0.5 z_ijm < caution_m
        confidence           = s(0.3 + g_ijm + 0.5 z_ijm), to four decimals
        verbalized           = round(2.6 + 0.8 g_ijm + 0.6 z_ijm) / 4, within 0..1
        evidence_count       = round(2.2 + 1.3 e_ij + 0.6 z_ijm), within 0..5
        failed              if z_im > failure_m
        s(x)                 = (1 + x / sqrt(2 + x^2)) / 2, Student's t distribution with 2 df

    So confidence depends on the error through g, modes are paired by participant and item, and
    participants are clusters. Runs that failed have no rows here; `sample_participants` lists
    them. More participants or items only add rows to a sample of the same seed.

    Args:
        participants: Number of participants that were attempted.
        items: Number of items, from the first of the questionnaire.
        seed: Non-negative integer.

    Returns:
        `participant_id, mode, item, prediction, label, confidence, verbalized, evidence_count`,
        ordered by participant, mode and item as declared; `prediction` is null where the model
        abstained.

    Examples:
        >>> sample_items(participants=1).select("mode", "item", "prediction", "label").row(0)
        ('zero_shot', 'NoInterest', 1, 0)
    """
    check_size(participants, seed, of="participants")
    if not 1 <= items <= len(ITEM_NAMES):
        raise ParameterError(f"items is {items}; the questionnaire has 1 to {len(ITEM_NAMES)}.")
    draws = _grid_draws(participants, seed, _QUANTITIES)[..., :items]
    person, able, symptom, evidence, read, slip, felt, said, counted, doubt, fate = draws
    skill, caution, failure = _mode_parameters()
    common = np.array(_COMMON[:items])

    label = np.searchsorted(_LABEL_CUTS, common + 0.8 * person[:, :1, :1] + 0.6 * symptom[:, :1])
    evidence = evidence[:, :1]
    grasp = skill + 0.5 * able[:, :1, :1] + 0.6 * evidence + 0.6 * read
    records = _grid_frame(
        participants,
        item=np.array(ITEM_NAMES[:items]),
        prediction=_grade(label + 2.2 * (1 - _squash(grasp)) * slip, 3),
        label=label,
        confidence=np.rint(1e4 * _squash(0.3 + grasp + 0.5 * felt)) / 1e4,
        verbalized=_grade(2.6 + 0.8 * grasp + 0.6 * said, 4) / 4,
        evidence_count=_grade(2.2 + 1.3 * evidence + 0.6 * counted, 5),
        abstained=evidence + 0.5 * doubt < caution,
        failed=fate[:, :, :1] > failure,
    )
    answer = pl.when(~pl.col("abstained")).then(pl.col("prediction").cast(pl.Int64))
    return (
        records.filter(~pl.col("failed"))
        .with_columns(answer.alias("prediction"))
        .drop("abstained", "failed")
    )


def sample_participants(*, participants: int = 60, seed: int = 0) -> pl.DataFrame:
    """One row per participant and mode: whether that run is `included` in the items or `failed`.

    Args:
        participants: Number of participants that were attempted.
        seed: The seed of the items.

    Returns:
        `participant_id, mode, status`, in the order of the items.

    Examples:
        >>> sample_participants(participants=60).filter(status="failed").row(0)
        (308, 'few_shot', 'failed')
    """
    check_size(participants, seed, of="participants")
    *_, fate = _grid_draws(participants, seed, _QUANTITIES)[..., :1]
    *_, failure = _mode_parameters()
    return _grid_frame(participants, status=np.where(fate > failure, "failed", "included"))


def _grid_draws(participants: int, seed: int | list[int], quantities: int) -> Array:
    """Draws shaped quantity, participant, mode, item."""
    return unit_draws(participants, seed, (quantities, len(MODES), len(ITEM_NAMES)))


def _grid_frame(participants: int, **columns: Array) -> pl.DataFrame:
    """A row per participant, mode and further axis, of columns that broadcast to these axes."""
    ids = np.arange(_FIRST_ID, _FIRST_ID + participants)[:, None, None]
    keys = {"participant_id": ids, "mode": np.array(list(MODES))[:, None]}
    arrays = np.broadcast_arrays(*keys.values(), *columns.values())
    names = [*keys, *columns]
    return pl.DataFrame({name: array.ravel() for name, array in zip(names, arrays, strict=True)})


def _mode_parameters() -> Array:
    return np.array(list(MODES.values())).T[:, :, None]


_STREAM = 1
"""Stream of the seed for signals, so the items do not depend on them."""


def sample_signals(*, participants: int = 60, seed: int = 0) -> pl.DataFrame:
    """One row per participant, mode and item: `sample_items` with the ten signals.

    With c the confidence of the sample, e its evidence count, v its verbalised confidence, and each
    z a draw of mean 0 and variance 1:

        llm_evidence_count           = e
        retrieval_reference_count    = round(1.2 + z1), within 0..3
        retrieval_similarity_mean    = s(c + 0.4 z2), null without references
        retrieval_similarity_max     = mean + (1 - mean) s(z3) / 2, null without references
        verbalized_confidence        = 1 + 4 v, null where z4 > 1.8
        token_msp                    = s(3 c - 1 + 0.6 z5)
        token_pe                     = (1 - msp) (2 + s(z6))
        token_energy                 = -(1 - msp) (1 + s(z6)) / 2
        consistency_modal_confidence = (1 + round(4 s(3 c - 1 + z7))) / 5
        consistency_score_std        = 0.8 (1 - modal) (1 + s(z6))
        s(x)                         = (1 + x / sqrt(2 + x^2)) / 2

    All but the counts have four decimals.

    Args:
        participants: Number of participants that were attempted.
        seed: The seed of the items.

    Returns:
        `mode`, then an item table as `read_run` returns it, in the order of `sample_items`.

    Examples:
        >>> sample_signals(participants=2).select("item", "prediction", "token_msp").row(0)
        ('NoInterest', 1, 0.8508)
    """
    items = sample_items(participants=participants, seed=seed)
    z = _grid_draws(participants, [seed, _STREAM], 7)
    draws = {f"z{k}": _grid_frame(participants, z=values)["z"] for k, values in enumerate(z, 1)}
    keys = _grid_frame(participants, item=np.array(ITEM_NAMES)).with_columns(**draws)
    rows = items.join(keys, on=["participant_id", "mode", "item"], maintain_order="left")
    c = rows["confidence"].to_numpy()
    z1, z2, z3, z4, z5, z6, z7 = (rows[name].to_numpy() for name in draws)
    references = _grade(1.2 + z1, 3)
    mean = _decimals(_squash(c + 0.4 * z2))
    msp = _decimals(_squash(3 * c - 1 + 0.6 * z5))
    modal = (1 + _grade(4 * _squash(3 * c - 1 + z7), 4)) / 5
    retrieved, spoken = pl.Series(references > 0), pl.Series(z4 <= 1.8)
    signals: dict[str, pl.Expr | pl.Series] = {
        "llm_evidence_count": pl.col("evidence_count"),
        "retrieval_reference_count": pl.Series(references),
        "retrieval_similarity_mean": pl.when(retrieved).then(pl.Series(mean)),
        "retrieval_similarity_max": pl.when(retrieved).then(
            pl.Series(_decimals(mean + (1 - mean) * _squash(z3) / 2))
        ),
        "verbalized_confidence": pl.when(spoken).then(1 + 4 * pl.col("verbalized")),
        "token_msp": pl.Series(msp),
        "token_pe": pl.Series(_decimals((1 - msp) * (2 + _squash(z6)))),
        "token_energy": pl.Series(_decimals((msp - 1) * (1 + _squash(z6)) / 2)),
        "consistency_modal_confidence": pl.Series(modal),
        "consistency_score_std": pl.Series(_decimals(0.8 * (1 - modal) * (1 + _squash(z6)))),
    }
    places = {name: index for index, name in enumerate(ITEM_NAMES)}
    index = pl.col("item").replace_strict(places, return_dtype=pl.Int64)
    return rows.select(
        "mode",
        "participant_id",
        index.alias("item_index"),
        "item",
        "prediction",
        "label",
        **signals,
    )


def sample_files(*, participants: int = 60, seed: int = 0) -> list[SampleFile]:
    """The sample as files: `items.parquet` and `participants.parquet`."""
    call = f"evalframe.selective.sample.{{}}(participants={participants}, seed={seed})"
    return [
        SampleFile(
            name="items.parquet",
            row="one item of one participant as answered in one mode; a null prediction abstains",
            generator=call.format("sample_items"),
            seed=seed,
            content=sample_items(participants=participants, seed=seed),
        ),
        SampleFile(
            name="participants.parquet",
            row="one run: a participant in a mode, included in the items or failed",
            generator=call.format("sample_participants"),
            seed=seed,
            content=sample_participants(participants=participants, seed=seed),
        ),
    ]


def _squash(x: Array) -> Array:
    """Map the real line onto (0, 1), without the exponential, whose last bit varies."""
    squashed: Array = (1 + x / np.sqrt(2 + x * x)) / 2
    return squashed


def _grade(x: Array, top: int) -> Array:
    """The nearest of the grades 0 to top; adding 0.0 turns a negative zero into zero."""
    return np.clip(np.rint(x), 0, top) + 0.0


def _decimals(x: Array) -> Array:
    """To four decimals; adding 0.0 turns a negative zero into zero."""
    return np.rint(1e4 * x) / 1e4 + 0.0
