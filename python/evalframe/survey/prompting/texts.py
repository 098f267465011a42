"""The texts of groups, questions, answers and context, each computed once, and their tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ContractError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.survey.prompting import wording
from evalframe.survey.prompting.wording import filled
from evalframe.survey.surveys.segments import CATEGORIES
from evalframe.survey.surveys.tables import population_marginals

if TYPE_CHECKING:
    from evalframe.survey.prompting.configurations import Settings
    from evalframe.survey.surveys.tables import Survey


Tokens: TypeAlias = Literal["characters"] | Callable[[pl.Series], pl.Series]
"""Four characters as one token, or a function of a column of texts."""

BUDGET = 4096
"""Tokens of a prompt, its system prompt and its response."""

RESERVES = {"standard": 256, "cot": 1024}
"""Tokens that are kept for the response, without and with reasoning before it."""

_TWO_UNITS = r"[\x{10000}-\x{10FFFF}]"

BEFORE, AFTER = "before", "after"
"""The parts of a prompt before and after the context."""

_QUESTION = ["round", "question_id"]
_SEGMENT = ["round", "segment_id"]
_APART = "\n\n"


def estimate_tokens(text: IntoExpr) -> pl.Expr:
    """The tokens of a text, at four UTF-16 code units to one, rounded up.

    Args:
        text: The text.

    Returns:
        Int64, under the name of the text; null where it is null. As in dtef-app 52d79c0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = pl.DataFrame({"text": ["", "abcde", "😀" * 3]})
        >>> texts.select(ef.survey.estimate_tokens("text")).to_series().to_list()
        [0, 2, 2]
    """
    return utf16_units(text).add(3).floordiv(4)


def utf16_units(text: IntoExpr) -> pl.Expr:
    """The length of a text in UTF-16: characters beyond the basic plane count twice."""
    text = as_expr(text)
    return (text.str.len_chars() + text.str.count_matches(_TWO_UNITS)).cast(pl.Int64)


def counted(strings: pl.Series, tokens: Tokens) -> pl.Series:
    """The tokens of each text, as Int64."""
    if tokens == "characters":
        return pl.select(estimate_tokens(pl.lit(strings))).to_series()
    if not callable(tokens):
        raise ParameterError(f'tokens is "characters" or a function of a column, not {tokens!r}')
    numbers = tokens(strings)
    is_column = isinstance(numbers, pl.Series)
    if not (is_column and numbers.dtype.is_integer() and len(numbers) == len(strings)):
        result = f"a column of {numbers.dtype}" if is_column else repr(numbers)[:40]
        raise ParameterError(
            f"tokens must return a column of whole numbers, one for each of {len(strings):,} texts,"
            f" but returned {result}"
        )
    return numbers.cast(pl.Int64)


def available_tokens(
    system: IntoExpr, core: IntoExpr, *, budget: int = BUDGET, reserve: int = RESERVES["standard"]
) -> pl.Expr:
    """The tokens that are left for context.

    Args:
        system: Tokens of the system prompt.
        core: Tokens of the prompt without context.
        budget: Tokens of everything together.
        reserve: Tokens reserved for the response.

    Returns:
        Int64, 0 if the other parts fill the budget. As in dtef-app 52d79c0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.survey.available_tokens(pl.lit(52), pl.lit(225), budget=1024)).item()
        491
    """
    left = budget - as_expr(system) - as_expr(core) - reserve
    return left.clip(0).cast(pl.Int64).alias("available")


def fitting(cost: IntoExpr, available: IntoExpr) -> pl.Expr:
    """True for each item of context that fits, with all before it; the first that does not ends it.

    Args:
        cost: Tokens of the items, in their order.
        available: The tokens that are left for context.

    Returns:
        `fits` (Boolean). Use it with `over` for several prompts.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"cost": [3, 4, 2]})
        >>> items.select(ef.survey.fitting("cost", pl.lit(6))).to_series().to_list()
        [True, False, False]
    """
    return (as_expr(cost).cast(pl.Int64).cum_sum() <= as_expr(available)).alias("fits")


def group_texts(survey: Survey, settings: Settings) -> pl.DataFrame:
    """`round`, `segment_id` and the description of the group in `group`."""
    description = pl.format("{}: {}", pl.col("attribute").replace(CATEGORIES), "value")
    attributes = survey.segment_attributes.group_by(_SEGMENT, maintain_order=True).agg(
        attributes=description.str.join("; ")
    )
    respondents = pl.lit("respondents")
    fields = {
        "attributes": pl.coalesce("attributes", "segment_label"),
        "respondents": pl.coalesce(pl.format("{} {}", "sample_size", respondents), respondents),
    }
    joined = survey.segments.join(attributes, on=_SEGMENT, how="left", maintain_order="left")
    return joined.select(*_SEGMENT, group=filled(settings.words.group, fields))


def question_texts(survey: Survey, settings: Settings) -> pl.DataFrame:
    """`round`, `question_id` and the question with its options in `asked`."""
    n_options = survey.responses["option_index"].n_unique()
    if n_options > len(wording.LETTERS):
        raise ParameterError(
            f"a question has {n_options} options, more than there are letters; leave it out"
        )
    options = survey.responses.unique([*_QUESTION, "option_index"], maintain_order=True)
    lines = options.group_by(_QUESTION, maintain_order=True).agg(
        options=filled(wording.OPTION_LINE, _of_option()).sort_by("option_index").str.join("\n")
    )
    table = survey.questions.join(lines, on=_QUESTION, maintain_order="left")
    template = wording.KEYED_QUESTION if settings.batch_size > 1 else wording.QUESTION
    if settings.eval_type == "shift":
        template = f"{template}\n\n{wording.SHIFT}"
        marginals = population_marginals(survey)
        if unknown := marginals["percent"].null_count():
            raise ContractError(
                f"shift prompts show the answers of all, but {unknown:,} questions have no"
                " respondents; give sample sizes, or ask for distributions"
            )
        table = table.join(marginals, on=_QUESTION, maintain_order="left")
    fields = {
        "question_id": pl.col("question_id"),
        "question": pl.col("question_text"),
        "options": pl.col("options_right"),
    }
    if settings.eval_type == "shift":
        fields["marginal"] = pl.col("percent").list.eval(_percent(pl.element())).list.join(", ")
    return table.select(*_QUESTION, asked=filled(template, fields))


def item_texts(survey: Survey, pairs: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Answers as context: their keys, `place`, their text in `item` and its tokens in `cost`."""
    words = settings.words
    keys = ["round", "segment_id", "question_id"]
    questions = survey.questions.select(*_QUESTION, "question_text")
    if settings.context_count == 0:
        return pairs.select(*keys, "place", item=pl.lit(""), cost=pl.lit(0, pl.Int64)).clear()
    fields = {**_of_option(), "percent": _percent(pl.col("percent"))}
    fields["question"] = pl.col("question_text")
    chosen = pl.col("percent") > 0 if settings.of_participants else pl.lit(value=True)
    long = (
        survey.responses.lazy()
        .filter(chosen)
        .join(pairs.lazy().select(*keys, "place"), on=keys)
        .join(questions.lazy(), on=_QUESTION)
    )
    answers = filled(words.answer, fields).sort_by("option_index").str.join(words.between)
    item = filled(words.item, {"question": pl.col("question_text"), "answers": pl.col("answers")})
    texts = long.group_by(*keys, "place", "question_text").agg(answers=answers)
    items = texts.select(*keys, "place", item=item).sort("place", *keys).collect()
    return items.with_columns(cost=counted(items["item"] + words.apart, settings.tokens))


def with_texts(
    batches: pl.DataFrame, groups: pl.DataFrame, questions: pl.DataFrame, settings: Settings
) -> pl.DataFrame:
    """Prompts without context: the text `before` it and the text `after` it."""
    keyed = settings.batch_size > 1
    ending = wording.instruction(
        settings.eval_type,
        reasoned=settings.reasoning == "cot",
        keyed=keyed,
        of_person=settings.of_participants,
    )
    fields = {
        "n_options": pl.col("n_options").list.first(),
        "n_individuals": pl.lit(settings.n_individuals),
    }
    targets = (
        batches.select("row", "round", "question_id")
        .explode("question_id")
        .join(questions, on=_QUESTION, how="left", maintain_order="left")
        .group_by("row", maintain_order=True)
        .agg(pl.col("asked").str.join("\n\n"))
    )
    return (
        batches.join(groups, on=_SEGMENT, how="left", maintain_order="left")
        .join(targets, on="row", how="left", maintain_order="left")
        .with_columns(
            pl.col("group").alias(BEFORE),
            pl.format("{}\n\n{}", "asked", filled(ending, fields)).alias(AFTER),
        )
    )


def with_context(
    batches: pl.DataFrame, items: pl.DataFrame, room: pl.Series | None, settings: Settings
) -> pl.DataFrame:
    """Prompts with `context_ids`, `context_count` and the complete text in `prompt`."""
    words = settings.words
    chosen = _shown(batches, items, room, settings)
    contexts = (
        chosen.group_by("row", maintain_order=True)
        .agg(context_ids="question_id", items=pl.col("item").str.join(words.apart))
        .with_columns(context=pl.concat_str(pl.lit(words.context), "items", separator=words.apart))
    )
    joined = batches.join(contexts, on="row", how="left", maintain_order="left")
    context_ids = pl.coalesce("context_ids", pl.lit([], pl.List(pl.String)))
    return joined.with_columns(
        context_ids,
        context_count=context_ids.list.len().cast(pl.Int64),
        prompt=pl.concat_str(BEFORE, "context", AFTER, separator=_APART, ignore_nulls=True),
    )


def room_of(batches: pl.DataFrame, settings: Settings) -> pl.Series:
    """The tokens that are left for context in each prompt."""
    heading = pl.lit(settings.words.context)
    core = batches.select(pl.concat_str(BEFORE, heading, AFTER, separator=_APART)).to_series()
    used = pl.lit(system_tokens(settings)), pl.lit(counted(core, settings.tokens))
    reserve = RESERVES[settings.reasoning]
    tokens = available_tokens(*used, budget=settings.token_budget, reserve=reserve)
    return pl.select(tokens).to_series()


def system_tokens(settings: Settings) -> int:
    """The tokens of the system prompt."""
    return int(counted(pl.Series([settings.system]), settings.tokens).item())


def _shown(
    batches: pl.DataFrame, items: pl.DataFrame, room: pl.Series | None, settings: Settings
) -> pl.DataFrame:
    """`row`, `question_id` and `item` of the context, as many as fit into the room."""
    if settings.context_count is not None:
        # At most the questions of a prompt are passed over.
        most = settings.context_count + settings.batch_size
        items = items.filter(pl.int_range(pl.len()).over(_SEGMENT) < most)
    numbered = items.with_row_index("number")
    questions = batches.select("row", "round", "segment_id", "question_id").explode("question_id")
    same = questions.join(numbered, on=[*_SEGMENT, "question_id"]).select("row", "number")
    rows = batches.select("row", *_SEGMENT, room=pl.lit(room))
    candidates = (
        rows.lazy()
        .join(numbered.lazy().select("number", *_SEGMENT, "cost"), on=_SEGMENT)
        .join(same.lazy(), on=["row", "number"], how="anti")
        .sort("row", "number")
    )
    if settings.context_count is not None:
        rank = pl.int_range(pl.len()).over("row")
        candidates = candidates.filter(rank < settings.context_count)
    if room is not None:
        candidates = candidates.filter(fitting("cost", "room").over("row"))
    chosen = candidates.select("row", "number").collect()
    return chosen.join(
        numbered.select("number", "question_id", "item"), on="number", maintain_order="left"
    )


def _of_option() -> dict[str, pl.Expr]:
    """The letter and the label of an option; without a label its number."""
    index, label = pl.col("option_index"), pl.col("option_label").str.strip_chars()
    letters = dict(enumerate(wording.LETTERS))
    letter = index.replace_strict(letters, default=None, return_dtype=pl.String)
    return {"letter": letter, "option": pl.coalesce(label, pl.format("option {}", index + 1))}


def _percent(percent: pl.Expr) -> pl.Expr:
    """Percentages with one decimal."""
    return percent.round(1).cast(pl.String)
