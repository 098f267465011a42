"""The files of the original, written beside the tables of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat import humanstudy_bench
from evalframe.core.errors import OutputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalframe.jobs.replication.inputs import Tests
    from evalframe.jobs.replication.job import ReplicationJob


def check_summary(folder: Path, opened: Tests, by: Sequence[str]) -> None:
    """Raise now if the files cannot be written later.

    Raises:
        OutputError: It is no folder, there is none to make it in, or inputs are in it.
        ParameterError: Nothing says whose the files are.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder.name} is a file; name a folder for the summary")
    if not folder.parent.is_dir():
        raise OutputError(
            f"cannot make {folder.name}: no folder {str(folder.parent)!r}; create it first"
        )
    if any(file.path.resolve().is_relative_to(folder.resolve()) for file in opened.files):
        raise OutputError(f"{folder.name} holds inputs; write the summary elsewhere")
    if not by:
        raise ParameterError("the files of a summary are of models; name them by a column (--by)")


def write_summary(
    tests: pl.DataFrame, folder: Path, opened: Tests, by: Sequence[str], job: ReplicationJob
) -> None:
    """Write the files that the original would write.

    Args:
        tests: The tests, with PAS and effects.
        folder: Where to; made if need be.
        opened: Has what only runs can tell.
        by: Columns that tell apart who was tested.
        job: Says how tests are pooled.

    Raises:
        OutputError: They cannot be written.
        ParameterError: A model or study has a name that no folder can have.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder.name} ({error.strerror})") from error
    model = pl.concat_str(pl.col(by).cast(pl.String).fill_null(""), separator="_")
    humanstudy_bench.write_results(
        tests.with_columns(model.alias("model")),
        folder,
        runs=opened.beside.get("runs") if [*by] == ["model"] else None,
        finding_rule=job.finding_rule,
        study_rule=job.study_rule,
        finding_key=job.finding_key,
        missing=job.missing,
        rules=job.rules,
        overwrite=True,
    )
