"""Errors of runs as published tables give them: per run, per item and per participant.

Three means of the same absolute errors differ in their weights: each predicted item counts the same
(`mean_absolute_error`), each item of the questionnaire (`macro_mean_absolute_error`), or each
participant. The first two are metrics of the items. The third needs two steps, the error of each
participant and then their mean: in a bootstrap a participant who is drawn twice counts twice, but
that participant's error does not change. With intervals it is

    ef.evaluate(subject_errors(items, by=["mode", "participant_id"]), ef.selective_risk("mae"),
                by="mode", resample=ef.Bootstrap(cluster="participant_id"))
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core import tables
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.state import ratio
from evalframe.core.typing import Frame, IntoExpr
from evalframe.selective.contract import loss
from evalframe.selective.score_error import mean_absolute_error

RUN = (
    "successful_subjects",
    "excluded_no_evidence",
    "evaluated_subjects",
    "item_mae_weighted",
    "item_mae_by_item",
    "item_mae_by_subject",
    "prediction_coverage",
    "n_missing",
)
"""Columns of a table of runs, after the keys."""

ERRORS = ("mae", "count", "coverage", "na_count")
"""Columns of a table of items or participants, after the keys."""

_SUBJECT, _ITEM, _ERROR, _USED = ":subject", ":item", ":error", ":used"


@like_input
def run_errors(
    items: Frame,
    prediction: IntoExpr = "prediction",
    label: IntoExpr = "label",
    *,
    by: IntoExpr | Sequence[IntoExpr] = (),
    participant: IntoExpr = "participant_id",
    item: IntoExpr = "item_index",
) -> pl.LazyFrame:
    """Mean absolute errors of each run in three weightings, and its participants.

    A participant is evaluated if at least one of their items is predicted. Coverage is relative to
    the items of evaluated participants, so it exceeds Cmax if a participant abstains from all.

    Args:
        items: Items of the successful participants, one row each; failed ones have no rows.
        prediction: Predicted score; null is an abstention.
        label: True score.
        by: Keys of a run.
        participant: Key of a participant.
        item: Key of an item.

    Returns:
        by..., then `successful_subjects`, `excluded_no_evidence` (those who abstain from every
        item), `evaluated_subjects`; `item_mae_weighted` (mean over predicted items),
        `item_mae_by_item` (mean of the means of items), `item_mae_by_subject` (mean of the means of
        participants), `prediction_coverage`, each null if nobody is evaluated; and `n_missing`:
        predictions that are NaN or have no label, left out of all other columns. Sorted by the
        keys.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.ai_psychiatrist import run_errors
        >>> keys = {"participant_id": [1, 1, 2, 2], "item_index": [0, 1, 0, 1]}
        >>> items = pl.DataFrame({**keys, "prediction": [3, 2, 1, None], "label": [1, 2, 0, 1]})
        >>> errors = run_errors(items)
        >>> errors.select("item_mae_weighted", "item_mae_by_item", "prediction_coverage").row(0)
        (1.0, 0.75, 0.75)
    """
    keys = tables.Keys.of(by, taken=RUN)
    extra = {_SUBJECT: as_expr(participant), _ITEM: as_expr(item)}
    rows = _rows(items, prediction, label, keys, extra)
    subjects = rows.group_by(*keys.inner, _SUBJECT).agg(
        errors=pl.col(_ERROR).sum(),
        count=pl.col(_ERROR).count(),
        mae=pl.col(_ERROR).mean(),
        used=pl.col(_USED).sum(),
        n_missing=(~pl.col(_USED)).sum(),
    )
    evaluated = pl.col("count") > 0
    of_subjects = _each(
        subjects,
        keys,
        successful_subjects=pl.len(),
        excluded_no_evidence=(~evaluated).sum(),
        evaluated_subjects=evaluated.sum(),
        item_mae_weighted=ratio(pl.col("errors").sum(), pl.col("count").sum()),
        item_mae_by_subject=pl.col("mae").mean(),
        prediction_coverage=ratio(pl.col("count").sum(), (pl.col("used") * evaluated).sum()),
        n_missing=pl.col("n_missing").sum(),
    )
    per_item = rows.group_by(*keys.inner, _ITEM).agg(mae=pl.col(_ERROR).mean())
    of_items = _each(per_item, keys, item_mae_by_item=pl.col("mae").mean())
    together = (
        of_subjects.join(of_items, on=keys.inner, how="left", nulls_equal=True)
        if keys.inner
        else pl.concat([of_subjects, of_items], how="horizontal")
    )
    return _finished(together, keys, RUN)


@like_input
def item_errors(
    items: Frame,
    prediction: IntoExpr = "prediction",
    label: IntoExpr = "label",
    *,
    by: IntoExpr | Sequence[IntoExpr] = (),
    participant: IntoExpr = "participant_id",
    item: IntoExpr | Sequence[IntoExpr] = ("item_index", "item"),
) -> pl.LazyFrame:
    """Mean absolute error and coverage of each item of each run, among evaluated participants.

    Args:
        items: As for `run_errors`.
        prediction: Predicted score; null is an abstention.
        label: True score.
        by: Keys of a run.
        participant: Key of a participant.
        item: Keys of an item; the first of them sets the order.

    Returns:
        by..., item..., then `mae` (null if the item is never predicted), `count` (predictions),
        `coverage` (their share of the item's rows of evaluated participants, null without rows)
        and `na_count` (abstentions in those rows). Rows with a prediction and no label, or with
        NaN, are left out; `n_missing` of `run_errors` counts them. Sorted by the keys.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.ai_psychiatrist import item_errors
        >>> keys = {"participant_id": [1, 1, 2, 2], "item_index": [0, 1, 0, 1]}
        >>> items = pl.DataFrame({**keys, "prediction": [3, 2, 1, None], "label": [1, 2, 0, 1]})
        >>> item_errors(items, item="item_index").rows()
        [(0, 1.5, 2, 1.0, 0), (1, 0.0, 1, 0.5, 1)]
    """
    keys = tables.Keys.of([*_listed(by), *_listed(item)], taken=ERRORS)
    run = keys.inner[: len(_listed(by))]
    rows = _rows(items, prediction, label, keys, {_SUBJECT: as_expr(participant)})
    evaluated = pl.col(_ERROR).count().over(*run, _SUBJECT) > 0
    evaluated_rows = rows.with_columns((pl.col(_USED) & evaluated).alias(_USED))
    return _finished(_each(evaluated_rows, keys, **_ERRORS), keys, ERRORS)


@like_input
def subject_errors(
    items: Frame,
    prediction: IntoExpr = "prediction",
    label: IntoExpr = "label",
    *,
    by: IntoExpr | Sequence[IntoExpr] = "participant_id",
) -> pl.LazyFrame:
    """Mean absolute error and coverage of each participant.

    Args:
        items: As for `run_errors`.
        prediction: Predicted score; null is an abstention.
        label: True score.
        by: Keys of a participant, such as run and participant.

    Returns:
        by..., then `mae` (null if nothing is predicted), `count` (predictions), `coverage`
        (their share of the participant's rows) and `na_count` (abstentions). Rows with a prediction
        and no label, or with NaN, are left out. Sorted by the keys.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> from evalframe.compat.ai_psychiatrist import subject_errors
        >>> answers = {"prediction": [3, 1, 1], "label": [1, 1, 3]}
        >>> errors = subject_errors(pl.DataFrame({"participant_id": [1, 1, 2], **answers}))
        >>> ef.evaluate(errors, ef.selective_risk("mae"))["estimate"].item()
        1.5
    """
    keys = tables.Keys.of(by, taken=ERRORS)
    rows = _rows(items, prediction, label, keys, {})
    return _finished(_each(rows, keys, **_ERRORS), keys, ERRORS)


_ERRORS = {
    "mae": pl.col(_ERROR).mean(),
    "count": pl.col(_ERROR).count(),
    "coverage": ratio(pl.col(_ERROR).count(), pl.col(_USED).sum()),
    "na_count": pl.col(_USED).sum() - pl.col(_ERROR).count(),
}


def _rows(
    items: Frame,
    prediction: IntoExpr,
    label: IntoExpr,
    keys: tables.Keys,
    extra: dict[str, pl.Expr],
) -> pl.LazyFrame:
    """Keys, the absolute error (null for an abstention) and whether the row is used."""
    lazy = tables.lazy(items)
    metric = mean_absolute_error(prediction, label)
    tables.check_columns(lazy, [metric], *keys.exprs, *extra.values())
    error = loss("abs", prediction, label)
    return lazy.select(
        *keys.select(),
        error.fill_nan(None).alias(_ERROR),
        error.is_not_nan().fill_null(value=True).alias(_USED),
        **extra,
    )


def _each(rows: pl.LazyFrame, keys: tables.Keys, **values: pl.Expr) -> pl.LazyFrame:
    return rows.group_by(keys.inner).agg(**values) if keys.inner else rows.select(**values)


def _finished(table: pl.LazyFrame, keys: tables.Keys, columns: Sequence[str]) -> pl.LazyFrame:
    counts = pl.selectors.integer() & pl.selectors.by_name(*columns)
    ordered = table.select(*keys.inner, *columns).with_columns(counts.cast(pl.Int64))
    return (ordered.sort(keys.inner) if keys.inner else ordered).rename(keys.restore())


def _listed(columns: IntoExpr | Sequence[IntoExpr]) -> list[IntoExpr]:
    return [columns] if isinstance(columns, str | pl.Expr) else list(columns)
