"""The risk-coverage curve as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.state import LEVEL, State
from evalframe.core.typing import Frame, IntoExpr, Role
from evalframe.selective.areas import aurc
from evalframe.selective.conventions import counted, is_negative, refusing

if TYPE_CHECKING:
    from evalframe.core.tables import Keys


CURVE = ("coverage", "selective_risk", "generalized_risk", "threshold", "count", "accepted")
"""Columns of every curve, after the group keys."""


@like_input
def rc_curve(
    frame: Frame,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    by: IntoExpr | Sequence[IntoExpr] | None = None,
    weight: IntoExpr | None = None,
) -> pl.LazyFrame:
    """Working points of the risk-coverage curve, one for each distinct confidence.

    There is no row at coverage 0. Rows that `aurc` leaves out are left out: a loss that is NaN, or
    a loss without a confidence. A negative loss is refused.

    Args:
        frame: Items, one row each.
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        by: Group keys: column names or expressions.
        weight: Weight of each row.

    Returns:
        by..., then Float64 `coverage` (accepted share of all items, increasing), `selective_risk`
        (mean loss of the accepted), `generalized_risk` (their loss over the number of all items),
        `threshold` (the smallest confidence accepted), and `count` and `accepted`: items at this
        confidence, and from it up (Int64; with `weight` their weight, Float64). Sorted by the keys,
        then from the most confident down. A group without predictions has no rows.

    Raises:
        ContractError: On collect: a loss is negative.
        MissingColumnsError: A column is missing.
        ParameterError: A key has the name of a column of the result.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame(
        ...     {"loss": [0, 1, 0, 1, None], "confidence": [0.9, 0.8, 0.8, 0.4, 0.1]}
        ... )
        >>> ef.selective.rc_curve(items).select("coverage", "selective_risk", "threshold", "count")
        shape: (3, 4)
        ┌──────────┬────────────────┬───────────┬───────┐
        │ coverage ┆ selective_risk ┆ threshold ┆ count │
        │ ---      ┆ ---            ┆ ---       ┆ ---   │
        │ f64      ┆ f64            ┆ f64       ┆ i64   │
        ╞══════════╪════════════════╪═══════════╪═══════╡
        │ 0.2      ┆ 0.0            ┆ 0.9       ┆ 1     │
        │ 0.6      ┆ 0.333333       ┆ 0.8       ┆ 2     │
        │ 0.8      ┆ 0.5            ┆ 0.4       ┆ 1     │
        └──────────┴────────────────┴───────────┴───────┘
    """
    from evalframe.core import tables
    from evalframe.core.states import States

    lazy, keys = tables.lazy(frame), tables.Keys.of(by)
    clash = sorted(set(keys.names) & set(CURVE))
    if clash:
        raise ParameterError(f"the curve has a column {clash[0]!r} of its own; rename the key")
    # The state of `aurc` is the curve: mass and loss per level, to be run through from the top.
    area = _CURVE.bind((loss, confidence), weight=weight)
    tables.check_columns(lazy, [area], *keys.exprs)
    (levels,) = States.of(lazy, [area.bound], keys).tables
    plateaus = refusing(levels, "negative", "rc_curve")
    order = [False] * len(keys.inner) + [True]
    # By a constant column Polars divides through its reciprocal, and 3 / 10 would not be 0.3: the
    # masses, times 0, make the number of items a column like any other.
    items = _within(pl.col("items").sum(), keys) + 0 * pl.col("mass")
    mass, lost = (_within(pl.col(name).cum_sum(), keys) for name in ("mass", "loss"))
    number = pl.Int64 if weight is None else pl.Float64
    return (
        plateaus.with_columns(items)
        .filter(pl.col(LEVEL).is_not_null() & (pl.col("mass") > 0))
        .sort([*keys.inner, LEVEL], descending=order)
        .select(
            *keys.inner,
            (mass / pl.col("items")).alias("coverage"),
            (lost / mass).alias("selective_risk"),
            (lost / pl.col("items")).alias("generalized_risk"),
            pl.col(LEVEL).alias("threshold"),
            pl.col("mass").cast(number).alias("count"),
            mass.cast(number).alias("accepted"),
        )
        .rename(keys.restore())
    )


def _state(loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None) -> State:
    """The state of `aurc`, which knows of negative losses."""
    state: State = aurc.metric.define(loss, confidence, weight=weight)
    negative = {"negative": counted(is_negative(loss), weight)}
    return replace(state, left_out={**state.left_out, **negative})


_CURVE = replace(aurc.metric, name="rc_curve", define=_state, params={}, checked=set())


def _within(expr: pl.Expr, keys: Keys) -> pl.Expr:
    return expr.over(keys.inner) if keys.inner else expr
