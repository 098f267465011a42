"""Fields of documents in the order of the program, and their columns."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from evalframe.core.errors import InputError

LARGEST_COUNT = 2**53
"""Counts are exact as floats up to here, and sums of a thousand of them fit into 64 bits."""

_ROUNDING = 1e-9
"""Tolerance for shares outside [0, 1] by rounding."""


class Kind(NamedTuple):
    """A kind of values: the type of its column, its name in messages, types, and conversion.

    The conversion raises ValueError or OverflowError for values outside the domain.
    """

    dtype: pl.DataType
    name: str
    types: tuple[type, ...]
    convert: Callable[[Any], Any]


def _text(value: Any) -> str | None:
    return str(value) or None


def _share(value: Any) -> float:
    number = float(value)
    if not (math.isnan(number) or -_ROUNDING <= number <= 1 + _ROUNDING):
        raise ValueError
    return number


def _whole(value: Any, least: int, largest: int) -> int:
    number = int(value)
    if number != value or not least <= number <= largest:
        raise ValueError
    return number


_NUMBERS = (int, float)
KINDS = {
    "text": Kind(pl.String(), "text", (str,), _text),
    "report": Kind(pl.String(), "text", (*_NUMBERS, str), _text),
    "number": Kind(pl.Float64(), "a number of 64 bits", _NUMBERS, float),
    "share": Kind(pl.Float64(), "a number from 0 to 1", _NUMBERS, _share),
    "count": Kind(
        pl.Int64(),
        "a whole number from 0 to 2**53",
        _NUMBERS,
        partial(_whole, least=0, largest=LARGEST_COUNT),
    ),
    "flag": Kind(pl.Boolean(), "true or false", (bool,), bool),
    "sign": Kind(pl.Int8(), "1, -1 or 0", _NUMBERS, partial(_whole, least=-1, largest=1)),
}
"""Kinds of values; a report is text, or a number that becomes text."""


class Field(NamedTuple):
    """A value of a document and its column."""

    keys: tuple[str, ...]
    """The keys that lead to it."""
    column: str
    kind: Kind


def field(keys: str, column: str, kind: str) -> Field:
    """A field with keys as `usage_stats.total_tokens`."""
    return Field(tuple(keys.split(".")), column, KINDS[kind])


def schema_of(fields: Iterable[Field]) -> dict[str, pl.DataType]:
    """The columns of fields, with their types."""
    return {each.column: each.kind.dtype for each in fields}


def columns_of(
    records: Sequence[Mapping[str, Any]], fields: Sequence[Field], where: Callable[[int], str]
) -> pl.DataFrame:
    """One row per record, one column per name; of several fields of a column the first not null.

    Empty text is null, as are values that are absent.
    """
    columns: dict[str, pl.Series] = {}
    for each in fields:
        values = _values_at(records, each.keys, where)
        column = pl.Series(each.column, _converted(values, each, where), dtype=each.kind.dtype)
        earlier = columns.get(each.column)
        columns[each.column] = column if earlier is None else earlier.fill_null(column)
    return pl.DataFrame(list(columns.values()))


def objects_at(content: Mapping[str, Any], key: str, name: str) -> list[Mapping[str, Any]]:
    """A list of objects, empty if absent or null; else InputError."""
    value = content.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{name}: {key} must be a list, but is {reprlib.repr(value)}")
    for place, entry in enumerate(value):
        if not isinstance(entry, Mapping):
            raise InputError(
                f"{name}: {key}[{place}] must be an object, but is {reprlib.repr(entry)}"
            )
    return value


def object_at(content: Mapping[str, Any], key: str, name: str) -> Mapping[str, Any]:
    """An object, empty if absent or null; else InputError."""
    value = content.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: {key} must be an object, but is {reprlib.repr(value)}")
    return value


def unread(records: Iterable[Mapping[str, Any]], fields: Iterable[Field], prefix: str) -> set[str]:
    """Paths of keys of records that no field reads."""
    known: dict[str, list[Field]] = {}
    for each in fields:
        inner = known.setdefault(each.keys[0], [])
        if each.keys[1:]:
            inner.append(each._replace(keys=each.keys[1:]))
    keys: set[str] = set()
    nested: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        keys |= {f"{prefix}{key}" for key in record.keys() - known.keys()}
        for key, inner in known.items():
            if inner and isinstance(record.get(key), Mapping):
                nested.setdefault(key, []).append(record[key])
    for key, objects in nested.items():
        keys |= unread(objects, known[key], f"{prefix}{key}.")
    return keys


def _values_at(
    records: Sequence[Mapping[str, Any]], keys: tuple[str, ...], where: Callable[[int], str]
) -> list[Any]:
    for depth, key in enumerate(keys[:-1], 1):
        inner = [record.get(key) for record in records]
        for place, value in enumerate(inner):
            if not isinstance(value, Mapping | None):
                path = ".".join(keys[:depth])
                raise InputError(
                    f"{where(place)}{path} must be an object, but is {reprlib.repr(value)}"
                )
        records = [value or {} for value in inner]
    return [record.get(keys[-1]) for record in records]


def _converted(values: list[Any], field: Field, where: Callable[[int], str]) -> list[Any]:
    try:
        return _all_converted(values, field.kind)
    except (TypeError, ValueError, OverflowError):
        place = next(place for place, value in enumerate(values) if _is_fault(value, field.kind))
        raise InputError(
            f"{where(place)}{'.'.join(field.keys)} is {reprlib.repr(values[place])}, not"
            f" {field.kind.name}"
        ) from None


def _all_converted(values: list[Any], kind: Kind) -> list[Any]:
    """Values for the column; TypeError, ValueError or OverflowError if one is not valid."""
    types = {type(value) for value in values} - {type(None)}
    # A boolean is an integer in Python, but no number in a document.
    if not all(issubclass(t, kind.types) and (t is not bool or bool in kind.types) for t in types):
        raise TypeError
    return [None if value is None else kind.convert(value) for value in values]


def _is_fault(value: Any, kind: Kind) -> bool:
    try:
        _all_converted([value], kind)
    except (TypeError, ValueError, OverflowError):
        return True
    return False


TESTS: tuple[Field, ...] = (
    field("study_id", "study_label", "text"),
    field("sub_study_id", "sub_study_id", "text"),
    field("finding_id", "finding_id", "text"),
    field("test_name", "test_name", "text"),
    field("scenario", "scenario", "text"),
    field("statistical_test_type", "test_type", "text"),
    field("human_test_statistic", "report_human", "report"),
    field("agent_test_statistic", "report_agent", "report"),
    field("pi_human", "pi_human", "number"),
    field("pi_agent", "pi_agent", "number"),
    *(
        field(f"pi_{side}_3way.{way}", f"{way}_{side}", "number")
        for side in ("human", "agent")
        for way in ("pi_plus", "pi_minus", "pi_zero")
    ),
    field("pas", "pas", "number"),
    field("test_weight", "test_weight", "number"),
    field("pi_human_source", "pi_human_source", "text"),
    field("agent_reason", "agent_reason", "text"),
    field("p_value_human", "p_value_human", "number"),
    field("p_value_agent", "p_value_agent", "number"),
    field("is_significant_human", "is_significant_human", "flag"),
    field("is_significant_agent", "is_significant_agent", "flag"),
    field("human_direction", "direction_human", "sign"),
    field("agent_direction", "direction_agent", "sign"),
    field("direction_match", "direction_match", "flag"),
    field("significance_level", "significance_level", "number"),
    field("z_diff", "z_difference", "number"),
    field("replication_consistency", "replication_consistency", "number"),
    *(
        field(f"{side}_{name}", f"{name}_{side}", "number")
        for name in ("effect_size", "effect_d", "effect_r")
        for side in ("human", "agent")
    ),
    field("n_eff", "n_eff", "number"),
    field("n_human_extracted", "n1_human", "number"),
    field("n2_human_extracted", "n2_human", "number"),
    field("n_agent_extracted", "n1_agent", "number"),
    field("n2_agent_extracted", "n2_agent", "number"),
)
"""An entry of `test_results`."""

LOOSE_TESTS: tuple[Field, ...] = (
    field("score", "score", "number"),
    field("t_stat", "stat_agent", "number"),
    field("p_value", "p_value_agent", "number"),
    field("significant", "is_significant_agent", "flag"),
    field("human_p_value", "p_value_human", "number"),
    field("replication", "replicated", "flag"),
)
"""Further fields of an entry: the older name of PAS, and names of the hub's studies."""

FINDINGS: tuple[Field, ...] = (
    field("sub_study_id", "sub_study_id", "text"),
    field("finding_id", "finding_id", "text"),
    field("finding_score", "finding_score", "number"),
    field("finding_weight", "finding_weight", "number"),
    field("n_tests", "n_tests", "count"),
)
"""An entry of `finding_results`."""

USAGE: tuple[Field, ...] = (
    field("usage_stats.total_prompt_tokens", "total_prompt_tokens", "count"),
    field("usage_stats.total_completion_tokens", "total_completion_tokens", "count"),
    field("usage_stats.total_tokens", "total_tokens", "count"),
    field("usage_stats.total_cost", "total_cost", "number"),
    field("usage_stats.avg_tokens_per_participant", "avg_tokens_per_participant", "number"),
    field("usage_stats.avg_cost_per_participant", "avg_cost_per_participant", "number"),
)

FAILURES: tuple[Field, ...] = (
    field("failure_rates.raw_failure_rate", "raw_failure_rate", "number"),
    field("failure_rates.raw_failed", "raw_failed", "count"),
    field("failure_rates.raw_total", "raw_total", "count"),
    *(
        field(f"failure_rates.raw_failure_breakdown.{why}", f"raw_failed_{why}", "count")
        for why in ("empty", "refusal", "other")
    ),
    field("failure_rates.final_failure_rate", "final_failure_rate", "number"),
    field("failure_rates.final_failed", "final_failed", "count"),
    field("failure_rates.final_total", "final_total", "count"),
)

LEGACY: tuple[Field, ...] = (
    field("normalized_score", "normalized_score", "number"),
    field("score_se", "score_se", "number"),
    field("normalized_score_se", "normalized_score_se", "number"),
    field("score_repeat_se", "score_repeat_se", "number"),
    field("normalized_score_repeat_se", "normalized_score_repeat_se", "number"),
    field("bootstrap_iterations", "bootstrap_iterations", "count"),
    field("elapsed_time", "elapsed_time", "number"),
    field("variance_method", "variance_method", "text"),
    field("variance_method_note", "variance_method_note", "text"),
    field("ecs_strict_study", "ecs_strict_study", "number"),
    field("average_consistency_score", "average_consistency_score", "number"),
    field("_statistics.mean_score", "iterations_mean_score", "number"),
    field("_statistics.std_score", "iterations_std_score", "number"),
    field("_statistics.n_iterations", "n_iterations", "count"),
    field("_statistics.aggregated_from_iterations", "aggregated_from_iterations", "flag"),
)
"""Fields of older versions."""

GIVEN_OF_RUNS: tuple[Field, ...] = (
    field("n_participants", "n_participants", "count"),
    field("n_runs", "n_runs", "count"),
    *USAGE,
    *FAILURES,
    *LEGACY,
)
"""Fields of the run of a study."""

RUNS: tuple[Field, ...] = (
    field("title", "title", "text"),
    field("error", "error", "text"),
    field("score", "score", "number"),
    field("ecs_corr", "ecs_corr", "number"),
    field("ecs_corr_study", "ecs_corr_study", "number"),
    field("ecs_corr_details.ecs_missing_rate", "ecs_missing_rate", "number"),
    *GIVEN_OF_RUNS,
)
"""A document without its tests and findings."""
