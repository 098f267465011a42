"""Labels of responses: which groups of the answer they hold, rejection, flagged errors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read, spread_literals
from evalframe.core.rules import check_choice
from evalframe.rag.answers import FlatAnswers, answers_from_text, lists_as_groups
from evalframe.rag.languages import Phrases
from evalframe.rag.lenient.aliases import ANSWER_RULES, Leniency
from evalframe.rag.lenient.labels import REASONS, lenient_labels
from evalframe.rag.strict import strict_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.rag.languages import Language

Mode: TypeAlias = Literal["strict", "lenient"]

LABELS = {"label": pl.List(pl.Int8()), "factlabel": pl.Int8()}
"""The columns that `label` adds in either mode."""

FAKE_ANSWER_HIT = {"fake_answer_hit": pl.Boolean()}
"""The column that `label` adds if there are fake answers."""


_TEXTS = {
    "dataset": (pl.String, pl.Null, pl.Categorical, pl.Enum),
    "response": (pl.String, pl.Null),
}
"""The types of these columns. One of nulls alone is what a table has if all requests failed."""

_MADE = "__evalframe_labels__"


@like_input
def label(
    responses: Frame,
    *,
    dataset: IntoExpr = "dataset",
    answers: IntoExpr = "answers",
    response: IntoExpr = "response",
    flat_answers: FlatAnswers = "parts",
    language: Language | None = None,
    mode: Mode = "strict",
    fake_answers: IntoExpr | None = None,
    answer_rules: Sequence[str] = ANSWER_RULES,
    threshold: float = 0.8,
    slack: int = 2,
    boundary_guard: bool = False,
    max_tier: int = 3,
) -> pl.LazyFrame:
    """Say of each response which groups of the answer it holds.

    Strict, in this order: spaces (U+0020) are taken out of the responses of data sets whose name
    contains `zh`; a response that contains `insufficient information` or `信息不足`, or such words
    of another `language`, is a rejection, whatever else it says; all others are searched for the
    aliases, both in lower case. Aliases are literals within words, too: 70 is found in 170.

    Lenient: an alias is found by the first of three rules. `substring` is the strict one.
    `normalized` compares whole tokens, without accents, apostrophes, punctuation and the commas of
    thousands; aliases with a Chinese, Japanese or Korean character are compared without spaces.
    `token_overlap` looks for most words of the alias close together, in any order; it also finds
    what is not there (Jan 5, 2020 in `May 5, 2020; also Jan 3`). Rejections and flagged errors are
    phrases in tiers: the canonical ones, then other wordings. A rejection that the strict rules do
    not see is none if all groups are found. So without `boundary_guard`, and with `substring` among
    the rules, strict rejections, flagged errors and complete answers stay what they are. Spaces of
    Chinese data sets are taken out for the strict rules alone.

    Args:
        responses: One row per response.
        dataset: Name of the data set (String, Categorical or Enum).
        answers: Accepted answers. List(List(String)): groups of aliases, each group required.
            List(String): as `flat_answers` says. String: JSON if all of a text is an answer in
            JSON, else the one group of one alias, as `answers_from_text` reads it; give
            `answer_groups("answers")` to take any text as it is.
        response: The text.
        flat_answers: What the strings of a flat list are, also of one in JSON: `parts`, all of them
            required, as in RGB; or `aliases`, any of which suffices.
        language: Whose phrases are known beside the English and Chinese ones.
        mode: The rules. The parameters below `fake_answers` are for lenient ones alone.
        fake_answers: What counterfactual documents say instead (String, or List(String) for any of
            several); null where there is none. Nulls and blank texts in a list are skipped.
        answer_rules: The rules in use, of `substring`, `normalized` and `token_overlap`.
        threshold: Share of the words of an alias that `token_overlap` asks for, above 0, at most 1.
        slack: Words that may stand between them, 0 to 5.
        boundary_guard: Whether an alias glued to its neighbours counts for nothing: a digit to a
            digit, also across one dot or comma, or a letter to a letter, of ASCII.
        max_tier: The last tier of rejections that counts, 1 to 3.

    Returns:
        The columns of `responses`, then `label` (List(Int8): 1 or 0 for each group, found or not;
        [-1] for a rejection; empty for an answer without groups) and `factlabel` (Int8: 1 where
        the response contains `factual errors` or `事实性错误`, or such words of `language`, or
        leniently another such phrase that is not directly negated). Both are null where the
        response or the data set is null, `label` also where the answers, a group or an alias are,
        unless the response is a rejection.

        Lenient labels come with `answer_rule` (List(String): of each group the rule that found it,
        null if none did; a null list for strict rejections and where answers are not known),
        `rejection_tier` (Int8: 0 for none, 1 to 3), `rejection_rule` (String: the phrase, null for
        none), `error_tier` (Int8: 0 to 2) and `error_rule`. Where unknown answers decide on a
        rejection, its tier is null.

        With `fake_answers` there is `fake_answer_hit` (Boolean: a fake answer is in the response
        and no accepted one outside of it). An accepted one around a fake answer counts, one
        within it or sharing a part with it does not. Null where `fake_answers` is null; a list
        without any (empty, or of nulls and blank texts alone) and a blank text give false.

        Columns of these names are replaced. Rows keep their order.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A column is no text, the answers have another shape, or a parameter lies
            outside its domain or belongs to the other mode.
        UnknownNameError: No answer rule has such a name.

    References:
        Chen et al. (2024), Benchmarking large language models in retrieval-augmented generation.
        Strict labels match RGB 65ec39e; the lenient ones are this package's own.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> responses = pl.DataFrame(
        ...     {
        ...         "dataset": ["en_int", "en", "zh"],
        ...         "answers": [[["Paris"], ["6 May 2020"]], [["Rome"]], [["高通骁龙"]]],
        ...         "response": ["paris, on May 6, 2020", "insufficient information", "高通 骁龙"],
        ...     }
        ... )
        >>> ef.rag.label(responses).select("label", "factlabel")
        shape: (3, 2)
        ┌──────────┬───────────┐
        │ label    ┆ factlabel │
        │ ---      ┆ ---       │
        │ list[i8] ┆ i8        │
        ╞══════════╪═══════════╡
        │ [1, 0]   ┆ 0         │
        │ [-1]     ┆ 0         │
        │ [1]      ┆ 0         │
        └──────────┴───────────┘

        >>> lenient = ef.rag.label(responses, mode="lenient")
        >>> lenient.select("label", "answer_rule", "rejection_rule").row(0)
        ([1, 1], ['substring', 'token_overlap'], None)
    """
    check_choice("mode", mode, Mode)
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
    present = lazy.collect_schema().names()
    needed = columns_read(exprs.values())
    if missing := needed - {*present}:
        raise MissingColumnsError.of("label", missing, present)
    dtypes = lazy.select(**exprs).collect_schema()
    for role in ("dataset", "response"):
        if dtypes[role] not in _TEXTS[role]:
            raise ParameterError(f"label: {role} must be text, but is {dtypes[role]}; cast it")
        exprs[role] = exprs[role].cast(pl.String)
    exprs["answers"] = _grouped(exprs["answers"], dtypes["answers"], flat_answers)
    made = dict(LABELS)
    if mode == "lenient":
        made |= REASONS
    if fake_answers is not None:
        exprs["fake_answers"] = _listed(exprs["fake_answers"], dtypes["fake_answers"])
        made |= FAKE_ANSWER_HIT
    read = pl.struct([expr.alias(role) for role, expr in spread_literals(exprs).items()])
    rules = (
        partial(strict_labels, phrases=Phrases.of(language))
        if mode == "strict"
        else partial(lenient_labels, phrases=Phrases.of(language), leniency=leniency)
    )
    labels = read.map_batches(rules, return_dtype=pl.Struct(made), is_elementwise=True)
    # A frame is unnested, since an expression would be evaluated once for each field.
    labelled = lazy.with_columns(labels.alias(_MADE))
    return labelled.drop(name for name in made if name in present).unnest(_MADE)


def _grouped(answers: pl.Expr, dtype: pl.DataType, flat_answers: FlatAnswers) -> pl.Expr:
    """Answers as groups of aliases.

    Raises:
        ParameterError: They have another shape.
    """
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
    """Fake answers as lists, null where there is none.

    Raises:
        ParameterError: They have another shape.
    """
    match dtype:
        case pl.List(inner=pl.String() | pl.Null()) | pl.Null():
            return fakes.cast(pl.List(pl.String()))
        case pl.String():
            return pl.when(fakes.is_not_null()).then(pl.concat_list(fakes))
    raise ParameterError(
        f"label: fake_answers must be text or lists of texts, but is {dtype}; cast it"
    )
