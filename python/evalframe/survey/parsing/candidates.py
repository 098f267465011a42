"""Candidates for an answer, and which of them counts by documented rules.

A frame of candidates has `row` (of the table they were found in) and `vector` (List(Float64), null
for a number that cannot be told), in the order of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.survey.parsing.ladder import VECTOR, per_row

if TYPE_CHECKING:
    from collections.abc import Callable

    Finder: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]

Length: TypeAlias = Literal["right", "other"]
"""Whether vectors of the right length are looked for, or those of any other."""

SLACK = 0.1
"""How far a sum may be from 100, or from 1, relatively: whole percentages of many options."""


def last_accepted(
    rows: pl.DataFrame, *, find: Finder, length: Length, marked: bool = False, agreed: bool = False
) -> pl.Series:
    """The last candidate of each row that counts as a distribution, or null.

    Args:
        rows: What `find` reads: `text` and `n`, the number of options.
        find: Gives the candidates.
        length: Which length they must have.
        marked: Whether the text says that this is the answer. Then one number is a vector, and
            if its length is another its sum may be anything.
        agreed: Whether there is none unless all that count are the same.
    """
    found = find(rows)
    if found.is_empty():
        return found["vector"].clear(len(rows))
    n = rows["n"].gather(found["row"])
    counts = found.filter(accepted(found["vector"], n, length=length, marked=marked))
    if agreed:
        counts = counts.unique(["row", "vector"], maintain_order=True)
        counts = counts.filter(pl.len().over("row") == 1)
    last = counts.unique("row", keep="last", maintain_order=True)
    return per_row(last, len(rows))["vector"]


def accepted(
    vectors: pl.Series, n: pl.Series, *, length: Length = "right", marked: bool = False
) -> pl.Series:
    """Whether each counts: all finite, none negative, and a sum of about 100 or 1.

    Args:
        vectors: The candidates, or null.
        n: How many options there are.
        length: Which length they must have.
        marked: Whether the text says that this is the answer.
    """
    vector, size = pl.col("vector"), pl.col("size")
    # Columns of their own, as an expression is evaluated anew wherever it stands.
    told = pl.DataFrame({"vector": vectors, "n": n}).select(
        "n",
        size=vector.list.len(),
        total=vector.list.sum(),
        sound=vector.list.eval(_is_share()).list.all(),
    )
    plausible = _is_plausible(pl.col("total"), size)
    sound = pl.col("sound") & (size > 0)
    if length == "right":
        counts = sound & (size == pl.col("n")) & plausible
    elif marked:
        counts = sound & (size != pl.col("n"))
    else:
        counts = sound & (size != pl.col("n")) & (size > 1) & plausible
    return told.select(counts.fill_null(value=False)).to_series()


def no_candidates() -> pl.DataFrame:
    """None at all."""
    return pl.DataFrame(schema={"row": pl.Int64(), "vector": VECTOR})


def _is_share() -> pl.Expr:
    return (pl.element().is_finite() & (pl.element() >= 0)).fill_null(value=False)


def _is_plausible(total: pl.Expr, size: pl.Expr) -> pl.Expr:
    """Percentages or fractions; a single 1 is more likely a citation."""
    percent = total.is_between(100 * (1 - SLACK), 100 * (1 + SLACK))
    return percent | (total.is_between(1 - SLACK, 1 + SLACK) & (size > 1))
