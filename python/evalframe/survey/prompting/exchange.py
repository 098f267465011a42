"""Prompts written for runners of evaluations, and responses joined to the prompts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from evalframe.core.answered import answered, read_prompts
from evalframe.core.errors import ContractError, OutputError
from evalframe.core.files import replacing
from evalframe.core.frames import any_frame, like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr, Source
from evalframe.survey.prompting.configurations import PROMPTS, with_all_columns

_OTHERS = ("config_id", "actual", "context_ids", "n_tokens", "system", "prompt")
METADATA = ("config_id", *(name for name in PROMPTS if name not in _OTHERS))
"""Columns that identify a prompt and its settings."""

_KEY = ":id"

ANSWERED = (*METADATA, "response", "question_key")
"""Columns of `read_responses` about a question of a prompt and its response."""


@any_frame
def write_prompts(prompts: Frame, path: str | Path) -> int:
    """Write prompts to a file, completely or not at all.

    `.parquet`: the table. `.jsonl`: a line for each prompt, as runners of evaluations read them,
    with `id` (configuration and prompt), `input` (chat messages, each with `role` and `content`),
    `target` (the distribution of each question as JSON) and `metadata` (what identifies the prompt,
    and its settings).

    Args:
        prompts: Result of `prompts`; several of them can be concatenated.
        path: The file.

    Returns:
        Number of prompts.

    Raises:
        ContractError: Two prompts with the same id.
        OutputError: The file cannot be written, or has another suffix.

    Examples:
        >>> import tempfile, polars as pl
        >>> from pathlib import Path
        >>> from evalframe.survey import write_prompts
        >>> from evalframe.survey import prompts
        >>> survey = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[60.0, 40.0]]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_prompts(prompts(pl.DataFrame(survey)), Path(folder, "prompts.jsonl"))
        1
    """
    path = Path(path)
    if path.suffix not in (".parquet", ".jsonl"):
        raise OutputError(f"cannot write {path.name}: name it .parquet or .jsonl")
    lazy = with_all_columns(prompts, "write_prompts")
    id_ = prompt_key("id")
    ids = lazy.select(id_).collect().to_series()
    repeated = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
    if len(repeated):
        raise ContractError(
            f"write_prompts: {len(repeated):,} ids stand for several prompts, the first"
            f" {repeated[0]!r}; write them to separate files"
        )
    with replacing(path) as partial:
        if path.suffix == ".parquet":
            lazy.sink_parquet(partial)
        else:
            lazy.select(id_, *_line()).sink_ndjson(partial)
    return len(ids)


def prompt_key(name: str) -> pl.Expr:
    """The id of a prompt among several configurations."""
    return pl.format("{}/{}", "config_id", "prompt_id").alias(name)


def _line() -> list[pl.Expr]:
    """The fields of a line of JSON besides the id."""
    system, user = (
        pl.struct(pl.lit(role).alias("role"), pl.col(column).alias("content"))
        for role, column in (("system", "system"), ("user", "prompt"))
    )
    shares = pl.element().list.eval(pl.element().round(6).cast(pl.String)).list.join(", ")
    has_system = pl.col("system") != ""
    messages = pl.when(has_system).then(pl.concat_list(system, user))
    return [
        messages.otherwise(pl.concat_list(user)).alias("input"),
        pl.col("actual").list.eval(pl.format("[{}]", shares)).alias("target"),
        pl.struct(METADATA).alias("metadata"),
    ]


@like_input
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
        prompts: Result of `prompts`, or the file that `write_prompts` wrote.
        id: The id of the prompt in `responses`: configuration and prompt, as in JSON lines; or
            `prompt_id` alone, if it is unique.
        response: The text; null if a model gave none.
        model: The model, or run of one; `pl.lit("name")` if the table has no such column. None if
            all responses are of one model, which then has no column.
        by: Further columns of `responses` that distinguish runs, such as the number of a repeat.
        columns: Further columns of `responses` to keep.

    Returns:
        Every question of every prompt once for every model, or run of it: `model`, by..., the
        metadata of JSON lines (`config_id`, `prompt_id`, `round`, `segment_id`, `respondent_id`,
        `segment_attribute`, `sample_size`, `question_id`, `n_options`, `context_count`,
        `context_format`, `eval_type`, `reasoning`, `temperature`), `response` (null if the model
        has not answered), `question_key` (for `parse`: the question, if the prompt asks several)
        and columns.... In the order of prompts, models and questions. Join the survey for options
        and actual answers.

    Raises:
        InputError: A file cannot be read.
        ParameterError: Responses are not text, or a further column has the name of one of the
            prompts.
        ContractError: No responses, a response to none of the prompts or by no model, two of one
            run to the same prompt, or two prompts of one id.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import read_responses
        >>> from evalframe.survey import prompts
        >>> survey = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[60.0, 40.0]]}
        >>> replies = pl.DataFrame({"id": ["q-gender:male"], "response": ["[35, 65]"]})
        >>> joined = read_responses(replies, prompts(pl.DataFrame(survey)), model=pl.lit("m"))
        >>> joined.select("model", "segment_id", "question_id", "response").row(0)
        ('m', 'gender:male', 'q', '[35, 65]')
    """
    prompt_rows = read_prompts(prompts, METADATA)
    prompt_rows = prompt_rows.cast({name: PROMPTS[name] for name in METADATA})
    prompt_rows = prompt_rows.with_columns(prompt_key(_KEY))
    alone = prompt_rows.filter(pl.col("prompt_id").is_unique())
    joined = answered(
        prompt_rows,
        responses,
        on=_KEY,
        id=as_expr(id).cast(pl.String).replace(alone["prompt_id"], alone[_KEY]),
        response=response,
        model=model,
        by=by,
        columns=columns,
    )
    several = pl.col("question_id").list.len() > 1
    keyed = joined.with_columns(several.alias("question_key")).explode(
        "question_id", "n_options", empty_as_null=True
    )
    table = keyed.with_columns(pl.when("question_key").then("question_id").alias("question_key"))
    run = pl.all().exclude(*ANSWERED, *columns, _KEY)
    return table.select(run, *ANSWERED, *columns)
