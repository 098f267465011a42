"""Decode a run document and select one of its experiments.

A well-formed document is decoded by types: experiments that are not asked for are skipped over.
Whatever the typed decoder refuses goes to the standard library, which accepts NaN and Infinity, and
is then checked piece by piece, so that an error can say what was found where.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import Argument, InputError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalframe.selective.runs.shapes import Entry

    Source: TypeAlias = str | Path | bytes | Mapping[str, Any]


_ABSENT = object()


class Experiment(NamedTuple):
    """One experiment: its two statements of the mode, and its entries, decoded or not."""

    provenance_mode: Any
    mode: Any
    entries: Any
    """`_ABSENT` where the experiment has no such key."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A run document.

    Attributes:
        name: What messages call it.
        path: Its file; None for a document in memory.
        run_id: As the document says, or None.
        git_commit: Likewise.
        experiments: In its order.
    """

    name: str
    path: Path | None
    run_id: Any
    git_commit: Any
    experiments: list[Experiment]


def open_document(source: Source) -> Document:
    """Read a file, the bytes of one, or an already decoded document.

    Raises:
        InputError: No such file, no JSON, or pieces of the wrong type.

    >>> document = open_document({"experiments": [{"results": {"mode": "zero_shot"}}]})
    >>> document.run_id, document.experiments[0].mode
    (None, 'zero_shot')
    """
    if isinstance(source, str | Path):
        path = Path(source)
        return _decoded(_bytes(path), str(path), path)
    if isinstance(source, bytes):
        return _decoded(source, "run document", None)
    return _checked(source, "run document", None)


def select(document: Document, mode: str | None) -> tuple[Experiment, int]:
    """The first experiment of a mode, or the only one, and how many there are of that mode.

    Raises:
        InputError: No experiment, none of this mode, or several and no mode.
        ParameterError: The mode is no name.

    >>> select(open_document({"experiments": [{"provenance": {"mode": "a"}}]}), "b")
    Traceback (most recent call last):
    evalframe.core.errors.InputError: run document has no experiment of mode 'b'. Its modes: 'a'.
    """
    if not isinstance(mode, str | None):
        raise ParameterError(f"mode must be a name such as 'few_shot', got {mode!r}")
    name, experiments = document.name, document.experiments
    modes = dict.fromkeys(m for e in experiments for m in e[:2] if isinstance(m, str))
    named = ", ".join(map(repr, modes)) or "none is named"
    if not experiments:
        raise InputError(f"{name} has no experiments; is it a run document, and is the run over?")
    if mode is None:
        if len(experiments) > 1:
            raise InputError(
                f"{name} has {len(experiments)} experiments; say which to read by ",
                Argument("mode"),
                f". Its modes: {named}.",
            )
        return experiments[0], 1
    matching = [e for e in experiments if mode in (e.provenance_mode, e.mode)]
    if not matching:
        hint = did_you_mean(mode, modes)
        raise InputError(f"{name} has no experiment of mode {mode!r}.{hint} Its modes: {named}.")
    return matching[0], len(matching)


def entries(experiment: Experiment, name: str, *, reference: bool = False) -> list[Entry]:
    """One entry per attempt at a participant, in the order of the document.

    Raises:
        InputError: The results are no list, or one of them is no object; or, unless `reference`,
            there are none, which is not the same as an empty list of them.
    """
    import msgspec

    from evalframe.selective.runs.shapes import Entry

    found = experiment.entries
    if found is _ABSENT and not reference:
        raise InputError(f"{name}: the experiment has no list of results; is the run over?")
    if found is _ABSENT:
        return []
    if isinstance(found, msgspec.Raw):
        try:
            return msgspec.json.decode(found, type=list[Entry])
        except (msgspec.DecodeError, ValueError, RecursionError):
            found = decoded(bytes(found), f"{name}, results of the experiment")
    if not isinstance(found, list):
        raise InputError(f"{name}: the results of an experiment must be a list, not {told(found)}")
    for number, entry in enumerate(found):
        _object(entry, f"result {number} (numbered from 0)", name)
    keys = Entry.__struct_fields__
    return [Entry(**{key: entry[key] for key in keys if key in entry}) for entry in found]


def told(value: Any) -> str:
    """What a JSON value is, in words and short enough for a message.

    >>> told([1, 2]), told("high"), told(None), told({})
    ('a list', "'high'", 'null', 'an object')
    """
    import reprlib

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
    import msgspec

    from evalframe.selective.runs import shapes

    try:
        data.decode()  # what is skipped over is not looked at
        document = msgspec.json.decode(data, type=shapes.Document)
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
    """The same of a document that the standard library decoded, or the caller."""
    document = _object(plain, "a run document", name)
    metadata = _object(document.get("run_metadata", {}), "run_metadata", name)
    found = document.get("experiments", [])
    if not isinstance(found, list):
        raise InputError(f"{name}: experiments must be a list, not {told(found)}")
    experiments = [_experiment(e, number, name) for number, e in enumerate(found)]
    return Document(name, path, metadata.get("run_id"), metadata.get("git_commit"), experiments)


def _experiment(plain: Any, number: int, name: str) -> Experiment:
    place = f"experiment {number} (numbered from 0)"
    experiment = _object(plain, place, name)
    provenance = _object(experiment.get("provenance", {}), f"provenance of {place}", name)
    results = _object(experiment.get("results", {}), f"results of {place}", name)
    return Experiment(provenance.get("mode"), results.get("mode"), results.get("results", _ABSENT))


def _object(value: Any, what: str, name: str) -> Mapping[str, Any]:
    from collections.abc import Mapping

    if not isinstance(value, Mapping):
        raise InputError(f"{name}: {what} must be an object, not {told(value)}")
    return value
