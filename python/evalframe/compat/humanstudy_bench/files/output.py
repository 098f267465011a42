"""All files of the program, written from results."""

from __future__ import annotations

from pathlib import Path

from evalframe.compat.humanstudy_bench.files.evaluation_files import (
    LINE_END,
    evaluation_results,
    stats_of,
)
from evalframe.compat.humanstudy_bench.files.evaluations import FILE_NAME
from evalframe.compat.humanstudy_bench.files.results import Results, tests_and_pooling
from evalframe.compat.humanstudy_bench.files.simple_results import simple_texts
from evalframe.compat.humanstudy_bench.files.summary import Version, summary_texts
from evalframe.compat.humanstudy_bench.files.writing import (
    csv_text,
    in_folder,
    json_text,
    write_texts,
)
from evalframe.core.errors import ParameterError

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
        >>> from pathlib import Path
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import (
        ...     read_evaluation,
        ...     result_tables,
        ...     write_results,
        ... )
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "test_id": "t", "pas": 0.8}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_results(result_tables(pl.DataFrame([test])), folder)
        ...     print(*sorted(path.name for path in files))
        ...     tests = read_evaluation(folder).tests
        benchmark_summary.csv benchmark_summary.json detailed_stats.csv evaluation_results.json
        simple_findings.csv simple_results.json simple_studies.csv
        >>> tests.select(list(test)).row(0)
        ('m', 's', 'F1', 't', 0.8)
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
