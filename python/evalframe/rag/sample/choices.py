"""Choices from uniform draws, by arithmetic that IEEE defines to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    T = TypeVar("T")


class Choices:
    """A stream of draws of its own for each key, spent one draw after the other."""

    def __init__(self, *key: int) -> None:
        import numpy as np

        self._draw = np.random.Generator(np.random.PCG64(list(key))).random

    def chance(self, probability: float) -> bool:
        """True as often as this."""
        return self._draw() < probability

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._draw() * (high - low + 1))

    def one(self, options: Sequence[T]) -> T:
        """One of these."""
        return options[self.whole(0, len(options) - 1)]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """So many different ones, in any order."""
        draws = [self._draw() for _ in options]
        return [options[k] for k in sorted(range(len(options)), key=draws.__getitem__)[:count]]
