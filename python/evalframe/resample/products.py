"""Products of the weights of clusters with sums of few of them: sparse, gathered, or in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.draws import Chunk


_SMALL = 64
"""Parts of fewer entries than this go together into one sparse product."""


def gathered(weights: Chunk, owner: Ints) -> Floats:
    """The weights of entries by their clusters, row after row in memory."""
    return np.take(weights, owner, axis=1) if isinstance(weights, np.ndarray) else weights[:, owner]


def picked(weights: Chunk, chosen: Ints, matrix: Floats) -> Floats:
    """The weights of some clusters, sorted, times their sums: replicates by columns."""
    result: Floats
    if isinstance(weights, np.ndarray):
        return gathered(weights, chosen) @ matrix
    # Weights of 1 but for one cluster in each replicate are never written out: replicates by
    # clusters could be far more than replicates by columns.
    first, last = np.searchsorted(chosen, [weights.first, weights.first + weights.rows])
    result = np.tile(matrix.sum(axis=0), (weights.rows, 1))
    result[chosen[first:last] - weights.first] += weights.by * matrix[first:last]
    return result


def product(weights: Chunk, matrix: Any) -> Floats:
    """Replicates by levels, from a sparse matrix of levels by clusters."""
    result: Floats
    if isinstance(weights, np.ndarray):
        result = (matrix @ np.ascontiguousarray(weights.T)).T
    else:
        bumped = matrix[:, weights.first : weights.first + weights.rows].toarray().T
        result = matrix.sum(axis=1) + weights.by * bumped
    return result


class Blocks:
    """Totals of many groups that have few of the clusters each, such as the cells of units.

    Groups of one part, such as the cells of one task for all models, have the same clusters: their
    totals are one dense product of the weights of those alone. Parts of few entries go together
    into one sparse product. Sums that are equal, or 0 everywhere, are computed once, or not at all.
    """

    def __init__(
        self, owner: Ints, group: Ints, sums: Mapping[str, Floats], parts: Ints, clusters: int
    ) -> None:
        from scipy import sparse

        self._alias: dict[str, str | None] = {}
        distinct: dict[str, Floats] = {}
        for name, values in sums.items():
            same = (other for other, theirs in distinct.items() if np.array_equal(values, theirs))
            self._alias[name] = next(same, name) if values.any() else None
            if self._alias[name] == name:
                distinct[name] = values
        self._names = list(distinct)
        values = np.stack([*distinct.values()], axis=1) if distinct else np.zeros((len(owner), 0))
        part = parts[group]
        order = np.argsort(part, kind="stable")
        edges = np.searchsorted(part[order], np.arange(int(parts.max(initial=-1)) + 2))
        is_small = np.diff(edges) < _SMALL
        self._dense: list[tuple[Ints, Ints, Floats]] = []
        for number in np.flatnonzero(~is_small):
            entries = order[edges[number] : edges[number + 1]]
            chosen, row = np.unique(owner[entries], return_inverse=True)
            groups, column = np.unique(group[entries], return_inverse=True)
            matrix = np.zeros((len(chosen), len(groups), len(self._names)))
            matrix[row, column] = values[entries]
            self._dense.append((chosen, groups, matrix.reshape(len(chosen), -1)))
        few = order[np.repeat(is_small, np.diff(edges))]
        groups, column = np.unique(group[few], return_inverse=True)
        shape = (len(groups), clusters)
        self._few = groups
        self._sparse = [
            sparse.csc_array((values[few, i], (column, owner[few])), shape=shape)
            for i in range(len(self._names))
        ]

    def totals(self, weights: Chunk, groups: int) -> dict[str, Floats]:
        """Replicates by groups, flattened, by the name of the sum."""
        draws = len(weights)
        result = np.zeros((len(self._names), draws, groups))
        for chosen, places, matrix in self._dense:
            summed = picked(weights, chosen, matrix).reshape(draws, len(places), -1)
            result[:, :, places] = np.moveaxis(summed, -1, 0)
        if len(self._few):
            for number, each in enumerate(self._sparse):
                result[number][:, self._few] = product(weights, each)
        flat = dict(zip(self._names, result.reshape(len(self._names), draws * groups), strict=True))
        nothing = np.zeros(draws * groups)
        return {n: nothing if of is None else flat[of] for n, of in self._alias.items()}
