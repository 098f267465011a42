"""Languages: the phrases that responses are searched for, and the words questions are asked in.

English, Chinese and any other are defined in the same way, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    """What responses in a language say, and how questions are asked in it.

    `label` searches for its phrases beside the English and Chinese ones, `prompts` asks in it.
    Strict labels know `rejections` and `errors` only, as they are written here, capitals included
    (and in data sets whose name contains `zh`, where responses lose their spaces, none with a
    space). Lenient labels look for all phrases, whatever their capitals, spaces and apostrophes.

    Args:
        rejections: What a response without an answer says. The first is what prompts ask for.
        errors: What a response says that finds the documents at fault; the first likewise.
        inability: That the model is not able to answer, in other words: rejections of tier 2.
        absence: That the documents do not say it: rejections of tier 3.
        other_errors: That the documents are at fault, in other words: errors of tier 2.
        negations: What takes back a phrase of `other_errors`, if it stands before it with no more
            than a few characters between, such as `no `.
        template: The text around `{documents}` and `{query}`; English by default.
        system: The system prompt, with `{rejection}` and `{error}` for the words that it asks for;
            English by default.

    Raises:
        ParameterError: Phrases are not a list of strings, one is blank, or a list is empty.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> german = ef.rag.Language(
        ...     rejections=["unzureichende Informationen"],
        ...     errors=["sachliche Fehler"],
        ...     absence=["nicht genannt"],
        ... )
        >>> said = ["Es liegen unzureichende Informationen vor.", "Das wird nicht genannt."]
        >>> responses = pl.DataFrame({"dataset": "de", "answers": "Bonn", "response": said})
        >>> strict = ef.rag.label(responses, language=german)
        >>> lenient = ef.rag.label(responses, language=german, mode="lenient")
        >>> strict["label"].to_list(), lenient["label"].to_list()
        ([[-1], [0]], [[-1], [-1]])
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
        """The system prompt, with the words that it asks for."""
        (rejection, *_), (error, *_) = self.rejections, self.errors
        return self.system.replace("{rejection}", rejection).replace("{error}", error)


def _checked(name: str, phrases: object) -> tuple[str, ...]:
    made = tuple(phrases) if isinstance(phrases, list | tuple) else ()
    texts = all(isinstance(phrase, str) and phrase.strip() for phrase in made)
    if not isinstance(phrases, list | tuple) or not texts or (name in _REQUIRED and not made):
        least = "at least one phrase" if name in _REQUIRED else "phrases"
        raise ParameterError(
            f"{name} of a language must be a list of {least}, none of them blank; got {phrases!r}"
        )
    return made


ENGLISH = Language(
    rejections=["insufficient information"],
    errors=["factual errors"],
    inability=[
        "can not answer",
        "cannot answer",
        "can't answer",
        "unable to answer",
        "not able to answer",
        "could not answer",
        "cannot be answered",
        "can not be answered",
        "cannot provide an answer",
        "can not provide an answer",
        "not possible to answer",
        "cannot determine",
        "can not determine",
        "can't determine",
        "unable to determine",
        "cannot be determined",
        "can not be determined",
        "not possible to determine",
        "cannot provide a definitive answer",
        "cannot confirm",
    ],
    absence=[
        "not enough information",
        "insufficient evidence",
        "insufficient context",
        "no information",
        "no relevant information",
        "no specific information",
        "not provide information",
        "not provide any information",
        "not provide enough information",
        "not provide sufficient information",
        "not provide the answer",
        "not contain information",
        "not contain any information",
        "not contain enough information",
        "not contain sufficient information",
        "not contain the answer",
        "not mention",
        "no mention",
        "not mentioned",
        "not specify",
        "not specified",
        "not stated",
        "not provided in",
        "not found in",
        "not included in",
        "not available in",
        "information is not available",
        "do not have information",
        "don't have information",
        "do not have enough information",
        "don't have enough information",
        "not addressed",
        "not explicitly",
        "not directly mention",
    ],
    other_errors=[
        "factual error",
        "factually incorrect",
        "factually inaccurate",
        "factual inaccurac",
        "factual mistake",
        "incorrect information",
        "inaccurate information",
        "wrong information",
        "error in the document",
        "errors in the document",
        "errors in the provided",
        "documents are incorrect",
        "document is incorrect",
        "documents contain errors",
        "contradicts the fact",
    ],
    negations=["no ", "not contain any "],
)

CHINESE = Language(
    rejections=["信息不足"],
    errors=["事实性错误"],
    inability=[
        "无法回答",
        "不能回答",
        "无法确定",
        "不能确定",
        "无法判断",
        "不能判断",
        "无法得知",
        "无法推断",
    ],
    absence=[
        "未提及",
        "没有提及",
        "没有提到",
        "未提供",
        "没有提供",
        "未说明",
        "没有说明",
        "没有相关信息",
        "没有足够",
        "文档中没有",
    ],
    other_errors=[
        "事实错误",
        "错误信息",
        "信息有误",
        "与事实不符",
        "与事实不一致",
        "文档有误",
        "文档错误",
    ],
    negations=["没有", "不存在"],
    template="材料\n{documents}\n\n题目\n{query}",
    system="""\
请以题目之前的材料为依据作答。其中的材料可能与题目无关、也可能有误。
一、答案从简。问到的每一项都要答到。
二、没有一段材料能回答题目时请写【{rejection}】。
三、材料与你确知的事实不符时请写【{error}】。然后给出正确答案。
以上用语请照原样书写。""",
)


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of several languages together, by tier.

    Args:
        rejections: Of three tiers, from what a model is told to say to ever looser ones.
        errors: Of two.
        negations: What takes back errors of the second tier.
    """

    rejections: tuple[tuple[str, ...], ...]
    errors: tuple[tuple[str, ...], ...]
    negations: tuple[str, ...]

    @classmethod
    def of(cls, language: Language | None = None) -> Phrases:
        """Those of English and Chinese, and of another language, in this order."""
        spoken = [ENGLISH, CHINESE, *([] if language is None else [language])]

        def joined(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(each for one in spoken for each in getattr(one, name)))

        return cls(
            (joined("rejections"), joined("inability"), joined("absence")),
            (joined("errors"), joined("other_errors")),
            joined("negations"),
        )
