"""Responses, joined to the prompts that they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.answered import answered, read_prompts
from evalframe.core.frames import like_source
from evalframe.core.rows import as_expr
from evalframe.survey.prompting.prompts import PROMPTS
from evalframe.survey.prompting.writing import METADATA, prompt_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalframe.core.typing import Frame, IntoExpr

    Source: TypeAlias = Frame | str | Path

_KEY = ":id"
_LISTS = ("question_id", "n_options")

ANSWERED = (*METADATA, "response", "question_key")
"""What `read_responses` says of a question of a prompt, and of the response."""


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
    """Join responses to the prompts that they answer, a row for each question of a prompt.

    Args:
        responses: One row per response: a frame, or a file, Parquet or JSON lines.
        prompts: What `prompts` returns, or the file that `write_prompts` wrote, Parquet or JSON
            lines.
        id: The id of the prompt in `responses`: configuration and prompt, as lines have it; or
            `prompt_id` alone, if it names one prompt only.
        response: The text; null where a model gave none.
        model: Which model, or run of one, answered; `pl.lit("name")` if the table does not say.
            None if all responses are of one model, which then has no column.
        by: Further columns of `responses` that tell runs apart, such as the number of a repeat.
        columns: Further columns of `responses` to keep.

    Returns:
        Every question of every prompt once for every model, or run of it: `model`, by..., what the
        metadata of lines say (`config_id`, `prompt_id`, `round`, `segment_id`,
        `segment_attribute`, `sample_size`, `question_id`, `n_options`, `context_count`,
        `context_format`, `eval_type`, `reasoning`, `temperature`), `response` (null if the model
        has not answered), `question_key` (for `parse`: the question, where the prompt asks
        several) and columns.... Lazy; in the order of prompts, models and questions. For the
        options and the actual answers join the survey.

    Raises:
        InputError: A file cannot be read.
        MissingColumnsError: A column is not there.
        ParameterError: Responses are no text, or a further column has the name of one of the
            prompts.
        ContractError: No responses, a response to none of the prompts or by no model, two of one
            run to the same prompt, or two prompts of one id.

    Examples:
        >>> from evalframe.survey.prompting import prompts
        >>> survey = pl.DataFrame(
        ...     {
        ...         "question_id": ["p", "q"],
        ...         "segment_id": ["gender:male"] * 2,
        ...         "actual": [[60.0, 40.0], [30.0, 70.0]],
        ...     }
        ... )
        >>> replies = pl.DataFrame({"id": ["q-gender:male"], "response": ["[35, 65]"]})
        >>> joined = read_responses(replies, prompts(survey), model=pl.lit("m"))
        >>> joined.select("model", "segment_id", "question_id", "response").rows()
        [('m', 'gender:male', 'p', None), ('m', 'gender:male', 'q', '[35, 65]')]
    """
    asked = read_prompts(prompts, METADATA)
    asked = asked.cast({name: PROMPTS[name] for name in METADATA}).with_columns(prompt_key(_KEY))
    alone = asked.filter(pl.col("prompt_id").is_unique())
    joined = answered(
        asked,
        responses,
        on=_KEY,
        id=as_expr(id).cast(pl.String).replace(alone["prompt_id"], alone[_KEY]),
        response=response,
        model=model,
        by=by,
        columns=columns,
    )
    several = pl.col("question_id").list.len() > 1
    keyed = joined.with_columns(several.alias("question_key")).explode(_LISTS, empty_as_null=True)
    made = keyed.with_columns(pl.when("question_key").then("question_id").alias("question_key"))
    run = pl.all().exclude(*ANSWERED, *columns, _KEY)
    return made.select(run, *ANSWERED, *columns)
