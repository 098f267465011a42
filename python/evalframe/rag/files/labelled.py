"""The table that prediction files are written from."""

from __future__ import annotations

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import ContractError
from evalframe.rag.answers import answer_groups
from evalframe.rag.files.names import SETTINGS

RUN = [*SETTINGS, "variant"]
"""The columns that tell files apart."""

_OPTIONAL = {
    "temperature": pl.Float64(),
    "correct_passage_rate": pl.Float64(),
    "documents": pl.List(pl.String()),
    "evaluation": pl.String(),
    "variant": pl.String(),
}
_LISTS = {"label": pl.List(pl.Int64()), "documents": pl.List(pl.String())}
_TYPES = pl.Schema(
    {"query": pl.String(), "response": pl.String(), **SETTINGS, **_OPTIONAL, **_LISTS}
)

_CONTRACT = Contract(
    "labelled responses",
    (
        *(Column(name, "string") for name in ("model", "dataset", "query", "response")),
        *(Column(name, "integer") for name in ("passage_num", "id", "factlabel")),
        Column("noise_rate", "number"),
        *(
            Column(name, "number", nullable=True)
            for name in ("temperature", "correct_passage_rate")
        ),
        *(Column(name, "string", nullable=True) for name in ("evaluation", "variant")),
        *(Column(name) for name in ("answers", "label")),
    ),
    rules=(
        Rule(
            "answers have a published shape",
            answer_groups(on_invalid="null").is_not_null(),
            ("answers",),
            "correct these rows, or leave them out, as the original does",
        ),
        Rule(
            "labels hold 1, 0 and -1",
            pl.col("label").list.eval(pl.element().is_in([-1, 0, 1]).fill_null(False)).list.all(),
            ("label",),
            "make them by evalframe.rag.label",
        ),
        Rule(
            "no document is null",
            ~pl.col("documents").list.contains(None),
            ("documents",),
            "leave null out of the lists",
        ),
        Rule(
            "all responses of a judged run have a judge's text",
            pl.col("evaluation").is_not_null() | pl.col("evaluation").is_null().all().over(RUN),
            ("evaluation",),
            "judge these, too, or leave them out, as the original does",
        ),
    ),
    key=(*RUN, "id"),
)


def labelled_responses(labelled: pl.LazyFrame) -> pl.DataFrame:
    """The responses, with all columns that are written, absent ones null.

    Raises:
        ContractError: They are no labelled responses.
        MissingColumnsError: A column is absent.
    """
    schema = labelled.collect_schema()
    absent = [pl.lit(None, t).alias(name) for name, t in _OPTIONAL.items() if name not in schema]
    table = labelled.with_columns(absent)
    _CONTRACT.check_schema(table.collect_schema())
    for name, dtype in _LISTS.items():
        _check_list(name, schema.get(name, dtype), dtype)
    validate(table, _CONTRACT)
    return table.with_columns(answer_groups()).cast(_TYPES).collect()


def _check_list(name: str, dtype: pl.DataType, wanted: pl.List) -> None:
    """Raise unless a column holds lists of integers or of text, as is wanted.

    Raises:
        ContractError: It does not.
    """
    match wanted.inner, dtype:
        case _, pl.Null() | pl.List(inner=pl.Null()):
            return
        case pl.String(), pl.List(inner=pl.String()):
            return
        case pl.Int64(), pl.List(inner=inner) if inner.is_integer():
            return
    raise ContractError(f"labelled responses: column {name!r} is {dtype}, not {wanted}. Cast it.")
