"""Pooled scores: findings to studies, studies to domains and models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from evalframe.core.state import ratio
from evalframe.replication.agreement.scored_tests import (
    COUNTS,
    STUDY_RULES,
    VALUE,
    WEIGHT,
    Rows,
    is_included,
    sum_if_any,
)
from evalframe.replication.agreement.shares import CHANCE, pas_of_z, possible_share, z_of_pas


def unchanged(mean: pl.Expr) -> pl.Expr:
    """The mean itself."""
    return mean


@dataclass(frozen=True)
class Pooling:
    """A weighted mean of rows, and its transformation to a score.

    Attributes:
        value: The value that is averaged, null in rows that are not included.
        mass: The weight of each row.
        finish: From the mean to the score.
        empty: The score without a row.
    """

    value: pl.Expr
    mass: pl.Expr
    finish: Callable[[pl.Expr], pl.Expr] = unchanged
    empty: float | None = None

    def sums(self, name: str) -> dict[str, pl.Expr]:
        """Sums within a group."""
        included = pl.when(self.value.is_not_null()).then(self.mass)
        return {f":{name}": (self.mass * self.value).sum(), f":{name}:mass": included.sum()}

    def score(self, name: str) -> pl.Expr:
        """The score from these sums."""
        score = self.finish(ratio(pl.col(f":{name}"), pl.col(f":{name}:mass")))
        return score if self.empty is None else score.fill_null(of_a_study(self.empty))


def of_a_study(empty: float) -> pl.Expr:
    """A value in rows of a study, null in rows without a study."""
    return pl.when(pl.col("study_id").is_not_null()).then(empty)


def included(rows: Rows) -> Rows:
    """Findings or studies with `VALUE`, null in rows without a study or a possible score.

    The tests of such a row become missing tests.
    """
    columns, usable = rows.columns, is_included(rows.columns)
    value = possible_share(pl.col("pas"))
    if is_pooled_by_z(rows):
        z = pl.col("z_pas") if "z_pas" in columns else z_of_pas(value)
        value = pl.when(value.is_not_null() & z.is_finite()).then(z)
    frame = rows.frame.with_columns(pl.when(usable).then(value).alias(VALUE))
    missing = pl.col(VALUE).is_null()
    changed: dict[str, pl.Expr] = {
        name: pl.when(~missing).then(name)
        for name in ("n_findings", "n_tests", "n_two_way")
        if name in columns
    }
    if {"n_missing", "n_tests"} <= columns:
        changed["n_missing"] = pl.sum_horizontal("n_missing", pl.when(missing).then("n_tests"))
    if "pas_normalised" in columns:
        normalised = possible_share(pl.col("pas_normalised"), -1.0)
        changed["pas_normalised"] = pl.when(usable).then(normalised)
    return replace(rows, frame=frame.with_columns(**changed))


def is_pooled_by_z(rows: Rows) -> bool:
    """Return True for findings that are pooled by way of Fisher's z."""
    return rows.level == "findings" and STUDY_RULES[rows.settings.study_rule].fisher


def of_findings(findings: Rows) -> dict[str, Pooling]:
    """Pooling of findings to studies, by score."""
    rule = STUDY_RULES[findings.settings.study_rule]
    mass, by_chance = pl.col(WEIGHT), findings.settings.missing == "chance"
    if rule.weight is not None and rule.weight in findings.columns:
        mass = mass * pl.col(rule.weight).fill_nan(None).fill_null(1.0)
    empty = CHANCE if by_chance else None
    finish = pas_of_z if rule.fisher else unchanged
    pas = Pooling(pl.col(VALUE), mass, finish, empty)
    return {"pas": pas} | _normalised(findings, 0.0 if by_chance else None)


def of_studies(studies: Rows) -> dict[str, Pooling]:
    """Pooling of studies to models or domains, by score."""
    return {"pas": Pooling(pl.col(VALUE), pl.col(WEIGHT))} | _normalised(studies, None)


def _normalised(rows: Rows, empty: float | None) -> dict[str, Pooling]:
    """The plain mean of normalised PAS, if the rows have it."""
    if "pas_normalised" not in rows.columns:
        return {}
    return {"pas_normalised": Pooling(pl.col("pas_normalised"), pl.col(WEIGHT), empty=empty)}


def studies_of(findings: Rows) -> Rows:
    """Studies of findings that have `VALUE`."""
    pooled = of_findings(findings)
    sums = findings.frame.group_by(findings.study).agg(
        **_sums(pooled),
        n_findings=_n_included(),
        n_findings_without_data=_without_data(findings),
        **_counts(findings, COUNTS[4:]),
        **findings.domains,
    )
    scores = {name: pooling.score(name) for name, pooling in pooled.items()}
    columns = [*findings.study, *findings.domains, *scores, *COUNTS[2:]]
    return findings.next_level(sums.with_columns(**scores), columns)


def means_of(studies: Rows, within: Sequence[str]) -> pl.LazyFrame:
    """Plain means over studies that have `VALUE`, by the keys and `within`, sorted."""
    group, pooled = [*studies.keys.inner, *within], of_studies(studies)
    sums = {
        **_sums(pooled),
        "n_studies": _n_included(),
        "n_studies_without_data": _without_data(studies),
        **_counts(studies, COUNTS[2:]),
    }
    rows = studies.frame
    totals = rows.group_by(group).agg(**sums) if group else rows.select(**sums)
    scores = [pooling.score(name).alias(name) for name, pooling in pooled.items()]
    table = totals.select(*group, *scores, *COUNTS)
    return table.sort(group) if group else table


def _sums(pooled: Mapping[str, Pooling]) -> dict[str, pl.Expr]:
    return {n: expr for name, each in pooled.items() for n, expr in each.sums(name).items()}


def _n_included() -> pl.Expr:
    return pl.col(VALUE).is_not_null().sum().cast(pl.Int64)


def _without_data(rows: Rows) -> pl.Expr:
    """Number of rows without a usable test, whether they have a PAS by chance or none."""
    empty = pl.col(VALUE).is_null()
    if "n_tests" in rows.columns:
        empty |= (pl.col("n_tests") == 0).fill_null(value=False)
    return (empty & pl.col("study_id").is_not_null()).sum().cast(pl.Int64)


def _counts(rows: Rows, names: Sequence[str]) -> dict[str, pl.Expr]:
    """Sums of counts, null if the rows lack the column."""
    counts: dict[str, pl.Expr] = {}
    for name in names:
        if name not in rows.columns:
            counts[name] = pl.lit(None, pl.Int64)
        else:
            counts[name] = sum_if_any(pl.col(name)) if name == "n_two_way" else pl.col(name).sum()
    return counts
