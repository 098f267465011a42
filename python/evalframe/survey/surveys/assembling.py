"""A survey from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from evalframe.core.errors import Argument, ContractError, MissingColumnsError, ParameterError
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.survey.surveys.tables import RESPONSES, AnySurvey, Survey, distributions_of, long_of

ROUNDS = dict.fromkeys(("round", "name", "description", "source"), pl.String())
QUESTIONS = {
    "round": pl.String(),
    "question_id": pl.String(),
    "question_order": pl.Int64(),
    "question_text": pl.String(),
    "question_type": pl.String(),
    "n_options": pl.Int64(),
    "options": pl.List(pl.String()),
}
SEGMENTS = {
    "round": pl.String(),
    "segment_id": pl.String(),
    "segment_label": pl.String(),
    "segment_attribute": pl.String(),
    "segment_value": pl.String(),
    "sample_size": pl.Int64(),
    "n_questions": pl.Int64(),
}
ATTRIBUTES = dict.fromkeys(("round", "segment_id", "attribute", "value"), pl.String())
WARNINGS = dict.fromkeys(("file", "path", "message"), pl.String())

_EXAMPLES = 3


def as_survey(
    table: AnySurvey,
    *,
    questions: Frame | None = None,
    segments: Frame | None = None,
    answers: Sequence[str] = (),
) -> Survey:
    """A survey from its table, in any of the shapes of `as_distributions`.

    Assumptions about the table, and what is left out of it, are in `warnings`.

    Args:
        table: As for `as_distributions`.
        questions: `question_id` with any of `round`, `question_text`, `question_type`,
            `question_order` and `options` that the table lacks. Without it questions are in the
            order of the table, and the text is the id unless it has `question_text`.
        segments: `segment_id` with any of `round`, `segment_label` and `segment_value`, which
            follow from the ids otherwise.
        answers: Columns of answers, as for `as_distributions`.

    Raises:
        ContractError: As for `as_distributions`; also a question or a segment that the table of
            them lacks or repeats, or another number or order of options.

    Example:
        >>> table = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[25.0, 75.0]]}
        >>> as_survey(pl.DataFrame(table)).segments.select("segment_value", "n_questions").row(0)
        ('male', 1)
    """
    if isinstance(table, Survey):
        if answers:
            raise ParameterError("a survey has its distributions; leave out ", Argument("answers"))
        if questions is not None or segments is not None:
            raise ParameterError("a survey has its questions and segments; leave them out")
        return table
    nested, notes = distributions_of(table, answers)
    names = pl.col("round", "question_id", "segment_id").cast(pl.String)
    responses = long_of(nested).with_columns(names)
    described = _questions(responses)
    if questions is None:
        questions = _texts_in(table)
    if questions is not None:
        described = described.with_columns(own_options="options").with_row_index("first")
        described = _described(described, questions, "question_id", _OF_QUESTIONS)
        _check_options(described)
        first = pl.col("first").min().over("round")
        described = described.with_columns(pl.col("question_text").fill_null(_ID))
        described = described.sort(first, "question_order", maintain_order=True)
    groups = _segments(responses)
    if segments is not None:
        groups = _described(groups, segments, "segment_id", ("segment_label", "segment_value"))
    after_colon = pl.col("segment_id").str.extract(r":(.*)$")
    value = pl.coalesce("segment_value", "segment_label", after_colon, "segment_id")
    groups = groups.with_columns(segment_value=value)
    groups = groups.with_columns(pl.coalesce("segment_label", "segment_value"))
    prefix = pl.col("segment_id").str.extract(r"^([^:]+):")
    attribute = pl.coalesce("segment_attribute", prefix)
    attributes = groups.with_columns(attribute=attribute, value="segment_value")
    attributes = attributes.drop_nulls("attribute")
    rounds = responses.select("round").unique(maintain_order=True)
    return Survey(
        rounds=_shaped(rounds.with_columns(name="round"), ROUNDS),
        questions=_shaped(described, QUESTIONS),
        segments=_shaped(groups, SEGMENTS),
        segment_attributes=_shaped(attributes, ATTRIBUTES),
        responses=_shaped(_with_texts(responses, described, groups), RESPONSES),
        warnings=_shaped(pl.DataFrame({"message": notes}), WARNINGS),
    )


_ID = pl.col("question_id")
_OF_QUESTIONS = ("question_text", "question_type", "question_order", "options")


def _texts_in(table: Frame) -> pl.LazyFrame | None:
    """The texts of questions, if the table has them."""
    names = lazy(table).collect_schema().names()
    if not {"question_text", "question_id"} <= {*names}:
        return None
    keys = [name for name in ("round", "question_id") if name in names]
    return lazy(table).select(*keys, "question_text").unique(maintain_order=True)


def _check_options(questions: pl.DataFrame) -> None:
    """Raise ContractError if distributions have other options than the table of questions."""
    # Labels can differ, for example be longer.
    other = questions.filter(pl.col("options").list.len() != pl.col("n_options"))
    if len(other):
        n_labels, n_shares = other["options"].list.len()[0], other["n_options"][0]
        raise ContractError(
            f"{len(other):,} questions have another number of options in their distributions:"
            f" {_first_few(other, ['question_id'])}; the first has {n_labels} options and"
            f" {n_shares} shares. Correct the options, or the shares"
        )
    stated, actual = pl.col("options"), pl.col("own_options")
    moved = questions.filter((stated != actual) & (stated.list.sort() == actual.list.sort()))
    if len(moved):
        raise ContractError(
            f"{len(moved):,} questions have their options in another order than the distributions:"
            f" {_first_few(moved, ['question_id'])}. Put the options into the order of the shares"
        )


def _questions(responses: pl.DataFrame) -> pl.DataFrame:
    """The questions of a long table, in its order."""
    first = responses.unique(["round", "question_id", "option_index"], maintain_order=True)
    options = pl.col("option_label").sort_by("option_index")
    questions = first.group_by("round", "question_id", maintain_order=True).agg(options=options)
    labelled = pl.col("options").list.drop_nulls().list.len() > 0
    return questions.with_columns(
        question_order=pl.int_range(pl.len()).over("round"),
        question_text="question_id",
        question_type=pl.lit("single-select"),
        n_options=pl.col("options").list.len().cast(pl.Int64),
        options=pl.when(labelled).then("options"),
    )


def _segments(responses: pl.DataFrame) -> pl.DataFrame:
    """The segments of a long table, in its order."""
    return responses.group_by("round", "segment_id", maintain_order=True).agg(
        pl.col("segment_attribute", "segment_value").first(),
        pl.col("sample_size").max(),
        segment_label=pl.lit(None, pl.String),
        n_questions=pl.col("question_id").n_unique().cast(pl.Int64),
    )


def _described(
    rows: pl.DataFrame, described: Frame, key: str, columns: tuple[str, ...]
) -> pl.DataFrame:
    """Rows with the columns of a table that describes them, if not null there."""
    table = lazy(described).collect()
    if key not in table.columns:
        raise MissingColumnsError.of("a table of questions or segments", {key}, table.columns)
    on = [name for name in ("round", key) if name in table.columns]
    present = [name for name in columns if name in table.columns]
    table = table.select(pl.col(on).cast(pl.String), *present)
    repeated = table.filter(pl.struct(on).is_duplicated())
    if len(repeated):
        raise ContractError(
            f"{len(repeated):,} rows share a {key}: {_first_few(repeated, on)}; keep one of each"
        )
    unknown = rows.join(table, on=on, how="anti")
    if len(unknown):
        raise ContractError(
            f"unknown {key} in {len(unknown):,} cases: {_first_few(unknown, on)}. Add them to the"
            " table that describes them, or drop their distributions"
        )
    joined = rows.join(table, on=on, how="left", maintain_order="left", suffix="_told")
    return joined.with_columns(pl.coalesce(f"{name}_told", name).alias(name) for name in present)


def _with_texts(
    responses: pl.DataFrame, questions: pl.DataFrame, segments: pl.DataFrame
) -> pl.DataFrame:
    """Responses with the labels and values that questions and segments have."""
    labels = questions.select("round", "question_id", "options").drop_nulls("options")
    labels = labels.with_columns(option_index=pl.int_ranges(pl.col("options").list.len()))
    labels = labels.explode("options", "option_index", empty_as_null=False)
    values = segments.select("round", "segment_id", "segment_value")
    labelled = responses.drop("segment_value").join(
        labels, on=["round", "question_id", "option_index"], how="left", maintain_order="left"
    )
    with_values = labelled.join(
        values, on=["round", "segment_id"], how="left", maintain_order="left"
    )
    return with_values.with_columns(option_label=pl.coalesce("options", "option_label"))


def _shaped(table: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The table with these columns, null where it lacks one."""
    absent = {name: pl.lit(None) for name in schema if name not in table.columns}
    return table.with_columns(**absent).select(*schema).cast(pl.Schema(schema))


def _first_few(rows: pl.DataFrame, columns: list[str]) -> str:
    examples = ", ".join(
        "/".join(map(str, row)) for row in rows.head(_EXAMPLES).select(columns).rows()
    )
    return examples + ", ..." * (len(rows) > _EXAMPLES)
