"""Prediction files of the original program, read into one table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import InputError
from evalframe.core.rules import check_choice
from evalframe.rag.answers import OnInvalid
from evalframe.rag.files.finding import runs_in
from evalframe.rag.files.names import SETTINGS, Settings
from evalframe.rag.files.records import FILE, PREDICTIONS, read_records

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evalframe.rag.files.finding import Paths

Duplicates: TypeAlias = Literal["raise", "keep"]


def read_rgb(
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
    """Responses of prediction files, all files in one scan.

    A file has one record (a JSON object) on each line. Its settings come from its name,
    `prediction_DATASET_MODEL_temp0.2_noise0.6_passage5_correct0.0.json`; temperature and correct
    rate may be lacking, and what follows is the variant, as `_chatgpt` of files with a judge's
    text. Known data sets (`en` and `zh`, with `_refine`, `_int` or `_fact`) are recognised; name
    any other. Labels are read as they are stored, never made anew.

    Args:
        path: Files, globs (`**` descends) or folders, with all prediction files below them.
        model: Holds for all files instead of what their names say.
        dataset: Likewise; also tells where the name of an unknown data set ends.
        temperature: Likewise.
        noise_rate: Likewise, and instead of what the records say.
        passage_num: Likewise.
        correct_passage_rate: Likewise.
        on_invalid: What becomes of an answer that is neither text nor lists of text, which the
            original writes for rejections only: `raise`, or `null`.
        duplicates: What becomes of files with the same settings: `raise`, or `keep`, told apart by
            `file`.

    Returns:
        model, dataset, temperature, noise_rate, passage_num, correct_passage_rate, id (Int64),
        query, answers (List(List(String)): groups of aliases), response, documents (List(String)),
        label (List(Int8)), factlabel (Int8), evaluation (the judge's text), variant, file. Rows in
        the order of the files, those of a folder or glob by name, and of their lines. Documents,
        factlabel and evaluation are null where the record has none, settings where nothing says.

    Raises:
        InputError: No such file, a record that cannot be read (with its file and line), settings
            that are not known, or files with the same settings.
        ParameterError: An unknown choice, or a setting of another type.

    References:
        Files are those of RGB 65ec39e.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from evalframe.rag.files.reading import read_rgb
        >>> record = '{"id": 0, "query": "?", "ans": "Rome", "label": [1], "prediction": "Rome"}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = "prediction_en_org_7b_temp0.2_noise0.4_passage5_correct0.0.json"
        ...     _ = Path(folder, name).write_text(record)
        ...     table = read_rgb(folder)
        >>> table.select("model", "noise_rate", "answers", "label").row(0)
        ('org_7b', 0.4, [['Rome']], [1])
    """
    check_choice("duplicates", duplicates, Duplicates)
    check_choice("on_invalid", on_invalid, OnInvalid)
    told = Settings(model, dataset, temperature, noise_rate, passage_num, correct_passage_rate)
    runs = runs_in(path, told, scores=False)
    if duplicates == "raise":
        _refuse_duplicates(runs)
    records = read_records(
        list(runs), PREDICTIONS, forgiven=["ans"] if on_invalid == "null" else []
    )
    responses = records.rename({"noise_rate": _STORED}).join(
        settings_table(runs), on=FILE, how="left", maintain_order="left"
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


_STORED = ":noise_rate"


def settings_table(runs: Mapping[Path, Settings]) -> pl.DataFrame:
    """One row for each file: its settings, variant, and path in `FILE`."""
    rows = [{FILE: str(path), **asdict(settings)} for path, settings in runs.items()]
    schema = {FILE: pl.String(), **SETTINGS, "variant": pl.String()}
    return pl.DataFrame(rows, schema=schema)


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
    """Raise where records were made with another noise rate than the name of their file says."""
    other = responses.filter(pl.col(_STORED) != pl.col("noise_rate"))
    if len(other):
        row = other.row(0, named=True)
        raise InputError(
            f"{row[FILE]}: its name says noise rate {row['noise_rate']}, but {len(other):,} records"
            f" say otherwise, the first (id {row['id']}) {row[_STORED]}. Rename the file, or give"
            " noise_rate=..."
        )
