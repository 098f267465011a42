"""From tests to findings: pooled PAS, plain and normalised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from evalframe.core.choices import FindingKey, FindingRule, Missing
from evalframe.core.frames import like_input
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.alignment import HUMAN, pas_of_posteriors
from evalframe.replication.agreement.pooling import N_EFF, PAS, RATIO_Z, Z, of_tests
from evalframe.replication.agreement.posteriors import clamped_fisher_z, possible_share, z_of_pas
from evalframe.replication.agreement.scalings import pas_ratio
from evalframe.replication.agreement.scored_tests import (
    TWO_WAY,
    Rows,
    Settings,
    is_included,
    of_a_study,
    read_table,
    sum_if_any,
    with_ways_of_tests,
)


@like_input
def finding_scores(
    tests: Frame,
    *,
    by: By = None,
    rule: FindingRule = "fisher_z",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "skip",
) -> pl.LazyFrame:
    """PAS of findings, pooled from the tests of each finding.

    The PAS of a test is the column `pas`, or else that of `with_pas`. A test is missing, that is
    skipped and counted, if its PAS is null, NaN or outside [0, 1] by more than 1e-9, its posteriors
    are not possible, its `n_eff` is infinite, its `test_weight` or `finding_weight` is negative or
    infinite, or it has no study: then it is in a separate row without a PAS. A PAS of 0 is a PAS.

    Fisher's z is half the log odds of PAS, clamped to [5e-7, 1 - 5e-7]. A finding with a single
    test has the PAS of that test, except if its `weight` exceeds 1: then it stands for several. If
    the weights of all tests of a finding are 0, the mean of z is not weighted.

    With posteriors of the human side each finding also has a normalised PAS: the mean, weighted by
    `n_eff` and by way of Fisher's z, of `pas_ratio` clamped to 1 - 1e-6, of tests that have one.

    Args:
        tests: One row per model, study, sub-study, finding and test: `study_id`, `finding_id`, PAS
            or posteriors. Read if present: `model`, `sub_study_id`, `domain`, `n_eff` (weight of a
            test; 1 if null, NaN or not above 0), `test_weight` (1 if null or NaN), `is_two_way`
            (with a PAS; otherwise it is derived), and `finding_weight` (a finding has the largest
            of its tests). A finding whose tests have several domains is in the first by name.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        rule: `fisher_z`: mean of z weighted by `n_eff` (the documentation). `mean_z`: plain mean of
            z (the published code). `weighted_mean`: mean of PAS weighted by `test_weight`, null if
            the weights sum to 0 (the evaluators' `score`). `mean`: plain mean of PAS.
        finding_key: `composite`: findings of different sub-studies are different. `finding_id`:
            findings of the same id in several sub-studies of a study are one.
        weight: Number of times that each test is included, in addition to these weights. Tests of
            weight 0 are dropped; unusable weights make a test missing.
        missing: Score of a finding without a usable test. `skip`: null, and the study does not
            include it. `chance`: PAS 0.5 and normalised PAS 0.

    Returns:
        by..., `study_id`, `sub_study_id` (if it is part of the key), `finding_id`, `domain` (if
        the table has it), `pas` (Float64 in [0, 1], null without a usable test), `pas_normalised`
        (in [-1, 1], with human posteriors), `z_pas` (Fisher's z of the clamped `pas`),
        `finding_weight` (if the table has it), `n_tests` (Int64, tests included), `n_two_way` (of
        these, tests with a two-way PAS; null if unknown), `n_missing` (missing tests). Sorted by
        the keys.

    References:
        HumanStudy-Bench (HEAD of February 2026), aggregation of PAS; arXiv 2602.00685.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = {"study_id": "s1", "finding_id": "F1", "pas": [0.9, 0.1, None], "n_eff": 30}
        >>> findings = ef.replication.finding_scores(pl.DataFrame(tests))
        >>> findings.select(pl.col("pas").round(12), "n_tests", "n_missing").rows()
        [(0.5, 2, 1)]
    """
    settings = Settings(rule, finding_key=finding_key, missing=missing)
    table = with_ways_of_tests("finding_scores", tests)
    rows = read_table("finding_scores", table, by, weight, settings, ["tests"])
    return findings_of(rows).result(rows.finding)


def findings_of(tests: Rows) -> Rows:
    """Findings of tests, under internal names of the keys."""
    columns = tests.columns
    if "pas" in columns:
        share = pl.col("pas")
        two_way = pl.col(TWO_WAY) if TWO_WAY in columns else pl.lit(None, pl.Boolean)
    else:
        share, two_way = pas_of_posteriors("finding_scores", columns, None)
    usable = pl.when(is_included(columns)).then(possible_share(share))
    n_eff = pl.col("n_eff").fill_nan(None) if "n_eff" in columns else pl.lit(None, pl.Float64)
    rows = tests.frame.with_columns(
        usable.alias(PAS),
        two_way.alias(TWO_WAY),
        pl.when(n_eff > 0.0).then(n_eff).otherwise(1.0).alias(N_EFF),
    )
    rows = rows.with_columns(z_of_pas(pl.col(PAS)).alias(Z))
    return pooled_tests(replace(tests, frame=rows), _ratio_to_humans(tests), z_of_pas)


def _ratio_to_humans(tests: Rows) -> pl.Expr | None:
    """`pas_ratio` of each test, by the ceiling of as many ways as its PAS has."""
    three, two = tests.columns.issuperset(HUMAN), "pi_human" in tests.columns
    if not three:
        return pas_ratio(PAS) if two else None
    ratio_of_ways = pas_ratio(PAS, HUMAN)
    if not two:
        return ratio_of_ways
    lacks_a_way = pl.any_horizontal(pl.col(HUMAN).fill_nan(None).is_null())
    is_two_way = pl.col(TWO_WAY).fill_null(lacks_a_way)
    return pl.when(is_two_way).then(pas_ratio(PAS)).otherwise(ratio_of_ways)


def pooled_tests(tests: Rows, ratio: pl.Expr | None, z_of: Callable[[pl.Expr], pl.Expr]) -> Rows:
    """Findings of tests with PAS, TWO_WAY, Z and N_EFF; `ratio` is that to humans, if known."""
    if ratio is not None:
        rows = tests.frame.with_columns(clamped_fisher_z(ratio).alias(RATIO_Z))
        tests = replace(tests, frame=rows, columns=tests.columns | {RATIO_Z})
    scores, included = of_tests(tests, z_of), pl.col(PAS).is_not_null()
    columns = {**tests.domains, **scores}
    if "finding_weight" in tests.columns:
        columns["finding_weight"] = pl.col("finding_weight").fill_nan(None).max()
    columns |= {
        "n_tests": included.sum().cast(pl.Int64),
        "n_two_way": sum_if_any(pl.when(included).then(TWO_WAY).cast(pl.Int64)),
        "n_missing": (~included).sum().cast(pl.Int64),
    }
    table = tests.frame.group_by(tests.finding).agg(**columns).with_columns(of_a_study(*scores))
    return tests.next_level(table, [*tests.finding, *columns])
