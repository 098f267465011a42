"""Responses in free text as distributions: the vector, its status, and the rule that read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read, spread_literals
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.parsing.characters import is_blank
from evalframe.survey.parsing.ladder import VECTOR
from evalframe.survey.parsing.reading import read_vectors

PARSED = {"predicted": VECTOR, "status": pl.String(), "parse_rule": pl.String()}
"""The columns that `parse` adds."""

_ERROR_MARKER = "<<error>>"
"""Written by runners if no response was generated."""

_PARSED = "__evalframe_parsed__"


@like_input
def parse(
    frame: Frame,
    *,
    response: IntoExpr = "response",
    n_options: IntoExpr = "n_options",
    question_key: IntoExpr | None = None,
    options: IntoExpr | None = None,
) -> pl.LazyFrame:
    r"""Read the distribution from each response.

    A list of numbers is accepted if it has one for each option, all finite and none negative, with
    a sum of about 100 or about 1. In this order: a bracket after `DISTRIBUTION:`, a list after a
    word for the answer, Markdown tables, labels that name the options, labels with letters or
    numbers, brackets that are not citations or intervals, plain lists, letters of individuals. With
    a question key only the text after the key is read. `evalframe.survey.parsing.reading` has the
    accepted notations. Numbers stay as written: percentages are not turned into fractions.

    Args:
        frame: One row per response, or per question of a batched response.
        response: The text.
        n_options: Number of options: an integer, or a list with one element for each.
        question_key: The key of the question in a batched response; null or empty if the response
            answers one question.
        options: The labels of the options (List(String)).

    Returns:
        The columns of `frame`, then

        - `predicted` (List(Float64)): the vector; null unless `status` is `ok`.
        - `status` (String): `ok`; `failed` (the response is null, blank, or contains `<<error>>`:
          no answer was generated, and the row has no score); `length_mismatch` (a vector of another
          length, and none of the right one); `unparsed` (no vector). Null if the number of options
          is null or below 1, unless failed.
        - `parse_rule` (String): `marker`, `bracket`, `table`, `options`, `lines`, `labelled`,
          `keyed` or `individuals`; null without a vector.

        Columns of these names are replaced. Rows keep their order. Lazy if the frame is.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = ["As in [1]: DISTRIBUTION: [60, 40]", "a) Yes: 55%\nb) No: 45%"]
        >>> parsed = ef.survey.parse(pl.DataFrame({"response": texts, "n_options": 2}))
        >>> parsed.select("predicted", "status", "parse_rule").rows()
        [([60.0, 40.0], 'ok', 'marker'), ([55.0, 45.0], 'ok', 'labelled')]
    """
    columns = {"response": response, "n_options": n_options}
    columns |= {} if question_key is None else {"question_key": question_key}
    columns |= {} if options is None else {"options": options}
    return with_parsed(frame, columns, _parsed)


def with_parsed(
    frame: Frame, columns: Mapping[str, IntoExpr], parsed: Callable[[pl.Series], pl.Series]
) -> pl.LazyFrame:
    """Add the columns that a function computes of structs of `text`, `n`, `key` and `options`."""
    lazy = frame.lazy()
    exprs = {role: as_expr(column) for role, column in columns.items()}
    names = lazy.collect_schema().names()
    if missing := columns_read(exprs.values()) - {*names}:
        raise MissingColumnsError.of("parse", missing, names)
    dtypes = lazy.select(**exprs).collect_schema()
    fields = {
        "text": _text(exprs["response"], dtypes["response"], "response"),
        "n": _count(exprs["n_options"], dtypes["n_options"]),
        "key": pl.lit(None, dtype=pl.String),
    }
    if "question_key" in exprs:
        key = _text(exprs["question_key"], dtypes["question_key"], "question_key")
        fields["key"] = pl.when(key != "").then(key)
    if "options" in exprs:
        fields["options"] = _labels(exprs["options"], dtypes["options"])
    struct = pl.struct([expr.alias(name) for name, expr in spread_literals(fields).items()])
    result = struct.map_batches(parsed, return_dtype=pl.Struct(PARSED), is_elementwise=True)
    # A frame is unnested, since an expression would be evaluated once for each field.
    return (
        lazy.with_columns(result.alias(_PARSED))
        .drop(name for name in PARSED if name in names)
        .unnest(_PARSED)
    )


def with_status(rows: pl.Series, find: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """The text, `n`, vector, rule and status of each response."""
    frame = rows.struct.unnest()
    marked = pl.col("text").str.contains(_ERROR_MARKER, literal=True)
    is_generated = frame.select((~marked).fill_null(value=False)).to_series()
    has_options = (frame["n"] >= 1).fill_null(value=False)
    is_read = is_generated & has_options
    vectors = find(frame if is_read.all() else frame.filter(is_read))
    if not is_read.all():
        index = (is_read.cum_sum().cast(pl.Int64) - 1).set(~is_read, None)
        vectors = vectors.select(pl.all().gather(index))
    status = (
        pl.when(~pl.lit(is_generated))
        .then(pl.lit("failed"))
        .when(~pl.lit(has_options))
        .then(None)
        .when(pl.col("predicted").is_null())
        .then(pl.lit("unparsed"))
        .when(pl.col("predicted").list.len() == pl.col("n"))
        .then(pl.lit("ok"))
        .otherwise(pl.lit("length_mismatch"))
    )
    return frame.select("text", "n").with_columns(vectors).with_columns(status=status)


def _parsed(rows: pl.Series) -> pl.Series:
    """A blank response is failed, and a vector of another length is dropped."""
    table = with_status(rows, read_vectors)
    index = table["predicted"].is_null().arg_true()
    blank = table.select(is_blank(pl.col("text").gather(index))).to_series()
    if blank.any():
        table = table.with_columns(table["status"].scatter(index.filter(blank), "failed"))
    if (table["status"] == "length_mismatch").any():
        fits = pl.col("predicted").list.len() == pl.col("n")
        table = table.with_columns(pl.when(fits).then("predicted"))
    return table.select(PARSED.keys()).to_struct()


def _text(column: pl.Expr, dtype: pl.DataType, role: str) -> pl.Expr:
    """The column as text."""
    if dtype in (pl.String, pl.Null, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    raise ParameterError(f"parse: {role} must be text, but is {dtype}; cast it")


def _count(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Number of options: the integer, or the length of the list."""
    match dtype:
        case pl.List():
            return column.list.len().cast(pl.Int64)
        case pl.Array():
            return column.arr.len().cast(pl.Int64)
        case _ if dtype.is_integer() or dtype == pl.Null:
            return column.cast(pl.Int64, strict=False)
    raise ParameterError(
        f"parse: n_options must be integers or lists of options, but is {dtype}; cast it"
    )


def _labels(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The labels of the options, as lists."""
    match dtype:
        case pl.List(inner=pl.String() | pl.Null()) | pl.Null():
            return column.cast(pl.List(pl.String))
    raise ParameterError(
        f"parse: options must be lists of labels (List(String)), but is {dtype}; cast it"
    )
