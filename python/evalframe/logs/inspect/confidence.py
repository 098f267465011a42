"""The probability that a model gave to its answer, from log probabilities of its tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evalframe.logs.inspect.records import Sample, Token


class Likelihood(NamedTuple):
    """Of a completion: its log probability, its tokens, and the confidence by scorer."""

    logprob: float
    tokens: int
    confidences: dict[str | None, float | None]


def likelihood(sample: Sample) -> Likelihood | None:
    """The likelihood of a sample's first completion; None without log probabilities."""
    choices = sample.output.choices if sample.output is not None else None
    content = choices[0].logprobs.content if choices and choices[0].logprobs is not None else None
    if not content:
        return None
    total = math.fsum(token.logprob for token in content)
    if not sample.choices:
        mean = math.exp(min(total / len(content), 0.0))
        confidences: dict[str | None, float | None] = dict.fromkeys(
            [None, *(sample.scores or ())], mean
        )
        return Likelihood(total, len(content), confidences)
    letters = _letters(len(sample.choices))
    answers = {name: score.answer for name, score in (sample.scores or {}).items()}
    by_answer = {answer: _of_letter(content, answer, letters) for answer in {*answers.values()}}
    confidences = {name: by_answer[answer] for name, answer in answers.items()}
    return Likelihood(total, len(content), confidences)


def _of_letter(
    content: Sequence[Token], answer: str | None, letters: Sequence[str]
) -> float | None:
    """The probability of a letter among all letters, where the last token is that letter."""
    if answer is None or answer not in letters:
        return None
    chosen = next((token for token in reversed(content) if token.token.strip() == answer), None)
    if chosen is None:
        return None
    best: dict[str, float] = {}
    for token in (chosen, *(chosen.top_logprobs or ())):
        letter = token.token.strip()
        if letter in letters:
            best[letter] = max(token.logprob, best.get(letter, -math.inf))
    most = max(best.values())
    shares = {letter: math.exp(logprob - most) for letter, logprob in best.items()}
    return shares[answer] / math.fsum(shares.values())


@cache
def _letters(count: int) -> list[str]:
    """A, B, ..., Z, 1, 2, ..., as Inspect calls choices."""
    return [chr(ord("A") + k) if k < 26 else str(k - 25) for k in range(count)]
