"""Draws within strata: findings within their study, participants within theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.resample import draws
from evalframe.resample.draws import MEMBER, STRATUM, Weights
from evalframe.resample.methods import Bootstrap, Method, check_enough, check_known

if TYPE_CHECKING:
    from evalframe.core.segments import Ints


SLOT = ":slot"
"""Which weight of a replicate is a cluster's."""

STRATUM_SIZE = ":stratum_size"
"""How many clusters there are in the stratum of a cluster."""

_GAP = "\x1f"


def within(stratum: pl.Expr, member: pl.Expr) -> pl.Expr:
    """A cluster that is drawn within a stratum, for the column `:cluster`.

    >>> pl.select(within(pl.lit(7), pl.lit("F1"))).item()
    {':stratum': '7', ':member': 'F1'}
    """
    return pl.struct(stratum.cast(pl.String).fill_null("").alias(STRATUM), member.alias(MEMBER))


def stratified_id(stratum: pl.Expr, cluster: pl.Expr) -> pl.Expr:
    """The text that Poisson draws of a cluster within a stratum belong to."""
    return pl.concat_str(stratum, cluster.cast(pl.String), separator=_GAP)


def text_of(ids: pl.DataFrame, on: Sequence[str]) -> pl.Series:
    """What Poisson draws of clusters belong to; the columns `on` are those of a cluster."""
    if len(on) == 1:
        return ids[on[0]]
    return ids.select(stratified_id(pl.col(on[0]).cast(pl.String), pl.col(on[1]))).to_series()


class Strata(NamedTuple):
    """Clusters to draw, stratum by stratum.

    Attributes:
        members: Groups, stratum and cluster, with the slot of their weight, and the number of
            clusters of the stratum in the group.
        names: The stratum of each slot, and with Poisson draws the cluster.
        sizes: The number of clusters in the stratum of each slot.
        firsts: The first slot of the stratum of each slot.
    """

    members: pl.DataFrame
    names: pl.Series
    sizes: Ints
    firsts: Ints


def strata_of(
    method: Method, clusters: pl.DataFrame, groups: Sequence[str], stratum: str, cluster: str
) -> Strata:
    """Number the clusters of all groups; ParameterError if no stratum has two."""
    # Groups with as many clusters in a stratum share its draws. With Poisson draws they share those
    # of the clusters that they have in common.
    check_known(clusters[cluster])
    members = clusters.select(*groups, stratum, cluster).unique()
    size = pl.len().cast(pl.Int64).over([*groups, stratum])
    rank = (pl.col(cluster).rank("dense").cast(pl.Int64) - 1).over([*groups, stratum])
    text = pl.col(stratum).cast(pl.String)
    members = members.with_columns(
        size.alias(":size"), size.alias(STRATUM_SIZE), rank.alias(":rank"), text.alias(":name")
    ).with_columns(pl.col(":name").alias(":of"))
    check_enough(members[":size"], members[cluster])
    if isinstance(method, Bootstrap) and method.draws == "poisson":
        draws.check_text(members[cluster])
        members = members.with_columns(stratified_id(pl.col(":name"), pl.col(cluster)))
        by = [":name"]
        members = members.with_columns(pl.lit(0).alias(":rank"), pl.lit(1).alias(":size"))
    else:
        by = [":name", ":size", ":rank"]
    slot = [":of", ":name", ":size", ":rank"]
    slots = members.select(slot).unique().sort(by).with_row_index(SLOT)
    numbered = members.join(slots, on=slot)
    first = slots.select(pl.col(SLOT).cast(pl.Int64).min().over(":of", ":size")).to_series()
    return Strata(
        numbered.select(*groups, stratum, cluster, pl.col(SLOT).cast(pl.Int64), STRATUM_SIZE),
        slots[":name"],
        slots[":size"].cast(pl.Int64).to_numpy(),
        first.to_numpy(),
    )


def stratified_weights(method: Bootstrap, strata: Strata, stream: str | None = None) -> Weights:
    """Counts of each cluster in each replicate."""
    # In a stratum as many clusters are drawn as it has, independently of other strata. Counter and
    # Poisson draws of a stratum do not depend on the other strata. `stream` names a second stream.
    count = len(strata.names)
    names = strata.names if stream is None else strata.names + (_GAP + stream)
    if method.draws == "poisson":
        return draws.bootstrap_weights(method, names)

    def counts(chunk: int) -> Iterator[draws.Chunk]:
        for drawn in _slots(method, strata, names, chunk, second=stream is not None):
            yield draws.times_drawn(drawn + strata.firsts, count)

    return Weights(method.n, count, counts)


def _slots(
    method: Bootstrap, strata: Strata, names: pl.Series, chunk: int, *, second: bool
) -> Iterator[Ints]:
    """Numbers within their stratum of the drawn clusters, replicates by slots."""
    legacy = np.random.RandomState([method.seed, 1] if second else method.seed)
    # A stratum's draws are a stream of its own: slots count on from a hash of its name.
    keys = draws.stable_hash(names)
    keys += (np.arange(len(names)) - strata.firsts).astype(np.uint64)
    for first in range(0, method.n, chunk):
        rows = min(chunk, method.n - first)
        if method.draws == "reference":
            yield legacy.randint(0, strata.sizes, size=(rows, len(strata.sizes)))
        else:
            uniform = draws.uniform_draws(method.seed, first, rows, keys)
            yield (uniform * strata.sizes).astype(np.int64)
