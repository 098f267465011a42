"""Predictions from earlier rounds: what the same segment answered to the same question before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.tables import lazy
from evalframe.survey.surveys.names import canonical_id
from evalframe.survey.surveys.tables import Survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame
    from evalframe.survey.surveys.tables import AnySurvey

_QUESTION = ("round", "question_id")


def prior_answers(
    distributions: pl.DataFrame,
    survey: AnySurvey,
    questions: Frame | None,
    rounds: Sequence[str] | None,
) -> pl.DataFrame:
    """For each distribution the one of its segment and question in the nearest round before.

    Args:
        distributions: One row per question and segment.
        survey: Where they come from; a `Survey` knows its questions.
        questions: `round`, `question_id`, `question_text` and perhaps `options`: questions of the
            same text and options are the same. Without it, those of the same id are.
        rounds: The rounds, oldest first; those that are not named have no round before and are
            none. By default all, in the order of their first rows.

    Returns:
        `prior_round` and `predicted`, null where there is none, in the order of the rows.

    Raises:
        MissingColumnsError: The table of questions lacks a column.
        ParameterError: A round that the survey does not have, or one that is named twice.
    """
    present = distributions["round"].unique(maintain_order=True).to_list()
    named = list(present if rounds is None else rounds)
    unknown = [name for name in named if name not in present]
    if unknown or len(set(named)) < len(named):
        raise ParameterError(
            f"rounds must name rounds of the survey once each, oldest first, got {named}; it has "
            f"{present}"
        )
    if questions is None and isinstance(survey, Survey):
        questions = survey.questions
    age = pl.col("round").replace_strict(named, range(len(named)), default=None)
    keyed = distributions.select(
        *_QUESTION,
        pl.col("actual"),
        pl.col("n_options"),
        segment=canonical_id(),
        age=age.cast(pl.Int64),
    )
    if questions is None:
        keyed = keyed.with_columns(item=pl.col("question_id"))
    else:
        items = _items(questions)
        keyed = keyed.join(items, on=_QUESTION, how="left", maintain_order="left")
    # A question that stands in a round twice has its first answers as those of the round.
    same = ["item", "n_options", "segment"]
    known = keyed.filter(pl.col("age").is_not_null() & pl.col("item").is_not_null())
    answers = known.unique([*same, "age"], keep="first", maintain_order=True).sort("age")
    before = answers.select(
        *same,
        "age",
        prior_round=pl.col("round").shift(1).over(same),
        predicted=pl.col("actual").shift(1).over(same),
    )
    found = keyed.join(before, on=[*same, "age"], how="left", maintain_order="left")
    return found.select("prior_round", "predicted")


def _items(questions: Frame) -> pl.DataFrame:
    """Text and options of each question in one string."""
    table = lazy(questions)
    present = table.collect_schema()
    if missing := {*_QUESTION, "question_text"} - {*present}:
        raise MissingColumnsError.of("questions", missing, present)
    parts = [pl.col("question_text").str.strip_chars()]
    if "options" in present:
        parts.append(pl.col("options").list.join("\n").fill_null(""))
    item = pl.concat_str(parts, separator="\n").alias("item")
    return table.select(*_QUESTION, item).unique(_QUESTION, keep="first").collect()
