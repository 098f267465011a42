"""Documents as positions of passages: the seeded order, and the lists of documents themselves.

An order arranges whole columns at a time, in flat arrays. Every draw of the seeded order is a hash
of the seed, the item's data set and id, and the number of the draw. So an item gets the same
documents in any table, and at a higher noise rate the same noise and more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from evalframe.core import segments
from evalframe.resample.draws import stable_hash, uniform_draws

if TYPE_CHECKING:
    from evalframe.core.segments import Ints

Keys: TypeAlias = npt.NDArray[np.uint64]

POSITIVE, NEGATIVE, WRONG = 0, 1, 2
"""The lists that passages come from."""

_ORDERED = 1 << 32
"""Number of the draw that orders documents; no list is so long that its draws reach it."""


class Places(NamedTuple):
    """For each document, row by row, its list and its position there, across all groups."""

    source: Ints
    place: Ints


class Order(NamedTuple):
    """A way to arrange documents: its name, the columns it reads, and the function.

    The function takes a table and a seed. The table has `dataset`, `id`, `n_negative`, the counts
    (0 if they do not apply) and `group_sizes`, with one group for data sets other than `_int`.
    """

    name: str
    columns: Sequence[str]
    arrange: Callable[[pl.DataFrame, int], Places]


def within(lengths: Ints) -> Ints:
    """0, 1, 2, ... within consecutive segments of these lengths."""
    starts = segments.starts_of(lengths)
    return np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)


def documents_of(lists: Sequence[pl.Series], places: Places, lengths: Ints) -> pl.Series:
    """Lists of this many documents from the positive, negative and wrong passages of each row.

    Null if a passage among them is null.
    """
    flat = [_flat(passages) for passages in lists]
    sizes = np.array([len(passages) for passages, _ in flat], dtype=np.int64)
    first = np.stack([starts[:-1] for _, starts in flat])
    first += segments.starts_of(sizes)[:-1, None]
    pool = pl.concat([passages for passages, _ in flat], rechunk=False)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    documents = pool.gather(first[places.source, owner] + places.place)
    valid = np.ones(len(lengths), dtype=np.bool_)
    if documents.null_count():
        valid[owner[documents.is_null().to_numpy()]] = False
    return segments.listed(documents, lengths, valid)


def _flat(lists: pl.Series) -> tuple[pl.Series, Ints]:
    """All passages of a column of lists or of lists of groups, and the start of each row."""
    starts = segments.starts_of(lists.list.len().fill_null(0).to_numpy())
    inner = lists.explode(empty_as_null=False, keep_nulls=False)
    if isinstance(inner.dtype, pl.List):
        passages, first = _flat(inner)
        return passages, first[starts]
    return inner, starts


def _seeded(rows: pl.DataFrame, seed: int) -> Places:
    """Draw the documents of all rows.

    All passages of a list are equally likely; for `_int` those of a group, whose groups take turns.
    The unaltered passages of `_fact` come first in the drawn order and the wrong ones after them,
    so that no passage is shown in both forms.
    """
    names = rows.select(pl.concat_str("dataset", pl.lit("\0"), "id", ignore_nulls=True))
    items = stable_hash(names.to_series())
    n_pos, n_correct, n_wrong, n_neg = (
        rows[name].to_numpy() for name in ("n_pos", "n_correct", "n_wrong", "n_neg")
    )

    groups = rows["group_sizes"].list.len().fill_null(0).to_numpy().astype(np.int64)
    sizes = rows["group_sizes"].explode(empty_as_null=False, keep_nulls=False).to_numpy()
    starts = segments.starts_of(groups)
    n_first = n_pos + n_correct + n_wrong
    counts = _in_turn(sizes, starts, n_first)
    owner = np.repeat(np.arange(len(rows)), groups)
    positions = _drawn(items[owner] + within(groups).astype(np.uint64), sizes, counts, seed=seed)
    before = segments.starts_of(sizes)
    before = before[:-1] - before[starts[owner]]  # passages of the row's groups before this one
    positive = np.repeat(before, counts) + positions
    wrong = (within(n_first) >= np.repeat(n_correct, n_first)) & np.repeat(n_wrong > 0, n_first)

    negative = _drawn(items - np.uint64(1), rows["n_negative"].to_numpy(), n_neg, seed=seed)
    source = np.concatenate([np.where(wrong, WRONG, POSITIVE), np.full(len(negative), NEGATIVE)])
    place = np.concatenate([positive, negative])
    row = np.arange(len(rows))
    owner = np.concatenate([np.repeat(row, n_first), np.repeat(row, n_neg)])
    # The order of a passage does not depend on whether it is shown altered.
    which = (2 * place + (source == NEGATIVE)).astype(np.uint64)
    order = _ordered(owner, items[owner] + which, seed=seed)
    return Places(source=source[order], place=place[order])


def _in_turn(sizes: Ints, starts: Ints, n_first: Ints) -> Ints:
    """Passages to draw from each group: one of each in turn, until a row has enough.

    `starts` are those of the rows in the groups; a row shows no more passages than it has.
    """
    counts = np.zeros(len(sizes), dtype=np.int64)
    left = n_first.copy()
    groups = np.diff(starts)
    while left.any():
        has_more = sizes > counts
        before = segments.starts_of(has_more)
        turn = before[:-1] - np.repeat(before[starts[:-1]], groups)
        takes = has_more & (turn < np.repeat(left, groups))
        counts += takes
        left -= np.diff(segments.starts_of(takes)[starts])
    return counts


def _drawn(keys: Keys, sizes: Ints, counts: Ints, *, seed: int) -> Ints:
    """Positions drawn from lists without replacement, in the order drawn, list by list.

    These are the first steps of a Fisher-Yates shuffle of all lists at once, step by step: drawing
    more continues the shuffle and leaves its beginning unchanged. Equal keys draw equally.
    """
    places, starts = within(sizes), segments.starts_of(sizes)[:-1]
    for step in range(counts.max(initial=0)):
        lists = np.flatnonzero(counts > step)
        uniform = uniform_draws(seed, step, 1, keys[lists])[0]
        current = starts[lists] + step
        other = current + (uniform * (sizes[lists] - step)).astype(np.int64)
        places[current], places[other] = places[other], places[current]
    result: Ints = places[np.repeat(starts, counts) + within(counts)]
    return result


def _ordered(owner: Ints, keys: Keys, *, seed: int) -> Ints:
    """Positions sorted by owner, and within an owner at random.

    Owner and the upper half of a random number in one integer sort faster than two keys. The sort
    is stable, so that equal halves do not depend on other rows.
    """
    uniform = uniform_draws(seed, _ORDERED, 1, keys)[0]
    half = (uniform * 2.0**32).astype(np.uint64)
    order: Ints = np.argsort((owner.astype(np.uint64) << np.uint64(32)) | half, kind="stable")
    return order


SEEDED = Order("seeded", ("dataset", "id"), _seeded)
