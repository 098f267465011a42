"""Kinds of data sets, by RGB's rules for their names."""

from __future__ import annotations

import polars as pl


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
