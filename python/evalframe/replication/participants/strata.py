"""Draws of participants within studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.resample import draws
from evalframe.resample.draws import Weights
from evalframe.resample.pools import check_enough, check_known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.core.segments import Ints
    from evalframe.replication.contract import Side
    from evalframe.resample.methods import Bootstrap

SLOT = ":slot"
"""Which weight of a replicate is a participant's."""

_GAP = "\x1f"


class Strata(NamedTuple):
    """Participants to draw, one study after the other.

    Attributes:
        members: Groups, study and participant, with the slot of their weight.
        names: Of each slot the study, and with Poisson draws the participant.
        sizes: Of each slot the number of participants of its study.
        firsts: Of each slot the first one of its study.
    """

    members: pl.DataFrame
    names: pl.Series
    sizes: Ints
    firsts: Ints


def strata_of(
    method: Bootstrap, people: pl.DataFrame, groups: Sequence[str], study: str, participant: str
) -> Strata:
    """Number the participants of all groups.

    Groups that have as many participants in a study share its draws; with Poisson draws they share
    those of the participants that they have in common.

    Args:
        method: The bootstrap.
        people: Groups, study and participant; repeats count once.
        groups: Columns that tell apart who was tested.
        study: The column of the study.
        participant: The column of the participant.

    Raises:
        ParameterError: A participant is null, or no study has two.
    """
    check_known(people[participant])
    known = people.select(*groups, study, participant).unique()
    size = pl.len().cast(pl.Int64).over([*groups, study])
    rank = (pl.col(participant).rank("dense").cast(pl.Int64) - 1).over([*groups, study])
    text = pl.col(study).cast(pl.String)
    known = known.with_columns(size.alias(":size"), rank.alias(":rank"), text.alias(":name"))
    check_enough(method, known[":size"], known[participant])
    if method.draws == "poisson":
        name = pl.concat_str(pl.col(":name"), pl.col(participant).cast(pl.String), separator=_GAP)
        known = known.with_columns(name)
        by = [":name"]
        known = known.with_columns(pl.lit(0).alias(":rank"), pl.lit(1).alias(":size"))
    else:
        by = [":name", ":size", ":rank"]
    slots = known.select(":name", ":size", ":rank").unique().sort(by).with_row_index(SLOT)
    numbered = known.join(slots, on=[":name", ":size", ":rank"])
    first = slots[SLOT].cast(pl.Int64) - slots[":rank"]
    return Strata(
        numbered.select(*groups, study, participant, pl.col(SLOT).cast(pl.Int64)),
        slots[":name"],
        slots[":size"].cast(pl.Int64).to_numpy(),
        first.to_numpy(),
    )


def stratified_weights(method: Bootstrap, strata: Strata, side: Side) -> Weights:
    """How often each participant is drawn in each replicate.

    As many participants are drawn in a study as it has, independently of other studies, and on
    the human side independently of the agent's. Counter and Poisson draws of a study do not hang
    on which other studies there are.

    Args:
        method: The bootstrap.
        strata: Whom to draw.
        side: Who is drawn.
    """
    count = len(strata.names)
    other = side == "human"
    names = strata.names + (_GAP + side if other else "")

    def counts(chunk: int) -> Iterator[draws.Chunk]:
        if method.draws == "poisson":
            yield from draws.bootstrap_weights(method, names).chunks(chunk)
            return
        for drawn in _slots(method, strata, names, chunk, other=other):
            rows = len(drawn)
            drawn += strata.firsts + np.arange(rows)[:, None] * count
            counted = np.bincount(drawn.ravel(), minlength=rows * count)
            yield counted.reshape(rows, count).astype(np.float64)

    return Weights(method.n, count, counts)


def _slots(
    method: Bootstrap, strata: Strata, names: pl.Series, chunk: int, *, other: bool
) -> Iterator[Ints]:
    """Numbers within their study of the drawn participants, replicates by slots."""
    legacy = np.random.RandomState([method.seed, 1] if other else method.seed)
    # A study's draws are a stream of its own: slots count on from a hash of its name.
    keys = draws.stable_hash(names)
    keys += (np.arange(len(names)) - strata.firsts).astype(np.uint64)
    for first in range(0, method.n, chunk):
        rows = min(chunk, method.n - first)
        if method.draws == "reference":
            yield legacy.randint(0, strata.sizes, size=(rows, len(strata.sizes)))
        else:
            uniform = draws.uniform_draws(method.seed, first, rows, keys)
            yield (uniform * strata.sizes).astype(np.int64)
