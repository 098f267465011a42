"""Pooled scores: from findings to studies, and from studies to domains and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.choices import FindingKey, FindingRule, Missing, StudyRule
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.agreement.findings import findings_of
from evalframe.replication.agreement.pooling import of_rows
from evalframe.replication.agreement.posteriors import possible_share, z_of_pas
from evalframe.replication.agreement.scored_tests import (
    COUNTS_OF_FINDINGS,
    COUNTS_OF_STUDIES,
    LEVELS,
    VALUE,
    Level,
    Rows,
    Settings,
    is_included,
    of_a_study,
    read_table,
    sum_if_any,
    with_ways_of_tests,
)

if TYPE_CHECKING:
    from evalframe.resample.methods import Bootstrap


_STUDIES = {"Cognition": range(1, 5), "Social": range(5, 9), "Strategic": range(9, 13)}
DOMAINS = {f"study_{number:03}": name for name, numbers in _STUDIES.items() for number in numbers}
"""Domain by study of HumanStudy-Bench."""


def domain(study_id: IntoExpr = "study_id") -> pl.Expr:
    """The domain of a study of HumanStudy-Bench, null for others.

    Args:
        study_id: The study, of any type.

    Returns:
        String, named `domain`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.domain(pl.lit("study_009"))).item()
        'Strategic'
    """
    text = as_expr(study_id).cast(pl.String)
    return text.replace_strict(DOMAINS, default=None).alias("domain")


@like_input
def study_scores(
    scores: Frame,
    *,
    by: By = None,
    rule: StudyRule = "mean",
    finding_rule: FindingRule = "fisher_z",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "skip",
) -> pl.LazyFrame:
    """PAS of studies, pooled from the findings of each study.

    Args:
        scores: Tests as in `finding_scores`, or findings as it returns them: `study_id`,
            `finding_id`, `pas`, `n_tests`, and if present `model`, `sub_study_id`, `domain`,
            `pas_normalised`, `z_pas`, `finding_weight` and `n_missing`. A table with `n_tests` and
            without `test_id` is a table of findings. Missing or impossible values, such as a PAS
            of 1.5, are not included; see `finding_scores`. Rows without a study form one row
            without PAS. A study whose rows have several domains is in the first by name.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        rule: `mean`: plain mean of PAS (the documentation). `mean_z`: mean of Fisher's z, clamped
            also for a finding of one test (the published code, for single runs). `weighted_mean`:
            mean of PAS weighted by `finding_weight`, 1 if missing (the evaluators' `score`).
        finding_rule: How tests are pooled, for a table of tests; see `finding_scores`.
        finding_key: As in `finding_scores`; `finding_id` needs tests if there are sub-studies.
        weight: Number of times that each row is included. Rows of weight 0 are dropped.
        missing: Score of a finding without a usable test, and of a study without such a finding.
            `skip`: null, and not included. `chance`: PAS 0.5 and normalised PAS 0.

    Returns:
        by..., `study_id`, `domain` (if the table has it), `pas` (Float64 in [0, 1]),
        `pas_normalised` (the plain mean, if findings have it), `n_findings` (Int64, findings with a
        PAS), `n_findings_without_data` (findings without a usable test), `n_tests`, `n_two_way` (of
        these, see `finding_scores`), `n_missing` (tests, also those of findings that are not
        included). Counts are null if a table of findings lacks them. Sorted by the keys.

    References:
        HumanStudy-Bench (HEAD of February 2026), aggregation of PAS.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> findings = {"study_id": "s1", "finding_id": ["F1", "F2"], "pas": [0.5, 0.9]}
        >>> ef.replication.study_scores(pl.DataFrame(findings))["pas"].round(3).item()
        0.7
    """
    settings = Settings(finding_rule, rule, finding_key, missing)
    rows = scored_rows("study_scores", scores, by, weight, settings, ["tests", "findings"])
    return studies_of(rows).result(rows.study)


@like_input
def domain_scores(
    scores: Frame,
    *,
    by: By = None,
    finding_rule: FindingRule = "fisher_z",
    study_rule: StudyRule = "mean",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "skip",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """PAS of domains: the plain mean over the studies of a domain that have a PAS.

    Args:
        scores: Tests, findings or studies (a table without `finding_id`), with `domain`.
        by: As in `model_scores`.
        finding_rule: As in `model_scores`.
        study_rule: As in `model_scores`.
        finding_key: As in `model_scores`.
        weight: As in `model_scores`.
        missing: As in `model_scores`.
        resample: As in `model_scores`; studies are drawn within their domain.

    Returns:
        As `model_scores`, with `domain` after the keys, and with `resample` ranked within it.
        Studies without a domain are a separate group. A study whose rows have several domains is in
        the first by name.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> studies = pl.DataFrame({"study_id": ["s1", "s2"], "domain": "a", "pas": [0.5, 0.7]})
        >>> ef.replication.domain_scores(studies).select("domain", "pas", "n_studies").rows()
        [('a', 0.6, 2)]
    """
    settings = Settings(finding_rule, study_rule, finding_key, missing)
    rows = scored_rows("domain_scores", scores, by, weight, settings, LEVELS, ["domain"])
    return mean_scores("domain_scores", rows, scored_studies(rows), ["domain"], resample)


@like_input
def model_scores(
    scores: Frame,
    *,
    by: By = None,
    finding_rule: FindingRule = "fisher_z",
    study_rule: StudyRule = "mean",
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing = "skip",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """PAS of models: the plain mean over the studies of a model that have a PAS.

    Tests are pooled to findings and studies first.

    Args:
        scores: Tests, findings, or studies: a table without `finding_id`, with `study_id` and
            `pas`, as returned by `study_scores`.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        finding_rule: How tests are pooled; see `finding_scores`.
        study_rule: How findings are pooled; see `study_scores`.
        finding_key: `composite` or `finding_id`; see `finding_scores`.
        weight: Number of times that each row is included. Rows of weight 0 are dropped.
        missing: `skip` or `chance`, for findings and studies; see `study_scores`. A model without a
            study that has a PAS has null in any case.
        resample: `ef.Bootstrap(cluster="study_id")` draws studies: uncertainty about other studies.
            `ef.Bootstrap(cluster="finding_id")` draws findings within their study: uncertainty
            about other findings of these studies, 0 if studies have a single finding. All models
            see the same draws. With few studies most kinds of interval are too short, see
            `ef.Bootstrap`.

    Returns:
        by..., `pas` (Float64 in [0, 1], null without a study that has one), `pas_normalised` (if
        studies have it), `n_studies` (Int64, studies with a PAS), `n_studies_without_data`,
        `n_findings`, `n_findings_without_data` (without a usable test), `n_tests`, `n_two_way` (of
        these, see `finding_scores`), `n_missing` (tests, also those of findings and studies that
        are not included). Counts are null if the table lacks them. Sorted by the keys.

        With `resample` each score is followed by its `_std_error`, `_lower`, `_upper` and
        `_drop_rate`, such as `pas_lower`, null if nothing varies. Then follow `n_clusters` (Int64,
        studies or findings with a PAS) and the rank of PAS, of models within the other keys if
        there is a key `model`, else of all rows: `rank` (Int64, 1 is the best, tied rows share the
        better), `rank_lower` and `rank_upper` (the central ranks of the replicates),
        `rank_set_lower` and `rank_set_upper` (the ranks that remain possible after simultaneous
        comparisons of all pairs at the level of the bootstrap), `tied_with_best` (Boolean: no
        other model is significantly better), and `margin_to_best` (a difference from the best
        beyond it would be certain in that comparison; null for the best). The bootstrap is computed
        at once.

    Raises:
        ParameterError: An argument is invalid, or there are fewer than two clusters.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas_raw` of the published benchmark, which has no
        intervals.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> studies = {"model": [*"aab"], "study_id": [*"121"], "pas": [0.9, 0.7, 0.5]}
        >>> scores = ef.replication.model_scores(pl.DataFrame(studies))
        >>> scores.select("model", "pas", "n_studies").rows()
        [('a', 0.8, 2), ('b', 0.5, 1)]
    """
    settings = Settings(finding_rule, study_rule, finding_key, missing)
    rows = scored_rows("model_scores", scores, by, weight, settings, LEVELS)
    return mean_scores("model_scores", rows, scored_studies(rows), [], resample)


def scored_rows(
    caller: str,
    scores: Frame,
    by: By,
    weight: IntoExpr | None,
    settings: Settings,
    levels: Sequence[Level],
    requires: Sequence[str] = (),
) -> Rows:
    """The findings or studies of a table with the value that is averaged; tests become findings."""
    table = with_ways_of_tests(caller, scores)
    rows = read_table(caller, table, by, weight, settings, levels, requires)
    return included(findings_of(rows) if rows.level == "tests" else rows)


def scored_studies(rows: Rows) -> Rows:
    """The studies of findings or studies with the value that is averaged."""
    return rows if rows.level == "studies" else included(studies_of(rows))


def mean_scores(
    caller: str,
    rows: Rows,
    studies: Rows,
    within: Sequence[str],
    resample: Bootstrap | None,
) -> pl.LazyFrame:
    """Plain means over studies, with intervals if rows are resampled, by the names of the keys."""
    if resample is not None:
        from evalframe.replication.uncertainty.scores import with_score_spreads

        table = with_score_spreads(caller, resample, rows, studies, within)
    else:
        table = means_of(studies, within)
    return table.rename(rows.keys.restore())


def included(rows: Rows) -> Rows:
    """Findings or studies with `VALUE`, null in rows without a study or a possible score.

    The tests of such a row become missing tests.
    """
    columns, usable = rows.columns, is_included(rows.columns)
    value = possible_share(pl.col("pas"))
    if rows.rule.fisher:
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


def studies_of(findings: Rows) -> Rows:
    """Studies of findings that have `VALUE`."""
    scores = of_rows(findings)
    columns = {**findings.domains, **scores, **_counts(findings)}
    table = findings.frame.group_by(findings.study).agg(**columns)
    return findings.next_level(table.with_columns(of_a_study(*scores)), [*findings.study, *columns])


def means_of(studies: Rows, within: Sequence[str]) -> pl.LazyFrame:
    """Plain means over studies that have `VALUE`, by the keys and `within`, sorted."""
    group, columns = [*studies.keys.inner, *within], {**of_rows(studies), **_counts(studies)}
    if not group:
        return studies.frame.select(**columns)
    return studies.frame.group_by(group).agg(**columns).sort(group)


def _counts(rows: Rows) -> dict[str, pl.Expr]:
    """Numbers of rows with a score and without data, and sums of counts, null if there are none."""
    # A row without a usable test is without data, whether it has a PAS by chance or none.
    has_score = pl.col(VALUE).is_not_null()
    empty = ~has_score
    if "n_tests" in rows.columns:
        empty |= (pl.col("n_tests") == 0).fill_null(value=False)
    counts: dict[str, pl.Expr] = {
        f"n_{rows.level}": has_score.sum().cast(pl.Int64),
        f"n_{rows.level}_without_data": (empty & pl.col("study_id").is_not_null())
        .sum()
        .cast(pl.Int64),
    }
    for name in COUNTS_OF_STUDIES if rows.level == "studies" else COUNTS_OF_FINDINGS:
        if name not in rows.columns:
            counts[name] = pl.lit(None, pl.Int64)
        else:
            counts[name] = sum_if_any(pl.col(name)) if name == "n_two_way" else pl.col(name).sum()
    return counts
