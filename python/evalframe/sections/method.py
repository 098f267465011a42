"""What a report says of how a result was made, with the literature."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.reporting.names import MINUS, metric_of, visible

if TYPE_CHECKING:
    from evalframe.core.metric import Metric

_BETTER = {"minimize": " Lower is better.", "maximize": " Higher is better.", "none": ""}


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
