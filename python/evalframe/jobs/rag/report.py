"""Text of the rates: one table for each of the four abilities."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.rag.abilities import ABILITIES, ability
from evalframe.report.wide_table import wide_table

_COUNTS = {"n": "n", "n_dropped": "dropped"}
_SHOWN: dict[str, dict[str, str]] = {
    "noise_robustness": {"accuracy": "accuracy", "rejection_rate": "rejected"},
    "negative_rejection": {
        "rejection_rate": "rejected",
        "judge_rejection_rate": "rejected (judge)",
        "accuracy": "accuracy",
        "all_rate": "all_rate",
    },
    "information_integration": {
        "accuracy": "accuracy",
        "n_partial": "partial",
        "rejection_rate": "rejected",
    },
    "counterfactual_robustness": {
        "accuracy": "accuracy",
        "error_detection_rate": "detected",
        "error_correction_rate": "corrected",
        "judge_detection_rate": "detected (judge)",
        "judge_correction_rate": "corrected (judge)",
    },
}
_ALL = {"accuracy": "accuracy", "rejection_rate": "rejected", "all_rate": "all_rate"}


def rates_report(
    rates: pl.DataFrame,
    keys: Sequence[str],
    *,
    notes: Sequence[str] = (),
    markdown: bool = False,
    level: float | None = None,
    width: int | None = None,
) -> str:
    """The rates of each tested ability, under its name.

    Without data set and noise rate among the keys, all responses share one table.
    """
    rates_by_ability = rates.with_columns(
        ability() if {"dataset", "noise_rate"} <= {*keys} else _UNKNOWN
    )
    parts = []
    for name in (*ABILITIES, None):
        rows = rates_by_ability.filter(pl.col("ability").eq_missing(pl.lit(name, pl.String)))
        if len(rows) or (name is None and not len(rates_by_ability)):
            counts = {key: head for key, head in _COUNTS.items() if key == "n" or rows[key].sum()}
            constant = [key for key in _SETTINGS if key in keys and rows[key].n_unique() == 1]
            text = wide_table(
                rows,
                [key for key in keys if key not in constant],
                counts | _SHOWN.get(str(name), _ALL),
                markdown=markdown,
                level=level,
                width=width,
                notes=[f"In all rows {key} is {rows[key][0]}." for key in constant],
            )
            title = "All responses" if name is None else name.replace("_", " ").capitalize()
            parts.append(f"## {title}\n\n{text}" if markdown else f"{title}\n\n{text}")
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


_SETTINGS = ("noise_rate", "passage_num", "correct_passage_rate")
_UNKNOWN = pl.lit(None, pl.String).alias("ability")
