"""PAS of models and domains under a bootstrap of studies or of findings within studies.

All replicates of a score are products of the draws with a table of sums: of studies, or of findings
by study, of whose means the mean is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.replication.agreement.findings import findings_of
from evalframe.replication.agreement.pooling import of_findings, of_studies
from evalframe.replication.agreement.studies import means_of, studies_of
from evalframe.replication.participants.strata import SLOT
from evalframe.replication.uncertainty.ranking import with_ranks
from evalframe.replication.uncertainty.sampling import cluster_drawn, sample_of
from evalframe.replication.uncertainty.spreads import (
    ENTRY,
    drawn_scores,
    matrix,
    numbers,
    owners,
    spreads,
    varying,
    with_spreads,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.segments import Floats, Ints
    from evalframe.replication.agreement.given import Given
    from evalframe.replication.agreement.pooling import Pooling
    from evalframe.replication.uncertainty.sampling import Cluster
    from evalframe.resample.methods import Bootstrap

STUDY = ":study"
"""Number of a study of an entry."""

MODEL = "model"
"""The key whose values are ranked."""


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
    drawn, studies = drawn_rows(caller, given, cluster)
    table = means_of(studies, within).collect()
    group = [*given.keys.inner, *within]
    named = drawn.finding[len(drawn.study) :] if cluster == "finding_id" else []
    cells = with_entries(rows_of_studies(drawn), table, group)
    sample = sample_of(method, cells, cluster, named, within[0] if within else None)
    pooled = of_findings(drawn) if cluster == "finding_id" else of_studies(drawn)
    cells = score_cells(sample.rows, pooled)
    estimator = score_estimator(cells, pooled, cluster, len(table), sample.slots)
    count, varied = varying(cells.filter(known_scores()), sample.sizes, SLOT, len(table))
    owned = None
    if method.interval == "bca":
        entry, slot = (cells[name].to_numpy() for name in (ENTRY, SLOT))
        owned = owners(entry, slot, len(table), sample.slots)
    points = {name: numbers(table[name]) for name in pooled}
    replicates = drawn_scores(method, sample, estimator)
    spread = spreads(method, sample, estimator, replicates, points, varied, owned)
    made = with_spreads(table, spread, count)
    among = [inner for inner, name in given.keys.restore().items() if name != MODEL]
    among = [*(among if MODEL in given.keys.names else []), *within]
    return with_ranks(made, among, replicates["pas"], varied, method.level).lazy()


def drawn_rows(caller: str, given: Given, cluster: Cluster) -> tuple[Given, Given]:
    """The findings or studies that are drawn, and the studies, each read once.

    Raises:
        ParameterError: Findings are asked of a table of studies.
    """
    if cluster == "study_id":
        studies = in_memory(given if given.level == "studies" else studies_of(given))
        return studies, studies
    if given.level == "studies":
        raise ParameterError(
            f"{caller}: to draw findings it needs a table of tests or findings, and this is one of "
            "studies; give that, or draw studies, cluster='study_id'"
        )
    findings = in_memory(findings_of(given) if given.level == "tests" else given)
    return findings, studies_of(findings)


def rows_of_studies(drawn: Given) -> pl.DataFrame:
    """What can be drawn: rows without a study cannot."""
    return drawn.frame.filter(pl.col("study_id").is_not_null()).collect()


def in_memory(given: Given) -> Given:
    """The same rows, computed."""
    return replace(given, frame=given.frame.collect().lazy())


def with_entries(rows: pl.DataFrame, table: pl.DataFrame, group: Sequence[str]) -> pl.DataFrame:
    """The rows with the number of the row of the table that they belong to."""
    if not group:
        return rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias(ENTRY))
    numbered = table.select(group).with_row_index(ENTRY)
    return rows.join(numbered, on=[*group], nulls_equal=True)


def score_cells(rows: pl.DataFrame, pooled: Mapping[str, Pooling]) -> pl.DataFrame:
    """`:entry`, `study_id`, `:slot`, and value and mass of each score."""
    values = {f":{name}": pooling.value for name, pooling in pooled.items()}
    masses = {f":{name}:mass": pooling.mass for name, pooling in pooled.items()}
    return rows.select(pl.col(ENTRY).cast(pl.Int64), "study_id", SLOT, **values, **masses)


def known_scores() -> pl.Expr:
    """Whether a cell has a PAS."""
    return pl.col(":pas").is_not_null()


def score_estimator(
    cells: pl.DataFrame,
    pooled: Mapping[str, Pooling],
    cluster: Cluster,
    entries: int,
    slots: int,
) -> Means | MeansOfStudies:
    """The scores of entries for any weights of clusters."""
    if cluster == "study_id":
        return Means.of(cells, ENTRY, [*pooled], (entries, slots))
    study = pl.struct(ENTRY, "study_id").rank("dense").cast(pl.Int64) - 1
    cells = cells.with_columns(study.alias(STUDY))
    units = cells[STUDY].n_unique()
    means = Means.of(cells, STUDY, [*pooled], (units, slots))
    first = cells.unique(STUDY, keep="any").sort(STUDY)
    entry = first[ENTRY].to_numpy()
    unit, slot = cells[STUDY].to_numpy(), cells[SLOT].to_numpy()
    return MeansOfStudies(
        means,
        pooled,
        matrix(np.ones(len(unit)), unit, slot, (units, slots)),
        matrix(np.ones(len(entry)), entry, first[STUDY].to_numpy(), (entries, units)),
    )


@dataclass(frozen=True)
class Means:
    """Weighted means of clusters.

    Attributes:
        sums: For each score its sum, and the mass of what has one, both units by clusters.
    """

    sums: Mapping[str, tuple[Any, Any]]

    @classmethod
    def of(
        cls, cells: pl.DataFrame, unit: str, names: Sequence[str], shape: tuple[int, int]
    ) -> Means:
        """The means of cells within units."""
        row, slot = cells[unit].to_numpy(), cells[SLOT].to_numpy()
        sums: dict[str, tuple[Any, Any]] = {}
        for name in names:
            value, mass = numbers(cells[f":{name}"]), numbers(cells[f":{name}:mass"])
            known = np.flatnonzero(~np.isnan(value))
            place: tuple[Ints, Ints] = (row[known], slot[known])
            top, bottom = (matrix(part[known], *place, shape) for part in (mass * value, mass))
            sums[name] = top, bottom
        return cls(sums)

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        return max(int(top.shape[0]) for top, _ in self.sums.values())

    def by_unit(self, drawn: Floats) -> dict[str, Floats]:
        """Means of units by replicates, from clusters by replicates; NaN where nothing is drawn."""
        made: dict[str, Floats] = {}
        for name, (top, bottom) in self.sums.items():
            mass = bottom @ drawn
            made[name] = _quotient(top @ drawn, mass)
        return made

    def values(self, weights: Floats) -> dict[str, Floats]:
        """Means of units, replicates by units."""
        drawn = np.ascontiguousarray(weights.T)
        return {name: mean.T for name, mean in self.by_unit(drawn).items()}


@dataclass(frozen=True)
class MeansOfStudies:
    """Plain means over studies, which are means of findings.

    Attributes:
        means: Of the findings of studies.
        pooled: The scale of each score, and what a study has without a usable finding.
        present: How many findings studies have, studies by findings.
        owner: Whose study each is, entries by studies.
    """

    means: Means
    pooled: Mapping[str, Pooling]
    present: Any
    owner: Any

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        return self.means.width

    def values(self, weights: Floats) -> dict[str, Floats]:
        """Means of entries, replicates by entries."""
        drawn = np.ascontiguousarray(weights.T)
        made: dict[str, Floats] = {}
        for name, mean in self.means.by_unit(drawn).items():
            pooling = self.pooled[name]
            score = _finished(pooling, mean)
            if pooling.empty is not None:
                there = self.present @ drawn > 0
                score = np.where(np.isnan(score) & there, pooling.empty, score)
            known = ~np.isnan(score)
            total = self.owner @ np.where(known, score, 0.0)
            made[name] = _quotient(total, self.owner @ known.astype(np.float64)).T
        return made


def _finished(pooling: Pooling, mean: Floats) -> Floats:
    flat = pl.DataFrame({"mean": mean.ravel()}).select(pooling.finish(pl.col("mean")))
    return flat.to_series().to_numpy().reshape(mean.shape)


def _quotient(top: Floats, bottom: Floats) -> Floats:
    made: Floats = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
    return made
