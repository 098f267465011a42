"""Read one experiment of a run document as an item table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalframe.core.rules import check_rules
from evalframe.selective.runs.document import entries, open_document, select
from evalframe.selective.runs.items import named, tabulate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.selective.runs.document import Source


class RunWarning(UserWarning):
    """Something in a run document that is read as it is, and may not be what was meant.

    Examples:
        >>> import json, warnings
        >>> from evalframe.selective import open_run
        >>> from evalframe.selective.sample import sample_document
        >>> document = json.loads(sample_document(participants=2))
        >>> document["experiments"] *= 2
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     run = open_run(document, mode="few_shot")
        >>> print(told[0].category.__name__, told[0].message)
        RunWarning run document has 2 experiments of mode 'few_shot'; the first is read. Give the
        others a mode of their own to read them.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One experiment of a run document.

    Attributes:
        items: The item table, see `open_run`.
        included: Ids of participants with a successful entry, sorted.
        failed: Ids of participants with a failed entry, sorted. Who failed once and succeeded
            once is in both.
        repeated: Ids of participants with more than one successful entry, all of which are in
            `items`.
        run_id: As the document says, or None.
        git_commit: Likewise.
        mode: What the results say; None if only the provenance names a mode.
        requested_mode: The mode that was asked for; None if the document has one experiment and
            none was.
        path: The file; None for a document in memory.

    Examples:
        >>> from evalframe.selective import open_run
        >>> from evalframe.selective.sample import sample_document
        >>> run = open_run(sample_document(participants=10), mode="few_shot")
        >>> run.items.height, len(run.included), run.failed.to_list()
        (72, 9, [308])
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


def open_run(
    path: Source,
    *,
    mode: str | None = None,
    signals: str | Sequence[str] | None = None,
    rules: Rules = "documented",
) -> Run:
    """One experiment of a run document: its items, and who succeeded or failed.

    The item table has one row per item of each successful entry, entries as they come, items in
    index order: `participant_id` (Int64), `item_index` (0 to 7), `item`, `prediction` (null is an
    abstention) and `label` (Int64, or Float64 if any of them is a fraction), then one Float64
    column per signal. In a signal null is the document's null, and NaN says that it has no such
    key there; an absent `llm_evidence_count`, and no other signal, is 0 instead. A label may be
    null. Abstained items carry their signals like all others.

    An entry fails if its `success` is false, null, 0, empty or absent; nothing else of it is read.
    Ids are converted as Python's `int` does: "301" and 301.9 are 301.

    Args:
        path: The file, its bytes, or the decoded document.
        mode: The experiment to read, by the mode that its provenance or its results name. Needed
            if there are several experiments; of several of this mode the first is read, with a
            warning.
        signals: The signals to have as columns, in this order; a value that is no number is an
            error. By default the ten of the original that occur, `llm_evidence_count` always, and
            any other that is a number somewhere, NaN where it is none. True and false are 1 and 0,
            but an error in `verbalized_confidence`; `llm_evidence_count` may be text like "3".
        rules: `documented`, or `reference` for what the original accepts; see
            `evalframe.selective.runs`.

    Raises:
        InputError: No such file, no JSON, no or more than one experiment to choose from, an item
            missing, or a value of the wrong type; the message says where.
        ParameterError: A signal has the name of another column, or unknown rules.

    References:
        Run documents are those of ai-psychiatrist 36e9fba.

    Example:
        >>> from evalframe.selective.severity import ITEM_NAMES
        >>> scores = dict.fromkeys(ITEM_NAMES, 1)
        >>> success = {
        ...     "participant_id": 302,
        ...     "success": True,
        ...     "ground_truth_items": scores,
        ...     "predicted_items": scores | {"Sleep": None},
        ...     "item_signals": {item: {"token_msp": 0.5} for item in ITEM_NAMES},
        ... }
        >>> entries = [success, {"participant_id": 301, "success": False}]
        >>> results = {"mode": "zero_shot", "results": entries}
        >>> run = open_run({"experiments": [{"results": results}]}, signals="token_msp")
        >>> run.mode, run.included.to_list(), run.failed.to_list()
        ('zero_shot', [302], [301])
        >>> run.items.head(3)
        shape: (3, 6)
        ┌────────────────┬────────────┬────────────┬────────────┬───────┬───────────┐
        │ participant_id ┆ item_index ┆ item       ┆ prediction ┆ label ┆ token_msp │
        │ ---            ┆ ---        ┆ ---        ┆ ---        ┆ ---   ┆ ---       │
        │ i64            ┆ i64        ┆ str        ┆ i64        ┆ i64   ┆ f64       │
        ╞════════════════╪════════════╪════════════╪════════════╪═══════╪═══════════╡
        │ 302            ┆ 0          ┆ NoInterest ┆ 1          ┆ 1     ┆ 0.5       │
        │ 302            ┆ 1          ┆ Depressed  ┆ 1          ┆ 1     ┆ 0.5       │
        │ 302            ┆ 2          ┆ Sleep      ┆ null       ┆ 1     ┆ 0.5       │
        └────────────────┴────────────┴────────────┴────────────┴───────┴───────────┘
    """
    return _open(path, mode, signals, rules)


def read_run(
    path: Source,
    *,
    mode: str | None = None,
    signals: str | Sequence[str] | None = None,
    rules: Rules = "documented",
) -> pl.DataFrame:
    """The items of one experiment of a run document: `open_run(...).items`.

    Only successful entries have items; `open_run` also says who failed. A participant with
    several successful entries has all of them in the table, and a warning says so.

    Args:
        path: As for `open_run`.
        mode: Likewise.
        signals: Likewise.
        rules: Likewise.

    Raises:
        InputError: As `open_run`.
        ParameterError: As `open_run`.

    Example:
        >>> document = {"experiments": [{"results": {"mode": "zero_shot", "results": []}}]}
        >>> read_run(document, mode="zero_shot").columns
        ['participant_id', 'item_index', 'item', 'prediction', 'label', 'llm_evidence_count']
    """
    run = _open(path, mode, signals, rules)
    if len(run.repeated) and rules == "documented":
        first = ", ".join(map(str, run.repeated[:5])) + ", ..." * (len(run.repeated) > 5)
        warnings.warn(
            f"{_name(run)}: {len(run.repeated)} participants have several successful entries, all"
            f" of which are in the table: {first}. Keep one entry of each, or count both.",
            RunWarning,
            stacklevel=2,
        )
    return run.items


def _open(
    source: Source, mode: str | None, signals: str | Sequence[str] | None, rules: Rules
) -> Run:
    check_rules(rules)
    columns = None if signals is None else named(signals)
    document = open_document(source)
    experiment, matching = select(document, mode)
    if matching > 1 and rules == "documented":
        warnings.warn(
            f"{document.name} has {matching} experiments of mode {mode!r}; the first is read."
            " Give the others a mode of their own to read them.",
            RunWarning,
            stacklevel=3,
        )
    found = tabulate(
        entries(experiment, document.name, reference=rules == "reference"),
        signals=columns,
        reference=rules == "reference",
        name=document.name,
    )
    return Run(
        items=found.items,
        included=found.included,
        failed=found.failed,
        repeated=found.repeated,
        run_id=document.run_id,
        git_commit=document.git_commit,
        mode=experiment.mode,
        path=document.path,
        requested_mode=mode,
    )


def _name(run: Run) -> str:
    return "run document" if run.path is None else str(run.path)
