"""What became of each response: a vector of the right length, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.parsing.characters import is_blank, text_where
from evalframe.survey.parsing.documented import documented_vectors
from evalframe.survey.parsing.ladder import VECTOR
from evalframe.survey.parsing.reference import reference_vectors

if TYPE_CHECKING:
    from evalframe.core.rules import Rules

PARSED = {"predicted": VECTOR, "status": pl.String(), "parse_rule": pl.String()}
"""The columns that `parse` adds."""

ERROR_MARKER = "<<error>>"
"""What a runner writes where no response was generated."""


def parsed(rows: pl.Series, rules: Rules) -> pl.Series:
    """Vector, status and rule of each response.

    Args:
        rows: Structs of text, n, key and, for documented rules, perhaps options.
        rules: Whose rules.
    """
    frame = rows.struct.unnest()
    text = pl.col("text")
    marked = text.str.contains(ERROR_MARKER, literal=True)
    generated = frame.select((~marked).fill_null(value=False)).to_series()
    known = (frame["n"] >= 1).fill_null(value=False)
    find = reference_vectors if rules == "reference" else documented_vectors
    found = find(frame.filter(generated & known))
    made = frame.select("text", "n").with_columns(_expanded(found, generated & known))
    unsettled = pl.col("predicted").is_null()
    failed = ~pl.lit(generated)
    if rules == "documented":
        failed |= unsettled & is_blank(text_where(unsettled))
    fits = pl.col("predicted").list.len() == pl.col("n")
    status = (
        pl.when(failed)
        .then(pl.lit("failed"))
        .when(~pl.lit(known))
        .then(None)
        .when(unsettled)
        .then(pl.lit("unparsed"))
        .when(fits)
        .then(pl.lit("ok"))
        .otherwise(pl.lit("length_mismatch"))
    )
    made = made.with_columns(status=status)
    # By documented rules a vector of another length is told, but not kept.
    if rules == "documented" and (made["status"] == "length_mismatch").any():
        made = made.with_columns(pl.when(fits).then("predicted"))
    return made.select("predicted", "status", "parse_rule").to_struct()


def _expanded(found: pl.DataFrame, where: pl.Series) -> pl.DataFrame:
    """The rows found, at these places, null at all others."""
    if where.all():
        return found
    place = (where.cum_sum().cast(pl.Int64) - 1).set(~where, None)
    return found.select(pl.all().gather(place))
