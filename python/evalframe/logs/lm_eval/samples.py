"""Samples of a task in lm-evaluation-harness, a line per document and filter, as a frame of lines.

Which metrics a line has, it says itself; older lines do not, and then every number in them is one.
The choices of a multiple choice are requests of one line, each with the log likelihood it got.
"""

from __future__ import annotations

import re
from itertools import chain, compress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Raw

from evalframe.core.errors import InputError
from evalframe.logs.lines import NULL, Lines, as_json, as_text, lines_of
from evalframe.logs.table import METADATA, Wanted

METRIC = "metric:"
"""Begin of the columns with the values of a metric, as JSON text."""

_HASHES = ("doc_hash", "prompt_hash", "target_hash")
_CONTENT = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
_FIELDS = frozenset({*_HASHES, *_CONTENT})
_TWICE = "acc_mutual_info"
"""The metric for which each choice is asked for again without its context, after all others."""
_NUMBER = re.compile(r"-?\d|true$|false$|NaN$|-?Infinity$")
_NAMES = msgspec.json.Decoder(list[str] | None)


class _Argument(msgspec.Struct, gc=False):
    """A request; `arg_1` is a continuation, or the settings of a generation."""

    arg_1: Raw = NULL


class _Response(msgspec.Struct, array_like=True, gc=False):
    """Log likelihood of a continuation, and whether it is the most likely one."""

    likelihood: Raw


_ARGUMENTS = dict[str, _Argument] | list[list[Raw]] | None


def read_lines(path: Path, wanted: Wanted, delimiter: str) -> pl.DataFrame:
    """A row per line: sample_id, filter, the wanted columns, and `metric:acc` for a metric `acc`.

    Args:
        path: The file.
        wanted: Columns that are read.
        delimiter: What stands between a prompt and its choice.
    """
    empty = pl.DataFrame(schema={"sample_id": pl.String, "filter": pl.String})
    return pl.concat(
        [empty, *(_part(lines, wanted, delimiter) for lines in lines_of(path))], how="diagonal"
    )


def score_of(value: pl.Expr) -> pl.Expr:
    """The score that the JSON text of a value is: a number or a truth, else null."""
    number = pl.when(~value.str.starts_with('"')).then(value.cast(pl.Float64, strict=False))
    return pl.when(value == "true").then(1.0).when(value == "false").then(0.0).otherwise(number)


def _part(lines: Lines, wanted: Wanted, delimiter: str) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {
        "sample_id": _ids(lines),
        "filter": [name or "none" for name in lines.values("filter", str | None)],
    }
    if wanted.any("target"):
        columns["target"] = [*map(as_text, lines.values("target", Any))]
    if wanted.metadata:
        docs = lines.values("doc", dict[str, Raw] | None)
        for name in wanted.metadata:
            columns[METADATA + name] = [str((doc or {}).get(name, NULL), "utf-8") for doc in docs]
    columns |= _metrics(lines)
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String()))
    if wanted.any("answer", "n_choices", "confidence"):
        frame = pl.concat([frame, _answers(lines, delimiter)], how="horizontal")
    return frame


def _ids(lines: Lines) -> list[str]:
    ids = [*map(as_text, lines.values("doc_id", Any))]
    if None in ids:
        place = lines.at(ids.index(None))
        raise InputError(f"{place}: no doc_id; is it a line of samples of lm-evaluation-harness?")
    return [str(each) for each in ids]


def _metrics(lines: Lines) -> dict[str, list[Any]]:
    """The values of each metric as JSON text, null where it is no metric of the line."""
    said = [bytes(raw) for raw in lines.raw("metrics")]
    try:
        named = {raw: _NAMES.decode(raw) for raw in {*said}}
    except msgspec.DecodeError:
        lines.values("metrics", list[str] | None)  # raises, and names the line
        raise
    columns = {}
    for name in dict.fromkeys(chain.from_iterable(names or () for names in named.values())):
        texts = lines.texts(name)
        if len(named) > 1:
            has = {raw: names is None or name in names for raw, names in named.items()}
            texts = [text if has[raw] else None for text, raw in zip(texts, said, strict=True)]
        columns[METRIC + name] = texts
    if None not in named.values():
        return columns
    for name in dict.fromkeys(key for row in lines.rows for key in row):
        if name not in _FIELDS and METRIC + name not in columns:
            numbers = [
                text if text and named[raw] is None and _NUMBER.match(text) else None
                for text, raw in zip(lines.texts(name), said, strict=True)
            ]
            if any(numbers):
                columns[METRIC + name] = numbers
    return columns


def _answers(lines: Lines, delimiter: str) -> pl.DataFrame:
    """Answer, number of choices and confidence of each line."""
    asked = [_continuations(each) for each in lines.values("arguments", _ARGUMENTS)]
    is_choice = [len(texts) > 1 for texts in asked]
    chosen, others = lines.only(is_choice), lines.only([not each for each in is_choice])
    places = np.arange(len(asked), dtype=np.uint32)
    choices = _choices(chosen, [*compress(asked, is_choice)], delimiter)
    answers = pl.DataFrame(
        {
            "place": places[~np.array(is_choice, bool)],
            "answer": [_answer(each) for each in others.values("filtered_resps", Any)],
        },
        schema={"place": pl.UInt32, "answer": pl.String},
    )
    found = choices.with_columns(place=places[is_choice])
    return pl.concat([found, answers], how="diagonal").sort("place").drop("place")


def _continuations(arguments: dict[str, _Argument] | list[list[Raw]] | None) -> list[Raw]:
    """What the model was asked to continue with, as JSON; empty if one of them is no text."""
    if isinstance(arguments, dict):
        texts = [each.arg_1 for each in arguments.values()]
    else:  # as older versions wrote them
        texts = [each[1] if len(each) > 1 else NULL for each in arguments or ()]
    return texts if all(bytes(text)[:1] == b'"' for text in texts) else []


def _answer(responses: Any) -> str | None:
    """The filtered response; of several, or of a likelihood, the JSON."""
    if isinstance(responses, list) and len(responses) == 1:
        (responses,) = responses
    return responses if isinstance(responses, str) or responses is None else as_json(responses)


def _choices(lines: Lines, asked: list[list[Raw]], delimiter: str) -> pl.DataFrame:
    """The most likely choice of each line, the number of choices, and the share of that choice.

    The share is the softmax of the log likelihoods, 1 / sum(exp(l - max l)) at the maximum.
    """
    responses = lines.values("filtered_resps", list[_Response])
    twice = [_TWICE in (names or ()) for names in lines.values("metrics", list[str] | None)]
    n = np.array([len(texts) // (1 + each) for texts, each in zip(asked, twice, strict=True)], int)
    for row, (few, has) in enumerate(zip(n, responses, strict=True)):
        if len(has) < few:
            raise InputError(f"{lines.at(row)}: {few} choices have {len(has)} filtered_resps")
    rows = np.arange(len(n)).repeat(n)
    texts = chain.from_iterable(texts[:few] for texts, few in zip(asked, n, strict=True))
    likelihoods = chain.from_iterable(has[:few] for has, few in zip(responses, n, strict=True))
    flat = pl.DataFrame(
        {
            "row": rows,
            "choice": msgspec.json.decode(b"[%b]" % b",".join(texts), type=list[str]),
            "l": [str(each.likelihood, "utf-8") for each in likelihoods],
        },
        schema={"row": pl.UInt32, "choice": pl.String, "l": pl.String},
    )
    likelihood = pl.col("l")
    flat = flat.with_columns(
        pl.col("choice").str.strip_prefix(delimiter),
        likelihood.str.strip_chars('"').cast(pl.Float64, strict=False),
    )
    share = 1 / (likelihood - likelihood.max()).exp().sum()
    return (
        flat.group_by("row", maintain_order=True)
        .agg(
            answer=pl.col("choice").get(likelihood.arg_max()),
            n_choices=pl.len().cast(pl.Int64),
            confidence=pl.when(likelihood.is_not_nan().all()).then(share.fill_nan(None)),
        )
        .drop("row")
    )
