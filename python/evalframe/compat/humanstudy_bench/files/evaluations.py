"""Evaluation results of the original, read into tidy tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from evalframe.compat.humanstudy_bench.files.documents import (
    Document,
    Sources,
    check_text,
    documents,
)
from evalframe.compat.humanstudy_bench.files.fields import (
    FINDINGS,
    LOOSE_TESTS,
    RUNS,
    TESTS,
    columns_of,
    entries_of,
    object_at,
    schema_of,
    unread,
)
from evalframe.core.choices import check_choice
from evalframe.core.documents import Read, is_whole
from evalframe.core.errors import InputError, ParameterError
from evalframe.replication.agreement.studies import domain

Duplicates: TypeAlias = Literal["raise", "keep"]

FILE_NAME = "evaluation_results.json"

_RUN, _DOMAIN = ":run", ":domain"
_ELSEWHERE = ("study_id", "model", "test_results", "finding_results", "ecs_corr_details", "pooling")
"""Keys of a document that are read elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """Evaluation results as tables, see `read_evaluation`.

    Attributes:
        tests: One row per model, study, finding and test.
        findings: `model`, `study_id`, `sub_study_id`, `finding_id`, `finding_score`,
            `finding_weight`, `n_tests`, unchanged.
        runs: One row per file: `model`, `study_id`, `title`, `error` (why there is no evaluation),
            `score`, `ecs_corr`, `ecs_corr_study`, `ecs_missing_rate`, `n_participants`, `n_runs`,
            usage (`total_tokens`, `total_cost`, ...), failure rates in percent with their counts
            (`raw_failure_rate`, `raw_failed`, ...), columns of older versions (`score_se`,
            `bootstrap_iterations`, ...), `n_tests`, `unread` (List(String): keys of the file that
            are not read) and `file`.

    Examples:
        >>> from evalframe.compat.humanstudy_bench import read_evaluation
        >>> document = {"score": 0.75, "test_results": [{"finding_id": "F1", "pas": 0.8}]}
        >>> results = read_evaluation(document, model="m", study_id="two-maps")
        >>> results.runs.select("model", "study_id", "score", "n_tests").row(0)
        ('m', 'two-maps', 0.75, 1)
    """

    tests: pl.DataFrame
    findings: pl.DataFrame
    runs: pl.DataFrame


class _Run(NamedTuple):
    """A document with its model and study."""

    document: Document
    model: str
    study_id: str


def read_evaluation(
    path: Sources,
    *,
    model: str | None = None,
    study_id: str | None = None,
    duplicates: Duplicates = "raise",
) -> Evaluations:
    """Read tests, findings and runs of evaluation results (`evaluation_results.json`).

    A file has the results of one model and study. By default they are the names of its folder and
    of the folder above, `.../STUDY/MODEL/evaluation_results.json`, as the program lays them out; a
    decoded document can have them in `model` and `study_id`. The `study_id` of a test is a label
    ("Study 1") and becomes `study_label`. Names of older versions and of the hub's studies
    (`t_stat`, `p_value`, `replication`, ...) are read, too. `score` is the older name of PAS, but
    can also be the 0.5 of a test without one, so it has a column of its own. Scores of this program
    use it if `pas` is missing, sound ones do not: if it is a PAS, pass
    `pl.coalesce("pas", "score").alias("pas")`.

    Args:
        path: Files, globs (`**` descends), folders with such files at any depth, or decoded
            documents.
        model: The model of all files, instead of the names of folders.
        study_id: The study of all files, instead of the names of folders.
        duplicates: For several files of one model and study: `raise`, or `keep` all, distinguished
            by `file`.

    Returns:
        The tables. Tests have `model`, `study_id`, `sub_study_id` (or null), `finding_id`,
        `test_id` (the name of the test, repeated ones with ` #2`, ...; without a name its index),
        `domain` (of the ECS in the file, else by the studies of the program), `test_type`,
        `test_weight`, `finding_weight`, `study_label`, `test_name`, `scenario`; of each side
        `report_human` (the statistic as text), `pi_human`, `pi_plus_human`, `pi_minus_human`,
        `pi_zero_human`, `p_value_human`, `is_significant_human`, `direction_human`,
        `effect_size_human`, `effect_d_human`, `effect_r_human`, `n1_human`, `n2_human`, and the
        same of `agent`; `pas`, `score`, `direction_match`, `significance_level`, `z_difference`,
        `replication_consistency`, `n_eff`, `stat_agent`, `replicated`, `pi_human_source`,
        `agent_reason` and `file`. All columns exist, null if a file lacks the value; empty text is
        null, NaN stays NaN. Rows in the order of files (by name in a folder or glob) and tests.

    Raises:
        InputError: The file is missing or no JSON, an object repeats a key, a text has a lone
            surrogate, a value has the wrong kind, a count is negative or above 2**53 (the message
            names file and place), or two files are of the same model and study.
        ParameterError: `model` or `study_id` is not a string.

    Examples:
        >>> from evalframe.compat.humanstudy_bench import read_evaluation
        >>> test = {"study_id": "Study 1", "finding_id": "F1", "test_name": "t", "pas": 0.8}
        >>> results = read_evaluation({"test_results": [test]}, model="m", study_id="two-maps")
        >>> results.tests.select("study_id", "test_id", "study_label", "pas").row(0)
        ('two-maps', 't', 'Study 1', 0.8)
    """
    check_choice("duplicates", duplicates, Duplicates)
    for name, value in (("model", model), ("study_id", study_id)):
        if value is not None and not (isinstance(value, str) and value):
            raise ParameterError(f"{name} must be a text that is not empty, but is {value!r}")
        if value is not None:
            check_text(name, value)
    runs = [_run_of(document, model, study_id) for document in documents(path, FILE_NAME)]
    if duplicates == "raise":
        _refuse_duplicates(runs)
    sources = [(run.document.name, run.document.content) for run in runs]
    tests, entries = entries_of(sources, "test_results", (*TESTS, *LOOSE_TESTS), ": ")
    findings, found = entries_of(sources, "finding_results", FINDINGS, ": ")
    tests, findings = _numbered(tests, entries), _numbered(findings, found)
    heads = _heads(runs, entries)
    keys = heads.select(_RUN, _DOMAIN, "model", "study_id", "file")
    return Evaluations(
        tests=_finished(tests, findings, keys),
        findings=findings.join(keys, on=_RUN, maintain_order="left").select(
            "model", "study_id", *schema_of(FINDINGS)
        ),
        runs=heads.drop(_RUN, _DOMAIN),
    )


def _run_of(document: Document, model: str | None, study_id: str | None) -> _Run:
    """The document with its model and study."""
    name, content, path = document
    if "test_results" not in content and "error" not in content:
        raise InputError(f"{name} holds no 'test_results'; is it the right file?")
    folders = () if path is None else path.absolute().parts[-3:-1]
    by_folder = dict(zip(("study_id", "model"), folders, strict=True)) if folders[1:] else {}
    names = {}
    for key, value in (("model", model), ("study_id", study_id)):
        stated = value or by_folder.get(key) or content.get(key)
        if not isinstance(stated, str) or not stated or stated in ("/", "\\"):
            raise InputError(f"{name}: nothing says its {key}; give {key}=...")
        if not is_whole(stated):
            raise InputError(f"{name}: its {key} {stated!a} is no text (UTF-8); give {key}=...")
        names[key] = stated
    return _Run(document, names["model"], names["study_id"])


def _refuse_duplicates(runs: Sequence[_Run]) -> None:
    first: dict[tuple[str, str], _Run] = {}
    for run in runs:
        other = first.setdefault((run.model, run.study_id), run)
        if other is not run:
            raise InputError(
                f"{other.document.name} and {run.document.name} are both of model {run.model!r} and"
                f" study {run.study_id!r}. Read one of them, or both, by duplicates='keep', and"
                " tell them apart by the column 'file'"
            )


def _numbered(table: pl.DataFrame, entries: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """The table with the index of the run of each of its rows."""
    numbers = [number for number, each in enumerate(entries) for _ in each]
    return table.with_columns(pl.Series(_RUN, numbers, dtype=pl.Int64))


def _heads(runs: Sequence[_Run], entries: Sequence[Sequence[Mapping[str, Any]]]) -> pl.DataFrame:
    """The values of documents outside their tests and findings."""
    contents = [run.document.content for run in runs]

    def where(place: int) -> str:
        return f"{runs[place].document.name}: "

    known = {
        _RUN: range(len(runs)),
        _DOMAIN: [_domain(run.document) for run in runs],
        "model": [run.model for run in runs],
        "study_id": [run.study_id for run in runs],
        "n_tests": [len(tests) for tests in entries],
        "unread": [_unread(*pair) for pair in zip(contents, entries, strict=True)],
        "file": [run.document.name for run in runs],
    }
    types = dict.fromkeys(known, pl.String()) | dict.fromkeys((_RUN, "n_tests"), pl.Int64())
    heads = pl.DataFrame(known, schema=types | {"unread": pl.List(pl.String())})
    order = [_RUN, _DOMAIN, "model", "study_id", *schema_of(RUNS), "n_tests", "unread", "file"]
    return columns_of(contents, RUNS, where).hstack(heads).select(order)


def _domain(document: Document) -> str | None:
    """The domain of the study, if the document has the ECS of one and no other."""
    details = object_at(document.content, "ecs_corr_details", document.name)
    domains = [*object_at(details, "ecs_domain", f"{document.name}: ecs_corr_details")]
    return domains[0] if len(domains) == 1 else None


def _unread(content: Mapping[str, Any], tests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys of a document that are not read."""
    read = {*_ELSEWHERE, *([] if content.get("substudy_results") else ["substudy_results"])}
    rest = {key: value for key, value in content.items() if key not in read}
    findings = content.get("finding_results") or []
    keys = unread([rest], RUNS, "")
    keys |= unread(tests, (*TESTS, *LOOSE_TESTS), "test_results.")
    keys |= unread(findings, FINDINGS, "finding_results.")
    return sorted(keys)


def _finished(tests: pl.DataFrame, findings: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """The tests with their keys, domains, and the weights of their findings."""
    named = ["sub_study_id", "finding_id"]
    weights = findings.unique([_RUN, *named], keep="first", maintain_order=True)
    of_findings = weights.filter(pl.col("sub_study_id").is_null())
    weighted = tests.join(
        weights.select(_RUN, *named, "finding_weight"),
        on=[_RUN, *named],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    ).join(
        of_findings.select(_RUN, "finding_id", pl.col("finding_weight").alias(":of_id")),
        on=[_RUN, "finding_id"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    complete = weighted.join(keys, on=_RUN, maintain_order="left").with_columns(
        pl.coalesce("finding_weight", ":of_id").alias("finding_weight"),
        pl.coalesce(_DOMAIN, domain()).alias("domain"),
        _test_id(),
    )
    first = ["model", "study_id", "sub_study_id", "finding_id", "test_id", "domain", "test_type"]
    first += ["test_weight", "finding_weight"]
    others = [name for name in schema_of((*TESTS, *LOOSE_TESTS)) if name not in first]
    return complete.select(*first, *others, "file")


def _test_id() -> pl.Expr:
    """The name or index of a test, unique in its finding."""
    finding = [_RUN, "sub_study_id", "finding_id"]
    name, place = pl.col("test_name"), pl.int_range(pl.len()).over(finding)
    turn = pl.int_range(1, pl.len() + 1).over([*finding, "test_name"])
    repeated = pl.when(turn > 1).then(pl.format("{} #{}", name, turn)).otherwise(name)
    label = pl.coalesce(repeated, place.cast(pl.String))
    clash = label.n_unique().over(finding) < pl.len().over(finding)
    return pl.when(clash).then(place.cast(pl.String)).otherwise(label).alias("test_id")


def open_evaluations(paths: Sequence[Path]) -> Read:
    """Read the tests of evaluation results; beside them are the `runs`, a row per file."""
    evaluations = read_evaluation([*paths])
    files = evaluations.runs.select("file", "n_tests").rows()
    return Read(evaluations.tests.lazy(), files, beside={"runs": evaluations.runs})
