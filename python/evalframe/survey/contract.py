"""The tables of the family: distributions, long and as lists, and responses of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, each_once
from evalframe.core.errors import ParameterError

Unit: TypeAlias = Literal["share", "percent"]

KEYS = ("round", "segment_id", "question_id")
"""Columns that identify a distribution."""

LOWEST, HIGHEST = 99.0, 101.0
"""Limits of the sum of the percentages of a distribution, both included."""

_SLACK = 1e-9


def survey_contract(
    *,
    round: str | None = "round",
    segment_id: str = "segment_id",
    question_id: str = "question_id",
    option_index: str = "option_index",
    share: str = "share",
    unit: Unit = "share",
    sample_size: str | None = "sample_size",
) -> Contract:
    """The contract of a long survey table: one row per question, segment and option.

    Shares of a distribution sum to 1 within one percent, options are numbered from 0 without a gap,
    and a question has the same number of them in every segment of its round. A distribution has one
    number of respondents, which can be missing in some of its rows.

    Args:
        round: The round of the survey; None for a table of one round.
        segment_id: The segment, `attribute:slug`.
        question_id: The question.
        option_index: The option, from 0.
        share: The share of respondents who chose it.
        unit: `"share"` for fractions or `"percent"`.
        sample_size: Respondents, a whole number; null if unknown. None for a table without it.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Raises:
        ParameterError: An unknown unit.

    Examples:
        >>> import evalframe as ef
        >>> ef.survey.survey_contract(round=None, share="percent", unit="percent").key
        ('segment_id', 'question_id', 'option_index')
    """
    if unit not in ("share", "percent"):
        raise ParameterError(f"unit must be 'share' or 'percent', got {unit!r}")
    distribution = [name for name in (round, segment_id, question_id) if name]
    question = [name for name in (round, question_id) if name]
    total = pl.col(share).sum().over(distribution) * (100 if unit == "share" else 1)

    numbered = pl.col(option_index).rank("ordinal").over(distribution) - 1
    columns = [Column(name, "key") for name in distribution]
    columns += [Column(option_index, "integer"), Column(share, "number")]
    columns += _respondents(sample_size)
    return Contract(
        "survey",
        tuple(columns),
        rules=(
            _not_negative(share),
            Rule(
                f"{share} of a question and segment sum to {100 if unit == 'percent' else 1}",
                _near_whole(total),
                (*distribution, share),
                "correct the shares, or add the options that are missing",
            ),
            Rule(
                f"{option_index} counts from 0",
                numbered == pl.col(option_index),
                (*distribution, option_index),
                "number the options of each question from 0, without gaps or repeats",
            ),
            _same_options(pl.len().over(distribution), question, (*distribution, option_index)),
            *_sizes(sample_size, distribution),
        ),
        key=(*distribution, option_index),
    )


def distributions_contract(
    *,
    round: str | None = "round",
    segment_id: str = "segment_id",
    question_id: str = "question_id",
    actual: str = "actual",
    options: str | None = None,
    n_options: str | None = None,
    sample_size: str | None = "sample_size",
) -> Contract:
    """The contract of a table of distributions: one row per question and segment.

    Args:
        round: The round of the survey; None for a table of one round.
        segment_id: The segment, `attribute:slug`.
        question_id: The question.
        actual: The shares of the options, as fractions or in percent.
        options: Labels of the options; None for a table without them.
        n_options: Number of options; None for a table without it.
        sample_size: Respondents, a whole number; null if unknown. None for a table without it.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> [rule.name for rule in ef.survey.distributions_contract(sample_size=None).rules]
        ['actual has numbers only', 'actual is not negative', 'actual sums to 1 or to 100',
         'a question has the same options in all segments']
    """
    distribution = [name for name in (round, segment_id, question_id) if name]
    question = [name for name in (round, question_id) if name]
    # A column of nothing but nulls has no lists, and no numbers.
    shares = pl.col(actual).cast(pl.List(pl.Float64), strict=False)
    numbers = shares.list.eval(pl.element().is_finite().fill_null(value=False))
    total, count = shares.list.sum(), shares.list.len()
    columns = [Column(name, "key") for name in distribution]
    columns += [Column(actual, "numbers", meaning="shares of the options")]
    columns += _respondents(sample_size)
    columns += [Column(options, "texts", nullable=True)] if options else []
    columns += [Column(n_options, "integer")] if n_options else []
    rules = [
        Rule(
            f"{actual} has numbers only",
            numbers.list.all() & (count > 0),
            (*distribution, actual),
            "replace null, NaN and infinity by shares, or drop these rows",
        ),
        Rule(
            f"{actual} is not negative",
            shares.list.min() >= 0,
            (*distribution, actual),
            f"correct {actual!r}",
        ),
        Rule(
            f"{actual} sums to 1 or to 100",
            _near_whole(total) | _near_whole(total * 100),
            (*distribution, actual),
            "correct the shares; divide counts by their sum",
        ),
        _same_options(count, question, (*distribution, actual)),
    ]
    if options:
        rules.append(_as_many(pl.col(options).cast(pl.List(pl.String)).list.len(), options, actual))
    if n_options:
        rules.append(_as_many(pl.col(n_options), n_options, actual))
    rules += _sizes(sample_size)
    return Contract("distributions", tuple(columns), rules=tuple(rules), key=tuple(distribution))


def predictions_contract(
    *,
    model: str | None = "model",
    round: str | None = "round",
    segment_id: str = "segment_id",
    question_id: str = "question_id",
    response: str | None = "response",
    context_count: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] = (),
) -> Contract:
    """The contract of a table of responses: one row per model, question and segment.

    Args:
        model: The model; None for a table of one model.
        round: The round of the survey; None for a table of one round.
        segment_id: The segment of the question.
        question_id: The question.
        response: The response; null for a request that failed. None for a table of parsed
            predictions.
        context_count: Number of answers in the prompt; null if unknown. None for a table without
            it.
        weight: Weight of each row, 0 or more.
        by: Further columns that distinguish runs; null is a value like any other.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> ef.survey.predictions_contract(context_count="context_count", by="temperature").key
        ('model', 'round', 'segment_id', 'question_id', 'context_count', 'temperature')
    """
    extra = (by,) if isinstance(by, str) else tuple(by)
    keys = [name for name in (model, round, segment_id, question_id) if name]
    columns = [Column(name, "key") for name in keys]
    columns += [Column(response, "string", nullable=True)] if response else []
    columns += [Column(context_count, "integer", nullable=True)] if context_count else []
    columns += [Column(weight, "number", meaning="0 or more")] if weight else []
    columns += [Column(name, nullable=True, finite=False) for name in extra]
    return Contract(
        "predictions",
        each_once(columns),
        rules=tuple(_not_negative(name) for name in (context_count, weight) if name),
        key=tuple(dict.fromkeys((*keys, *((context_count,) if context_count else ()), *extra))),
    )


def _respondents(sample_size: str | None) -> list[Column]:
    if sample_size is None:
        return []
    return [Column(sample_size, "number", nullable=True, meaning="respondents")]


def _sizes(sample_size: str | None, distribution: Sequence[str] = ()) -> list[Rule]:
    if sample_size is None:
        return []
    size = pl.col(sample_size).cast(pl.Float64)
    integral = Rule(
        f"{sample_size} is a whole number",
        size == size.round(),
        (sample_size,),
        f"round {sample_size!r}, or set it to null",
    )
    same = Rule(
        f"{sample_size} is one number for a question and segment",
        size.min().over(distribution) == size.max().over(distribution),
        (*distribution, sample_size),
        "give all options of a question and segment the same number of respondents",
    )
    return [_not_negative(sample_size), integral, *([same] if distribution else [])]


def _same_options(count: pl.Expr, question: Sequence[str], columns: tuple[str, ...]) -> Rule:
    return Rule(
        "a question has the same options in all segments",
        count == count.max().over(question),
        columns,
        "add the missing options, with a share of 0 where nobody chose them",
    )


def _not_negative(name: str) -> Rule:
    return Rule(f"{name} is not negative", pl.col(name) >= 0, (name,), f"correct {name!r}")


def _near_whole(percent: pl.Expr) -> pl.Expr:
    return percent.is_between(LOWEST - _SLACK, HIGHEST + _SLACK)


def _as_many(count: pl.Expr, name: str, actual: str) -> Rule:
    return Rule(
        f"{name} and {actual} tell of as many options",
        count == pl.col(actual).cast(pl.List(pl.Float64), strict=False).list.len(),
        (name, actual),
        f"correct {name!r}, or the shares",
    )
