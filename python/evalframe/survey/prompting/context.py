"""Context: the other answers of a group that a prompt shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.prompting.texts import AFTER, BEFORE
from evalframe.survey.prompting.tokens import (
    RESERVES,
    available_tokens,
    counted,
    fitting,
)

if TYPE_CHECKING:
    from evalframe.survey.prompting.settings import Settings

_SEGMENT = ["round", "segment_id"]
_APART = "\n\n"


def with_context(
    batches: pl.DataFrame, items: pl.DataFrame, room: pl.Series | None, settings: Settings
) -> pl.DataFrame:
    """Prompts with `context_ids`, `context_count` and the complete text in `prompt`."""
    words = settings.words
    chosen = _shown(batches, items, room, settings)
    contexts = (
        chosen.group_by("row", maintain_order=True)
        .agg(context_ids="question_id", items=pl.col("item").str.join(words.apart))
        .with_columns(context=pl.concat_str(pl.lit(words.context), "items", separator=words.apart))
    )
    empty = pl.lit([], pl.List(pl.String))
    joined = batches.join(contexts, on="row", how="left", maintain_order="left").with_columns(
        pl.coalesce("context_ids", empty)
    )
    strings = [pl.col(BEFORE), pl.col("context"), pl.col(AFTER)]
    return joined.with_columns(
        context_count=pl.col("context_ids").list.len().cast(pl.Int64),
        prompt=pl.concat_str(strings, separator=_APART, ignore_nulls=True),
    )


def room_of(batches: pl.DataFrame, settings: Settings) -> pl.Series:
    """The tokens that are left for context in each prompt."""
    heading = pl.lit(settings.words.context)
    core = pl.concat_str(BEFORE, heading, AFTER, separator=_APART)
    core_tokens = counted(batches.select(core).to_series(), settings.tokens)
    tokens = available_tokens(
        pl.lit(system_tokens(settings)),
        pl.lit(core_tokens),
        budget=settings.token_budget,
        reserve=RESERVES[settings.reasoning],
    )
    return pl.select(tokens).to_series()


def system_tokens(settings: Settings) -> int:
    """The tokens of the system prompt."""
    tokens: int = counted(pl.Series([settings.system]), settings.tokens).item()
    return tokens


def _shown(
    batches: pl.DataFrame, items: pl.DataFrame, room: pl.Series | None, settings: Settings
) -> pl.DataFrame:
    """`row`, `question_id` and `item` of the context, as many as fit into the room."""
    numbered = items
    if settings.context_count is not None:
        # At most the questions of a prompt are passed over.
        most = settings.context_count + settings.batch_size
        numbered = numbered.filter(pl.int_range(pl.len()).over(_SEGMENT) < most)
    numbered = numbered.with_row_index("number")
    questions = batches.select("row", "round", "segment_id", "question_id").explode("question_id")
    same = questions.join(numbered, on=[*_SEGMENT, "question_id"]).select("row", "number")
    rows = batches.select("row", *_SEGMENT, room=pl.lit(room))
    candidates = (
        rows.lazy()
        .join(numbered.lazy().select("number", *_SEGMENT, "cost"), on=_SEGMENT)
        .join(same.lazy(), on=["row", "number"], how="anti")
        .sort("row", "number")
    )
    if settings.context_count is not None:
        rank = pl.int_range(pl.len()).over("row")
        candidates = candidates.filter(rank < settings.context_count)
    if room is not None:
        candidates = candidates.filter(fitting("cost", "room").over("row"))
    chosen = candidates.select("row", "number").collect()
    return chosen.join(
        numbered.select("number", "question_id", "item"), on="number", maintain_order="left"
    )
