"""Responses joined with their instances, and several responses to a question as one."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from polars import selectors

from evalframe.core.contract import Column, Contract, validate
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import columns_read
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame
from evalframe.rag.metrics import not_missed

ATTACHED = ("answers", "query", "fake_answers")
"""Columns that responses get by default."""

UNION = ("label", "n_responses", "any_of")
"""Columns of the result after the keys."""

_ALL, _PLACE = ":all", ":place"
_ROW = "__evalframe_row__"


@like_input
def attach_answers(
    responses: Frame,
    instances: Frame,
    *,
    on: Sequence[str] = ("dataset", "id"),
    columns: Sequence[str] | None = None,
) -> pl.LazyFrame:
    """Give each response the answers of its instance.

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
        ParameterError: There is nothing to attach, or keys cannot be compared.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import attach_answers
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
    contract = Contract("instances", tuple(Column(name) for name in keys), key=tuple(keys))
    validate(questions.select(selectors.by_name(keys)), contract)
    questions = questions.select(
        *_as_in(schema, question_schema, keys), selectors.by_name(attached)
    )
    _refuse_unknown(answered, questions, keys)
    return answered.join(questions, on=keys, how="left", maintain_order="left")


@like_input
def union_labels(labelled: Frame, *, by: By) -> pl.LazyFrame:
    """Label several responses to one question as one: a group counts if any of them contains it.

    Each element is the largest of the labels that have it; a rejection is [-1], so any answer
    outweighs it.

    Args:
        labelled: Responses with `label`, as `evalframe.rag.label` returns them.
        by: Keys of responses that belong together, such as model, dataset, id.

    Returns:
        by..., `label` (List(Int8)), `n_responses` (Int64: those with a label) and `any_of`
        (Boolean: no group is missing; as in RGB also True for rejections only). Null if no response
        has a label. Sorted by the keys.

    Raises:
        MissingColumnsError: A key or the label is missing.

    References:
        RGB 65ec39e, its helper for several predictions.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tries = pl.DataFrame({"id": [0, 0, 1, 1], "label": [[1, 0], [0, 1], [-1], [0]]})
        >>> ef.rag.union_labels(tries, by="id").rows()
        [(0, [1, 1], 2, True), (1, [0], 2, False)]
    """
    frame, keys = lazy(labelled), Keys.of(by, taken=UNION)
    columns = frame.collect_schema().names()
    if missing := {"label", *columns_read(keys.exprs)} - {*columns}:
        raise MissingColumnsError.of("union_labels", missing, columns)
    label = pl.col("label").cast(pl.List(pl.Int8))
    rows = frame.select(*keys.select(), label, pl.lit(0).alias(_ALL))
    groups = [_ALL, *keys.inner]
    counts = rows.group_by(groups).agg(pl.col("label").count().cast(pl.Int64).alias("n_responses"))
    index = pl.int_ranges(pl.col("label").list.len()).alias(_PLACE)
    largest = (
        rows.filter(pl.col("label").is_not_null())
        .with_columns(index)
        .explode("label", _PLACE, empty_as_null=False)
        .group_by(*groups, _PLACE)
        .agg(pl.col("label").max())
        .group_by(groups)
        .agg(pl.col("label").sort_by(_PLACE))
    )
    joined = counts.join(largest, on=groups, how="left", nulls_equal=True)
    empty = pl.when(pl.col("n_responses") > 0).then(pl.lit([], dtype=pl.List(pl.Int8)))
    union = pl.coalesce("label", empty).alias("label")
    return (
        joined.with_columns(union)
        .sort(keys.inner or _ALL)
        .select(*keys.inner, "label", "n_responses", not_missed(pl.col("label")).alias("any_of"))
        .rename(keys.restore())
    )


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
        texts = all(isinstance(t, pl.String | pl.Categorical | pl.Enum) for t in (dtype, other))
        if not (dtype == other or integers or texts):
            raise ParameterError(
                f"attach_answers compares {name!r}, which is {dtype} in the responses and {other} "
                f"in the instances; cast one: frame.with_columns(pl.col({name!r}).cast(pl.{other}))"
            )
    # A key that does not fit the type of the responses becomes null, which matches no response.
    return [selectors.by_name(name).as_expr().cast(schema[name], strict=False) for name in keys]


def _refuse_unknown(responses: pl.LazyFrame, instances: pl.LazyFrame, keys: list[str]) -> None:
    """Raise ContractError if a response has no instance."""
    numbered = responses.select(selectors.by_name(keys)).with_row_index(_ROW)
    unknown = numbered.join(instances, on=keys, how="anti").sort(_ROW).collect()
    if unknown.is_empty():
        return
    rows = [
        f"  row {number}: " + ", ".join(map("{}={!r}".format, keys, values))
        for number, *values in unknown.head(3).iter_rows()
    ]
    total = responses.select(pl.len()).collect().item()
    raise ContractError(
        f"{len(unknown):,} of {total:,} responses have no instance (rows are numbered from 0).\n"
        + "\n".join(rows)
        + "\nAdd their instances, correct the keys, or leave these rows out: responses.join("
        f"instances, on={keys!r}, how='semi')."
    )
