"""How a result came about, as data that travels with it."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.metric import MetricExpr
    from evalframe.jobs.inputs import Source
    from evalframe.jobs.job import SelectiveJob
    from evalframe.jobs.records import Records


def provenance(
    job: SelectiveJob, metrics: Sequence[MetricExpr], sources: Sequence[Source], records: Records
) -> dict[str, Any]:
    """Versions, the job with its seed, every metric with its arguments, and the inputs.

    Names of files are as the job gives them, so that nothing of the machine leaks into a result
    and the same job on the same data leaves the same record.

    Args:
        job: The job as run.
        metrics: Its metrics, resolved.
        sources: Its input files.
        records: What became of their rows.

    Returns:
        Plain data: `job` is what `evalframe run` would take again.
    """
    return {
        "evalframe": version("evalframe"),
        "polars": version("polars"),
        "job": msgspec.to_builtins(job),
        "metrics": [
            {"name": m.bound.name, "metric": m.metric.name, "arguments": dict(m.bound.params)}
            for m in metrics
        ],
        "records": records.describe(),
        "inputs": [source.describe(digest=job.hash_inputs) for source in sources],
    }
