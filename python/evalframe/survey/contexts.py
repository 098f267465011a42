"""Amounts of context: the rows that are included if segments were asked with several amounts.

All tables of scores have the same rule and the same argument `context`.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.choices import Context
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr

COUNT = "context_count"

LOW, HIGH, OTHER = ":low_context", ":high_context", ":other_context"
"""The amount of context of an included row, twice for its minimum and maximum in sums, and 1 for
a row of another amount."""

COLUMNS = (COUNT, "n_other_context")
"""Columns of results about the amounts of context behind them."""


@like_input
def at_context(scored: Frame, context: Context = "highest", *, by: By = None) -> pl.LazyFrame:
    """Select one amount of context for each model and segment.

    Leaderboards, gaps, tests and intervals of this package do so by their argument `context`, and
    have the number of other rows in `n_other_context`. Generic functions, such as `ef.evaluate` and
    `ef.compare`, pool all rows: select first.

    The amount is selected for each model, segment and round, among the amounts with a score if
    there are any. If prompts of one run show different numbers of answers, as with a token budget,
    `highest` selects those that show most; use `all` then.

    Args:
        scored: One row per item: `model`, `segment_id`, `context_count` (null or NaN is unknown and
            taken for 0), and optionally `round` and `score`.
        context: `highest`, `lowest`, a number of answers shown (other models and segments have no
            rows; baselines of unknown context stay), or `all`.
        by: Group keys; an amount is selected within each.

    Returns:
        The selected rows with their columns, in their order.

    Raises:
        ParameterError: `context` is not valid, or no row has that number.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import at_context
        >>> scores = {"context_count": [0, 5], "score": [0.1, 0.5]}
        >>> scored = pl.DataFrame({"model": "a", "segment_id": "gender:male", **scores})
        >>> at_context(scored)["score"].to_list(), at_context(scored, "lowest")["score"].to_list()
        ([0.5], [0.1])
    """
    rows, keys = lazy(scored), Keys.of(by, taken=())
    names = rows.collect_schema().names()
    if missing := {"model", "segment_id", COUNT, *columns_read(keys.exprs)} - {*names}:
        raise MissingColumnsError.of("at_context", missing, names)
    score = as_expr("score") if "score" in names else pl.lit(0.0)
    return included(mark(rows, context, ["model", *keys.exprs], score)).select(names)


def mark(
    rows: pl.LazyFrame,
    context: Context,
    group: Sequence[IntoExpr],
    score: IntoExpr = "score",
) -> pl.LazyFrame:
    """Add `LOW`, `HIGH` and `OTHER` to rows with a `context_count`.

    An amount is selected within the group, the round and the segment.
    """
    is_number = isinstance(context, int) and not isinstance(context, bool) and context >= 0
    if not is_number and context not in ("highest", "lowest", "all"):
        raise ParameterError(
            'context must be "highest", "lowest", "all" or a number of answers shown, 0 or more, '
            f"got {context!r}"
        )
    names = rows.collect_schema()
    dtype = names.get(COUNT)
    if dtype is not None and not dtype.is_numeric() and dtype != pl.Null:
        raise ParameterError(f"{COUNT} must be numbers, but is {dtype}; cast it")
    if dtype is None:
        if context not in ("highest", "all"):
            raise MissingColumnsError.of(f"context={context!r}", {COUNT}, names)
        return rows
    within = [*group, *(name for name in ("round", "segment_id") if name in names)]
    keys, value = [as_expr(key) for key in within], as_expr(score)
    if columns_read([*keys, value]) - {*names}:
        return rows  # the caller reports missing columns
    is_included = _is_included(rows, context, keys, value)
    amount = pl.when(is_included).then(_amount())
    return rows.with_columns(
        amount.alias(LOW), amount.alias(HIGH), (~is_included).cast(pl.Int64).alias(OTHER)
    )


def _amount() -> pl.Expr:
    """The number of answers shown (Int64), 0 if unknown."""
    count = pl.col(COUNT).cast(pl.Float64)
    number = pl.when(count.is_finite()).then(count).cast(pl.Int64, strict=False)
    return number.fill_null(0)


def sums() -> dict[str, pl.Expr]:
    """Aggregates of the marks of rows, or of such aggregates."""
    return {LOW: pl.col(LOW).min(), HIGH: pl.col(HIGH).max(), OTHER: pl.col(OTHER).sum()}


def result_columns() -> dict[str, pl.Expr]:
    """The amount, null for several, and the number of rows of others."""
    amount = pl.when(pl.col(LOW) == pl.col(HIGH)).then(LOW)
    return dict(zip(COLUMNS, (amount, pl.col(OTHER)), strict=True))


def with_contexts(
    table: pl.LazyFrame, rows: pl.LazyFrame, key: Sequence[pl.Expr], *sides: Sequence[str]
) -> pl.LazyFrame:
    """Add the columns about contexts to a result, if the rows behind it are marked.

    `key` are expressions over the rows that name a row of the result; `sides` are its columns with
    the same values, in a comparison one list per side.
    """
    if OTHER not in rows.collect_schema():
        return table
    names = [f":key{i}" for i in range(len(key))]
    keys = [expr.alias(name) for expr, name in zip(key, names, strict=True)]
    aggregates = rows.group_by(keys).agg(**sums()) if keys else rows.select(**sums())
    by_side = {name: [f"{name}{i}" for i in range(len(sides))] for name in (LOW, HIGH, OTHER)}
    for i, side in enumerate(sides):
        right = aggregates.rename({name: each[i] for name, each in by_side.items()})
        if keys:
            table = table.join(
                right, left_on=side, right_on=names, how="left", nulls_equal=True,
                maintain_order="left",
            )  # fmt: skip
        else:
            table = table.join(right, how="cross")
    both = {
        LOW: pl.min_horizontal(by_side[LOW]),
        HIGH: pl.max_horizontal(by_side[HIGH]),
        OTHER: pl.sum_horizontal(by_side[OTHER]),
    }
    columns = table.collect_schema().names()  # a key can be the amount itself
    added = {name: expr for name, expr in result_columns().items() if name not in columns}
    helpers = [name for each in by_side.values() for name in each]
    return table.with_columns(**both).with_columns(**added).drop(*both, *helpers)


def included(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of the selected amounts; all rows if they are not marked."""
    return rows.filter(pl.col(OTHER) == 0) if OTHER in rows.collect_schema() else rows


def is_context_count(key: IntoExpr) -> bool:
    """Return True if a key is the amount of context itself, so that amounts are separate groups."""
    return as_expr(key).meta.undo_aliases().meta.eq(pl.col(COUNT))


def _is_included(
    rows: pl.LazyFrame, context: Context, group: list[pl.Expr], score: pl.Expr
) -> pl.Expr:
    """True for rows of the selected amount."""
    amount = _amount()
    if context == "all":
        return pl.lit(value=True)
    if isinstance(context, int):
        amounts = rows.select(amount.unique().sort()).collect()[COUNT].to_list()
        if amounts and context not in amounts:
            raise ParameterError(
                f"context={context!r}: no row has this {COUNT}; there are {amounts}"
            )
        is_equal = amount == context
        if "model" not in rows.collect_schema():
            return is_equal
        # Baselines have no prompts and are compared with any amount.
        is_baseline = (
            pl.col("model").cast(pl.String).str.starts_with("baseline:").fill_null(value=False)
        )
        return is_equal | (is_baseline & pl.col(COUNT).is_null())
    with_score = pl.when(score.cast(pl.Float64).is_not_nan()).then(amount)
    ends = [each.max() if context == "highest" else each.min() for each in (with_score, amount)]
    return amount == pl.coalesce(end.over(group) if group else end for end in ends)
