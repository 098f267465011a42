"""Sums of findings and studies, and the means that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.agreement.findings import findings_of
from evalframe.replication.agreement.given import COUNTS, added_if_known
from evalframe.replication.agreement.pooling import of_findings, of_studies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.replication.agreement.given import Given
    from evalframe.replication.agreement.pooling import Pooling


def studies_of(given: Given) -> Given:
    """The studies of tests or findings, under internal names of the keys."""
    found = findings_of(given) if given.level == "tests" else given
    pooled = of_findings(found)
    added = found.frame.group_by(found.study).agg(
        **_sums(pooled),
        n_findings=_counted(pooled),
        n_findings_without_data=_without_data(found, pooled),
        **_counts(found, pooled, COUNTS[4:]),
        **found.domains,
    )
    made = {name: pooling.score(name) for name, pooling in pooled.items()}
    order = [*found.study, *found.domains, *made, *COUNTS[2:]]
    return found.raised(added.with_columns(**made).select(order), order)


def means_of(found: Given, within: Sequence[str]) -> pl.LazyFrame:
    """Plain means over studies, by the keys and what is asked for within them, sorted."""
    group, pooled = [*found.keys.inner, *within], of_studies(found)
    sums = {
        **_sums(pooled),
        "n_studies": _counted(pooled),
        "n_studies_without_data": _without_data(found, pooled),
        **_counts(found, pooled, COUNTS[2:]),
    }
    rows = found.frame
    added = rows.group_by(group).agg(**sums) if group else rows.select(**sums)
    made = added.select(
        *group, *(pooling.score(name).alias(name) for name, pooling in pooled.items()), *COUNTS
    )
    return made.sort(group) if group else made


def _sums(pooled: Mapping[str, Pooling]) -> dict[str, pl.Expr]:
    return {n: expr for name, each in pooled.items() for n, expr in each.sums(name).items()}


def _counted(pooled: Mapping[str, Pooling]) -> pl.Expr:
    """How many rows have a PAS."""
    return pooled["pas"].value.is_not_null().sum().cast(pl.Int64)


def _without_data(found: Given, pooled: Mapping[str, Pooling]) -> pl.Expr:
    """How many rows rest on no test that counts, whether they have a PAS by chance or none."""
    lacking = pooled["pas"].value.is_null()
    if "n_tests" in found.columns:
        lacking |= (pl.col("n_tests") == 0).fill_null(value=False)
    return (lacking & pl.col("study_id").is_not_null()).sum().cast(pl.Int64)


def _counts(
    found: Given, pooled: Mapping[str, Pooling], names: Sequence[str]
) -> dict[str, pl.Expr]:
    """Counts of the rows, added up; null where the rows do not tell.

    Tests of a row that does not count are missing, but not in the original.
    """
    counts = pooled["pas"].value.is_not_null() | (found.settings.rules == "reference")
    made: dict[str, pl.Expr] = {}
    for name in names:
        if name not in found.columns:
            made[name] = pl.lit(None, pl.Int64)
        elif name == "n_missing":
            lost = pl.when(~counts).then("n_tests").sum() if "n_tests" in found.columns else 0
            made[name] = pl.col(name).sum() + lost
        elif name.endswith("_without_data"):
            made[name] = pl.col(name).sum()
        elif name == "n_two_way":
            made[name] = added_if_known(pl.when(counts).then(name))
        else:
            made[name] = pl.when(counts).then(name).sum()
    return made
