"""Scores of samples: from what a scorer recorded to numbers, as Inspect's own metrics take them.

A scorer records a scalar, an object or a list. Each scalar, key or place is one score of the log,
which all its samples have, if only as null. Values are taken over whole lists.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl
from msgspec import UNSET

from evalframe.logs.table import Score, Wanted

if TYPE_CHECKING:
    from collections import Counter

    from evalframe.logs.inspect.records import Sample
    from evalframe.logs.inspect.records import Score as Recorded

_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_CONTAINERS = (list, dict)

_NUMBER = pl.Float64()


def as_number(value: Any) -> tuple[float | None, bool]:
    """A scalar as a number, null for NaN; and whether it is none and counts 0.0.

    >>> [as_number(value)[0] for value in ("C", "P", "N", True, "YES", " 1e-1 ", "1_0")]
    [1.0, 0.5, 0.0, 1.0, 1.0, 0.1, 10.0]
    >>> [as_number(value) for value in ("c", "nan", None)]
    [(0.0, True), (0.0, True), (0.0, True)]
    """
    if value is UNSET:
        return None, False
    if isinstance(value, str):
        if value in _GRADES:
            return _GRADES[value], False
        if (word := value.lower()) in _WORDS:
            return _WORDS[word], False
    elif not isinstance(value, int | float):
        return 0.0, True
    try:
        number = float(value)
    except OverflowError:
        return (math.inf if value > 0 else -math.inf), False
    except ValueError:
        return 0.0, True
    if isinstance(value, str) and not math.isfinite(number):
        return 0.0, True
    return (None if math.isnan(number) else number), False


def numbers(values: Sequence[Any], counts: Counter[str]) -> list[float | None]:
    """Values as numbers; those that are none are counted."""
    scalars = [_CONTAINERS if type(value) in _CONTAINERS else value for value in values]
    both = {value: as_number(value) for value in {*scalars}}
    if garbage := {value for value, (_, is_garbage) in both.items() if is_garbage}:
        counts["not_numbers"] += sum(value in garbage for value in scalars)
    known = {value: number for value, (number, _) in both.items()}
    return [known[value] for value in scalars]


def scores_of(
    samples: Sequence[Sample], scorers: Iterable[str], asked: Wanted, counts: Counter[str]
) -> list[Score]:
    """All scores of a log, each with a row per sample.

    Args:
        samples: The samples.
        scorers: Names of the scorers of the log, if its samples have no scores.
        asked: The columns of the query.
        counts: Where values that are no numbers are counted.
    """
    names = dict.fromkeys(name for sample in samples for name in sample.scores or ())
    if not names:
        return [Score(name, name, pl.DataFrame()) for name in _distinct(scorers)]
    found = []
    for name in names:
        recorded = [(sample.scores or {}).get(name) for sample in samples]
        texts = _texts(recorded, asked)
        if asked.any("confidence"):
            likely = (sample.likelihood for sample in samples)
            texts["confidence"] = _series([p and p.confidences.get(name) for p in likely], _NUMBER)
        for part, values in parts_of(name, recorded):
            columns = {**texts, "score": _series(numbers(values, counts), _NUMBER)}
            if asked.any("value"):
                columns["value"] = _series(as_json(values), pl.String())
            found.append(Score(name, part, pl.DataFrame(columns)))
    return found


def _distinct(names: Iterable[str]) -> list[str]:
    """Names; one that repeats an earlier one gets a number.

    >>> _distinct(["match", "match", "match"])
    ['match', 'match1', 'match2']
    """
    found: list[str] = []
    for name in names:
        numbered = (f"{name}{n or ''}" for n in range(len(found) + 1))
        found.append(next(each for each in numbered if each not in found))
    return found


def parts_of(name: str, recorded: Sequence[Recorded | None]) -> Iterator[tuple[str, list[Any]]]:
    """The scores of a scorer: names and values; UNSET where there is none, NaN where unscored."""
    roots = [UNSET if each is None else each.value for each in recorded]
    if not {type(root) for root in roots}.intersection(_CONTAINERS):
        yield name, [math.nan if root is None else root for root in roots]
        return
    unscored = [math.nan if root is None or root != root else UNSET for root in roots]
    scalars = [UNSET if type(root) in _CONTAINERS else root for root in roots]
    if any(a is not UNSET and b is UNSET for a, b in zip(scalars, unscored, strict=True)):
        yield name, [math.nan if root is None else root for root in scalars]
    for key in dict.fromkeys(key for root in roots if isinstance(root, dict) for key in root):
        yield (
            key,
            [
                root.get(key, UNSET) if isinstance(root, dict) else nothing
                for root, nothing in zip(roots, unscored, strict=True)
            ],
        )
    for k in range(max((len(root) for root in roots if isinstance(root, list)), default=0)):
        yield (
            str(k),
            [
                (root[k] if k < len(root) else UNSET) if isinstance(root, list) else nothing
                for root, nothing in zip(roots, unscored, strict=True)
            ],
        )


def _texts(recorded: Sequence[Recorded | None], asked: Wanted) -> dict[str, pl.Series]:
    """What a scorer says of a score beside its value."""
    columns: dict[str, list[str | None]] = {}
    if asked.any("answer"):
        columns["answer"] = [None if score is None else score.answer for score in recorded]
    if asked.any("explanation"):
        columns["explanation"] = [None if s is None else s.explanation for s in recorded]
    if asked.any("reason"):
        columns["reason"] = [
            None if s is None or (s.reason is None and s.metadata is None) else _reason(s)
            for s in recorded
        ]
    return {name: _series(texts, pl.String()) for name, texts in columns.items()}


def _reason(score: Recorded) -> str | None:
    reason = score.reason
    if reason is None and isinstance(score.metadata, dict):
        reason = score.metadata.get("unscored_reason")
    return reason if isinstance(reason, str | None) else json.dumps(reason)


def as_json(values: Sequence[Any]) -> list[str | None]:
    """Values as JSON, with the words for numbers that are not finite; null for no value.

    >>> as_json(["C", 1, 0.5, None, float("nan"), [float("inf")], UNSET])
    ['"C"', '1', '0.5', 'null', 'NaN', '[Infinity]', None]
    """
    kinds = {*map(type, values)}
    if kinds.intersection(_CONTAINERS):
        return [_line(value) for value in values]
    plain = [None if value is UNSET else value for value in values]
    lines = msgspec.json.Encoder().encode_lines(plain).decode().split("\n")[:-1]
    if "null" not in lines:
        return [*lines]
    both = zip(values, lines, strict=True)
    return [_line(value) if line == "null" else line for value, line in both]


def _line(value: Any) -> str | None:
    return None if value is UNSET else json.dumps(value, ensure_ascii=False)


def _series(values: list[Any], dtype: pl.DataType) -> pl.Series:
    return pl.Series(values=values, dtype=dtype)
