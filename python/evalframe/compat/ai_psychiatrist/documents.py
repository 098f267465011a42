"""Decode a run document and select one of its experiments.

A valid document is decoded by types, which skips experiments that are not requested. A document
that the typed decoder refuses is decoded by the standard library, which accepts NaN and Infinity,
and then checked part by part, so that the error names the place.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import Argument, InputError, ParameterError, did_you_mean

Source: TypeAlias = str | Path | bytes | Mapping[str, Any]


_ABSENT = object()


class _Metadata(Struct, frozen=True):
    run_id: Any = None
    git_commit: Any = None


class _Provenance(Struct, frozen=True):
    mode: Any = None


class _Results(Struct, frozen=True):
    mode: Any = None
    results: Raw = Raw(b"")


class _Experiment(Struct, frozen=True):
    provenance: _Provenance = _Provenance()
    results: _Results = _Results()


class _Document(Struct, frozen=True):
    run_metadata: _Metadata = _Metadata()
    experiments: list[_Experiment] = []


class Entry(Struct, gc=False):
    """One attempt at one participant; `UNSET` is a missing key."""

    participant_id: Any = UNSET
    success: Any = UNSET
    ground_truth_items: Any = UNSET
    predicted_items: Any = UNSET
    item_signals: Any = UNSET


class Experiment(NamedTuple):
    """One experiment: the mode by its provenance and by its results, and its entries."""

    provenance_mode: Any
    mode: Any
    entries: Any
    """Decoded or raw; `_ABSENT` if the experiment has no such key."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A run document; `name` is its name in messages, `path` is None in memory."""

    name: str
    path: Path | None
    run_id: Any
    git_commit: Any
    experiments: list[Experiment]


def open_document(source: Source) -> Document:
    """Read a file, its bytes, or a decoded document."""
    if isinstance(source, str | Path):
        path = Path(source)
        return _decoded(_bytes(path), str(path), path)
    if isinstance(source, bytes):
        return _decoded(source, "run document", None)
    return _checked(source, "run document", None)


def select(document: Document, mode: str | None) -> tuple[Experiment, int]:
    """Return the first experiment of a mode, or the only one, and the number of that mode."""
    if not isinstance(mode, str | None):
        raise ParameterError(f"mode must be a name such as 'few_shot', got {mode!r}")
    name, experiments = document.name, document.experiments
    named = (mode for e in experiments for mode in (e.provenance_mode, e.mode))
    modes = dict.fromkeys(each for each in named if isinstance(each, str))
    names = ", ".join(map(repr, modes)) or "none is named"
    if not experiments:
        raise InputError(f"{name} has no experiments; is it a run document, and is the run over?")
    if mode is None:
        if len(experiments) > 1:
            raise InputError(
                f"{name} has {len(experiments)} experiments; say which to read by ",
                Argument("mode"),
                f". Its modes: {names}.",
            )
        return experiments[0], 1
    matching = [e for e in experiments if mode in (e.provenance_mode, e.mode)]
    if not matching:
        hint = did_you_mean(mode, modes)
        raise InputError(f"{name} has no experiment of mode {mode!r}.{hint} Its modes: {names}.")
    return matching[0], len(matching)


def entries(experiment: Experiment, name: str, *, strict: bool = True) -> list[Entry]:
    """One entry per attempt at a participant, in the order of the document."""
    results = experiment.entries
    if results is _ABSENT and strict:
        raise InputError(f"{name}: the experiment has no list of results; is the run over?")
    if results is _ABSENT:
        return []
    if isinstance(results, Raw):
        try:
            return msgspec.json.decode(results, type=list[Entry])
        except (msgspec.DecodeError, ValueError, RecursionError):
            results = decoded(bytes(results), f"{name}, results of the experiment")
    if not isinstance(results, list):
        kind = described(results)
        raise InputError(f"{name}: the results of an experiment must be a list, not {kind}")
    for number, entry in enumerate(results):
        _object(entry, f"result {number} (numbered from 0)", name)
    keys = Entry.__struct_fields__
    return [Entry(**{key: entry[key] for key in keys if key in entry}) for entry in results]


def described(value: Any) -> str:
    """A JSON value in words, short enough for a message."""
    match value:
        case None:
            return "null"
        case True | False:
            return str(value).lower()
        case dict():
            return "an object"
        case list():
            return "a list"
        case int() | float() | str():
            return reprlib.repr(value)
    return f"a {type(value).__name__}"


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the run document") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _decoded(data: bytes, name: str, path: Path | None) -> Document:
    try:
        data.decode()  # the typed decoder does not check skipped parts
        document = msgspec.json.decode(data, type=_Document)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _checked(decoded(data, name), name, path)
    metadata = document.run_metadata
    experiments = [
        Experiment(
            e.provenance.mode,
            e.results.mode,
            e.results.results if memoryview(e.results.results).nbytes else _ABSENT,
        )
        for e in document.experiments
    ]
    return Document(name, path, metadata.run_id, metadata.git_commit, experiments)


def _checked(plain: Any, name: str, path: Path | None) -> Document:
    """Check a document that the standard library or the caller decoded."""
    document = _object(plain, "a run document", name)
    metadata = _object(document.get("run_metadata", {}), "run_metadata", name)
    listed = document.get("experiments", [])
    if not isinstance(listed, list):
        raise InputError(f"{name}: experiments must be a list, not {described(listed)}")
    experiments = [_experiment(e, number, name) for number, e in enumerate(listed)]
    return Document(name, path, metadata.get("run_id"), metadata.get("git_commit"), experiments)


def _experiment(plain: Any, number: int, name: str) -> Experiment:
    where = f"experiment {number} (numbered from 0)"
    experiment = _object(plain, where, name)
    provenance = _object(experiment.get("provenance", {}), f"provenance of {where}", name)
    results = _object(experiment.get("results", {}), f"results of {where}", name)
    return Experiment(provenance.get("mode"), results.get("mode"), results.get("results", _ABSENT))


def _object(value: Any, what: str, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: {what} must be an object, not {described(value)}")
    return value
