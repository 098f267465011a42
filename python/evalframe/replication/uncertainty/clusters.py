"""Clusters of a bootstrap of scores (studies, or findings within studies), and its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.evaluation import named_cluster

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.intervals import Spread
    from evalframe.resample.methods import Bootstrap


Cluster: TypeAlias = Literal["study_id", "finding_id"]

CLUSTERS: tuple[Cluster, ...] = ("study_id", "finding_id")

ENTRY = ":entry"
"""Number of a row of the result."""

_GAP = "\x1f"


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
