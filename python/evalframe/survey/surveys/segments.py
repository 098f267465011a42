"""Names of segments: categories, ids made of values, and the aliases of old rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalframe.core.typing import IntoExpr

CATEGORIES: Mapping[str, str] = {
    "ageGroup": "Age",
    "gender": "Gender",
    "environment": "Environment",
    "aiConcern": "AI Concern",
    "religion": "Religion",
    "country": "Country",
}
"""The categories of the original program, each with its label; other categories are their own."""

LEGACY: Mapping[str, str] = dict(zip(("O2", "O3", "O4", "O5", "O6", "O7"), CATEGORIES, strict=True))
"""The prefixes of old rounds, each with the category it stands for."""

LABELS: Mapping[str, str] = {
    **CATEGORIES,
    **{old: CATEGORIES[name] for old, name in LEGACY.items()},
}
"""Both with their labels."""

_IDS = {"country:t-rkiye": "country:turkey"}
_VALUES = {"Türkiye": "Turkey"}


def slug(value: IntoExpr) -> pl.Expr:
    """A value as it stands in the id of a segment.

    In lower case, each run of other characters than `a` to `z` and `0` to `9` is one `-`, and none
    is left at the end.

    Args:
        value: Text.

    Returns:
        String, under the name of the value; null where it is null.

    References:
        Slugs are those of dtef-app 52d79c0.

    Example:
        >>> values = pl.DataFrame({"value": ["18-25", "65+", "Türkiye", "Prefer  not"]})
        >>> values.select(slug("value")).to_series().to_list()
        ['18-25', '65', 't-rkiye', 'prefer-not']
    """
    lower = as_expr(value).cast(pl.String).str.to_lowercase()
    return lower.str.replace_all(r"[^a-z0-9]+", "-").str.strip_chars_end("-")


def segment_id(attribute: IntoExpr, value: IntoExpr) -> pl.Expr:
    """The id of a segment of one attribute, `attribute:slug`.

    Args:
        attribute: Its category.
        value: What it is there.

    Returns:
        `segment_id` (String), null where a part is null.

    Example:
        >>> pl.select(segment_id(pl.lit("ageGroup"), pl.lit("65+"))).item()
        'ageGroup:65'
    """
    parts = pl.concat_str(as_expr(attribute).cast(pl.String), slug(value), separator=":")
    return parts.alias("segment_id")


def canonical_id(segment_id: IntoExpr = "segment_id") -> pl.Expr:
    """Ids of segments, with those of old names replaced: `country:t-rkiye` is `country:turkey`.

    Args:
        segment_id: Ids of segments.

    Returns:
        String, under the name of the column; null where there is no id.

    Examples:
        >>> pl.select(canonical_id(pl.lit("country:t-rkiye"))).item()
        'country:turkey'
    """
    return as_expr(segment_id).cast(pl.String).replace(_IDS)


def canonical_value(value: IntoExpr) -> pl.Expr:
    """Values and labels of segments, with old names replaced: `Türkiye` is `Turkey`.

    Args:
        value: Values, or labels.

    Returns:
        String, under the name of the column; null where there is none.

    Examples:
        >>> pl.select(canonical_value(pl.lit("Türkiye"))).item()
        'Turkey'
    """
    return as_expr(value).cast(pl.String).replace(_VALUES)


def category(segment_id: IntoExpr = "segment_id") -> pl.Expr:
    """The category of a segment: what stands before the first `:` of its id.

    Args:
        segment_id: Ids of segments.

    Returns:
        `segment_attribute` (String): `Age` for `Age:18-29`. The prefixes O2 to O7 of old rounds of
        the Global Dialogues are the categories that they stand for, see `CATEGORIES`. Null for ids
        with no `:`, or with nothing before it.

    References:
        Ids and old prefixes are those of dtef-app 52d79c0, which knows its own categories only;
        tables made with `rules="reference"` have no others.

    Example:
        >>> ids = pl.DataFrame({"segment_id": ["gender:female", "Age:18-29", "O7:kenya", "young"]})
        >>> ids.select(category()).to_series().to_list()
        ['gender', 'Age', 'country', None]
    """
    prefix = as_expr(segment_id).cast(pl.String).str.extract(r"^([^:]+):")
    return prefix.replace(LEGACY).alias("segment_attribute")


def original_category(segment_id: IntoExpr = "segment_id") -> pl.Expr:
    """The category of a segment as the original has it: what it knows, an old prefix as it stands.

    An id without `:` is a category as a whole.
    """
    prefix = as_expr(segment_id).cast(pl.String).str.split(":").list.first()
    return pl.when(prefix.is_in([*LABELS])).then(prefix)
