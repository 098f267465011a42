"""ECS under a bootstrap of studies or of findings within studies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.replication.agreement.ecs_rows import ecs_of
from evalframe.replication.uncertainty.sampling import cluster_drawn, drawn_within, rows_to_draw
from evalframe.replication.uncertainty.score_states import KNOWN, concordance, with_effects
from evalframe.replication.uncertainty.spreads import ENTRY, with_entries, with_spreads
from evalframe.resample.entries import entry_spreads

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.replication.agreement.ecs_rows import EcsLevel, EcsRows
    from evalframe.resample.methods import Bootstrap


def with_ecs_spreads(
    method: Bootstrap, rows: EcsRows, level: EcsLevel, rules: Rules
) -> pl.LazyFrame:
    """The ECS of groups with its uncertainty, under internal names of the keys.

    Raises:
        ParameterError: It is no bootstrap of studies or findings, the level lies within what is
            drawn, or there are no two clusters to draw.
    """
    cluster = cluster_drawn("ecs", method)
    if level == "finding" or (level == "study" and cluster == "study_id"):
        other = "" if level == "finding" else "; draw findings, cluster='finding_id'"
        raise ParameterError(
            f"ecs: the ECS of a {level} is of a single cluster of {cluster!r}, so that nothing "
            f"varies{other}"
        )
    rows = replace(rows, frame=rows.frame.collect().lazy())
    table = ecs_of(rows, level, rules).collect()
    tests = with_entries(rows_to_draw(rows.frame), table, rows.group)
    found = entry_spreads(
        method,
        with_effects(tests, ENTRY),
        concordance(rules),
        table,
        entry=ENTRY,
        cluster=drawn_within(cluster, rows.finding[1:], "domain" if level == "domain" else None),
        counted=pl.col(KNOWN) > 0,
    )
    return with_spreads(method, table, found.spread, found.counts).lazy()
