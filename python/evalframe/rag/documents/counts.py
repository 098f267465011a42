"""Numbers of passages of each kind in a prompt, in closed form."""

from __future__ import annotations

from operator import index
from typing import SupportsFloat, SupportsIndex, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.rag.contract import is_counterfactual, is_integration

Rate: TypeAlias = float | IntoExpr

OK = "ok"
"""Status of an item with documents."""

_SIZES = pl.List(pl.Int64())
_MOST = 1_000_000  # passages in one prompt, more than any model reads

COUNTS = {
    "n_pos": pl.Int64(),
    "n_neg": pl.Int64(),
    "n_docs": pl.Int64(),
    "n_groups_covered": pl.Int64(),
    "n_wrong": pl.Int64(),
    "n_correct": pl.Int64(),
    "realised_noise_rate": pl.Float64(),
}
"""The fields of `document_counts` besides `status`."""


def document_counts(
    dataset: IntoExpr = "dataset",
    n_positive: IntoExpr = "n_positive",
    n_negative: IntoExpr = "n_negative",
    group_sizes: IntoExpr | None = None,
    *,
    noise_rate: Rate,
    passage_num: int = 5,
    correct_rate: Rate = 0.0,
) -> pl.Expr:
    """Numbers of passages that `select_documents` shows, from the lengths of the lists.

    Of `passage_num` passages ceil(passage_num * noise_rate) should be noise, the product in double
    precision. If a list is too short, the other one fills the gap (data sets by default), noise
    does (`_int`, which always shows a passage of every group), or nothing (`_fact`).

    Args:
        dataset: Name of the data set; with `_int` it integrates information of several groups, else
            with `_fact` it is counterfactual.
        n_positive: Number of positive passages; not read for `_int`.
        n_negative: Number of negative passages.
        group_sizes: Number of passages of each group, a list of integers; only read for `_int`.
        noise_rate: Share of noise, 0 to 1.
        passage_num: Number of passages to show, 0 or more.
        correct_rate: Share of unaltered passages, 0 to 1; only used for `_fact`.

    Returns:
        A struct of `n_pos` (null for `_fact`), `n_neg`, `n_docs`, `n_groups_covered` (null unless
        `_int`), `n_wrong` and `n_correct` (null unless `_fact`), `realised_noise_rate` (n_neg /
        n_docs, null without documents) and `status`: `ok`, or the reason why the other fields are
        null.

    References:
        The counts match RGB 65ec39e.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import document_counts
        >>> lists = pl.DataFrame({"dataset": ["en", "en"], "n_positive": [9, 1], "n_negative": 9})
        >>> counts = document_counts(noise_rate=0.4)
        >>> lists.select(counts.struct.field("n_pos", "n_neg", "realised_noise_rate")).rows()
        [(3, 2, 0.4), (1, 4, 0.8)]
    """
    name = as_expr(dataset)
    noise, correct = _rate_expr("noise_rate", noise_rate), _rate_expr("correct_rate", correct_rate)
    passages = pl.lit(checked_passage_num(passage_num), pl.Int64)
    # Signed integers: unsigned ones would wrap below zero.
    positives, negatives = (as_expr(n).cast(pl.Int64) for n in (n_positive, n_negative))
    sizes = (pl.lit(None) if group_sizes is None else as_expr(group_sizes)).cast(_SIZES)
    if passage_num == 0:  # the lists are not read
        positives, negatives, sizes = pl.lit(0), pl.lit(0), pl.lit([], _SIZES)

    integration, counterfactual = is_integration(name), is_counterfactual(name)
    groups = sizes.list.len().cast(pl.Int64)
    neg, right = _share(passages, noise), _share(passages, correct)
    pos = passages - neg

    first_positives, first_negatives = _padded(noise, neg, pos, positives, negatives)
    covering = pl.max_horizontal(groups, pl.min_horizontal(pos, sizes.list.sum()))
    filling = pl.min_horizontal(negatives, pl.max_horizontal(0, passages - covering))
    n_wrong = pl.min_horizontal(positives, pos - right)

    n_pos = pl.when(integration).then(covering).when(~counterfactual).then(first_positives)
    n_neg = (
        pl.when(integration)
        .then(filling)
        .when(counterfactual)
        .then(pl.min_horizontal(negatives, neg))
        .otherwise(first_negatives)
    )
    n_correct = pl.when(counterfactual).then(pl.min_horizontal(positives - n_wrong, right))
    n_wrong = pl.when(counterfactual).then(n_wrong)
    n_docs = pl.sum_horizontal(n_pos, n_neg, n_wrong, n_correct)

    no_room = pl.format(
        "noise_rate and correct_rate leave no room: {} of noise and {} correct of {} passages",
        neg,
        right,
        passages,
    )
    status = first_of(
        (name.is_null(), "the data set is null"),
        # Also for NaN and null.
        (~noise.is_between(0, 1).fill_null(value=False), "noise_rate is not a number from 0 to 1"),
        (
            ~correct.is_between(0, 1).fill_null(value=False),
            "correct_rate is not a number from 0 to 1",
        ),
        *_faults(integration, positives, negatives, sizes, pos),
        (counterfactual & (pos < right), no_room),
    )
    counts = {
        "n_pos": n_pos,
        "n_neg": n_neg,
        "n_docs": n_docs,
        "n_groups_covered": pl.when(integration).then(groups),
        "n_wrong": n_wrong,
        "n_correct": n_correct,
        "realised_noise_rate": pl.when(n_docs > 0).then(n_neg / n_docs),
    }
    complete = [expr.alias(name) for name, expr in counts.items()]
    nulls = [pl.lit(None, dtype).alias(name) for name, dtype in COUNTS.items()]
    failed = pl.struct(*nulls, status.alias("status"))
    return (
        pl.when(status == OK)
        .then(pl.struct(*complete, pl.lit(OK).alias("status")))
        .otherwise(failed)
        .alias("document_counts")
    )


def _faults(
    integration: pl.Expr, positives: pl.Expr, negatives: pl.Expr, sizes: pl.Expr, pos: pl.Expr
) -> list[tuple[pl.Expr, str]]:
    """Reasons why the lists have no valid lengths, or too few groups for `pos` positives."""
    of_groups = [
        (sizes.is_null(), "no groups of positive passages"),
        (sizes.list.contains(None), "no list of passages for a group"),
        (sizes.list.contains(0), "a group has no passage"),
        ((sizes.list.len() == 0) & (pos > 0), "no group of positive passages"),
    ]
    return [
        (positives.is_null() & ~integration, "no list of positive passages"),
        (negatives.is_null(), "no list of negative passages"),
        (pl.min_horizontal(positives, negatives, sizes.list.min()) < 0, "a length is negative"),
        *((integration & fault, text) for fault, text in of_groups),
    ]


def first_of(*faults: tuple[pl.Expr, str | pl.Expr]) -> pl.Expr:
    """The text of the first condition that is true, or `OK`."""
    status = pl.lit(OK)
    for condition, text in reversed(faults):
        reason = pl.lit(text) if isinstance(text, str) else text
        status = pl.when(condition).then(reason).otherwise(status)
    return status


def checked_rate(name: str, rate: object) -> float:
    """The rate as a float from 0 to 1."""
    number = isinstance(rate, SupportsFloat) and not isinstance(rate, bool)
    share = float(rate) if number else -1.0  # type: ignore[arg-type]
    if not 0 <= share <= 1:
        raise ParameterError(f"{name} must be a number from 0 to 1, got {rate!r}")
    return share + 0.0  # no negative zero


def checked_passage_num(passage_num: object) -> int:
    """The number of passages as an integer from 0."""
    is_integer = isinstance(passage_num, SupportsIndex) and not isinstance(passage_num, bool)
    number = index(passage_num) if is_integer else -1  # type: ignore[arg-type]
    if not 0 <= number <= _MOST:
        raise ParameterError(
            f"passage_num must be an integer from 0 to {_MOST:,}, got {passage_num!r}"
        )
    return number


def _rate_expr(name: str, rate: Rate) -> pl.Expr:
    if isinstance(rate, str | pl.Expr):
        return as_expr(rate).cast(pl.Float64)
    return pl.lit(checked_rate(name, rate))


def _share(passages: pl.Expr, rate: pl.Expr) -> pl.Expr:
    """The share rounded up, after the product in double precision: 0.28 of 25 passages are 8."""
    return (passages.cast(pl.Float64) * rate).ceil().cast(pl.Int64, strict=False)


def _padded(
    noise: pl.Expr, neg: pl.Expr, pos: pl.Expr, positives: pl.Expr, negatives: pl.Expr
) -> tuple[pl.Expr, pl.Expr]:
    """Numbers of positives and negatives of a data set by default, where one list fills the other.

    At noise 1 there are negatives only.
    """
    total = neg + pos
    short_of_noise = (noise < 1) & (neg > negatives)
    short_of_positives = (noise < 1) & (neg <= negatives) & (pos > positives)
    pos = pl.when(short_of_noise).then(total - negatives).otherwise(pos)
    neg = pl.when(short_of_positives).then(total - positives).otherwise(neg)
    return pl.min_horizontal(pos, positives), pl.min_horizontal(neg, negatives)
