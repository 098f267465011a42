"""Responses that the design of their test lacks."""

from __future__ import annotations

import polars as pl

from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.replication.participants.design import (
    CATEGORY,
    PLACE,
    TEST,
    category_places,
    keys_of,
    numbered_design,
    places,
)
from evalframe.replication.participants.matching import compared, keys_like
from evalframe.replication.participants.rows import as_category, check_types

_SORTED, _CONDITION, _VALUE = ":sorted", ":condition", ":value"

NO_TEST, NO_CONDITION, NO_CATEGORY = "no such test", "no such condition", "no such category"


@like_input
def unmatched_responses(responses: Frame, design: Frame) -> pl.LazyFrame:
    """Responses that enter no statistic, because the design lacks their test or value.

    Most often a name is written in two ways. Missing values are not among them.

    Args:
        responses: As in `participant_statistics`.
        design: As in `participant_statistics`.

    Returns:
        The keys of the design, `reason` (`no such test`, `no such condition`, `no such category`),
        `found` (the condition or category as text, null for a test) and `rows` (Int64), sorted.
        Lazy if `responses` is.

    Raises:
        MissingColumnsError: A table lacks a column.
        UnknownNameError: A test type is unknown.
        ContractError: The design breaks its contract, or a column of the responses is of a type
            that cannot be compared with it.

    Examples:
        >>> keys = {"study_id": "s1", "finding_id": "F1"}
        >>> people = {"condition": ["red", "Red"], "value": [1.0, 2.0]}
        >>> design = pl.DataFrame({**keys, "test_type": "anova", "conditions": [["red", "blue"]]})
        >>> unmatched_responses(pl.DataFrame({**keys, **people}), design).rows()
        [('s1', 'F1', 'no such condition', 'Red', 1)]
    """
    keys, known, table = keys_of(design), numbered_design(design), lazy(responses)
    schema = table.collect_schema()
    present = schema.names()
    if missing := {*keys, "value"} - {*present}:
        raise MissingColumnsError.of("unmatched_responses", missing, present)
    check_types(schema)
    alike = keys_like(known.schema, schema, keys)
    theirs, measure = schema.get("condition", pl.Null()), schema["value"]
    by_condition = places(known, theirs).rename({"condition": _CONDITION})
    by_value = category_places(known, measure).rename({"value": _VALUE})
    condition = pl.col("condition") if "condition" in present else pl.lit(None)
    value = pl.col("value")
    number = value.cast(pl.Float64).fill_nan(None) if measure.is_numeric() else value
    read = table.select(
        *alike,
        condition.cast(pl.String).alias("condition"),
        number.cast(pl.String).alias("value"),
        compared(condition, theirs, by_condition.schema[_CONDITION]).alias(_CONDITION),
        as_category(value, measure, by_value.schema[_VALUE]).alias(_VALUE),
    )
    counted = by_value.select(TEST).unique().with_columns(pl.lit(True).alias(_SORTED))
    placed = (
        read.join(
            known.lazy().select(*alike, TEST, "conditions"), on=keys, how="left", nulls_equal=True
        )
        .join(by_condition.lazy(), on=[TEST, _CONDITION], how="left")
        .join(by_value.lazy(), on=[TEST, _VALUE], how="left")
        .join(counted.lazy(), on=TEST, how="left")
    )
    no_condition = pl.col("conditions").is_not_null() & pl.col(PLACE).is_null()
    no_category = pl.col(_SORTED) & pl.col(CATEGORY).is_null() & pl.col("value").is_not_null()
    reasons = (
        (pl.col(TEST).is_null(), NO_TEST, pl.lit(None, dtype=pl.String)),
        (no_condition, NO_CONDITION, pl.col("condition")),
        (no_category, NO_CATEGORY, pl.col("value")),
    )
    parts = [
        placed.filter(broken).select(*keys, pl.lit(reason).alias("reason"), value.alias("found"))
        for broken, reason, value in reasons
    ]
    columns = [*keys, "reason", "found"]
    counts = pl.concat(parts).group_by(columns).agg(pl.len().cast(pl.Int64).alias("rows"))
    return counts.sort(columns)
