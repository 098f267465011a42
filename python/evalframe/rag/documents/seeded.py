"""A seeded order of documents that does not depend on other items, nor on the noise rate.

Every draw is a hash of the seed, the item's data set and id, and what is drawn. So an item is
shown the same documents in any table, and at a higher noise rate the same noise and more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core import segments
from evalframe.rag.documents.places import NEGATIVE, POSITIVE, WRONG, Places, within

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from evalframe.core.segments import Ints

    Keys: TypeAlias = npt.NDArray[np.uint64]

_ORDERED = 1 << 32
"""The draw that orders documents: no list is so long that a draw from it has this number."""


def seeded_order(rows: pl.DataFrame, *, seed: int) -> Places:
    """The documents of all rows, drawn at random.

    All passages of a list are equally likely, of `_int` those of a group; as in the original, its
    groups are gone through in turn, one passage of each at a time. The unaltered passages of
    `_fact` come first in the drawn order and the wrong ones after them, so that none is both.

    Args:
        rows: `dataset`, `id`, `n_negative`, `group_sizes` (of other data sets than `_int` that of
            their only group) and the counts, 0 for what does not apply.
        seed: Of all draws.
    """
    import numpy as np

    from evalframe.resample.draws import stable_hash

    names = rows.select(pl.concat_str("dataset", pl.lit("\0"), "id", ignore_nulls=True))
    items = stable_hash(names.to_series())
    n_pos, n_correct, n_wrong, n_neg = (
        rows[name].to_numpy() for name in ("n_pos", "n_correct", "n_wrong", "n_neg")
    )

    groups = rows["group_sizes"].list.len().fill_null(0).to_numpy().astype(np.int64)
    sizes = rows["group_sizes"].explode(empty_as_null=False, keep_nulls=False).to_numpy()
    starts = segments.starts_of(groups)
    shown = n_pos + n_correct + n_wrong
    taken = _in_turn(sizes, starts, shown)
    owner = np.repeat(np.arange(len(rows)), groups)
    drawn = _drawn(items[owner] + within(groups).astype(np.uint64), sizes, taken, seed=seed)
    before = segments.starts_of(sizes)
    before = before[:-1] - before[starts[owner]]  # passages of the row's groups before this one
    positive = np.repeat(before, taken) + drawn
    wrong = (within(shown) >= np.repeat(n_correct, shown)) & np.repeat(n_wrong > 0, shown)

    negative = _drawn(items - np.uint64(1), rows["n_negative"].to_numpy(), n_neg, seed=seed)
    source = np.concatenate([np.where(wrong, WRONG, POSITIVE), np.full(len(negative), NEGATIVE)])
    place = np.concatenate([positive, negative])
    row = np.arange(len(rows))
    owner = np.concatenate([np.repeat(row, shown), np.repeat(row, n_neg)])
    # A passage stands in the same order with others whether it is shown altered or not.
    which = (2 * place + (source == NEGATIVE)).astype(np.uint64)
    order = _ordered(owner, items[owner] + which, seed=seed)
    return Places(source=source[order], place=place[order])


def _in_turn(sizes: Ints, starts: Ints, shown: Ints) -> Ints:
    """How many passages of each group are taken: one of each in turn, until enough are.

    Args:
        sizes: Of the groups.
        starts: Of the rows' groups.
        shown: How many passages of all groups of a row are to be taken, no more than it has.
    """
    import numpy as np

    taken = np.zeros(len(sizes), dtype=np.int64)
    left = shown.copy()
    groups = np.diff(starts)
    while left.any():
        has_more = sizes > taken
        before = segments.starts_of(has_more)
        turn = before[:-1] - np.repeat(before[starts[:-1]], groups)
        takes = has_more & (turn < np.repeat(left, groups))
        taken += takes
        left -= np.diff(segments.starts_of(takes)[starts])
    return taken


def _drawn(keys: Keys, sizes: Ints, taken: Ints, *, seed: int) -> Ints:
    """Places drawn from lists without replacement, in the order drawn, list by list.

    The first steps of a Fisher-Yates shuffle of all lists at once. The more are taken, the longer
    is the shuffle, but its beginning stays.

    Args:
        keys: One for each list; equal keys draw equally.
        sizes: Lengths of the lists.
        taken: How many to draw from each list, no more than it has.
        seed: Of the draws.
    """
    import numpy as np

    from evalframe.resample.draws import uniform_draws

    places, starts = within(sizes), segments.starts_of(sizes)[:-1]
    for step in range(taken.max(initial=0)):
        lists = np.flatnonzero(taken > step)
        uniform = uniform_draws(seed, step, 1, keys[lists])[0]
        here = starts[lists] + step
        there = here + (uniform * (sizes[lists] - step)).astype(np.int64)
        places[here], places[there] = places[there], places[here]
    drawn: Ints = places[np.repeat(starts, taken) + within(taken)]
    return drawn


def _ordered(owner: Ints, keys: Keys, *, seed: int) -> Ints:
    """The order by owner and, among the documents of one, at random.

    Owner and the upper half of a random number in one integer sort faster than the two do; of
    equal halves the first stays first, whatever else there is.
    """
    import numpy as np

    from evalframe.resample.draws import uniform_draws

    uniform = uniform_draws(seed, _ORDERED, 1, keys)[0]
    half = (uniform * 2.0**32).astype(np.uint64)
    order: Ints = np.argsort((owner.astype(np.uint64) << np.uint64(32)) | half, kind="stable")
    return order
