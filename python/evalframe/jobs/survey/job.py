"""A job of the survey family as data: what to read, what to compute, where to write."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError
from evalframe.core.rules import Rules
from evalframe.jobs.settings import TableJob

MetricName: TypeAlias = Literal[
    "jensen_shannon_similarity",
    "cosine_similarity",
    "earth_mover_similarity",
    "mode_agreement",
    "per_option_accuracy",
    "js-divergence",
    "cosine",
    "earth-mover",
]
Weighting: TypeAlias = Literal["segment", "question", "sample_size"]
Baseline: TypeAlias = Literal[
    "uniform", "marginal", "cross_segment", "permutation", "dirichlet", "prior_round"
]
Amount: TypeAlias = Literal["highest", "lowest", "all"]
Versions: TypeAlias = Literal["all", "latest"]

METRIC_NAMES: tuple[str, ...] = get_args(MetricName)
RULES: tuple[str, ...] = get_args(Rules)
WEIGHTINGS: tuple[str, ...] = get_args(Weighting)
BASELINES: tuple[Baseline, ...] = get_args(Baseline)
AMOUNTS: tuple[str, ...] = get_args(Amount)
VERSIONS: tuple[str, ...] = get_args(Versions)

METRIC: MetricName = "jensen_shannon_similarity"
"""How answers are scored unless a job says otherwise, or a table has scores."""

USUAL: tuple[Baseline, ...] = ("uniform", "marginal", "cross_segment")
"""Baselines beside the models unless a job says otherwise."""

KEYS = ("model", "round", "segment_id", "question_id", "context_count")
"""What identifies an answer, with `by` and `RUNS`, unless a job says otherwise."""

RUNS = ("temperature", "run_id")
"""Further columns that tell runs apart, as far as a table has them."""


class SurveyJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="survey"):
    """One run of the survey family: everything that decides the numbers, and the output.

    Attributes:
        items: Tables of predictions, as files, globs or folders; with `runs` run results.
        runs: Whether the items are run results of the original, in JSON.
        truth: The survey: a file, glob or folder of tables or of the original's JSON documents.
            Not needed for run results, tables of scores, or predictions with `actual`.
        answers: Columns of the tables that hold answers: one for each option where there is
            `question_id`, else one for each question that a respondent was asked.
        prompts: The prompts that the items answer, as `evalframe survey prompts` wrote them, to
            take all from but the response and who gave it.
        output: A file for the overall leaderboard, or a folder for all tables.
        metric: How answers are scored; by default by the scores that the table has, or else
            `METRIC`.
        rules: `documented`, or `reference` for the original's numbers.
        weighting: What counts alike in the overall and the category leaderboards.
        context: Which amount of context counts where segments were asked with several: `highest`,
            `lowest`, a number of answers shown, or `all` of them, pooled.
        by: Columns to group by; each group has leaderboards of its own.
        baselines: Scored beside the models, if there is a survey; by default `USUAL`.
        key: Columns that identify a row; by default `by`, `KEYS` and `RUNS`, as far as the table
            has them.
        columns: Which columns play which roles, where they are not called so.
        versions: Of run results, `all` or the `latest` of each config.
        experiments: Whether run results of experiments count.
        summary: A file for the summary of run results that the original would write, in JSON.
        bootstrap: Resampling of segments, or none.
        on_invalid: What happens to predictions that break the contract. Faults of the survey are
            errors always.
        hash_inputs: Whether the provenance holds SHA-256 sums of the inputs.
    """

    runs: bool = False
    truth: str | None = None
    answers: tuple[str, ...] = ()
    prompts: str | None = None
    metric: MetricName | None = None
    rules: Rules = "documented"
    weighting: Weighting = "segment"
    context: Amount | int = "highest"
    by: tuple[str, ...] = ()
    baselines: tuple[Baseline, ...] | None = None
    versions: Versions = "all"
    experiments: bool = False
    summary: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.truth is not None and not self.truth.strip():
            raise ParameterError("truth is empty; name the file of the survey, or leave it out")
        if self.runs and self.prompts is not None:
            raise ParameterError("run results name what was asked; leave out the prompts")
        if self.baselines and len({*self.baselines}) < len(self.baselines):
            raise ParameterError(f"a baseline is named twice: {', '.join(self.baselines)}")
        if not self.runs and (self.versions != "all" or self.experiments or self.summary):
            raise ParameterError(
                "versions, experiments and summary are for run results; leave them out"
            )
        if self.answers and self.runs:
            raise ParameterError(
                "answers are columns of tables, not of run results; leave them out"
            )
