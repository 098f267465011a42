"""Sides of pairs: which systems are compared, and what of their clusters they share.

Pair i has the sides 2i and 2i + 1. A side that shares all its clusters is the whole system, in each
of its pairs, and is computed once; another one is reduced to the clusters that the pair shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError, warn
from evalframe.resample.contraction import GROUP

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints
    from evalframe.resample.paired import Comparison


def pairs_of(
    groups: pl.DataFrame, by: list[str], side: str, comparison: Comparison
) -> pl.DataFrame:
    """The pairs of sides to compare: the keys, `left` and `right`."""
    if comparison.sides is not None:
        named = [
            pl.lit(name).alias(column)
            for name, column in zip(comparison.sides, ("left", "right"), strict=True)
        ]
        return groups.select(by).unique().sort(by).with_columns(named) if by else pl.select(named)
    left = groups.rename({side: "left"}).with_row_index(":left")
    right = groups.rename({side: "right"}).with_row_index(":right")
    crossed = left.join(right, on=by, nulls_equal=True) if by else left.join(right, how="cross")
    if comparison.baseline is None:
        selected = pl.col(":left") < pl.col(":right")
    else:
        is_first = _is_baseline(comparison.baseline, groups[side])
        selected = is_first & (pl.col(":left") != pl.col(":right"))
    pairs = crossed.filter(selected).sort(":left", ":right").drop(":left", ":right")
    if not len(pairs):
        values = groups[side].unique().sort().to_list()
        where = " in each group, of whose keys they may not be one" if by else ""
        raise ParameterError(f"a comparison needs two systems{where}, found {values}")
    if by and len(alone := groups.join(pairs, on=by, how="anti", nulls_equal=True)):
        example = ", ".join(map(str, alone.select(by).row(0)))
        reasons = "hold a single system", "lack the baseline or all else"
        reason = reasons[comparison.baseline is not None]
        warn(f"groups that {reason} are not compared: {len(alone):,}, such as {example}")
    return pairs


def _is_baseline(baseline: Any, systems: pl.Series) -> pl.Expr:
    """True if the left side is the baseline; ParameterError if no side is."""
    try:
        named = pl.Series([baseline], dtype=systems.dtype)
    except (TypeError, pl.exceptions.PolarsError):
        named = None
    if named is None or not systems.is_in(named.implode()).any():
        values = systems.unique().sort().to_list()
        raise ParameterError(f"baseline {baseline!r} is none of the systems {values}; name one")
    return pl.col("left") == pl.lit(named).first()


def shared_clusters(
    present: pl.DataFrame, pairs: pl.DataFrame, by: list[str], side: str, names: list[str]
) -> pl.DataFrame:
    """Clusters of each pair that stand on both of its sides."""
    left = pairs.join(present.rename({side: "left"}), on=[*by, "left"], nulls_equal=True)
    return left.join(
        present.rename({side: "right"}), on=[*by, "right", *names], how="semi", nulls_equal=True
    )


class Sides(NamedTuple):
    """The sides of all pairs.

    Attributes:
        table: The keys of each side, its pair, its number `GROUP`, and if it is a whole system.
        contents: A number for the content of each side; equal content, equal number.
        shared: Number of clusters that the sides of each pair share.
    """

    table: pl.DataFrame
    contents: Ints
    shared: Ints

    @classmethod
    def of(
        cls, present: pl.DataFrame, pairs: pl.DataFrame, by: list[str], side: str, names: list[str]
    ) -> Sides:
        """The sides of pairs, of the clusters `names` that systems have."""
        shared, *sizes = shared_counts(present, pairs, by, side, names)
        contents = -1 - np.arange(2 * len(pairs))
        systems = present.select(*by, side).unique().sort(*by, side)
        tables = []
        for offset, (name, size) in enumerate(zip(("left", "right"), sizes, strict=True)):
            part = pairs.with_row_index(":pair").select(*by, pl.col(name).alias(side), ":pair")
            system = _places(part, systems, [*by, side])
            whole = (shared > 0) & (shared == size)
            contents[offset::2] = np.where(whole, system, contents[offset::2])
            number = (pl.col(":pair") * 2 + offset).alias(GROUP)
            tables.append(part.with_columns(number, pl.Series(":whole", whole)))
        return cls(pl.concat(tables), contents, shared)

    def of_pairs(self, chosen: Bools) -> Sides:
        """The sides of some pairs."""
        pairs = pl.Series(np.flatnonzero(chosen)).implode()
        return self._replace(table=self.table.filter(pl.col(":pair").is_in(pairs)))

    def first(self) -> Sides:
        """The first side of each content, of those in the table."""
        numbers = np.sort(self.table[GROUP].to_numpy())
        _, first = np.unique(self.contents[numbers], return_index=True)
        kept = pl.Series(numbers[first]).implode()
        return self._replace(table=self.table.filter(pl.col(GROUP).is_in(kept)))

    def reduced(self) -> pl.DataFrame:
        """The sides that are no whole systems, of pairs that share clusters."""
        pair = pl.Series(np.flatnonzero(self.shared)).implode()
        return self.table.filter(~pl.col(":whole"), pl.col(":pair").is_in(pair))

    def rows(
        self, table: pl.DataFrame, shared: pl.DataFrame, by: list[str], side: str, names: list[str]
    ) -> pl.DataFrame:
        """The rows of the sides, numbered by `GROUP`; `shared` are the clusters of pairs."""
        whole = self.table.filter(":whole").drop(":pair", ":whole")
        part = self.table.filter(~pl.col(":whole")).join(shared.select(*names, ":pair"), on=":pair")
        rows = [
            table.join(whole, on=[*by, side], nulls_equal=True),
            table.join(part.drop(":pair", ":whole"), on=[*by, side, *names], nulls_equal=True),
        ]
        return pl.concat(rows).drop(*by, side)


def shared_counts(
    present: pl.DataFrame, pairs: pl.DataFrame, by: list[str], side: str, names: Sequence[str]
) -> tuple[Ints, Ints, Ints]:
    """For each pair how many of `names` both sides have, the left one, and the right one."""
    from scipy import sparse

    # Systems by clusters, once for each of `by`: the product with itself counts what any two have
    # in common, without a row for each pair and cluster.
    systems = present.select(*by, side).unique().sort(*by, side)
    clusters = present.select(*by, *names).unique().with_row_index(":number")
    number = present.join(
        clusters, on=[*by, *names], how="left", nulls_equal=True, maintain_order="left"
    )[":number"]
    place = _places(present, systems, [*by, side]), number.to_numpy()
    shape = len(systems), len(clusters)
    matrix = sparse.csr_matrix((np.ones(len(present), dtype=np.int64), place), shape)
    common, sizes = (matrix @ matrix.T).tocsr(), np.append(matrix.sum(axis=1).A1, 0)
    left, right = (
        _places(pairs.select(*by, pl.col(name).alias(side)), systems, [*by, side])
        for name in ("left", "right")
    )
    known = (left >= 0) & (right >= 0)
    shared = np.zeros(len(pairs), dtype=np.int64)
    if known.any():
        shared[known] = np.asarray(common[left[known], right[known]]).ravel()
    return shared, sizes[left], sizes[right]


def _places(table: pl.DataFrame, systems: pl.DataFrame, keys: list[str]) -> Ints:
    """The number of the system of each row, -1 if there is none."""
    numbered = systems.with_row_index(":place")
    rows = table.select(keys).join(
        numbered, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    return rows[":place"].cast(pl.Int64).fill_null(-1).to_numpy()


def boards_of(contents: Ints) -> pl.Series:
    """For each side a number that sides of the same pair and of the same content have in common."""
    from scipy import sparse

    _, which = np.unique(contents, return_inverse=True)
    size = int(which.max()) + 1
    edges = np.ones(len(which) // 2), (which[0::2], which[1::2])
    graph = sparse.csr_matrix(edges, shape=(size, size))
    _, boards = sparse.csgraph.connected_components(graph, directed=False)
    return pl.Series(boards[which], dtype=pl.Int64)
