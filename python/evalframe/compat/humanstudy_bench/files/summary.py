"""The summary of all models, `benchmark_summary.json`, and its CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from evalframe.compat.humanstudy_bench.files.documents import (
    Row,
    by_run,
    csv_text,
    finite,
    in_folder,
    json_text,
    metadata,
    nested,
    write_texts,
)
from evalframe.compat.humanstudy_bench.files.evaluation_files import (
    LINE_END,
    evaluation_results,
    stats_of,
    with_ecs_corr,
)
from evalframe.compat.humanstudy_bench.files.evaluations import FILE_NAME
from evalframe.compat.humanstudy_bench.files.fields import FAILURES
from evalframe.compat.humanstudy_bench.files.legacy_summary import legacy_models, total_usage
from evalframe.compat.humanstudy_bench.files.published import simple_texts
from evalframe.compat.humanstudy_bench.files.results import (
    TOTALS,
    UNTITLED,
    Pooling,
    Results,
    tests_and_pooling,
)
from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError
from evalframe.replication.agreement.studies import DOMAINS

Version: TypeAlias = Literal["head", "legacy"]

_FORMATS = {"head": "humanstudy_bench_summary_ecs_only", "legacy": "humanstudy_bench_summary"}
_TITLE_IN_CSV = 50


def benchmark_summary(
    results: Results, *, version: Version = "head", created_at: str | None = None
) -> dict[str, Any]:
    """The content of `benchmark_summary.json`.

    Args:
        results: As returned by `result_tables`.
        version: `head`: ECS and usage of models and studies, as the original writes now, and the
            PAS that its documentation promises (`average_pas_raw`, `pas_domain` and, by study,
            `pas_raw`; not with original numbers). `legacy`: as its earlier versions, with PAS,
            replication rates, strict ECS, findings and tests. With original numbers its
            `average_pas_raw` is the mean of 2 PAS - 1, as there.
        created_at: The time in the document; by default there is none.

    Returns:
        `metadata` and `models`. Null where there is no value; a study without a title is "N/A".
        `missing_data` of `legacy` says whether a study that ran for more than ten seconds
        (`elapsed_time` of `runs`) has no tokens.

    Raises:
        ParameterError: The version is unknown, or `results` has scores but no tests.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import benchmark_summary, result_tables
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> summary = benchmark_summary(result_tables(pl.DataFrame([test])))
        >>> summary["models"]["m"]["summary"]["average_pas_raw"]
        0.8
    """
    check_choice("version", version, Version)
    _, pooling = tests_and_pooling(results)
    head = {"version": "1.0", "format": _FORMATS[version]}
    models = legacy_models(results) if version == "legacy" else _models(results, pooling)
    return {"metadata": metadata(head, created_at, pooling), "models": models}


def write_benchmark_summary(
    results: Results,
    folder: str | Path,
    *,
    version: Version = "head",
    created_at: str | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write `benchmark_summary.json` and `benchmark_summary.csv`.

    The CSV has one row per model and study: `model`, `study_id`, `title` (its first 50 characters,
    semicolons for commas), `ecs_corr`, `status` ("pass" where the ECS is above 0), `n_participants`
    (0 if not known), `test_count`, `total_tokens`, `total_cost`, and with sound numbers `pas_raw`.
    Numbers have 4 decimals. Returns the files, sorted.

    Args:
        results: As returned by `result_tables`.
        folder: An existing folder.
        version: As in `benchmark_summary`.
        created_at: As in `benchmark_summary`.
        overwrite: True to replace existing files.

    Returns:
        The files, sorted.

    Raises:
        OutputError: A file exists, or cannot be written.
        ParameterError: As `benchmark_summary`.

    Examples:
        >>> import tempfile
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables, write_benchmark_summary
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_benchmark_summary(result_tables(pl.DataFrame([test])), folder)
        ...     print(files[0].read_text().splitlines()[1])
        m,s,N/A,,fail,0,1,,,0.8000
    """
    texts = summary_texts(results, in_folder(folder), version, created_at)
    return write_texts(texts, overwrite=overwrite)


def summary_texts(
    results: Results, folder: Path, version: Version, created_at: str | None
) -> dict[Path, str]:
    """The text of each file."""
    document = benchmark_summary(results, version=version, created_at=created_at)
    return {
        folder / "benchmark_summary.json": json_text(document),
        folder / "benchmark_summary.csv": csv_text(_table(results)).removesuffix("\n"),
    }


def _table(results: Results) -> pl.DataFrame:
    _, pooling = tests_and_pooling(results)
    title = pl.col("title").fill_null(UNTITLED).str.head(_TITLE_IN_CSV)
    passes = (pl.col("ecs_corr") > 0).fill_null(value=False)
    promised = [pl.col("pas").alias("pas_raw")] if not pooling.is_original else []
    return with_ecs_corr(results).select(
        "model",
        "study_id",
        title.str.replace_all(",", ";", literal=True),
        "ecs_corr",
        pl.when(passes).then(pl.lit("pass")).otherwise(pl.lit("fail")).alias("status"),
        pl.col("n_participants").fill_null(0),
        pl.col("n_tests").alias("test_count"),
        "total_tokens",
        "total_cost",
        *promised,
    )


def _models(results: Results, pooling: Pooling) -> dict[str, Row]:
    domains = results.domains.partition_by("model", as_dict=True)
    studies: dict[str, list[Row]] = {}
    for (model, _), (row,) in by_run(with_ecs_corr(results)).items():
        studies.setdefault(model, []).append(row)
    models = finite(results.models).iter_rows(named=True)
    return {
        row["model"]: _model(
            row,
            studies[row["model"]],
            domains.get((row["model"],), results.domains.head(0)),
            promised=not pooling.is_original,
        )
        for row in models
    }


def _model(row: Row, studies: list[Row], domains: pl.DataFrame, *, promised: bool) -> Row:
    pas = {"average_pas_raw": row["pas"], "pas_domain": _pairs(domains, "pas")}
    effects = {
        "ecs_overall": row["ecs"],
        "average_ecs": row["ecs"],
        "ecs_per_study": {each["study_id"]: each["ecs"] for each in studies if each["n_tests"]},
        "ecs_domain": ({} if promised else dict.fromkeys(DOMAINS.values()))
        | _pairs(domains, "ecs"),
        "caricature_overall": {"a": row["slope"], "b": row["intercept"]},
        "ecs_missing_rate_overall": row["missing_rate"],
        "ecs_n_tests_total": row["n_tests"],
        "ecs_n_tests_valid": row["n_effects"],
        "total_usage": total_usage(row),
    }
    return {
        "summary": pas | effects if promised else effects,
        "studies": [_study(study, promised=promised) for study in studies],
    }


def _study(row: Row, *, promised: bool) -> Row:
    return {
        "study_id": row["study_id"],
        "title": row["title"] or UNTITLED,
        **({"pas_raw": row["pas"]} if promised else {}),
        "ecs_corr": row["ecs_corr"],
        "usage": {name: row[name] for name in TOTALS},
        "failure_rates": nested(row, FAILURES).get("failure_rates", {}),
        "n_participants": row["n_participants"] or 0,
    }


def _pairs(domains: pl.DataFrame, value: str) -> Row:
    return dict(finite(domains).select("domain", value).iter_rows())


_LONGEST = 255
"""Bytes of a file name on common file systems."""


def write_results(
    results: Results,
    folder: str | Path,
    *,
    version: Version = "head",
    created_at: str | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write all files of the program.

    In the folder: `benchmark_summary.json` and `.csv`, `simple_results.json`, `simple_studies.csv`
    and `simple_findings.csv`. For each model and study that has tests, in `STUDY/MODEL`:
    `evaluation_results.json` and `detailed_stats.csv`. `read_evaluation` and `read_results` read
    them back. The same results make the same files.

    Args:
        results: As returned by `result_tables`.
        folder: An existing folder.
        version: Of the summary, `head` or `legacy`; see `benchmark_summary`.
        created_at: The time in the documents; by default there is none.
        overwrite: True to replace existing files.

    Returns:
        The files, sorted. All of them are written before the first replaces another.

    Raises:
        OutputError: A file exists, or cannot be written.
        ParameterError: An argument is outside its domain, a model or study has a name that no
            folder can have, or `results` has scores but no tests.

    Examples:
        >>> import tempfile
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables, write_results
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(len(write_results(result_tables(pl.DataFrame([test])), folder)))
        7
    """
    root = in_folder(folder)
    texts = _texts_of_runs(results, root)
    texts |= summary_texts(results, root, version, created_at)
    texts |= simple_texts(results, root, created_at)
    return write_texts(texts, overwrite=overwrite)


def _texts_of_runs(results: Results, root: Path) -> dict[Path, str]:
    """The text of the files of each model and study."""
    tests, pooling = tests_and_pooling(results)
    stats = tests.partition_by("model", "study_id", as_dict=True)
    texts = {}
    for (model, study), document in evaluation_results(results).items():
        for what, name in (("model", model), ("study_id", study)):
            _check_folder_name(what, name)
        folder = root / study / model
        table = stats_of(stats[model, study], pooling)
        texts[folder / FILE_NAME] = json_text(document)
        texts[folder / "detailed_stats.csv"] = csv_text(table, line_end=LINE_END)
    return texts


def _check_folder_name(what: str, name: str) -> None:
    """Raise ParameterError for a separator, a name that is too long, or one of another folder."""
    if name in ("", ".", "..") or {*"/\\\0"} & {*name} or len(name.encode()) > _LONGEST:
        raise ParameterError(
            f"{what} {name!r} cannot be the name of a folder, which files are written to; rename it"
            f", as by pl.col({what!r}).str.replace_all('/', '_')"
        )
