"""Cross-fitting: every row calibrated by a map that has not seen its cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ContractError, EvalframeError, ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.rows import as_expr
from evalframe.core.typing import By, Frame, IntoExpr

if TYPE_CHECKING:
    from evalframe.selective.calibrators.maps import Calibrator


_ADDED = ("fold", "calibrated", "calibrated_in_sample")
_ROW, _CLUSTER = ":row", ":cluster"


@any_frame
def cross_fit(
    frame: Frame,
    fit: Callable[[pl.DataFrame], Calibrator],
    *,
    cluster: IntoExpr,
    folds: int = 5,
    seed: int = 42,
    by: By = None,
    columns: IntoExpr | Sequence[IntoExpr] | None = None,
) -> pl.DataFrame:
    """Calibrate each row by a calibrator fitted without the fold of the row's cluster.

    Clusters are dealt into folds that differ by at most one cluster; the seed and the set of
    clusters decide the folds, not the order of rows. A lazy frame is collected.

    Args:
        frame: Rows to fit on and to calibrate.
        fit: From rows to a calibrator, such as a function that calls `fit_temperature`.
        cluster: Rows of a cluster are in the same fold, such as those of a participant.
        folds: Number of folds, at least 2.
        seed: Deals the clusters into folds; in [0, 2**32).
        by: Group keys: separate folds and fits for each group. For many groups, a fit that takes
            `by` and returns a `Grouped` is faster.
        columns: Columns to calibrate; by default those of the features.

    Returns:
        The frame, in its order, with `fold` (Int64, from 0), `calibrated` (Float64, by the
        calibrator of the other folds) and `calibrated_in_sample` (Float64, by the calibrator
        fitted to all rows of the group, its own training rows: too good for judging it).

    Raises:
        ContractError: Rows without a cluster.
        ParameterError: There are fewer clusters than folds, the frame has one of the added columns,
            or the rows outside a fold cannot be fitted, such as rows of one class.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective import cross_fit, fit_isotonic
        >>> items = pl.DataFrame({"person": [1, 2], "confidence": 0.5, "correct": [1, 0]})
        >>> cross_fit(items, fit_isotonic, cluster="person", folds=2).drop("confidence").rows()
        [(1, 1, 1, 0.0, 0.5), (2, 0, 0, 1.0, 0.5)]
    """
    lazy = tables.lazy(frame)
    columns = [columns] if isinstance(columns, str | pl.Expr) else columns
    keys, unit = tables.Keys.of(by, taken=()), as_expr(cluster)
    tables.check_columns(lazy, [], *keys.exprs, unit)
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise ParameterError(f"folds must be a whole number of at least 2, got {folds!r}")
    if not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ParameterError(f"seed must lie in [0, 2**32), got {seed!r}")
    if reserved := sorted({*_ADDED} & {*lazy.collect_schema().names()}):
        raise ParameterError(
            f"cross_fit adds a column {reserved[0]!r}; rename the one in the table"
        )
    rows = lazy.with_columns(*keys.select(), unit.alias(_CLUSTER)).with_row_index(_ROW).collect()
    units = rows[_CLUSTER]
    missing = units.null_count() + (units.is_nan().sum() if units.dtype.is_float() else 0)
    if missing:
        raise ContractError(
            f"cross_fit: {missing:,} of {len(rows):,} rows have no cluster; fill it in, since a "
            "row without one could stand on both sides"
        )
    if not len(rows):
        raise ParameterError("cross_fit: there are no rows")
    internal = [_ROW, _CLUSTER, *keys.inner]
    groups = rows.partition_by(keys.inner, maintain_order=True) if keys.inner else [rows]
    parts = [
        _crossed(group, fit, folds, seed, internal, columns or (), _group_text(group, keys))
        for group in groups
    ]
    return pl.concat(parts).sort(_ROW).drop(internal)


def _crossed(
    rows: pl.DataFrame,
    fit: Callable[[pl.DataFrame], Calibrator],
    folds: int,
    seed: int,
    internal: Sequence[str],
    columns: Sequence[IntoExpr],
    group: str,
) -> pl.DataFrame:
    """One group with its folds and calibrated values."""

    def calibrated(training: pl.DataFrame, where: str) -> pl.Expr:
        try:
            return fit(training).apply(*columns)
        except EvalframeError as error:
            raise type(error)(f"cross_fit, {where}{group}: {error}") from error

    dealt = rows.join(_deal(rows[_CLUSTER], folds, seed, group), on=_CLUSTER, maintain_order="left")
    fold_of_row = pl.col("fold")
    held_out: Any = pl
    for fold in range(folds):
        others = dealt.filter(fold_of_row != fold).select(pl.exclude(*internal, "fold"))
        value = calibrated(others, f"the rows outside fold {fold} of {folds}")
        held_out = held_out.when(fold_of_row == fold).then(value)
    in_sample = calibrated(rows.select(pl.exclude(*internal)), "all rows")
    values = {"calibrated": held_out, "calibrated_in_sample": in_sample}
    result = dealt.with_columns(**values).select(*rows.columns, *_ADDED)
    held, known = pl.col("calibrated").is_not_null(), pl.col("calibrated_in_sample").is_not_null()
    unheld = result.filter(known & ~held)
    if len(unheld):
        raise ParameterError(
            f"cross_fit{group}: {len(unheld):,} of {len(result):,} rows can only be calibrated in "
            f"sample, the first with {unheld[_CLUSTER][0]!r} as cluster: outside its fold there "
            "are no rows of its group; give each group clusters in several folds, or name the "
            "groups in by"
        )
    return result


def _deal(clusters: pl.Series, folds: int, seed: int, group: str) -> pl.DataFrame:
    """The fold of each cluster."""
    import numpy as np

    distinct = clusters.unique().sort()
    if len(distinct) < folds:
        raise ParameterError(
            f"cross_fit: {folds} folds need at least as many clusters, but there are "
            f"{len(distinct)}{group}; ask for fewer folds"
        )
    # This generator's shuffles are the same in every version of numpy.
    order = np.random.RandomState(seed).permutation(len(distinct))
    return pl.DataFrame({_CLUSTER: distinct, "fold": pl.Series(order % folds, dtype=pl.Int64)})


def _group_text(group: pl.DataFrame, keys: tables.Keys) -> str:
    row = group.select(keys.inner).row(0) if keys.inner else ()
    keys_text = (f"{name}={value!r}" for name, value in zip(keys.names, row, strict=True))
    return f" in group {', '.join(keys_text)}" if keys.names else ""
