"""All files of the original, written from a table of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.compat.humanstudy_bench.files.detailed_stats import LINE_END, as_detailed_stats
from evalframe.compat.humanstudy_bench.files.evaluation_documents import evaluation_results
from evalframe.compat.humanstudy_bench.files.evaluations import FILE_NAME
from evalframe.compat.humanstudy_bench.files.simple_results import simple_texts
from evalframe.compat.humanstudy_bench.files.summary import summary_texts
from evalframe.compat.humanstudy_bench.files.tables import result_tables
from evalframe.compat.humanstudy_bench.files.writing import (
    csv_text,
    in_folder,
    json_text,
    write_texts,
)
from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evalframe.compat.humanstudy_bench.files.summary import Version
    from evalframe.compat.humanstudy_bench.files.tables import Results
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.replication.agreement.scored_tests import (
        FindingKey,
        FindingRule,
        Missing,
        StudyRule,
    )

_LONGEST = 255
"""Bytes of a file name on common file systems."""


def write_results(
    tests: Frame,
    folder: str | Path,
    *,
    runs: Frame | None = None,
    titles: Mapping[str, str] | None = None,
    finding_rule: FindingRule | None = None,
    study_rule: StudyRule | None = None,
    finding_key: FindingKey = "composite",
    missing: Missing | None = None,
    rules: Rules = "documented",
    version: Version = "head",
    created_at: str | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write tests, and the scores that follow from them, as the files of the original.

    In the folder: `benchmark_summary.json` and `.csv`, `simple_results.json`, `simple_studies.csv`
    and `simple_findings.csv`. For each model and study that has tests, in `STUDY/MODEL`:
    `evaluation_results.json` and `detailed_stats.csv`. `read_evaluation` and `read_results` read
    them back. The same tables make the same files, up to the last digits of numbers: threads add
    them up in no fixed order.

    Args:
        tests: As for `result_tables`.
        folder: Where to; it must be there.
        runs: As for `result_tables`.
        titles: As for `result_tables`.
        finding_rule: As for `result_tables`.
        study_rule: As for `result_tables`.
        finding_key: As for `result_tables`.
        missing: As for `result_tables`.
        rules: `documented`, or `reference` for the original's numbers, and without the columns of
            PAS that only its documentation has.
        version: Of the summary, `head` or `legacy`; see `benchmark_summary`.
        created_at: When, for the documents to say; by default they say nothing.
        overwrite: Whether files that are there may be replaced.

    Returns:
        The files, sorted. All of them are written before the first replaces another.

    Raises:
        ContractError: As `result_tables`.
        MissingColumnsError: A key is not there.
        OutputError: A file is there already, or cannot be written.
        ParameterError: An argument lies outside its domain, or a model or study has a name that no
            folder can have.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import read_evaluation, write_results
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "test_id": "t", "pas": 0.8}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_results(pl.DataFrame([test]), folder)
        ...     print(*sorted(path.name for path in files))
        ...     found = read_evaluation(folder).tests
        benchmark_summary.csv benchmark_summary.json detailed_stats.csv evaluation_results.json
        simple_findings.csv simple_results.json simple_studies.csv
        >>> found.select(list(test)).row(0)
        ('m', 's', 'F1', 't', 0.8)
    """
    results = result_tables(
        tests,
        runs=runs,
        titles=titles,
        finding_rule=finding_rule,
        study_rule=study_rule,
        finding_key=finding_key,
        missing=missing,
        rules=rules,
    )
    root = in_folder(folder)
    texts = _texts_of_runs(results, root, rules)
    texts |= summary_texts(results, root, version, created_at)
    texts |= simple_texts(results, root, created_at)
    return write_texts(texts, overwrite=overwrite)


def _texts_of_runs(results: Results, root: Path, rules: Rules) -> dict[Path, str]:
    """The text of the files of each model and study."""
    stats = results.tests.partition_by("model", "study_id", as_dict=True)
    texts = {}
    for (model, study), document in evaluation_results(results).items():
        for what, name in (("model", model), ("study_id", study)):
            _refuse_no_folder(what, name)
        folder = root / study / model
        table = as_detailed_stats(stats[model, study], rules)
        texts[folder / FILE_NAME] = json_text(document)
        texts[folder / "detailed_stats.csv"] = csv_text(table, line_end=LINE_END)
    return texts


def _refuse_no_folder(what: str, name: str) -> None:
    """Raise where a name cannot be that of a folder.

    Raises:
        ParameterError: It has a separator, is too long, or stands for another folder.
    """
    if name in ("", ".", "..") or {*"/\\\0"} & {*name} or len(name.encode()) > _LONGEST:
        raise ParameterError(
            f"{what} {name!r} cannot be the name of a folder, which files are written to; rename it"
            f", as by pl.col({what!r}).str.replace_all('/', '_')"
        )
