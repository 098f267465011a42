"""Pairs of models over the studies that both have: their scores, differences and uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.replication.participants.strata import SLOT
from evalframe.replication.uncertainty.spreads import (
    ENTRY,
    SPREAD,
    owners,
    replicates,
    spread_of,
    varying,
)
from evalframe.resample import intervals
from evalframe.resample.progress import reporter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.replication.uncertainty.sampling import Sample
    from evalframe.replication.uncertainty.spreads import Estimator
    from evalframe.resample.methods import Bootstrap

_HELD = 1 << 24
"""Differences of replicates held at a time."""

_ROUNDING = 1e-12
"""Scores, none of which is far above 1, that are nearer than this are equal but for rounding."""

_PAIR, _SIDE, _OWN, _SHARED = ":pair", ":side", ":own", ":shared"
_SIDES = ("left", "right")


class Compared(NamedTuple):
    """What is compared.

    Attributes:
        names: The scores.
        entries: Keys and, last, the model of each entry, sorted.
        cells: What each entry has of each cluster: `:entry`, `study_id`, `:slot`, and sums.
        known: Whether a cell has a score.
        sample: The clusters.
        estimator: From cells and a number of entries to their scores.
    """

    names: Sequence[str]
    entries: pl.DataFrame
    cells: pl.DataFrame
    known: pl.Expr
    sample: Sample
    estimator: Callable[[pl.DataFrame, int], Estimator]


def pair_table(method: Bootstrap, compared: Compared, keys: Sequence[str]) -> pl.DataFrame:
    """The differences of all pairs, one row per pair and score, in the columns of `ef.compare`.

    Args:
        method: The bootstrap.
        compared: The models.
        keys: Keys, and last what tells models apart.

    Raises:
        ParameterError: No group has two models.
    """
    pairs = _pairs(compared.entries, keys)
    shared = _shared_studies(compared, pairs)
    cells, places = _with_restricted(compared, pairs, shared)
    count = int(max(len(compared.entries), *(place.max() + 1 for place in places)))
    estimator = compared.estimator(cells, count)
    slots = compared.sample.slots
    progress = method.progress or reporter("bootstrap of differences")
    points = estimator.values(np.ones((1, slots)))
    drawn = replicates(estimator, compared.sample.weights, progress)
    left_out, owned = None, None
    if method.interval == "bca":
        left_out = replicates(estimator, compared.sample.left_out(), progress)
        entry, slot = (cells[name].to_numpy() for name in (ENTRY, SLOT))
        owned = owners(entry, slot, count, slots)
    known = cells.filter(compared.known)
    _, varied = varying(known, compared.sample.sizes, SLOT, count)
    clusters = np.minimum(*(varied[place] for place in places))
    sizes = shared.group_by(_PAIR).len(_SHARED)
    named = pairs.join(sizes, on=_PAIR, how="left", maintain_order="left").select(
        *keys[:-1], *_SIDES, pl.col(_SHARED).fill_null(0).cast(pl.Int64).alias("n_clusters")
    )
    parts = []
    for name in compared.names:
        left = None if left_out is None else left_out[name]
        columns = _differences(method, points[name], drawn[name], left, owned, places, clusters)
        series = [pl.Series(n, values, dtype=pl.Float64) for n, values in columns.items()]
        metric = pl.lit(name).alias("metric")
        parts.append(named.with_columns(metric, *(each.fill_nan(None) for each in series)))
    return pl.concat(parts)


def _pairs(entries: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    *by, model = keys
    numbered = entries.with_row_index(ENTRY).with_columns(pl.col(ENTRY).cast(pl.Int64))
    left, right = (numbered.rename({model: side, ENTRY: f"{ENTRY}:{side}"}) for side in _SIDES)
    crossed = left.join(right, on=by, nulls_equal=True) if by else left.join(right, how="cross")
    first, second = (pl.col(f"{ENTRY}:{side}") for side in _SIDES)
    pairs = crossed.filter(first < second).sort(first, second)
    if not len(pairs):
        where = " in a group of the keys" if by else ""
        models = entries[model].unique().sort().to_list()
        raise ParameterError(f"a comparison needs two models{where}, found {models}")
    return pairs.with_row_index(_PAIR)


def _shared_studies(compared: Compared, pairs: pl.DataFrame) -> pl.DataFrame:
    """The studies of which both models of a pair have a score: `:pair` and `study_id`."""
    own = compared.cells.filter(compared.known).select(ENTRY, "study_id").unique()
    left, right = (own.rename({ENTRY: f"{ENTRY}:{side}"}) for side in _SIDES)
    both = pairs.join(left, on=f"{ENTRY}:left").join(
        right, on=[f"{ENTRY}:right", "study_id"], how="semi"
    )
    return both.select(_PAIR, "study_id")


def _with_restricted(
    compared: Compared, pairs: pl.DataFrame, shared: pl.DataFrame
) -> tuple[pl.DataFrame, list[Ints]]:
    """The cells, with further entries for models restricted to the studies that a pair shares.

    Returns:
        The cells, and the entries of the left and of the right models of the pairs.
    """
    cells = compared.cells
    known = cells.filter(compared.known)
    own = known.group_by(ENTRY).agg(pl.col("study_id").n_unique().alias(_OWN))
    sizes = shared.group_by(_PAIR).len(_SHARED)
    sides = pl.concat(
        pairs.select(_PAIR, pl.lit(place).alias(_SIDE), pl.col(f"{ENTRY}:{side}").alias(ENTRY))
        for place, side in enumerate(_SIDES)
    )
    counted = sides.join(own, on=ENTRY, how="left", maintain_order="left").join(
        sizes, on=_PAIR, how="left", maintain_order="left"
    )
    # Who shares all its studies is the same in all such pairs, and is computed once.
    whole = (pl.col(_OWN) == pl.col(_SHARED)).fill_null(value=False)
    further = len(compared.entries) + pl.int_range(pl.len(), dtype=pl.Int64)
    placed = counted.with_columns(
        pl.when(whole).then(ENTRY).otherwise(further).alias(":place"), whole.alias(":whole")
    )
    restricted = (
        placed.filter(~pl.col(":whole"))
        .select(_PAIR, ENTRY, ":place")
        .join(shared, on=_PAIR)
        .join(cells, on=[ENTRY, "study_id"])
        .with_columns(pl.col(":place").alias(ENTRY))
        .select(cells.columns)
    )
    places = [
        placed.filter(pl.col(_SIDE) == place).sort(_PAIR)[":place"].to_numpy()
        for place in range(len(_SIDES))
    ]
    return pl.concat([cells, restricted]), places


def _differences(
    method: Bootstrap,
    points: Floats,
    drawn: Floats,
    left_out: Floats | None,
    owned: Bools | None,
    places: Sequence[Ints],
    clusters: Ints,
) -> dict[str, Floats]:
    """Columns of the result, one number for each pair."""
    left, right = places
    point = points[0]
    delta = _gap(point, left, right)
    p_value = np.empty(len(delta))
    spread = {name: np.empty(len(delta)) for name in SPREAD}
    chunk = max(1, _HELD // len(drawn))
    for first in range(0, len(delta), chunk):
        part = slice(first, first + chunk)
        deltas = _gap(drawn, left[part], right[part])
        without = None
        if left_out is not None and owned is not None:
            there = (owned[right[part]] | owned[left[part]]).T
            without = np.where(there, _gap(left_out, left[part], right[part]), np.nan)
        made = spread_of(method, delta[part], deltas, without, clusters[part])
        for name in SPREAD:
            spread[name][part] = getattr(made, name)
        p_value[part] = intervals.p_values(deltas, delta[part])
    p_value[clusters < 2] = np.nan  # nothing varies, so nothing is tested
    estimates = {"estimate_left": point[left], "estimate_right": point[right]}
    return {**estimates, "delta": delta, **spread, "p_value": p_value}


def _gap(scores: Floats, left: Ints, right: Ints) -> Floats:
    """Differences of entries; without this, those of equal models would be tested by rounding."""
    gap: Floats = scores[..., right] - scores[..., left]
    return np.where(np.abs(gap) <= _ROUNDING, 0.0, gap)
