"""The common forms, `DISTRIBUTION: [60, 40]` and `[60, 40]`, read without capturing regexes."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import text_where
from evalframe.survey.parsing.ladder import VECTOR

_MARKER = "DISTRIBUTION: ["
_ANY_MARKER = "(?i-u:distribution)"
_TWO_BRACKETS = r"(?s)\[.*\["


def common_forms(rows: pl.DataFrame, *, only: bool = False) -> pl.DataFrame:
    """`predicted` and `parse_rule` of responses whose first bracket has a common form.

    That is the bracket of `DISTRIBUTION: [60, 40]`, or `[60, 40]` in a text without a marker in any
    case. There is but one way to read it if each piece between `, ` is a finite number and nothing
    else; a piece that is no number is null.

    Args:
        rows: Responses, in `text`.
        only: Whether no other bracket may stand in the text.
    """
    text, opened, closed, marker = (pl.col(name) for name in ("text", "opened", "closed", "marker"))
    places = rows.select(
        "text",
        opened=text.str.find("[", literal=True),
        closed=text.str.find("]", literal=True),
        marker=text.str.find(_MARKER, literal=True),
    )
    paired = opened < closed
    bare = marker.is_null() & ~text_where(marker.is_null() & paired).str.contains(_ANY_MARKER)
    marked = marker + (len(_MARKER) - 1) == opened
    if only:
        paired &= ~text.str.contains(_TWO_BRACKETS)
    # Columns of their own, as an expression is evaluated anew wherever it stands.
    forms = places.with_columns(
        parse_rule=pl.when(marked).then(pl.lit("marker")).when(bare).then(pl.lit("bracket")),
        opened=pl.when(paired).then(opened),
    )
    begin = pl.when(pl.col("parse_rule").is_not_null()).then(opened + 1)
    inside = text.cast(pl.Binary).bin.slice(begin, closed - opened - 1).cast(pl.String)
    return forms.select(
        inside.str.split(", ").cast(VECTOR, strict=False).alias("predicted"), "parse_rule"
    )
