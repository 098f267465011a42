"""The published results of the original: scores of models, studies and findings in three files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.compat.humanstudy_bench.files.tables import UNTITLED
from evalframe.compat.humanstudy_bench.files.writing import (
    csv_text,
    finite,
    in_folder,
    json_text,
    metadata,
    write_texts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from evalframe.compat.humanstudy_bench.files.tables import Results

FORMAT = "simple_results"

_STUDY_COLUMNS = ["study_id", "title", "pas_raw", "ecs", "total_tokens", "total_cost"]
_FINDING_COLUMNS = [
    "study_id",
    "finding_idx",
    "sub_study_id",
    "finding_id",
    "finding_score",
    "n_tests",
]
_FINDING_DECIMALS = 6


def simple_results(results: Results, *, created_at: str | None = None) -> dict[str, Any]:
    """The content of `simple_results.json`.

    Args:
        results: As `result_tables` or `read_results` gives them.
        created_at: When, for the document to say; by default it says nothing, so that the same
            results make the same file.

    Returns:
        `metadata` and `configs`: by model `pas_raw`, `ecs`, `total_tokens`, `total_cost`, `studies`
        and `findings` (`finding_score` is their PAS). Null where there is no value; a study without
        a title is "N/A", a finding without a sub-study has "".

    References:
        HumanStudy-Bench (HEAD of February 2026), published results.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables, simple_results
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> simple_results(result_tables(pl.DataFrame([test])))["configs"]["m"]["pas_raw"]
        0.8
    """
    studies, findings = (
        table.partition_by("model", as_dict=True, include_key=False)
        for table in (finite(_studies(results)), finite(_findings(results)))
    )
    configs = {}
    for row in finite(results.models).iter_rows(named=True):
        key = (row["model"],)
        configs[row["model"]] = {
            "pas_raw": row["pas"],
            "ecs": row["ecs"],
            "total_tokens": row["total_tokens"],
            "total_cost": row["total_cost"],
            "studies": studies[key].to_dicts() if key in studies else [],
            "findings": findings[key].to_dicts() if key in findings else [],
        }
    head = metadata({"format": FORMAT}, created_at, results.pooling)
    return {"metadata": head, "configs": configs}


def write_simple_results(
    results: Results,
    folder: str | Path,
    *,
    created_at: str | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write `simple_results.json`, `simple_studies.csv` and `simple_findings.csv`.

    In CSV, scores of findings have 6 decimals, other numbers 4; commas of titles become semicolons,
    as in the original's files. `read_results` gives the tables back.

    Args:
        results: As `result_tables` or `read_results` gives them.
        folder: Where to; it must be there.
        created_at: As for `simple_results`.
        overwrite: Whether files that are there may be replaced.

    Returns:
        The files, sorted.

    Raises:
        OutputError: A file is there already, or cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables, write_simple_results
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_simple_results(result_tables(pl.DataFrame([test])), folder)
        ...     print(Path(folder, "simple_findings.csv").read_text())
        config,study_id,finding_idx,sub_study_id,finding_id,finding_score,n_tests
        m,s,0,,F1,0.800000,1
    """
    texts = simple_texts(results, in_folder(folder), created_at)
    return write_texts(texts, overwrite=overwrite)


def simple_texts(results: Results, folder: Path, created_at: str | None) -> dict[Path, str]:
    """The text of each file."""
    config = pl.col("model").alias("config")
    title = pl.col("title").str.replace_all(",", ";", literal=True)
    studies = _studies(results).with_columns(title).select(config, *_STUDY_COLUMNS)
    findings = _findings(results).select(config, *_FINDING_COLUMNS)
    # An empty text is quoted, unlike null.
    findings = findings.with_columns(pl.col("sub_study_id", "finding_id").replace({"": None}))
    return {
        folder / "simple_results.json": json_text(simple_results(results, created_at=created_at)),
        folder / "simple_studies.csv": csv_text(studies).removesuffix("\n"),
        folder / "simple_findings.csv": csv_text(findings, decimals=_FINDING_DECIMALS).removesuffix(
            "\n"
        ),
    }


def _studies(results: Results) -> pl.DataFrame:
    title = pl.col("title").fill_null(UNTITLED)
    return results.studies.with_columns(title, pas_raw="pas").select("model", *_STUDY_COLUMNS)


def _findings(results: Results) -> pl.DataFrame:
    keys = pl.col("sub_study_id", "finding_id").fill_null("")
    found = results.findings.with_columns(keys, finding_score="pas")
    return found.select("model", *_FINDING_COLUMNS)
