"""Published aggregates of logs, recomputed from their rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import polars as pl

from evalframe.core.errors import InputError
from evalframe.core.progress import counted
from evalframe.logs.lines import whole
from evalframe.logs.reading import Paths, find, format_of


class Check(NamedTuple):
    """A published number and what the rows give.

    Attributes:
        task: The task or group.
        scorer: What scored.
        score_name: Which of its scores.
        metric: How scores are aggregated, or `stderr` of that.
        reducer: How the epochs of a sample become one score.
        published: What the log says.
        recomputed: What follows from the rows; None if that cannot be said.
        note: Why it cannot be said, or what must be known.
        tolerance: Largest difference, relative to numbers above 1, with which it follows.
    """

    task: str | None
    scorer: str | None
    score_name: str | None
    metric: str
    reducer: str | None
    published: float
    recomputed: float | None
    note: str | None = None
    tolerance: float = 1e-9

    @property
    def follows(self) -> bool | None:
        """Whether the two agree; None if nothing is recomputed."""
        if self.recomputed is None:
            return None
        if math.isnan(self.published):
            return math.isnan(self.recomputed)
        return math.isclose(
            self.published, self.recomputed, rel_tol=self.tolerance, abs_tol=self.tolerance
        )


def _fit(value: object) -> object:
    """The value as a table can hold it."""
    return whole(value) if isinstance(value, str) else value


_SCHEMA = {
    **dict.fromkeys(("log", "format", "task", "scorer", "score_name", "metric"), pl.String()),
    "reducer": pl.String(),
    "published": pl.Float64(),
    "recomputed": pl.Float64(),
    "follows": pl.Boolean(),
    "note": pl.String(),
}


def check_logs(paths: Paths, *, kind: str | None = None) -> pl.DataFrame:
    """Recompute the aggregates that logs publish from their rows, and compare.

    Inspect: metrics over samples, after epochs are reduced. lm-evaluation-harness: aggregates and
    standard errors of tasks, with its seeded bootstraps drawn again, and scores of groups. HELM:
    means over instances and trials, worst cases over perturbations, perplexities. Aggregate files
    of Every Eval Ever: means of the samples that belong to one result.

    Args:
        paths: Files, folders, globs, or a list of these, as for `read_logs`.
        kind: Check logs of this format only.

    Returns:
        A row per published number: log, format, task, scorer, score_name, metric (a way to
        aggregate, or stderr), reducer, published, recomputed, follows (null if nothing is
        recomputed) and note (why it is not, or what must be known). A log in a folder that cannot
        be read has one row, whose note says why.

    Raises:
        InputError: There is no log, or a named one is damaged.

    Examples:
        >>> import evalframe as ef, json, tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = Path(folder.name) / "samples_sums_2026-01-21T03-44-18.jsonl"
        >>> lines = ({"doc_id": n, "metrics": ["acc"], "acc": n % 2} for n in range(4))
        >>> with file.open("w") as samples:
        ...     for line in lines:
        ...         print(json.dumps(line), file=samples)
        >>> results = {"results": {"sums": {"acc,none": 0.5, "acc_stderr,none": 0.25}}}
        >>> beside = file.with_name("results_2026-01-21T03-44-18.json")
        >>> _ = beside.write_text(json.dumps(results))
        >>> ef.check_logs(folder.name).select("metric", "published", "recomputed", "follows").rows()
        [('mean', 0.5, 0.5, True), ('stderr', 0.25, 0.28867513459481287, False)]
        >>> folder.cleanup()
    """
    logs, skipped = find(paths, kind)
    rows: list[tuple[object, ...]] = []
    for log in counted("checking logs", logs):
        try:
            checks = [*format_of(log).check(log)]
        except InputError as error:
            if log.is_named:
                raise
            skipped[log.name] = str(error)
        else:
            rows += [(log.name, log.format, *map(_fit, c[:7]), c.follows, c.note) for c in checks]
    rows += [(name, *[None] * 9, f"skipped: {fault}") for name, fault in skipped.items()]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
