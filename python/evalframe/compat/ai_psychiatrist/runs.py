"""Runs: one experiment of a run document, or an item table, with its participants.

With `strict=False` a document is read as the original reads it:

| in the document | strict | as the original |
|---|---|---|
| a prediction or label that is true or false | an error | 1 or 0 |
| a label that is not a number although the prediction is null | an error | null |
| a signal that is written as NaN | an error | as if the item had no such key |
| an experiment without `results` | an error | nobody was attempted |
| a second experiment of the same mode | the first is read, with a warning | without a warning |
| a participant with several successful entries | all are read, with a warning | without a warning |

Both check more than the original, which looks only at what it needs: without `signals=` every known
signal must be a number or null, predictions of participants who are not evaluated must be numbers,
and ids must fit into 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from polars import selectors

from evalframe.compat.ai_psychiatrist.documents import Source, entries, open_document, select
from evalframe.compat.ai_psychiatrist.items import COLUMNS, named, tabulate
from evalframe.compat.ai_psychiatrist.writer import encode_run
from evalframe.core.documents import Read
from evalframe.core.errors import (
    Argument,
    InputError,
    MissingColumnsError,
    RunWarning,
    did_you_mean,
    warn,
)
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.selective.total_score import ITEM_NAMES

_INDEX: dict[str, int] = {name: index for index, name in enumerate(ITEM_NAMES)}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One experiment of a run document.

    Attributes:
        items: The item table, see `open_run`.
        included: Ids of participants with a successful entry, sorted.
        failed: Ids of participants with a failed entry, sorted; they can be in both.
        repeated: Ids of participants with several successful entries, all of which are in `items`.
        run_id: Id of the run in the document, or None.
        git_commit: Commit of the program in the document, or None.
        mode: Mode of the results; None if only the provenance names one.
        requested_mode: The mode that was requested, if any.
        path: The file; None for a document in memory.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import open_run, sample_document
        >>> open_run(sample_document(participants=10), mode="few_shot").failed.to_list()
        [308]
    """

    items: pl.DataFrame
    included: pl.Series
    failed: pl.Series
    repeated: pl.Series
    run_id: Any
    git_commit: Any
    mode: Any
    path: Path | None
    requested_mode: str | None = None

    @property
    def name(self) -> str:
        """The run in messages."""
        return "run document" if self.path is None else str(self.path)


def open_run(
    path: Source,
    *,
    mode: str | None = None,
    signals: str | Sequence[str] | None = None,
    strict: bool = True,
) -> Run:
    """One experiment of a run document: its items, and who succeeded or failed.

    The item table has one row per item of each successful entry, entries in the order of the
    document, items in index order: `participant_id` (Int64), `item_index` (0 to 7), `item`,
    `prediction` (null is an abstention) and `label` (Int64, or Float64 if one of them is a
    fraction), then one Float64 column per signal. In a signal null is the document's null, and NaN
    means that the key is missing; a missing `llm_evidence_count`, and no other signal, is 0.

    An entry fails if its `success` is false, null, 0, empty or missing; nothing else of it is read.
    Ids are converted as Python's `int` does: "301" and 301.9 are 301.

    Args:
        path: The file, its bytes, or the decoded document.
        mode: The experiment to read, by the mode that its provenance or its results name. Required
            if there are several experiments.
        signals: The signals to read as columns, in this order; a value that is not a number is an
            error. By default the ten of the original that occur, `llm_evidence_count` always, and
            every other one that is a number somewhere, otherwise NaN. True and false are 1 and 0,
            but an error in `verbalized_confidence`; `llm_evidence_count` may be text such as "3".
        strict: False reads what the original accepts; see the table at the head of this module.

    Returns:
        The items as a table, and the ids of participants who succeeded and failed.

    Raises:
        InputError: The experiment is missing or ambiguous, an item is missing, or a value has the
            wrong type.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import open_run, sample_document
        >>> run = open_run(sample_document(participants=3), mode="few_shot", signals="token_msp")
        >>> run.mode, run.included.to_list(), run.failed.to_list()
        ('few_shot', [300, 301, 302], [])
        >>> run.items.row(2)
        (300, 2, 'Sleep', None, 0, 0.9273)
    """
    return _open(path, mode, signals, strict)


def read_run(
    path: Source,
    *,
    mode: str | None = None,
    signals: str | Sequence[str] | None = None,
    strict: bool = True,
) -> pl.DataFrame:
    """The items of one experiment of a run document: `open_run(...).items`.

    Only successful entries have items; `open_run` also lists who failed. A participant with several
    successful entries has all of them in the table, with a warning.

    Args:
        path: As for `open_run`, as are all other arguments.
        mode: The experiment to read.
        signals: The signals to read as columns.
        strict: False reads what the original accepts.

    Returns:
        The item table of `open_run`.

    Raises:
        InputError: As for `open_run`.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import read_run
        >>> document = {"experiments": [{"results": {"mode": "zero_shot", "results": []}}]}
        >>> read_run(document, mode="zero_shot").columns
        ['participant_id', 'item_index', 'item', 'prediction', 'label', 'llm_evidence_count']
    """
    run = _open(path, mode, signals, strict)
    if len(run.repeated) and strict:
        first = ", ".join(map(str, run.repeated[:5])) + ", ..." * (len(run.repeated) > 5)
        warn(
            f"{run.name}: {len(run.repeated)} participants have several successful entries, all"
            f" of which are in the table: {first}. Keep one entry of each, or count both.",
            RunWarning,
        )
    return run.items


def _open(
    source: Source, mode: str | None, signals: str | Sequence[str] | None, strict: bool
) -> Run:
    columns = None if signals is None else named(signals)
    document = open_document(source)
    experiment, matching = select(document, mode)
    if matching > 1 and strict:
        warn(
            f"{document.name} has {matching} experiments of mode {mode!r}; the first is read."
            " Give the others a mode of their own to read them.",
            RunWarning,
        )
    name = document.name
    read = tabulate(
        entries(experiment, name, strict=strict), signals=columns, strict=strict, name=name
    )
    return Run(
        *read,
        run_id=document.run_id,
        git_commit=document.git_commit,
        mode=experiment.mode,
        path=document.path,
        requested_mode=mode,
    )


@any_frame
def run_of_items(
    items: Frame,
    *,
    mode: str | None = None,
    signals: Sequence[str] | None = None,
    failed: Iterable[int] = (),
    path: Path | None = None,
    strict: bool = True,
) -> Run:
    """An item table as a run, to evaluate it like a run document.

    Args:
        items: `participant_id`, `prediction` (null abstains), `label`, `item_index` (0 to 7) or
            `item`, and signals; eight rows for each participant, in any order.
        mode: Read only rows of this mode, by the column `mode`; by default all rows.
        signals: Columns to read as signals, if present; by default all other numeric columns.
        failed: Ids of participants who failed, who have no rows in an item table.
        path: The file of the table.
        strict: See `open_run`.

    Returns:
        The run. Who failed is what `failed` says, since an item table has no rows of them.

    Raises:
        InputError: No row has this mode, or `mode` is not set and rows have several.
        ContractError: A participant does not have eight items, or a value is not a number.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import run_of_items
        >>> from evalframe.selective.sample import sample_signals
        >>> items = sample_signals(participants=3).sample(fraction=1, shuffle=True, seed=0)
        >>> run = run_of_items(items, mode="few_shot")
        >>> run.mode, run.included.to_list(), len(run.items)
        ('few_shot', [300, 301, 302], 24)
    """
    rows = items.lazy()
    if mode is not None:
        columns = rows.collect_schema().names()
        if "mode" not in columns:
            raise MissingColumnsError.of(f"mode {mode!r}", ["mode"], columns)
        rows = rows.filter(pl.col("mode") == mode)
    table = _ordered(rows.collect())
    if mode is not None and table.is_empty():
        raise InputError(f"no item is of mode {mode!r}")
    table = table.with_columns(selectors.boolean().cast(pl.Float64))
    numeric = [column.name for column in table if column.dtype.is_numeric()]
    selected = table.columns if signals is None else signals
    names = [name for name in selected if name in numeric and name not in COLUMNS]
    single = _single_mode(table)
    document = encode_run(table, mode=single or "items", signals=names, failed=failed)
    run = open_run(document, signals=names, strict=strict)
    return replace(run, mode=single, path=path)


def _single_mode(table: pl.DataFrame) -> str | None:
    """The mode of the rows, if there is such a column; InputError if there are several."""
    modes = table["mode"].unique().sort().to_list() if "mode" in table.columns else []
    if len(modes) > 1:
        names = ", ".join(map(repr, modes))
        raise InputError(
            f"the items are of {len(modes)} modes; say which to read by ",
            Argument("mode"),
            f": {names}",
        )
    return str(modes[0]) if modes else None


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    """Sort by participant and item, with both names of an item."""
    missing = {"participant_id", "prediction", "label"} - {*table.columns}
    if not {"item", "item_index"} & {*table.columns}:
        missing.add("item_index")
    if missing:
        raise MissingColumnsError.of("a run", missing, table.columns)
    if "item_index" not in table.columns:
        unknown = table.filter(~pl.col("item").is_in(ITEM_NAMES))
        if len(unknown):
            hint = did_you_mean(str(unknown["item"][0]), ITEM_NAMES)
            raise InputError(
                f"{len(unknown)} rows have an item that the questionnaire lacks, such as "
                f"{unknown['item'][0]!r}.{hint} Known: {', '.join(ITEM_NAMES)}"
            )
        index = pl.col("item").replace_strict(_INDEX, return_dtype=pl.Int64)
        table = table.with_columns(item_index=index)
    if "item" not in table.columns:
        name = pl.col("item_index").replace_strict(
            dict(enumerate(ITEM_NAMES)), default=None, return_dtype=pl.String
        )
        table = table.with_columns(item=name)
    return table.sort("participant_id", "item_index", maintain_order=True)


def open_documents(paths: Sequence[Path]) -> Read:
    """Read the items of run documents, each of one mode."""
    runs = [open_run(path) for path in paths]
    tables = [run.items.with_columns(file=pl.lit(str(run.path))) for run in runs]
    files = [(str(run.path), len(run.items)) for run in runs]
    return Read(pl.concat(tables, how="diagonal").lazy(), files)
