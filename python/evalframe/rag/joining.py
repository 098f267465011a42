"""Responses joined with the instances that they are responses to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from polars import selectors

from evalframe.core.contract import Column, Contract, validate
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.tables import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.typing import Frame

ATTACHED = ("answers", "query", "fake_answers")
"""Columns that responses get by default."""

_ROW = "__evalframe_row__"
_SHOWN = 3


@like_input
def attach_answers(
    responses: Frame,
    instances: Frame,
    *,
    on: Sequence[str] = ("dataset", "id"),
    columns: Sequence[str] | None = None,
) -> pl.LazyFrame:
    """Give each response the answers of its instance.

    The keys of both tables are read once, to check that each response has one instance.

    Args:
        responses: One row per response.
        instances: One row per question.
        on: The columns that identify an instance, in both tables.
        columns: Columns of the instances; by default `answers`, `query` and `fake_answers`, if
            they exist and the responses lack them.

    Returns:
        The columns of `responses`, then those of the instances. Rows keep their order.

    Raises:
        ContractError: Responses lack an instance, or instances repeat or lack a key.
        MissingColumnsError: A column is missing.
        ParameterError: The responses have such a column already, there is nothing to attach, or
            keys cannot be compared.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag.joining import attach_answers
        >>> instances = pl.DataFrame({"dataset": "en", "id": [0, 1], "answers": ["Rome", "Kyiv"]})
        >>> responses = pl.DataFrame({"dataset": "en", "id": [1, 0], "response": ["Kyiv", "Bonn"]})
        >>> attach_answers(responses, instances)["answers"].to_list()
        ['Kyiv', 'Rome']
    """
    keys = list(dict.fromkeys([on] if isinstance(on, str) else on))
    answered, questions = lazy(responses), lazy(instances)
    schema, question_schema = answered.collect_schema(), questions.collect_schema()
    if not keys:
        raise ParameterError("attach_answers needs the columns that identify an instance, as on=")
    attached = _attached(columns, [*keys], schema, question_schema)
    if missing := {*keys} - {*schema}:
        raise MissingColumnsError.of("attach_answers", missing, schema)
    if missing := {*keys, *attached} - {*question_schema}:
        raise MissingColumnsError.of("attach_answers", missing, question_schema)
    named = Contract("instances", tuple(Column(name) for name in keys), key=tuple(keys))
    validate(questions.select(selectors.by_name(keys)), named)
    questions = questions.select(
        *_as_in(schema, question_schema, keys), selectors.by_name(attached)
    )
    _refuse_unknown(answered, questions, keys)
    return answered.join(questions, on=keys, how="left", maintain_order="left")


def _attached(
    columns: Sequence[str] | None, keys: list[str], schema: pl.Schema, question_schema: pl.Schema
) -> list[str]:
    """The columns to attach."""
    if columns is None:
        attached = [name for name in ATTACHED if name in question_schema and name not in schema]
    else:
        attached = [columns] if isinstance(columns, str) else list(dict.fromkeys(columns))
        if twice := [name for name in attached if name in schema and name not in keys]:
            raise ParameterError(
                f"the responses have a column {twice[0]!r} already; drop it, or leave it out of"
                " columns"
            )
    attached = [name for name in attached if name not in keys]
    if not attached:
        raise ParameterError(
            "there is nothing to attach: the instances have none of the columns that the responses"
            f" lack. Instances have {question_schema.names()}; name some as columns=[...]"
        )
    return attached


def _as_in(schema: pl.Schema, question_schema: pl.Schema, keys: Sequence[str]) -> list[pl.Expr]:
    """The keys of the instances, cast to the types that they have in the responses."""
    for name in keys:
        dtype, other = schema[name], question_schema[name]
        integers = dtype.is_integer() and other.is_integer()
        if not (dtype == other or integers or (_is_text(dtype) and _is_text(other))):
            raise ParameterError(
                f"attach_answers compares {name!r}, which is {dtype} in the responses and {other} "
                f"in the instances; cast one: frame.with_columns(pl.col({name!r}).cast(pl.{other}))"
            )
    # A key that does not fit the type of the responses becomes null, which matches no response.
    return [selectors.by_name(name).as_expr().cast(schema[name], strict=False) for name in keys]


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def _refuse_unknown(responses: pl.LazyFrame, instances: pl.LazyFrame, keys: list[str]) -> None:
    """Raise ContractError if a response has no instance."""
    numbered = responses.select(selectors.by_name(keys)).with_row_index(_ROW)
    unknown = numbered.join(instances, on=keys, how="anti").sort(_ROW).collect()
    if unknown.is_empty():
        return
    rows = [
        f"  row {number}: " + ", ".join(map("{}={!r}".format, keys, values))
        for number, *values in unknown.head(_SHOWN).iter_rows()
    ]
    total = responses.select(pl.len()).collect().item()
    raise ContractError(
        f"{len(unknown):,} of {total:,} responses have no instance (rows are numbered from 0).\n"
        + "\n".join(rows)
        + "\nAdd their instances, correct the keys, or leave these rows out: responses.join("
        f"instances, on={keys!r}, how='semi')."
    )
