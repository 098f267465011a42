"""Labels of responses: groups of the answer, rejections, flagged errors; strict and lenient."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core import segments
from evalframe.core.choices import FlatAnswers, LabelMode, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read, spread_literals
from evalframe.core.typing import Frame, IntoExpr
from evalframe.rag.answers import answers_from_text, lists_as_groups
from evalframe.rag.contract import is_chinese
from evalframe.rag.languages import Language, Phrases
from evalframe.rag.lenient import ANSWER_RULES, Leniency, fired, possible
from evalframe.rag.matching import (
    LOWER_CASE,
    UNKNOWN,
    Codes,
    Groups,
    Spelling,
    changed,
    contains,
    expanded,
    fake_answer_hits,
    holds,
    holds_any,
    labels_of,
)
from evalframe.rag.normalising import as_tokens, plain, plain_of
from evalframe.rag.phrases import ERROR, REJECTION, phrases_said

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints

LABELS = {"label": pl.List(pl.Int8()), "factlabel": pl.Int8()}
"""The columns that `label` adds in either mode."""

REASONS = {
    "answer_rule": pl.List(pl.String()),
    "rejection_tier": pl.Int8(),
    "rejection_rule": pl.String(),
    "error_tier": pl.Int8(),
    "error_rule": pl.String(),
}
"""Additional columns of lenient labels."""

FAKE_ANSWER_HIT = {"fake_answer_hit": pl.Boolean()}
"""The column that `label` adds with fake answers."""

_TEXTS = {
    "dataset": (pl.String, pl.Null, pl.Categorical, pl.Enum),
    "response": (pl.String, pl.Null),
}
"""Types of these columns; all are null if all requests failed."""

_LABELS = "__evalframe_labels__"
_BLOCK = 16_384  # responses at once: their texts are in memory in several forms


@like_input
def label(
    responses: Frame,
    *,
    dataset: IntoExpr = "dataset",
    answers: IntoExpr = "answers",
    response: IntoExpr = "response",
    flat_answers: FlatAnswers = "parts",
    language: Language | None = None,
    mode: LabelMode = "strict",
    fake_answers: IntoExpr | None = None,
    answer_rules: Sequence[str] = ANSWER_RULES,
    threshold: float = 0.8,
    slack: int = 2,
    boundary_guard: bool = False,
    max_tier: int = 3,
) -> pl.LazyFrame:
    """Label each response by the groups of the answer that it contains.

    Strict rules, in this order: spaces (U+0020) are removed from responses of data sets with `zh`
    in their name; a response that contains `insufficient information` or `信息不足`, or such a
    phrase of another `language`, is a rejection, whatever else it says; all others are searched for
    the aliases, both in lower case. Aliases also match within words: 70 matches in 170.

    Lenient rules find an alias by the first of three rules. `substring` is the strict one.
    `normalized` compares tokens, without accents, apostrophes, punctuation and the commas of
    thousands; aliases with a Chinese, Japanese or Korean character are compared without spaces.
    `token_overlap` searches for most words of the alias close together, in any order; it can be
    wrong (Jan 5, 2020 in `May 5, 2020; also Jan 3`). Rejections and flagged errors are phrases in
    tiers, canonical ones first. A rejection that the strict rules do not recognise does not count
    if all groups are found. So, with `substring` and without `boundary_guard`, strict rejections,
    flagged errors and complete answers stay the same.

    Args:
        responses: One row per response.
        dataset: Name of the data set (String, Categorical or Enum).
        answers: Accepted answers. List(List(String)): groups of aliases, each group required.
            List(String): as `flat_answers` says. String: as `answers_from_text`; pass
            `answer_groups("answers")` to read all text literally.
        response: The text.
        flat_answers: As for `answer_groups`.
        language: A language in addition to English and Chinese.
        mode: `strict` or `lenient`. The parameters after `fake_answers` are for lenient labels.
        fake_answers: Answers of counterfactual documents (String or List(String)); nulls and blank
            texts in a list are skipped.
        answer_rules: Rules to use, of `substring`, `normalized` and `token_overlap`.
        threshold: Share of an alias's words that `token_overlap` requires, above 0, at most 1.
        slack: Words allowed between them, 0 to 5.
        boundary_guard: Ignore an alias that is glued to its neighbours: a digit to a digit, also
            across one dot or comma, or a letter to a letter, of ASCII.
        max_tier: Last tier of rejections that counts, 1 to 3.

    Returns:
        The columns of `responses`, then `label` (List(Int8): 1 or 0 for each group; [-1] for a
        rejection; empty for an answer without groups) and `factlabel` (Int8: 1 if the response
        contains `factual errors` or `事实性错误`, such a phrase of `language`, or leniently another
        one that is not negated). Both are null if the response or the data set is null, `label`
        also if the answers, a group or an alias are, except for rejections.

        Lenient labels add `answer_rule` (List(String): the rule for each group, null if none
        matched; a null list for strict rejections and unknown answers), `rejection_tier` (Int8: 0
        for none; null if unknown answers decide), `rejection_rule` (the phrase), `error_tier`
        (Int8: 0 to 2) and `error_rule`.

        `fake_answers` adds `fake_answer_hit` (Boolean: a fake answer is in the response and no
        accepted one outside of it; an accepted one around a fake answer counts). It is null if
        `fake_answers` is null, False without fake answers.

        Columns of these names are replaced. Rows keep their order.

    Raises:
        ParameterError: A column has another type, or a parameter belongs to the other mode.

    References:
        Strict labels match RGB 65ec39e; the lenient ones are this package's own.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers, texts = [[["Paris"], ["6 May 2020"]]], ["paris, on May 6, 2020"]
        >>> responses = pl.DataFrame({"dataset": "en", "answers": answers, "response": texts})
        >>> ef.rag.label(responses).select("label", "factlabel").row(0)
        ([1, 0], 0)
        >>> lenient = ef.rag.label(responses, mode="lenient")
        >>> lenient.select("label", "answer_rule", "rejection_rule").row(0)
        ([1, 1], ['substring', 'token_overlap'], None)
    """
    check_choice("mode", mode, LabelMode)
    check_choice("flat_answers", flat_answers, FlatAnswers)
    leniency = Leniency(answer_rules, threshold, slack, boundary_guard, max_tier)
    if mode == "strict" and leniency != Leniency():
        raise ParameterError(
            "answer_rules, threshold, slack, boundary_guard and max_tier are for lenient labels; "
            'leave them out, or ask for mode="lenient"'
        )
    lazy = responses.lazy()
    roles = {"dataset": dataset, "answers": answers, "response": response}
    roles |= {} if fake_answers is None else {"fake_answers": fake_answers}
    exprs = {role: as_expr(column) for role, column in roles.items()}
    columns = lazy.collect_schema().names()
    if missing := columns_read(exprs.values()) - {*columns}:
        raise MissingColumnsError.of("label", missing, columns)
    dtypes = lazy.select(**exprs).collect_schema()
    for role in ("dataset", "response"):
        if dtypes[role] not in _TEXTS[role]:
            raise ParameterError(f"label: {role} must be text, but is {dtypes[role]}; cast it")
        exprs[role] = exprs[role].cast(pl.String)
    exprs["answers"] = _grouped(exprs["answers"], dtypes["answers"], flat_answers)
    added = dict(LABELS)
    if mode == "lenient":
        added |= REASONS
    if fake_answers is not None:
        exprs["fake_answers"] = _listed(exprs["fake_answers"], dtypes["fake_answers"])
        added |= FAKE_ANSWER_HIT
    rows = pl.struct([expr.alias(role) for role, expr in spread_literals(exprs).items()])
    rules = (
        partial(strict_labels, phrases=Phrases.of(language))
        if mode == "strict"
        else partial(lenient_labels, phrases=Phrases.of(language), leniency=leniency)
    )
    labels = rows.map_batches(rules, return_dtype=pl.Struct(added), is_elementwise=True)
    # A frame is unnested, since an expression would be evaluated once for each field.
    labelled = lazy.with_columns(labels.alias(_LABELS))
    return labelled.drop(name for name in added if name in columns).unnest(_LABELS)


def _grouped(answers: pl.Expr, dtype: pl.DataType, flat_answers: FlatAnswers) -> pl.Expr:
    """Answers as groups of aliases."""
    if dtype == pl.String:
        return answers_from_text(answers, flat_answers=flat_answers, on_invalid="null")
    groups = lists_as_groups(answers, dtype, flat_answers)
    if groups is None:
        raise ParameterError(
            f"label: answers must be lists of groups of aliases (List(List(String))), lists of text"
            f" or text, but is {dtype}"
        )
    return groups


def _listed(fakes: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Fake answers as lists, null without any."""
    match dtype:
        case pl.List(inner=pl.String() | pl.Null()) | pl.Null():
            return fakes.cast(pl.List(pl.String()))
        case pl.String():
            return pl.when(fakes.is_not_null()).then(pl.concat_list(fakes))
    raise ParameterError(
        f"label: fake_answers must be text or lists of texts, but is {dtype}; cast it"
    )


def strict_labels(rows: pl.Series, phrases: Phrases) -> pl.Series:
    """Label, factlabel and, with fake answers, their hits, by the first tiers of the phrases.

    `rows` are structs of dataset, answers, response and perhaps fake_answers.
    """
    frame = rows.struct.unnest()
    frame = frame.with_columns(without_spaces(frame)).with_columns(
        rejected=holds_any(phrases.rejections[0]),
        factlabel=holds_any(phrases.errors[0]).cast(pl.Int8),
    )
    rejected = frame["rejected"].fill_null(value=False).to_numpy()
    is_searched = (~frame["rejected"] & frame["answers"].is_not_null()).fill_null(value=False)
    searched = frame.filter(is_searched)
    groups = Groups.of(searched["answers"])
    codes = _found(searched["response"], groups)
    labels = labels_of(codes, groups, is_searched.to_numpy(), rejected)
    columns = {"label": labels, "factlabel": frame["factlabel"]}
    if "fake_answers" in frame.columns:
        columns["fake_answer_hit"] = fake_answer_hits(frame, _found)
    return pl.DataFrame(columns).to_struct("label")


def without_spaces(frame: pl.DataFrame) -> pl.Expr:
    """The response, without spaces in Chinese data sets; null without a data set."""
    chinese = is_chinese(pl.col("dataset"))
    stripped = pl.col("response").str.replace_all(" ", "", literal=True)
    if not frame.select(chinese.any()).item():  # common, and cheaper
        return pl.when(pl.col("dataset").is_not_null()).then("response").alias("response")
    return pl.when(chinese).then(stripped).when(~chinese).then("response").alias("response")


def _found(texts: pl.Series, groups: Groups) -> Codes:
    """1 or 0 for each group: 1 if its text contains an alias, both in lower case."""
    lower = texts.str.to_lowercase()
    hits = contains(lower.gather(groups.row), groups.aliases.str.to_lowercase())
    codes = holds(hits, groups.group_starts).astype(np.int8)
    codes[groups.unknown] = UNKNOWN
    return codes


def lenient_labels(rows: pl.Series, phrases: Phrases, leniency: Leniency) -> pl.Series:
    """Label, factlabel, their reasons and, with fake answers, their hits.

    `rows` are structs of dataset, answers, response and perhaps fake_answers.
    """
    starts = range(0, max(len(rows), 1), _BLOCK)
    blocks = (rows[start : start + _BLOCK] for start in starts)
    return pl.concat([_labelled(block, phrases, leniency) for block in blocks])


def _labelled(rows: pl.Series, phrases: Phrases, leniency: Leniency) -> pl.Series:
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
    errors = [f"{ERROR}_1", f"{ERROR}_2"]
    reasons = said.select(
        *_rejection(strictly | ~good, leniency.max_tier),
        error_tier=_first_tier(errors),
        error_rule=pl.coalesce(errors),
    )
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


def _first_tier(names: list[str]) -> pl.Expr:
    """The number of the first tier with a phrase, 0 if there is none."""
    tiers = (
        pl.when(pl.col(name).is_not_null()).then(pl.lit(tier, pl.Int8))
        for tier, name in enumerate(names, 1)
    )
    return pl.coalesce(*tiers, pl.lit(0, pl.Int8))


def _rules(codes: Codes, groups: Groups, is_searched: Bools) -> pl.Series:
    """The rule that found each group, null if none did; a null list if none was tried."""
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
    return fake_answer_hits(rows, check, (LOWER_CASE, Spelling(_spaced_tokens, _may_contain)))


def _spaced_tokens(texts: pl.Series) -> pl.Series:
    """Tokens that do not share spaces, so that each can be masked."""
    doubled = as_tokens(texts).str.replace_all(" ", "  ", literal=True)
    return doubled.str.head(-1).str.tail(-1)


def _may_contain(texts: pl.Series, row: Ints, fakes: pl.Series) -> Bools:
    """True if a text may contain the tokens of a fake answer."""
    tokens = as_tokens(fakes)
    return possible(plain(texts), row, tokens, np.zeros(len(tokens), dtype=np.bool_), 1)
