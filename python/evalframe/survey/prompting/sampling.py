"""Samples that a text seeds, the same in every program that draws them in this way."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    T = TypeVar("T")

_32_BITS = 0xFFFFFFFF


def seeded_sample(items: Sequence[T], take: int, seed: str) -> list[T]:
    """A sample of items without replacement; all of them in their order if all are taken.

    It is the beginning of a Fisher-Yates shuffle by the generator mulberry32, whose state is the
    hash `31 h + c` of the UTF-16 code units of the seed.

    Args:
        items: The items to draw from.
        take: Number of items.
        seed: Any text, such as the id of a segment.

    References:
        dtef-app 52d79c0.

    Example:
        >>> seeded_sample(range(10), 3, "ageGroup:18-25")
        [9, 0, 5]
    """
    sample = list(items)
    if take >= len(sample):
        return sample
    for index, draw in zip(range(take), _draws(_hash(seed)), strict=False):
        other = index + int(draw * (len(sample) - index))
        sample[index], sample[other] = sample[other], sample[index]
    return sample[:take]


def shuffled(items: Sequence[T], seed: str) -> list[T]:
    """All items in the random order of `seeded_sample`."""
    if not items:
        return []
    most = seeded_sample(items, len(items) - 1, seed)
    used = seeded_sample(range(len(items)), len(items) - 1, seed)
    return [*most, *(item for index, item in enumerate(items) if index not in {*used})]


def _hash(text: str) -> int:
    units = text.encode("utf-16-le", "surrogatepass")
    code = 0
    for low, high in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & _32_BITS
    return code


def _draws(state: int) -> Iterator[float]:
    """Numbers from 0 to below 1."""
    while True:
        state = (state + 0x6D2B79F5) & _32_BITS
        mixed = (state ^ state >> 15) * (state | 1) & _32_BITS
        mixed ^= (mixed + (mixed ^ mixed >> 7) * (mixed | 61)) & _32_BITS
        yield (mixed ^ mixed >> 14) / 2**32
