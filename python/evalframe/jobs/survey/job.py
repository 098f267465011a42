"""A job of the survey family."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias, get_args

from evalframe.core.choices import BaselineKind, Context, Rules, Versions, Weighting
from evalframe.core.errors import ParameterError
from evalframe.jobs.flags import Flag
from evalframe.jobs.settings import TableJob

Similarity: TypeAlias = Literal[
    "jensen_shannon_similarity",
    "cosine_similarity",
    "earth_mover_similarity",
    "mode_agreement",
    "per_option_accuracy",
]
FormerName: TypeAlias = Literal["js-divergence", "cosine", "earth-mover"]
MetricName: TypeAlias = Literal[Similarity, FormerName]

METRIC: MetricName = "jensen_shannon_similarity"
"""How answers are scored if neither the job nor the table says it."""

METRIC_NAMES: tuple[str, ...] = get_args(MetricName)
BASELINES: tuple[BaselineKind, ...] = get_args(BaselineKind)
USUAL: tuple[BaselineKind, ...] = ("uniform", "marginal", "cross_segment")
"""Baselines beside the models if a job does not name others."""

KEYS = ("model", "round", "segment_id", "question_id", "context_count")
"""Columns that identify an answer, with `by` and `RUNS`, if a job does not name others."""

RUNS = ("temperature", "run_id")
"""Further columns that identify a run, those in the table."""

ANSWERS: TypeAlias = Annotated[
    tuple[str, ...],
    Flag(
        "Columns that hold answers: with question_id one for each option, in order; without it one "
        "for each question, in a table of respondents (respondent_id and weight if there are; "
        "segments are segment_id, or the values of all other columns)."
    ),
]


class SurveyJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="survey"):
    """A job of the survey family."""

    defaults: ClassVar = {
        "cluster": "segment_id",
        "key": "model, round, segment_id, question_id, context_count, temperature, run_id and "
        "--by, those in the table",
    }

    truth: Annotated[
        str | None,
        Flag(
            "The survey: a file, glob or folder of tables or of the original's JSON documents.",
            "SURVEY",
            default="the column 'actual' of the predictions",
        ),
    ] = None
    answers: ANSWERS = ()
    prompts: Annotated[
        str | None,
        Flag(
            "The prompts that PREDICTIONS answer, from `evalframe survey prompts`; PREDICTIONS "
            "then need no more than id (of the prompt) and response, and model if there are "
            "several.",
            "FILE",
        ),
    ] = None
    versions: Annotated[Versions, Flag("Of run results, all or the latest of each config.")] = "all"
    experiments: Annotated[bool, Flag("Count run results of experiments, too.")] = False
    metric: Annotated[
        MetricName | None,
        Flag(
            f"{', '.join(get_args(Similarity))}; or {', '.join(get_args(FormerName))}.",
            "NAME",
            default=f"the scores that the table has, else {METRIC}",
        ),
    ] = None
    rules: Annotated[
        Rules,
        Flag("Of reading, scoring and ranking: what is sound, or what the original computes."),
    ] = "documented"
    weighting: Annotated[
        Weighting,
        Flag("What counts alike, or by its respondents, overall and in categories."),
    ] = "segment"
    context: Annotated[
        Context,
        Flag(
            "Which context_count counts where segments were asked with several: "
            "highest, lowest, all, or a number. --by context_count has a leaderboard "
            "for each.",
            "AMOUNT",
        ),
    ] = "highest"
    by: Annotated[
        tuple[str, ...],
        Flag(
            "Columns to group by; each group has leaderboards of its own. Results have columns "
            "like round themselves, so that a group by round is called by_round."
        ),
    ] = ()
    baselines: Annotated[
        tuple[BaselineKind, ...] | None,
        Flag(
            f"Scored beside the models: {', '.join(BASELINES)}; '' for none.",
            default=f"{','.join(USUAL)}, if there is a survey",
        ),
    ] = None
    summary: Annotated[
        str | None,
        Flag("Write the summary of run results as the original.", "OUT.json", checks=False),
    ] = None

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

    @property
    def runs(self) -> bool:
        """True if the items are run results of the original."""
        return self.reader == "runs"
