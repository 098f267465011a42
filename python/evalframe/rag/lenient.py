"""The lenient answer check: the first rule that finds an alias of each group.

Rules are tried from the cheapest to the most expensive, each only on the groups that are still
open. Before texts are normalised, a cheap search drops the pairs of a text and an alias that lack
too many parts of the alias.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.rag.matching import UNKNOWN, Codes, Groups, contains, not_ascii, once_each
from evalframe.rag.normalising import as_tokens, bytes_of, digit, normalised, run_together

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints

ANSWER_RULES = ("substring", "normalized", "token_overlap")
"""In the order in which they are tried."""

_CODES = {rule: code for code, rule in enumerate(ANSWER_RULES, 1)}

STOP_WORDS = (
    *("a", "an", "the", "of", "and", "in", "on", "at", "to"),
    *("is", "was", "were", "are", "for", "by", "with", "from"),
)
"""Words that do not count as content."""

_MOST_SLACK, _TIERS = 5, 3
_EAST_ASIAN = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
_NO_TOKENS = pl.Series(["", *STOP_WORDS])
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Leniency:
    """Parameters of lenient labels, checked; see `label`."""

    answer_rules: Sequence[str] = ANSWER_RULES
    threshold: float = 0.8
    slack: int = 2
    boundary_guard: bool = False
    max_tier: int = _TIERS

    def __post_init__(self) -> None:
        """Check all values; any sequence of rules becomes a tuple."""
        rules = self.answer_rules
        if isinstance(rules, str) or not isinstance(rules, Collection) or not rules:
            raise ParameterError(
                f"answer_rules must name at least one of {list(ANSWER_RULES)}, as a list; "
                f"got {rules!r}"
            )
        for rule in rules:
            if rule not in ANSWER_RULES:
                raise UnknownNameError.of("answer rule", str(rule), ANSWER_RULES)
        object.__setattr__(self, "answer_rules", tuple(rules))
        if not (_is(Real, self.threshold) and 0 < self.threshold <= 1):
            raise ParameterError(f"threshold must lie in (0, 1], got {self.threshold!r}")
        for name, least, most in (("slack", 0, _MOST_SLACK), ("max_tier", 1, _TIERS)):
            value = getattr(self, name)
            if not (_is(Integral, value) and least <= value <= most):
                raise ParameterError(
                    f"{name} must be a whole number, {least} to {most}, got {value!r}"
                )
        if not isinstance(self.boundary_guard, bool):
            raise ParameterError(f"boundary_guard must be a bool, got {self.boundary_guard!r}")

    @property
    def share(self) -> float:
        """The share of an alias's tokens that every rule but the first needs."""
        return self.threshold if "token_overlap" in self.answer_rules else 1


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def fired(texts: pl.DataFrame, groups: Groups, leniency: Leniency) -> Codes:
    """The code of the first rule that finds an alias of each group, 0 if none does.

    `texts` has `lower` (the strict text in lower case) and `plain` for each row of the groups.
    """
    codes = np.zeros(len(groups.unknown), dtype=np.int8)
    codes[groups.unknown] = UNKNOWN
    row, group, aliases = groups.row, groups.group, groups.aliases
    if "substring" in leniency.answer_rules:
        hits = _literal(texts["lower"].gather(row), aliases.str.to_lowercase(), leniency)
        _close(codes, group[hits], _CODES["substring"])
    open_ = codes[group] == 0
    if open_.any() and {*leniency.answer_rules} - {"substring"}:
        group, row = group[open_], row[open_]
        aliases = as_tokens(aliases.filter(open_))
        eastern = _is_eastern(aliases)
        selected = possible(texts["plain"], row, aliases, eastern, leniency.share)
        group, row, eastern = group[selected], row[selected], eastern[selected]
        aliases = aliases.filter(selected)
        tokens = once_each(texts["plain"], row, normalised)
        if "normalized" in leniency.answer_rules:
            hits = _tokens_in_order(tokens, aliases, eastern, leniency)
            _close(codes, group[hits], _CODES["normalized"])
        if "token_overlap" in leniency.answer_rules:
            left = np.flatnonzero(~eastern & (codes[group] == 0))
            hits = _overlap(
                tokens.gather(left), aliases.gather(left), leniency.threshold, leniency.slack
            )
            _close(codes, group[left[hits]], _CODES["token_overlap"])
    return codes


def possible(
    plain: pl.Series, row: Ints, aliases: pl.Series, eastern: Bools, threshold: float
) -> Bools:
    """True if a plain text may contain an alias, judging by its parts in any order.

    Parts of an eastern alias are its characters, all of which are required; parts of others are
    their content tokens, of which the share `threshold` is required. Aliases are normalised.
    """
    tokens, token_pair = _content(aliases.filter(~eastern))
    characters = aliases.filter(eastern).str.strip_chars(" ").str.extract_all(r"^.|.$")
    parts = pl.concat([tokens, characters.explode(empty_as_null=False)])
    pair = np.append(
        np.flatnonzero(~eastern)[token_pair],
        np.repeat(np.flatnonzero(eastern), characters.list.len().to_numpy()),
    )
    texts = once_each(plain, row, run_together)
    hits = np.bincount(pair, contains(texts.gather(pair), parts), minlength=len(aliases))
    size = np.bincount(pair, minlength=len(aliases))
    enough = hits >= np.where(eastern, size, _least(size, threshold))
    selected: Bools = enough & (aliases != " ").to_numpy()
    return selected


def _close(codes: Codes, groups: Ints, code: int) -> None:
    """Set the code of these groups that are still open."""
    codes[groups[codes[groups] == 0]] = code


def _literal(texts: pl.Series, parts: pl.Series, leniency: Leniency) -> Bools:
    """True if a text contains its part; with the guard, free of its neighbours somewhere."""
    hits = contains(texts, parts)
    if leniency.boundary_guard:
        checked = hits & (parts != "").fill_null(value=False).to_numpy()
        hits[checked] = _stands_free(texts.filter(checked), parts.filter(checked))
    return hits


def _tokens_in_order(
    texts: pl.Series, aliases: pl.Series, eastern: Bools, leniency: Leniency
) -> Bools:
    """True if a text contains the tokens of its alias, without spaces if it is eastern."""
    hits = contains(texts, aliases)
    if eastern.any():
        sides = (side.filter(eastern) for side in (texts, aliases))
        close, parts = (side.str.replace_all(" ", "", literal=True) for side in sides)
        hits[eastern] = _literal(close, parts, leniency)
    return hits


def _is_eastern(aliases: pl.Series) -> Bools:
    """True for normalised aliases with a Chinese, Japanese or Korean character."""
    flags = not_ascii(aliases)
    flags[flags] = aliases.filter(flags).str.contains(_EAST_ASIAN).to_numpy()
    return flags


def _stands_free(texts: pl.Series, parts: pl.Series) -> Bools:
    """True if some occurrence of a part in its text is not glued to a neighbour.

    Glued are a digit to a digit, also across one dot or comma, and a letter to a letter, of ASCII:
    70 in 170, March 1 in March 15. Parts are not empty and occur.
    """
    pairs = pl.DataFrame({"text": texts, "part": parts})
    first = pairs.select(pl.col("text").str.find(pl.col("part"), literal=True)).to_series()
    result = _free(texts, parts, first.to_numpy())
    # Few parts are glued where they occur first: all occurrences are searched for these only.
    glued = np.flatnonzero(~result)
    texts, parts = texts.gather(glued), parts.gather(glued)
    places = pl.select(texts.str.find_many(pl.concat_list(parts), overlapping=True)).to_series()
    owner = np.repeat(np.arange(len(glued)), places.list.len().to_numpy())
    free = _free(
        texts.gather(owner), parts.gather(owner), places.explode(empty_as_null=False).to_numpy()
    )
    result[glued[owner[free]]] = True
    return result


def _free(texts: pl.Series, parts: pl.Series, starts: Ints) -> Bools:
    """True if the occurrence of a part at this position is not glued to a neighbour."""
    frame = pl.DataFrame(
        {"text": texts.cast(pl.Binary), "start": pl.Series(starts), "size": parts.str.len_bytes()}
    ).cast({"start": pl.Int64, "size": pl.Int64})
    before = pl.min_horizontal("start", 2)
    around = pl.col("text").bin.slice(pl.col("start") - before, before + pl.col("size") + 2)
    # Two line ends before and after each, so that every occurrence has all its neighbours.
    cut = frame.select(
        around=pl.lit(b"\n\n") + around + pl.lit(b"\n\n"), offset=before + 2, size="size"
    )
    windows, offset, size = cut.get_columns()
    sizes = windows.bin.size().to_numpy().astype(np.int64)
    first = np.cumsum(sizes) - sizes + offset.to_numpy()
    text = np.frombuffer(bytes_of(windows), dtype=np.uint8)
    return ~_glued(text, first, -1) & ~_glued(text, first + size.to_numpy() - 1, 1)


def _glued(text: Any, position: Ints, step: int) -> Bools:
    """True if the character at a position belongs with the next one or two in this direction."""
    here, near, far = text[position], text[position + step], text[position + 2 * step]
    point = (near == ord(".")) | (near == ord(","))
    numbers = digit(here) & (digit(near) | (point & digit(far)))
    words = _letter(here) & _letter(near)
    glued: Bools = numbers | words
    return glued


def _letter(characters: Any) -> Any:
    small = characters | 0x20
    return (small >= ord("a")) & (small <= ord("z"))


def _overlap(texts: pl.Series, aliases: pl.Series, threshold: float, slack: int) -> Bools:
    """True if a window of each normalised text contains enough of its normalised alias.

    The window has as many consecutive content tokens as the alias, and `slack` more. It must
    contain at least the share `threshold` of the alias's tokens, repeated ones as often, and all
    those with a digit. Aliases with fewer than two content tokens are never found.
    """
    alias_tokens, pair = _content(aliases)
    size = np.bincount(pair, minlength=len(aliases))
    required = _least(size, threshold)
    digit = alias_tokens.str.contains("[0-9]").to_numpy()
    result: Bools = size >= 2
    chosen = np.flatnonzero(result)
    if not len(chosen):
        return result
    rank = np.cumsum(result) - 1
    selected = result[pair]
    tokens = pl.DataFrame({"pair": rank[pair[selected]], "token": alias_tokens.filter(selected)})
    tokens = tokens.with_columns(digit=digit[selected])
    result[chosen] = _within_a_window(
        texts.gather(chosen), tokens, size[chosen] + slack, required[chosen]
    )
    return result


def _content(texts: pl.Series) -> tuple[pl.Series, Ints]:
    """The content tokens of normalised texts, and the text of each."""
    split = texts.str.split(" ")
    tokens = split.explode(empty_as_null=False)
    owner = np.repeat(np.arange(len(texts)), split.list.len().to_numpy())
    is_content = ~tokens.is_in(_NO_TOKENS.implode())
    return tokens.filter(is_content), owner[is_content.to_numpy()]


def _least(size: Ints, threshold: float) -> Ints:
    """The smallest count that is at least this share of the size."""
    least: Ints = np.ceil(threshold * size - _CLOSE).astype(np.int64)
    return least


def _within_a_window(
    texts: pl.Series, alias_tokens: pl.DataFrame, width: Ints, least: Ints
) -> Bools:
    """True if a window of each text contains enough of the tokens of its alias."""
    # A token that the alias has c times counts at most c times: of its occurrences in a window, the
    # last c. So an occurrence counts in the windows that reach it but not the c-th occurrence after
    # it. These windows begin at consecutive places: a sweep adds the occurrence at the first and
    # removes it after the last.
    tokens, owner = _content(texts)
    position = np.arange(len(tokens)) - np.searchsorted(owner, owner)
    required = alias_tokens.group_by("pair", "token").agg(
        pl.len().alias("count"), pl.col("digit").first()
    )
    events = (
        pl.DataFrame({"pair": owner, "place": position, "token": tokens})
        .join(required, on=["pair", "token"])
        .sort("pair", "token", "place")
    )
    pair, position, count, digit = (
        events[name].to_numpy().astype(np.int64) for name in ("pair", "place", "count", "digit")
    )
    token = events.select(pl.struct("pair", "token").rle_id()).to_series().to_numpy()
    after = np.minimum(np.arange(len(events)) + count, len(events) - 1)
    followed = (token[after] == token) & (np.arange(len(events)) + count < len(events))
    first = np.maximum(position - width[pair] + 1, 0)
    last = np.where(followed, np.minimum(position, position[after] - width[pair]), position)
    counts = last >= first
    sign = np.repeat([1, -1], counts.sum())
    pair, digit = np.tile(pair[counts], 2), np.tile(digit[counts], 2) * sign
    # At the same place those that end come first, so that no sum is ever too high.
    order = np.lexsort((sign, np.append(first[counts], last[counts] + 1), pair))
    pair, matched = pair[order], np.cumsum(sign[order])
    digits = np.bincount(
        alias_tokens["pair"], alias_tokens["digit"].to_numpy(), minlength=len(texts)
    )
    enough = (matched >= least[pair]) & (np.cumsum(digit[order]) >= digits[pair])
    result = np.zeros(len(texts), dtype=np.bool_)
    result[pair[enough]] = True
    return result
