"""Write item tables, such as the sample of the selective family, to run documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from polars import selectors

from evalframe.compat.ai_psychiatrist.documents import Entry
from evalframe.compat.ai_psychiatrist.items import COLUMNS, fits, named
from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import ParameterError
from evalframe.core.files import replacing
from evalframe.core.frames import any_frame
from evalframe.core.samples import SampleFile
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.selective import sample
from evalframe.selective.total_score import ITEM_NAMES

_EACH = len(ITEM_NAMES)
_ROW = "__evalframe_position__"


@any_frame
def write_run(
    items: Frame | Mapping[str, Frame],
    path: str | Path,
    *,
    mode: str | None = None,
    signals: str | Sequence[str] | None = None,
    failed: Iterable[int] | Mapping[str, Iterable[int]] = (),
    run_id: str | None = None,
    git_commit: str | None = None,
) -> Path:
    """Write an item table to a run document, atomically; return its path.

    `read_run` with the same signals in their order returns the same table: ids and `item_index` as
    Int64, signals as Float64, answers as Float64 if one of them is a float, otherwise as Int64.
    Without `signals` it has its own order, adds `llm_evidence_count`, and leaves out a signal that
    is NaN in all rows.

    The table has eight rows per entry, in the order of `item_index`; eight more rows of the same
    participant are another entry. A null signal is written as null. A NaN signal is left out, and
    reads as 0 if it is `llm_evidence_count`. JSON has no infinity.

    Args:
        items: The table, or several by mode, each of which becomes an experiment.
        path: The file; replaced if it exists.
        mode: The mode of a single table.
        signals: Columns to write as signals; by default all after the item table's first five,
            which must then be numbers.
        failed: Ids of participants who failed; by mode if there are several tables.
        run_id: Id of the run.
        git_commit: Commit of the program that made it.

    Returns:
        The path of the file.

    Raises:
        ContractError: The table is not an item table, or not in order; nothing is written.
        ParameterError: Both or neither of a mode and tables by mode.

    Examples:
        >>> import tempfile
        >>> from evalframe.compat.ai_psychiatrist import read_run, sample_document, write_run
        >>> items = read_run(sample_document(participants=3), mode="few_shot")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = write_run(items, f"{folder}/run.json", mode="few_shot")
        ...     read_run(path, mode="few_shot").equals(items)
        True
    """
    document = encode_run(
        items, mode=mode, signals=signals, failed=failed, run_id=run_id, git_commit=git_commit
    )
    target = Path(path)
    with replacing(target) as partial:
        partial.write_bytes(document)
    return target


@any_frame
def encode_run(
    items: Frame | Mapping[str, Frame],
    *,
    mode: str | None = None,
    signals: str | Sequence[str] | None = None,
    failed: Iterable[int] | Mapping[str, Iterable[int]] = (),
    run_id: str | None = None,
    git_commit: str | None = None,
) -> bytes:
    """The run document that `write_run` writes, as UTF-8 JSON.

    Args:
        items: As for `write_run`, as are all other arguments.
        mode: The mode of a single table.
        signals: Columns to write as signals.
        failed: Ids of participants who failed.
        run_id: Id of the run.
        git_commit: Commit of the program that made it.

    Returns:
        The document.

    Raises:
        ContractError: The table is not an item table, or not in order.
        ParameterError: Both or neither of a mode and tables by mode.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import encode_run, open_run, sample_document
        >>> items = open_run(sample_document(participants=2), mode="few_shot").items
        >>> copy = open_run(encode_run(items, mode="few_shot", failed=[999]))
        >>> copy.items.height, copy.failed.to_list()
        (16, [999])
    """
    tables = _by_mode(items, mode)
    failures = _failures(failed, list(tables))
    names = None if signals is None else named(signals)
    experiments = [
        {
            "provenance": {"mode": name},
            "results": {
                "mode": name,
                "results": [
                    *_successes(table, names, name),
                    *(Entry(i, success=False) for i in failures.get(name, ())),
                ],
            },
        }
        for name, table in tables.items()
    ]
    metadata = {"run_id": run_id, "git_commit": git_commit}
    return msgspec.json.encode({"run_metadata": metadata, "experiments": experiments})


def sample_document(*, participants: int = 60, seed: int = 0) -> bytes:
    """The sample as a run document with an experiment for each mode, as JSON.

    Args:
        participants: Number of participants that were attempted.
        seed: Seed of the items.

    Returns:
        The document as UTF-8 JSON, for `open_run`.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import open_run, sample_document
        >>> run = open_run(sample_document(participants=10), mode="few_shot")
        >>> run.included.len(), run.failed.to_list()
        (9, [308])
    """
    items = sample.sample_signals(participants=participants, seed=seed)
    attempted = sample.sample_participants(participants=participants, seed=seed)
    tables, failed = {}, {}
    for mode in sample.MODES:
        tables[mode] = items.filter(mode=mode).drop("mode")
        failed[mode] = attempted.filter(mode=mode, status="failed")["participant_id"].to_list()
    return encode_run(tables, failed=failed, run_id=f"sample-{participants}-{seed}")


def sample_files(*, participants: int = 60, seed: int = 0) -> list[SampleFile]:
    """The sample of the family as files, and the same answers as a run document."""
    return [
        *sample.sample_files(participants=participants, seed=seed),
        SampleFile(
            name="run.json",
            row="a run document with an experiment for each mode, as `read_run` reads it",
            generator="evalframe.compat.ai_psychiatrist.sample_document"
            f"(participants={participants}, seed={seed})",
            seed=seed,
            content=sample_document(participants=participants, seed=seed),
        ),
    ]


def _by_mode(items: Frame | Mapping[str, Frame], mode: str | None) -> dict[str, Frame]:
    if isinstance(items, Mapping):
        if mode is not None:
            raise ParameterError(f"items names its modes itself; leave out mode={mode!r}")
        if not items:
            raise ParameterError("items has no table; a run document has at least one experiment")
        for name in items:
            if not name or not isinstance(name, str):
                raise ParameterError(f"a mode must be a name such as 'few_shot', got {name!r}")
        return dict(items)
    if not mode or not isinstance(mode, str):
        raise ParameterError(
            "name the mode of this table: write_run(items, path, mode='few_shot'), not "
            f"mode={mode!r}"
        )
    return {mode: items}


def _failures(
    failed: Iterable[int] | Mapping[str, Iterable[int]] | None, modes: Sequence[str]
) -> dict[str, list[int]]:
    if not isinstance(failed, Mapping):
        ids = _ids(failed)
        if ids and len(modes) > 1:
            raise ParameterError("failed must name participants by mode, as items: {mode: ids}")
        return dict.fromkeys(modes, ids)
    for name in failed:
        if name not in modes:
            raise ParameterError(f"failed names mode {name!r}; items has {sorted(modes)}")
    return {name: _ids(ids) for name, ids in failed.items()}


def _ids(failed: Iterable[int] | None) -> list[int]:
    if not isinstance(failed, Iterable | None):
        raise ParameterError(f"failed must list ids of participants, got {failed!r}")
    ids = [] if failed is None else list(failed)
    for participant in ids:
        if not isinstance(participant, int) or isinstance(participant, bool):
            raise ParameterError(f"failed holds {participant!r}; ids of participants are integers")
        if not fits(participant):
            raise ParameterError(
                f"failed holds an id that does not fit into 64 bits: {participant}"
            )
    return ids


def _successes(table: Frame, signals: Sequence[str] | None, mode: str) -> Iterator[Entry]:
    # As floats, since decimals would be text in JSON.
    items = lazy(table).with_columns(selectors.decimal().cast(pl.Float64)).collect()
    names = [n for n in items.columns if n not in COLUMNS] if signals is None else signals
    _check(items, names, mode)
    columns = (items[name].to_list() for name in names)
    maps: Iterable[dict[str, Any]] = ({} for _ in range(len(items)))
    if names:
        rows = zip(*columns, strict=True)
        maps = ({k: v for k, v in zip(names, row, strict=True) if v == v} for row in rows)
    ids = items["participant_id"].gather_every(_EACH).to_list()
    entries = (_eights(values) for values in (items["label"], items["prediction"], maps))
    return (Entry(i, True, *each) for i, *each in zip(ids, *entries, strict=True))


def _eights(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """One object per participant, by item."""
    turns = iter(values)
    return (
        dict(zip(ITEM_NAMES, eight, strict=True)) for eight in zip(*[turns] * _EACH, strict=True)
    )


def _check(items: pl.DataFrame, signals: Sequence[str], mode: str) -> None:
    """Raise unless `read_run` would return the same table."""
    written = ("participant_id", "prediction", "label", *signals)
    integers = [n for n in written if n in items.columns and items.schema[n].is_integer()]
    contract = Contract(
        f"items of mode {mode!r}",
        (
            Column("participant_id", "integer"),
            Column("item_index", "integer"),
            Column("item", "string"),
            Column("prediction", "number", nullable=True, meaning="null is an abstention"),
            Column("label", "number", nullable=True),
            *(Column(name, "number", nullable=True, finite=False) for name in signals),
        ),
        rules=(*_order(len(items)), *map(_fits, integers), *map(_not_infinite, signals)),
    )
    if items.is_empty():
        contract.check_schema(items.schema)
    else:
        validate(items.with_row_index(_ROW), contract)


def _order(rows: int) -> tuple[Rule, ...]:
    row, participant = pl.col(_ROW).cast(pl.Int64), pl.col("participant_id")
    turn = row % _EACH
    name = turn.replace_strict(dict(enumerate(ITEM_NAMES)), return_dtype=pl.String)
    sorted_rows = f"give each participant {_EACH} rows, sorted by participant_id and item_index"
    columns = ("participant_id", "item_index", "item")
    rules = (
        (f"item_index counts from 0 to {_EACH - 1}", pl.col("item_index") == turn, sorted_rows),
        (
            "item is the one of its item_index",
            pl.col("item").cast(pl.String) == name,
            f"call the items in turn {', '.join(ITEM_NAMES)}",
        ),
        (
            f"{_EACH} rows in turn are of one participant",
            participant == participant.gather(row - turn),
            sorted_rows,
        ),
        (f"the last participant has {_EACH} rows", row < rows - rows % _EACH, sorted_rows),
    )
    return tuple(Rule(called, holds, columns, remedy) for called, holds, remedy in rules)


def _not_infinite(signal: str) -> Rule:
    remedy = f"replace infinity in {signal!r} by a number, null, or NaN for no value"
    infinite = _column(signal).cast(pl.Float64).is_infinite()
    return Rule(f"{signal} is not infinite", ~infinite, (signal,), remedy)


def _fits(column: str) -> Rule:
    value = _column(column)
    holds = value.is_null() | value.cast(pl.Int64, strict=False).is_not_null()
    remedy = f"correct {column!r}: it lies in [-2**63, 2**63)"
    return Rule(f"{column} fits into 64 bits", holds, (column,), remedy)


def _column(name: str) -> pl.Expr:
    """The column of this name: `pl.col` reads `*` and `^x$` as patterns."""
    return selectors.by_name(name).as_expr()
