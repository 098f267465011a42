"""Tokens of texts, and tokens that are left for context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr

Tokens: TypeAlias = Literal["characters"] | Callable[[pl.Series], pl.Series]
"""Four characters as one token, or a function of a column of texts."""

BUDGET = 4096
"""Tokens of a prompt, its system prompt and its response."""

RESERVES = {"standard": 256, "cot": 1024}
"""Tokens that are kept for the response, without and with reasoning before it."""

_TWO_UNITS = r"[\x{10000}-\x{10FFFF}]"


def estimate_tokens(text: IntoExpr) -> pl.Expr:
    """The tokens of a text, at four UTF-16 code units to one, rounded up.

    Args:
        text: The text.

    Returns:
        Int64, under the name of the text; null where it is null.

    References:
        The estimate is that of dtef-app 52d79c0.

    Example:
        >>> texts = pl.DataFrame({"text": ["", "abcde", "😀" * 3]})
        >>> texts.select(estimate_tokens("text")).to_series().to_list()
        [0, 2, 2]
    """
    return utf16_units(text).add(3).floordiv(4)


def utf16_units(text: IntoExpr) -> pl.Expr:
    """The length of a text in UTF-16: characters beyond the basic plane count twice."""
    text = as_expr(text)
    return (text.str.len_chars() + text.str.count_matches(_TWO_UNITS)).cast(pl.Int64)


def counted(strings: pl.Series, tokens: Tokens) -> pl.Series:
    """The tokens of each text, as Int64."""
    if tokens == "characters":
        return pl.select(estimate_tokens(pl.lit(strings))).to_series()
    if not callable(tokens):
        raise ParameterError(f'tokens is "characters" or a function of a column, not {tokens!r}')
    numbers = tokens(strings)
    if not (
        isinstance(numbers, pl.Series)
        and numbers.dtype.is_integer()
        and len(numbers) == len(strings)
    ):
        result = (
            f"a column of {numbers.dtype}" if isinstance(numbers, pl.Series) else repr(numbers)[:40]
        )
        raise ParameterError(
            f"tokens must return a column of whole numbers, one for each of {len(strings):,} texts,"
            f" but returned {result}"
        )
    return numbers.cast(pl.Int64)


def available_tokens(
    system: IntoExpr, core: IntoExpr, *, budget: int = BUDGET, reserve: int = RESERVES["standard"]
) -> pl.Expr:
    """The tokens that are left for context.

    Args:
        system: Tokens of the system prompt.
        core: Tokens of the prompt without context.
        budget: Tokens of everything together.
        reserve: Tokens reserved for the response.

    Returns:
        Int64, 0 if the other parts fill the budget.

    References:
        dtef-app 52d79c0.

    Example:
        >>> pl.select(available_tokens(pl.lit(52), pl.lit(225), budget=1024)).item()
        491
    """
    left = budget - as_expr(system) - as_expr(core) - reserve
    return left.clip(0).cast(pl.Int64).alias("available")


def fitting(cost: IntoExpr, available: IntoExpr) -> pl.Expr:
    """True for each item of context that fits, with all before it; the first that does not ends it.

    Args:
        cost: Tokens of the items, in their order.
        available: The tokens that are left for context.

    Returns:
        `fits` (Boolean). Use it with `over` for several prompts.

    Example:
        >>> items = pl.DataFrame({"cost": [3, 4, 2]})
        >>> items.select(fitting("cost", pl.lit(6))).to_series().to_list()
        [True, False, False]
    """
    return (as_expr(cost).cast(pl.Int64).cum_sum() <= as_expr(available)).alias("fits")
