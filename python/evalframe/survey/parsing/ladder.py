"""Rules tried in turn: only rows that no earlier rule settled go on to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Rule: TypeAlias = Callable[[pl.DataFrame], pl.Series]

VECTOR = pl.List(pl.Float64())

_PLACE = "__place__"


def first_found(
    rows: pl.DataFrame,
    rules: Sequence[tuple[str, Rule]],
    *,
    otherwise: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> pl.DataFrame:
    """The vector of the first rule that finds one, and the name of the rule.

    Args:
        rows: What the rules read.
        rules: Names and rules. A rule gives a vector (List(Float64)) for each row, or null.
        otherwise: Gives vector and name for the rows that no rule settles.

    Returns:
        `predicted` and `parse_rule`, null where nothing is found; a row for each of `rows`.
    """
    # A rule may itself try rules in turn.
    left = rows.drop(_PLACE, strict=False).with_row_index(_PLACE)
    parts: list[pl.DataFrame] = []
    for name, rule in rules:
        if left.is_empty():
            break
        vectors = rule(left)
        found = vectors.is_not_null()
        parts.append(_part(left[_PLACE], vectors, name).filter(found))
        left = left.filter(~found)
    if otherwise is None or left.is_empty():
        nothing = pl.Series([None], dtype=VECTOR).new_from_index(0, len(left))
        parts.append(_part(left[_PLACE], nothing))
    else:
        parts.append(left.select(_PLACE).hstack(otherwise(left.drop(_PLACE))))
    return pl.concat(parts).sort(_PLACE).drop(_PLACE)


def _part(place: pl.Series, vectors: pl.Series, rule: str | None = None) -> pl.DataFrame:
    frame = pl.DataFrame({_PLACE: place, "predicted": vectors})
    return frame.with_columns(parse_rule=pl.lit(rule, dtype=pl.String()))


def per_row(found: pl.DataFrame, rows: int) -> pl.Series:
    """Vectors of some rows as a column with all of them.

    Args:
        found: `row` and `vector`, each row at most once.
        rows: How many rows there are.
    """
    import numpy as np

    place = np.full(rows, -1)
    place[found["row"].to_numpy()] = np.arange(len(found))
    known = pl.Series(place >= 0)
    return found["vector"].cast(VECTOR).gather(pl.Series(place).set(~known, None))
