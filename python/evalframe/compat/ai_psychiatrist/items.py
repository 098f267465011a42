"""The entries of an experiment as an item table.

Columns are gathered by operations on whole lists that assume a valid document. If one of them
fails, a loop over the entries finds the participant at fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Any

import polars as pl
from msgspec import UNSET

from evalframe.compat.ai_psychiatrist.documents import Entry, described
from evalframe.core.documents import is_whole
from evalframe.core.errors import InputError, ParameterError
from evalframe.selective.signals import SIGNALS
from evalframe.selective.total_score import ITEM_NAMES

COLUMNS = ("participant_id", "item_index", "item", "prediction", "label")
"""First columns of every item table; the signals follow."""

COLLIDES = "is called like a column of the item table"

COUNT = "llm_evidence_count"
"""The only signal with a default: a missing count is 0."""

_STATED = "verbalized_confidence"
_MAPS = ("ground_truth_items", "predicted_items", "item_signals")
"""Keys of an entry that map items to values."""
_NUMBERS = {int, float, NoneType}
_EACH = len(ITEM_NAMES)
_eight: Callable[[Any], tuple[Any, ...]] = itemgetter(*ITEM_NAMES)
_Table = list[dict[str, Any]]
_Fault = Callable[[int, str], InputError]
"""Makes an error about a row of the item table."""


def tabulate(
    entries: Sequence[Entry], *, signals: Sequence[str] | None, strict: bool, name: str
) -> tuple[pl.DataFrame, pl.Series, pl.Series, pl.Series]:
    """The item table of entries, and the ids that are included, failed and repeated."""
    successes = [entry for entry in entries if entry.success]
    try:
        ids = _ids(successes)
        failed = _ids([entry for entry in entries if not entry.success])
        labels = _flat(entry.ground_truth_items for entry in successes)
        predictions = _flat(entry.predicted_items for entry in successes)
        maps = _flat(entry.item_signals for entry in successes)
        if not all(issubclass(kind, dict) for kind in set(map(type, maps))):
            raise TypeError
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: {next(_faults(entries))}") from error
    if not strict:
        predictions, labels = _lenient(predictions, labels)

    def fault(row: int, message: str) -> InputError:
        participant, item = ids[row // _EACH], ITEM_NAMES[row % _EACH]
        return InputError(f"{name}: Participant {participant}, item {item}: {message}")

    row = pl.int_range(pl.len() * _EACH, dtype=pl.Int64)
    keys = pl.DataFrame({"participant_id": ids}, schema={"participant_id": pl.Int64}).select(
        pl.col("participant_id").gather(row // _EACH),
        (row % _EACH).alias("item_index"),
        pl.lit(pl.Series(ITEM_NAMES)).gather(row % _EACH).alias("item"),
    )
    columns = [
        _answers("prediction", "predicted_items", predictions, fault),
        _answers("label", "ground_truth_items", labels, fault),
        *_signals(maps, signals, strict, fault),
    ]
    counts = Counter(ids)
    return (
        keys.with_columns(columns),
        _ids_once(ids),
        _ids_once(failed),
        _ids_once([participant for participant, n in counts.items() if n > 1]),
    )


def named(signals: str | Iterable[str]) -> tuple[str, ...]:
    """The names of signals without repeats; ParameterError if one is that of another column."""
    if not isinstance(signals, Iterable):
        raise ParameterError(f"signals must be a list of names, got {signals!r}")
    names = (signals,) if isinstance(signals, str) else tuple(signals)
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"signals must be names of signals, got {name!r}")
        if name in COLUMNS:
            raise ParameterError(f"signal {name!r} {COLLIDES}; leave it out of signals")
    return tuple(dict.fromkeys(names))


def _flat(maps: Iterable[Any]) -> list[Any]:
    """The eight items of each participant, in one list."""
    return list(chain.from_iterable(map(_eight, maps)))


def _ids(entries: Iterable[Entry]) -> list[int]:
    ids = [int(entry.participant_id) for entry in entries]
    if ids and not (fits(min(ids)) and fits(max(ids))):
        raise OverflowError
    return ids


def fits(number: int) -> bool:
    """True if an integer fits into 64 bits."""
    return -(2**63) <= number < 2**63


def _ids_once(ids: Iterable[int]) -> pl.Series:
    return pl.Series("participant_id", sorted(set(ids)), dtype=pl.Int64)


def _lenient(predictions: list[Any], labels: list[Any]) -> tuple[list[Any], list[Any]]:
    """Booleans as 1 and 0, and null for unused labels that are not numbers."""
    labels = [
        None if prediction is None and not isinstance(label, int | float) else label
        for prediction, label in zip(predictions, labels, strict=True)
    ]
    predictions, labels = (
        [int(value) if isinstance(value, bool) else value for value in values]
        for values in (predictions, labels)
    )
    return predictions, labels


def _answers(column: str, key: str, values: list[Any], fault: _Fault) -> pl.Series:
    kinds = set(map(type, values))
    if not kinds <= _NUMBERS:
        row = next(row for row, value in enumerate(values) if type(value) not in _NUMBERS)
        raise fault(row, f"{key} must be a number or null, not {described(values[row])}")
    dtype = pl.Float64 if float in kinds else pl.Int64
    return _series(column, values, dtype(), fault)


def _signals(
    maps: _Table, names: Sequence[str] | None, strict: bool, fault: _Fault
) -> Iterator[pl.Series]:
    if names is not None:
        yield from (_signal(maps, name, strict, fault) for name in names)
        return
    keys = dict.fromkeys(chain.from_iterable(maps))
    names_of_ours = (name for name in SIGNALS if name in keys or name == COUNT)
    yield from (_signal(maps, name, strict, fault) for name in names_of_ours)
    for name in keys:
        if name not in SIGNALS and any(isinstance(s.get(name), int | float) for s in maps):
            yield _other_signal(maps, name, fault)


def _signal(maps: _Table, name: str, strict: bool, fault: _Fault) -> pl.Series:
    """A requested or known signal: a value that is neither a number nor null is an error."""
    absent = 0.0 if name == COUNT else float("nan")
    values = [signals.get(name, absent) for signals in maps]
    if not set(map(type, values)) <= _NUMBERS:
        for row, value in enumerate(values):
            try:
                values[row] = _as_number(name, value)
            except (TypeError, ValueError):
                message = f"{name} must be a number or null, not {described(value)}"
                remedy = "correct it, or name the signals to read without this one (signals=[...])"
                raise fault(row, f"{message}; {remedy}") from None
    series = _series(name, values, pl.Float64(), fault)
    # Methods of a series read a name like `^x$` as a pattern.
    if strict and series.alias("signal").is_nan().any():
        for row, signals in enumerate(maps):
            if values[row] != values[row] and name in signals:
                raise fault(row, f"{name} is NaN; write null, or leave the key out")
    return series


def _as_number(name: str, value: Any) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool) and name != _STATED:
        return float(value)
    if isinstance(value, str) and name == COUNT:
        return float(value)
    raise TypeError


def _other_signal(maps: _Table, name: str, fault: _Fault) -> pl.Series:
    """A signal that was not requested: a value that is not a number is NaN, as if missing."""
    if name in COLUMNS:
        row = next(row for row, signals in enumerate(maps) if name in signals)
        raise fault(row, f"signal {name!r} {COLLIDES}; name those to read: signals=['token_msp']")
    if not is_whole(name):
        row = next(row for row, signals in enumerate(maps) if name in signals)
        raise fault(row, f"the name of a signal has half of a character: {name!a}; correct it")
    nan = float("nan")
    values = [signals.get(name, nan) for signals in maps]
    numbers = [v if v is None or isinstance(v, int | float) else nan for v in values]
    return _series(name, numbers, pl.Float64(), fault)


def _series(column: str, values: list[Any], dtype: pl.DataType, fault: _Fault) -> pl.Series:
    try:
        return pl.Series(column, values, dtype=dtype)
    except (TypeError, OverflowError):
        row = next(r for r, v in enumerate(values) if isinstance(v, int) and not fits(v))
        raise fault(row, f"{column} does not fit into 64 bits: {described(values[row])}") from None


def _faults(entries: Iterable[Entry]) -> Iterator[str]:
    """Messages about invalid entries, in the order in which the original would find them."""
    for number, entry in enumerate(entries):
        try:
            participant = int(entry.participant_id)
        except (TypeError, ValueError, OverflowError):
            kind = _kind(entry.participant_id)
            yield f"participant_id of result {number} (from 0) must be an integer; it is {kind}"
            continue
        if not fits(participant):
            yield f"participant_id of result {number} (from 0) does not fit into 64 bits"
        if entry.success:
            yield from (f"Participant {participant}: {fault}" for fault in _faults_of(entry))


def _faults_of(entry: Entry) -> Iterator[str]:
    maps = {key: getattr(entry, key) for key in _MAPS}
    for key, value in maps.items():
        if not isinstance(value, dict):
            yield f"{key} must be a dict of the {_EACH} items; it is {_kind(value)}"
            return
    for key, value in maps.items():
        if missing := [item for item in ITEM_NAMES if item not in value]:
            yield f"missing {key} for {', '.join(missing)}"
            return
    for item in ITEM_NAMES:
        if not isinstance(signals := maps["item_signals"][item], dict):
            yield f"item_signals of {item} must be a dict of signals; it is {_kind(signals)}"


def _kind(value: Any) -> str:
    return "absent" if value is UNSET else described(value)
