"""Means over units of the means of their rows, for groups that share units and clusters.

In a replicate the mean of unit u in group g is sum_c w_c s_ucg / d_u, with d_u = sum_c w_c m_uc. If
the masses m are the same in all groups, as they are where all models answer the same items, so is
d_u; then the sum over units is one product, (B x entries) @ (entries x groups) of w_c / d_u and
s_ucg, in place of B x units x groups values. Entries are pairs of a unit and a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.states import CLUSTER
from evalframe.resample.contraction import GROUP
from evalframe.resample.products import gathered

if TYPE_CHECKING:
    from evalframe.core.metric import Bound
    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.resample.draws import Chunk


_FILLED = 0.5
"""The least share of entries that groups have."""

_MOST = 1 << 27
"""Numbers of the matrix of entries by groups, at most."""


@dataclass
class MeansOfMeans:
    """Sums of entries, sorted by unit.

    Attributes:
        owner: The cluster of each entry.
        unit: Its unit.
        starts: The first entry of each unit.
        mass: The mass of each entry.
        values: Its sums in each group, entries by groups.
        members: 1 where a group has a unit, units by groups.
    """

    owner: Ints
    unit: Ints
    starts: Ints
    mass: Floats
    values: Floats
    members: Floats

    @classmethod
    def of(cls, table: pl.DataFrame, unit: Ints, parent: Ints, groups: int) -> MeansOfMeans | None:
        """The sums of a table by cell and cluster; None if groups differ in more than values.

        `unit` and `parent` are the unit and the group of each cell.
        """
        entries = table.select(GROUP, CLUSTER, "mass", "value").with_columns(
            pl.Series(":unit", unit)[table[GROUP]], pl.Series(":parent", parent)[table[GROUP]]
        )
        groups_of = entries.group_by(":unit").agg(pl.col(":parent").n_unique().alias(":groups"))
        shared = entries.group_by(":unit", CLUSTER).agg(
            pl.col("mass").first(), pl.col("mass").n_unique().alias(":masses"), pl.len().alias(":n")
        )
        shared = shared.join(groups_of, on=":unit").sort(":unit", CLUSTER).with_row_index(":entry")
        alike = ((pl.col(":masses") == 1) & (pl.col(":n") == pl.col(":groups"))).all()
        size = len(shared) * groups
        if not shared.select(alike).item() or len(entries) < _FILLED * size or size > _MOST:
            return None
        placed = entries.join(shared.select(":unit", CLUSTER, ":entry"), on=[":unit", CLUSTER])
        values = np.zeros((len(shared), groups))
        values[placed[":entry"].to_numpy(), placed[":parent"].to_numpy()] = placed["value"]
        numbers, starts, which = np.unique(
            shared[":unit"].to_numpy(), return_index=True, return_inverse=True
        )
        members = np.zeros((len(numbers), groups))
        members[np.searchsorted(numbers, unit), parent] = 1.0
        owner = shared[CLUSTER].to_numpy().astype(np.int64)
        return cls(owner, which, starts, shared["mass"].to_numpy(), values, members)

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        return 2 * len(self.owner)

    def values_of(self, weights: Chunk) -> tuple[Floats, Bools]:
        """Means by replicates and groups, and the units that have rows by replicates."""
        drawn = gathered(weights, self.owner)
        divisor = np.add.reduceat(drawn * self.mass, self.starts, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            reciprocal = np.where(divisor > 0.0, 1.0 / divisor, 0.0)
            top = (drawn * reciprocal[:, self.unit]) @ self.values
            count = (divisor > 0.0) @ self.members
            means = np.where(count > 0.0, top / count, np.nan)
        return means, np.add.reduceat(drawn, self.starts, axis=1) > 0.0


def is_mean_of_means(then: Bound, leaves: dict[str, Bound]) -> bool:
    """True if a metric over units is the unweighted mean of the means in them."""
    if len(leaves) != 1 or then.weight is not None or then.metric.name != "mean":
        return False
    ((name, leaf),) = leaves.items()
    is_plain = then.params["missing"] is None and then.roles["value"].meta.eq(pl.col(name))
    return is_plain and leaf.metric.name == "mean"
