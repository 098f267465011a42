"""The requests of a HELM run, as a frame: a row per instance and trial.

`scenario_state.json` holds prompts and tokens of a run and is by far its largest file. It streams,
and only for columns that need it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from evalframe.logs.helm.stats import KEY, canonical
from evalframe.logs.lines import Whole, items_of

FILE = "scenario_state.json"
_TIMES = ("total_time", "working_time")
COLUMNS = ("answer", "target", "n_choices", "is_error", "error", *_TIMES, "started_at")
"""Columns of the items table that are found here."""

_LAST = 253_402_300_799  # the last second of the year 9999

_SCHEMA = {
    "sample_id": pl.String(),
    "perturbation": pl.String(),
    "trial": pl.Int64(),
    "answer": pl.String(),
    "target": pl.String(),
    "n_choices": pl.Int64(),
    "is_error": pl.Boolean(),
    "error": pl.String(),
    "total_time": pl.Float64(),
    "started_at": pl.Float64(),
    "has_logprobs": pl.Boolean(),
}
_KEEP = (
    *("instance", "references", "output", "tags", "perturbation"),
    *("output_mapping", "result", "completions", "tokens"),
)


class _Text(msgspec.Struct, gc=False):
    text: str = ""


class _Reference(msgspec.Struct, gc=False):
    output: _Text
    tags: list[str] = []


class _Instance(msgspec.Struct, gc=False):
    id: str | int
    references: list[_Reference] = []
    perturbation: dict[str, Any] | None = None


class _Token(msgspec.Struct, gc=False):
    logprob: float = 0.0


class _Completion(msgspec.Struct, gc=False):
    text: str = ""
    logprob: float = 0.0
    tokens: list[_Token] = []


class _Result(msgspec.Struct, gc=False):
    success: bool = True
    error: str | None = None
    completions: list[_Completion] = []
    request_time: float | None = None
    request_datetime: float | None = None


class _Request(msgspec.Struct, gc=False):
    """A request and its result; its prompt is skipped."""

    instance: _Instance
    train_trial_index: Whole = 0
    output_mapping: dict[str, str] | None = None
    result: _Result | None = None


def read_requests(folder: Path) -> pl.DataFrame:
    """The requests of each instance and trial; `has_logprobs` if any probability is not 1.

    Some methods ask once for each choice: then no completion is the answer, times add up, and one
    failed request is an error.
    """
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for found in items_of(folder / FILE, "request_states", _KEEP, _Request):
        parts.append(pl.DataFrame([*map(_row, found)], schema=_SCHEMA, orient="row"))
    answer = pl.when(pl.len() == 1).then(pl.col("answer").first())
    first = pl.col("target", "n_choices").first()
    time = pl.col("total_time")
    began = pl.col("started_at").min()
    is_time = began.is_between(0, _LAST)
    microseconds = (began * 1_000_000).cast(pl.Int64, strict=False)
    requests = pl.concat(parts).group_by(KEY, maintain_order=True)
    return requests.agg(
        answer,
        first,
        pl.col("is_error").any(),
        pl.col("error").drop_nulls().first(),
        *(pl.when(time.count() > 0).then(time.sum()).alias(name) for name in _TIMES),
        pl.when(is_time).then(microseconds).cast(pl.Datetime("us", "UTC")).alias("started_at"),
        pl.col("has_logprobs").any(),
        bad_time=~is_time,
    )


def _row(request: _Request) -> tuple[Any, ...]:
    instance, result = request.instance, request.result or _Result()
    correct = [each.output.text for each in instance.references if "correct" in each.tags]
    completions = result.completions
    return (
        str(instance.id),
        canonical(instance.perturbation),
        request.train_trial_index,
        completions[0].text if completions else None,
        ",".join(correct) if correct else None,
        len(request.output_mapping or instance.references) or None,
        not result.success,
        result.error,
        result.request_time,
        result.request_datetime,
        any(each.logprob or any(token.logprob for token in each.tokens) for each in completions),
    )
