"""What models are compared by: PAS and ECS for any weights of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError
from evalframe.replication.agreement.pooling import of_findings, of_studies
from evalframe.replication.uncertainty.concordance import (
    Concordance,
    ecs_cells,
    tests_of_studies,
)
from evalframe.replication.uncertainty.pairing import Compared
from evalframe.replication.uncertainty.sampling import sample_of
from evalframe.replication.uncertainty.scores import (
    drawn_rows,
    known_scores,
    rows_of_studies,
    score_cells,
    score_estimator,
    with_entries,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.replication.agreement.ecs import EcsRows
    from evalframe.replication.agreement.given import Given
    from evalframe.replication.uncertainty.sampling import Cluster
    from evalframe.replication.uncertainty.spreads import Estimator
    from evalframe.resample.methods import Bootstrap


def compared_scores(
    method: Bootstrap, given: Given, cluster: Cluster, names: Sequence[str]
) -> Compared:
    """PAS of all models, for any weights of clusters.

    Raises:
        MissingColumnsError: There is no normalised PAS, and it is asked for.
    """
    drawn, _ = drawn_rows("model_differences", given, cluster)
    by_finding = cluster == "finding_id"
    pooled = of_findings(drawn) if by_finding else of_studies(drawn)
    if missing := {*names} - {*pooled}:
        raise MissingColumnsError.of("model_differences", missing, drawn.columns)
    pooled = {name: pooled[name] for name in ("pas", *names)}
    rows = rows_of_studies(drawn)
    entries = rows.select(given.keys.inner).unique().sort(given.keys.inner)
    numbered = with_entries(rows, entries, given.keys.inner)
    named = drawn.finding[len(drawn.study) :] if by_finding else []
    sample = sample_of(method, numbered, cluster, named, None)

    def estimator(cells: pl.DataFrame, count: int) -> Estimator:
        return score_estimator(cells, pooled, cluster, count, sample.slots)

    cells = score_cells(sample.rows, pooled)
    return Compared(names, entries, cells, known_scores(), sample, estimator)


def compared_concordance(
    method: Bootstrap, rows: EcsRows, cluster: Cluster, rules: Rules
) -> Compared:
    """The ECS of all models, for any weights of clusters."""
    tests = tests_of_studies(rows)
    entries = tests.select(rows.group).unique().sort(rows.group)
    sample = sample_of(
        method, with_entries(tests, entries, rows.group), cluster, rows.finding[1:], None
    )

    def estimator(cells: pl.DataFrame, count: int) -> Estimator:
        return Concordance.of(cells, count, sample.slots, rules)

    known = pl.col("tests") > 0
    return Compared(["ecs"], entries, ecs_cells(sample.rows), known, sample, estimator)
