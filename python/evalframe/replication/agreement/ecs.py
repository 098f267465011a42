"""ECS: the concordance of human and agent effects, by groups, domains, studies and findings.

Where the original program differs:

| case | `rules="documented"` | `rules="reference"` |
|---|---|---|
| sums of squares | divided by the sum of weights (Lin's) | not, unlike the shift of means |
| both sides constant | 1 if they are equal, else 0 | 1 |
| Pearson's correlation, one side constant | null | 0 |
| weights within a study | alike for all findings | alike for all tests |
| tests without a study | missing, counted | dropped |
| ECS of a finding | concordance | Pearson's correlation |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.rules import Rules, check_choice
from evalframe.replication.agreement.ecs_rows import EcsLevel, ecs_of, ecs_rows

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.replication.agreement.ecs_weights import Weighting
    from evalframe.replication.agreement.rules import FindingKey
    from evalframe.resample.methods import Bootstrap

__all__ = ["EcsLevel", "ecs"]


def ecs(
    tests: Frame,
    level: EcsLevel = "overall",
    *,
    by: By = None,
    human: IntoExpr = "effect_d_human",
    agent: IntoExpr = "effect_d_agent",
    weighting: Weighting | None = None,
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    rules: Rules = "documented",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """Effect concordance score: Lin's concordance correlation of human and agent effects.

    A test weighs 1 / (findings of its study) / (tests of its finding), so that studies count alike,
    and findings within a study. Findings and tests without effects are counted there, too: a study
    weighs less the more of them it lacks.

    Args:
        tests: One row per model, study, sub-study, finding and test: `study_id`, `finding_id`,
            effects, and as far as there are `model`, `sub_study_id`, `domain`.
        level: `overall`, by `domain`, by `study`, or by `finding`.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        human: Standardised effect of humans (d); null, NaN and infinite ones are missing.
        agent: Standardised effect of agents.
        weighting: `two_level`, as above. `two_level_valid`: only findings and tests with both
            effects are counted, so that every study with one weighs the same. `equal`: all tests
            alike. By default `two_level`; `equal` by the original's rules within a study.
        finding_key: `composite`: findings are told apart by sub-study too; `finding_id`: not.
        weight: How often each test counts, on top of these weights. Tests of weight 0 are left out.
        rules: `documented`, or `reference` for the original's numbers.
        resample: `ef.Bootstrap(cluster="study_id")`: studies are drawn, by domains within them.
            `ef.Bootstrap(cluster="finding_id")`: findings, within their study. What is drawn twice
            counts twice, with the weight that it has. All groups see the same draws. See
            `model_scores`.

    Returns:
        by..., `domain`, `study_id` or the finding's keys; `ecs` (Float64 in [-1, 1], null where
        fewer than 3 tests have both effects, or effects are so large or small, beyond 1e150 or
        1e-140, that their squares are no numbers; 0 where one side is constant; where both are 1 if
        they are equal, else 0), `pearson` (their weighted correlation, null where a side is
        constant), `slope` and `intercept` (of the line of agents on humans: the caricature; null
        where humans do not vary), `n_tests` (Int64, tests with both effects), `n_missing` (other
        tests) and `missing_rate` (their share). A finding has a `pearson` from 2 tests on, if both
        standard deviations exceed 1e-10, and `p_null`, its two-sided p-value by Fisher's z. Sorted
        by the keys. Lazy.

        With `resample` each of `ecs`, `pearson`, `slope` and `intercept` is followed by its
        `_std_error`, `_lower`, `_upper` and `_drop_rate`, and `n_clusters` (Int64, studies or
        findings with both effects) is the last column; null where nothing varies. Replicates with
        fewer than 3 tests are dropped. The bootstrap is computed at once.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, effects are no numbers, or there are no
            two clusters to draw.

    References:
        HumanStudy-Bench (HEAD of February 2026), ECS; Lin (1989), A concordance correlation
        coefficient to evaluate reproducibility; arXiv 2602.00685.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import ecs
        >>> tests = pl.DataFrame(
        ...     {
        ...         "study_id": ["s1", "s1", "s2", "s2"],
        ...         "finding_id": ["F1", "F2", "F1", "F1"],
        ...         "effect_d_human": [0.0, 1.0, 2.0, 3.0],
        ...         "effect_d_agent": [1.0, 2.0, 3.0, None],
        ...     }
        ... )
        >>> found = ecs(tests).select(pl.col("ecs", "slope").round(6), "n_tests", "missing_rate")
        >>> found.collect().rows()
        [(0.571429, 1.0, 3, 0.25)]
    """
    check_choice("level", level, EcsLevel)
    check_choice("rules", rules, Rules)
    rows = ecs_rows("ecs", tests, level, by, human, agent, weighting, finding_key, weight, rules)
    if resample is not None:
        from evalframe.replication.uncertainty.concordance import with_ecs_spreads

        return with_ecs_spreads(resample, rows, level, rules).rename(rows.keys.restore())
    return ecs_of(rows, level, rules).rename(rows.keys.restore())
