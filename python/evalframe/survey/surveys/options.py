"""Options of a question, the same in all of its segments."""

from __future__ import annotations

import polars as pl

from evalframe.core.errors import ContractError, ParameterError

QUESTION = ["round", "question_id"]
"""Columns that identify a question."""

DISTRIBUTION = [*QUESTION, "segment_id"]
"""Columns that identify a distribution."""

INDEX, LABEL = "option_index", "option_label"

_EXAMPLES = 3
_NUMBER = ":number"
_LEADING = r"^\s*([-+]?[0-9]+(?:\.[0-9]+)?)"


def labels_of(dtype: pl.DataType) -> pl.Expr:
    """The column `options` as lists of texts, null without labels."""
    options = pl.col("options")
    if isinstance(dtype, pl.Array):
        options = options.arr.to_list()
    elif not isinstance(dtype, pl.List | pl.Null):
        raise ParameterError(f"options must be lists of texts (List(String)), but is {dtype}")
    options = options.cast(pl.List(pl.String))
    return pl.when(options.list.drop_nulls().list.len() > 0).then(options).alias("options")


def aligned(lists: pl.DataFrame) -> pl.DataFrame:
    """Distributions with the options of each question in the order of its first segment."""
    # Shares move with their labels. Lists without labels are assumed to be in that order.
    labelled = lists.drop_nulls("options")
    first = labelled.unique(QUESTION, keep="first", maintain_order=True)
    first = first.select(*QUESTION, wanted="options", first="segment_id")
    pairs = lists.join(first, on=QUESTION, how="left", maintain_order="left", nulls_equal=True)
    numbered = pairs.with_columns(pl.coalesce("options", "wanted")).with_row_index("row")
    other = numbered.filter(pl.col("options") != pl.col("wanted"))
    if not len(other):
        return numbered.select(lists.columns)
    _refuse_other_labels(other)
    position = pl.col("options").list.eval(pl.element().arg_sort())
    index = pl.col("wanted").list.eval(pl.element().arg_sort().arg_sort())
    ordered = other.select(
        "row", options="wanted", actual=pl.col("actual").list.gather(position.list.gather(index))
    )
    joined = numbered.join(ordered, on="row", how="left", maintain_order="left", suffix="_moved")
    moved = [pl.coalesce(f"{name}_moved", name).alias(name) for name in ("options", "actual")]
    return joined.with_columns(moved).select(lists.columns)


def _refuse_other_labels(other: pl.DataFrame) -> None:
    options, expected = pl.col("options"), pl.col("wanted")
    same = options.list.sort() == expected.list.sort()
    wrong = other.filter(~same | (options.list.n_unique() < options.list.len()))
    if not len(wrong):
        return
    examples = [
        f"question {question!r} of {segment!r} (round {round_!r}) has {options}, but {expected} of"
        f" {first!r}"
        for question, segment, round_, options, expected, first in wrong.head(_EXAMPLES)
        .select("question_id", "segment_id", "round", "options", "wanted", "first")
        .iter_rows()
    ]
    raise ContractError(
        f"the options of a question differ between segments in {len(wrong):,} distributions: "
        f"{'; '.join(examples)}{'; ...' * (len(wrong) > _EXAMPLES)}. Give all segments the same"
        " labels, in any order"
    )


def numbered(options: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Number the options in the order of their labels, whatever the order of the rows."""
    # By the order of an Enum; else by the numbers that all labels of a question begin with, such as
    # `18-25`; else by the alphabet.
    number = pl.col(LABEL).cast(pl.String).str.extract(_LEADING).cast(pl.Float64)
    begins = number.is_not_null().all().over(QUESTION)
    is_ordered = isinstance(options.schema[LABEL], pl.Enum)
    order = [LABEL] if is_ordered else [_NUMBER, LABEL]
    ranked = options.with_columns(pl.when(begins).then(number).alias(_NUMBER))
    ranked = ranked.sort(*QUESTION, *order).with_columns(
        pl.int_range(pl.len()).over(QUESTION).alias(INDEX)
    )
    if not is_ordered:
        total = ranked.select(QUESTION).n_unique()
        by_number = ranked.filter(pl.col(_NUMBER).is_not_null()).select(QUESTION).n_unique()
        notes.append(
            f"the options of {total:,} questions have no {INDEX!r} and are taken in the order of"
            f" their labels ({by_number:,} by the numbers they begin with, {total - by_number:,} by"
            " the alphabet): distances of earth movers assume it, and lists of shares must be in it"
        )
    return ranked.drop(_NUMBER)
