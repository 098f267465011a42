"""Languages: the phrases that responses are searched for, and the texts of prompts.

English and Chinese are files in the same format as a language of the user.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from evalframe.core.errors import ParameterError

_PHRASES = ("rejections", "errors", "inability", "absence", "other_errors", "negations")
_REQUIRED = ("rejections", "errors")

_TEMPLATE = "Passages:\n{documents}\n\nQuestion: {query}"
_SYSTEM = """\
Answer the question that follows the passages, and take the passages as your evidence. Any of them \
may be off the topic or untrue.
- Be brief, and answer every part of the question.
- If no passage settles the question, write these words: {rejection}
- If a passage is at odds with what you know to be true, write these words: {error}
  Then give the right answer.
Write these words in lower case, just as they stand here."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """Phrases of responses in a language, and the texts of prompts.

    `label` searches for the phrases in addition to the English and Chinese ones. Strict labels use
    `rejections` and `errors` only, exactly as written (in data sets with `zh` in their name, where
    responses lose their spaces, none with a space matches). Lenient labels use all phrases and
    ignore case, extra spaces and kinds of apostrophes.

    Args:
        rejections: Phrases of responses without an answer; prompts ask for the first.
        errors: Phrases of responses that find errors in the documents; prompts ask for the first.
        inability: Other statements of inability to answer: rejections of tier 2.
        absence: Statements that the documents lack the answer: rejections of tier 3.
        other_errors: Other statements of errors in the documents: errors of tier 2.
        negations: Phrases such as `no ` that cancel one of `other_errors` shortly after them.
        template: The text around `{documents}` and `{query}`; English by default.
        system: The system prompt, with `{rejection}` and `{error}` for the requested phrases;
            English by default.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> german = ef.rag.Language(rejections=["keine Angaben"], errors=["sachliche Fehler"])
        >>> texts = ["Es liegen keine Angaben vor.", "Bonn"]
        >>> responses = pl.DataFrame({"dataset": "de", "answers": "Bonn", "response": texts})
        >>> ef.rag.label(responses, language=german)["label"].to_list()
        [[-1], [1]]
    """

    rejections: Iterable[str]
    errors: Iterable[str]
    inability: Iterable[str] = ()
    absence: Iterable[str] = ()
    other_errors: Iterable[str] = ()
    negations: Iterable[str] = ()
    template: str = _TEMPLATE
    system: str = _SYSTEM

    def __post_init__(self) -> None:
        """Check all phrases; any list of them becomes a tuple."""
        for name in _PHRASES:
            object.__setattr__(self, name, _checked(name, getattr(self, name)))
        for name in ("template", "system"):
            if not isinstance(text := getattr(self, name), str):
                raise ParameterError(f"{name} of a language must be text, got {text!r}")

    @property
    def told(self) -> str:
        """The system prompt with the words that it asks for."""
        (rejection, *_), (error, *_) = self.rejections, self.errors
        return self.system.replace("{rejection}", rejection).replace("{error}", error)


def _checked(name: str, phrases: object) -> tuple[str, ...]:
    checked = tuple(phrases) if isinstance(phrases, list | tuple) else ()
    strings = all(isinstance(phrase, str) and phrase.strip() for phrase in checked)
    listed = isinstance(phrases, list | tuple)
    if not listed or not strings or (name in _REQUIRED and not checked):
        least = "at least one phrase" if name in _REQUIRED else "phrases"
        raise ParameterError(
            f"{name} of a language must be a list of {least}, none of them blank; got {phrases!r}"
        )
    return checked


@cache
def built_in(name: str) -> Language:
    """The language `english` or `chinese`, from the TOML file of that name."""
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text("utf-8")
    return Language(**tomllib.loads(text))


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of several languages together, by tier."""

    rejections: tuple[tuple[str, ...], ...]
    errors: tuple[tuple[str, ...], ...]
    negations: tuple[str, ...]

    @classmethod
    def of(cls, language: Language | None = None) -> Phrases:
        """The phrases of English, Chinese and another language, in this order."""
        languages = [built_in("english"), built_in("chinese")]
        languages += [] if language is None else [language]

        def joined(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(each for one in languages for each in getattr(one, name)))

        return cls(
            (joined("rejections"), joined("inability"), joined("absence")),
            (joined("errors"), joined("other_errors")),
            joined("negations"),
        )
