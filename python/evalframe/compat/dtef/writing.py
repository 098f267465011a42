"""Surveys written as documents of dtef-app."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.compat.dtef.documents import Document
from evalframe.compat.dtef.validating import SELECT, lines, report_on
from evalframe.core.errors import ContractError, OutputError
from evalframe.core.files import replacing
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.segments import slug

if TYPE_CHECKING:
    from evalframe.survey.surveys.tables import AnySurvey, Survey


def write_survey(survey: AnySurvey, path: str | Path) -> list[Path]:
    """Write a survey as documents of dtef-app, one for each round.

    A response has its own `sampleSize` if it differs from that of its segment; dtef-app ignores it.
    A question whose options have no labels is written as `open-ended`, since the format has no
    selection without them.

    Args:
        survey: The survey, or a table for `as_distributions`.
        path: A `.json` file for a survey of one round; else an existing folder, in which each
            round is `ROUND.json`, its name in lower case with `-` for characters other than
            letters and digits.

    Returns:
        The files, in the order of the rounds. All of them are written before the first replaces
        another.

    Raises:
        ContractError: The table breaks its contract, or `validate` would report errors or
            conflicts: a question with one option, some labels without others, an empty id.
        OutputError: Several rounds for one file or of the same file name, a round without a letter
            or digit for a name, or a file that cannot be written.

    Example:
        >>> import tempfile
        >>> table = pl.DataFrame(
        ...     {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[25.0, 75.0]]}
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file] = write_survey(table, Path(folder, "survey.json"))
        ...     json.loads(file.read_text())["segments"][0]["responses"]
        [{'questionId': 'q', 'distribution': [25, 75]}]
    """
    path, survey = Path(path), as_survey(survey)
    rounds = survey.rounds["round"].to_list()
    if path.suffix.lower() == ".json":
        if len(rounds) != 1:
            raise OutputError(
                f"cannot write {len(rounds):,} rounds to {path.name}; name a folder, for a file of"
                " each"
            )
        files = {rounds[0]: path}
    else:
        names = survey.rounds.select(slug("round")).to_series().to_list()
        files = {round_: path / f"{name}.json" for round_, name in zip(rounds, names, strict=True)}
        if len({*files.values()}) < len(files):
            raise OutputError(f"rounds {', '.join(rounds)} would share a file; rename them")
        if "" in names:
            nameless = rounds[names.index("")]
            raise OutputError(
                f"round {nameless!r} has no letter from a to z and no digit for the name of a file;"
                " rename it, or name a .json file"
            )
    documents = [Document(file.name, _document(survey, name)) for name, file in files.items()]
    _refuse_invalid(documents)
    with ExitStack() as stack:
        for file, document in zip(files.values(), documents, strict=True):
            partial = stack.enter_context(replacing(file))
            text = json.dumps(document.content, ensure_ascii=False, indent=1)
            partial.write_text(text, encoding="utf-8")
    return list(files.values())


def _refuse_invalid(documents: list[Document]) -> None:
    """Raise ContractError if a document could not be read again."""
    report = report_on(documents)
    wrong = pl.concat([report.errors, report.conflicts])
    if len(wrong):
        raise ContractError(
            f"the format cannot hold this survey, for {len(wrong):,} reasons:\n{lines(wrong)}"
        )


def _document(survey: Survey, round_: str) -> dict[str, Any]:
    about = survey.rounds.row(by_predicate=pl.col("round") == round_, named=True)
    document = {"surveyId": round_, "surveyName": about["name"] or round_}
    document |= {key: about[key] for key in ("description", "source") if about[key] is not None}
    return {
        **document,
        "questions": _questions(survey.questions.filter(round=round_)),
        "segments": _segments(survey, round_),
    }


def _questions(questions: pl.DataFrame) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for question in questions.sort("question_order", maintain_order=True).iter_rows(named=True):
        described = {"text": question["question_text"], "type": question["question_type"]}
        if question["options"] is not None:
            described["options"] = question["options"]
        elif described["type"] in SELECT:
            described["type"] = "open-ended"
        result[question["question_id"]] = described
    return result


def _segments(survey: Survey, round_: str) -> list[dict[str, Any]]:
    attributes, responses = _attributes(survey, round_), _responses(survey, round_)
    described = []
    for segment in survey.segments.filter(round=round_).iter_rows(named=True):
        name, size = segment["segment_id"], segment["sample_size"]
        described.append(
            {
                "id": name,
                "label": segment["segment_label"],
                "attributes": attributes.get(name, {}),
                **({} if size is None else {"sampleSize": size}),
                "responses": [
                    {
                        "questionId": question_id,
                        "distribution": [int(p) if p.is_integer() else p for p in percents],
                        **(
                            {} if own_size is None or own_size == size else {"sampleSize": own_size}
                        ),
                    }
                    for question_id, own_size, percents in responses.get(name, ())
                ],
            }
        )
    return described


def _attributes(survey: Survey, round_: str) -> dict[str, dict[str, str]]:
    """The attributes of each segment."""
    rows = survey.segment_attributes.filter(round=round_)
    lists = rows.group_by("segment_id", maintain_order=True).agg("attribute", "value")
    return {
        name: dict(zip(attributes, values, strict=True))
        for name, attributes, values in lists.iter_rows()
    }


def _responses(survey: Survey, round_: str) -> dict[str, list[tuple[str, int | None, list[float]]]]:
    """The answers of each segment: question, respondents and percentages."""
    lists = (
        survey.responses.lazy()
        .filter(round=round_)
        .group_by("segment_id", "question_id", maintain_order=True)
        .agg(pl.col("sample_size").first(), pl.col("percent").sort_by("option_index"))
        .group_by("segment_id", maintain_order=True)
        .agg(pl.struct("question_id", "sample_size", "percent").alias("responses"))
        .collect()
    )
    return {
        name: [(r["question_id"], r["sample_size"], r["percent"]) for r in responses]
        for name, responses in lists.iter_rows()
    }
