"""The table that prediction files are written from."""

from __future__ import annotations

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.rag.answers import answer_groups
from evalframe.rag.contract import ANSWERS, factlabel_rule, label_rule
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
_TYPES = pl.Schema(
    {
        "query": pl.String(),
        "response": pl.String(),
        "label": pl.List(pl.Int64()),
        **SETTINGS,
        **_OPTIONAL,
    }
)
_LARGEST_ID = 10**18 - 1
"""What `read_rgb` reads back."""

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
        Column("answers", ANSWERS),
        Column("label", "integers"),
        Column("documents", "texts", nullable=True),
    ),
    rules=(
        Rule(
            "answers have a published shape",
            answer_groups(on_invalid="null").is_not_null(),
            ("answers",),
            "correct these rows, or leave them out, as the original does",
        ),
        label_rule("label"),
        factlabel_rule("factlabel"),
        Rule(
            "id has at most 18 digits",
            pl.col("id").is_between(-_LARGEST_ID, _LARGEST_ID),
            ("id",),
            "number the questions anew",
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
    validate(table, _CONTRACT)
    return table.with_columns(answer_groups()).cast(_TYPES).collect()
