"""RGB's rate of corrected errors, and the table of rates with it.

| | `error_correction_rate` | `correct_rate` |
|---|---|---|
| an error is corrected if | it is flagged and the answer is right | it is flagged and no group of \
the answer is missing: a refusal counts |
| no response flags an error | null | 0 |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.choices import Dropped
from evalframe.core.frames import like_input
from evalframe.core.metric import metric
from evalframe.core.state import State, Totals, ratio
from evalframe.core.typing import By, Frame, IntoExpr, Role
from evalframe.rag.counting import COUNTERS as SOUND_COUNTERS
from evalframe.rag.counting import RATES as SOUND_RATES
from evalframe.rag.counting import Intervals, table_of
from evalframe.rag.metrics import not_missed

if TYPE_CHECKING:
    from evalframe.resample.methods import Method


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def correct_rate(
    label: Role = "label", factlabel: Role = "factlabel", *, weight: Role = None
) -> State:
    """Share of responses without a missing group among those that flag factual errors.

    Refusals and empty labels count as corrections; `ef.error_correction_rate` wants a right answer.

    Args:
        label: Labels from `evalframe.rag.label`; a response without one is missing.
        factlabel: 1 where the response flags errors; a response without one is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1]: 0 if no response flags an error, null if there are no rows.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import rgb
        >>> flags = pl.DataFrame({"label": [[1], [0], [-1], [1]], "factlabel": [1, 1, 1, 0]})
        >>> round(flags.select(rgb.correct_rate()).item(), 4)
        0.6667
    """
    flagged = pl.when(factlabel == 1).then(weight).otherwise(0.0)
    valid = label.is_not_null() & factlabel.is_not_nan()
    hits = pl.when(not_missed(label)).then(flagged).otherwise(0.0)
    return State(
        sums={"hits": hits, "rows": flagged, "mass": weight},
        finish=_ratio_or_zero,
        valid=valid.fill_null(value=False),
    )


def _ratio_or_zero(totals: Totals) -> pl.Expr:
    share = ratio(totals.hits, totals.rows)
    return pl.when(totals.rows > 0).then(share).when(totals.mass > 0).then(0.0)


def _after(values: Mapping[str, Any], key: str, name: str, value: Any) -> dict[str, Any]:
    """The values with one more after a key."""
    before = [*values].index(key) + 1
    items = [*values.items()]
    return dict([*items[:before], (name, value), *items[before:]])


COUNTERS = _after(
    SOUND_COUNTERS,
    "n_error_corrected",
    "n_error_corrected_original",
    (pl.col("factlabel") == 1) & not_missed(pl.col("label")),
)
RATES = _after(
    SOUND_RATES, "error_correction_rate", "error_correction_rate_original", correct_rate()
)
"""The metric of each rate."""


@like_input
def rates(
    labelled: Frame,
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    dropped: Dropped = "excluded",
    intervals: Intervals | None = None,
    level: float = 0.95,
    resample: Method | None = None,
) -> pl.LazyFrame:
    """Counters and rates of `evalframe.rag.rates`, with RGB's rate of corrected errors.

    Returns:
        Its columns, with `n_error_corrected_original` (flagged, and no group missing) after
        `n_error_corrected`, and `error_correction_rate_original` (`correct_rate`) after
        `error_correction_rate`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import rgb
        >>> labelled = pl.DataFrame({"label": [[-1], [1]], "factlabel": [1, 1]})
        >>> rates = rgb.rates(labelled)
        >>> rates.select("error_correction_rate", "error_correction_rate_original").row(0)
        (0.5, 1.0)
    """
    return table_of(COUNTERS, RATES, labelled, by, weight, dropped, intervals, level, resample)
