"""What is made of draws by arithmetic that IEEE defines to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]


def squash(x: Array) -> Array:
    """The real line onto (0, 1), rising, without the exponential, whose last bit varies."""
    import numpy as np

    squashed: Array = (1 + x / np.sqrt(2 + x * x)) / 2
    return squashed


def grade(x: Array, top: int) -> Array:
    """The nearest of the grades 0 to top; adding 0.0 turns a negative zero into zero."""
    import numpy as np

    return np.clip(np.rint(x), 0, top) + 0.0
