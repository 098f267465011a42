"""Contracts of instances (questions) and of responses; kinds of data sets by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, each_once
from evalframe.rag.answers import aliases, answer_groups

if TYPE_CHECKING:
    from evalframe.core.kinds import Kind


ANSWERS: tuple[Kind, ...] = ("string", "texts", "groups")
"""Kinds of a column of answers."""


def instances_contract(
    *,
    dataset: str = "dataset",
    id: str = "id",
    query: str | None = "query",
    answers: str = "answers",
    fake_answers: str | None = None,
    positive: str | None = None,
    negative: str | None = None,
    positive_wrong: str | None = None,
) -> Contract:
    """The contract of a table of questions, under the names its columns have.

    Ids are unique within a data set, so both together are the key. Documents are required if their
    columns are named.

    Args:
        dataset: Name of the data set.
        id: The question within it.
        query: Its text; None for a table without it.
        answers: Accepted answers: text, lists of text, or groups of aliases.
        fake_answers: The answer of counterfactual documents: text or lists of aliases, null for
            other data; None for a table without it.
        positive: Documents with the answer: lists of texts, or of `_int` data lists of groups.
        negative: Documents without it: lists of texts.
        positive_wrong: Documents with the fake answer: lists of texts, null for other data.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> contract = ef.rag.instances_contract()
        >>> [column.name for column in contract.columns], contract.key
        (['dataset', 'id', 'query', 'answers'], ('dataset', 'id'))
    """
    columns = [Column(dataset, "string"), Column(id, "key")]
    columns += [Column(query, "string")] if query else []
    columns.append(Column(answers, ANSWERS, meaning="accepted answers"))
    columns += [Column(positive, ("texts", "groups"))] if positive else []
    columns += [Column(negative, "texts")] if negative else []
    columns += [Column(positive_wrong, "texts", nullable=True)] if positive_wrong else []
    rules = [_published(answers)]
    if fake_answers:
        columns.append(Column(fake_answers, ("string", "texts"), nullable=True))
        shaped = aliases(fake_answers, on_invalid="null").is_not_null()
        remedy = f"write {fake_answers!r} as text or a list of texts"
        holds = shaped | pl.col(fake_answers).is_null()
        rules.append(Rule(f"{fake_answers} hold no null", holds, (fake_answers,), remedy))
    return Contract("instances", tuple(columns), rules=tuple(rules), key=(dataset, id))


def responses_contract(
    *,
    model: str | None = "model",
    dataset: str | None = "dataset",
    id: str | None = "id",
    noise_rate: str | None = "noise_rate",
    passage_num: str | None = "passage_num",
    correct_passage_rate: str | None = "correct_passage_rate",
    response: str | None = "response",
    evaluation: str | None = None,
    answers: str | None = None,
    weight: str | None = None,
    label: str | None = None,
    factlabel: str | None = None,
    by: str | Sequence[str] = (),
) -> Contract:
    """The contract of a table of responses, under the names its columns have.

    The settings of a run and the question identify a row, so that a repeated run is an error;
    without an id rows are not compared. None is for a column that the table lacks.

    Args:
        model: The model that answered.
        dataset: Name of the data set.
        id: The question within it.
        noise_rate: Share of noise among the documents, from 0 to 1.
        passage_num: Number of documents.
        correct_passage_rate: Share of correct documents, from 0 to 1; null for other data.
        response: The response; null for a request that failed.
        evaluation: A judge's text about the response, or null.
        answers: Accepted answers.
        weight: How often each row counts, 0 or more.
        label: Labels: lists of 1, 0 and -1, or null.
        factlabel: 1 if an error was flagged, else 0, or null.
        by: Further columns that distinguish runs; null is a value like any other.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> contract = ef.rag.responses_contract(correct_passage_rate=None, by="temperature")
        >>> contract.key
        ('model', 'dataset', 'noise_rate', 'passage_num', 'temperature', 'id')
    """
    extra = (by,) if isinstance(by, str) else tuple(by)
    columns = [Column(name, "string") for name in (model, dataset) if name]
    columns += [Column(id, "key")] if id else []
    if noise_rate:
        columns.append(Column(noise_rate, "number", meaning="share of noise"))
    if passage_num:
        columns.append(Column(passage_num, "integer", meaning="number of documents"))
    if correct_passage_rate:
        columns.append(Column(correct_passage_rate, "number", nullable=True))
    columns += [Column(name, "string", nullable=True) for name in (response, evaluation) if name]
    columns += [Column(answers, ANSWERS, meaning="accepted answers")] if answers else []
    columns += [Column(weight, "number", meaning="0 or more")] if weight else []
    columns += [Column(label, "integers", nullable=True)] if label else []
    columns += [Column(factlabel, "integer", nullable=True)] if factlabel else []
    columns += [Column(name, nullable=True, finite=False) for name in extra]
    rules = [_share(name) for name in (noise_rate, correct_passage_rate) if name]
    rules += [_not_negative(name) for name in (passage_num, weight) if name]
    rules += [_published(answers)] if answers else []
    rules += [label_rule(label)] if label else []
    rules += [factlabel_rule(factlabel)] if factlabel else []
    settings = (model, dataset, noise_rate, passage_num, correct_passage_rate, *extra, id)
    return Contract(
        "responses",
        each_once(columns),
        rules=tuple(rules),
        key=tuple(dict.fromkeys(name for name in settings if name)) if id else (),
    )


def label_rule(name: str) -> Rule:
    """Labels are lists of 1, 0 and -1."""
    valid = pl.element().is_in([-1, 0, 1]).fill_null(value=False)
    # The cast also turns a column of nulls into lists.
    labels = pl.col(name).cast(pl.List(pl.Int64), strict=False)
    holds = labels.list.eval(valid).list.all()
    remedy = "make labels by evalframe.rag.label"
    return Rule(f"{name} holds only 1, 0 and -1", holds, (name,), remedy)


def factlabel_rule(name: str) -> Rule:
    """Flags are 1 or 0."""
    remedy = "make flags by evalframe.rag.label"
    return Rule(f"{name} is 1 or 0", pl.col(name).is_in([0, 1]), (name,), remedy)


def _published(answers: str) -> Rule:
    return Rule(
        f"{answers} have a published shape",
        answer_groups(answers, on_invalid="null").is_not_null() | pl.col(answers).is_null(),
        (answers,),
        f"write {answers!r} as text, a list of texts or a list of lists of aliases, without nulls",
    )


def _share(name: str) -> Rule:
    remedy = f"correct {name!r}; divide percentages by 100"
    return Rule(f"{name} lies in [0, 1]", pl.col(name).is_between(0, 1), (name,), remedy)


def _not_negative(name: str) -> Rule:
    return Rule(f"{name} is not negative", pl.col(name) >= 0, (name,), f"correct {name!r}")


def is_integration(dataset: pl.Expr) -> pl.Expr:
    """True if the answer is spread over groups of passages."""
    return _holds(dataset, "_int")


def is_counterfactual(dataset: pl.Expr) -> pl.Expr:
    """True if passages were altered."""
    return ~is_integration(dataset) & _holds(dataset, "_fact")


def is_chinese(dataset: pl.Expr) -> pl.Expr:
    """True if questions and answers are in Chinese."""
    return _holds(dataset, "zh")


def _holds(dataset: pl.Expr, part: str) -> pl.Expr:
    return dataset.cast(pl.String).str.contains(part, literal=True)
