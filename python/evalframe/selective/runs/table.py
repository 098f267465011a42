"""Item tables as runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
from polars import selectors

from evalframe.core.errors import Argument, InputError, MissingColumnsError, did_you_mean
from evalframe.selective.runs.items import COLUMNS
from evalframe.selective.runs.reader import Run, open_run
from evalframe.selective.runs.writer import encode_run
from evalframe.selective.severity import ITEM_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame

_INDEX: dict[str, int] = {name: place for place, name in enumerate(ITEM_NAMES)}


def run_of_items(
    items: Frame,
    *,
    mode: str | None = None,
    signals: Sequence[str] | None = None,
    failed: Iterable[int] = (),
    path: Path | None = None,
    rules: Rules = "documented",
) -> Run:
    """An item table as a run, so that it is evaluated like a run document.

    Args:
        items: `participant_id`, `prediction` (null abstains), `label`, `item_index` (0 to 7) or
            `item`, and signals; eight rows for each participant, in any order.
        mode: Read only rows whose column `mode` says so; by default all, of a single mode.
        signals: Columns to have as signals, where the table has them; by default all further
            columns that are numbers.
        failed: Ids of participants who failed, of whom an item table has no rows.
        path: Where the table is from.
        rules: As for `open_run`.

    Raises:
        InputError: No rows of this mode, or of several modes.
        MissingColumnsError: A column is absent.
        ContractError: A participant has not eight items, or a value is no number.

    Example:
        >>> from evalframe.selective.sample import sample_signals
        >>> items = sample_signals(participants=3).sample(fraction=1, shuffle=True, seed=0)
        >>> run = run_of_items(items, mode="few_shot")
        >>> run.mode, run.included.to_list(), len(run.items)
        ('few_shot', [300, 301, 302], 24)
    """
    table = _ordered(_of_mode(items, mode).collect())
    table = table.with_columns(selectors.boolean().cast(pl.Float64))
    numeric = [column.name for column in table if column.dtype.is_numeric()]
    wanted = table.columns if signals is None else signals
    names = [name for name in wanted if name in numeric and name not in COLUMNS]
    named = _single_mode(table, mode)
    document = encode_run(table, mode=named or "items", signals=names, failed=failed)
    run = open_run(document, signals=names, rules=rules)
    return replace(run, mode=named, path=path)


def _of_mode(items: Frame, mode: str | None) -> pl.LazyFrame:
    rows = items.lazy()
    if mode is None:
        return rows
    present = rows.collect_schema().names()
    if "mode" not in present:
        raise MissingColumnsError.of(f"mode {mode!r}", ["mode"], present)
    return rows.filter(pl.col("mode") == mode)


def _single_mode(table: pl.DataFrame, mode: str | None) -> str | None:
    """The mode of the rows, if a column says so.

    Raises:
        InputError: They are of several, or none is of the mode that was asked for.
    """
    if mode is not None and table.is_empty():
        raise InputError(f"no item is of mode {mode!r}")
    modes = table["mode"].unique().sort().to_list() if "mode" in table.columns else []
    if len(modes) > 1:
        named = ", ".join(map(repr, modes))
        raise InputError(
            f"the items are of {len(modes)} modes; say which to read by ",
            Argument("mode"),
            f": {named}",
        )
    return str(modes[0]) if modes else None


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    """By participant and item, with both names of an item."""
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
        place = pl.col("item").replace_strict(_INDEX, return_dtype=pl.Int64)
        table = table.with_columns(item_index=place)
    if "item" not in table.columns:
        name = pl.col("item_index").replace_strict(
            dict(enumerate(ITEM_NAMES)), default=None, return_dtype=pl.String
        )
        table = table.with_columns(item=name)
    return table.sort("participant_id", "item_index", maintain_order=True)
