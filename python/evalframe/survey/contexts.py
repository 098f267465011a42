"""Amounts of context: which rows count where segments were asked with several of them.

Every table of scores goes by the same rule, under the same argument `context`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.tables import Keys, lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By

Context: TypeAlias = Literal["highest", "lowest", "all"] | int

COUNT = "context_count"

LOW, HIGH, OTHER = ":low_context", ":high_context", ":other_context"
"""The amount of context of a row that counts, twice, so that both add up; and whether it is of
another amount than the one that counts."""

TOLD = (COUNT, "n_other_context")
"""What results say of the amounts of context behind them."""


@like_input
def at_context(scored: Frame, context: Context = "highest", *, by: By = None) -> pl.LazyFrame:
    """The rows that count where segments were asked with several amounts of context.

    Leaderboards, gaps, tests and intervals of this package choose their rows so, by their argument
    `context`, and say in `n_other_context` how many others there are. Generic functions, such as
    `ef.evaluate` and `ef.compare`, know nothing of contexts and pool what they are given: choose
    first.

    An amount is chosen for each model and segment, of each round. It is chosen among the amounts
    for which there is a score, if there is one for any. Where prompts of one run differ in what
    they show, as by a token budget, `highest` takes those that show most; take `all` there.

    Args:
        scored: One row per item: `model`, `segment_id`, `context_count` (null or NaN is unknown,
            and taken for 0) and as far as there are `round` and `score`.
        context: `highest` (as the original), `lowest`, a number of answers shown (models and
            segments that were not asked so have no rows; baselines of unknown context stay), or
            `all`.
        by: Group keys; an amount is chosen within each.

    Returns:
        The rows that count, with the columns that they have, in their order. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: `context` is not valid, or no row has that number.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import at_context
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a"] * 3,
        ...         "segment_id": ["gender:male", "gender:male", "country:chad"],
        ...         "context_count": [0, 5, 0],
        ...         "score": [0.1, 0.5, 0.9],
        ...     }
        ... )
        >>> at_context(scored)["score"].to_list()
        [0.5, 0.9]
        >>> at_context(scored, "lowest")["score"].to_list()
        [0.1, 0.9]
    """
    rows, keys = lazy(scored), Keys.of(by, taken=())
    names = rows.collect_schema().names()
    if missing := {"model", "segment_id", COUNT, *columns_read(keys.exprs)} - {*names}:
        raise MissingColumnsError.of("at_context", missing, names)
    score = as_expr("score") if "score" in names else pl.lit(0.0)
    return counted(marked(rows, context, ["model", *keys.exprs], score)).select(names)


def check_context(context: Any, rules: Rules = "documented") -> None:
    """Raise ParameterError for an unknown amount of context."""
    is_number = isinstance(context, int) and not isinstance(context, bool) and context >= 0
    if not is_number and context not in ("highest", "lowest", "all"):
        raise ParameterError(
            'context must be "highest", "lowest", "all" or a number of answers shown, 0 or more, '
            f"got {context!r}"
        )
    if rules == "reference" and context != "highest":
        raise ParameterError("the original has no choice of context; leave out rules or context")


def marked(
    rows: pl.LazyFrame,
    context: Context,
    group: Sequence[IntoExpr],
    score: IntoExpr = "score",
) -> pl.LazyFrame:
    """Rows with `LOW`, `HIGH` and `OTHER`; unchanged without `context_count`."""
    # `group` is the model and what else an amount is chosen within, besides round and segment.
    check_context(context)
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
        return rows  # the caller says what is missing
    counts = _counts(rows, context, keys, value)
    amount = pl.when(counts).then(amount_of_context())
    return rows.with_columns(
        amount.alias(LOW), amount.alias(HIGH), (~counts).cast(pl.Int64).alias(OTHER)
    )


def amount_of_context() -> pl.Expr:
    """The number of answers shown (Int64), 0 where it is not known."""
    count = pl.col(COUNT).cast(pl.Float64)
    whole = pl.when(count.is_finite()).then(count).cast(pl.Int64, strict=False)
    return whole.fill_null(0)


def summed() -> dict[str, pl.Expr]:
    """The amounts behind a sum of marked rows, or of such sums."""
    return {LOW: pl.col(LOW).min(), HIGH: pl.col(HIGH).max(), OTHER: pl.col(OTHER).sum()}


def told() -> dict[str, pl.Expr]:
    """What results say: the amount, null for several, and how many rows are of others."""
    amount = pl.when(pl.col(LOW) == pl.col(HIGH)).then(LOW)
    return dict(zip(TOLD, (amount, pl.col(OTHER)), strict=True))


def with_contexts(
    table: pl.LazyFrame, rows: pl.LazyFrame, key: Sequence[pl.Expr], *sides: Sequence[str]
) -> pl.LazyFrame:
    """Add to a result the amounts of context of its rows, joined by `key`."""
    if OTHER not in rows.collect_schema():
        return table
    names = [f":key{place}" for place in range(len(key))]
    named = [expr.alias(name) for expr, name in zip(key, names, strict=True)]
    sums = rows.group_by(named).agg(**summed()) if named else rows.select(**summed())
    parts: dict[str, list[str]] = {name: [] for name in (LOW, HIGH, OTHER)}
    for place, side in enumerate(sides):
        own = {name: f"{name}{place}" for name in parts}
        found = sums.rename(own)
        if named:
            table = table.join(
                found, left_on=side, right_on=names, how="left", nulls_equal=True,
                maintain_order="left",
            )  # fmt: skip
        else:
            table = table.join(found, how="cross")
        for name in parts:
            parts[name].append(own[name])
    made = {
        LOW: pl.min_horizontal(parts[LOW]),
        HIGH: pl.max_horizontal(parts[HIGH]),
        OTHER: pl.sum_horizontal(parts[OTHER]),
    }
    present = table.collect_schema().names()  # a key may be the amount itself
    shown = {name: expr for name, expr in told().items() if name not in present}
    helpers = [name for each in parts.values() for name in each]
    return table.with_columns(**made).with_columns(**shown).drop(*made, *helpers)


def counted(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows that count; all of them if they are not marked."""
    return rows.filter(pl.col(OTHER) == 0) if OTHER in rows.collect_schema() else rows


def is_amount(key: IntoExpr) -> bool:
    """Whether a key is the amount of context itself, so that each amount is by itself."""
    return as_expr(key).meta.undo_aliases().meta.eq(pl.col(COUNT))


def _counts(rows: pl.LazyFrame, context: Context, group: list[pl.Expr], score: pl.Expr) -> pl.Expr:
    """Whether a row is of the amount that counts."""
    amount = amount_of_context()
    if context == "all":
        return pl.lit(value=True)
    if isinstance(context, int):
        found = rows.select(amount.unique().sort()).collect()[COUNT].to_list()
        if found and context not in found:
            raise ParameterError(f"context={context!r}: no row has this {COUNT}; there are {found}")
        counts = amount == context
        if "model" not in rows.collect_schema():
            return counts
        # Baselines are shown nothing, and stand beside any amount.
        free = pl.col("model").cast(pl.String).str.starts_with("baseline:").fill_null(value=False)
        return counts | (free & pl.col(COUNT).is_null())
    with_score = pl.when(score.cast(pl.Float64).is_not_nan()).then(amount)
    ends = [each.max() if context == "highest" else each.min() for each in (with_score, amount)]
    return amount == pl.coalesce(end.over(group) if group else end for end in ends)
