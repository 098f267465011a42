"""Prompts about single participants: who is asked about, as a survey with a segment for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
    first_few,
)
from evalframe.core.tables import lazy
from evalframe.survey.prompting.sampling import seeded_sample
from evalframe.survey.surveys.respondents import RESPONDENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.survey.surveys.tables import Survey

N_PARTICIPANTS = 20
"""How many participants of a segment are asked about, if nothing else is said."""

FORMATS = ("attribute-label", "raw-survey", "interview", "first-person")
"""How participants may be shown; the other formats show what groups answered."""

OF_SEGMENT = "of_segment"

_SEGMENT = ["round", "segment_id"]
_ANSWER = ":answer"


def of_participants(
    survey: Survey,
    participants: Frame,
    *,
    segments: Sequence[str] | None,
    n: int,
    rules: Rules,
) -> tuple[Survey, pl.DataFrame]:
    """A survey whose segments are participants, and which segment each of them was drawn for.

    A participant is of a segment who has all of its attributes, in any case, and is drawn for it by
    `seeded_sample`, with its id as the seed.

    Args:
        survey: The survey that they took part in.
        participants: Their attributes and answers, see `prompts`.
        segments: Ids of the segments to draw from, all by default.
        n: The most to draw from a segment.
        rules: By the original's, answers that are no option are left out.

    Returns:
        The survey, and `round`, `segment_id`, `of_segment` and `respondent_id` of its segments.

    Raises:
        ContractError: A participant repeats, or an answer is no option.
        MissingColumnsError: Participants have no ids, attributes or answers.
        ParameterError: No participant is of any segment.
    """
    table = lazy(participants).collect()
    asked = survey.questions["question_id"].unique(maintain_order=True).to_list()
    known = survey.segment_attributes["attribute"].unique(maintain_order=True).to_list()
    columns = [name for name in asked if name in table.columns]
    attributes = [name for name in known if name in table.columns]
    if missing := {RESPONDENT, *([] if attributes else known[:1])} - {*table.columns}:
        raise MissingColumnsError.of("participants", missing, table.columns)
    if not columns:
        raise MissingColumnsError(
            f"participants need a column of answers for each question, such as {asked[0]!r}; the"
            f" table has {table.columns}"
        )
    table = table.with_columns(pl.col(RESPONDENT, *columns, *attributes).cast(pl.String))
    if len(repeated := table.filter(pl.col(RESPONDENT).is_duplicated())):
        raise ContractError(
            f"{RESPONDENT} repeats: {first_few(repeated[RESPONDENT])}; keep one row each"
        )
    answers = _answers(survey, table, columns, rules)
    answered = table.filter(pl.col(RESPONDENT).is_in(answers[RESPONDENT].unique().implode()))
    drawn = _drawn(survey, answered, attributes, segments, n)
    if drawn.is_empty():
        raise ParameterError(
            f"no participant has the attributes of a segment ({', '.join(attributes)}); write their"
            " values as in the survey"
        )
    of_segment = drawn.with_columns(
        pl.format("{}-{}", "segment_id", RESPONDENT).alias("segment_id"),
        pl.col("segment_id").alias(OF_SEGMENT),
    )
    own = table.unpivot(
        attributes, index=RESPONDENT, variable_name="attribute", value_name="value"
    ).drop_nulls("value")
    described = of_segment.join(own, on=RESPONDENT, maintain_order="left")
    told = survey.segments.select("round", "segment_attribute", segment_id_="segment_id")
    made = of_segment.join(
        told,
        left_on=["round", OF_SEGMENT],
        right_on=["round", "segment_id_"],
        maintain_order="left",
    ).with_columns(
        segment_label=RESPONDENT,
        segment_value=pl.col(RESPONDENT),
        sample_size=pl.lit(1, pl.Int64),
        n_questions=pl.lit(len(columns), pl.Int64),
    )
    responses = made.join(answers, on=["round", RESPONDENT], maintain_order="left")
    return (
        replace(
            survey,
            segments=made.select(survey.segments.columns),
            segment_attributes=described.select(survey.segment_attributes.columns),
            responses=responses.select(survey.responses.columns),
        ),
        of_segment.select(*_SEGMENT, OF_SEGMENT, RESPONDENT),
    )


def _answers(
    survey: Survey, table: pl.DataFrame, columns: Sequence[str], rules: Rules
) -> pl.DataFrame:
    """The answers of each participant as a distribution: all of it on one option."""
    label = pl.col("option_label").str.strip_chars().str.to_lowercase()
    options = survey.responses.unique(
        ["round", "question_id", "option_index"], maintain_order=True
    ).select("round", "question_id", "option_index", "option_label", key=label)
    answer = pl.col(_ANSWER).str.strip_chars().str.to_lowercase()
    said = table.unpivot(
        columns, index=RESPONDENT, variable_name="question_id", value_name=_ANSWER
    ).filter(pl.col(_ANSWER).str.strip_chars() != "")
    found = said.with_columns(answer).join(options, on="question_id", maintain_order="left")
    matched = pl.col("key") == pl.col(_ANSWER)
    entry = ["round", "question_id", RESPONDENT]
    is_option = matched.any().over(entry)
    wrong = found.filter(~is_option).unique(entry, maintain_order=True)
    if len(wrong) and rules == "documented":
        question, text = wrong.select("question_id", _ANSWER).row(0)
        raise ContractError(
            f"{len(wrong):,} answers of participants are no option, the first {text!r} to"
            f" {question!r}; write them as the labels of the options, or empty these cells"
        )
    share = matched.cast(pl.Float64)
    return found.filter(is_option).with_columns(share=share, percent=share * 100)


def _drawn(
    survey: Survey,
    table: pl.DataFrame,
    attributes: Sequence[str],
    segments: Sequence[str] | None,
    n: int,
) -> pl.DataFrame:
    """`round`, `segment_id` and `respondent_id` of those who are asked about, in their order."""
    wanted = survey.segment_attributes.with_columns(
        pl.col("value").str.to_lowercase(), needed=pl.len().over(_SEGMENT)
    )
    if segments is not None:
        wanted = wanted.filter(pl.col("segment_id").is_in([*segments]))
    place = pl.int_range(pl.len()).alias("place")
    own = table.select(place, RESPONDENT, *(pl.col(name).str.to_lowercase() for name in attributes))
    held = own.unpivot(
        attributes, index=["place", RESPONDENT], variable_name="attribute", value_name="value"
    ).drop_nulls("value")
    members = (
        wanted.join(held, on=["attribute", "value"])
        .group_by(*_SEGMENT, "place", RESPONDENT)
        .agg(pl.col("needed").first(), found=pl.len())
        .filter(pl.col("found") == pl.col("needed"))
        .sort("place")
        .group_by(_SEGMENT)
        .agg(RESPONDENT)
    )
    ordered = survey.segments.select(_SEGMENT).join(members, on=_SEGMENT, maintain_order="left")
    # The generator is one of sequences, so that segments are drawn one after the other.
    sampled = [
        seeded_sample(ids, n, segment)
        for segment, ids in ordered.select("segment_id", RESPONDENT).iter_rows()
    ]
    drawn = ordered.with_columns(pl.Series(RESPONDENT, sampled, pl.List(pl.String())))
    return drawn.explode(RESPONDENT, empty_as_null=False)
