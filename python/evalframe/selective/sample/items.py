"""The items of the sample, and which of its runs failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.samples import check_size, unit_draws
from evalframe.selective.sample.draws import grade, squash
from evalframe.selective.severity import ITEM_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalframe.selective.sample.draws import Array


class Mode(NamedTuple):
    """How a way of prompting differs from the others."""

    skill: float
    """Added to the grasp of every answer."""
    caution: float
    """The model abstains where it perceives less evidence than this."""
    failure: float
    """The whole run fails where a draw exceeds this."""


MODES: Mapping[str, Mode] = {
    "zero_shot": Mode(skill=-0.2, caution=-0.2, failure=1.7),
    "few_shot": Mode(skill=0.3, caution=-0.5, failure=1.9),
    "chain_of_thought": Mode(skill=0.5, caution=-0.7, failure=1.5),
}

_COMMON = (0.0, 0.1, 0.4, 0.6, 0.1, 0.1, 0.0, -0.6)
"""How common each symptom of the questionnaire is."""

_LABEL_CUTS = (0.2, 1.0, 1.7)
_FIRST_ID = 300
_QUANTITIES = 11


def sample_items(*, participants: int = 60, items: int = 8, seed: int = 0) -> pl.DataFrame:
    """One row per participant, mode and item: a prediction, its label, three confidences.

    For participant i, item j and mode m, each z a draw `2 (U1 + U2 + U3) - 3` of its own (mean 0,
    variance 1; the indices say what shares it):

        label          y_ij  = how many of 0.2, 1.0, 1.7 lie below common_j + 0.8 z_i + 0.6 z_ij
        evidence       e_ij  = z_ij, what the interview reveals
        grasp          g_ijm = skill_m + 0.5 z_i + 0.6 e_ij + 0.6 z_ijm
        prediction           = round(y_ij + 2.2 (1 - s(g_ijm)) z_ijm), within 0..3
        abstained           if e_ij + 0.5 z_ijm < caution_m
        confidence           = s(0.3 + g_ijm + 0.5 z_ijm), to four decimals
        verbalized           = round(2.6 + 0.8 g_ijm + 0.6 z_ijm) / 4, within 0..1
        evidence_count       = round(2.2 + 1.3 e_ij + 0.6 z_ijm), within 0..5
        failed              if z_im > failure_m
        s(x)                 = (1 + x / sqrt(2 + x^2)) / 2, Student's t distribution with 2 df

    So confidence tells about the error through g, modes are paired by participant and item, and
    participants are clusters. Runs that failed have no rows here; `sample_participants` lists
    them. More participants or items only add rows to a sample of the same seed.

    Args:
        participants: How many participants were attempted.
        items: How many of the eight items to keep, in the questionnaire's order.
        seed: Non-negative integer.

    Returns:
        `participant_id, mode, item, prediction, label, confidence, verbalized, evidence_count`,
        ordered by participant, mode and item as declared; `prediction` is null where the model
        abstained.

    Raises:
        ParameterError: A size out of range or a negative seed.

    Example:
        >>> sample_items(participants=1, items=2).select("mode", "item", "prediction", "label")
        shape: (6, 4)
        ┌──────────────────┬────────────┬────────────┬───────┐
        │ mode             ┆ item       ┆ prediction ┆ label │
        │ ---              ┆ ---        ┆ ---        ┆ ---   │
        │ str              ┆ str        ┆ i64        ┆ i64   │
        ╞══════════════════╪════════════╪════════════╪═══════╡
        │ zero_shot        ┆ NoInterest ┆ 1          ┆ 0     │
        │ zero_shot        ┆ Depressed  ┆ 0          ┆ 0     │
        │ few_shot         ┆ NoInterest ┆ 0          ┆ 0     │
        │ few_shot         ┆ Depressed  ┆ 1          ┆ 0     │
        │ chain_of_thought ┆ NoInterest ┆ 0          ┆ 0     │
        │ chain_of_thought ┆ Depressed  ┆ 1          ┆ 0     │
        └──────────────────┴────────────┴────────────┴───────┘
    """
    import numpy as np

    check_size(participants, seed, of="participants")
    if not 1 <= items <= len(ITEM_NAMES):
        raise ParameterError(f"items is {items}; the questionnaire has 1 to {len(ITEM_NAMES)}.")
    draws = grid_draws(participants, seed, _QUANTITIES)[..., :items]
    person, able, symptom, evidence, read, slip, felt, said, found, doubt, fate = draws
    skill, caution, failure = _mode_parameters()
    common = np.array(_COMMON[:items])

    label = np.searchsorted(_LABEL_CUTS, common + 0.8 * person[:, :1, :1] + 0.6 * symptom[:, :1])
    evidence = evidence[:, :1]
    grasp = skill + 0.5 * able[:, :1, :1] + 0.6 * evidence + 0.6 * read
    records = grid_frame(
        participants,
        item=np.array(ITEM_NAMES[:items]),
        prediction=grade(label + 2.2 * (1 - squash(grasp)) * slip, 3),
        label=label,
        confidence=np.rint(1e4 * squash(0.3 + grasp + 0.5 * felt)) / 1e4,
        verbalized=grade(2.6 + 0.8 * grasp + 0.6 * said, 4) / 4,
        evidence_count=grade(2.2 + 1.3 * evidence + 0.6 * found, 5),
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
        participants: How many participants were attempted.
        seed: The seed of the items.

    Returns:
        `participant_id, mode, status`, in the order of the items.

    Raises:
        ParameterError: No participant or a negative seed.

    Example:
        >>> sample_participants(participants=60).filter(status="failed").head(2)
        shape: (2, 3)
        ┌────────────────┬──────────────────┬────────┐
        │ participant_id ┆ mode             ┆ status │
        │ ---            ┆ ---              ┆ ---    │
        │ i64            ┆ str              ┆ str    │
        ╞════════════════╪══════════════════╪════════╡
        │ 308            ┆ few_shot         ┆ failed │
        │ 318            ┆ chain_of_thought ┆ failed │
        └────────────────┴──────────────────┴────────┘
    """
    import numpy as np

    check_size(participants, seed, of="participants")
    *_, fate = grid_draws(participants, seed, _QUANTITIES)[..., :1]
    *_, failure = _mode_parameters()
    return grid_frame(participants, status=np.where(fate > failure, "failed", "included"))


def grid_draws(participants: int, seed: int | list[int], quantities: int) -> Array:
    """Draws shaped quantity, participant, mode, item."""
    return unit_draws(participants, seed, (quantities, len(MODES), len(ITEM_NAMES)))


def grid_frame(participants: int, **columns: Array) -> pl.DataFrame:
    """A row per participant, mode and further axis, of columns that broadcast to these axes."""
    import numpy as np

    ids = np.arange(_FIRST_ID, _FIRST_ID + participants)[:, None, None]
    keys = {"participant_id": ids, "mode": np.array(list(MODES))[:, None]}
    arrays = np.broadcast_arrays(*keys.values(), *columns.values())
    names = [*keys, *columns]
    return pl.DataFrame({name: array.ravel() for name, array in zip(names, arrays, strict=True)})


def _mode_parameters() -> Array:
    import numpy as np

    return np.array(list(MODES.values())).T[:, :, None]
