"""From findings to studies, and from studies to domains and models.

Where the original program differs: the rule asked for is `mean` by the documentation and `mean_z`
in the published code, which moved real scores of studies by up to 0.43.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.replication.agreement.given import LEVELS, WEIGHT, Settings, given_table
from evalframe.replication.agreement.means import means_of, studies_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.replication.agreement.rules import FindingKey, FindingRule, Missing, StudyRule
    from evalframe.resample.methods import Bootstrap


def study_scores(
    scores: Frame,
    *,
    by: By = None,
    rule: StudyRule | None = None,
    finding_rule: FindingRule | None = None,
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing | None = None,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """PAS of studies: of each study's findings, pooled.

    Args:
        scores: Tests, as `finding_scores` takes them, or findings, as it gives them: `study_id`,
            `finding_id`, `pas`, `n_tests`, and as far as there are `model`, `sub_study_id`,
            `domain`, `pas_normalised`, `z_pas`, `finding_weight` and `n_missing`. A table with
            `n_tests` and without `test_id` is one of findings. What is missing or impossible, such
            as a PAS of 1.5, counts for nothing whatever the rule; see `finding_scores`. Rows
            without a study are one row without PAS. A study whose rows have several domains is in
            the first by name.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        rule: `mean`: plain mean of PAS (the documentation). `mean_z`: mean of Fisher's z, clamped
            also for a finding of one test (the published code, for single runs). `weighted_mean`:
            mean of PAS weighted by `finding_weight`, 1 where there is none (the evaluators'
            `score`). By default `mean`, and `mean_z` by the original's rules.
        finding_rule: How tests were pooled, if tests are given; see `finding_scores`.
        finding_key: `composite` or `finding_id`; see `finding_scores`. Of tests: findings that are
            told apart by sub-study already are refused with `finding_id`.
        weight: How often each row of the table given counts: each test, or each finding. Rows of
            weight 0 are left out.
        missing: What a finding without a usable test has, and a study without such a finding.
            `skip`: nothing, and what they belong to does not count them. `chance`: PAS 0.5 and
            normalised PAS 0. By default `skip`, and `chance` by the original's rules.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        by..., `study_id`, `domain` (if there is one), `pas` (Float64 in [0, 1]), `pas_normalised`
        (the plain mean, if findings have it), `n_findings` (Int64, findings with a PAS),
        `n_findings_without_data` (findings without a usable test, which are left out, or have 0.5
        by `missing="chance"`), `n_tests`, `n_two_way` (of these, see `finding_scores`),
        `n_missing` (tests). Counts are null if a table of findings does not say. Tests of a finding
        that does not count are missing. Sorted by the keys. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or the table holds another level.

    References:
        HumanStudy-Bench (HEAD of February 2026), aggregation of PAS.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import study_scores
        >>> tests = pl.DataFrame(
        ...     {"study_id": ["s1"] * 3, "finding_id": ["F1", "F2", "F3"], "pas": [0.5, 0.5, 0.995]}
        ... )
        >>> for rule in ("mean", "mean_z"):
        ...     print(study_scores(tests, rule=rule).collect()["pas"].round(3).to_list())
        [0.665]
        [0.854]
    """
    settings = Settings.of(rules, finding_rule, rule, finding_key, missing)
    given = given_table("study_scores", scores, by, weight, settings, levels=LEVELS[:2])
    found = studies_of(given)
    return found.frame.drop(WEIGHT).sort(given.study).rename(given.keys.restore())


def domain_scores(
    scores: Frame,
    *,
    by: By = None,
    finding_rule: FindingRule | None = None,
    study_rule: StudyRule | None = None,
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing | None = None,
    rules: Rules = "documented",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """PAS of domains: the plain mean over each domain's studies that have one.

    Args:
        scores: Tests, findings or studies (a table without `finding_id`), with `domain`.
        by: Group keys; by default `model` if the table has it.
        finding_rule: How tests are pooled; see `finding_scores`.
        study_rule: How findings are pooled; see `study_scores`.
        finding_key: `composite` or `finding_id`; see `finding_scores`.
        weight: How often each row of the table given counts.
        missing: `skip` or `chance`, for findings and studies; see `study_scores`.
        rules: `documented`, or `reference` for the original's numbers.
        resample: As in `model_scores`; studies are drawn within their domain.

    Returns:
        As `model_scores`, with `domain` after the keys, and with `resample` ranked within it;
        studies without a domain are a group of their own. A study whose rows have several domains
        is in the first by name; it should have one.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import domain_scores
        >>> studies = pl.DataFrame(
        ...     {"study_id": ["s1", "s2", "s3"], "domain": ["a", "a", "b"], "pas": [0.5, 0.7, 0.4]}
        ... )
        >>> domain_scores(studies).select("domain", "pas", "n_studies").collect().rows()
        [('a', 0.6, 2), ('b', 0.4, 1)]
    """
    settings = Settings.of(rules, finding_rule, study_rule, finding_key, missing)
    return _means("domain_scores", scores, by, weight, settings, ["domain"], resample)


def model_scores(
    scores: Frame,
    *,
    by: By = None,
    finding_rule: FindingRule | None = None,
    study_rule: StudyRule | None = None,
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing | None = None,
    rules: Rules = "documented",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """PAS of models: the plain mean over each model's studies that have one.

    In one call from tests, by way of findings and studies, or from either of these tables.

    Args:
        scores: Tests, findings, or studies: a table without `finding_id`, with `study_id` and
            `pas`, as `study_scores` gives it.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        finding_rule: How tests are pooled; see `finding_scores`.
        study_rule: How findings are pooled; see `study_scores`.
        finding_key: `composite` or `finding_id`; see `finding_scores`.
        weight: How often each row of the table given counts: each test, finding or study. Rows of
            weight 0 are left out.
        missing: `skip` or `chance`, for findings and studies; see `study_scores`. A model without a
            study that has a PAS has null in any case.
        rules: `documented`, or `reference` for the original's numbers.
        resample: `ef.Bootstrap(cluster="study_id")`: studies are drawn, for what other studies
            would have given. `ef.Bootstrap(cluster="finding_id")`: findings are drawn within their
            study, so that each study keeps as many as it has and still counts once; drawn from all
            studies together, studies would come and go, and the mean would be over others. This
            is the spread that findings give to the score of these studies, not of others, and
            nothing where studies have a single finding. All models see the same draws. Few studies
            make most kinds of interval short, see `ef.Bootstrap`.

    Returns:
        by..., `pas` (Float64 in [0, 1], null without a study that has one), `pas_normalised` (if
        studies have it), `n_studies` (Int64, studies with a PAS), `n_studies_without_data` and
        `n_findings_without_data` (without a usable test: left out, or 0.5 by `missing="chance"`),
        `n_findings`, `n_tests`, `n_two_way` (of these, see `finding_scores`), `n_missing` (tests,
        also those of what does not count). Counts are null if the table given does not say. Sorted
        by the keys. Lazy.

        With `resample` each score is followed by its `_std_error`, `_lower`, `_upper` and
        `_drop_rate`, such as `pas_lower`, null where nothing varies. Then come `n_clusters` (Int64,
        studies or findings that have a PAS) and the rank of PAS, of models within the other keys if
        there is a key `model`, else of all rows: `rank` (Int64, 1 is the best, tied ones share the
        better), `rank_lower` and `rank_upper` (the central ranks of the replicates),
        `rank_set_lower` and `rank_set_upper` (the ranks that are left after all pairs were compared
        at once at the level of the bootstrap), and `tied_with_best` (Boolean: no other is better
        beyond doubt). The bootstrap is computed at once.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or there are no two clusters to draw.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas_raw` of the published benchmark, which has no
        intervals.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import model_scores
        >>> tests = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a", "b"],
        ...         "study_id": ["s1", "s2", "s1"],
        ...         "finding_id": ["F1", "F1", "F1"],
        ...         "pas": [0.9, 0.7, 0.5],
        ...     }
        ... )
        >>> model_scores(tests).select("model", "pas", "n_studies").collect().rows()
        [('a', 0.8, 2), ('b', 0.5, 1)]
    """
    settings = Settings.of(rules, finding_rule, study_rule, finding_key, missing)
    return _means("model_scores", scores, by, weight, settings, [], resample)


def _means(
    caller: str,
    scores: Frame,
    by: By,
    weight: IntoExpr | None,
    settings: Settings,
    within: Sequence[str],
    resample: Bootstrap | None,
) -> pl.LazyFrame:
    """Plain means over the studies of groups, restored to the names of the keys."""
    given = given_table(caller, scores, by, weight, settings, levels=LEVELS, needs=within)
    if resample is not None:
        from evalframe.replication.uncertainty.scores import with_score_spreads

        return with_score_spreads(caller, resample, given, within).rename(given.keys.restore())
    found = given if given.level == "studies" else studies_of(given)
    return means_of(found, within).rename(found.keys.restore())
