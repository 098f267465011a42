"""Jobs of the rag family: its descriptor, and the fields of its jobs and commands."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec

from evalframe.core.choices import Dropped, FlatAnswers, LabelMode, check_level
from evalframe.core.errors import ParameterError
from evalframe.jobs.family import Command, Demo, Family, Lazy
from evalframe.jobs.flags import Flag
from evalframe.jobs.settings import Columns, TableJob

AnswerText: TypeAlias = Literal["text", "json"]
RateIntervals: TypeAlias = Literal["wilson", "none"]

KEYS = ("model", "dataset", "noise_rate", "passage_num", "correct_passage_rate")
"""Columns to group by, those in the table, if a job does not name others."""

LEVEL = 0.95
"""Confidence level of intervals if a job does not set it."""

Answers: TypeAlias = Annotated[
    AnswerText | None,
    Flag(
        "What answers in text are: one alias, or JSON.",
        default="JSON where all of a text is an answer in JSON, else one alias",
    ),
]
Flat: TypeAlias = Annotated[
    FlatAnswers | None,
    Flag(
        "What a flat list of texts as answer is: parts, all of them required, or aliases, any of "
        "which suffices.",
        default="parts",
    ),
]
LANGUAGE = Flag(
    "A TOML file with the phrases of a language beside English and Chinese: rejections, errors, "
    "and perhaps inability, absence, other_errors, negations, template, system.",
    "FILE",
)


class RagJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="rag"):
    """A job of the rag family; `language` can be a table, with the entries of `Language`."""

    column_flags: ClassVar = {"weight": "Of each row.  [default: 1]"}
    defaults: ClassVar = {
        "cluster": "the question: dataset and id",
        "engine": "this process, as always with --prompts",
        "key": "--by and id",
    }

    instances: Annotated[
        str | None, Flag("Where the answers are, if not in RESPONSES.", "FILE")
    ] = None
    prompts: Annotated[
        str | None,
        Flag(
            "The prompts that RESPONSES answer, from `evalframe rag documents`; RESPONSES then "
            "need no more than id (of the prompt) and response, and model if there are several.",
            "FILE",
        ),
    ] = None
    answers: Answers = None
    flat_answers: Flat = None
    language: Annotated[str | dict[str, Any] | None, LANGUAGE] = None
    by: Annotated[
        tuple[str, ...] | None,
        Flag("Columns to group by.", default=f"{', '.join(KEYS)}, those in the table"),
    ] = None
    mode: Annotated[
        LabelMode | None,
        Flag("How to label.", default="strict, or the labels that the table has"),
    ] = None
    dropped: Annotated[Dropped, Flag("What responses without a label are.")] = "excluded"
    intervals: Annotated[
        RateIntervals | None, Flag("Of the rates, without --bootstrap.", default="wilson")
    ] = None
    level: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level is not None:
            check_level(self.level)
        if self.bootstrap and (self.level is not None or self.intervals is not None):
            raise ParameterError(
                "level and intervals are for rates that are not resampled; name the level of a "
                "bootstrap in it, and leave out intervals"
            )
        for name in ("instances", "prompts", "answers", "flat_answers"):
            if self.rgb and getattr(self, name):
                raise ParameterError(f"prediction files hold their answers; leave out {name}")
        if self.prompts and self.instances:
            raise ParameterError("the answers come with the prompts; leave out the instances")

    @property
    def rgb(self) -> bool:
        """True if the items are prediction files of RGB."""
        return self.reader == "rgb"

    @property
    def shown_level(self) -> float | None:
        """The confidence level of the intervals, if the result has any."""
        if self.bootstrap is not None:
            return self.bootstrap.level
        return None if self.intervals == "none" else self.level or LEVEL


class Documents(msgspec.Struct, kw_only=True):
    """Flags of `evalframe rag documents`."""

    instances: tuple[str, ...]
    noise: Annotated[
        tuple[float, ...],
        Flag("Share of noise among the documents; several give a prompt for each."),
    ] = (0.0,)
    passages: Annotated[int, Flag("Documents in a prompt.")] = 5
    correct: Annotated[
        float, Flag("Share of right documents, in counterfactual data sets only.")
    ] = 0.0
    order: Annotated[
        Literal["original", "seeded"],
        Flag("original takes the documents that RGB takes; seeded draws them by data set and id."),
    ] = "original"
    seed: Annotated[int, Flag("")] = 2333
    answers: Answers = None
    flat_answers: Flat = None
    language: Annotated[str | None, LANGUAGE] = None
    columns: Columns = {}
    output: Annotated[str, Flag(".parquet or .jsonl", "FILE")]


FAMILY = Family(
    name="rag",
    subject="Retrieval-augmented generation",
    row="one response to a question with documents",
    title="Robustness of retrieval-augmented generation: rates of responses, prompts.",
    main="rates",
    items="RESPONSES",
    job=RagJob,
    metrics=Lazy("evalframe.jobs.rag.run:METRICS"),
    compute=Lazy("evalframe.jobs.rag.run:compute"),
    check=Lazy("evalframe.jobs.rag.run:check"),
    printed=Lazy("evalframe.jobs.rag.run:printed_rates"),
    roles=Lazy("evalframe.jobs.rag.inputs:ROLES"),
    tables=Lazy("evalframe.jobs.rag.run:TABLES"),
    sample=Lazy("evalframe.rag.sample.responses:sample_files"),
    reader="rgb",
    commands={"documents": Command(Documents, Lazy("evalframe.jobs.rag.documents:run"))},
    drawn="question",
    shown=("rates", "accuracy_drop"),
    demo=Demo(
        question="Do answers survive documents that do not help?",
        reading="noise_rate: the share of the documents that does not hold the answer. accuracy: "
        "the share of responses with all parts of the answer. rejected: the share that says it "
        "cannot answer. dropped: responses without text. Look at how fast accuracy falls as noise "
        "rises.",
        words=("{rag_responses}",),
        output="rag",
        table=Lazy("evalframe.jobs.rag.run:noise_robustness"),
    ),
)
