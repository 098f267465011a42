"""The phrases of rejections and of flagged errors, by tier, in the order in which they are tried.

All are in lower case, with single spaces.
"""

from __future__ import annotations

from evalframe.rag.strict import FACTUAL_ERRORS, REJECTIONS

INABILITY = (
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
    "无法回答",
    "不能回答",
    "无法确定",
    "不能确定",
    "无法判断",
    "不能判断",
    "无法得知",
    "无法推断",
)
"""That the model is not able to answer, in other words."""

ABSENCE = (
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
)
"""That the documents do not say it."""

REJECTION_TIERS = (REJECTIONS, INABILITY, ABSENCE)
"""From the canonical phrases, which a model is told to say, to ever looser ones."""

ERRORS = (
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
    "事实错误",
    "错误信息",
    "信息有误",
    "与事实不符",
    "与事实不一致",
    "文档有误",
    "文档错误",
)
"""That the documents are at fault, in other words."""

ERROR_TIERS = (FACTUAL_ERRORS, ERRORS)
"""The canonical phrases, then these."""

NEGATIONS = ("no ", "没有", "不存在")
"""What takes back a phrase of `ERRORS` if it stands in the 12 characters before it."""

LONG_NEGATION = "not contain any "
"""Longer than these 12 characters: at most 9 lie between it and the phrase, as after `no `."""
