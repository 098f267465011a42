"""Means over units of the means of their rows, for groups that share units and clusters.

In a replicate the mean of unit u in group g is sum_c w_c s_ucg / d_u, with d_u = sum_c w_c m_uc. If
the masses m are the same in all groups, as they are where all models answer the same items, so is
d_u; then the sum over units is one product, (B x entries) @ (entries x groups) of w_c / d_u and
s_ucg, in place of B x units x groups values. Entries are pairs of a unit and a cluster. Units with
the same masses of the same clusters, such as segments that are all asked the same questions, have
one divisor: they are one kind of unit, whose sums are added up beforehand.
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


_UNIT, _PARENT, _KIND, _ENTRY = ":unit", ":parent", ":kind", ":entry"


@dataclass
class MeansOfMeans:
    """Sums of entries, sorted by kind of unit.

    Attributes:
        owner: The cluster of each entry.
        kind: Its kind of unit.
        starts: The first entry of each kind.
        mass: The mass of each entry.
        values: Its sums in each group, entries by groups.
        members: The number of units of each kind in each group, kinds by groups.
        of_cell: The kind of each cell, that is of a unit in a group.
    """

    owner: Ints
    kind: Ints
    starts: Ints
    mass: Floats
    values: Floats
    members: Floats
    of_cell: Ints

    @classmethod
    def of(cls, table: pl.DataFrame, unit: Ints, parent: Ints, groups: int) -> MeansOfMeans | None:
        """The sums of a table by cell and cluster; None if groups differ in more than values.

        `unit` and `parent` are the unit and the group of each cell.
        """
        cells = pl.DataFrame({_UNIT: unit, _PARENT: parent})
        entries = table.select(CLUSTER, "mass", "value").with_columns(cells[table[GROUP]])
        groups_of = entries.group_by(_UNIT).agg(pl.col(_PARENT).n_unique().alias(":groups"))
        shared = entries.group_by(_UNIT, CLUSTER).agg(
            pl.col("mass").first(), pl.col("mass").n_unique().alias(":masses"), pl.len().alias(":n")
        )
        alike = ((pl.col(":masses") == 1) & (pl.col(":n") == pl.col(":groups"))).all()
        filled = len(entries) >= _FILLED * len(shared) * groups
        if not filled or not shared.join(groups_of, on=_UNIT).select(alike).item():
            return None
        masses = shared.sort(CLUSTER).group_by(_UNIT).agg(CLUSTER, "mass")
        kind = (pl.struct(CLUSTER, "mass").rank("dense").cast(pl.Int64) - 1).alias(_KIND)
        kinds = masses.select(_UNIT, kind)
        shared = shared.join(kinds, on=_UNIT).select(_KIND, CLUSTER, "mass").unique()
        shared = shared.sort(_KIND, CLUSTER).with_row_index(_ENTRY)
        if len(shared) * groups > _MOST:
            return None
        sums = entries.join(kinds, on=_UNIT).group_by(_KIND, CLUSTER, _PARENT)
        placed = sums.agg(pl.col("value").sum()).join(shared, on=[_KIND, CLUSTER])
        values = np.zeros((len(shared), groups))
        values[placed[_ENTRY].to_numpy(), placed[_PARENT].to_numpy()] = placed["value"]
        of_cell = cells.join(kinds, on=_UNIT, how="left", maintain_order="left")[_KIND].to_numpy()
        which = shared[_KIND].to_numpy()
        starts = np.flatnonzero(np.diff(which, prepend=-1))
        members = np.zeros((len(starts), groups))
        np.add.at(members, (of_cell, parent), 1.0)
        owner = shared[CLUSTER].to_numpy().astype(np.int64)
        return cls(owner, which, starts, shared["mass"].to_numpy(), values, members, of_cell)

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        return 2 * len(self.owner)

    def values_of(self, weights: Chunk) -> tuple[Floats, Bools]:
        """Means by replicates and groups, and the kinds of units that have rows by replicates."""
        drawn = gathered(weights, self.owner)
        divisor = np.add.reduceat(drawn * self.mass, self.starts, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            reciprocal = np.where(divisor > 0.0, 1.0 / divisor, 0.0)
            top = (drawn * reciprocal[:, self.kind]) @ self.values
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
