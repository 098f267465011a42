"""Places of passages in the lists of their row, in flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalframe.core import segments

if TYPE_CHECKING:
    from evalframe.core.segments import Ints

POSITIVE, NEGATIVE, WRONG = 0, 1, 2
"""The lists that passages come from."""


class Places(NamedTuple):
    """The documents of all rows, row by row, each row's in their order.

    Attributes:
        source: The list a document comes from.
        place: Where it stands in its row's list, those of all groups counted through.
    """

    source: Ints
    place: Ints


def within(lengths: Ints) -> Ints:
    """0, 1, 2, ... within consecutive segments of these lengths."""
    import numpy as np

    starts = segments.starts_of(lengths)
    return np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
