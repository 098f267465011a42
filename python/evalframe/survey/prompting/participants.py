"""Prompts about single participants: a survey with a segment for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
    first_few,
)
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.survey.prompting.selection import seeded_sample
from evalframe.survey.surveys.respondents import RESPONDENT

if TYPE_CHECKING:
    from evalframe.survey.surveys.tables import Survey


N_PARTICIPANTS = 20
"""Default number of participants of a segment."""

FORMATS = ("attribute-label", "raw-survey", "interview", "first-person")
"""Formats of participants; the others show answers of groups."""

OF_SEGMENT = "of_segment"

_SEGMENT = ["round", "segment_id"]
_ANSWER = ":answer"
_ENTRY = ["round", "question_id", RESPONDENT]


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
        categories = survey.segments.select("round", "segment_attribute", segment_id_="segment_id")
        rows = of_segment.join(
            categories,
            left_on=["round", OF_SEGMENT],
            right_on=["round", "segment_id_"],
            maintain_order="left",
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
        pl.col("value").str.to_lowercase(), needed=pl.len().over(_SEGMENT)
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
        .agg(pl.col("needed").first(), found=pl.len())
        .filter(pl.col("found") == pl.col("needed"))
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
