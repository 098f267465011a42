"""Responses, joined to the prompts that they answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl

from evalframe.core.answered import answered, is_lines, read_prompts
from evalframe.core.frames import like_source
from evalframe.core.typing import Frame, IntoExpr
from evalframe.rag.answers import GROUPS
from evalframe.rag.documents.counts import OK
from evalframe.rag.documents.prompting import KEYS

Source: TypeAlias = Frame | str | Path


@like_source
def read_responses(
    responses: Source,
    prompts: Source,
    *,
    id: IntoExpr = "id",
    response: IntoExpr = "response",
    model: IntoExpr | None = "model",
    by: IntoExpr | Sequence[IntoExpr] = (),
    columns: Sequence[str] = (),
) -> pl.LazyFrame:
    """Join responses to the prompts that they answer.

    Args:
        responses: One row per response: a frame, or a Parquet or JSON lines file.
        prompts: Result of `prompts`, with a column `answers`: a frame, or the file that
            `write_prompts` wrote. JSON lines lack prompts whose documents could not be selected.
        id: The id of the prompt in `responses`.
        response: The text; null without a response.
        model: The model, or run of one; `pl.lit("name")` if the table lacks it. None if all
            responses are of one model, which then has no column.
        by: Further columns of `responses` that distinguish runs, such as the number of a repeat.
        columns: Further columns of `responses` to keep, such as a judge's text.

    Returns:
        Every prompt once for every model, or run of it: `model`, by..., `dataset`, `id`,
        `noise_rate`, `passage_num`, `correct_passage_rate`, `order`, `seed`, `answers`, `response`
        (null if the model has not answered), `status` (of the selection), `prompt_id`, and
        columns... (null without a response). Prompts keep their order; the models of each follow
        the order of their first responses. Lazy if `responses` is a file.

    Raises:
        InputError: A file cannot be read.
        MissingColumnsError: A column is missing.
        ParameterError: Ids or responses are not text, or a further column has the name of one of
            the prompts.
        ContractError: There are no responses, a response has no prompt or no model, a run answers a
            prompt twice, or two prompts have the same id.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import prompts, read_responses
        >>> from evalframe.rag import select_documents
        >>> instances = pl.DataFrame(
        ...     {
        ...         "dataset": ["en", "en"],
        ...         "id": [7, 8],
        ...         "query": ["Who won?", "Who lost?"],
        ...         "answers": [[["Ann"]], [["Bob"]]],
        ...         "positive": [["Ann won."], ["Bob lost."]],
        ...         "negative": [[], []],
        ...     }
        ... )
        >>> asked = prompts(select_documents(instances))
        >>> prompt = "en/8/noise0.0/passages5/correct0.0/seeded42"
        >>> answered = pl.DataFrame({"id": [prompt], "text": ["Bob"]})
        >>> joined = read_responses(answered, asked, response="text", model=pl.lit("m"))
        >>> joined.select("model", "id", "response", "status").rows()
        [('m', 7, None, 'ok'), ('m', 8, 'Bob', 'ok')]
    """
    required = [*KEYS, "answers", "prompt_id"]
    lines, name = is_lines(prompts), "prompt_id"
    table = read_prompts(prompts, required if lines else [*required, "status"], id=name)
    if lines:
        typed = [pl.col(name).cast(dtype) for name, dtype in _WRITTEN.items()]
        table = table.with_columns(*typed, status=pl.lit(OK))
    joined = answered(
        table, responses, on=name, id=id, response=response, model=model, by=by, columns=columns
    )
    run = pl.all().exclude(*PROMPT_COLUMNS, *columns)
    return joined.select(run, *PROMPT_COLUMNS, *columns)


PROMPT_COLUMNS = (*KEYS, "answers", "response", "status", "prompt_id")
"""Columns of a prompt and its response."""

_WRITTEN = {
    "noise_rate": pl.Float64(),
    "passage_num": pl.Int64(),
    "correct_passage_rate": pl.Float64(),
    "seed": pl.UInt64(),
    "answers": GROUPS,
}
"""Types that JSON lines can lose."""
