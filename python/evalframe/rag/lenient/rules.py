"""The lenient answer check: which rule finds an alias of each group."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.rag.lenient.candidates import is_eastern, possible
from evalframe.rag.lenient.guard import stands_free
from evalframe.rag.lenient.normalising import as_tokens, normalised
from evalframe.rag.lenient.tokens import overlap
from evalframe.rag.matching import UNKNOWN, contains, once_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from evalframe.core.segments import Bools, Ints
    from evalframe.rag.matching import Codes, Groups

ANSWER_RULES = ("substring", "normalized", "token_overlap")
"""In the order in which they are tried; the code of a rule is its place, from 1."""

_MOST_SLACK, _TIERS = 5, 3


@dataclass(frozen=True, slots=True)
class Leniency:
    """How lenient the labels are.

    Args:
        answer_rules: Some of `ANSWER_RULES`.
        threshold: Share of an alias's tokens that a window must hold.
        slack: Tokens that a window has more than the alias.
        boundary_guard: Whether occurrences glued to their neighbours count for nothing.
        max_tier: The last tier of rejections.

    Raises:
        UnknownNameError: No rule has such a name.
        ParameterError: A value lies outside its domain.
    """

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
        if not (_is_number(self.threshold) and 0 < self.threshold <= 1):
            raise ParameterError(f"threshold must lie in (0, 1], got {self.threshold!r}")
        if not (_is_whole(self.slack) and 0 <= self.slack <= _MOST_SLACK):
            raise ParameterError(
                f"slack must be a whole number, 0 to {_MOST_SLACK}, got {self.slack!r}"
            )
        if not (_is_whole(self.max_tier) and 1 <= self.max_tier <= _TIERS):
            raise ParameterError(
                f"max_tier must be a whole number, 1 to {_TIERS}, got {self.max_tier!r}"
            )
        if not isinstance(self.boundary_guard, bool):
            raise ParameterError(f"boundary_guard must be a bool, got {self.boundary_guard!r}")

    @property
    def share(self) -> float:
        """The share of an alias's tokens without which no rule but the first finds it."""
        return self.threshold if "token_overlap" in self.answer_rules else 1


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def fired(texts: pl.DataFrame, groups: Groups, leniency: Leniency) -> Codes:
    """The code of the first rule that finds an alias of each group, 0 if none does.

    A rule looks only at the groups that those before it left open: most texts need no more than
    the first.

    Args:
        texts: Of each row `lower`, the strict text in lower case, and `plain`.
        groups: Of the same rows.
        leniency: The rules, and how they look.
    """
    import numpy as np

    codes = np.zeros(len(groups.unknown), dtype=np.int8)
    codes[groups.unknown] = UNKNOWN
    row, group, aliases = groups.row, groups.group, groups.aliases
    if "substring" in leniency.answer_rules:
        hits = _literal(texts["lower"].gather(row), aliases.str.to_lowercase(), leniency)
        _close(codes, group[hits], 1)
    open_ = codes[group] == 0
    if open_.any() and {*leniency.answer_rules} - {"substring"}:
        group, row = group[open_], row[open_]
        aliases = as_tokens(aliases.filter(open_))
        eastern = is_eastern(aliases)
        kept = possible(texts["plain"], row, aliases, eastern, leniency.share)
        group, row, aliases, eastern = group[kept], row[kept], aliases.filter(kept), eastern[kept]
        tokens = once_each(texts["plain"], row, normalised)
        if "normalized" in leniency.answer_rules:
            _close(codes, group[_tokens_in_order(tokens, aliases, eastern, leniency)], 2)
        if "token_overlap" in leniency.answer_rules:
            left = np.flatnonzero(~eastern & (codes[group] == 0))
            hits = overlap(
                tokens.gather(left), aliases.gather(left), leniency.threshold, leniency.slack
            )
            _close(codes, group[left[hits]], 3)
    return codes


def _close(codes: Codes, groups: Ints, rule: int) -> None:
    codes[groups[codes[groups] == 0]] = rule


def _literal(texts: pl.Series, parts: pl.Series, leniency: Leniency) -> Bools:
    """Whether each text contains its part; with the guard, not only glued to its neighbours."""
    hits = contains(texts, parts)
    if leniency.boundary_guard:
        looked = hits & (parts != "").fill_null(value=False).to_numpy()
        hits[looked] = stands_free(texts.filter(looked), parts.filter(looked))
    return hits


def _tokens_in_order(
    texts: pl.Series, aliases: pl.Series, eastern: Bools, leniency: Leniency
) -> Bools:
    """Whether each text holds the tokens of its alias, without spaces if the alias is eastern."""
    hits = contains(texts, aliases)
    if eastern.any():
        close, parts = (_without_spaces(side.filter(eastern)) for side in (texts, aliases))
        hits[eastern] = _literal(close, parts, leniency)
    return hits


def _without_spaces(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(" ", "", literal=True)
