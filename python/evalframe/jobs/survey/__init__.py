"""Jobs of the survey family: its descriptor, and the fields of its jobs and commands."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias, get_args

import msgspec

from evalframe.core.choices import (
    BaselineKind,
    Context,
    ContextFormat,
    EvalType,
    Reasoning,
    Rules,
    Versions,
    Weighting,
)
from evalframe.core.errors import ParameterError
from evalframe.jobs.family import Command, Demo, Family, Lazy
from evalframe.jobs.flags import Flag
from evalframe.jobs.settings import Columns, TableJob

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
        "engine": "this process, as always with --prompts",
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
    fixed: Annotated[
        bool,
        Flag("Segments are all there are: draws change the items within them only.", checks=False),
    ] = False
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


class Descriptions(msgspec.Struct, kw_only=True):
    """Flags of commands that read a survey alone."""

    survey: tuple[str, ...]
    answers: ANSWERS = ()
    questions_from: Annotated[
        str | None,
        Flag(
            "A table with the texts and options of questions that the survey's table lacks: "
            "question_id, and any of round, question_text, question_order, options.",
            "FILE",
        ),
    ] = None
    segments_from: Annotated[
        str | None,
        Flag(
            "Likewise of segments: segment_id, and any of round, segment_label, segment_value.",
            "FILE",
        ),
    ] = None
    columns: Columns = {}


class Prompts(Descriptions, kw_only=True):
    """Flags of `evalframe survey prompts`."""

    segments: Annotated[tuple[str, ...] | None, Flag("Segments to ask about.", default="all")] = (
        None
    )
    questions: Annotated[
        tuple[str, ...] | None, Flag("Questions to ask, in this order.", default="all")
    ] = None
    batch_size: Annotated[int, Flag("Questions of a prompt, 1 to 5.")] = 1
    context: Annotated[
        tuple[str, ...] | None,
        Flag(
            "Pool of questions whose answers prompts show, in this order.",
            default="all of the survey",
        ),
    ] = None
    context_count: Annotated[
        Literal["all"] | int,
        Flag("How many to show, or all that fit into the token budget: all.", "N"),
    ] = 0
    context_format: Annotated[
        ContextFormat | None,
        Flag("", default="attribute-label without context, distribution-context with it"),
    ] = None
    eval_type: Annotated[
        EvalType,
        Flag("shift shows the answers of all; the others ask for letters of members."),
    ] = "distribution"
    reasoning: Annotated[Reasoning, Flag("cot asks for reasoning before the answer.")] = "standard"
    token_budget: Annotated[
        int, Flag("Tokens of system prompt, prompt and response, four characters each.")
    ] = 4096
    n_individuals: Annotated[
        int, Flag("Members that synthetic-individual asks for.", name="individuals")
    ] = 20
    participants: Annotated[
        str | None,
        Flag(
            "Ask about each participant, with --eval-type individual-answer: a table with a row "
            "for each, respondent_id, and columns called as the attributes of segments and as the "
            "questions.",
            "FILE",
        ),
    ] = None
    n_participants: Annotated[int, Flag("How many of a segment to draw, seeded by its id.")] = 20
    temperature: Annotated[float, Flag("Stored with the prompts.")] = 0.3
    system: Annotated[str | None, Flag("A system prompt instead of the usual one.", "TEXT")] = None
    seed: Annotated[int | None, Flag("Takes the pool in random order.", default="as it stands")] = (
        None
    )
    rules: Annotated[Rules, Flag("Of the token budget, of batches, and of what prompts show.")] = (
        "documented"
    )
    blueprints: Annotated[
        str | None, Flag("Write a table with a row per configuration, too.", "FILE")
    ] = None
    output: Annotated[str, Flag(".parquet or .jsonl", "FILE")]


class Baselines(Descriptions, kw_only=True):
    """Flags of `evalframe survey baselines`."""

    kinds: Annotated[
        tuple[str, ...] | None,
        Flag(
            f"Any of {', '.join(BASELINES)}.",
            default=f"{','.join(USUAL)}, and prior_round with --prior",
        ),
    ] = None
    prior: Annotated[
        tuple[str, ...],
        Flag(
            "The rounds before, for prior_round, oldest first.",
            "SURVEY",
            default="those of SURVEY, in order",
            repeated=True,
        ),
    ] = ()
    permutations: Annotated[
        int | None,
        Flag("Permute segments so often, for an interval of the permutation baseline.", "N"),
    ] = None
    metric: Annotated[MetricName, Flag("As for `evalframe survey`.", "NAME")] = METRIC
    rules: Annotated[Rules, Flag("Likewise.")] = "documented"
    seed: Annotated[int, Flag("Of dirichlet and --permutations.")] = 42
    output: Annotated[
        str | None, Flag("The scores, a row per pair.", "FILE", default="only printed")
    ] = None


FAMILY = Family(
    name="survey",
    subject="Survey distributions",
    row="predicted and actual answers of one segment to one question",
    title="Answers of demographic segments: leaderboards of predictions, prompts, baselines.",
    main="leaderboards",
    items="PREDICTIONS",
    job=SurveyJob,
    metrics=Lazy("evalframe.jobs.survey.outputs:METRICS"),
    compute=Lazy("evalframe.jobs.survey.run:compute"),
    check=Lazy("evalframe.jobs.survey.run:check"),
    printed=Lazy("evalframe.jobs.survey.outputs:printed_leaderboard"),
    roles=Lazy("evalframe.jobs.survey.surveys:ROLES"),
    tables=Lazy("evalframe.jobs.survey.outputs:TABLES"),
    sample=Lazy("evalframe.survey.sample:sample_files"),
    reader="runs",
    validate=Lazy("evalframe.jobs.survey.surveys:validate_surveys"),
    commands={
        "prompts": Command(Prompts, Lazy("evalframe.jobs.survey.commands:run_prompts")),
        "baselines": Command(Baselines, Lazy("evalframe.jobs.survey.commands:run_baselines")),
    },
    drawn="segment_id",
    shown=("overall", "segment_scores", "pairwise", "disparity", "scores"),
    demo=Demo(
        question="Do models know what segments of a population answer?",
        reading="score: how alike the predicted and actual shares of the options are, 1 is the "
        "same, as a mean over segments. parsed: the share of responses with a distribution to "
        "read. Look at which models are above the baselines: uniform knows nothing, "
        "population-marginal knows what all people answered.",
        words=("{survey_responses}", "--truth", "{survey}"),
        output="survey",
    ),
)
