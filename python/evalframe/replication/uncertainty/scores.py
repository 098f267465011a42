"""PAS of models and domains under a bootstrap of studies or of findings within studies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.replication.agreement.findings import findings_of
from evalframe.replication.agreement.means import means_of, studies_of
from evalframe.replication.agreement.pooling import of_findings, of_studies
from evalframe.replication.uncertainty.sampling import cluster_drawn, drawn_within, rows_to_draw
from evalframe.replication.uncertainty.score_states import (
    KNOWN,
    STUDY,
    means,
    means_of_studies,
    with_scores,
)
from evalframe.replication.uncertainty.spreads import ENTRY, with_entries, with_spreads
from evalframe.resample.entries import Ranking, entry_spreads
from evalframe.resample.ranks import rank_columns
from evalframe.resample.settled import ranks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.metric import MetricExpr
    from evalframe.core.segments import Ints
    from evalframe.replication.agreement.given import Given
    from evalframe.replication.agreement.pooling import Pooling
    from evalframe.replication.uncertainty.sampling import Cluster
    from evalframe.resample.methods import Bootstrap

MODEL = "model"
"""The key whose values are ranked."""


class Drawn(NamedTuple):
    """What is drawn, and the scores of it.

    Attributes:
        rows: Studies, or findings.
        cluster: The cluster of a row.
        pooled: How the scores come about.
        metrics: The scores of rows with `with_scores`.
    """

    rows: pl.DataFrame
    cluster: pl.Expr
    pooled: Mapping[str, Pooling]
    metrics: list[MetricExpr]


def with_score_spreads(
    caller: str, method: Bootstrap, given: Given, within: Sequence[str]
) -> pl.LazyFrame:
    """The scores of groups with their uncertainty and ranks, under internal names of the keys.

    Args:
        caller: Who asks, for messages.
        method: The bootstrap.
        given: Tests, findings or studies.
        within: What is asked for within the keys: the domain, or nothing.

    Raises:
        ParameterError: It is no bootstrap of studies or findings, findings are asked of a table of
            studies, or there are no two clusters to draw.
    """
    cluster = cluster_drawn(caller, method)
    rows, studies = drawn_rows(caller, given, cluster)
    table = means_of(studies, within).collect()
    group = [*given.keys.inner, *within]
    drawn = drawn_scores(rows, cluster, within[0] if within else None)
    among = [inner for inner, name in given.keys.restore().items() if name != MODEL]
    among = [*(among if MODEL in given.keys.names else []), *within]
    found = entry_spreads(
        method,
        with_scores(with_entries(drawn.rows, table, group), drawn.pooled),
        drawn.metrics,
        table,
        entry=ENTRY,
        cluster=drawn.cluster,
        ranking=Ranking("pas", _numbered(table, among)),
        counted=pl.col(KNOWN) > 0,
    )
    made = with_spreads(method, table, found.spread, found.counts)
    rank = ranks(pl.col("pas"), among).alias("rank")
    return made.with_columns(rank).with_columns(rank_columns(found.ranks)).lazy()


def drawn_rows(caller: str, given: Given, cluster: Cluster) -> tuple[Given, Given]:
    """The findings or studies that are drawn, and the studies, each read once.

    Raises:
        ParameterError: Findings are asked of a table of studies.
    """
    if cluster == "study_id":
        studies = _in_memory(given if given.level == "studies" else studies_of(given))
        return studies, studies
    if given.level == "studies":
        raise ParameterError(
            f"{caller}: to draw findings it needs a table of tests or findings, and this is one of "
            "studies; give that, or draw studies, cluster='study_id'"
        )
    findings = _in_memory(findings_of(given) if given.level == "tests" else given)
    return findings, studies_of(findings)


def drawn_scores(rows: Given, cluster: Cluster, within: str | None) -> Drawn:
    """The scores of what is drawn.

    Args:
        rows: Studies or findings.
        cluster: Which of them are drawn.
        within: The column that studies are drawn within, if they are.
    """
    pooled = of_studies(rows) if cluster == "study_id" else of_findings(rows)
    # What has no data is left out of draws as it is of scores.
    known = [each.value for each in pooled.values() if each.empty is None]
    table = rows_to_draw(rows.frame, *known)
    if cluster == "study_id":
        return Drawn(table, drawn_within(cluster, [], within), pooled, means(pooled))
    named = rows.finding[len(rows.study) :]
    study = pl.struct(rows.study).rank("dense").alias(STUDY)
    drawn = drawn_within(cluster, named, within)
    return Drawn(table.with_columns(study), drawn, pooled, means_of_studies(pooled))


def _in_memory(given: Given) -> Given:
    """The same rows, computed."""
    return replace(given, frame=given.frame.collect().lazy())


def _numbered(table: pl.DataFrame, among: Sequence[str]) -> Ints:
    """The number of the group of each row."""
    if not among:
        return np.zeros(len(table), dtype=np.int64)
    return table.select(pl.struct(among).rank("dense").cast(pl.Int64)).to_series().to_numpy()
