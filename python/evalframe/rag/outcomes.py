"""What a labelled response counts as: row-level expressions, one for each outcome.

A label holds a 1 or 0 for each group of the answer, or is [-1] for a rejection. A label made by
hand that holds a -1 beside others is a rejection.
"""

from __future__ import annotations

import polars as pl

NOT_ADDRESSED = "not addressed"
"""What a judge says of a response that rejects the question."""

IDENTIFIED = ("has identified", "Yes")
"""What a judge says of a response that finds the errors of the documents."""


def good(label: pl.Expr) -> pl.Expr:
    """Whether some group was found and none was not, whatever else the label says."""
    return _holds(label, 1) & ~_holds(label, 0)


def rejected(label: pl.Expr) -> pl.Expr:
    """Whether the response gives no answer."""
    return _holds(label, -1)


def correct(label: pl.Expr) -> pl.Expr:
    """Whether every group of the answer was found."""
    return good(label) & ~rejected(label)


def wrong(label: pl.Expr) -> pl.Expr:
    """Whether the response is neither correct nor a rejection."""
    return ~good(label) & ~rejected(label)


def partial(label: pl.Expr) -> pl.Expr:
    """Whether some groups were found and others were not: a kind of wrong."""
    return _holds(label, 1) & _holds(label, 0) & ~rejected(label)


def counted(label: pl.Expr, noise_rate: pl.Expr, tolerance: float) -> pl.Expr:
    """Whether the original counts it: good, or begins with a rejection where all is noise."""
    first = _ints(label).list.first().fill_null(0)
    return ((noise_rate - 1).abs() <= tolerance) & (first == -1) | good(label)


def detected(factlabel: pl.Expr) -> pl.Expr:
    """Whether the response says that the documents are at fault."""
    return factlabel == 1


def not_missed(label: pl.Expr) -> pl.Expr:
    """Whether no group was not found, which holds of rejections and empty labels, too."""
    return ~_holds(label, 0)


def judge_rejected(evaluation: pl.Expr) -> pl.Expr:
    """Whether the judge calls the response a rejection."""
    return evaluation.cast(pl.String).str.contains(NOT_ADDRESSED, literal=True)


def judge_detected(evaluation: pl.Expr) -> pl.Expr:
    """Whether the judge says that the response finds the documents at fault."""
    text = evaluation.cast(pl.String)
    return pl.any_horizontal(text.str.contains(words, literal=True) for words in IDENTIFIED)


def _holds(label: pl.Expr, value: int) -> pl.Expr:
    return _ints(label).list.contains(value)


def _ints(label: pl.Expr) -> pl.Expr:
    # Whatever integers they are, and lists of nothing but nulls, if all labels are empty.
    return label.cast(pl.List(pl.Int64))
