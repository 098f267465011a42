"""The sample as run documents have it: the same answers with all ten confidence signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.selective.runs.writer import encode_run
from evalframe.selective.sample.draws import grade, squash
from evalframe.selective.sample.items import (
    MODES,
    grid_draws,
    grid_frame,
    sample_items,
    sample_participants,
)
from evalframe.selective.severity import ITEM_NAMES

if TYPE_CHECKING:
    from evalframe.selective.sample.draws import Array

_STREAM = 1
"""Which stream of the seed the signals take, so that the items stay what they are."""


def sample_signals(*, participants: int = 60, seed: int = 0) -> pl.DataFrame:
    """One row per participant, mode and item: `sample_items` with the ten signals.

    With c the confidence of the sample, e its evidence count, v its verbalised confidence, and each
    z a draw of mean 0 and variance 1:

        llm_evidence_count           = e
        retrieval_reference_count    = round(1.2 + z1), within 0..3
        retrieval_similarity_mean    = s(c + 0.4 z2), null without references
        retrieval_similarity_max     = mean + (1 - mean) s(z3) / 2, null likewise
        verbalized_confidence        = 1 + 4 v, null where z4 > 1.8
        token_msp                    = s(3 c - 1 + 0.6 z5)
        token_pe                     = (1 - msp) (2 + s(z6))
        token_energy                 = -(1 - msp) (1 + s(z6)) / 2
        consistency_modal_confidence = (1 + round(4 s(3 c - 1 + z7))) / 5
        consistency_score_std        = 0.8 (1 - modal) (1 + s(z6))
        s(x)                         = (1 + x / sqrt(2 + x^2)) / 2

    Those that are no counts have four decimals.

    Args:
        participants: How many participants were attempted.
        seed: The seed of the items.

    Returns:
        `mode`, then an item table as `read_run` gives it, in the order of `sample_items`.

    Raises:
        ParameterError: No participant or a negative seed.

    Example:
        >>> sample_signals(participants=2).select("item", "prediction", "token_msp").row(0)
        ('NoInterest', 1, 0.8508)
    """
    import numpy as np

    items = sample_items(participants=participants, seed=seed)
    z = grid_draws(participants, [seed, _STREAM], 7)
    draws = {f"z{k}": grid_frame(participants, z=values)["z"] for k, values in enumerate(z, 1)}
    keys = grid_frame(participants, item=np.array(ITEM_NAMES)).with_columns(**draws)
    drawn = items.join(keys, on=["participant_id", "mode", "item"], maintain_order="left")
    c = drawn["confidence"].to_numpy()
    z1, z2, z3, z4, z5, z6, z7 = (drawn[name].to_numpy() for name in draws)
    references = grade(1.2 + z1, 3)
    mean = _decimals(squash(c + 0.4 * z2))
    msp = _decimals(squash(3 * c - 1 + 0.6 * z5))
    modal = (1 + grade(4 * squash(3 * c - 1 + z7), 4)) / 5
    retrieved, spoken = pl.Series(references > 0), pl.Series(z4 <= 1.8)
    signals: dict[str, pl.Expr | pl.Series] = {
        "llm_evidence_count": pl.col("evidence_count"),
        "retrieval_reference_count": pl.Series(references),
        "retrieval_similarity_mean": pl.when(retrieved).then(pl.Series(mean)),
        "retrieval_similarity_max": pl.when(retrieved).then(
            pl.Series(_decimals(mean + (1 - mean) * squash(z3) / 2))
        ),
        "verbalized_confidence": pl.when(spoken).then(1 + 4 * pl.col("verbalized")),
        "token_msp": pl.Series(msp),
        "token_pe": pl.Series(_decimals((1 - msp) * (2 + squash(z6)))),
        "token_energy": pl.Series(_decimals((msp - 1) * (1 + squash(z6)) / 2)),
        "consistency_modal_confidence": pl.Series(modal),
        "consistency_score_std": pl.Series(_decimals(0.8 * (1 - modal) * (1 + squash(z6)))),
    }
    places = {name: place for place, name in enumerate(ITEM_NAMES)}
    index = pl.col("item").replace_strict(places, return_dtype=pl.Int64)
    return drawn.select(
        "mode",
        "participant_id",
        index.alias("item_index"),
        "item",
        "prediction",
        "label",
        **signals,
    )


def sample_document(*, participants: int = 60, seed: int = 0) -> bytes:
    """The sample as a run document with an experiment for each mode.

    Args:
        participants: How many participants were attempted.
        seed: The seed of the items.

    Returns:
        JSON, as `open_run` reads it.

    Raises:
        ParameterError: No participant or a negative seed.

    Example:
        >>> from evalframe.selective.runs import open_run
        >>> run = open_run(sample_document(participants=10), mode="few_shot")
        >>> run.included.len(), run.failed.to_list()
        (9, [308])
    """
    items = sample_signals(participants=participants, seed=seed)
    fates = sample_participants(participants=participants, seed=seed).filter(status="failed")
    return encode_run(
        {mode: items.filter(mode=mode).drop("mode") for mode in MODES},
        failed={mode: fates.filter(mode=mode)["participant_id"].to_list() for mode in MODES},
        run_id=f"sample-{participants}-{seed}",
    )


def _decimals(x: Array) -> Array:
    """To four decimals; adding 0.0 turns a negative zero into zero."""
    import numpy as np

    return np.rint(1e4 * x) / 1e4 + 0.0
