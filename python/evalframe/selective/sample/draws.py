"""Draws, and what is made of them by arithmetic that IEEE defines to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]


def unit_draws(participants: int, seed: int | list[int], shape: tuple[int, ...]) -> Array:
    """Draws of mean 0 and variance 1, shaped quantity, participant and the rest of the shape.

    A participant's draws are adjacent in the stream, so that later participants leave them be.
    """
    import numpy as np

    if participants < 1:
        raise ParameterError(f"participants is {participants}; a sample needs at least one.")
    if np.min(seed) < 0:
        raise ParameterError(f"seed is {seed}; choose an integer from 0.")
    first, second, third = np.moveaxis(
        np.random.Generator(np.random.PCG64(seed)).random((participants, *shape, 3)), -1, 0
    )
    return np.moveaxis(2 * (first + second + third) - 3, 1, 0)


def squash(x: Array) -> Array:
    """The real line onto (0, 1), rising, without the exponential, whose last bit varies."""
    import numpy as np

    squashed: Array = (1 + x / np.sqrt(2 + x * x)) / 2
    return squashed


def grade(x: Array, top: int) -> Array:
    """The nearest of the grades 0 to top; adding 0.0 turns a negative zero into zero."""
    import numpy as np

    return np.clip(np.rint(x), 0, top) + 0.0
