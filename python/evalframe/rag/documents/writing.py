"""Prompts out to the runners of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.answered import check_ids
from evalframe.core.errors import MissingColumnsError, OutputError
from evalframe.core.files import replacing
from evalframe.rag.answers import answers_from_text
from evalframe.rag.documents.prompting import KEYS, PROMPTS, prompts

if TYPE_CHECKING:
    from evalframe.core.typing import Frame

_LISTS = ("positive", "negative", "positive_wrong")


def write_prompts(selected: Frame, path: str | Path) -> int:
    """Write prompts to a file, whole or not at all.

    `.parquet`: the table with all its columns except the lists that the documents were selected
    from, also of rows without a prompt. `.jsonl`: a line for each prompt, as runners of evaluations
    read them, with `id`, `input` (chat messages, each with `role` and `content`), `target` (all
    accepted wordings of the answer in one list; which of them are required together is in the
    metadata) and `metadata` (what identifies the prompt, and `answers`). Rows without a prompt have
    no line; `read_responses` has them again, without a response.

    Args:
        selected: What `prompts` returns, or `select_documents`, for the prompts by default.
        path: The file.

    Returns:
        How many prompts were written.

    Raises:
        MissingColumnsError: A column is not there.
        ContractError: A prompt without data set or id, or two of the same.
        OutputError: The file cannot be written, or is neither kind.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import polars as pl
        >>> from evalframe.rag.documents import select_documents, write_prompts
        >>> instance = {"dataset": "en", "id": 7, "query": "Who won?", "answers": [["Ann"]]}
        >>> instances = pl.DataFrame([{**instance, "positive": ["Ann won."], "negative": ["No."]}])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "prompts.jsonl"
        ...     count = write_prompts(select_documents(instances, passage_num=0), path)
        ...     print(count, path.read_text()[:69])
        1 {"id":"en/7/noise0.0/passages0/correct0.0/seeded42","input":[{"role":
    """
    path = Path(path)
    check_prompt_file(path)
    lazy = selected.lazy().collect().lazy()  # looked through for the ids, then written
    if not PROMPTS.keys() <= lazy.collect_schema().keys():
        lazy = prompts(lazy)
    asked = pl.col("prompt").is_not_null()
    ids = lazy.filter(asked).select("prompt_id").collect().to_series()
    check_ids(ids, "write_prompts")
    with replacing(path) as partial:
        if path.suffix == ".parquet":
            lazy.select(pl.exclude(_LISTS)).sink_parquet(partial)
        else:
            lazy.filter(asked).select(**_line(lazy.collect_schema())).sink_ndjson(partial)
    return len(ids)


def check_prompt_file(path: Path) -> None:
    """Raise where prompts have no such format.

    Raises:
        OutputError: It says which they have.
    """
    if path.suffix not in (".parquet", ".jsonl"):
        raise OutputError(f"cannot write {path.name}: name it .parquet or .jsonl")


def _line(schema: pl.Schema) -> dict[str, pl.Expr]:
    """What a line of JSON holds.

    Raises:
        MissingColumnsError: There are no answers.
        ParameterError: They are neither text nor lists of text.
        ContractError: An answer is null or holds one.
    """
    if "answers" not in schema:
        raise MissingColumnsError.of("write_prompts", {"answers"}, schema)
    answers = answers_from_text("answers")
    user = pl.struct(pl.lit("user").alias("role"), pl.col("prompt").alias("content"))
    system = pl.struct(pl.lit("system").alias("role"), pl.col("system").alias("content"))
    return {
        "id": pl.col("prompt_id"),
        "input": pl.when(pl.col("system").is_null())
        .then(pl.concat_list(user))
        .otherwise(pl.concat_list(system, user)),
        "target": answers.list.eval(pl.element().explode(empty_as_null=False, keep_nulls=False)),
        "metadata": pl.struct(*KEYS, answers),
    }
