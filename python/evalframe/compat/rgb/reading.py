"""Prediction, score and data files, read into tables."""

from __future__ import annotations

import os
import reprlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from evalframe.compat.rgb.records import FILE, INSTANCES, INTEGRATION, PREDICTIONS, read_records
from evalframe.compat.rgb.settings import SETTINGS, Paths, Settings, runs_in
from evalframe.core.choices import check_choice
from evalframe.core.documents import Read, decoded, read_regular
from evalframe.core.errors import InputError
from evalframe.core.files import matching
from evalframe.rag.answers import OnInvalid

Duplicates: TypeAlias = Literal["raise", "keep"]

SCORES = {
    "all_rate": pl.Float64(),
    "tt": pl.Int64(),
    "nums": pl.Int64(),
    "fact_check_rate": pl.Float64(),
    "correct_rate": pl.Float64(),
    "fact_tt": pl.Int64(),
    "correct_tt": pl.Int64(),
    "reject_rate": pl.Float64(),
    "rejecttt": pl.Int64(),
}
"""Keys of score files besides the noise rate."""

_STORED = ":noise_rate"
_OPTIONAL = ("fakeanswer", "positive_wrong")


def read(
    path: Paths,
    *,
    model: str | None = None,
    dataset: str | None = None,
    temperature: float | None = None,
    noise_rate: float | None = None,
    passage_num: int | None = None,
    correct_passage_rate: float | None = None,
    on_invalid: OnInvalid = "raise",
    duplicates: Duplicates = "raise",
) -> pl.DataFrame:
    """Read prediction files into a table of responses, all files in one scan.

    A file has one JSON object on each line. Its settings come from its name,
    `prediction_DATASET_MODEL_temp0.2_noise0.6_passage5_correct0.0.json`. Temperature and correct
    rate can be missing; the rest of the name is the variant, such as `_chatgpt` for files with a
    judge's text. Names of data sets are recognised if they are `en` or `zh`, alone or with
    `_refine`, `_int` or `_fact`; pass any other. Labels are read as stored, not recomputed.

    Args:
        path: Files, globs (`**` descends) or folders, with all prediction files below them.
        model: Overrides the names of all files, as all settings do.
        dataset: Also separates the model from an unknown data set.
        temperature: See `model`.
        noise_rate: Also overrides the records.
        passage_num: See `model`.
        correct_passage_rate: See `model`.
        on_invalid: For an answer that is neither text nor lists of text, which RGB writes for
            rejections only: `raise` or `null`.
        duplicates: For files with the same settings: `raise`, or `keep`; `file` distinguishes them.

    Returns:
        model, dataset, temperature, noise_rate, passage_num, correct_passage_rate, id (Int64),
        query, answers (List(List(String)): groups of aliases), response, documents (List(String)),
        label (List(Int8)), factlabel (Int8), evaluation (the judge's text), variant, file. Rows
        follow the order of the files, in a folder or glob sorted by name, and of their lines.
        Documents, factlabel and evaluation are null if the record lacks them.

    Raises:
        InputError: A record cannot be read (with file and line), a setting is missing, or two files
            have the same settings.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from evalframe.compat import rgb
        >>> record = '{"id": 0, "query": "?", "ans": "Rome", "label": [1], "prediction": "Rome"}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = "prediction_en_org_7b_temp0.2_noise0.4_passage5_correct0.0.json"
        ...     _ = Path(folder, name).write_text(record)
        ...     table = rgb.read(folder)
        >>> table.select("model", "noise_rate", "answers", "label").row(0)
        ('org_7b', 0.4, [['Rome']], [1])
    """
    check_choice("duplicates", duplicates, Duplicates)
    check_choice("on_invalid", on_invalid, OnInvalid)
    overrides = Settings(model, dataset, temperature, noise_rate, passage_num, correct_passage_rate)
    runs = runs_in(path, overrides, scores=False)
    if duplicates == "raise":
        _refuse_duplicates(runs)
    records = read_records(list(runs), PREDICTIONS, nullable=["ans"] * (on_invalid == "null"))
    rows = [{FILE: str(path), **asdict(settings)} for path, settings in runs.items()]
    settings = pl.DataFrame(rows, schema={FILE: pl.String(), **SETTINGS, "variant": pl.String()})
    responses = records.rename({"noise_rate": _STORED}).join(
        settings, on=FILE, how="left", maintain_order="left"
    )
    if noise_rate is None:
        _refuse_other_noise(responses)
    return responses.select(
        *SETTINGS,
        "id",
        "query",
        answers="ans",
        response="prediction",
        documents="docs",
        label="label",
        factlabel="factlabel",
        evaluation="evaluation",
        variant="variant",
        file=FILE,
    )


def read_scores(
    path: Paths,
    *,
    model: str | None = None,
    dataset: str | None = None,
    temperature: float | None = None,
    noise_rate: float | None = None,
    passage_num: int | None = None,
    correct_passage_rate: float | None = None,
) -> pl.DataFrame:
    """Read stored scores, one row for each score file.

    Files and settings are those of `read`, for files named `..._result.json`; `noise_rate` also
    overrides the stored noise rates. Other keys are not read.

    Args:
        path: As for `read`, as are all other arguments.
        model: Overrides the names of all files, as all settings do.
        dataset: Name of the data set.
        temperature: See `model`.
        noise_rate: Also overrides the stored ones.
        passage_num: See `model`.
        correct_passage_rate: See `model`.

    Returns:
        model, dataset, temperature, noise_rate, passage_num, correct_passage_rate, variant
        (`chatgpt` for a judge's scores); the scores under their stored names, null if missing:
        all_rate, tt (counted as right), nums (responses), fact_check_rate (errors detected),
        correct_rate (corrected, of those detected), fact_tt, correct_tt, reject_rate (rejections
        or errors detected, by the judge), rejecttt; then file.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from evalframe.compat import rgb
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = "prediction_en_7b_temp0.2_noise0.4_passage5_correct0.0_result.json"
        ...     text = '{"all_rate": 0.5, "noise_rate": 0.4, "tt": 1, "nums": 2}'
        ...     _ = Path(folder, name).write_text(text)
        ...     rgb.read_scores(folder).select("model", "noise_rate", "all_rate", "nums").row(0)
        ('7b', 0.4, 0.5, 2)
    """
    overrides = Settings(model, dataset, temperature, noise_rate, passage_num, correct_passage_rate)
    runs = runs_in(path, overrides, scores=True)
    rows = [
        asdict(settings) | _stored(file, settings, checked=noise_rate is None) | {"file": str(file)}
        for file, settings in runs.items()
    ]
    schema = {**SETTINGS, "variant": pl.String(), **SCORES, "file": pl.String()}
    return pl.DataFrame(rows, schema=schema)


def read_instances(path: Paths, *, dataset: str | None = None) -> pl.DataFrame:
    """Read data files into a table for `select_documents` and `attach_answers`.

    A file has one JSON object on each line, whatever its extension. Its data set is the name of the
    file without the extension: `en_fact.json` holds `en_fact`. If it contains `_int`, passages come
    in groups, one for each part of the answer; read such files separately.

    Args:
        path: Files or globs (`**` descends).
        dataset: Name of the data set, instead of the files' names.

    Returns:
        dataset, id (Int64), query, answers (List(List(String)): groups of aliases), fake_answers
        (List(String)), positive (List(String), of `_int` data List(List(String))), negative and
        positive_wrong (List(String)); null if a record lacks the key. Rows follow the order of the
        files, those of a glob sorted by name, and of their lines.

    Raises:
        InputError: A record cannot be read (with file and line), or files of `_int` and other data
            are in one call.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from evalframe.compat import rgb
        >>> record = '{"id": 0, "query": "?", "answer": "Rome", "positive": [], "negative": []}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "en.json").write_text(record)
        ...     table = rgb.read_instances(f"{folder}/en.json")
        >>> table.select("dataset", "id", "answers").row(0)
        ('en', 0, [['Rome']])
    """
    files = _data_files(path)
    names = {str(file): dataset or file.stem for file in files}
    grouped = {file for file, name in names.items() if "_int" in name}
    if grouped and len(grouped) < len(names):
        other = min({*names} - grouped)
        raise InputError(
            f"{min(grouped)} has passages in groups, {other} has not; read them by two calls"
        )
    records = read_records(files, INTEGRATION if grouped else INSTANCES)
    absent = {name: pl.lit(None) for name in _OPTIONAL if name not in records.columns}
    return records.with_columns(**absent).select(
        pl.col(FILE).replace_strict(names, return_dtype=pl.String).alias("dataset"),
        "id",
        "query",
        answers="answer",
        fake_answers="fakeanswer",
        positive="positive",
        negative="negative",
        positive_wrong=pl.col("positive_wrong").cast(pl.List(pl.String)),
    )


def open_predictions(
    paths: Sequence[Path], *, by: Sequence[str] | None = None, key: Sequence[str] | None = None
) -> Read:
    """Read prediction files; the same run in two files needs `file` in `by` or `key`."""
    is_distinct = key == () or "file" in (*(by or ()), *(key or ()))
    table = read([*paths], duplicates="keep" if is_distinct else "raise")
    rows = table.group_by("file", maintain_order=True).len().rows()
    return Read(table.lazy(), rows)


def _refuse_duplicates(runs: Mapping[Path, Settings]) -> None:
    first: dict[Settings, Path] = {}
    for path, settings in runs.items():
        if (other := first.setdefault(settings, path)) is not path:
            raise InputError(
                f"{other} and {path} are the same run ({settings}). Read one of them; or both, told"
                " apart by the column 'file': in Python by duplicates='keep', on the command line"
                " by 'file' among the columns of --by or --key"
            )


def _refuse_other_noise(responses: pl.DataFrame) -> None:
    """Raise InputError if records have another noise rate than the name of their file."""
    other = responses.filter(pl.col(_STORED) != pl.col("noise_rate"))
    if len(other):
        row = other.row(0, named=True)
        raise InputError(
            f"{row[FILE]}: its name says noise rate {row['noise_rate']}, but {len(other):,} records"
            f" say otherwise, the first (id {row['id']}) {row[_STORED]}. Rename the file, or give"
            " noise_rate=..."
        )


def _data_files(paths: Paths) -> list[Path]:
    """The files in these files and globs, each once."""
    entries = [paths] if isinstance(paths, str | Path) else list(paths)
    files: list[Path] = []
    for entry in map(str, entries):
        # Path.is_file raises for a name that is too long, os.path.isfile returns False.
        matches = [Path(entry)] if os.path.isfile(entry) else matching(entry)  # noqa: PTH113
        if not (matches := [path for path in matches if path.is_file()]):
            raise InputError(f"no file {entry!r}; name a data file, or several by a glob")
        files += matches
    if not files:
        raise InputError("no file to read; name a data file, or several by a glob")
    return list(dict.fromkeys(files))


def _stored(file: Path, settings: Settings, *, checked: bool) -> dict[str, Any]:
    """Scores of a file, checked; with `checked` also its noise rate against its name."""
    try:
        stored = decoded(read_regular(file), str(file))
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror or error})") from error
    if not isinstance(stored, dict) or "all_rate" not in stored:
        raise InputError(f"{file} holds no scores: no object with 'all_rate'; is it another file?")
    scores = {name: stored[name] for name in ("noise_rate", *SCORES) if name in stored}
    for name, value in scores.items():
        is_integer = name in SCORES and SCORES[name].is_integer()
        if type(value) is int:
            fits = abs(value) <= (2**63 - 1 if is_integer else sys.float_info.max)
        else:
            fits = type(value) is float and not is_integer
        if not fits:
            kind = "an integer of 64 bits" if is_integer else "a number of 64 bits"
            raise InputError(f"{file}: {name!r} is {reprlib.repr(value)}, not {kind}")
    noise_rate = scores.pop("noise_rate", settings.noise_rate)
    if checked and noise_rate != settings.noise_rate:
        raise InputError(
            f"{file}: its name says noise rate {settings.noise_rate}, but it holds {noise_rate}. "
            "Rename the file, or give noise_rate=..."
        )
    return scores
