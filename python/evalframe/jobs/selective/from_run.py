"""Evaluate run documents of the original system, and write its artifact."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import polars as pl

from evalframe.core.errors import ContractError, OutputError, ParameterError
from evalframe.core.files import together
from evalframe.core.scan import FORMATS, File, reading
from evalframe.jobs.console import terminal_width
from evalframe.jobs.inputs import (
    Columns,
    check_columns,
    check_found,
    naming_columns,
    open_items,
)
from evalframe.jobs.paths import refuse_inputs
from evalframe.jobs.selective import FAMILY, Runs
from evalframe.jobs.selective.run import printed_metrics
from evalframe.jobs.written import check_output, versions, write_result
from evalframe.reporting.table import long_table

if TYPE_CHECKING:
    from evalframe.compat.ai_psychiatrist import Run, RunEvaluation, RunSettings


_SHARED = {
    *("items", "reader", "columns", "loss", "confidence", "coverage_grid", "area_coverage"),
    *("n", "seed", "output", "report", "calibration"),
}
"""Flags that run documents share with tables of records."""

_LEVEL = 0.95
"""Confidence level of the original's intervals."""

_DELTA = ("confidence", "metric", "delta", "lower", "upper", "p_value", "p_adjusted")


def run(flags: dict[str, Any]) -> str:
    """`evalframe selective --from-run`."""
    return printed_run(evaluate_documents(flags), width=terminal_width())


def evaluate_documents(flags: Mapping[str, Any]) -> RunEvaluation:
    """Evaluate one run document or two, and write what the flags ask for."""
    documents = flags["items"]
    from evalframe.compat.ai_psychiatrist import (
        evaluate_runs,
        evaluation_artifact,
        write_artifact,
    )
    from evalframe.compat.ai_psychiatrist import read_calibration as read_original
    from evalframe.jobs import pages
    from evalframe.selective.calibrators.saved import read_calibration

    settings = _settings(flags)
    modes = modes_of(documents, flags.get("mode", ()))
    artifact = flags.get("calibration")
    targets = {name: Path(flags[name]) for name in ("artifact", "output") if name in flags}
    if page := flags.get("report"):
        pages.check(Path(page))
    check_files(targets, documents if artifact is None else [*documents, artifact])
    read = read_original if settings.rules == "reference" else read_calibration
    calibration = None if artifact is None else read(artifact)
    signals = settings.signals(calibration)
    for remark in _remarks(documents, flags, settings):
        warnings.warn(remark, stacklevel=1)
    columns, roles = flags.get("columns", {}), {*_COLUMNS, *signals}
    check_columns(columns, roles)
    tables = [_table(path, columns) for path in documents]
    present = [table.collect_schema() for table in tables if table is not None]
    check_found(columns, "items", *present)
    with naming_columns(columns, roles):
        runs = [
            opened(path, table, mode, signals, strict=settings.rules == "documented")
            for path, table, mode in zip(documents, tables, modes, strict=True)
        ]
    try:
        evaluation = evaluate_runs(*runs, settings=settings, calibration=calibration)
    except ContractError as error:
        if settings.rules == "reference":
            error.add_note(
                "The original asks for the signals of abstained items, too, and for evidence "
                "counts whatever the variant; --rules documented does not."
            )
        raise
    with together():
        if (path := targets.get("artifact")) is not None:
            document = evaluation_artifact(evaluation)
            write_artifact(document, path, strict=settings.rules == "documented")
        if (path := targets.get("output")) is not None:
            write_result(
                evaluation.result,
                path,
                _provenance(evaluation, artifact),
                readable=lambda: printed_run(evaluation, markdown=True),
            )
        if page:
            result, record = {"result": evaluation.result}, _provenance(evaluation, artifact)
            made = pages.Made("Run documents", result, record, None)
            pages.write_made([made], Path(page), FAMILY.demo.question)
    return evaluation


_COLUMNS = ("participant_id", "item", "item_index", "prediction", "label", "mode")
"""Columns of a table of items, besides signals."""


def _table(path: str, columns: Columns) -> pl.LazyFrame | None:
    """A table of items, which its suffix tells; none of a document."""
    if Path(path).suffix.lower() not in FORMATS:
        return None
    return open_items([path], columns=columns)[0]


def opened(
    path: str,
    items: pl.LazyFrame | None,
    mode: str | None,
    signals: Sequence[str],
    *,
    strict: bool,
) -> Run:
    """The run of a document, or of a table of items if there is one."""
    from evalframe.compat.ai_psychiatrist import open_run, run_of_items

    if items is None:
        return open_run(path, mode=mode, signals=signals, strict=strict)
    with reading(path, "is it whole?"):
        return run_of_items(items, mode=mode, signals=signals, path=Path(path), strict=strict)


def printed_run(
    evaluation: RunEvaluation, *, markdown: bool = False, width: int | None = None
) -> str:
    """The evaluation as text: participants, figures, and for two runs their differences."""
    level = _LEVEL if evaluation.settings.n else None
    keys = ["input", "confidence"] if len(evaluation.runs) > 1 else ["confidence"]
    parts = [
        *_heads(evaluation, "  \n" if markdown else "\n"),
        printed_metrics(evaluation.result, keys, markdown=markdown, level=level, width=width),
    ]
    if evaluation.deltas is not None:
        deltas = evaluation.deltas.select(*_DELTA, pl.col("n_clusters").alias("participants"))
        table = long_table(deltas, rows=None, markdown=markdown, level=level, width=width)
        parts += ["Input 1 minus input 0, of the same participants:", table]
    return "\n\n".join(parts)


def modes_of(documents: Sequence[str], modes: Sequence[str]) -> list[str | None]:
    """The mode of each document; None where it must have one only."""
    if len(documents) > 2:
        raise ParameterError(
            f"{len(documents)} run documents; an evaluation is of one, or compares two"
        )
    if not modes:
        return [None] * len(documents)
    if len(modes) not in (1, len(documents)):
        raise ParameterError(
            f"{len(modes)} modes for {len(documents)} run "
            f"{'document' if len(documents) == 1 else 'documents'}; name one for all or one for "
            "each"
        )
    return [*modes] * (len(documents) if len(modes) == 1 else 1)


def check_files(targets: Mapping[str, Path], inputs: Sequence[str]) -> None:
    """Raise unless these files can be written and are no inputs."""
    for name, path in targets.items():
        if name == "artifact" and path.suffix.lower() != ".json":
            raise OutputError(f"cannot write {str(path)!r}: an artifact is JSON; name a .json file")
        check_output(path)
        refuse_inputs(path, [File(entry, Path(entry)) for entry in inputs], (), Path())
    if len({path.resolve() for path in targets.values()}) < len(targets):
        raise OutputError("--artifact and --output name the same file; write one elsewhere")


def _settings(flags: Mapping[str, Any]) -> RunSettings:
    from evalframe.compat.ai_psychiatrist.settings import GRID, RunLoss, RunSettings
    from evalframe.selective.confidences import select_variants

    if other := [
        name for name in flags if name not in _SHARED and name not in Runs.__struct_fields__
    ]:
        named = ", ".join(
            "--bootstrap" if name == "n" else "--" + name.replace("_", "-") for name in other
        )
        raise click.UsageError(
            f"{named}: not for run documents, which are evaluated as the original does it"
        )
    names = ("loss", "n", "seed", "rules", "coverage_grid", "area_coverage", "intersection_only")
    # The artifact is the original's, so the original's rules are the default here.
    options = {"rules": "reference"} | {name: flags[name] for name in names if name in flags}
    variants = select_variants(",".join(flags.get("confidence", ("default",))))
    if flags.get("loss", "abs") not in get_args(RunLoss):
        names_of_losses = ", ".join(get_args(RunLoss))
        raise click.UsageError(
            f"--loss of run documents is one of {names_of_losses}, got {flags['loss']!r}"
        )
    options["coverage_grid"] = grid = tuple(flags.get("coverage_grid", GRID))
    if not grid or not all(0 < coverage <= 1 for coverage in grid):
        raise click.UsageError(f"--coverage-grid needs numbers in (0, 1], got {list(grid)}")
    return RunSettings(variants=tuple(variants), **options)


def _remarks(
    documents: Sequence[str], flags: Mapping[str, Any], settings: RunSettings
) -> Iterator[str]:
    """Flags that change nothing."""
    from evalframe.selective.variants import Calibrated, parse

    calibrated = any(isinstance(parse(name), Calibrated) for name in settings.variants)
    if "calibration" in flags and not calibrated:
        named = ", ".join(settings.variants)
        yield f"--calibration is not used: none of the variants is calibrated ({named})"
    if settings.intersection_only and len(documents) == 1:
        yield "--intersection-only is not used: there is one run document"


def _heads(evaluation: RunEvaluation, end: str) -> Iterator[str]:
    """The runs, and the number of their participants."""
    runs = [
        ", ".join(_one_line(word) for word in (run.path, run.mode, run.run_id) if word is not None)
        for run in evaluation.runs
    ]
    population = evaluation.population
    if len(runs) == 1:
        yield runs[0]
        where = ""
    else:
        yield end.join(f"Input {number}: {run}" for number, run in enumerate(runs))
        where = " in both runs"
    yield (
        f"{len(population.analysed):,} of {population.total:,} participants{where}; "
        f"{population.failed:,} failed."
    )


def _one_line(word: object) -> str:
    """The text without line breaks, which would end its printed line."""
    return " ".join(str(word).split())


def _provenance(evaluation: RunEvaluation, calibration: str | None) -> dict[str, Any]:
    runs = [
        {"path": str(run.path), "run_id": run.run_id, "mode": run.mode} for run in evaluation.runs
    ]
    return {
        **versions(),
        "settings": asdict(evaluation.settings),
        "calibration": calibration,
        "inputs": runs,
    }
