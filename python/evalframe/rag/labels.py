"""Labels of responses: which groups of the answer they hold, rejection, flagged errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, spread_literals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy as np
    import numpy.typing as npt

    from evalframe.core.segments import Bools, Ints
    from evalframe.core.typing import Frame, IntoExpr

    Labels: TypeAlias = npt.NDArray[np.int8]

REJECTIONS = ("信息不足", "insufficient information")
"""What a response that gives no answer says."""

FACTUAL_ERRORS = ("事实性错误", "factual errors")
"""What a response that finds the documents at fault says."""

LABELS = {"label": pl.List(pl.Int8()), "factlabel": pl.Int8()}
"""The columns that `label` adds."""

_GROUPS = pl.List(pl.List(pl.String()))
_UNKNOWN = -2


def label(
    responses: Frame,
    *,
    dataset: IntoExpr = "dataset",
    answers: IntoExpr = "answers",
    response: IntoExpr = "response",
) -> pl.LazyFrame:
    """Say of each response which groups of the answer it holds.

    In this order: spaces (U+0020) are taken out of the responses of data sets whose name contains
    `zh`; a response that contains `insufficient information` or `信息不足` is a rejection, whatever
    else it says; all others are searched for the aliases, both in lower case. Aliases are literals
    within words, too: 70 is found in 170.

    Args:
        responses: One row per response.
        dataset: Name of the data set.
        answers: Accepted answers. List(List(String)): groups of aliases. List(String): each string
            is a group of its own, and all are required. String: the one group of one alias.
        response: The text.

    Returns:
        The columns of `responses`, then `label` (List(Int8): 1 or 0 for each group, found or not;
        [-1] for a rejection; empty for an answer without groups) and `factlabel` (Int8: 1 where
        the response contains `factual errors` or `事实性错误`). Both are null where the response
        or the data set is null, `label` also where the answers, a group or an alias are, unless
        the response is a rejection. Lazy; rows keep their order.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A column is no text, or the answers have another shape.

    References:
        Chen et al. (2024), Benchmarking large language models in retrieval-augmented generation.
        Labels match RGB 65ec39e.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> responses = pl.DataFrame(
        ...     {
        ...         "dataset": ["en_int", "en", "zh"],
        ...         "answers": [[["Paris"], ["May 5", "5 May"]], [["Rome"]], [["高通骁龙"]]],
        ...         "response": ["paris, on 6 May", "insufficient information", "高通 骁龙"],
        ...     }
        ... )
        >>> ef.rag.label(responses).select("label", "factlabel").collect()
        shape: (3, 2)
        ┌──────────┬───────────┐
        │ label    ┆ factlabel │
        │ ---      ┆ ---       │
        │ list[i8] ┆ i8        │
        ╞══════════╪═══════════╡
        │ [1, 0]   ┆ 0         │
        │ [-1]     ┆ 0         │
        │ [1]      ┆ 0         │
        └──────────┴───────────┘
    """
    lazy = responses.lazy()
    roles = {"dataset": dataset, "answers": answers, "response": response}
    exprs = {role: as_expr(column) for role, column in roles.items()}
    present = lazy.collect_schema().names()
    needed = {root for expr in exprs.values() for root in expr.meta.root_names()}
    if missing := needed - {*present}:
        raise MissingColumnsError.of("label", missing, present)
    if taken := sorted({*LABELS} & {*present}):
        raise ParameterError(f"label adds a column {taken[0]!r}; rename the one in the table")
    dtypes = lazy.select(**exprs).collect_schema()
    for role in ("dataset", "response"):
        if dtypes[role] not in (pl.String, pl.Null):
            raise ParameterError(f"label: {role} must be text, but is {dtypes[role]}; cast it")
    exprs["answers"] = _grouped(exprs["answers"], dtypes["answers"])
    read = pl.struct([expr.alias(role) for role, expr in spread_literals(exprs).items()])
    made = read.map_batches(_labels, return_dtype=pl.Struct(LABELS), is_elementwise=True)
    return lazy.with_columns(made.struct.unnest())


def _grouped(answers: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Answers as groups of aliases.

    Raises:
        ParameterError: They have another shape.
    """
    match dtype:
        case pl.List(inner=pl.List(inner=pl.String() | pl.Null()) | pl.Null()) | pl.Null():
            return answers.cast(_GROUPS)
        case pl.List(inner=pl.String()):
            return answers.list.eval(pl.concat_list(pl.element()))
        case pl.String():
            return _grouped(pl.concat_list(answers), pl.List(dtype))
    raise ParameterError(
        f"label: answers must be lists of groups of aliases (List(List(String))), but is {dtype}"
    )


def _labels(rows: pl.Series) -> pl.Series:
    """Label and factlabel of rows of data set, answers and response."""
    import numpy as np

    frame = rows.struct.unnest()
    frame = frame.with_columns(_without_spaces(frame)).with_columns(
        rejected=_holds_any(REJECTIONS), factlabel=_holds_any(FACTUAL_ERRORS).cast(pl.Int8)
    )
    rejected = frame["rejected"].fill_null(value=False).to_numpy()
    searched = (~frame["rejected"] & frame["answers"].is_not_null()).fill_null(value=False)
    found, starts = _found(frame.filter(searched))
    places = np.flatnonzero(searched.to_numpy())
    lengths, known = rejected.astype(np.int64), rejected.copy()
    lengths[places], known[places] = np.diff(starts), ~_holds(found == _UNKNOWN, starts)
    values = np.full(lengths.sum(), -1, dtype=np.int8)
    values[np.repeat(~rejected, lengths)] = found
    made = {"label": _lists(values, lengths, known), "factlabel": frame["factlabel"]}
    return pl.DataFrame(made).to_struct("label")


def _without_spaces(frame: pl.DataFrame) -> pl.Expr:
    """The response, of Chinese data sets without spaces."""
    chinese = pl.col("dataset").str.contains("zh", literal=True)
    stripped = pl.col("response").str.replace_all(" ", "", literal=True)
    if not frame.select(chinese.any()).item():  # the common case, in a pass less
        return pl.when(pl.col("dataset").is_not_null()).then("response").alias("response")
    return pl.when(chinese).then(stripped).when(~chinese).then("response").alias("response")


def _holds_any(texts: Sequence[str]) -> pl.Expr:
    return pl.any_horizontal(pl.col("response").str.contains(text, literal=True) for text in texts)


def _found(rows: pl.DataFrame) -> tuple[Labels, Ints]:
    """1 or 0 for each group of each row, and where each row's groups start.

    A group that is null or holds a null is `_UNKNOWN`.
    """
    import numpy as np

    from evalframe.core import segments

    groups = rows["answers"].explode(empty_as_null=False)
    starts = segments.starts_of(rows["answers"].list.len().to_numpy())
    aliases = groups.explode(empty_as_null=False, keep_nulls=False)
    sizes = groups.list.len().fill_null(0).to_numpy()
    owner = np.repeat(np.repeat(np.arange(len(rows)), np.diff(starts)), sizes)
    texts = rows["response"].str.to_lowercase().gather(owner)
    pairs = pl.DataFrame({"text": texts, "alias": aliases.str.to_lowercase()})
    hits = pairs.select(pl.col("text").str.contains(pl.col("alias"), literal=True)).to_series()
    ends = segments.starts_of(sizes)
    found = _holds(hits.fill_null(value=False).to_numpy(), ends).astype(np.int8)
    found[groups.is_null().to_numpy() | _holds(hits.is_null().to_numpy(), ends)] = _UNKNOWN
    return found, starts


def _holds(flags: Bools, starts: Ints) -> Bools:
    """Whether any flag of each segment is set."""
    from evalframe.core import segments

    count = segments.starts_of(flags)
    return count[starts[1:]] > count[starts[:-1]]


def _lists(values: Labels, lengths: Ints, known: Bools) -> pl.Series:
    """Consecutive values as lists of these lengths, null where they are not known."""
    import pyarrow as pa

    from evalframe.core import segments

    offsets = pa.array(segments.starts_of(lengths))
    lists = pa.LargeListArray.from_arrays(offsets, pa.array(values), mask=pa.array(~known))
    return pl.Series(pl.from_arrow(lists))
