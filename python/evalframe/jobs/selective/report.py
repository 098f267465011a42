"""Print selective metrics: one line for each system."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

from evalframe.report.wide_table import wide_table

_HEADS = {
    "coverage": "Cmax",
    "aurc": "AURC",
    "augrc": "AUGRC",
    "achievable_gain_pct": "gain %",
    "eaurc": "excess",
    "aurc_optimal": "optimal",
    "aurc_achievable": "achievable",
    "aurc_gap_pct": "gap %",
    "eaugrc": "AUGRC excess",
    "augrc_optimal": "AUGRC optimal",
    "augrc_gap_pct": "AUGRC gap %",
}
_HEADS_AT = {"aurc": "AURC", "augrc": "AUGRC", "risk": "risk", "achieved_coverage": "coverage"}
_AT = re.compile(r"(\w+)_at_(\d.*)")

_MAIN = ("coverage", "aurc", "augrc")
"""Metrics that are shown by default, each with its interval, first."""
_FORMS = ("achievable_gain_pct", "eaurc", "aurc_optimal", "aurc_achievable")
"""Forms of AURC that are shown by default; short lines drop the last first."""
_RISKS = 3
"""Risks at a coverage that are shown then."""


def metrics_report(
    result: pl.DataFrame,
    keys: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    markdown: bool = False,
    level: float | None = None,
    width: int | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The metrics of each group beside each other, with their intervals."""
    names = result["metric"].unique(maintain_order=True).to_list()
    selected = _usual(result) if metrics is None else list(metrics)
    heads = {_column(metric): _head(metric) for metric in selected}
    bare = () if metrics is not None else set(selected) - {*_MAIN}
    table = _side_by_side(
        result, keys, "aurc" if "aurc" in selected else selected[0] if selected else None
    )
    table = table.drop(
        f"{_column(name)}_{end}" for name in bare for end in ("lower", "upper") if name in names
    )
    counts = {_N: "n"}
    if (table[_MISSING].fill_null(0) != 0).any():
        counts[_MISSING] = "missing"
    sentences = list(notes)
    if metrics is None and (others := [name for name in names if name not in selected]):
        sentences.insert(0, f"Also in the result: {_families(others)}.")
    if metrics is None and (forms := [_HEADS[name] for name in _FORMS if name in selected]):
        sentences.insert(0, f"Of AURC: {', '.join(forms)}.")
    return wide_table(
        table, keys, counts | heads, markdown=markdown, level=level, width=width, notes=sentences
    )


_N, _MISSING = ":n", ":missing"


def _column(metric: str) -> str:
    """The column of a metric, which no key can have the name of."""
    return f"of:{metric}"


def _side_by_side(result: pl.DataFrame, keys: Sequence[str], counted: str | None) -> pl.DataFrame:
    """A row for each group, in their order, with columns for each metric."""
    is_of = {name: pl.col("metric") == name for name in result["metric"].unique()}
    of_metrics = [
        pl.col(column).filter(chosen).first().alias(f"{_column(name)}{end}")
        for name, chosen in is_of.items()
        for column, end in {"estimate": "", "lower": "_lower", "upper": "_upper"}.items()
    ]
    counts = {
        name: pl.col(column).filter(pl.col("metric").eq_missing(pl.lit(counted))).first()
        for name, column in {_N: "n", _MISSING: "n_missing"}.items()
    }
    one = pl.lit(0).alias(":all")
    grouped = result.group_by(one, *keys, maintain_order=True).agg(*of_metrics, **counts)
    return grouped.drop(":all")


def _usual(result: pl.DataFrame) -> list[str]:
    """The metrics that are shown by default; all if none of these is present."""
    names = result.filter(pl.col("estimate").is_not_null())["metric"].unique(maintain_order=True)
    risks = [name for name in names if name.startswith("risk_at_")]
    if len(risks) > _RISKS:
        risks = [risks[0], risks[len(risks) // 2], risks[-1]]
    usual = [name for name in (*_MAIN, *risks, *_FORMS) if name in {*names}]
    return usual or result["metric"].unique(maintain_order=True).to_list()


def _head(metric: str) -> str:
    """The head of a metric."""
    at = _AT.fullmatch(metric)
    if at and at[1] in _HEADS_AT:
        return f"{_HEADS_AT[at[1]]}@{at[2]}"
    return _HEADS.get(metric, metric)


def _families(metrics: Sequence[str]) -> str:
    """Names of metrics, those at several coverages once."""
    named = Counter(at[1] + "_at" if (at := _AT.fullmatch(m)) else m for m in metrics)
    return ", ".join(f"{name} ({count})" if count > 1 else name for name, count in named.items())
