"""What a survey says about predictions: which it knows, and the answers that they are held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ContractError
from evalframe.survey.surveys import as_distributions, canonical_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.jobs.survey.surveys import OpenedSurvey
    from evalframe.survey.surveys import Survey

ANSWERS = ("segment_attribute", "sample_size", "n_options", "options", "actual")
"""What predictions get from the survey."""

SEGMENT = "segment_id"

_SPELLED, _ATTRIBUTE, _SIZE, _OWN = ":spelled", ":attribute", ":size", ":own"
_APART = "\x1f"


@dataclass(frozen=True)
class Truth:
    """The distributions of a survey, by the keys that predictions share with it.

    Attributes:
        survey: The survey.
        distributions: One row per question and segment, the segment by its present name.
        rounds: The round, if predictions are told apart by it as the survey is.
        added: The round, if predictions take it from the survey.
    """

    survey: Survey
    distributions: pl.DataFrame
    rounds: list[str]
    added: list[str]

    @classmethod
    def of(cls, opened: OpenedSurvey, present: Sequence[str], rules: Rules) -> Truth:
        """The truth for predictions with these columns.

        The original divides percentages by their sum when it scores, where they are left as they
        stand for its rules: the last digit decides how scores are rounded.

        Raises:
            ContractError: Predictions name no rounds, and those of the survey share questions; or
                a segment stands in it under its old and its present name.
        """
        normalised = rules == "documented"
        found = as_distributions(opened.survey, normalised=normalised)
        spelled = found.with_columns(canonical_id(), pl.col(SEGMENT).alias(_SPELLED))
        told = opened.has_rounds and "round" in present
        rounds = ["round"] if told else []
        added = ["round"] if opened.has_rounds and not told else []
        truth = cls(opened.survey, spelled, rounds, added)
        repeated = spelled.filter(pl.struct(truth.keys).is_duplicated())
        if len(repeated):
            question, segment = repeated.select("question_id", SEGMENT).row(0)
            raise ContractError(
                f"question {question!r} of segment {segment!r} stands in the survey more than once"
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
        """What names a distribution."""
        return [*self.rounds, SEGMENT, "question_id"]

    @property
    def question(self) -> list[str]:
        """What names a question."""
        return [*self.rounds, "question_id"]

    def attached(self, predictions: pl.LazyFrame) -> pl.LazyFrame:
        """The predictions with the answers of the survey, in the spelling of its segments.

        Shares whose options are labelled are put into the order of the survey's. Where a question
        is null, as in prompts about several, the segment alone is known.
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
    """Predicted shares in the order of the survey's options, where both name the options."""
    places = pl.col(_OWN).list.eval(pl.element().arg_sort())
    ranks = pl.col("options").list.eval(pl.element().arg_sort().arg_sort())
    wanted = places.list.gather(ranks, null_on_oob=True)
    moved = pl.col("predicted").list.gather(wanted, null_on_oob=True)
    return pl.when(pl.col(_OWN) != pl.col("options")).then(moved).otherwise("predicted")


def named(parts: Sequence[str]) -> pl.Expr:
    """These keys as one text, in predictions as in the truth; null where one is null."""
    texts = {name: pl.col(name).cast(pl.String) for name in parts}
    if SEGMENT in texts:
        texts[SEGMENT] = canonical_id(texts[SEGMENT])
    return pl.concat_str(*texts.values(), separator=_APART)
