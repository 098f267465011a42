"""Metrics of scored predictions: the mean score, and rates of responses."""

from __future__ import annotations

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import State, ratio
from evalframe.core.typing import Role


@metric(family="survey", direction="maximize", range=(0.0, 1.0))
def mean_score(score: Role = "score", *, weight: Role = None) -> State:
    """Mean score of the predictions.

    It pools rows of several amounts of context, which leaderboards do not: select the rows first
    with `evalframe.survey.at_context`, or group by `context_count`.

    Args:
        score: What `evalframe.survey.score` gives, 0 to 1. A null one is missing.
        weight: How often each row counts, such as the sample size of its segment.

    Returns:
        Float64 in [0, 1], null where no row has a score.

    References:
        dtef-app 52d79c0, the run score; its leaderboards are means of the segments' means.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scored = pl.DataFrame({"score": [0.5, 0.25, None], "sample_size": [30, 10, 5]})
        >>> scored.select(ef.mean_score(), weighted=ef.mean_score(weight="sample_size")).row(0)
        (0.375, 0.4375)
    """
    return State(
        sums={"score": weight * score, "rows": weight},
        finish=lambda totals: ratio(totals.score, totals.rows),
    )


@metric(family="survey", direction="maximize", range=(0.0, 1.0), labels=("status",))
def parse_rate(status: Role = "status", *, weight: Role = None) -> State:
    """Share of the attempted predictions that could be read as a distribution of the right length.

    Responses that were never generated count as attempted.

    Args:
        status: What `evalframe.survey.parse` gives: `ok`, `unparsed`, `length_mismatch` or
            `failed`. A row without one was not attempted and is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where nothing was attempted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> parsed = pl.DataFrame({"status": ["ok", "ok", "unparsed", "failed"]})
        >>> parsed.select(ef.parse_rate()).item()
        0.5
    """
    return State(
        sums={"ok": pl.when(status == "ok").then(weight).otherwise(0.0), "rows": weight},
        finish=lambda totals: ratio(totals.ok, totals.rows),
    )


@metric(family="survey", direction="maximize", range=(0.0, 1.0), labels=("status",))
def generation_rate(status: Role = "status", *, weight: Role = None) -> State:
    """Share of the attempted predictions for which there was a response.

    `parse_rate` divided by it is the share of responses that could be read.

    Args:
        status: As for `parse_rate`.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where nothing was attempted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> parsed = pl.DataFrame({"status": ["ok", "ok", "unparsed", "failed"]})
        >>> parsed.select(ef.generation_rate()).item()
        0.75
    """
    return State(
        sums={"made": pl.when(status != "failed").then(weight).otherwise(0.0), "rows": weight},
        finish=lambda totals: ratio(totals.made, totals.rows),
    )
