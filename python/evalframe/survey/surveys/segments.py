"""Names of segments: categories, ids made of values, and the aliases of old rounds."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr

CATEGORIES: Mapping[str, str] = {
    "ageGroup": "Age",
    "gender": "Gender",
    "environment": "Environment",
    "aiConcern": "AI Concern",
    "religion": "Religion",
    "country": "Country",
}
"""The categories of dtef-app with their labels; the label of another category is its name."""

LEGACY: Mapping[str, str] = dict(zip(("O2", "O3", "O4", "O5", "O6", "O7"), CATEGORIES, strict=True))
"""The prefixes of old rounds with their categories."""

LABELS: Mapping[str, str] = {
    **CATEGORIES,
    **{old: CATEGORIES[name] for old, name in LEGACY.items()},
}
"""Categories and prefixes with their labels."""

_IDS = {"country:t-rkiye": "country:turkey"}
_VALUES = {"Türkiye": "Turkey"}


def slug(value: IntoExpr) -> pl.Expr:
    """A value as part of the id of a segment.

    In lower case; each run of characters other than `a` to `z` and `0` to `9` becomes one `-`, and
    a `-` at the end is dropped, as in dtef-app 52d79c0.

    Args:
        value: Text.

    Returns:
        String, under the name of the value; null if it is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"value": ["65+", "Türkiye"]}).select(ef.survey.slug("value")).rows()
        [('65',), ('t-rkiye',)]
    """
    lower = as_expr(value).cast(pl.String).str.to_lowercase()
    return lower.str.replace_all(r"[^a-z0-9]+", "-").str.strip_chars_end("-")


def segment_id(attribute: IntoExpr, value: IntoExpr) -> pl.Expr:
    """The id of a segment with one attribute, `attribute:slug`.

    Args:
        attribute: Its category.
        value: Its value.

    Returns:
        `segment_id` (String), null if an argument is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.survey.segment_id(pl.lit("ageGroup"), pl.lit("65+"))).item()
        'ageGroup:65'
    """
    parts = pl.concat_str(as_expr(attribute).cast(pl.String), slug(value), separator=":")
    return parts.alias("segment_id")


def canonical_id(segment_id: IntoExpr = "segment_id") -> pl.Expr:
    """Ids of segments with former names replaced.

    Args:
        segment_id: Ids of segments.

    Returns:
        String, under the name of the column; null without an id.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.survey.canonical_id(pl.lit("country:t-rkiye"))).item()
        'country:turkey'
    """
    return as_expr(segment_id).cast(pl.String).replace(_IDS)


def canonical_value(value: IntoExpr) -> pl.Expr:
    """Values and labels of segments with former names replaced.

    Args:
        value: Values, or labels.

    Returns:
        String, under the name of the column; null without a value.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.survey.canonical_value(pl.lit("Türkiye"))).item()
        'Turkey'
    """
    return as_expr(value).cast(pl.String).replace(_VALUES)


def category(segment_id: IntoExpr = "segment_id") -> pl.Expr:
    """The category of a segment: the text before the first `:` of its id.

    Args:
        segment_id: Ids of segments.

    Returns:
        `segment_attribute` (String): `Age` for `Age:18-29`. The prefixes O2 to O7 of old rounds of
        the Global Dialogues are replaced by their categories, see `CATEGORIES`. Null for ids
        without `:`, or with an empty prefix.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> ids = pl.DataFrame({"segment_id": ["Age:18-29", "O7:kenya", "young"]})
        >>> ids.select(ef.survey.category()).to_series().to_list()
        ['Age', 'country', None]
    """
    prefix = as_expr(segment_id).cast(pl.String).str.extract(r"^([^:]+):")
    return prefix.replace(LEGACY).alias("segment_attribute")
