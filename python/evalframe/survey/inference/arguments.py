"""What the tests of this package ask of their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import IntoExpr


def shared_keys(on: IntoExpr | Sequence[IntoExpr]) -> list[pl.Expr]:
    """The columns that say what was answered.

    Raises:
        ParameterError: There are none.
    """
    keys = [as_expr(key) for key in ([on] if isinstance(on, str | pl.Expr) else on)]
    if not keys:
        raise ParameterError("on is empty; name what was answered, such as question_id")
    return keys


def check_draws(n: int, seed: int, level: float | None = None) -> None:
    """Raise where a number of draws, a seed or a level is none.

    Raises:
        ParameterError: It names which, and its domain.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ParameterError(f"n must be a whole number of draws, 1 or more, got {n!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be a whole number, 0 or more, got {seed!r}")
    if level is not None and not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level!r}; usual is 0.95")
