"""Published results, `simple_results.json` and its CSV: scores of models, studies and findings."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.compat.humanstudy_bench.files.documents import (
    Document,
    csv_text,
    documents,
    finite,
    in_folder,
    json_text,
    metadata,
    write_texts,
)
from evalframe.compat.humanstudy_bench.files.fields import (
    Field,
    columns_of,
    entries_of,
    fields,
    schema_of,
)
from evalframe.compat.humanstudy_bench.files.results import UNTITLED, Results
from evalframe.core.errors import InputError
from evalframe.replication.agreement.studies import domain, domain_scores

FILE_NAME, FORMAT = "simple_results.json", "simple_results"

_SCORE_FIELDS = fields(
    ("share", "pas_raw=pas"), ("number", "ecs"), ("count", "total_tokens"), ("number", "total_cost")
)
_STUDY_FIELDS = (*fields(("text", "study_id title")), *_SCORE_FIELDS)
_FINDING_FIELDS = fields(
    ("text", "study_id"),
    ("count", "finding_idx"),
    ("text", "sub_study_id finding_id"),
    ("share", "finding_score=pas"),
    ("count", "n_tests"),
)
_FINDING_DECIMALS = 6


def simple_results(results: Results, *, created_at: str | None = None) -> dict[str, Any]:
    """The content of `simple_results.json`.

    Args:
        results: As returned by `result_tables` or `read_results`.
        created_at: The time in the document; by default there is none, so that the same results
            make the same file.

    Returns:
        `metadata` and `configs`: by model `pas_raw`, `ecs`, `total_tokens`, `total_cost`, `studies`
        and `findings` (`finding_score` is their PAS). Null if unknown; a study without a title is
        "N/A", a finding without a sub-study has "".

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
            **{each.keys[-1]: row[each.column] for each in _SCORE_FIELDS},
            "studies": studies[key].to_dicts() if key in studies else [],
            "findings": findings[key].to_dicts() if key in findings else [],
        }
    head = metadata({"format": FORMAT}, created_at, results.pooling)
    return {"metadata": head, "configs": configs}


def write_simple_results(
    results: Results, folder: str | Path, *, created_at: str | None = None, overwrite: bool = False
) -> list[Path]:
    """Write `simple_results.json`, `simple_studies.csv` and `simple_findings.csv`.

    In CSV, scores of findings have 6 decimals, other numbers 4; commas of titles become semicolons,
    as in the original's files. `read_results` gives the tables back. Returns the files, sorted.

    Args:
        results: As returned by `result_tables` or `read_results`.
        folder: An existing folder.
        created_at: As in `simple_results`.
        overwrite: True to replace existing files.

    Returns:
        The files, sorted.

    Raises:
        OutputError: A file exists, or cannot be written.

    Examples:
        >>> import tempfile
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables, write_simple_results
        >>> test = {"model": "m", "study_id": "s", "finding_id": "F1", "pas": 0.8}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_simple_results(result_tables(pl.DataFrame([test])), folder)
        ...     print(files[0].read_text().splitlines()[1])
        m,s,0,,F1,0.800000,1
    """
    texts = simple_texts(results, in_folder(folder), created_at)
    return write_texts(texts, overwrite=overwrite)


def simple_texts(results: Results, folder: Path, created_at: str | None) -> dict[Path, str]:
    """The text of each file."""
    config = pl.col("model").alias("config")
    title = pl.col("title").str.replace_all(",", ";", literal=True)
    studies = _studies(results).with_columns(title).select(config, pl.exclude("model"))
    findings = _findings(results).select(config, pl.exclude("model"))
    # An empty text is quoted, unlike null.
    findings = findings.with_columns(pl.col("sub_study_id", "finding_id").replace({"": None}))
    return {
        folder / FILE_NAME: json_text(simple_results(results, created_at=created_at)),
        folder / "simple_studies.csv": csv_text(studies).removesuffix("\n"),
        folder / "simple_findings.csv": csv_text(findings, decimals=_FINDING_DECIMALS).removesuffix(
            "\n"
        ),
    }


def _studies(results: Results) -> pl.DataFrame:
    titled = results.studies.with_columns(pl.col("title").fill_null(UNTITLED))
    return _keyed(titled, _STUDY_FIELDS)


def _findings(results: Results) -> pl.DataFrame:
    keys = pl.col("sub_study_id", "finding_id").fill_null("")
    return _keyed(results.findings.with_columns(keys), _FINDING_FIELDS)


def _keyed(table: pl.DataFrame, fields: Sequence[Field]) -> pl.DataFrame:
    """The columns of fields under their keys, after the model."""
    return table.select("model", *(pl.col(each.column).alias(each.keys[-1]) for each in fields))


def read_results(path: str | Path | Mapping[str, Any]) -> Results:
    """The scores of a file of published results (`simple_results.json`).

    `study_scores` and `model_scores` accept the tables of findings and studies. The file does not
    say how scores were pooled; in published ones those of findings are weighted means, and those of
    studies come from z of tests.

    Args:
        path: The file, its folder, or the decoded document.

    Returns:
        `models` (`model`, `pas`, `ecs`, `total_tokens`, `total_cost`), `studies` (`model`,
        `study_id`, `title`, `domain`, then as models), `findings` (`model`, `study_id`,
        `finding_idx`, `sub_study_id`, `finding_id`, `pas`, `n_tests`) and `domains` (`model`,
        `domain`, `pas`: means over their studies), in the order of the file; `tests` without rows,
        and no `pooling`. Empty text is null, as is the title "N/A".

    Raises:
        InputError: The file is missing or no JSON, an object repeats a key, a value has the wrong
            kind or is outside its domain (the message names file and place), a model has a study
            twice or without a name, or a finding of a study that it lacks.
        ParameterError: The argument is not a path or a mapping.

    Examples:
        >>> from evalframe.compat.humanstudy_bench import read_results
        >>> study = {"study_id": "study_001", "pas_raw": 0.25, "ecs": None}
        >>> results = read_results({"configs": {"m": {"pas_raw": 0.25, "studies": [study]}}})
        >>> results.studies.row(0)[:5]
        ('m', 'study_001', None, 'Cognition', 0.25)
    """
    files = list(documents(path, FILE_NAME))
    if len(files) > 1:
        listed = ", ".join(document.name for document in files)
        raise InputError(f"{len(files)} files of results ({listed}); read them one by one")
    configs = _configs(files[0])
    names, contents = list(configs), list(configs.values())
    place = f"{files[0].name}: configs"
    models = columns_of(contents, _SCORE_FIELDS, lambda number: f"{place}[{names[number]!r}].")
    studies = _listed(configs, "studies", _STUDY_FIELDS, place)
    findings = _listed(configs, "findings", _FINDING_FIELDS, place)
    _check_studies(studies, findings, place)
    untitled = pl.when(pl.col("title") != UNTITLED).then("title")
    studies = studies.with_columns(untitled, domain())
    known = studies.filter(pl.col("domain").is_not_null())
    return Results(
        models=models.select(pl.Series("model", names, dtype=pl.String), pl.all()),
        domains=domain_scores(known.select("model", "study_id", "domain", "pas")).select(
            "model", "domain", "pas"
        ),
        studies=studies.select("model", "study_id", "title", "domain", *schema_of(_SCORE_FIELDS)),
        findings=findings,
        tests=pl.DataFrame(schema={"model": pl.String, "study_id": pl.String}),
        pooling=None,
    )


def _configs(document: Document) -> Mapping[str, Mapping[str, Any]]:
    """What the document says of each model."""
    configs = document.content.get("configs")
    if not isinstance(configs, Mapping):
        raise InputError(f"{document.name} holds no object 'configs'; is it the right file?")
    for name, content in configs.items():
        if not isinstance(name, str):
            raise InputError(f"{document.name}: configs has the key {name!r}, which is no text")
        if not isinstance(content, Mapping):
            raise InputError(
                f"{document.name}: configs[{name!r}] must be an object, but is"
                f" {reprlib.repr(content)}"
            )
    return configs


def _check_studies(studies: pl.DataFrame, findings: pl.DataFrame, place: str) -> None:
    """Raise where a model has a study twice, or findings of a study that it does not have."""
    named = ["model", "study_id"]
    unnamed = studies.filter(pl.col("study_id").is_null())
    repeated = studies.filter(pl.struct(named).is_duplicated())
    homeless = findings.join(studies, on=named, how="anti", maintain_order="left")
    for rows, fault in (
        (unnamed, "has a study without a study_id; name it"),
        (repeated, "has study {!r} more than once; keep one"),
        (homeless, "has a finding of study {!r}, which is not among its studies"),
    ):
        for model, study_id in rows.select(named).head(1).iter_rows():
            raise InputError(f"{place}[{model!r}] {fault.format(study_id)}")


def _listed(
    configs: Mapping[str, Mapping[str, Any]], key: str, fields: Sequence[Field], place: str
) -> pl.DataFrame:
    """A list of objects of all models, as a table."""
    sources = [(f"{place}[{model!r}]", content) for model, content in configs.items()]
    table, entries = entries_of(sources, key, fields, ".")
    models = [model for model, each in zip(configs, entries, strict=True) for _ in each]
    return table.select(pl.Series("model", models, dtype=pl.String), pl.all())
