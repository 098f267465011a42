"""Which other answers of a group a prompt shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.prompting.original import SYSTEM_TOKENS
from evalframe.survey.prompting.participants import FORMATS
from evalframe.survey.prompting.texts import AFTER, BEFORE
from evalframe.survey.prompting.tokens import (
    BUDGET,
    RESERVES,
    available_tokens,
    counted,
    fitting,
)

if TYPE_CHECKING:
    from evalframe.survey.prompting.settings import Settings

_SEGMENT = ["round", "segment_id"]
_APART = "\n\n"


def with_context(batches: pl.DataFrame, items: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Prompts with their context: `context_ids`, `context_count` and the whole in `prompt`.

    Args:
        batches: The prompts without context, numbered in `row`.
        items: Answers that may be shown, in order of `place`, with their texts in `item` and
            their tokens in `cost`.
        settings: Options.
    """
    words = settings.words
    shown = _shown(batches, items, settings)
    texts = (
        shown.group_by("row", maintain_order=True)
        .agg(context_ids="question_id", items=pl.col("item").str.join(words.apart))
        .with_columns(context=pl.concat_str(pl.lit(words.context), "items", separator=words.apart))
    )
    none = pl.lit([], pl.List(pl.String))
    joined = batches.join(texts, on="row", how="left", maintain_order="left").with_columns(
        pl.coalesce("context_ids", none)
    )
    parts = [pl.col(BEFORE), pl.col("context"), pl.col(AFTER)]
    return joined.with_columns(
        context_count=pl.col("context_ids").list.len().cast(pl.Int64),
        prompt=pl.concat_str(parts, separator=_APART, ignore_nulls=True),
    )


def _shown(batches: pl.DataFrame, items: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """`row`, `question_id` and `item` of all that is shown."""
    reference = settings.rules == "reference"
    numbered = items
    if settings.context_count is not None:
        # No more than the questions of a prompt are passed over.
        most = settings.context_count + settings.batch_size
        numbered = numbered.filter(pl.int_range(pl.len()).over(_SEGMENT) < most)
    numbered = numbered.with_row_index("number")
    asked = batches.select("row", "round", "segment_id", "question_id").explode("question_id")
    own = asked.join(numbered, on=[*_SEGMENT, "question_id"]).select("row", "number")
    rows = batches.select("row", *_SEGMENT, room=_room(batches, settings))
    candidates = (
        rows.lazy()
        .join(numbered.lazy().select("number", *_SEGMENT, "cost"), on=_SEGMENT)
        .join(own.lazy(), on=["row", "number"], how="anti")
        .sort("row", "number")
    )
    if settings.context_count is not None:
        rank = pl.int_range(pl.len()).over("row")
        candidates = candidates.filter(rank < settings.context_count)
    if reference and settings.context_format in FORMATS and not settings.of_participants:
        candidates = candidates.clear()  # formats that show answers of participants alone
    if not reference or settings.context_format == "distribution-context":
        candidates = candidates.filter(fitting("cost", "room").over("row"))
    chosen = candidates.select("row", "number").collect()
    return chosen.join(
        numbered.select("number", "question_id", "item"), on="number", maintain_order="left"
    )


def _room(batches: pl.DataFrame, settings: Settings) -> pl.Series:
    """The tokens that are left for context in each prompt."""
    system = counted(pl.Series([settings.system]), settings.tokens).item()
    budget, reserve = settings.token_budget, RESERVES[settings.reasoning]
    if settings.rules == "reference":
        core = batches["core"]
        system = system if settings.own_system else SYSTEM_TOKENS
        budget, reserve = budget or BUDGET, RESERVES["standard"]  # to which 0 is no budget at all
    else:
        heading = pl.lit(settings.words.context)
        whole = pl.concat_str(BEFORE, heading, AFTER, separator=_APART)
        core = counted(batches.select(whole).to_series(), settings.tokens)
    tokens = available_tokens(pl.lit(system), pl.lit(core), budget=budget, reserve=reserve)
    return pl.select(tokens).to_series()
