"""Trees of metrics as the golden files write them."""

from __future__ import annotations

from typing import Any

import pytest

import evalframe as ef


@ef.metric(name="f1_of_hits", direction="maximize", range=(0, 1), labels=("prediction", "label"))
def f1_of_hits(prediction="prediction", label="label", *, weight=None):
    """F1 as the harmonic mean of precision and recall: null without a hit."""
    return ef.State(
        sums={
            "hits": weight * (prediction * label),
            "said": weight * prediction,
            "true": weight * label,
        },
        finish=lambda t: ef.ratio(2 * t.hits, t.said + t.true).replace(0.0, None),
    )


FLAT = {
    "mean": ef.mean,
    "total": ef.total,
    "pass_at": ef.pass_at,
    "f1": f1_of_hits,
    "spread": ef.spread,
    "deviation": ef.deviation,
    "aurc": ef.aurc,
}


def metric_of(tree: dict[str, Any] | None, *, fixed: bool = False) -> Any:
    """The metric of a tree; `fixed` is said of all its units."""
    if tree is None:
        return None
    if "per" not in tree:
        function = FLAT[tree["metric"]]
        return function(**tree["roles"], weight=tree.get("weight"), **tree.get("params", {}))
    columns = {name: metric_of(part, fixed=fixed) for name, part in tree["columns"].items()}
    return ef.per(
        tree["per"],
        weight=metric_of(tree.get("weight"), fixed=fixed),
        then=metric_of(tree["then"]),
        fixed=fixed,
        **columns,
    )


@pytest.fixture(scope="session")
def trees():
    return metric_of
