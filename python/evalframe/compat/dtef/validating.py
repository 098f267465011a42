"""Validation of survey documents as in dtef-app, and of contents that tables cannot hold."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import polars as pl

from evalframe.compat.dtef.documents import (
    LARGEST,
    Document,
    Sources,
    documents,
    is_half,
    is_number,
)
from evalframe.survey.contract import HIGHEST, LOWEST

FEW = 30
"""Segments with fewer respondents get a warning."""

SELECT = ("single-select", "multi-select")
"""Types of questions that need options."""

_FINDINGS = {"file": pl.String, "kind": pl.String, "path": pl.String, "message": pl.String}
_SHOWN = 5


class Finding(NamedTuple):
    """Something wrong with a document: how bad, where, and what."""

    kind: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class SurveyValidation:
    """Findings of `validate`.

    Attributes:
        errors: Findings that make a file invalid: `file`, `path` (as `segments[0].responses[2]`),
            `message`.
        warnings: Findings that do not.
        conflicts: Contents that dtef-app accepts although tables cannot hold them: a question
            answered twice by a segment, a key twice in an object, options that are not texts,
            numbers of respondents that are not whole.
        questions: Number of questions.
        segments: Number of segments.
        responses: Number of responses, one per question and segment.

    Examples:
        >>> import evalframe as ef
        >>> found = ef.compat.dtef.validate({"surveyId": "s"})
        >>> found.valid, found.questions
        (False, 0)
    """

    errors: pl.DataFrame
    warnings: pl.DataFrame
    conflicts: pl.DataFrame
    questions: int
    segments: int
    responses: int

    @property
    def valid(self) -> bool:
        """True without errors."""
        return not len(self.errors)

    def __str__(self) -> str:
        """The counts, then the first errors, conflicts and warnings."""
        counts = (
            f"{'valid' if self.valid else 'invalid'}: {self.questions:,} questions,"
            f" {self.segments:,} segments, {self.responses:,} responses"
        )
        kinds = {"errors": self.errors, "conflicts": self.conflicts, "warnings": self.warnings}
        details = (f"{len(f):,} {kind}:\n{lines(f)}" for kind, f in kinds.items() if len(f))
        return "\n".join((counts, *details))


def validate(path: Sources) -> SurveyValidation:
    """Check survey documents by the rules of dtef-app.

    Errors: no id, name, questions or segments; a question without text, type or (for a selection)
    two options; a segment without id or responses, or with the id of another; a response to an
    unknown question, or whose distribution is not of numbers from 0 that sum to between 99 and 101,
    one for each option. Warnings: a segment without label or with fewer than 30 respondents, and
    each question that it did not answer. All are in the order of the documents.

    Args:
        path: Files, globs, folders (with all `.json` files in them), or decoded documents. Tables
            are checked by `evalframe.survey.read_survey` and `as_survey`.

    Returns:
        Errors, warnings and conflicts as tables, and numbers of questions, segments and responses.
        It is `valid` without errors.

    Raises:
        InputError: No such file, a table, or damaged JSON.
        ParameterError: `path` has another type than those above.

    Examples:
        >>> from evalframe.compat.dtef import validate
        >>> question = {"text": "Hot?", "type": "single-select", "options": ["Yes", "No"]}
        >>> answer = {"questionId": "q", "distribution": [60, 30]}
        >>> segment = {"id": "gender:male", "label": "Male", "sampleSize": 12}
        >>> survey = {"surveyId": "s", "surveyName": "S", "questions": {"q": question}}
        >>> print(validate({**survey, "segments": [{**segment, "responses": [answer]}]}))
        invalid: 1 questions, 1 segments, 1 responses
        1 errors:
          survey: segments[0].responses[0].distribution: sums to 90, not to 99 to 101
        1 warnings:
          survey: segments[0].sampleSize: 12 respondents are few
    """
    return report_on(documents(path))


def report_on(documents_: Sequence[Document]) -> SurveyValidation:
    """The findings in documents."""
    findings = [
        (document.name, *(text.encode(errors="backslashreplace").decode() for text in finding))
        for document in documents_
        for finding in _findings(document)
    ]
    table = pl.DataFrame(findings, schema=_FINDINGS, orient="row")
    counts = [_counts(document.content) for document in documents_]
    questions, segments, responses = (sum(count) for count in zip(*counts, strict=True))
    return SurveyValidation(
        errors=table.filter(kind="error").drop("kind"),
        warnings=table.filter(kind="warning").drop("kind"),
        conflicts=table.filter(kind="conflict").drop("kind"),
        questions=questions,
        segments=segments,
        responses=responses,
    )


def lines(findings: pl.DataFrame) -> str:
    """The first findings, one a line."""
    lines = [f"  {file}: {path}: {message}" for file, path, message in findings.head(_SHOWN).rows()]
    if len(findings) > _SHOWN:
        lines.append(f"  and {len(findings) - _SHOWN:,} more")
    return "\n".join(lines)


def _counts(content: Any) -> tuple[int, int, int]:
    """Questions, segments and responses."""
    if not isinstance(content, dict):
        return 0, 0, 0
    segments = content.get("segments")
    segments = segments if isinstance(segments, list) else []
    answered = (s["responses"] for s in segments if isinstance(_at(s, "responses"), list))
    return len(entries(content.get("questions"))), len(segments), sum(map(len, answered))


def _findings(document: Document) -> Iterator[Finding]:
    content = document.content
    if document.escaped and is_half(content):
        yield Finding("conflict", "", "a text has half of a character (a lone surrogate)")
    for key in document.repeated:
        yield Finding("conflict", "", f"an object has the key {key!r} more than once")
    if not isinstance(content, dict | list):
        yield Finding("error", "", "must be an object")
        return
    for name in ("surveyId", "surveyName"):
        if not _is_text(_at(content, name)):
            yield Finding("error", name, "must be a text that is not empty")
    questions = _at(content, "questions")
    if not isinstance(questions, dict | list):
        yield Finding("error", "questions", "must be an object")
    known_questions = entries(questions)
    for question_id, question in known_questions.items():
        yield from _of_question(f"questions.{question_id}", question)
    segments = _at(content, "segments")
    if not isinstance(segments, list):
        yield Finding("error", "segments", "must be an array")
        return
    seen: set[str] = set()
    for number, segment in enumerate(segments):
        yield from _of_segment(f"segments[{number}]", segment, known_questions, seen)
    yield from _of_lengths(known_questions, segments)


def _of_question(path: str, question: Any) -> Iterator[Finding]:
    if not isinstance(question, dict | list):
        yield Finding("error", path, "must be an object")
        return
    for name in ("text", "type"):
        if not _is_text(_at(question, name)):
            yield Finding("error", f"{path}.{name}", "must be a text that is not empty")
    options = _at(question, "options")
    few = not isinstance(options, list) or len(options) < 2
    if _at(question, "type") in SELECT and few:
        yield Finding("error", f"{path}.options", "must be an array of two options or more")
    if isinstance(options, list) and not all(isinstance(option, str) for option in options):
        yield Finding("conflict", f"{path}.options", "must be texts")


def _of_segment(
    path: str, segment: Any, questions: Mapping[str, Any], seen: set[str]
) -> Iterator[Finding]:
    if not isinstance(segment, dict | list):
        yield Finding("error", path, "must be an object")
        return
    segment_id = _at(segment, "id")
    if not _is_text(segment_id):
        yield Finding("error", f"{path}.id", "must be a text that is not empty")
    elif segment_id in seen:
        yield Finding("error", f"{path}.id", f"{segment_id!r} is the id of an earlier segment")
    else:
        seen.add(segment_id)
    if not _is_text(_at(segment, "label")):
        yield Finding("warning", f"{path}.label", "should be a text that is not empty")
    yield from _of_size(f"{path}.sampleSize", _at(segment, "sampleSize"))
    responses = _at(segment, "responses")
    if not isinstance(responses, list):
        yield Finding("error", f"{path}.responses", "must be an array")
        return
    for number, response in enumerate(responses):
        yield from _of_response(f"{path}.responses[{number}]", response, questions)
    answered = [_at(response, "questionId") for response in responses]
    ids = [question_id for question_id in answered if isinstance(question_id, str)]
    if len({*ids}) < len(ids):
        for question_id in dict.fromkeys(q for q in ids if ids.count(q) > 1):
            message = f"{segment_id!r} answers question {question_id!r} more than once"
            yield Finding("conflict", f"{path}.responses", message)
    missing = questions.keys() - {*ids}
    for question_id in (q for q in questions if q in missing):
        message = f"{segment_id!r} has no response to question {question_id!r}"
        yield Finding("warning", f"{path}.responses", message)


def _of_lengths(questions: Mapping[str, Any], segments: list[Any]) -> Iterator[Finding]:
    """Questions without options, whose distributions differ in length."""
    free = {
        q for q, question in questions.items() if not isinstance(_at(question, "options"), list)
    }
    lengths: dict[str, set[int]] = {}
    for segment in segments:
        responses = _at(segment, "responses")
        for response in responses if isinstance(responses, list) else ():
            question_id, shares = _at(response, "questionId"), _at(response, "distribution")
            if isinstance(shares, list) and isinstance(question_id, str) and question_id in free:
                lengths.setdefault(question_id, set()).add(len(shares))
    for question_id, sizes in lengths.items():
        if len(sizes) > 1:
            counts = " and ".join(map(str, sorted(sizes)))
            message = f"has no options, and distributions of {counts} values"
            yield Finding("conflict", f"questions.{question_id}", message)


def _of_size(path: str, size: Any) -> Iterator[Finding]:
    if not is_number(size) or size <= 0:
        yield Finding("warning", path, "should be a positive number")
    elif size < FEW:
        yield Finding("warning", path, f"{size:g} respondents are few")
    if is_number(size) and not _is_whole(size):
        yield Finding("conflict", path, f"{reprlib.repr(size)} is no whole number of respondents")


def _of_response(path: str, response: Any, questions: Mapping[str, Any]) -> Iterator[Finding]:
    question_id = _at(response, "questionId")
    if not _is_text(question_id):
        yield Finding("error", f"{path}.questionId", "must be a text that is not empty")
        return
    if question_id not in questions:
        yield Finding("error", f"{path}.questionId", f"there is no question {question_id!r}")
    shares = _at(response, "distribution")
    if complaint := _complaint(shares, _at(questions.get(question_id), "options")):
        yield Finding("error", f"{path}.distribution", complaint)
    if "sampleSize" in response and not _is_whole(response["sampleSize"]):
        yield Finding("conflict", f"{path}.sampleSize", "must be a whole number")


def _complaint(shares: Any, options: Any) -> str | None:
    """The fault of a distribution, or None."""
    if not isinstance(shares, list):
        return "must be an array"
    if not shares:
        return "is empty"
    if not all(is_number(share) for share in shares):
        return "must hold numbers only"
    if outside := [share for share in shares if not 0 <= share <= HIGHEST]:
        return f"holds {reprlib.repr(outside[0])}"
    # The plain sum from left to right, which later versions of `sum` do not return.
    total = reduce(operator.add, shares)
    if not LOWEST <= total <= HIGHEST:
        return f"sums to {total:.6g}, not to {LOWEST:g} to {HIGHEST:g}"
    if isinstance(options, list) and len(options) != len(shares):
        return f"has {len(shares)} values for {len(options)} options"
    return None


def entries(value: Any) -> dict[str, Any]:
    """The entries of an object; those of an array have their indices as keys."""
    if isinstance(value, list):
        return {str(number): entry for number, entry in enumerate(value)}
    return value if isinstance(value, dict) else {}


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_whole(value: Any) -> bool:
    return is_number(value) and abs(value) <= LARGEST and value == value // 1
