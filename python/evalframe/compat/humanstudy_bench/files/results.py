"""The tables that files are written from: tests, and scores from finding to model.

| | `numbers="sound"` | `numbers="original"` |
|---|---|---|
| score of a finding | `fisher_z` | `weighted_mean`, as the original's files have it |
| score of a study | `mean` of its findings | `mean_z`, over z of tests, as published |
| nothing to pool | null | PAS 0.5 |
| unknown usage | null | 0 |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from evalframe import replication
from evalframe.compat.humanstudy_bench import scores as original_scores
from evalframe.compat.humanstudy_bench.files.completed import (
    OF_RUNS,
    STUDY,
    completed_runs,
    completed_tests,
)
from evalframe.compat.humanstudy_bench.files.documents import check_text
from evalframe.core.choices import FindingKey, FindingRule, Missing, Rules, StudyRule, check_choice
from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.replication.agreement.scored_tests import Settings
from evalframe.replication.agreement.studies import domain_scores, model_scores

Numbers: TypeAlias = Literal["sound", "original"]
_RULES: dict[Numbers, Rules] = {"sound": "documented", "original": "reference"}

UNTITLED = "N/A"
"""The title of a study without one."""

TOTALS = ("total_prompt_tokens", "total_completion_tokens", "total_tokens", "total_cost")

FINDINGS = [*STUDY, "finding_idx", "sub_study_id", "finding_id", "pas", "finding_weight", "n_tests"]

_EFFECTS = ["ecs", "pearson", "slope", "intercept"]
_FIRST = [*STUDY, "title", "domain", "pas", *_EFFECTS, "n_tests", "n_effects"]


@dataclass(frozen=True, slots=True)
class Pooling:
    """How scores were pooled.

    Attributes:
        rules: `documented` for sound numbers, `reference` for original ones, as files name them.
        finding_rule: From tests to findings.
        study_rule: From findings to studies.
        finding_key: What tells findings apart, `composite` or `finding_id`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables
        >>> tests = pl.DataFrame({"model": "m", "study_id": "s", "finding_id": "f", "pas": [0.8]})
        >>> result_tables(tests, numbers="original").pooling.finding_rule
        'weighted_mean'
    """

    rules: Rules
    finding_rule: FindingRule
    study_rule: StudyRule
    finding_key: FindingKey

    @property
    def is_original(self) -> bool:
        """True for scores of the original."""
        return self.rules == "reference"


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Scores from finding to model, and their tests.

    Attributes:
        models: `model`, `pas`, `ecs`, `pearson`, `slope`, `intercept` (of the effects), `n_studies`
            (with a PAS), `n_tests`, `n_effects` (tests with both effects), `missing_rate` (share of
            tests without), `total_prompt_tokens`, `total_completion_tokens`, `total_tokens`,
            `total_cost`. Sorted.
        domains: `model`, `domain`, `pas`, `ecs`. Sorted.
        studies: `model`, `study_id`, `title`, `domain`, `pas`, `ecs`, `pearson`, `slope`,
            `intercept`, `n_tests`, `n_effects`, and the columns of runs. Sorted.
        findings: `model`, `study_id`, `finding_idx` (Int64, its index in its study),
            `sub_study_id`, `finding_id`, `pas`, `finding_weight`, `n_tests` (with a PAS and
            without). By model, study and `finding_idx`.
        tests: The tests in their order, with all columns that files hold.
        pooling: How scores were pooled; None if unknown.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables
        >>> tests = pl.DataFrame({"model": "m", "study_id": "s", "finding_id": "f", "pas": [0.8]})
        >>> result_tables(tests).studies.select("study_id", "pas", "n_tests").row(0)
        ('s', 0.8, 1)
    """

    models: pl.DataFrame
    domains: pl.DataFrame
    studies: pl.DataFrame
    findings: pl.DataFrame
    tests: pl.DataFrame
    pooling: Pooling | None


@any_frame
def result_tables(
    tests: Frame,
    *,
    runs: Frame | None = None,
    titles: Mapping[str, str] | None = None,
    finding_rule: FindingRule | None = None,
    study_rule: StudyRule | None = None,
    finding_key: FindingKey = "composite",
    missing: Missing | None = None,
    numbers: Numbers = "sound",
) -> Results:
    """The scores of findings, studies, domains and models that files are written from.

    Args:
        tests: One row per model, study, sub-study, finding and test: `model`, `study_id`,
            `finding_id`, PAS or posteriors, and optionally effects (`effect_d_human`, or
            `effect_size_human` with `test_type`) and the other columns of `read_evaluation`.
        runs: One row per model and study, with columns of the runs of `read_evaluation`. A run
            without tests is a study without scores. Counts are whole numbers from 0 to 2**53 of any
            type.
        titles: Titles of studies, by default those of runs.
        finding_rule: See `finding_scores`; by default `fisher_z`. By default original scores of
            findings are their `weighted_mean`, and those of studies come from `mean_z`.
        study_rule: See `study_scores`; by default `mean`, and `mean_z` for original numbers.
        finding_key: `composite` or `finding_id`; see `finding_scores`.
        missing: See `study_scores`; by default `skip`, and `chance` for original numbers.
        numbers: `sound`: the scores of `evalframe.replication`. `original`: those of this program.

    Returns:
        Tables of models, domains, studies, findings and tests, and how they were pooled.

    Raises:
        ContractError: A column has the wrong type, a sign or count is not valid, there are no rows,
            or tests or runs are repeated.
        MissingColumnsError: The table lacks a key.
        ParameterError: An argument is outside its domain.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import result_tables
        >>> tests = pl.DataFrame({"model": "m", "study_id": "s", "finding_id": ["F10", "F2"]})
        >>> results = result_tables(tests.with_columns(pas=pl.Series([0.75, 0.5])))
        >>> results.findings.select("finding_idx", "finding_id", "pas").rows()
        [(0, 'F2', 0.5), (1, 'F10', 0.75)]
    """
    check_choice("numbers", numbers, Numbers)
    original = numbers == "original"
    room = original_scores if original else replication
    defaults = room.SETTINGS if original else Settings()
    settings = Settings(
        finding_rule or defaults.finding_rule,
        study_rule or defaults.study_rule,
        finding_key,
        missing or defaults.missing,
    )
    for study_id, title in (titles or {}).items():
        check_text("a study_id of titles", study_id)
        check_text(f"titles[{study_id!r}]", title)
    shown_rule = finding_rule or ("weighted_mean" if original else settings.finding_rule)
    completed = completed_tests(tests, original=original)
    findings = room.finding_scores(
        completed.lazy(), rule=shown_rule, finding_key=finding_key, missing=settings.missing
    )
    scores = room.study_scores(
        completed.lazy(),
        rule=settings.study_rule,
        finding_rule=settings.finding_rule,
        finding_key=finding_key,
        missing=settings.missing,
    )
    effects = room.ecs(completed.lazy(), "study", finding_key=finding_key)
    studies = _studies(completed.lazy(), completed_runs(runs), scores, effects).with_columns(
        pl.coalesce("title", _title(titles or {})).alias("title")
    )
    if original:
        studies = studies.with_columns(pl.col(TOTALS).fill_null(0))
    return Results(
        models=_models(room, completed, studies, finding_key),
        domains=_domains(room, completed, studies, finding_key),
        studies=studies,
        findings=with_finding_idx(_counted(findings)).select(FINDINGS).collect(),
        tests=completed,
        pooling=Pooling(_RULES[numbers], shown_rule, settings.study_rule, finding_key),
    )


def scores_by(pooling: Pooling) -> Any:
    """The functions of scores that results were computed with."""
    return original_scores if pooling.is_original else replication


def tests_and_pooling(results: Results) -> tuple[pl.DataFrame, Pooling]:
    """The tests of results and how they were pooled; ParameterError for scores without tests."""
    if results.pooling is None or results.tests.is_empty():
        raise ParameterError(
            "these results are scores without tests; make them from tests by result_tables"
        )
    return results.tests, results.pooling


def with_finding_idx(findings: pl.LazyFrame) -> pl.LazyFrame:
    """Findings in the order of the original, with their index in their study."""
    # By sub-study, by the number in an id like F12 (999 for others), and by id; null sorts as "".
    sub_study, finding = (pl.col(name).fill_null("") for name in ("sub_study_id", "finding_id"))
    number = finding.str.extract("(?i)^F([0-9]+)").cast(pl.Int64, strict=False).fill_null(999)
    place = pl.int_range(pl.len(), dtype=pl.Int64).over(STUDY)
    ordered = findings.sort(*STUDY, sub_study, number, finding, maintain_order=True)
    return ordered.with_columns(place.alias("finding_idx"))


def _studies(
    tests: pl.LazyFrame, runs: pl.LazyFrame, scores: pl.LazyFrame, effects: pl.LazyFrame
) -> pl.DataFrame:
    """One row per study that has a test or a run."""
    counts = tests.group_by(STUDY).agg(pl.len().cast(pl.Int64).alias("n_tests"))
    every = pl.concat([tests.select(STUDY), runs.select(STUDY)]).unique()
    return (
        every.join(counts, on=STUDY, how="left")
        .join(scores.select(*STUDY, "domain", "pas"), on=STUDY, how="left")
        .join(effects.select(*STUDY, *_EFFECTS, n_effects="n_tests"), on=STUDY, how="left")
        .join(runs, on=STUDY, how="left")
        .with_columns(pl.col("n_tests", "n_effects").fill_null(0))
        .select(*_FIRST, *(name for name in OF_RUNS if name not in _FIRST))
        .sort(STUDY)
        .collect()
    )


def _models(
    room: Any, tests: pl.DataFrame, studies: pl.DataFrame, finding_key: FindingKey
) -> pl.DataFrame:
    """One row per model."""
    sums = {name: pl.col(name).sum() for name in TOTALS}
    known = {name: pl.when(pl.col(name).count() > 0).then(total) for name, total in sums.items()}
    totals = studies.lazy().group_by("model").agg(pl.col("n_tests").sum(), **known)
    effects = room.ecs(tests.lazy(), finding_key=finding_key)
    concordance = effects.select("model", *_EFFECTS, "missing_rate", n_effects="n_tests")
    order = ["model", "pas", *_EFFECTS, "n_studies", "n_tests", "n_effects", "missing_rate"]
    return (
        model_scores(studies.lazy().select(*STUDY, "pas"))
        .select("model", "pas", "n_studies")
        .join(concordance, on="model", how="left")
        .join(totals, on="model")
        .with_columns(pl.col("n_effects").fill_null(0))
        .select(*order, *TOTALS)
        .sort("model")
        .collect()
    )


def _domains(
    room: Any, tests: pl.DataFrame, studies: pl.DataFrame, finding_key: FindingKey
) -> pl.DataFrame:
    """One row per model and domain."""
    known = pl.col("domain").is_not_null()
    effects = room.ecs(tests.lazy().filter(known), "domain", finding_key=finding_key)
    scores = domain_scores(studies.lazy().filter(known).select(*STUDY, "domain", "pas"))
    keys = ["model", "domain"]
    joined: pl.LazyFrame = effects.select(*keys, "ecs")
    joined = joined.join(scores.select(*keys, "pas"), on=keys, how="left")
    return joined.select(*keys, "pas", "ecs").sort(keys).collect()


def _counted(findings: pl.LazyFrame) -> pl.LazyFrame:
    """Findings with the number of all of their tests."""
    every = findings.with_columns(pl.col("n_tests") + pl.col("n_missing"))
    if "sub_study_id" in findings.collect_schema():
        return every
    return every.with_columns(pl.lit(None, pl.String).alias("sub_study_id"))


def _title(titles: Mapping[str, str]) -> pl.Expr:
    if not titles:
        return pl.lit(None, pl.String)
    return pl.col("study_id").replace_strict(titles, default=None, return_dtype=pl.String)
