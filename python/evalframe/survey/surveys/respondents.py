"""Options of questions in one order, and answers of respondents as shares in their segments."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError, first_few
from evalframe.survey.surveys.segments import segment_id

QUESTION = ["round", "question_id"]
"""Columns that identify a question."""

DISTRIBUTION = [*QUESTION, "segment_id"]
"""Columns that identify a distribution."""

INDEX, LABEL = "option_index", "option_label"

_EXAMPLES = 3
_NUMBER = ":number"
_LEADING = r"^\s*([-+]?[0-9]+(?:\.[0-9]+)?)"

RESPONDENT, WEIGHT, UNANSWERED = "respondent_id", "weight", "n_unanswered"
_OF_SEGMENTS = ("segment_attribute", "segment_value", "question_text")
_NO_ATTRIBUTES = (*DISTRIBUTION, *_OF_SEGMENTS, "sample_size", RESPONDENT, WEIGHT, LABEL, INDEX)
"""Columns that are not attributes of respondents."""

_ROW, _TOTAL = ":row", ":total"
_WHOLE = r"^(-?[0-9]+)\.0+$"


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
    first = first.select(*QUESTION, expected="options", first="segment_id")
    pairs = lists.join(first, on=QUESTION, how="left", maintain_order="left", nulls_equal=True)
    numbered = pairs.with_columns(pl.coalesce("options", "expected")).with_row_index("row")
    other = numbered.filter(pl.col("options") != pl.col("expected"))
    if not len(other):
        return numbered.select(lists.columns)
    _refuse_other_labels(other)
    position = pl.col("options").list.eval(pl.element().arg_sort())
    index = pl.col("expected").list.eval(pl.element().arg_sort().arg_sort())
    ordered = other.select(
        "row", options="expected", actual=pl.col("actual").list.gather(position.list.gather(index))
    )
    joined = numbered.join(ordered, on="row", how="left", maintain_order="left", suffix="_moved")
    moved = [pl.coalesce(f"{name}_moved", name).alias(name) for name in ("options", "actual")]
    return joined.with_columns(moved).select(lists.columns)


def _refuse_other_labels(other: pl.DataFrame) -> None:
    options, expected = pl.col("options"), pl.col("expected")
    same = options.list.sort() == expected.list.sort()
    wrong = other.filter(~same | (options.list.n_unique() < options.list.len()))
    if not len(wrong):
        return
    examples = [
        f"question {question!r} of {segment!r} (round {round_!r}) has {options}, but {expected} of"
        f" {first!r}"
        for question, segment, round_, options, expected, first in wrong.head(_EXAMPLES)
        .select("question_id", "segment_id", "round", "options", "expected", "first")
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
    index = pl.int_range(pl.len()).over(QUESTION).alias(INDEX)
    ranked = options.with_columns(pl.when(begins).then(number).alias(_NUMBER))
    ranked = ranked.sort(*QUESTION, *order).with_columns(index)
    if not is_ordered:
        total = ranked.select(QUESTION).n_unique()
        by_number = ranked.filter(pl.col(_NUMBER).is_not_null()).select(QUESTION).n_unique()
        notes.append(
            f"the options of {total:,} questions have no {INDEX!r} and are taken in the order of"
            f" their labels ({by_number:,} by the numbers they begin with, {total - by_number:,} by"
            " the alphabet): distances of earth movers assume it, and lists of shares must be in it"
        )
    return ranked.drop(_NUMBER)


def of_respondents(table: pl.DataFrame, questions: Sequence[str], notes: list[str]) -> pl.DataFrame:
    """The shares of options in each segment, with sample sizes and missing answers."""
    attributes = [] if "segment_id" in table.columns else _attributes(table, questions)
    _check_respondents(table, questions)
    numbers = table.with_row_index(_ROW)
    if not questions:  # a respondent with several answers has several rows
        numbers = numbers.with_columns(pl.col(_ROW).first().over("round", RESPONDENT))
    rows = _weighted(numbers, notes)
    if not questions and LABEL not in rows.columns:
        raise MissingColumnsError.of("answers of respondents", {LABEL}, table.columns)
    labels = [*questions] or [LABEL]
    types = {name: rows.schema[name] for name in labels}
    rows = rows.with_columns(_texts(rows, labels))
    if questions:
        others = [name for name in rows.columns if name not in questions]
        rows = rows.unpivot(labels, index=others, variable_name="question_id", value_name=LABEL)
    answer = pl.col(LABEL)
    rows = rows.with_columns(pl.when(answer != "").then(answer).alias(LABEL))
    return _counted(_members(rows, attributes, notes), types, notes)


def _texts(rows: pl.DataFrame, names: Sequence[str]) -> list[pl.Expr]:
    """Values as texts: 1 for 1.0, null for NaN; categories of an Enum stay unchanged."""
    exprs = []
    for name in names:
        dtype, value = rows.schema[name], pl.col(name)
        text = (value.fill_nan(None) if dtype.is_float() else value).cast(pl.String)
        is_listed = isinstance(dtype, pl.Enum)
        exprs.append(text if is_listed else text.str.strip_chars().str.replace(_WHOLE, "$1"))
    return exprs


def _attributes(table: pl.DataFrame, questions: Sequence[str]) -> list[str]:
    attributes = [name for name in table.columns if name not in (*_NO_ATTRIBUTES, *questions)]
    if not attributes:
        raise MissingColumnsError(
            "respondents need segments: a column 'segment_id', or columns such as 'gender' whose"
            f" values make them; the table has {table.columns}"
        )
    return attributes


def _check_respondents(table: pl.DataFrame, questions: Sequence[str]) -> None:
    if RESPONDENT not in table.columns:
        return
    further = ("segment_id",) if questions else ("segment_id", "question_id")
    keys = [name for name in ("round", *further, RESPONDENT) if name in table.columns]
    repeated = table.filter(pl.struct(keys).is_duplicated())
    if len(repeated):
        raise ContractError(
            f"{RESPONDENT} repeats in {len(repeated):,} rows: {first_few(repeated[RESPONDENT])};"
            f" keep one row of each respondent{'' if questions else ' and question'}"
        )


def _weighted(rows: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """The rows with a usable weight; all have weight 1 without a column of weights."""
    if WEIGHT not in rows.columns:
        return rows.with_columns(pl.lit(1.0).alias(WEIGHT))
    weight = pl.col(WEIGHT).cast(pl.Float64, strict=False)
    usable = (weight.is_finite() & (weight >= 0)).fill_null(value=False)
    notes.append(f"respondents count by {WEIGHT!r}; sample sizes are their numbers, not weighted")
    if lost := rows.filter(~usable).height:
        notes.append(
            f"{lost:,} of {len(rows):,} rows have no {WEIGHT} of 0 or more and are left out"
        )
    return rows.filter(usable).with_columns(weight)


def _members(rows: pl.DataFrame, attributes: Sequence[str], notes: list[str]) -> pl.DataFrame:
    """A row for each segment that a respondent belongs to."""
    respondents = rows[_ROW].n_unique()
    if not attributes:
        segment = pl.col("segment_id").cast(pl.String).str.strip_chars()
        has_value = (segment != "").fill_null(value=False)
        if count := rows.filter(~has_value)[_ROW].n_unique():
            notes.append(
                f"{count:,} of {respondents:,} respondents have no 'segment_id' and are left out"
            )
        return rows.filter(has_value)
    strings = _texts(rows, attributes)
    others = [name for name in rows.columns if name not in attributes]
    names = {"variable_name": "segment_attribute", "value_name": "segment_value"}
    long = rows.select(*others, *strings).unpivot([*attributes], index=others, **names)
    value = pl.col("segment_value")
    has_value = value.is_not_null() & (value != "")
    lost = long.filter(~has_value).group_by("segment_attribute").agg(pl.col(_ROW).n_unique())
    notes += [
        f"{count:,} of {respondents:,} respondents have no {name!r} and are in no segment of it"
        for name, count in lost.sort("segment_attribute").rows()
    ]
    members = long.filter(has_value).with_columns(segment_id("segment_attribute", value))
    segments = members.select("segment_attribute", "segment_value", "segment_id").unique()
    twice = segments.filter(pl.col("segment_id").is_duplicated()).sort("segment_id", value)
    if len(twice):
        segment = twice["segment_id"][0]
        values = first_few(twice.filter(segment_id=segment)["segment_value"])
        raise ContractError(
            f"segment {segment!r} would be made of several values: {values}; rename one"
        )
    counts = segments.group_by("segment_attribute").len().sort("segment_attribute").rows()
    examples = ", ".join(f"{name} ({count:,})" for name, count in counts)
    notes.append(
        f"segments are made of the values of {examples}; drop columns that say something else"
    )
    return members


def _counted(rows: pl.DataFrame, types: dict[str, pl.DataType], notes: list[str]) -> pl.DataFrame:
    """A row for each option of a question in each segment."""
    columns = [name for name in _OF_SEGMENTS if name in rows.columns]
    answered = pl.col(LABEL).is_not_null()
    sizes = rows.group_by(DISTRIBUTION, maintain_order=True).agg(
        *(pl.col(name).first() for name in columns),
        answered.sum().cast(pl.Int64).alias("sample_size"),
        (~answered).sum().cast(pl.Int64).alias(UNANSWERED),
        pl.col(WEIGHT).filter(answered).sum().alias(_TOTAL),
    )
    questions = rows.group_by(QUESTION, maintain_order=True).agg(
        pl.col(_ROW).n_unique().alias("n"), pl.col(_ROW).filter(~answered).n_unique().alias("lost")
    )
    notes += [
        f"{lost:,} of {n:,} respondents did not answer {question!r}"
        for question, n, lost in questions.select("question_id", "n", "lost").rows()
        if lost
    ]
    silent = sizes.filter(pl.col(_TOTAL) == 0).select("segment_id", "question_id")
    notes += [
        f"question {question!r} has no answers of segment {segment!r} and is left out for it"
        for segment, question in silent.rows()
    ]
    counts = rows.filter(answered).group_by(*DISTRIBUTION, LABEL).agg(pl.col(WEIGHT).sum())
    full = (
        sizes.filter(pl.col(_TOTAL) > 0)
        .join(_options(rows.filter(answered), types, notes), on=QUESTION, maintain_order="left")
        .join(counts, on=[*DISTRIBUTION, LABEL], how="left", maintain_order="left")
    )
    share = pl.col(WEIGHT).fill_null(0.0) / pl.col(_TOTAL)
    return full.with_columns(share=share).drop(_TOTAL, WEIGHT)


def _options(rows: pl.DataFrame, types: dict[str, pl.DataType], notes: list[str]) -> pl.DataFrame:
    """The options of each question in order; an Enum adds options that nobody chose."""
    labels = rows.select(*QUESTION, LABEL).unique()
    listed = {name: dtype for name, dtype in types.items() if isinstance(dtype, pl.Enum)}
    if LABEL in listed:  # of all questions together
        numbers = numbered(labels.with_columns(pl.col(LABEL).cast(listed[LABEL])), notes)
        return numbers.with_columns(pl.col(LABEL).cast(pl.String))
    others = labels.filter(~pl.col("question_id").is_in([*listed]))
    parts = [numbered(others, notes)] if len(others) else []
    for name, dtype in listed.items():
        rounds = labels.filter(question_id=name).select(QUESTION).unique()
        categories = pl.DataFrame({LABEL: dtype.categories}).with_row_index(INDEX)
        options = rounds.join(categories, how="cross")
        parts.append(options.select(*QUESTION, LABEL, pl.col(INDEX).cast(pl.Int64)))
    return pl.concat(parts) if parts else numbered(labels, notes)
