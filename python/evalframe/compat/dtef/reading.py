"""Survey documents as tidy tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from evalframe.compat.dtef.documents import Document, Sources, documents
from evalframe.compat.dtef.validating import entries, lines, report_on
from evalframe.core.errors import InputError
from evalframe.survey.surveys.assembling import ATTRIBUTES, QUESTIONS, ROUNDS, SEGMENTS
from evalframe.survey.surveys.segments import category
from evalframe.survey.surveys.tables import RESPONSES, Survey


def read_survey(path: Sources) -> Survey:
    """Read survey documents of dtef-app as tidy tables.

    Documents are checked as by `validate`. Each is a round, named by its survey id. A response can
    have its own `sampleSize`, which dtef-app ignores.

    Args:
        path: `.json` files, globs, folders (with all `.json` files in them) or decoded documents.

    Returns:
        The survey, rounds in the order of the files, everything else in that of the documents.

    Raises:
        InputError: No such file, a table, damaged JSON, errors or conflicts (see `validate`), or
            two files of the same round.
        ParameterError: `path` is not a path, a document or a list of these.

    References:
        dtef-app 52d79c0.

    Example:
        >>> question = {"text": "Hot?", "type": "single-select", "options": ["Yes", "No"]}
        >>> answer = {"questionId": "q", "distribution": [60, 40]}
        >>> segment = {"id": "gender:male", "label": "Male", "sampleSize": 50}
        >>> survey = {"surveyId": "s", "surveyName": "S", "questions": {"q": question}}
        >>> survey["segments"] = [{**segment, "responses": [answer]}]
        >>> read_survey(survey).distributions().select("segment_id", "sample_size", "actual").row(0)
        ('gender:male', 50, [0.6, 0.4])
    """
    all_documents = documents(path)
    report = report_on(all_documents)
    kinds = {"errors": report.errors, "conflicts": report.conflicts}
    faults = [f"{len(rows):,} {kind}:\n{lines(rows)}" for kind, rows in kinds.items() if len(rows)]
    if faults:
        raise InputError("\n".join(("correct the survey", *faults)))
    _refuse_repeated(all_documents)
    rounds, questions, segments = (
        _rounds(all_documents),
        _questions(all_documents),
        _segments(all_documents),
    )
    return Survey(
        rounds=rounds,
        questions=questions,
        segments=segments,
        segment_attributes=_attributes(all_documents),
        responses=_responses(all_documents, questions, segments),
        warnings=report.warnings,
    )


def _refuse_repeated(all_documents: Sequence[Document]) -> None:
    first: dict[str, str] = {}
    for document in all_documents:
        round_ = document.content["surveyId"]
        if other := first.get(round_):
            raise InputError(f"{other} and {document.name} are both round {round_!r}; read one")
        first[round_] = document.name


def _rounds(all_documents: Sequence[Document]) -> pl.DataFrame:
    keys = ("surveyId", "surveyName", "description", "source")
    rows = [tuple(_text(document.content.get(key)) for key in keys) for document in all_documents]
    return pl.DataFrame(rows, schema=ROUNDS, orient="row")


def _questions(all_documents: Sequence[Document]) -> pl.DataFrame:
    rows = [
        (round_, question_id, order, question["text"], question["type"], question.get("options"))
        for round_, content in _contents(all_documents)
        for order, (question_id, question) in enumerate(entries(content["questions"]).items())
    ]
    columns = {name: dtype for name, dtype in QUESTIONS.items() if name != "n_options"}
    table = pl.DataFrame(rows, schema=columns, orient="row")
    return table.with_columns(n_options=pl.col("options").list.len().cast(pl.Int64)).select(
        *QUESTIONS
    )


def _segments(all_documents: Sequence[Document]) -> pl.DataFrame:
    rows = [
        (
            round_,
            segment["id"],
            _text(segment.get("label")) or segment["id"],
            _only_value(segment),
            _whole(segment.get("sampleSize")),
            len(segment["responses"]),
        )
        for round_, content in _contents(all_documents)
        for segment in content["segments"]
    ]
    columns = {name: dtype for name, dtype in SEGMENTS.items() if name != "segment_attribute"}
    table = pl.DataFrame(rows, schema=columns, orient="row")
    value = pl.coalesce("segment_value", "segment_label")
    return table.with_columns(category(), segment_value=value).select(*SEGMENTS)


def _attributes(all_documents: Sequence[Document]) -> pl.DataFrame:
    rows = [
        (round_, segment["id"], attribute, _text(value))
        for round_, content in _contents(all_documents)
        for segment in content["segments"]
        for attribute, value in _attributes_of(segment).items()
    ]
    return pl.DataFrame(rows, schema=ATTRIBUTES, orient="row")


def _responses(
    all_documents: Sequence[Document], questions: pl.DataFrame, segments: pl.DataFrame
) -> pl.DataFrame:
    rows = [
        (
            round_,
            segment["id"],
            response["questionId"],
            _whole(response.get("sampleSize")),
            [*map(float, response["distribution"])],
        )
        for round_, content in _contents(all_documents)
        for segment in content["segments"]
        for response in segment["responses"]
    ]
    schema = {
        "round": pl.String(),
        "segment_id": pl.String(),
        "question_id": pl.String(),
        "own_size": pl.Int64(),
        "percent": pl.List(pl.Float64()),
    }
    options = questions.select("round", "question_id", "options")
    groups = segments.select(
        "round", "segment_id", "segment_attribute", "segment_value", "sample_size"
    )
    lists = (
        pl.DataFrame(rows, schema=schema, orient="row")
        .join(options, on=["round", "question_id"], how="left", maintain_order="left")
        .join(groups, on=["round", "segment_id"], how="left", maintain_order="left")
    )
    n_options = pl.col("percent").list.len().cast(pl.Int64)
    long = lists.with_columns(
        option_index=pl.int_ranges(n_options),
        option_label=pl.coalesce("options", pl.lit(None, pl.String).repeat_by(n_options)),
        sample_size=pl.coalesce("own_size", "sample_size"),
    ).explode("option_index", "option_label", "percent", empty_as_null=False)
    return long.with_columns(share=pl.col("percent") / 100).select(*RESPONSES)


def _contents(all_documents: Sequence[Document]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((document.content["surveyId"], document.content) for document in all_documents)


def _attributes_of(segment: Mapping[str, Any]) -> Mapping[str, Any]:
    attributes = segment.get("attributes")
    return attributes if isinstance(attributes, dict) else {}


def _only_value(segment: Mapping[str, Any]) -> str | None:
    """The value of a segment of one attribute."""
    attributes = _attributes_of(segment)
    return _text(next(iter(attributes.values()))) if len(attributes) == 1 else None


def _text(value: Any) -> str | None:
    """Texts as they are, other values as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _whole(value: Any) -> int | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number else None
