"""Predictions about what the survey does not know: which, how many, and what may be meant."""

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
    """Something that predictions name."""

    name: str
    keys: list[str]
    """What names it."""
    after: tuple[str, ...]
    """Kinds that must be known before it is asked for."""
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
    """Rounds, segments and questions of predictions are those of the survey.

    Args:
        predictions: Their table; it is read once for the names in it.
        truth: What they are compared with.
    """
    if {*truth.keys} - {*predictions.collect_schema()}:
        return []  # for which the contract has words of its own
    asked = predictions.group_by(pl.col(truth.keys).cast(pl.String)).len().collect()
    known: dict[str, pl.Expr] = {}
    rules = []
    for kind in _kinds(truth):
        values = truth.distributions.select(named(kind.keys)).to_series().unique()
        known[kind.name] = named(kind.keys).is_in(values.implode())
        excused = (~known[name] for name in kind.after if name in known)
        holds = pl.any_horizontal(known[kind.name], *excused)
        unknown = asked.filter(~holds).group_by(kind.keys).agg(pl.col("len").sum())
        if len(unknown):
            remedy = kind.remedy.format(_listed(truth, kind, unknown.sort(kind.keys)))
            rules.append(Rule(kind.sentence, holds, tuple(kind.keys), remedy))
    return rules


def _listed(truth: Truth, kind: _Kind, unknown: pl.DataFrame) -> str:
    """The first unknown names, each with its rows and what it may stand for."""
    first = unknown.head(_SHOWN).iter_rows(named=True)
    more = len(unknown) - _SHOWN
    told = ", ".join(_told(truth, kind, row) for row in first)
    return told + (f" and {more:,} more" if more > 0 else "")


def _told(truth: Truth, kind: _Kind, row: dict[str, Any]) -> str:
    rows = f"{row['len']:,} row{'s' * (row['len'] > 1)}"
    in_round = f" in {row['round']}" if truth.rounds and kind.name != "round" else ""
    if kind.name == "answer":
        return f"{row[SEGMENT]!r} to {row['question_id']!r}{in_round} ({rows})"
    column = kind.keys[-1]
    return f"{row[column]!r}{in_round} ({rows}{_meant(truth, column, row)})"


def _meant(truth: Truth, column: str, row: dict[str, Any]) -> str:
    """Where else the survey has a name, or the nearest name that it has there."""
    table, name = truth.distributions, row[column]
    elsewhere = table.filter(pl.col(column) == name)["round"].unique(maintain_order=True)
    if len(elsewhere):
        return f"; it stands in {_few(elsewhere.to_list())}"
    here = (
        table.filter(pl.col("round") == row["round"])
        if column != "round" and "round" in row
        else table
    )
    hint = did_you_mean(name, here[column].unique(maintain_order=True))
    return f"; d{hint.strip().removeprefix('D')}" if hint else ""


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
