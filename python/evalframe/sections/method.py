"""What a report says of how a result was made: what is left out, the method, and its literature."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.reporting.names import MINUS, metric_of, visible

if TYPE_CHECKING:
    from evalframe.core.metric import Metric

_COUNTED = {
    "n_units_missing": "units without a value",
    "n_dropped": "responses without a label, such as failed requests",
    "n_other_context": "items with another amount of context than the one that counts",
    "n_studies_without_data": "studies without data",
    "n_findings_without_data": "findings without a usable test",
    "n_absent": "tests that other models have",
}
"""Columns that count what is left out, with what that is."""

_DROPPED = ("drop_rate", "unit_drop_rate")
_BETTER = {"minimize": " Lower is better.", "maximize": " Higher is better.", "none": ""}


def left_out(table: pl.DataFrame) -> Iterator[str]:
    """Sentences about what the columns of a result count as left out."""
    if "n_missing" in table.columns:
        yield from _missing(table)
    for name, what in _COUNTED.items():
        if name in table.columns and (count := int(table[name].fill_null(0).sum())):
            yield f"Left out, added up over all rows of the table: {count:,} {what}."
    for name in _DROPPED:
        most = table[name].max() if name in table.columns else None
        if isinstance(most, float) and most > 0:
            what = "units had no rows" if name == "unit_drop_rate" else "resamples had no value"
            yield f"Up to {most:.1%} of the {what}, and are left out of the interval."
    values = [name for name in ("estimate", "score", "pas", "delta") if name in table.columns]
    if values and (null := table[values[0]].null_count()):
        yield f"{null:,} of {len(table):,} rows have no value (—): too little is known there."


def _missing(table: pl.DataFrame) -> Iterator[str]:
    """What lacks a value, of each metric that has a count of its own."""
    if "metric" not in table.columns:
        if count := int(table["n_missing"].fill_null(0).sum()):
            yield f"{count:,} rows lack what is needed, and are left out."
        return
    counts = table.group_by("metric", maintain_order=True).agg(pl.col("n_missing").sum())
    for part in counts.filter(pl.col("n_missing") > 0).partition_by("n_missing"):
        named = ", ".join(map(visible, part["metric"]))
        yield f"{part['n_missing'][0]:,} rows lack what {named} needs, and are left out."


def methods(names: Iterable[str]) -> Iterator[str]:
    """Of each public function, such as `survey.leaderboard`, what it computes, and citations."""
    for name in dict.fromkeys(names):
        value: Any = ef
        for part in name.split("."):
            value = getattr(value, part)
        yield f"ef.{name}: {_summary(inspect.getdoc(value) or '')}"


def of_metrics(table: pl.DataFrame, named: Mapping[str, str]) -> Iterator[str]:
    """Of each metric in a result, what it is, which way is better, and citations.

    `named` says for names in the result which metric they are, where they do not say it themselves.
    """
    if "metric" not in table.columns:
        return
    known: dict[str, tuple[Metric, list[str]]] = {}
    for name in table["metric"].unique(maintain_order=True):
        metric = metric_of(named.get(name, name))
        if metric is not None:
            known.setdefault(metric.name, (metric, []))[1].append(visible(name))
    for metric, names in known.values():
        text = inspect.getdoc(metric.define) or metric.summary
        several = ", ".join(names[:3]) + (f", … ({len(names)})" if len(names) > 3 else "")
        yield f"{several}: {_summary(text, _BETTER[metric.direction])}"


def _summary(text: str, remark: str = "") -> str:
    """The first paragraph of a docstring with a remark, and its references."""
    head, *parts = text.split("\n\n")
    first = " ".join(head.split()).replace("`", "").replace(" - ", f" {MINUS} ")
    cited = [part.removeprefix("References:") for part in parts if part.startswith("References:")]
    return " ".join([first + remark, *(" ".join(part.split()).replace("`", "") for part in cited)])
