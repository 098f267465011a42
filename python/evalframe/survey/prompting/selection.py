"""Selection for prompts: questions by the votes of models, and seeded draws of participants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError, first_few
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.survey.surveys.respondents import RESPONDENT

if TYPE_CHECKING:
    from evalframe.survey.surveys.tables import Survey

T = TypeVar("T")

_32_BITS = 0xFFFFFFFF

_ID = pl.col("question_id")

N_PARTICIPANTS = 20
"""Default number of participants of a segment."""

FORMATS = ("attribute-label", "raw-survey", "interview", "first-person")
"""Formats of participants; the others show answers of groups."""

OF_SEGMENT = "of_segment"
_SEGMENT = ["round", "segment_id"]
_ANSWER = ":answer"
_ENTRY = ["round", "question_id", RESPONDENT]


@dataclass(frozen=True, slots=True, eq=False)
class Curation:
    """Result of the votes.

    Attributes:
        question_ids: The questions to ask, by mean rank, without the excluded ones.
        exclusions: `question_id`, `votes`: questions that at least half of the models exclude.
        ranking: Every question with `votes` (models that ranked it) and `mean_rank` (from 0; the
            number of questions if none did), by votes, then by rank.
        unknown: Ids in the votes that are not questions; they are ignored.

    Examples:
        >>> from evalframe.survey import curate
        >>> votes = curate(["a", "b"], exclusions=[["a"], []], rankings=[["b"], ["b", "z"]])
        >>> votes.question_ids, votes.n_ranked, votes.unknown
        (['b'], 1, ['z'])
    """

    question_ids: list[str]
    exclusions: pl.DataFrame
    ranking: pl.DataFrame
    unknown: list[str]

    @property
    def n_ranked(self) -> int:
        """Number of questions to ask that a model ranked."""
        return len(self.ranking.filter(_ID.is_in(self.question_ids), pl.col("votes") > 0))


def curate(
    question_ids: Sequence[str],
    *,
    exclusions: Sequence[Sequence[str]],
    rankings: Sequence[Sequence[str]],
) -> Curation:
    """The consensus of several models on the questions to ask, as in dtef-app 52d79c0.

    Ties keep the order of the questions.

    Args:
        question_ids: All questions.
        exclusions: For each model, the questions that it would leave out. One vote of two suffices.
        rankings: For each model, the questions that it would ask, the best first.

    Returns:
        The questions to ask, those that are excluded, and the ranking of all, as `Curation`.

    Raises:
        ParameterError: Not as many exclusions as rankings, or a question that occurs twice.

    Examples:
        >>> from evalframe.survey import curate
        >>> votes = curate(["a", "b", "c"], exclusions=[["a"], []], rankings=[["c", "b"], ["b"]])
        >>> votes.ranking.rows()
        [('b', 2, 0.5), ('c', 1, 0.0), ('a', 0, 3.0)]
    """
    if len(exclusions) != len(rankings):
        raise ParameterError(
            f"there are exclusions of {len(exclusions)} models and rankings of {len(rankings)};"
            " give one of each for each model, be it empty"
        )
    if len({*question_ids}) < len(question_ids):
        raise ParameterError("question_ids has a question twice; name each once")
    questions = pl.DataFrame({"question_id": question_ids}, schema={"question_id": pl.String})
    against, ranked = _votes(exclusions), _votes(rankings)
    votes, mean_rank = pl.len().cast(pl.Int64).alias("votes"), pl.col("rank").mean()
    counts = against.group_by(_ID).agg(votes)
    excluded = questions.join(counts, on="question_id", maintain_order="left")
    excluded = excluded.filter(pl.col("votes") >= (len(rankings) + 1) // 2)
    ranks = ranked.group_by(_ID).agg(votes, mean_rank=mean_rank)
    ranking = questions.join(ranks, on="question_id", how="left", maintain_order="left")
    ranking = ranking.with_columns(
        pl.col("votes").fill_null(0), pl.col("mean_rank").fill_null(float(len(questions)))
    ).sort("votes", "mean_rank", descending=[True, False], maintain_order=True)
    remaining = ranking.join(excluded, on="question_id", how="anti", maintain_order="left")
    mentioned = pl.concat([against["question_id"], ranked["question_id"]])
    return Curation(
        question_ids=remaining.sort("mean_rank", maintain_order=True)["question_id"].to_list(),
        exclusions=excluded,
        ranking=ranking,
        unknown=sorted({*mentioned} - {*question_ids}),
    )


def _votes(lists: Sequence[Sequence[str]]) -> pl.DataFrame:
    """`model`, `question_id` and `rank`; of a question that a model names twice the first."""
    rows = [
        (model, name, rank) for model, names in enumerate(lists) for rank, name in enumerate(names)
    ]
    schema = {"model": pl.Int64, "question_id": pl.String, "rank": pl.Int64}
    votes = pl.DataFrame(rows, schema=schema, orient="row")
    return votes.unique(["model", "question_id"], keep="first", maintain_order=True)


def seeded_sample(items: Sequence[T], take: int, seed: str) -> list[T]:
    """A sample of items without replacement; all of them in their order if all are taken.

    As in dtef-app 52d79c0 it is the beginning of a Fisher-Yates shuffle by the generator
    mulberry32, whose state is the hash `31 h + c` of the UTF-16 code units of the seed.

    Args:
        items: The items to draw from.
        take: Number of items.
        seed: Any text, such as the id of a segment.

    Returns:
        `take` of the items in the order of the draws; all in their own order if there are no more.

    Examples:
        >>> import evalframe as ef
        >>> ef.survey.seeded_sample(range(10), 3, "ageGroup:18-25")
        [9, 0, 5]
    """
    sample = list(items)
    if take >= len(sample):
        return sample
    for index, draw in zip(range(take), _draws(_hash(seed)), strict=False):
        other = index + int(draw * (len(sample) - index))
        sample[index], sample[other] = sample[other], sample[index]
    return sample[:take]


def shuffled(items: Sequence[T], seed: str) -> list[T]:
    """All items in the random order of `seeded_sample`."""
    if not items:
        return []
    most = seeded_sample(items, len(items) - 1, seed)
    used = seeded_sample(range(len(items)), len(items) - 1, seed)
    return [*most, *(item for index, item in enumerate(items) if index not in {*used})]


def _hash(text: str) -> int:
    units = text.encode("utf-16-le", "surrogatepass")
    code = 0
    for low, high in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & _32_BITS
    return code


def _draws(state: int) -> Iterator[float]:
    """Numbers of mulberry32, from 0 to below 1."""
    while True:
        state = (state + 0x6D2B79F5) & _32_BITS
        mixed = (state ^ state >> 15) * (state | 1) & _32_BITS
        mixed ^= (mixed + (mixed ^ mixed >> 7) * (mixed | 61)) & _32_BITS
        yield (mixed ^ mixed >> 14) / 2**32


@dataclass(frozen=True, slots=True, eq=False)
class Participants:
    """Participants of a survey with their attributes and answers."""

    survey: Survey
    table: pl.DataFrame
    attributes: Sequence[str]
    questions: Sequence[str]
    answers: pl.DataFrame
    """One row per answer and option of its question; `is_option` is false for other answers."""

    @classmethod
    def of(cls, survey: Survey, participants: Frame) -> Participants:
        """Read the table of participants, see `prompts`."""
        table = lazy(participants).collect()
        question_ids = survey.questions["question_id"].unique(maintain_order=True).to_list()
        names = survey.segment_attributes["attribute"].unique(maintain_order=True).to_list()
        questions = [name for name in question_ids if name in table.columns]
        attributes = [name for name in names if name in table.columns]
        if missing := {RESPONDENT, *([] if attributes else names[:1])} - {*table.columns}:
            raise MissingColumnsError.of("participants", missing, table.columns)
        if not questions:
            raise MissingColumnsError(
                "participants need a column of answers for each question, such as"
                f" {question_ids[0]!r}; the table has {table.columns}"
            )
        table = table.with_columns(pl.col(RESPONDENT, *questions, *attributes).cast(pl.String))
        if len(repeated := table.filter(pl.col(RESPONDENT).is_duplicated())):
            raise ContractError(
                f"{RESPONDENT} repeats: {first_few(repeated[RESPONDENT])}; keep one row each"
            )
        return cls(survey, table, attributes, questions, _answers(survey, table, questions))

    def check_answers(self) -> None:
        """Raise ContractError if an answer is not an option of its question."""
        wrong = self.answers.filter(~pl.col("is_option")).unique(_ENTRY, maintain_order=True)
        if len(wrong):
            question, answer = wrong.select("question_id", _ANSWER).row(0)
            raise ContractError(
                f"{len(wrong):,} answers of participants are no option, the first {answer!r} to"
                f" {question!r}; write them as the labels of the options, or empty these cells"
            )

    def as_segments(self, segments: Sequence[str] | None, n: int) -> tuple[Survey, pl.DataFrame]:
        """A survey whose segments are participants, and the segment each was drawn for."""
        # A participant is in a segment if all attributes are the same, in any case, and is drawn by
        # `seeded_sample` with the id of the segment as the seed.
        survey, table = self.survey, self.table
        answers = self.answers.filter("is_option")
        answered = table.filter(pl.col(RESPONDENT).is_in(answers[RESPONDENT].unique().implode()))
        sample = _drawn(survey, answered, self.attributes, segments, n)
        if sample.is_empty():
            raise ParameterError(
                f"no participant has the attributes of a segment ({', '.join(self.attributes)});"
                " write their values as in the survey"
            )
        of_segment = sample.with_columns(
            pl.format("{}-{}", "segment_id", RESPONDENT).alias("segment_id"),
            pl.col("segment_id").alias(OF_SEGMENT),
        )
        values = table.unpivot(
            self.attributes, index=RESPONDENT, variable_name="attribute", value_name="value"
        ).drop_nulls("value")
        described = of_segment.join(values, on=RESPONDENT, maintain_order="left")
        category = survey.segments.select("round", "segment_attribute", of_segment="segment_id")
        rows = of_segment.join(
            category, on=["round", OF_SEGMENT], maintain_order="left"
        ).with_columns(
            segment_label=RESPONDENT,
            segment_value=pl.col(RESPONDENT),
            sample_size=pl.lit(1, pl.Int64),
            n_questions=pl.lit(len(self.questions), pl.Int64),
        )
        responses = rows.join(answers, on=["round", RESPONDENT], maintain_order="left")
        return (
            replace(
                survey,
                segments=rows.select(survey.segments.columns),
                segment_attributes=described.select(survey.segment_attributes.columns),
                responses=responses.select(survey.responses.columns),
            ),
            of_segment.select(*_SEGMENT, OF_SEGMENT, RESPONDENT),
        )


def _answers(survey: Survey, table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The answers of each participant as distributions: all of it on one option."""
    label = pl.col("option_label").str.strip_chars().str.to_lowercase()
    options = survey.responses.unique(
        ["round", "question_id", "option_index"], maintain_order=True
    ).select("round", "question_id", "option_index", "option_label", key=label)
    answer = pl.col(_ANSWER).str.strip_chars().str.to_lowercase()
    answers = table.unpivot(
        columns, index=RESPONDENT, variable_name="question_id", value_name=_ANSWER
    ).filter(pl.col(_ANSWER).str.strip_chars() != "")
    pairs = answers.with_columns(answer).join(options, on="question_id", maintain_order="left")
    matches = pl.col("key") == pl.col(_ANSWER)
    share = matches.cast(pl.Float64)
    return pairs.with_columns(
        is_option=matches.any().over(_ENTRY), share=share, percent=share * 100
    )


def _drawn(
    survey: Survey,
    table: pl.DataFrame,
    attributes: Sequence[str],
    segments: Sequence[str] | None,
    n: int,
) -> pl.DataFrame:
    """`round`, `segment_id` and `respondent_id` of the drawn participants, in their order."""
    required = survey.segment_attributes.with_columns(
        pl.col("value").str.to_lowercase(), n_required=pl.len().over(_SEGMENT)
    )
    if segments is not None:
        required = required.filter(pl.col("segment_id").is_in([*segments]))
    index = pl.int_range(pl.len()).alias("place")
    values = table.select(
        index, RESPONDENT, *(pl.col(name).str.to_lowercase() for name in attributes)
    )
    held = values.unpivot(
        attributes, index=["place", RESPONDENT], variable_name="attribute", value_name="value"
    ).drop_nulls("value")
    members = (
        required.join(held, on=["attribute", "value"])
        .group_by(*_SEGMENT, "place", RESPONDENT)
        .agg(pl.col("n_required").first(), n_matching=pl.len())
        .filter(pl.col("n_matching") == pl.col("n_required"))
        .sort("place")
        .group_by(_SEGMENT)
        .agg(RESPONDENT)
    )
    ordered = survey.segments.select(_SEGMENT).join(members, on=_SEGMENT, maintain_order="left")
    # The generator works on sequences, so segments are drawn one after the other.
    sampled = [
        seeded_sample(ids, n, segment)
        for segment, ids in ordered.select("segment_id", RESPONDENT).iter_rows()
    ]
    sample = ordered.with_columns(pl.Series(RESPONDENT, sampled, pl.List(pl.String())))
    return sample.explode(RESPONDENT, empty_as_null=False)
