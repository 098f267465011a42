"""Lenient labels: the answer check and the phrases of a response together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments
from evalframe.rag.fake_answers import LOWER_CASE, Spelling, fake_answer_hits
from evalframe.rag.lenient.aliases import ANSWER_RULES, Leniency, fired, possible
from evalframe.rag.lenient.normalising import as_tokens, plain, plain_of
from evalframe.rag.lenient.phrases import ERROR, REJECTION, phrases_said
from evalframe.rag.matching import UNKNOWN, Groups, changed, expanded, holds, labels_of
from evalframe.rag.strict import holds_any, without_spaces

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints
    from evalframe.rag.languages import Phrases
    from evalframe.rag.matching import Codes


REASONS = {
    "answer_rule": pl.List(pl.String()),
    "rejection_tier": pl.Int8(),
    "rejection_rule": pl.String(),
    "error_tier": pl.Int8(),
    "error_rule": pl.String(),
}
"""Additional columns of lenient labels."""

_BLOCK = 16_384  # responses at once: their texts are in memory in several forms


def lenient_labels(rows: pl.Series, phrases: Phrases, leniency: Leniency) -> pl.Series:
    """Label, factlabel, their reasons and, with fake answers, their hits.

    `rows` are structs of dataset, answers, response and perhaps fake_answers.
    """
    starts = range(0, max(len(rows), 1), _BLOCK)
    blocks = (rows[start : start + _BLOCK] for start in starts)
    return pl.concat([_labelled(block, phrases, leniency) for block in blocks])


def _labelled(rows: pl.Series, phrases: Phrases, leniency: Leniency) -> pl.Series:
    import numpy as np

    frame = rows.struct.unnest()
    frame = frame.with_columns(strict=without_spaces(frame))
    readable = frame["strict"].is_not_null().to_numpy()
    columns = _decided(frame.filter(readable), phrases, leniency)
    if "fake_answers" in frame.columns:
        columns = columns.with_columns(fake_answer_hit=_fake_hits(frame.filter(readable), leniency))
    index = pl.Series(np.cumsum(readable) - 1).set(pl.Series(~readable), None)
    return columns.select(pl.all().gather(index)).to_struct("label")


def _decided(frame: pl.DataFrame, phrases: Phrases, leniency: Leniency) -> pl.DataFrame:
    """The columns of responses that are not null."""
    texts = _texts(frame)
    said = phrases_said(texts["plain"], texts["strict"], texts["dataset"], phrases)
    strictly = texts.select(holds_any(phrases.rejections[0], "strict")).to_series()
    is_searched = (~strictly & texts["answers"].is_not_null()).to_numpy()
    searched = texts.filter(is_searched)
    groups = Groups.of(searched["answers"])
    codes = fired(searched.select("lower", "plain"), groups, leniency)
    good = expanded(_all_found(codes, groups), is_searched)
    reasons = said.select(*_rejection(strictly | ~good, leniency.max_tier), *_error())
    rejected = (reasons["rejection_tier"] > 0).fill_null(value=False).to_numpy()
    return reasons.select(
        label=labels_of(codes, groups, is_searched, rejected),
        factlabel=(pl.col("error_tier") > 0).cast(pl.Int8),
        answer_rule=_rules(codes, groups, is_searched),
    ).with_columns(reasons)


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The responses in the forms that are searched: strict, that in lower case, and plain."""
    lower = frame["strict"].str.to_lowercase()
    spaced = (frame["strict"] != frame["response"]).to_numpy()
    cased = changed(lower, spaced, lambda _: frame["response"].filter(spaced).str.to_lowercase())
    return frame.with_columns(lower=lower, plain=plain_of(frame["response"], cased))


def _all_found(codes: Codes, groups: Groups) -> pl.Series:
    """True if all groups of a row are found, null if an unknown one decides."""
    import numpy as np

    missing = holds(codes == 0, groups.row_starts) | (np.diff(groups.row_starts) == 0)
    unknown = holds(codes == UNKNOWN, groups.row_starts)
    return pl.Series(~missing).set(pl.Series(unknown & ~missing), None)


def _rejection(possible: pl.Series, max_tier: int) -> list[pl.Expr]:
    """Tier and phrase of the rejection if one is possible, null if that is unknown."""
    names = [f"{REJECTION}_{tier}" for tier in range(1, max_tier + 1)]
    tier = _first_tier(names)
    counts = pl.when(tier == 0).then(pl.lit(value=True)).otherwise(pl.lit(possible))
    counted = pl.when(counts).then(tier).when(~counts).then(pl.lit(0, pl.Int8))
    rule = pl.when(counts).then(pl.coalesce(names))
    return [counted.alias("rejection_tier"), rule.alias("rejection_rule")]


def _error() -> list[pl.Expr]:
    names = [f"{ERROR}_1", f"{ERROR}_2"]
    return [_first_tier(names).alias("error_tier"), pl.coalesce(names).alias("error_rule")]


def _first_tier(names: list[str]) -> pl.Expr:
    """The number of the first tier with a phrase, 0 if there is none."""
    tiers = (
        pl.when(pl.col(name).is_not_null()).then(pl.lit(tier, pl.Int8))
        for tier, name in enumerate(names, 1)
    )
    return pl.coalesce(*tiers, pl.lit(0, pl.Int8))


def _rules(codes: Codes, groups: Groups, is_searched: Bools) -> pl.Series:
    """The rule that found each group, null if none did; a null list if none was tried."""
    import numpy as np

    names = pl.Series([None, *ANSWER_RULES]).gather(np.maximum(codes, 0))
    valid = ~holds(codes == UNKNOWN, groups.row_starts)
    return expanded(segments.listed(names, np.diff(groups.row_starts), valid), is_searched)


def _fake_hits(frame: pl.DataFrame, leniency: Leniency) -> pl.Series:
    """Fake answers are found by letters or by tokens, others by the rules in use."""

    def check(texts: pl.Series, groups: Groups) -> Codes:
        lower = texts.str.to_lowercase()
        searched = pl.DataFrame({"lower": lower, "plain": plain_of(texts, lower)})
        return fired(searched, groups, leniency)

    rows = frame.select(pl.col("strict").alias("response"), "answers", "fake_answers")
    return fake_answer_hits(rows, check, (LOWER_CASE, Spelling(_apart, _tokens_there)))


def _apart(texts: pl.Series) -> pl.Series:
    """Tokens that do not share spaces, so that each can be masked."""
    doubled = as_tokens(texts).str.replace_all(" ", "  ", literal=True)
    return doubled.str.head(-1).str.tail(-1)


def _tokens_there(texts: pl.Series, row: Ints, fakes: pl.Series) -> Bools:
    import numpy as np

    tokens = as_tokens(fakes)
    return possible(plain(texts), row, tokens, np.zeros(len(tokens), dtype=np.bool_), 1)
