"""Predictions whose rounds, segments or questions are not in the survey, with suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.contract import Rule
from evalframe.core.errors import did_you_mean
from evalframe.jobs.survey.truth import SEGMENT, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.survey.truth import Truth

_SHOWN = 3


class _Kind(NamedTuple):
    """One kind of name in predictions."""

    name: str
    keys: list[str]
    """Columns of the name."""
    after: tuple[str, ...]
    """Kinds that must match before this one is checked."""
    sentence: str
    remedy: str


_ASIDE = "or have these rows set aside (--on-invalid quarantine)"


def _kinds(truth: Truth) -> list[_Kind]:
    correct = f"correct {{}}, {_ASIDE}"
    add = f"add {{}} to the survey, {_ASIDE}"
    segment, question = [*truth.rounds, SEGMENT], truth.question
    kinds = [
        _Kind("round", truth.rounds, (), "round is one of the survey", correct),
        _Kind("segment", segment, ("round",), "segment_id is one of the survey", correct),
        _Kind("question", question, ("round",), "question_id is one of the survey", correct),
        _Kind(
            "answer",
            truth.keys,
            ("segment", "question"),
            "the survey has the answers of the segment to the question",
            add,
        ),
    ]
    return [kind for kind in kinds if kind.keys]


def rules_of_names(predictions: pl.LazyFrame, truth: Truth) -> list[Rule]:
    """Rules that rounds, segments and questions are those of the survey.

    The predictions are read once, since remedies list the unknown names.
    """
    if {*truth.keys} - {*predictions.collect_schema()}:
        return []  # the contract reports missing columns
    names = predictions.group_by(pl.col(truth.keys).cast(pl.String)).len().collect()
    matches: dict[str, pl.Expr] = {}
    rules = []
    for kind in _kinds(truth):
        values = truth.distributions.select(named(kind.keys)).to_series().unique()
        matches[kind.name] = named(kind.keys).is_in(values.implode())
        excused = (~matches[name] for name in kind.after if name in matches)
        holds = pl.any_horizontal(matches[kind.name], *excused)
        unknown = names.filter(~holds).group_by(kind.keys).agg(pl.col("len").sum())
        if len(unknown):
            remedy = kind.remedy.format(_listed(truth, kind, unknown.sort(kind.keys)))
            rules.append(Rule(kind.sentence, holds, tuple(kind.keys), remedy))
    return rules


def _listed(truth: Truth, kind: _Kind, unknown: pl.DataFrame) -> str:
    """The first unknown names, each with its rows and a suggestion."""
    first = unknown.head(_SHOWN).iter_rows(named=True)
    more = len(unknown) - _SHOWN
    names = ", ".join(_described(truth, kind, row) for row in first)
    return names + (f" and {more:,} more" if more > 0 else "")


def _described(truth: Truth, kind: _Kind, row: dict[str, Any]) -> str:
    rows = f"{row['len']:,} row{'s' * (row['len'] > 1)}"
    in_round = f" in {row['round']}" if truth.rounds and kind.name != "round" else ""
    if kind.name == "answer":
        return f"{row[SEGMENT]!r} to {row['question_id']!r}{in_round} ({rows})"
    column = kind.keys[-1]
    return f"{row[column]!r}{in_round} ({rows}{_suggestion(truth, column, row)})"


def _suggestion(truth: Truth, column: str, row: dict[str, Any]) -> str:
    """Other rounds of the survey with the name, or the most similar name in the round."""
    table, name = truth.distributions, row[column]
    elsewhere = table.filter(pl.col(column) == name)["round"].unique(maintain_order=True)
    if len(elsewhere):
        return f"; it is in {_few(elsewhere.to_list())}"
    here = (
        table.filter(pl.col("round") == row["round"])
        if column != "round" and "round" in row
        else table
    )
    hint = did_you_mean(name, here[column].unique(maintain_order=True))
    return f"; d{hint.strip().removeprefix('D')}" if hint else ""


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
