"""The answers of a survey that predictions are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ContractError
from evalframe.survey.surveys.segments import canonical_id
from evalframe.survey.surveys.tables import Survey, as_distributions

if TYPE_CHECKING:
    from evalframe.jobs.survey.surveys import OpenedSurvey


ANSWERS = ("segment_attribute", "sample_size", "n_options", "options", "actual")
"""Columns that predictions get from the survey."""

SEGMENT = "segment_id"

_SPELLED, _ATTRIBUTE, _SIZE, _OWN = ":spelled", ":attribute", ":size", ":own"
_APART = "\x1f"


@dataclass(frozen=True)
class Truth:
    """The distributions of a survey, by the keys that predictions share with it.

    Attributes:
        survey: The survey.
        distributions: One row per question and segment, the segment by its present name.
        rounds: The round, if predictions and survey have it.
        added: The round, if only the survey has it.
    """

    survey: Survey
    distributions: pl.DataFrame
    rounds: list[str]
    added: list[str]

    @classmethod
    def of(cls, opened: OpenedSurvey, columns: Sequence[str], *, normalised: bool) -> Truth:
        """The truth for predictions with these columns.

        Percentages that are not `normalised` are for dtef-app, which divides by their sum when it
        scores: the last digit decides how scores are rounded. A question that a segment answers
        twice, without rounds or under an old and a new name of the segment, is an error.
        """
        table = as_distributions(opened.survey, normalised=normalised)
        spelled = table.with_columns(canonical_id(), pl.col(SEGMENT).alias(_SPELLED))
        has_rounds = opened.has_rounds and "round" in columns
        rounds = ["round"] if has_rounds else []
        added = ["round"] if opened.has_rounds and not has_rounds else []
        truth = cls(opened.survey, spelled, rounds, added)
        repeated = spelled.filter(pl.struct(truth.keys).is_duplicated())
        if len(repeated):
            question, segment = repeated.select("question_id", SEGMENT).row(0)
            raise ContractError(
                f"question {question!r} of segment {segment!r} is in the survey more than once"
                + (
                    f", in rounds {', '.join(repeated['round'].unique().sort())}; add a column "
                    "'round' to the predictions"
                    if added
                    else "; keep one of them"
                )
            )
        return truth

    @property
    def keys(self) -> list[str]:
        """Columns that name a distribution."""
        return [*self.rounds, SEGMENT, "question_id"]

    @property
    def question(self) -> list[str]:
        """Columns that name a question."""
        return [*self.rounds, "question_id"]

    def attached(self, predictions: pl.LazyFrame) -> pl.LazyFrame:
        """Predictions with the answers of the survey and its spelling of segments.

        Shares with labelled options are sorted like the survey's. If the question is null, as for
        prompts about several, only columns of the segment are added.
        """
        labelled = {"options", "predicted"} <= {*predictions.collect_schema()}
        own = predictions.rename({"options": _OWN}) if labelled else predictions
        rows = own.drop(ANSWERS, strict=False).with_columns(
            *(pl.col(name).cast(pl.String) for name in (*self.rounds, "question_id")),
            canonical_id(pl.col(SEGMENT).cast(pl.String)),
        )
        table = self.distributions.lazy()
        segment = [*self.rounds, SEGMENT]
        groups = table.group_by(segment).agg(
            pl.col(_SPELLED).first(),
            pl.col("segment_attribute").first().alias(_ATTRIBUTE),
            pl.col("sample_size").max().alias(_SIZE),
        )
        answers = table.select(*self.keys, *self.added, *ANSWERS)
        joined = rows.join(answers, on=self.keys, how="left", maintain_order="left").join(
            groups, on=segment, how="left", maintain_order="left"
        )
        if labelled:
            joined = joined.with_columns(predicted=_in_order()).drop(_OWN)
        return joined.with_columns(
            pl.coalesce(_SPELLED, SEGMENT).alias(SEGMENT),
            pl.coalesce("segment_attribute", _ATTRIBUTE),
            pl.coalesce("sample_size", _SIZE),
        ).drop(_SPELLED, _ATTRIBUTE, _SIZE)


def _in_order() -> pl.Expr:
    """Predicted shares in the order of the survey's options, if both have labels.

    Sorting both lists of labels gives the position of each option of the survey among the own ones.
    """
    places = pl.col(_OWN).list.eval(pl.element().arg_sort())
    ranks = pl.col("options").list.eval(pl.element().arg_sort().arg_sort())
    wanted = places.list.gather(ranks, null_on_oob=True)
    moved = pl.col("predicted").list.gather(wanted, null_on_oob=True)
    return pl.when(pl.col(_OWN) != pl.col("options")).then(moved).otherwise("predicted")


def named(parts: Sequence[str]) -> pl.Expr:
    """These keys as one string, in predictions as in the truth; null if one is null."""
    keys = {name: pl.col(name).cast(pl.String) for name in parts}
    if SEGMENT in keys:
        keys[SEGMENT] = canonical_id(keys[SEGMENT])
    return pl.concat_str(*keys.values(), separator=_APART)
