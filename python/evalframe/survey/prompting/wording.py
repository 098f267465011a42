"""Templates of prompts, and the columns that fill them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
"""The letters of the options."""

OPTION_LINE = "  {letter}. {option}"
"""An option of the question that is asked."""


@dataclass(frozen=True)
class Wording:
    """Templates of a format for a group and its answers."""

    group: str  # of `attributes` and `respondents`
    context: str  # before the answers to other questions
    item: str  # an answer, of `question` and `answers`
    answer: str  # an option of it, of `letter`, `option` and `percent`
    between: str = "\n"  # two options
    apart: str = "\n\n"  # two answers


_LISTED = Wording(
    group="Group: {attributes}\nSurveyed: {respondents}",
    context="What this group answered to other questions of the survey:",
    item='Q: "{question}"\nThe answers:\n{answers}',
    answer="  {letter}. {option}: {percent}%",
)

WORDINGS: Mapping[str, Wording] = {
    "attribute-label": _LISTED,
    "distribution-context": _LISTED,
    "narrative": Wording(
        group="A survey was answered by {respondents}. What they have in common: {attributes}.",
        context="This is how they see other matters.",
        item="Asked “{question}”, they were of these minds: {answers}.",
        answer="{percent}% said “{option}”",
        between=", ",
    ),
    "raw-survey": Wording(
        group="filter: {attributes}\nbase: {respondents}",
        context="question | option | percent of base",
        item="{answers}",
        answer="{question} | {option} | {percent}",
        apart="\n",
    ),
    "interview": Wording(
        group="An interviewer meets a group of {respondents} ({attributes}).",
        context="The interview so far:",
        item="INTERVIEWER: {question}\nGROUP: {answers}.",
        answer="{percent} of a hundred of us say “{option}”",
        between=", ",
    ),
    "first-person": Wording(
        group="I am one of {respondents} to a survey. About me: {attributes}.",
        context="This is what people like me answered before:",
        item="To “{question}” we said: {answers}.",
        answer="“{option}” ({percent}%)",
        between=", ",
    ),
}

PERSONS: Mapping[str, Wording] = {
    "attribute-label": Wording("Respondent: {attributes}", "", "", ""),
    "raw-survey": Wording(
        group="filter: {attributes}",
        context="question | answer of this respondent",
        item="{answers}",
        answer="{question} | {option}",
        apart="\n",
    ),
    "interview": Wording(
        group="An interviewer meets a respondent ({attributes}).",
        context="The interview so far:",
        item="INTERVIEWER: {question}\nRESPONDENT: {answers}.",
        answer="{option}",
    ),
    "first-person": Wording(
        group="I answer a survey. About me: {attributes}.",
        context="This is what I answered before:",
        item="To “{question}” I said: {answers}.",
        answer="“{option}”",
    ),
}
"""Templates of formats for one participant."""

QUESTION = "Question to predict:\n{question}\n{options}"
"""The question, if it is the only one."""

KEYED_QUESTION = 'Question with the key "{question_id}":\n{question}\n{options}'
"""One of several questions."""

SHIFT = "All respondents of the survey together, in the order of the options: [{marginal}]"
"""The answers of all, for a prompt about the difference of a group."""

SYSTEMS: Mapping[str, str] = {
    "distribution": (
        "You estimate how the members of a group answered the questions of a survey. Say of each"
        " option what percentage of the group chose it: numbers from 0 to 100, in the order of the"
        " options, which sum to 100. Start from what people in general would answer, and ask what"
        " is particular to this group. If some of its other answers are given, let them guide you."
        " Hardly any option is chosen by all, or by nobody."
    ),
    "shift": (
        "You estimate how the answers of a group to a survey differ from those of all respondents,"
        " which are given. Say of each option what percentage of the group chose it: numbers from 0"
        " to 100, in the order of the options, which sum to 100. Where you see no reason for a"
        " difference, stay with the answers of all."
    ),
    "synthetic-individual": (
        "You answer a survey on behalf of different members of a group, as each of them would."
        " Members of a group differ; so let their answers be as varied as those of real people."
    ),
    "individual-answer": (
        "You answer a survey on behalf of one member of a group, and say how probable each answer"
        " of this person is."
    ),
}

_TWO_LINES = (
    "Reply with two lines: ANSWER: and a letter; then PROBABILITIES: and the {n_options}"
    " probabilities of the options in brackets, separated by commas, which sum to 1."
)
ANSWERS: Mapping[str, str] = {
    "distribution": (
        "Reply with the {n_options} percentages in brackets, separated by commas, and with nothing"
        " else."
    ),
    "synthetic-individual": (
        "Choose an answer for each of {n_individuals} members of the group. Reply with their"
        " {n_individuals} letters in brackets, each in quotes and separated by commas, and with"
        " nothing else."
    ),
    "individual-answer": f"Think of one member of the group, drawn at random. {_TWO_LINES}",
}

REASONED: Mapping[str, str] = {
    "distribution": (
        "First reason step by step, without brackets. Then write a last line: DISTRIBUTION: and the"
        " {n_options} percentages in brackets, separated by commas."
    ),
    "synthetic-individual": (
        "First reason step by step, without brackets. Then choose an answer for each of"
        " {n_individuals} members of the group: their {n_individuals} letters in brackets, each in"
        " quotes and separated by commas."
    ),
    "individual-answer": "First reason step by step. " + ANSWERS["individual-answer"],
}

OF_PERSON = f"Say what this respondent answered. {_TWO_LINES}"

KEYED: Mapping[str, str] = {
    "distribution": "a list of its percentages.",
    "synthetic-individual": (
        "a list of {n_individuals} letters in quotes, one for each of as many members of the group."
    ),
}


def instruction(eval_type: str, *, reasoned: bool, keyed: bool, of_person: bool) -> str:
    """The end of a prompt."""
    if of_person:
        return f"First reason step by step. {OF_PERSON}" if reasoned else OF_PERSON
    kind = "distribution" if eval_type == "shift" else eval_type
    if keyed:
        start = "Reply with one JSON object and with nothing else"
        if reasoned:
            start = "First reason step by step, without braces. Then write one JSON object"
        return f"{start}: for each question its key, and {KEYED[kind]}"
    return (REASONED if reasoned else ANSWERS)[kind]


def filled(template: str, fields: Mapping[str, pl.Expr]) -> pl.Expr:
    """The template with columns in the places of their names in braces; other braces are text.

    >>> pl.select(filled("{a} {b}", {"a": pl.lit("x")})).item()
    'x {b}'
    """
    names = "|".join(map(re.escape, fields))
    pieces = re.split(rf"\{{({names})\}}", template)
    exprs = [fields[p] if k % 2 else pl.lit(p) for k, p in enumerate(pieces)]
    return pl.concat_str([expr.cast(pl.String) for expr in exprs])
