"""How a result came about, as data that travels with it."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.metric import MetricExpr
    from evalframe.jobs.settings import TableJob


def versions() -> dict[str, str]:
    """What computed a result."""
    return {name: version(name) for name in ("evalframe", "polars")}


def provenance(
    job: TableJob,
    metrics: Sequence[MetricExpr],
    inputs: Sequence[dict[str, Any]],
    records: dict[str, Any],
) -> dict[str, Any]:
    """Versions, the job with its seed, every metric with its arguments, and the inputs.

    Names of files are as the job gives them, so that nothing of the machine leaks into a result
    and the same job on the same data leaves the same record.

    Args:
        job: The job as run.
        metrics: Its metrics, resolved.
        inputs: Its input files, described.
        records: What became of their rows.

    Returns:
        Plain data: `job` is what `evalframe run` would take again.
    """
    return {
        **versions(),
        "job": msgspec.to_builtins(job),
        "metrics": [
            {"name": m.bound.name, "metric": m.metric.name, "arguments": dict(m.bound.params)}
            for m in metrics
        ],
        "records": records,
        "inputs": list(inputs),
    }
