"""Responses, joined to the prompts that they answer."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError, naming
from evalframe.core.rows import as_expr, columns_read
from evalframe.rag.documents.files import table_in
from evalframe.rag.documents.prompting import KEYS, check_ids, first_few

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import TypeAlias

    from evalframe.core.typing import Frame, IntoExpr

    Source: TypeAlias = Frame | str | Path


def read_responses(
    responses: Source,
    prompts: Source,
    *,
    id: IntoExpr = "id",
    response: IntoExpr = "response",
    model: IntoExpr = "model",
) -> pl.LazyFrame:
    """Join responses to the prompts that they answer.

    Args:
        responses: One row per response: a frame, or a file, Parquet or JSON lines.
        prompts: What `prompts` returns, with a column `answers`: a frame, or the Parquet file that
            `write_prompts` wrote.
        id: The id of the prompt in `responses`.
        response: The text; null where a model gave none.
        model: Which model, or run of one, answered; `pl.lit("name")` if the table does not say.

    Returns:
        Every prompt once for every model: `model`, `dataset`, `id`, `noise_rate`, `passage_num`,
        `correct_passage_rate`, `answers`, `response` (null if the model has not answered, which
        includes all prompts whose documents could not be selected), `status` (of the selection)
        and `prompt_id`. Lazy; prompts in their order, and of each its models in the order in
        which they first answered one.

    Raises:
        InputError: A file cannot be read.
        MissingColumnsError: A column is not there.
        ParameterError: Ids or responses are no text.
        ContractError: No responses, a response to none of the prompts or by no model, two of one
            model to the same prompt, or two prompts of one id.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag.documents import prompts, read_responses, select_documents
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
        >>> answered = pl.DataFrame({"id": ["en/8/noise0.0/passages5/correct0.0"], "text": ["Bob"]})
        >>> joined = read_responses(answered, asked, response="text", model=pl.lit("m"))
        >>> joined.select("model", "id", "response", "status").collect()
        shape: (2, 4)
        ┌───────┬─────┬──────────┬────────┐
        │ model ┆ id  ┆ response ┆ status │
        │ ---   ┆ --- ┆ ---      ┆ ---    │
        │ str   ┆ i64 ┆ str      ┆ str    │
        ╞═══════╪═════╪══════════╪════════╡
        │ m     ┆ 7   ┆ null     ┆ ok     │
        │ m     ┆ 8   ┆ Bob      ┆ ok     │
        └───────┴─────┴──────────┴────────┘
    """
    roles = {"prompt_id": as_expr(id), "response": as_expr(response), "model": as_expr(model)}
    table = _read(responses, columns_read(roles.values()), "responses", "read_responses")
    needed = [*KEYS, "answers", "status", "prompt_id"]
    asked = _read(prompts, needed, "prompts", "read_responses: prompts").select(needed)
    ids = asked["prompt_id"]
    check_ids(ids.drop_nulls(), "prompts")
    with naming(str(responses)) if isinstance(responses, str | Path) else nullcontext():
        answered = _answered(table, roles)
        _check_responses(answered, ids)
    models = answered["model"].unique(maintain_order=True)
    return (
        asked.lazy()
        .with_columns(model=pl.lit(models.implode()))
        .explode("model")
        .join(answered.lazy(), on=["model", "prompt_id"], how="left", maintain_order="left")
        .select("model", *KEYS, "answers", "response", "status", "prompt_id")
    )


def _read(source: Source, needed: Collection[str], called: str, needed_by: str) -> pl.DataFrame:
    """The columns that are needed of a frame, or of the table in a file.

    Raises:
        InputError: The file cannot be read.
        MissingColumnsError: A column is not there.
    """
    if isinstance(source, str | Path):
        return table_in(Path(source), needed, called=called, needed_by=needed_by)
    present = source.lazy().collect_schema().names()
    if missing := {*needed} - {*present}:
        raise MissingColumnsError.of(needed_by, missing, present)
    return source.lazy().select(name for name in present if name in needed).collect()


def _answered(responses: pl.DataFrame, roles: Mapping[str, pl.Expr]) -> pl.DataFrame:
    # As columns added, not selected, constants are as long as the table.
    answered = responses.with_columns(**roles).select(*roles)
    for role in ("prompt_id", "response"):
        if answered.schema[role] not in (pl.String, pl.Null):
            raise ParameterError(
                f"read_responses: {role} must be text, but is {answered.schema[role]}"
            )
    return answered.cast({"prompt_id": pl.String, "response": pl.String})


def _check_responses(answered: pl.DataFrame, ids: pl.Series) -> None:
    """Check that each response belongs to one prompt, and no two of a model to the same.

    Raises:
        ContractError: They do not.
    """
    if answered.is_empty():
        raise ContractError("read_responses: there are no responses; check where they come from")
    if nameless := answered["model"].null_count():
        raise ContractError(
            f"read_responses: {nameless:,} of {len(answered):,} responses have no model; fill it in"
        )
    orphans = answered.filter(~pl.col("prompt_id").is_in(ids.implode()).fill_null(value=False))
    if len(orphans):
        raise ContractError(
            f"read_responses: {len(orphans):,} of {len(answered):,} responses answer none of the"
            f" prompts: {first_few(orphans['prompt_id'])}; give the prompts they were made from, or"
            " drop them"
        )
    run = pl.struct("model", "prompt_id")
    repeated = answered.filter(run.is_duplicated()).select(run.unique(maintain_order=True))
    if len(repeated):
        told = pl.format("{} by {}", "prompt_id", "model")
        raise ContractError(
            "read_responses: prompts were answered more than once by a model:"
            f" {first_few(repeated.unnest('model').select(told).to_series())} ({len(repeated):,} in"
            " all); keep one response of each, or tell the runs apart in the column of models"
        )
