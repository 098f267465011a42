"""Prompts from selected documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.rag.datasets import is_chinese
from evalframe.rag.documents.counts import OK
from evalframe.rag.languages import CHINESE, ENGLISH

if TYPE_CHECKING:
    from evalframe.core.typing import Frame
    from evalframe.rag.languages import Language

KEYS = ("dataset", "id", "noise_rate", "passage_num", "correct_passage_rate", "order", "seed")
"""What identifies a prompt."""

_ORIGINAL = ("original", 2333)
"""Order and seed of RGB, which the id of a prompt leaves out."""

PROMPTS = {"prompt_id": pl.String(), "prompt": pl.String(), "system": pl.String()}
"""The columns that `prompts` adds."""


@like_input
def prompts(
    selected: Frame,
    *,
    language: Language | None = None,
    template: str | None = None,
    system: str | None = None,
    closed_book: str = "{query}",
    separator: str = "\n",
) -> pl.LazyFrame:
    """The prompts that ask a model the questions, each with its documents.

    Args:
        selected: What `select_documents` returns, with a column `query`.
        language: What to ask in; by default Chinese for data sets whose name contains `zh`,
            English for others.
        template: The text around `{documents}` and `{query}`, each of which may stand in it more
            than once; other braces are text. By default that of the language.
        system: The system prompt; by default that of the language, which asks for the words by
            which `label` knows rejections and flagged errors.
        closed_book: The template where no documents are shown; there is no system prompt then.
        separator: What stands between two documents.

    Returns:
        The columns of `selected`, then `prompt_id` (String: data set, id, noise rate, number of
        passages and correct passage rate in one, and order and seed unless they are those of
        RGB), `prompt` and `system` (String). The prompt is null without a query (then `status`
        says so) and where no documents could be selected, the system prompt also where none are
        shown. Rows keep their order.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A template without `{query}`, something else than text, or the name of a
            column that is added is taken.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag.documents import prompts, select_documents
        >>> instances = pl.DataFrame(
        ...     {
        ...         "dataset": ["en"],
        ...         "id": [7],
        ...         "query": ["Who won?"],
        ...         "positive": [["Ann won."]],
        ...         "negative": [["Bob ran.", "Cy fell."]],
        ...     }
        ... )
        >>> asked = prompts(select_documents(instances, noise_rate=0.5, passage_num=2))
        >>> asked["prompt_id"].item()
        'en/7/noise0.5/passages2/correct0.0/seeded42'
        >>> print(asked["prompt"].item())
        Passages:
        Ann won.
        Bob ran.
        <BLANKLINE>
        Question: Who won?
    """
    lazy = selected.lazy()
    present = lazy.collect_schema().names()
    if missing := {*KEYS, "query", "documents", "status"} - {*present}:
        raise MissingColumnsError.of("prompts", missing, present)
    if taken := [name for name in PROMPTS if name in present]:
        raise ParameterError(f"prompts adds a column {taken[0]!r}; rename the one in the table")
    if not isinstance(system, str | None) or not isinstance(separator, str):
        raise ParameterError(f"system and separator must be text, got {system!r}, {separator!r}")
    chinese = is_chinese(pl.col("dataset"))
    shown = pl.col("documents").list.len()
    east, west = (CHINESE, ENGLISH) if language is None else (language, language)
    in_chinese, in_english = (
        _filled("template", each.template if template is None else template, separator)
        for each in (east, west)
    )
    open_book = pl.when(chinese).then(in_chinese).otherwise(in_english)
    told = pl.when(chinese).then(pl.lit(east.told)).otherwise(pl.lit(west.told))
    if system is not None:
        told = pl.lit(system)
    unasked = pl.col("query").is_null() & (pl.col("status") == OK)
    return lazy.with_columns(
        prompt_id=_prompt_id(),
        status=pl.when(unasked).then(pl.lit("the query is null")).otherwise("status"),
        prompt=pl.when(shown > 0)
        .then(open_book)
        .when(shown == 0)
        .then(_filled("closed_book", closed_book, separator)),
        system=pl.when((shown > 0) & pl.col("query").is_not_null()).then(told),
    )


def _filled(name: str, template: str, separator: str) -> pl.Expr:
    """The template with the documents and the query in their places.

    Raises:
        ParameterError: It has no place for the query.
    """
    if not (isinstance(template, str) and "{query}" in template):
        raise ParameterError(f"{name} has no {{query}}, where the question goes: {template!r}")
    fields = {
        "{documents}": pl.col("documents").list.join(separator),
        "{query}": pl.col("query"),
    }
    pieces = re.split(r"(\{documents\}|\{query\})", template)
    return pl.concat_str([fields.get(piece, pl.lit(piece)) for piece in pieces])


def _prompt_id() -> pl.Expr:
    noise, correct = pl.col("noise_rate"), pl.col("correct_passage_rate")
    setting = pl.format(
        "{}/{}/noise{}/passages{}/correct{}", "dataset", "id", noise, "passage_num", correct
    )
    order, seed = _ORIGINAL
    usual = (pl.col("order") == order) & (pl.col("seed") == seed)
    return pl.when(usual).then(setting).otherwise(pl.format("{}/{}{}", setting, "order", "seed"))
