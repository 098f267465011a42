"""The figures of a selective evaluation, one line for each system."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.report.table import (
    Column,
    as_markdown,
    as_text,
    check_numbers,
    label,
    numbers,
    show_once,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.typing import Frame

Format: TypeAlias = Literal["terminal", "markdown"]

_HEADS = {
    "coverage": "Cmax",
    "aurc": "AURC",
    "aurc_optimal": "optimal",
    "eaurc": "excess",
    "aurc_gap_pct": "gap %",
    "aurc_achievable": "achievable",
    "achievable_gain_pct": "gain %",
    "augrc": "AUGRC",
    "augrc_optimal": "AUGRC optimal",
    "eaugrc": "AUGRC excess",
    "augrc_gap_pct": "AUGRC gap %",
}
_HEADS_AT = {"aurc": "AURC", "augrc": "AUGRC", "risk": "risk", "achieved_coverage": "coverage"}
_AT = re.compile(r"(\w+)_at_(\d.*)")

_STANDARD = (
    *("coverage", "aurc", "aurc_optimal", "eaurc", "aurc_achievable", "achievable_gain_pct"),
    "augrc",
)
_OF_AURC = {"aurc_optimal", "eaurc", "aurc_gap_pct", "aurc_achievable", "achievable_gain_pct"}
_WITH_INTERVAL = ("aurc", "augrc")
_DETAILS = ("aurc_optimal", "aurc_achievable")
_LAST = ("augrc", "achievable_gain_pct", "eaurc")
_RISKS = 3
"""Risks at a coverage that are shown unless others are asked for."""

_ALL = ":all"
_BRACKETS = "[lower, upper]"
_VALUES = ("estimate", "lower", "upper", "n", "n_missing")


def run_table(
    result: Frame,
    *,
    by: str | Sequence[str] | None = None,
    format: Format = "terminal",
    columns: str | Sequence[str] | None = None,
    digits: int = 4,
    level: float | None = None,
    width: int | None = None,
) -> str:
    """Write the figures of a selective evaluation, one line for each system.

    Shown are the number of items, Cmax, AURC with its interval, its optimal, excess and achievable
    form and what the last would gain, AUGRC with its interval, and the risk at up to three of the
    coverages; of these what the result has and what is not null throughout. Metrics that are left
    out are named beneath. Nothing is computed: a percentage is shown if it is in the result.

    Args:
        result: What `evaluate` gives: group keys, `metric`, `estimate` and its companions.
        by: The keys that tell the lines apart; by default all columns before `metric`.
        format: Aligned text for a `terminal`, in which a key appears once, or a `markdown` table.
        columns: Metrics to show instead, by their names in the result, each with its interval if
            it has one.
        digits: Decimals of estimates; percentages have one.
        level: The confidence level of the intervals, named beneath the table.
        width: Characters per line; details are left out, and named beneath the table, until the
            lines fit. Keys, Cmax and AURC are never left out.

    Returns:
        Lines without a final line end. `n` and, where rows were left out, `missing` are those of
        AURC, or else of the first metric that is shown.

    Raises:
        MissingColumnsError: It is no result of `evaluate`, or lacks a key.
        ParameterError: The keys do not tell the lines apart, `format` is unknown, `digits` is
            below 0, or `level` not between 0 and 1.
        UnknownNameError: A metric that is not in the result.

    Examples:
        >>> result = pl.DataFrame(
        ...     {
        ...         "mode": ["few"] * 4 + ["zero"] * 4,
        ...         "metric": ["coverage", "aurc", "eaurc", "augrc"] * 2,
        ...         "estimate": [0.5, 0.125, 0.0625, 0.03125, 0.75, 0.25, 0.125, 0.0625],
        ...         "lower": [None, 0.1, None, None, None, 0.2, None, None],
        ...         "upper": [None, 0.15, None, None, None, 0.3, None, None],
        ...         "n": [328] * 8,
        ...     }
        ... )
        >>> print(run_table(result, level=0.95))
        mode    n    Cmax      AURC [lower, upper]  excess   AUGRC
        ----  ---  ------  -----------------------  ------  ------
        few   328  0.5000  0.1250 [0.1000, 0.1500]  0.0625  0.0312
        zero  328  0.7500  0.2500 [0.2000, 0.3000]  0.1250  0.0625
        <BLANKLINE>
        95% intervals in brackets.
        Of AURC: excess.
    """
    if format not in get_args(Format):
        raise ParameterError(f"unknown format {format!r}; known: {', '.join(get_args(Format))}")
    check_numbers(digits, level)
    table = result.lazy().collect()
    keys = _keys(table, by)
    found = _by_metric(table, keys)
    columns = [columns] if isinstance(columns, str) else columns
    shown = _standard(found) if columns is None else list(columns)
    for metric in shown:
        if metric not in found:
            raise UnknownNameError.of("metric of the result", metric, found)

    lines_of = _groups(table, keys)
    made = {f":{key}": label(lines_of[key]) for key in keys}
    if format == "terminal":
        show_once([column.cells for column in made.values()], None)
    made |= _counts(found, shown)
    for metric in shown:
        intervals = columns is not None or metric in _WITH_INTERVAL
        made[metric] = _figures(metric, found[metric], digits, intervals=intervals)

    draw = as_text if format == "terminal" else as_markdown
    lines = draw(made) if made else []
    hidden = []
    risks = [metric for metric in shown if metric.startswith("risk_at_")]
    # Of three risks the middle one goes last.
    for metric in (*_DETAILS, *risks[2:], *risks[:2], *_LAST):
        if width is not None and metric in made and len(lines[1]) > width:
            hidden.append(made.pop(metric).title)
            lines = draw(made)

    captions = []
    if level is not None and any(column.title.endswith(_BRACKETS) for column in made.values()):
        captions.append(f"{100 * level:g}% intervals in brackets.")
    of_aurc = [_head(metric) for metric in made if metric in _OF_AURC]
    if of_aurc and "augrc" in made:
        captions.append(f"Of AURC: {', '.join(of_aurc)}.")
    if hidden:
        captions.append(f"Not shown at {width} characters: {', '.join(hidden)}.")
    if columns is None and (others := [metric for metric in found if metric not in shown]):
        captions.append(f"Also in the result: {_families(others)}.")
    if table.is_empty():
        captions.append("No rows.")
    return "\n".join([*lines, "", *captions] if captions else lines)


def _keys(table: pl.DataFrame, by: str | Sequence[str] | None) -> list[str]:
    """The keys of the lines.

    Raises:
        MissingColumnsError: It is no result of `evaluate`, or lacks a key.
    """
    present = table.columns
    if by is None:
        by = present[: present.index("metric")] if "metric" in present else []
    keys = [by] if isinstance(by, str) else list(by)
    if missing := {*keys, "metric", "estimate"} - set(present):
        raise MissingColumnsError.of("the table of a run", missing, present)
    return keys


def _groups(table: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The lines in order of their first rows; a single one if there are no keys."""
    return table.select(pl.lit(0).alias(_ALL), *keys).unique(maintain_order=True)


def _by_metric(table: pl.DataFrame, keys: Sequence[str]) -> dict[str, pl.DataFrame]:
    """For each metric its rows, one for each line; null where a line has none.

    Raises:
        ParameterError: A line has two rows of a metric.
    """
    groups, on = _groups(table, keys), [_ALL, *keys]
    found = {}
    for rows in table.with_columns(pl.lit(0).alias(_ALL)).partition_by("metric"):
        metric = rows["metric"][0]
        if rows.select(on).is_duplicated().any():
            others = [name for name in table.columns if name not in (*keys, "metric", *_VALUES)]
            raise ParameterError(
                f"several rows of metric {metric!r} belong to one line; add the key that tells "
                f"them apart to by={list(keys)}, perhaps one of {others}"
            )
        values = rows.select(*on, *(name for name in _VALUES if name in rows.columns))
        found[metric] = groups.join(
            values, on=on, how="left", nulls_equal=True, maintain_order="left"
        )
    return found


def _standard(found: Mapping[str, pl.DataFrame]) -> list[str]:
    """What is shown unless other metrics are asked for; all of them if none of it is there."""
    known = [m for m, rows in found.items() if rows["estimate"].null_count() < rows.height]
    risks = [metric for metric in known if metric.startswith("risk_at_")]
    if len(risks) > _RISKS:
        risks = [risks[0], risks[len(risks) // 2], risks[-1]]
    return [metric for metric in _STANDARD if metric in known] + risks or list(found)


def _counts(found: Mapping[str, pl.DataFrame], shown: Sequence[str]) -> dict[str, Column]:
    """How many items a line is of, and how many were left out where some were."""
    leading = found["aurc" if "aurc" in shown else shown[0]] if shown else pl.DataFrame()
    counts = {}
    if "n" in leading.columns:
        counts[":n"] = numbers(leading["n"], 0)
    if "n_missing" in leading.columns and (leading["n_missing"] != 0).any():
        counts[":missing"] = numbers(leading["n_missing"].alias("missing"), 0)
    return counts


def _figures(metric: str, rows: pl.DataFrame, digits: int, *, intervals: bool) -> Column:
    digits = min(digits, 1) if metric.endswith("_pct") else digits
    written = numbers(rows["estimate"].alias(_head(metric)), digits)
    if not intervals or not {"lower", "upper"} <= set(rows.columns):
        return written
    ends = numbers(rows["lower"], digits), numbers(rows["upper"], digits)
    none = rows["lower"].null_count() == rows["upper"].null_count() == rows.height
    return written if none else with_interval(written, *ends)


def _head(metric: str) -> str:
    """What stands above a metric."""
    at = _AT.fullmatch(metric)
    if at and at[1] in _HEADS_AT:
        return f"{_HEADS_AT[at[1]]}@{at[2]}"
    return _HEADS.get(metric, metric)


def _families(metrics: Sequence[str]) -> str:
    """Names of metrics, those at several coverages once."""
    named = Counter(at[1] + "_at" if (at := _AT.fullmatch(m)) else m for m in metrics)
    return ", ".join(f"{name} ({count})" if count > 1 else name for name, count in named.items())
