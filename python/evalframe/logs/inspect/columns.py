"""Columns of the items table from samples of Inspect, and which fields of a sample each needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.logs.inspect.confidence import likelihood
from evalframe.logs.table import DTYPES, METADATA, Wanted

if TYPE_CHECKING:
    from collections import Counter

    from evalframe.logs.inspect.records import Sample


class _Source(NamedTuple):
    fields: tuple[str, ...]
    value: Callable[[Sample], Any]


def _plain(field: str) -> _Source:
    return _Source((field,), attrgetter(field))


def _named(field: str, inner: str) -> _Source:
    def text(sample: Sample) -> str | None:
        value = getattr(sample, field)
        return value if value is None or isinstance(value, str) else getattr(value, inner)

    return _Source((field,), text)


def _target(sample: Sample) -> str | None:
    target = sample.target
    return ",".join(target) if isinstance(target, list) else target


def _retries(sample: Sample) -> int | None:
    if sample.retries is None and sample.error_retries is not None:
        return len(sample.error_retries)
    count: int | None = sample.retries
    return count


_SOURCES = {
    "sample_id": _Source(("id",), lambda sample: str(sample.id)),
    "epoch": _plain("epoch"),
    "target": _Source(("target",), _target),
    "is_error": _Source(("error",), lambda sample: sample.error is not None),
    "error": _named("error", "message"),
    "limit": _named("limit", "type"),
    "retries": _Source(("retries", "error_retries"), _retries),
    "n_choices": _Source(
        ("choices",), lambda sample: len(sample.choices) if sample.choices else None
    ),
    "total_time": _plain("total_time"),
    "working_time": _plain("working_time"),
    "started_at": _plain("started_at"),
    "completed_at": _plain("completed_at"),
    "uuid": _plain("uuid"),
    "logprob": _Source(
        ("output", "choices", "scores"),
        lambda sample: sample.likelihood and sample.likelihood.logprob,
    ),
    "logprob_tokens": _Source(
        ("output", "choices", "scores"),
        lambda sample: sample.likelihood and sample.likelihood.tokens,
    ),
    "invalidated": _Source(("invalidation",), lambda sample: sample.invalidation is not None),
}
_TOKENS = ("input_tokens", "output_tokens", "total_tokens")
_OF_SCORES = ("score", "value", "answer", "reason", "explanation", "scorer", "score_name")
_FIELDS = {
    **{name: source.fields for name, source in _SOURCES.items()},
    **dict.fromkeys(_TOKENS, ("model_usage",)),
    **dict.fromkeys(_OF_SCORES, ("scores", "score")),
    "confidence": ("output", "choices", "scores", "score"),
}
_TIMES = ("started_at", "completed_at")


def fields_of(columns: Sequence[str], asked: Wanted) -> frozenset[str]:
    """The fields of samples that these columns need, and metadata if they are asked for."""
    fields = {field for name in columns for field in _FIELDS.get(name, ())}
    more = {"likelihood"} if "output" in fields else set()
    return frozenset(fields | more | ({"metadata"} if asked.metadata else set()))


def digested(samples: Sequence[Sample], fields: frozenset[str], asked: Wanted) -> None:
    """Replace what is long in samples by what is asked of it."""
    if "output" in fields:
        for sample in samples:
            sample.likelihood = likelihood(sample)
            sample.output = None
    if "metadata" in fields:
        for sample in samples:
            known = sample.metadata or {}
            sample.metadata = {
                name: bytes(known[name]).decode() for name in asked.metadata if name in known
            }


def sample_columns(
    samples: Sequence[Sample], asked: Wanted, counts: Counter[str]
) -> dict[str, pl.Series]:
    """The columns that are the same for all scores of a sample, a row for each sample."""
    columns = {
        name: pl.Series(name, [source.value(sample) for sample in samples], _stored(name))
        for name, source in _SOURCES.items()
        if asked.any(name)
    }
    for name in _TIMES:
        if name in columns:
            texts = columns[name]
            columns[name] = _times(texts)
            counts["bad_times"] += texts.count() - columns[name].count()
    columns |= _tokens(samples, [name for name in _TOKENS if asked.any(name)])
    for name in asked.metadata:
        values = [sample.metadata.get(name) for sample in samples]
        columns[METADATA + name] = pl.Series(METADATA + name, values, pl.String)
    return columns


def _tokens(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, pl.Series]:
    """Numbers of tokens, summed over models; null where usage is not recorded."""
    if not names:
        return {}
    usages = [sample.model_usage for sample in samples]
    each = [usage for known in usages for usage in (known or {}).values()]
    owner = np.repeat(np.arange(len(usages)), [len(known or ()) for known in usages])
    is_known = pl.Series([known is not None for known in usages])
    columns = {}
    for name in names:
        weights = [count or 0 for count in map(attrgetter(name), each)]
        sums = pl.Series(name, np.bincount(owner, weights, len(usages)).astype(np.int64))
        columns[name] = sums.zip_with(is_known, pl.Series([None], dtype=pl.Int64))
    return columns


def _stored(name: str) -> pl.DataType:
    return pl.String() if name in _TIMES else DTYPES[name]


def _times(texts: pl.Series) -> pl.Series:
    """Times in UTC; those without an offset are in UTC."""
    text = pl.col(texts.name)
    zoned = text.str.to_datetime("%+", time_unit="us", time_zone="UTC", strict=False)
    plain = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
    frame = texts.to_frame()
    times = frame.select(zoned).to_series()
    if times.null_count() > texts.null_count():
        either = pl.coalesce(zoned, plain.dt.replace_time_zone("UTC"))
        times = frame.select(either).to_series()
    return times
