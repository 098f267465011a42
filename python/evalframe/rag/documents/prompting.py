"""Prompts from selected documents, their files, and the responses to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from evalframe.core.answered import answered, check_ids, is_lines, read_prompts
from evalframe.core.errors import MissingColumnsError, OutputError, ParameterError
from evalframe.core.files import replacing
from evalframe.core.frames import any_frame, like_input
from evalframe.core.typing import Frame, IntoExpr, Source
from evalframe.rag.answers import GROUPS, answers_from_text
from evalframe.rag.contract import is_chinese
from evalframe.rag.documents.counts import OK
from evalframe.rag.languages import Language, built_in

KEYS = ("dataset", "id", "noise_rate", "passage_num", "correct_passage_rate", "order", "seed")
"""The columns that identify a prompt."""

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
    """Prompts that ask a model the questions, each with its documents.

    Args:
        selected: Result of `select_documents`, with a column `query`.
        language: Language of the prompts; by default Chinese for data sets whose name contains
            `zh`, English for others.
        template: The text around `{documents}` and `{query}`; both can occur several times, other
            braces are text. By default that of the language.
        system: The system prompt; by default that of the language, which asks for the phrases by
            which `label` recognises rejections and flagged errors.
        closed_book: The template for prompts without documents, which have no system prompt.
        separator: Text between two documents.

    Returns:
        The columns of `selected`, then `prompt_id` (String: data set, id, noise rate, number of
        passages, correct passage rate, and order and seed unless they are those of RGB), `prompt`
        and `system` (String). `prompt` is null without a query (see `status`) and without
        selected documents, `system` also with zero documents. Rows keep their order.

    Raises:
        ParameterError: A template lacks `{query}` or is not text, or the table already has a column
            that is added.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import prompts, select_documents
        >>> instance = {"dataset": "en", "id": 7, "query": "Who won?", "positive": ["Ann won."]}
        >>> instances = pl.DataFrame([{**instance, "negative": ["Bob ran.", "Cy fell."]}])
        >>> asked = prompts(select_documents(instances, noise_rate=0.5, passage_num=2))
        >>> asked["prompt_id"].item(), asked["prompt"].item().splitlines()[:3]
        ('en/7/noise0.5/passages2/correct0.0/seeded42', ['Passages:', 'Ann won.', 'Bob ran.'])
    """
    lazy = selected.lazy()
    columns = lazy.collect_schema().names()
    if missing := {*KEYS, "query", "documents", "status"} - {*columns}:
        raise MissingColumnsError.of("prompts", missing, columns)
    if reserved := [name for name in PROMPTS if name in columns]:
        raise ParameterError(f"prompts adds a column {reserved[0]!r}; rename the one in the table")
    if not isinstance(system, str | None) or not isinstance(separator, str):
        raise ParameterError(f"system and separator must be text, got {system!r}, {separator!r}")
    chinese = is_chinese(pl.col("dataset"))
    length = pl.col("documents").list.len()
    east, west = language or built_in("chinese"), language or built_in("english")
    in_chinese, in_english = (
        _filled("template", each.template if template is None else template, separator)
        for each in (east, west)
    )
    open_book = pl.when(chinese).then(in_chinese).otherwise(in_english)
    instructions = pl.when(chinese).then(pl.lit(east.told)).otherwise(pl.lit(west.told))
    if system is not None:
        instructions = pl.lit(system)
    mute = pl.col("query").is_null() & (pl.col("status") == OK)
    return lazy.with_columns(
        prompt_id=_prompt_id(),
        status=pl.when(mute).then(pl.lit("the query is null")).otherwise("status"),
        prompt=pl.when(length > 0)
        .then(open_book)
        .when(length == 0)
        .then(_filled("closed_book", closed_book, separator)),
        system=pl.when((length > 0) & pl.col("query").is_not_null()).then(instructions),
    )


def _filled(name: str, template: str, separator: str) -> pl.Expr:
    """The template with documents and query in place."""
    if not (isinstance(template, str) and "{query}" in template):
        raise ParameterError(f"{name} has no {{query}} for the question: {template!r}")
    documents = pl.col("documents").list.join(separator)
    fields = {"{documents}": documents, "{query}": pl.col("query")}
    pieces = re.split(r"(\{documents\}|\{query\})", template)
    return pl.concat_str([fields.get(piece, pl.lit(piece)) for piece in pieces])


def _prompt_id() -> pl.Expr:
    noise, correct = pl.col("noise_rate"), pl.col("correct_passage_rate")
    setting = pl.format(
        "{}/{}/noise{}/passages{}/correct{}", "dataset", "id", noise, "passage_num", correct
    )
    usual = (pl.col("order") == "original") & (pl.col("seed") == 2333)  # those of RGB
    return pl.when(usual).then(setting).otherwise(pl.format("{}/{}{}", setting, "order", "seed"))


@any_frame
def write_prompts(selected: Frame, path: str | Path) -> int:
    """Write prompts to a file, completely or not at all.

    `.parquet`: the table without the lists that the documents were selected from, with all rows.
    `.jsonl`: a line for each prompt, as runners of evaluations read them, with `id`, `input` (chat
    messages with `role` and `content`), `target` (all aliases of the answer in one list) and
    `metadata` (the settings of the prompt, and `answers`). Rows without a prompt have no line.

    Args:
        selected: Result of `prompts`, or of `select_documents` for the default prompts.
        path: The file.

    Returns:
        Number of prompts.

    Raises:
        ContractError: A prompt lacks its data set or id, or two have the same.
        OutputError: The file cannot be written, or has another extension.

    Examples:
        >>> import tempfile
        >>> import polars as pl
        >>> from evalframe.rag import select_documents, write_prompts
        >>> instance = {"dataset": "en", "id": 7, "query": "Who won?", "answers": [["Ann"]]}
        >>> instances = pl.DataFrame([{**instance, "positive": ["Ann won."], "negative": ["No."]}])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_prompts(select_documents(instances), f"{folder}/prompts.jsonl")
        1
    """
    path = Path(path)
    check_prompt_file(path)
    lazy = selected.lazy().collect().lazy()  # read for the ids, then written
    if not PROMPTS.keys() <= lazy.collect_schema().keys():
        lazy = prompts(lazy)
    has_prompt = pl.col("prompt").is_not_null()
    ids = lazy.filter(has_prompt).select("prompt_id").collect().to_series()
    check_ids(ids, "write_prompts")
    with replacing(path) as partial:
        if path.suffix == ".parquet":
            lazy.select(pl.exclude("positive", "negative", "positive_wrong")).sink_parquet(partial)
        else:
            lazy.filter(has_prompt).select(**_line(lazy.collect_schema())).sink_ndjson(partial)
    return len(ids)


def check_prompt_file(path: Path) -> None:
    """Raise OutputError unless prompts can be written to a file of this name."""
    if path.suffix not in (".parquet", ".jsonl"):
        raise OutputError(f"cannot write {path.name}: name it .parquet or .jsonl")


def _line(schema: pl.Schema) -> dict[str, pl.Expr]:
    """The fields of a line of JSON."""
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
        the order of their first responses.

    Raises:
        ContractError: There are no responses, a response has no prompt or no model, a run answers a
            prompt twice, or two prompts have the same id.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import prompts, read_responses, select_documents
        >>> instance = {"dataset": "en", "query": "Who?", "answers": [["Ann"]], "negative": ["No."]}
        >>> instances = pl.DataFrame([{**instance, "id": id, "positive": ["A."]} for id in (7, 8)])
        >>> asked = prompts(select_documents(instances))
        >>> answered = pl.DataFrame({"id": asked["prompt_id"].tail(1), "text": "Bob"})
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
