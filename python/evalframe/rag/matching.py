"""Texts against groups of aliases: flat pairs, literal search, flags by group and by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from evalframe.core import segments

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints

Codes: TypeAlias = npt.NDArray[np.int8]

UNKNOWN = -2
"""The code of a group that is null or contains a null."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of consecutive rows, flat.

    Args:
        row_starts: Start of each row in the groups, and the number of groups.
        group_starts: Start of each group in the aliases, and the number of aliases.
        row: The row of each alias.
        aliases: All aliases.
        unknown: True for groups that are null or contain a null.
    """

    row_starts: Ints
    group_starts: Ints
    row: Ints
    aliases: pl.Series
    unknown: Bools

    @classmethod
    def of(cls, answers: pl.Series) -> Groups:
        """The groups of a column of List(List(String)) without nulls."""
        groups = answers.explode(empty_as_null=False)
        row_starts = segments.starts_of(answers.list.len().to_numpy())
        aliases = groups.explode(empty_as_null=False, keep_nulls=False)
        sizes = groups.list.len().fill_null(0).to_numpy()
        group_starts = segments.starts_of(sizes)
        row = np.repeat(np.repeat(np.arange(len(answers)), np.diff(row_starts)), sizes)
        unknown = groups.is_null().to_numpy() | holds(aliases.is_null().to_numpy(), group_starts)
        return cls(row_starts, group_starts, row, aliases, unknown)

    @property
    def group(self) -> Ints:
        """The group of each alias."""
        return np.repeat(np.arange(len(self.unknown)), np.diff(self.group_starts))


def contains(texts: pl.Series, parts: pl.Series) -> Bools:
    """True if a text contains its part literally; False if either is null."""
    pairs = pl.DataFrame({"text": texts, "part": parts})
    hits = pairs.select(pl.col("text").str.contains(pl.col("part"), literal=True)).to_series()
    return hits.fill_null(value=False).to_numpy()


def holds_any(phrases: Sequence[str], text: str = "response") -> pl.Expr:
    """True if the text contains one of the phrases as written."""
    return pl.any_horizontal(pl.col(text).str.contains(p, literal=True) for p in phrases)


def holds(flags: Bools, starts: Ints) -> Bools:
    """True for segments with a flag that is set."""
    count = segments.starts_of(flags)
    return count[starts[1:]] > count[starts[:-1]]


def changed(texts: pl.Series, where: Bools, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The texts, some of them changed."""
    return replaced(texts, where, change(texts.filter(where))) if where.any() else texts


def replaced(texts: pl.Series, where: Bools, others: pl.Series) -> pl.Series:
    """The texts, some of them replaced by others in the same order."""
    index = np.arange(len(texts))
    index[where] = len(texts) + np.arange(len(others))
    return pl.concat([texts, others]).gather(index)


def expanded(values: pl.Series, where: Bools) -> pl.Series:
    """The values at these rows, null at all others."""
    return values.gather(pl.Series(np.cumsum(where) - 1).set(pl.Series(~where), None))


def once_each(texts: pl.Series, row: Ints, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The changed text of each of these rows; each text is changed once, if at all."""
    used = np.zeros(len(texts), dtype=np.bool_)
    used[row] = True
    return change(texts.filter(used)).gather((np.cumsum(used) - 1)[row])


def labels_of(codes: Codes, groups: Groups, is_searched: Bools, rejected: Bools) -> pl.Series:
    """1 or 0 for each group, [-1] for a rejection, null if a group is unknown."""
    sizes = np.diff(groups.row_starts)
    answered = ~rejected[is_searched]
    lengths, valid = rejected.astype(np.int64), rejected.copy()
    lengths[is_searched & ~rejected] = sizes[answered]
    valid[is_searched & ~rejected] = ~holds(codes == UNKNOWN, groups.row_starts)[answered]
    values = np.full(lengths.sum(), -1, dtype=np.int8)
    values[np.repeat(~rejected, lengths)] = codes[np.repeat(answered, sizes)] > 0
    return segments.listed(values, lengths, valid)
