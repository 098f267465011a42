"""Records of an Inspect log: its header, and samples with only the fields that a query needs.

Summaries of an `.eval` and samples of either kind are decoded by the same types. What strict JSON
refuses (NaN, single surrogates) is read by the standard library and converted to them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from evalframe.core.documents import decoded, is_whole
from evalframe.core.errors import InputError
from evalframe.logs.streams import REFUSED, records

Sample: TypeAlias = Any
"""An instance of a type of `sample_type`."""

_Whole: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]


class Dataset(Struct):
    """The dataset of a log."""

    name: str | None = None


class Named(Struct):
    """A scorer, by its name."""

    name: str = ""


class Config(Struct):
    """Settings of an evaluation; an empty list of reducers is not the same as none."""

    epochs_reducer: list[str] | None = None


class Eval(Struct):
    """What was evaluated."""

    task: str
    run_id: str | None = None
    eval_id: str | None = None
    task_id: str | None = None
    task_version: int | str | float | None = None
    model: str | None = None
    model_args: Any = None
    created: str | None = None
    dataset: Dataset | None = None
    scorers: list[Named] | None = None
    config: Config | None = None


class Header(Struct):
    """A log without its samples."""

    eval: Eval
    results: Any = None
    samples: list[Any] | None = None  # emptied, where they are streamed


class Score(Struct, gc=False):
    """A score of a sample."""

    value: Any = None
    answer: str | None = None
    explanation: str | None = None
    reason: Any = None
    metadata: Any = None


class Usage(Struct, gc=False):
    """Tokens of one model."""

    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    total_tokens: _Count | None = None


class Failure(Struct, gc=False):
    """An error of a sample."""

    message: str = ""


class Limit(Struct, gc=False):
    """The limit that ended a sample."""

    type: str = ""


class Token(Struct, gc=False):
    """A token of a completion with its log probability, and those of others in its place."""

    token: str
    logprob: float
    top_logprobs: list[Token] | None = None


class Logprobs(Struct, gc=False):
    """Tokens of a completion."""

    content: list[Token] | None = None


class Completion(Struct, gc=False):
    """A completion of a model."""

    logprobs: Logprobs | None = None


class Output(Struct, gc=False):
    """What a model returned."""

    choices: list[Completion] | None = None


_FIELDS: dict[str, Any] = {
    "id": int | str,
    "epoch": _Whole,
    "scores": dict[str, Score] | None,
    "score": Score | None,
    "target": str | list[str] | None,
    "choices": list[Any] | None,
    "metadata": dict[str, Raw] | None,
    "output": Output | None,
    "error": str | Failure | None,
    "limit": str | Limit | None,
    "retries": _Count | None,
    "error_retries": list[Any] | None,
    "model_usage": dict[str, Usage] | None,
    "total_time": float | None,
    "working_time": float | None,
    "started_at": str | None,
    "completed_at": str | None,
    "uuid": str | None,
    "invalidation": Any,
    "likelihood": Any,  # what `columns.digested` makes of the output
}


@cache
def sample_type(fields: frozenset[str]) -> type[Struct]:
    """The type of samples with these fields; all else is skipped while decoding."""
    chosen = [
        (name, kind, 1 if name == "epoch" else None)
        for name, kind in _FIELDS.items()
        if name in fields and name != "id"
    ]
    return msgspec.defstruct("Sample", [("id", _FIELDS["id"]), *chosen], gc=False)


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def header_of(data: bytes, name: str) -> Header:
    """The header of a log."""
    header: Header
    try:
        header = _decoder(Header).decode(data)
    except REFUSED:
        header = converted(decoded(data, name), Header, name)
    return header


def samples_of(batch: bytes, fields: Collection[str], name: str) -> list[Sample]:
    """Samples of a JSON list of them."""
    kind = sample_type(frozenset(fields))
    return records(batch, _decoder(list[kind]), lambda plain: _sample(plain, kind, name), name)  # type: ignore[valid-type]


def _sample(plain: Any, kind: type[Struct], name: str) -> Sample:
    called = f"{name}, sample {plain.get('id')!r:.80}" if isinstance(plain, dict) else name
    if isinstance(plain, dict) and isinstance(known := plain.get("metadata"), dict):
        texts = {key: Raw(json.dumps(value).encode()) for key, value in known.items()}
        plain = {**plain, "metadata": texts}
    return converted(plain, kind, called)


def converted(plain: Any, kind: type[Any], name: str) -> Any:
    """What the standard library has read, as one of these types; InputError if it is none."""
    try:
        return msgspec.convert(_whole(plain), kind)
    except (msgspec.ValidationError, OverflowError) as error:
        raise InputError(f"{name}: {error}; is it a log of Inspect?") from error


def _whole(value: Any) -> Any:
    """A value without single surrogates, which no table can hold."""
    if isinstance(value, str):
        return value if is_whole(value) else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    return value
