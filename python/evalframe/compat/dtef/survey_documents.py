"""Surveys read from and written as documents of dtef-app."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.compat.dtef.documents import Document, Sources, documents
from evalframe.compat.dtef.validating import SELECT, entries, lines, report_on
from evalframe.core.errors import ContractError, InputError, OutputError
from evalframe.core.files import replacing
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.survey.surveys.assembling import ATTRIBUTES, QUESTIONS, ROUNDS, SEGMENTS, as_survey
from evalframe.survey.surveys.segments import category, slug
from evalframe.survey.surveys.tables import RESPONSES, Survey


def read_survey(path: Sources) -> Survey:
    """Read survey documents of dtef-app 52d79c0 as tidy tables.

    Documents are checked as by `validate`. Each is a round, named by its survey id. A response can
    have its own `sampleSize`, which dtef-app ignores. Rounds are in the order of the files,
    everything else in that of the documents.

    Args:
        path: `.json` files, globs, folders (with all `.json` files in them) or decoded documents.

    Returns:
        The survey; shares are the percentages of the documents.

    Raises:
        InputError: No such file, a table, damaged JSON, errors or conflicts (see `validate`), or
            two files of the same round.
        ParameterError: `path` has another type than those above.

    Examples:
        >>> import evalframe as ef
        >>> question = {"text": "Hot?", "type": "single-select", "options": ["Yes", "No"]}
        >>> answer = {"questionId": "q", "distribution": [60, 40]}
        >>> segment = {"id": "gender:male", "sampleSize": 50, "responses": [answer]}
        >>> survey = {"surveyId": "s", "surveyName": "S", "questions": {"q": question}}
        >>> tables = ef.compat.dtef.read_survey({**survey, "segments": [segment]})
        >>> tables.distributions().select("segment_id", "sample_size", "actual").row(0)
        ('gender:male', 50, [0.6, 0.4])
    """
    all_documents = documents(path)
    report = report_on(all_documents)
    kinds = {"errors": report.errors, "conflicts": report.conflicts}
    faults = [f"{len(rows):,} {kind}:\n{lines(rows)}" for kind, rows in kinds.items() if len(rows)]
    if faults:
        raise InputError("\n".join(("correct the survey", *faults)))
    _refuse_repeated(all_documents)
    keys = ("surveyId", "surveyName", "description", "source")
    rounds = [tuple(_text(each.content.get(key)) for key in keys) for each in all_documents]
    questions, segments = _questions(all_documents), _segments(all_documents)
    return Survey(
        rounds=pl.DataFrame(rounds, schema=ROUNDS, orient="row"),
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
        **dict.fromkeys(("round", "segment_id", "question_id"), pl.String()),
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


@any_frame
def write_survey(survey: Survey | Frame, path: str | Path) -> list[Path]:
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

    Examples:
        >>> import tempfile, json, polars as pl
        >>> from pathlib import Path
        >>> from evalframe.compat.dtef import write_survey
        >>> shares = {"question_id": "q", "segment_id": "gender:male", "actual": [[25.0, 75.0]]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file] = write_survey(pl.DataFrame(shares), Path(folder, "survey.json"))
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
    report = report_on(documents)
    wrong = pl.concat([report.errors, report.conflicts])
    if len(wrong):
        raise ContractError(
            f"the format cannot hold this survey, for {len(wrong):,} reasons:\n{lines(wrong)}"
        )
    with ExitStack() as stack:
        for file, document in zip(files.values(), documents, strict=True):
            partial = stack.enter_context(replacing(file))
            text = json.dumps(document.content, ensure_ascii=False, indent=1)
            partial.write_text(text, encoding="utf-8")
    return list(files.values())


def _document(survey: Survey, round_: str) -> dict[str, Any]:
    about = survey.rounds.row(by_predicate=pl.col("round") == round_, named=True)
    document = {"surveyId": round_, "surveyName": about["name"] or round_}
    document |= {key: about[key] for key in ("description", "source") if about[key] is not None}
    return {
        **document,
        "questions": _written_questions(survey.questions.filter(round=round_)),
        "segments": _written_segments(survey, round_),
    }


def _written_questions(questions: pl.DataFrame) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for question in questions.sort("question_order", maintain_order=True).iter_rows(named=True):
        described = {"text": question["question_text"], "type": question["question_type"]}
        if question["options"] is not None:
            described["options"] = question["options"]
        elif described["type"] in SELECT:
            described["type"] = "open-ended"
        result[question["question_id"]] = described
    return result


def _written_segments(survey: Survey, round_: str) -> list[dict[str, Any]]:
    attributes, responses = (
        _attributes_by_segment(survey, round_),
        _responses_by_segment(survey, round_),
    )
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


def _attributes_by_segment(survey: Survey, round_: str) -> dict[str, dict[str, str]]:
    """The attributes of each segment."""
    rows = survey.segment_attributes.filter(round=round_)
    lists = rows.group_by("segment_id", maintain_order=True).agg("attribute", "value")
    return {
        name: dict(zip(attributes, values, strict=True))
        for name, attributes, values in lists.iter_rows()
    }


def _responses_by_segment(
    survey: Survey, round_: str
) -> dict[str, list[tuple[str, int | None, list[float]]]]:
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
