"""Responses in free text as distributions: the vector, its status, and the rule that found it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError, did_you_mean
from evalframe.core.rows import as_expr, columns_read, spread_literals
from evalframe.survey.parsing.statuses import PARSED, parsed

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr


_RULES = ("documented", "reference")

_MADE = "__evalframe_parsed__"


def parse(
    frame: Frame,
    *,
    response: IntoExpr = "response",
    n_options: IntoExpr = "n_options",
    question_key: IntoExpr | None = None,
    options: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    r"""Read the distribution out of each response.

    By documented rules a list of numbers counts if it has one for each option, all finite and none
    negative, with a sum of about 100 or about 1. Taken are, in this order: a bracket behind
    `DISTRIBUTION:`, a list behind a word for the answer, Markdown tables, labels that name the
    options, labels with letters or numbers, brackets that are no citations or intervals, plain
    lists, letters of individuals. With a question key only what stands behind the key is read.
    `evalframe.survey.parsing.documented` says which ways of writing are known.

    By the rules of the original the first list counts, whatever it holds, and without its key the
    first bracket is taken, even if it answers another question. Its scorer gives 0 to a response of
    white space alone, which is `unparsed` by its rules; but its runner never passes such a response
    on. To reproduce its leaderboards, leave these responses out before.

    Numbers stay as they are written: percentages are not turned into fractions.

    Args:
        frame: One row per response, or per question of a batched response.
        response: The text.
        n_options: How many options there are: an integer, or a list with one element for each.
        question_key: The key of the question in a batched response; null where the response is to
            one question. An empty key is none.
        options: The labels of the options (List(String)), for documented rules; the original's do
            not read them.
        rules: `"documented"`, or `"reference"` for what the original program reads, faults and all.

    Returns:
        The columns of `frame`, then

        - `predicted` (List(Float64)): the vector; by documented rules null unless `status` is `ok`,
          by those of the original also of a wrong length.
        - `status` (String): `ok`; `failed` (the response is null, contains `<<error>>`, or, by
          documented rules, is nothing but white space: no answer was generated, and the row counts
          for nothing);
          `length_mismatch` (a vector of another length, and none of the right one); `unparsed`
          (no vector). Null where the number of options is null or below 1, unless failed.
        - `parse_rule` (String): `marker`, `bracket`, `lines`, `labelled`, `keyed` or `individuals`,
          by documented rules also `table` and `options`; null where there is no vector.

        Columns of these names are replaced. Lazy; rows keep their order, and none depends on
        another.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A column has another type, or there are no such rules.

    References:
        dtef-app 52d79c0, whose rules `"reference"` follows to the letter (its key search takes the
        key for a pattern, here it stands for itself).

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.parsing import parse
        >>> responses = pl.DataFrame(
        ...     {
        ...         "response": ["As in [1]: DISTRIBUTION: [60, 40]", "a) Yes: 55%\nb) No: 45%"],
        ...         "n_options": [2, 2],
        ...     }
        ... )
        >>> parse(responses).select("predicted", "status", "parse_rule").collect()
        shape: (2, 3)
        ┌──────────────┬────────┬────────────┐
        │ predicted    ┆ status ┆ parse_rule │
        │ ---          ┆ ---    ┆ ---        │
        │ list[f64]    ┆ str    ┆ str        │
        ╞══════════════╪════════╪════════════╡
        │ [60.0, 40.0] ┆ ok     ┆ marker     │
        │ [55.0, 45.0] ┆ ok     ┆ labelled   │
        └──────────────┴────────┴────────────┘
    """
    if rules not in _RULES:
        raise ParameterError(
            f"rules must be one of {list(_RULES)}, got {rules!r}.{did_you_mean(str(rules), _RULES)}"
        )
    lazy = frame.lazy()
    roles = {"response": response, "n_options": n_options}
    roles |= {} if question_key is None else {"question_key": question_key}
    roles |= {} if options is None or rules == "reference" else {"options": options}
    exprs = {role: as_expr(column) for role, column in roles.items()}
    present = lazy.collect_schema().names()
    needed = columns_read(exprs.values())
    if missing := needed - {*present}:
        raise MissingColumnsError.of("parse", missing, present)
    dtypes = lazy.select(**exprs).collect_schema()
    read = {
        "text": _text(exprs["response"], dtypes["response"], "response"),
        "n": _count(exprs["n_options"], dtypes["n_options"]),
        "key": pl.lit(None, dtype=pl.String),
    }
    if question_key is not None:
        key = _text(exprs["question_key"], dtypes["question_key"], "question_key")
        read["key"] = pl.when(key != "").then(key)
    if "options" in exprs:
        read["options"] = _labels(exprs["options"], dtypes["options"])
    struct = pl.struct([expr.alias(name) for name, expr in spread_literals(read).items()])
    made = struct.map_batches(
        partial(parsed, rules=rules), return_dtype=pl.Struct(PARSED), is_elementwise=True
    )
    # A frame is unnested, since an expression would be evaluated once for each field.
    with_made = lazy.with_columns(made.alias(_MADE))
    return with_made.drop(name for name in PARSED if name in present).unnest(_MADE)


def _text(column: pl.Expr, dtype: pl.DataType, role: str) -> pl.Expr:
    """The column as text.

    Raises:
        ParameterError: It is none.
    """
    if dtype in (pl.String, pl.Null, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    raise ParameterError(f"parse: {role} must be text, but is {dtype}; cast it")


def _count(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """How many options there are: the integer, or the length of the list.

    Raises:
        ParameterError: It is neither.
    """
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
    """The labels of the options, as lists.

    Raises:
        ParameterError: They have another shape.
    """
    match dtype:
        case pl.List(inner=pl.String() | pl.Null()) | pl.Null():
            return column.cast(pl.List(pl.String))
    raise ParameterError(
        f"parse: options must be lists of labels (List(String)), but is {dtype}; cast it"
    )
