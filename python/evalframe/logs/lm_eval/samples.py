"""Samples of a task in lm-evaluation-harness, a line per document and filter, as a frame of lines.

Which metrics a line has, it says itself; older lines do not, and then every number in them is one.
The choices of a multiple choice are requests of one line, each with the log likelihood it got.
"""

from __future__ import annotations

import re
from itertools import chain, compress
from pathlib import Path
from typing import Any, TypeAlias

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
_NULL = "null"
_NAMES = msgspec.json.Decoder(list[str] | None)


_Value: TypeAlias = str | float | bool | dict[str, Raw] | list[Raw] | None


class _Argument(msgspec.Struct, gc=False):
    """A request; `arg_1` is a continuation, or the settings of a generation."""

    arg_1: _Value = None


class _Response(msgspec.Struct, array_like=True, gc=False):
    """Log likelihood of a continuation, and whether it is the most likely one."""

    value: str | float | None


_ANSWERS = {"answer": pl.String, "n_choices": pl.Int64, "confidence": pl.Float64}
_ARGUMENTS = dict[str, _Argument] | list[list[_Value]] | None


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
    metrics = _metrics(lines)
    frame = pl.DataFrame(
        {**columns, **metrics}, schema=dict.fromkeys([*columns, *metrics], pl.String())
    )
    frame = frame.with_columns(
        pl.when(pl.col(name) != _NULL).then(name).alias(name) for name in metrics
    )
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
    """The values of each metric as JSON text, `null` where it is no metric of the line."""
    said = [bytes(raw) for raw in lines.raw("metrics")]
    named = _named(lines)
    columns = {}
    for name in dict.fromkeys(chain.from_iterable(names or () for names in named.values())):
        texts = lines.texts(name)
        if len(named) > 1:
            has = {raw: names is None or name in names for raw, names in named.items()}
            texts = [text if has[raw] else _NULL for text, raw in zip(texts, said, strict=True)]
        columns[METRIC + name] = texts
    if None not in named.values():
        return columns
    for name in dict.fromkeys(key for row in lines.rows for key in row):
        if name not in _FIELDS and METRIC + name not in columns:
            numbers = [
                text if named[raw] is None and _NUMBER.match(text) else _NULL
                for text, raw in zip(lines.texts(name), said, strict=True)
            ]
            if any(number != _NULL for number in numbers):
                columns[METRIC + name] = numbers
    return columns


def _named(lines: Lines) -> dict[bytes, list[str] | None]:
    """The different lists of metrics that lines have, by their JSON."""
    try:
        known = dict.fromkeys(bytes(raw) for raw in lines.raw("metrics"))
        return {raw: _NAMES.decode(raw) for raw in known}
    except msgspec.DecodeError:
        lines.values("metrics", list[str] | None)  # raises, and names the line
        raise


def _answers(lines: Lines, delimiter: str) -> pl.DataFrame:
    """Answer, number of choices and confidence of each line."""
    asked = [_requests(each) for each in lines.values("arguments", _ARGUMENTS)]
    is_choice = [len(texts) > 1 for texts in asked]
    chosen, others = lines.only(is_choice), lines.only([not each for each in is_choice])
    choices = _choices(chosen, [*compress(asked, is_choice)], delimiter)
    answers = pl.DataFrame(
        {"answer": [_answer(each) for each in others.values("filtered_resps", Any)]},
        schema={"answer": pl.String},
    )
    order = np.argsort(~np.array(is_choice, bool), kind="stable")  # choices, then the others
    return pl.concat([choices, answers], how="diagonal")[np.argsort(order)]


def _requests(arguments: dict[str, _Argument] | list[list[_Value]] | None) -> list[str]:
    """The texts that the model was to continue with; empty if one of them is none."""
    if isinstance(arguments, dict):
        given = [each.arg_1 for each in arguments.values()]
    else:  # as older versions wrote them
        given = [each[1] if len(each) > 1 else None for each in arguments or ()]
    texts = [each for each in given if isinstance(each, str)]
    return texts if len(texts) == len(given) else []


def _answer(responses: Any) -> str | None:
    """The filtered response; of several, or of a likelihood, the JSON."""
    if isinstance(responses, list) and len(responses) == 1:
        (responses,) = responses
    return responses if isinstance(responses, str) or responses is None else as_json(responses)


def _choices(lines: Lines, asked: list[list[str]], delimiter: str) -> pl.DataFrame:
    """The most likely choice of each line, the number of choices, and the share of that choice.

    The share is the softmax of the log likelihoods l at their maximum: 1 / sum(exp(l - max l)).
    Choices of all lines stand in one array, and sums and maxima are those of its segments.
    """
    if not asked:
        return pl.DataFrame(schema=_ANSWERS)
    responses = lines.values("filtered_resps", list[_Response])
    halved = {raw for raw, names in _named(lines).items() if _TWICE in (names or ())}
    shares = (1 + (bytes(raw) in halved) for raw in lines.raw("metrics"))
    n = [len(texts) // share for texts, share in zip(asked, shares, strict=True)]
    for row, (few, has) in enumerate(zip(n, responses, strict=True)):
        if len(has) < few:
            raise InputError(f"{lines.at(row)}: {few} choices have {len(has)} filtered_resps")
    texts = [text for texts, few in zip(asked, n, strict=True) for text in texts[:few]]
    values = [str(each.value) for has, few in zip(responses, n, strict=True) for each in has[:few]]
    starts = np.cumsum([0, *n[:-1]])
    numbers = pl.Series(values).cast(pl.Float64, strict=False)
    for place in numbers.is_null().arg_true().head(1):
        row = int(np.searchsorted(starts, place, side="right")) - 1
        raise InputError(f"{lines.at(row)}: a log likelihood is no number: {values[place]!r:.80}")
    likelihood = numbers.to_numpy()
    largest = np.maximum.reduceat(likelihood, starts)
    with np.errstate(invalid="ignore"):  # if all are -inf
        below = likelihood - largest.repeat(n)
        share = 1 / np.add.reduceat(np.exp(below), starts)
    best = np.flatnonzero(np.nan_to_num(below, nan=0.0) == 0)
    first = best[np.searchsorted(best, starts)].tolist()
    answers = pl.Series([texts[place] for place in first]).str.strip_prefix(delimiter)
    return pl.DataFrame(
        {
            "answer": answers.set(pl.Series(np.isnan(largest)), None),
            "n_choices": n,
            "confidence": pl.Series(share).fill_nan(None),
        },
        schema=_ANSWERS,
    )
