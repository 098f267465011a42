"""Prompts out to the runners of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ContractError, MissingColumnsError, OutputError
from evalframe.core.files import replacing
from evalframe.survey.prompting.prompts import PROMPTS

if TYPE_CHECKING:
    from evalframe.core.typing import Frame

METADATA = (
    "config_id",
    "prompt_id",
    "round",
    "segment_id",
    "respondent_id",
    "segment_attribute",
    "sample_size",
    "question_id",
    "n_options",
    "context_count",
    "context_format",
    "eval_type",
    "reasoning",
    "temperature",
)
"""What identifies a prompt and says how it was made."""


def write_prompts(prompts: Frame, path: str | Path) -> int:
    """Write prompts to a file, whole or not at all.

    `.parquet`: the table. `.jsonl`: a line for each prompt, as runners of evaluations read them,
    with `id` (configuration and prompt in one), `input` (chat messages, each with `role` and
    `content`), `target` (the distribution of each question as JSON) and `metadata` (what
    identifies the prompt and how it was made).

    Args:
        prompts: What `prompts` returns; several of them may be put together.
        path: The file.

    Returns:
        How many prompts were written.

    Raises:
        ContractError: Two prompts with the same id.
        MissingColumnsError: It is no prompt table.
        OutputError: The file cannot be written, or is neither kind.

    Example:
        >>> import tempfile
        >>> from evalframe.survey.prompting import prompts
        >>> survey = pl.DataFrame(
        ...     {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[60.0, 40.0]]}
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "prompts.jsonl"
        ...     count = write_prompts(prompts(survey), path)
        ...     print(count, path.read_text()[:66])
        1 {"id":"dtef-survey-gender:male/q-gender:male","input":[{"role":"sy
    """
    path = Path(path)
    if path.suffix not in (".parquet", ".jsonl"):
        raise OutputError(f"cannot write {path.name}: name it .parquet or .jsonl")
    lazy = prompts.lazy()
    present = lazy.collect_schema().names()
    if missing := PROMPTS.keys() - {*present}:
        raise MissingColumnsError.of("write_prompts", missing, present)
    id_ = prompt_key("id")
    ids = lazy.select(id_).collect().to_series()
    repeated = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
    if len(repeated):
        raise ContractError(
            f"write_prompts: {len(repeated):,} ids stand for several prompts, the first"
            f" {repeated[0]!r}; write them to files of their own"
        )
    with replacing(path) as partial:
        if path.suffix == ".parquet":
            lazy.sink_parquet(partial)
        else:
            lazy.select(id_, *_line()).sink_ndjson(partial)
    return len(ids)


def prompt_key(name: str) -> pl.Expr:
    """What identifies a prompt among those of several configurations."""
    return pl.format("{}/{}", "config_id", "prompt_id").alias(name)


def _line() -> list[pl.Expr]:
    """What a line of JSON holds beside the id."""
    system, user = (
        pl.struct(pl.lit(role).alias("role"), pl.col(column).alias("content"))
        for role, column in (("system", "system"), ("user", "prompt"))
    )
    shares = pl.element().list.eval(pl.element().round(6).cast(pl.String)).list.join(", ")
    has_system = pl.col("system") != ""
    return [
        pl.when(has_system)
        .then(pl.concat_list(system, user))
        .otherwise(pl.concat_list(user))
        .alias("input"),
        pl.col("actual").list.eval(pl.format("[{}]", shares)).alias("target"),
        pl.struct(METADATA).alias("metadata"),
    ]
