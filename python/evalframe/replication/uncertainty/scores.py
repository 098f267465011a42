"""PAS and ECS under a bootstrap of studies or of findings within studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.per import per
from evalframe.core.special import ranks
from evalframe.core.state import N
from evalframe.replication.agreement.ecs import EcsLevel, EcsRows, ecs_of
from evalframe.replication.agreement.pooling import of_rows
from evalframe.replication.agreement.scored_tests import VALUE
from evalframe.replication.agreement.studies import means_of
from evalframe.replication.uncertainty.concordance import concordance, with_effects
from evalframe.resample.entries import Ranking, entry_spreads
from evalframe.resample.independence import named_cluster
from evalframe.resample.ranks import rank_columns

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.core.segments import Floats, Ints
    from evalframe.replication.agreement.pairs import Values
    from evalframe.replication.agreement.scored_tests import Rows
    from evalframe.resample.intervals import Spread
    from evalframe.resample.methods import Bootstrap


Cluster: TypeAlias = Literal["study_id", "finding_id"]

CLUSTERS: tuple[Cluster, ...] = ("study_id", "finding_id")

ENTRY = ":entry"
"""Number of a row of the result."""

_GAP = "\x1f"

MODEL = "model"
"""The key whose values are ranked."""


def cluster_of(caller: str, method: Bootstrap) -> Cluster:
    """The clusters that a bootstrap draws; raise if these are not studies or findings."""
    from evalframe.resample.methods import Bootstrap

    if not isinstance(method, Bootstrap):
        raise ParameterError(f"{caller}: resample must be ef.Bootstrap(...), got {method!r}")
    if method.within is not None:
        raise ParameterError(
            f"{caller}: studies are drawn within the domains of the result, findings and "
            "participants within their study; leave out `within` of the bootstrap"
        )
    cluster = named_cluster(caller, method)
    name = cluster.meta.output_name() if cluster.meta.is_column() else str(cluster)
    if name not in CLUSTERS:
        raise ParameterError(
            f"{caller}: a bootstrap draws studies, cluster='study_id', or findings within their "
            f"study, cluster='finding_id', got {name!r}; participants are drawn by "
            "participant_intervals"
        )
    return name


def clusters_within(cluster: Cluster, finding: Sequence[str], within: str | None) -> pl.Expr:
    """Clusters within their strata: findings within studies, studies within a column or overall."""
    from evalframe.resample.strata import within as within_strata

    if cluster == "finding_id":
        names = [pl.col(name).cast(pl.String).fill_null("") for name in finding]
        return within_strata(pl.col("study_id"), pl.concat_str(names, separator=_GAP))
    stratum = pl.lit("") if within is None else pl.col(within)
    return within_strata(stratum, pl.col("study_id"))


def rows_to_draw(rows: pl.LazyFrame, *scores: pl.Expr) -> pl.DataFrame:
    """Rows of a study that have one of these scores, or all rows of a study without scores."""
    valid = [score.is_not_null() for score in scores] or [pl.lit(value=True)]
    table = rows.filter(pl.col("study_id").is_not_null(), pl.any_horizontal(valid)).collect()
    if table.is_empty():
        what = "a study with a score" if scores else "a study"
        raise ParameterError(f"there is nothing to resample: the table has no row of {what}")
    return table


def with_entries(rows: pl.DataFrame, table: pl.DataFrame, group: Sequence[str]) -> pl.DataFrame:
    """Add the number of the row of the table that each row belongs to."""
    if not group:
        return rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias(ENTRY))
    numbered = table.select(group).with_row_index(ENTRY)
    return rows.join(numbered, on=[*group], nulls_equal=True)


def with_spreads(
    table: pl.DataFrame,
    spread: Mapping[str, Spread],
    clusters: Ints,
    bias: Mapping[str, Floats] | None = None,
) -> pl.DataFrame:
    """Add the uncertainty of each score next to it, null without an estimate, and `n_clusters`."""
    columns: list[pl.Series] = []
    for column in table.iter_columns():
        columns.append(column)
        if column.name in spread:
            values = spread[column.name]._asdict()
            if bias is not None:
                values["bias"] = bias[column.name]
            for name, array in values.items():
                full = pl.Series(f"{column.name}_{name}", array, dtype=pl.Float64).fill_nan(None)
                if name == "drop_rate":  # without a row it is undefined in each replicate
                    full = full.fill_null(1.0)
                else:
                    full = full.set(column.is_null(), None)
                columns.append(full)
    return pl.DataFrame([*columns, pl.Series("n_clusters", clusters, dtype=pl.Int64)])


def numbers(column: pl.Series) -> Floats:
    """A column as floats, null as NaN."""
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()


class Drawn(NamedTuple):
    """Studies or findings that are drawn, their clusters, and the scores of models, by name."""

    rows: pl.DataFrame
    cluster: pl.Expr
    metrics: Mapping[str, MetricExpr]


def with_score_spreads(
    caller: str,
    method: Bootstrap,
    rows: Rows,
    studies: Rows,
    within: Sequence[str],
) -> pl.LazyFrame:
    """Scores of groups with uncertainty and ranks, under internal names of the keys."""
    cluster = cluster_of(caller, method)
    frames = pl.collect_all([rows.frame, studies.frame])
    rows, studies = (
        replace(each, frame=frame.lazy())
        for each, frame in zip((rows, studies), frames, strict=True)
    )
    table = means_of(studies, within).collect()
    group = [*rows.keys.inner, *within]
    drawn = drawn_scores(caller, rows, studies, cluster, within[0] if within else None)
    among = [inner for inner, name in rows.keys.restore().items() if name != MODEL]
    among = [*(among if MODEL in rows.keys.names else []), *within]
    number = pl.struct(among).rank("dense") if among else pl.repeat(0, pl.len())
    numbers_of_groups = table.select(number.cast(pl.Int64)).to_series().to_numpy()
    result = entry_spreads(
        method,
        with_entries(drawn.rows, table, group).lazy(),
        [*drawn.metrics.values()],
        table,
        entry=ENTRY,
        cluster=drawn.cluster,
        ranking=Ranking("pas", numbers_of_groups),
        counted=pl.col(N) > 0,
    )
    scores = with_spreads(table, result.spread, result.counts)
    rank = ranks(pl.col("pas"), among).alias("rank")
    return scores.with_columns(rank).with_columns(rank_columns(result.ranks)).lazy()


def drawn_scores(
    caller: str, rows: Rows, studies: Rows, cluster: Cluster, within: str | None
) -> Drawn:
    """The scores of models, of studies that are drawn, within a column if any, or of findings."""
    if cluster == "study_id":
        rows = studies
    elif rows.level == "studies":
        raise ParameterError(
            f"{caller}: to draw findings it needs a table of tests or findings, and this is one of "
            "studies; pass that, or draw studies, cluster='study_id'"
        )
    scores = of_rows(rows)
    # Rows without data are left out of draws, as they are of scores.
    known = [] if rows.by_chance else [VALUE, *rows.columns & {"pas_normalised"}]
    table = rows_to_draw(rows.frame, *map(pl.col, known))
    if cluster == "study_id":
        return Drawn(table, clusters_within(cluster, [], within), scores)
    finding = rows.finding[len(rows.study) :]
    # Each draw is within a study, so that studies stay, and means are over them as they are.
    of_models = {name: per("study_id", score).alias(name) for name, score in scores.items()}
    return Drawn(table, clusters_within(cluster, finding, within), of_models)


def with_ecs_spreads(
    method: Bootstrap, rows: EcsRows, level: EcsLevel, values: Values
) -> pl.LazyFrame:
    """The ECS of groups with its uncertainty, under internal names of the keys."""
    cluster = cluster_of("ecs", method)
    if level == "finding" or (level == "study" and cluster == "study_id"):
        other = "" if level == "finding" else "; draw findings, cluster='finding_id'"
        raise ParameterError(
            f"ecs: the ECS of a {level} is of a single cluster of {cluster!r}, so nothing "
            f"varies{other}"
        )
    rows = replace(rows, frame=rows.frame.collect().lazy())
    table = ecs_of(rows, level, values).collect()
    tests = with_entries(rows_to_draw(rows.frame), table, rows.group)
    within = "domain" if level == "domain" else None
    result = entry_spreads(
        method,
        with_effects(tests, ENTRY),
        concordance(values),
        table,
        entry=ENTRY,
        cluster=clusters_within(cluster, rows.finding[1:], within),
        counted=pl.col(N) > 0,
    )
    return with_spreads(table, result.spread, result.counts).lazy()
