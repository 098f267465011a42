"""A job of the rag family as data: what to read, what to compute, where to write."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError
from evalframe.jobs.settings import TableJob

Mode: TypeAlias = Literal["strict", "lenient"]
Dropped: TypeAlias = Literal["excluded", "wrong"]
AnswerText: TypeAlias = Literal["text", "json"]
FlatAnswers: TypeAlias = Literal["parts", "aliases"]
RateIntervals: TypeAlias = Literal["wilson", "none"]

MODES: tuple[str, ...] = get_args(Mode)
DROPPED: tuple[str, ...] = get_args(Dropped)
ANSWER_TEXTS: tuple[str, ...] = get_args(AnswerText)
FLAT_ANSWERS: tuple[str, ...] = get_args(FlatAnswers)
RATE_INTERVALS: tuple[str, ...] = get_args(RateIntervals)

KEYS = ("model", "dataset", "noise_rate", "passage_num", "correct_passage_rate")
"""What responses are grouped by unless a job says otherwise, as far as the table has it."""

LEVEL = 0.95
"""The confidence level of intervals unless a job names one."""


class RagJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="rag"):
    """One run of the rag family: everything that decides the numbers, and the output.

    Attributes:
        items: Tables of responses, as files, globs or folders; with `rgb` prediction files.
        rgb: Whether the items are prediction files of RGB.
        instances: A table of instances, to take the answers from.
        prompts: The prompts that the responses answer, as `evalframe rag documents` wrote them, to
            take all from but the response and who gave it.
        output: A file for the table of rates, or a folder for all tables.
        by: Columns to group by; by default `KEYS`, as far as the table has them.
        mode: How responses are labelled; by default strictly, unless the table has labels.
        dropped: What becomes of responses without a label.
        answers: What answers in text are: `text`, each the one alias of one group, or `json`; by
            default JSON where a whole value is an answer in JSON, else text.
        flat_answers: What a flat list of texts as answer is: `parts`, all of them required, or
            `aliases`, any of which suffices; by default parts, as in RGB.
        language: The phrases of a language beside English and Chinese: the entries of
            `evalframe.rag.Language` as a table, or the TOML file that holds them.
        intervals: Of rates where nothing is resampled; by default `wilson`.
        level: Confidence level of these intervals, by default 0.95.
        key: Columns that identify a row; by default `by` and `id`.
        bootstrap: Resampling of questions, or none.
        columns: Which columns play which roles, where they are not called so.
        on_invalid: What happens to rows that break the contract.
        hash_inputs: Whether the provenance holds SHA-256 sums of the inputs.
    """

    rgb: bool = False
    instances: str | None = None
    prompts: str | None = None
    by: tuple[str, ...] | None = None
    answers: AnswerText | None = None
    flat_answers: FlatAnswers | None = None
    language: str | dict[str, Any] | None = None
    mode: Mode | None = None
    dropped: Dropped = "excluded"
    intervals: RateIntervals | None = None
    level: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level is not None and not 0 < self.level < 1:
            raise ParameterError(f"level must lie between 0 and 1, got {self.level}; usual is 0.95")
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
    def shown_level(self) -> float | None:
        """The confidence level of the intervals, if the result has any."""
        if self.bootstrap is not None:
            return self.bootstrap.level
        return None if self.intervals == "none" else self.level or LEVEL
