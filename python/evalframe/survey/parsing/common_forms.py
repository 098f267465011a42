"""The common forms, `DISTRIBUTION: [60, 40]`, `[60, 40]` and `60, 40`, read without captures."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import may_have_references, text_where
from evalframe.survey.parsing.ladder import VECTOR

_MARKER = "DISTRIBUTION: ["
_ANY_MARKER = "(?i-u:distribution)"
_TWO_BRACKETS = r"(?s)\[.*\["
_LIST = r"^[0-9.]+(?:, [0-9.]+)+$"


def common_forms(rows: pl.DataFrame, *, only: bool = False) -> pl.DataFrame:
    """`predicted`, `parse_rule` and `opened` (a byte) if the first bracket has a common form."""
    # That is the bracket of `DISTRIBUTION: [60, 40]`, or `[60, 40]` in a text without a marker in
    # any case; with `only` the text has no other bracket. It can be read in one way only if each
    # piece between `, ` is a finite number; a piece that is not is null.
    text, opened, closed, marker = (pl.col(name) for name in ("text", "opened", "closed", "marker"))
    offsets = rows.select(
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
    forms = offsets.with_columns(
        parse_rule=pl.when(marked).then(pl.lit("marker")).when(bare).then(pl.lit("bracket")),
        opened=pl.when(paired).then(opened),
    )
    begin = pl.when(pl.col("parse_rule").is_not_null()).then(opened + 1)
    inside = text.cast(pl.Binary).bin.slice(begin, closed - opened - 1).cast(pl.String)
    return forms.select(
        inside.str.split(", ").cast(VECTOR, strict=False).alias("predicted"), "parse_rule", "opened"
    )


def last_lists(rows: pl.DataFrame) -> pl.DataFrame:
    """`predicted` and `parse_rule` of a last line `60, 40` with the only numbers of a text."""
    # In plain ASCII without brackets and without a heading of references it can be read in one way
    # only.
    text, begin, listed = pl.col("text"), pl.col("begin"), pl.col("listed")
    offsets = rows.select("text", begin=text.str.find("[0-9]").cast(pl.Int64))
    data = text.cast(pl.Binary)
    lines = offsets.with_columns(
        listed=data.bin.slice(begin).cast(pl.String, strict=False),
        on_own_line=(begin == 0) | (data.bin.slice(begin - 1, 1) == b"\n"),
    )
    marked = lines.with_columns(found=pl.col("on_own_line") & listed.str.contains(_LIST))
    searched = text_where(pl.col("found"))
    plain = searched.str.len_bytes() == searched.str.len_chars()
    one_way = plain & ~searched.str.contains("[", literal=True) & ~may_have_references(searched)
    numbers = pl.when(pl.col("found") & one_way).then(listed).str.split(", ")
    return marked.select(
        numbers.cast(VECTOR, strict=False).alias("predicted"), pl.lit("lines").alias("parse_rule")
    )
