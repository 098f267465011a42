"""Fields of documents in the order of the program, and tables of their values."""

from __future__ import annotations

import math
import reprlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
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


def fields(*rows: tuple[str, str]) -> tuple[Field, ...]:
    """Fields from rows of a kind and paths of keys, each with its column if that is not the key.

    >>> [(each.keys, each.column) for each in fields(("count", "usage.total n_tests=n"))]
    [(('usage', 'total'), 'total'), (('n_tests',), 'n')]
    """
    declared = []
    for kind, paths in rows:
        for path, _, column in (each.partition("=") for each in paths.split()):
            keys = tuple(path.split("."))
            declared.append(Field(keys, column or keys[-1], KINDS[kind]))
    return tuple(declared)


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


def entries_of(
    sources: Sequence[tuple[str, Mapping[str, Any]]], key: str, fields: Sequence[Field], joint: str
) -> tuple[pl.DataFrame, list[list[Mapping[str, Any]]]]:
    """The lists of objects of named documents: as one table, and as decoded."""
    entries = [objects_at(content, key, name) for name, content in sources]
    ends = [0, *accumulate(map(len, entries))]

    def where(place: int) -> str:
        number = bisect_right(ends, place) - 1
        return f"{sources[number][0]}{joint}{key}[{place - ends[number]}]."

    return columns_of([entry for each in entries for entry in each], fields, where), entries


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


TESTS = fields(
    ("text", "study_id=study_label sub_study_id finding_id test_name scenario"),
    ("text", "statistical_test_type=test_type"),
    ("report", "human_test_statistic=report_human agent_test_statistic=report_agent"),
    ("number", "pi_human pi_agent"),
    ("number", "pi_human_3way.pi_plus=pi_plus_human pi_human_3way.pi_minus=pi_minus_human"),
    ("number", "pi_human_3way.pi_zero=pi_zero_human pi_agent_3way.pi_plus=pi_plus_agent"),
    ("number", "pi_agent_3way.pi_minus=pi_minus_agent pi_agent_3way.pi_zero=pi_zero_agent"),
    ("number", "pas test_weight"),
    ("text", "pi_human_source agent_reason"),
    ("number", "p_value_human p_value_agent"),
    ("flag", "is_significant_human is_significant_agent"),
    ("sign", "human_direction=direction_human agent_direction=direction_agent"),
    ("flag", "direction_match"),
    ("number", "significance_level z_diff=z_difference replication_consistency"),
    ("number", "human_effect_size=effect_size_human agent_effect_size=effect_size_agent"),
    ("number", "human_effect_d=effect_d_human agent_effect_d=effect_d_agent"),
    ("number", "human_effect_r=effect_r_human agent_effect_r=effect_r_agent"),
    ("number", "n_eff n_human_extracted=n1_human n2_human_extracted=n2_human"),
    ("number", "n_agent_extracted=n1_agent n2_agent_extracted=n2_agent"),
)
"""An entry of `test_results`."""

LOOSE_TESTS = fields(
    ("number", "score t_stat=stat_agent p_value=p_value_agent"),
    ("flag", "significant=is_significant_agent"),
    ("number", "human_p_value=p_value_human"),
    ("flag", "replication=replicated"),
)
"""Further fields of an entry: the older name of PAS, and names of the hub's studies."""

FINDINGS = fields(
    ("text", "sub_study_id finding_id"),
    ("number", "finding_score finding_weight"),
    ("count", "n_tests"),
)
"""An entry of `finding_results`."""

FAILURES = fields(
    ("number", "failure_rates.raw_failure_rate"),
    ("count", "failure_rates.raw_failed failure_rates.raw_total"),
    ("count", "failure_rates.raw_failure_breakdown.empty=raw_failed_empty"),
    ("count", "failure_rates.raw_failure_breakdown.refusal=raw_failed_refusal"),
    ("count", "failure_rates.raw_failure_breakdown.other=raw_failed_other"),
    ("number", "failure_rates.final_failure_rate"),
    ("count", "failure_rates.final_failed failure_rates.final_total"),
)

STATISTICS = fields(
    ("number", "_statistics.mean_score=iterations_mean_score"),
    ("number", "_statistics.std_score=iterations_std_score"),
    ("count", "_statistics.n_iterations"),
    ("flag", "_statistics.aggregated_from_iterations"),
)

GIVEN_OF_RUNS = (
    *fields(
        ("count", "n_participants n_runs"),
        ("count", "usage_stats.total_prompt_tokens usage_stats.total_completion_tokens"),
        ("count", "usage_stats.total_tokens"),
        ("number", "usage_stats.total_cost usage_stats.avg_tokens_per_participant"),
        ("number", "usage_stats.avg_cost_per_participant"),
    ),
    *FAILURES,
    *fields(
        ("number", "normalized_score score_se normalized_score_se score_repeat_se"),
        ("number", "normalized_score_repeat_se"),
        ("count", "bootstrap_iterations"),
        ("number", "elapsed_time"),
        ("text", "variance_method variance_method_note"),
        ("number", "ecs_strict_study average_consistency_score"),
    ),
    *STATISTICS,
)
"""Fields of the run of a study, those after the failures of older versions."""

RUNS = (
    *fields(
        ("text", "title error"),
        ("number", "score ecs_corr ecs_corr_study ecs_corr_details.ecs_missing_rate"),
    ),
    *GIVEN_OF_RUNS,
)
"""A document without its tests and findings."""
