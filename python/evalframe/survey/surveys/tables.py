"""Surveys as tidy tables: one row per option, or one per question and segment with its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, Protocol, cast, overload

import polars as pl

from evalframe.core.contract import validate
from evalframe.core.errors import Argument, MissingColumnsError, ParameterError
from evalframe.core.frames import Foreign, like_input
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.survey.contract import KEYS, Unit, distributions_contract, survey_contract
from evalframe.survey.surveys.respondents import RESPONDENT, UNANSWERED, aligned, labels_of
from evalframe.survey.surveys.segments import category
from evalframe.survey.surveys.shapes import numbers_of, shaped

ONE_ROUND = "survey"
"""The round of tables that name none."""

RESPONSES = {
    "round": pl.String(),
    "question_id": pl.String(),
    "option_index": pl.Int64(),
    "option_label": pl.String(),
    "segment_id": pl.String(),
    "segment_attribute": pl.String(),
    "segment_value": pl.String(),
    "sample_size": pl.Int64(),
    "share": pl.Float64(),
    "percent": pl.Float64(),
}
"""The columns of the long table: one row per question, segment and option."""

DISTRIBUTIONS = {
    "round": pl.String(),
    "question_id": pl.String(),
    "segment_id": pl.String(),
    "segment_attribute": pl.String(),
    "segment_value": pl.String(),
    "sample_size": pl.Int64(),
    "n_unanswered": pl.Int64(),
    "n_options": pl.Int64(),
    "options": pl.List(pl.String()),
    "actual": pl.List(pl.Float64()),
}
"""The columns of the table of distributions: one row per question and segment."""

_BETWEEN_UNITS = 10.0
"""Sums of shares are below, those of percentages above."""

_OF_SEGMENTS = ("sample_size", UNANSWERED, "segment_attribute", "segment_value")


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """Rounds of a survey as tidy tables.

    Attributes:
        rounds: `round`, `name`, `description`, `source`.
        questions: `round`, `question_id`, `question_order` (from 0), `question_text`,
            `question_type`, `n_options`, `options` (List(String); null for a question without).
        segments: `round`, `segment_id`, `segment_label`, `segment_attribute` (the category, null
            without one), `segment_value`, `sample_size`, `n_questions`.
        segment_attributes: One row per attribute of a segment, which can have any number of them:
            `round`, `segment_id`, `attribute`, `value`.
        responses: The long table, see `RESPONSES`. `sample_size` is that of the question if known,
            else that of the segment.
        warnings: Findings of validation that are not errors: `file`, `path`, `message`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import as_survey
        >>> table = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[60.0, 40.0]]}
        >>> print(as_survey(pl.DataFrame(table)))
        survey: 1 questions, 1 segments, 1 distributions, 0 warnings
    """

    rounds: pl.DataFrame
    questions: pl.DataFrame
    segments: pl.DataFrame
    segment_attributes: pl.DataFrame
    responses: pl.DataFrame
    warnings: pl.DataFrame

    def distributions(self, *, normalised: bool = True) -> pl.DataFrame:
        """One row per round, question and segment, see `as_distributions`."""
        return as_distributions(self, normalised=normalised)

    def __str__(self) -> str:
        """Numbers of questions, segments, distributions and warnings."""
        rounds, pairs = self.rounds["round"].to_list(), self.responses.select(KEYS).n_unique()
        return (
            f"{', '.join(rounds)}: {len(self.questions):,} questions, {len(self.segments):,}"
            f" segments, {pairs:,} distributions, {len(self.warnings):,} warnings"
        )


P = ParamSpec("P")


class LikeSurvey(Protocol[P]):
    """A function whose result is lazy if its survey is a LazyFrame."""

    @overload
    def __call__(
        self, survey: Survey | pl.DataFrame | Foreign, /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.DataFrame: ...
    @overload
    def __call__(
        self, survey: pl.LazyFrame, /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.LazyFrame: ...


def like_survey(function: Callable[Concatenate[Survey | Frame, P], pl.LazyFrame]) -> LikeSurvey[P]:
    """Collect as `like_input`; the first argument can also be a `Survey`."""
    return cast("LikeSurvey[P]", like_input(cast("Callable[..., pl.LazyFrame]", function)))


@like_survey
def as_distributions(
    survey: Survey | Frame, *, normalised: bool = True, answers: Sequence[str] = ()
) -> pl.LazyFrame:
    """A survey in any of its shapes as one row per question and segment.

    A table has one of these shapes, with its rows in any order:

    - a row per distribution: `question_id`, `segment_id` and `actual`, a list or an array;
    - a row per option: `question_id`, `segment_id`, `option_index` (from 0) or `option_label`, and
      `share`, `percent`, `count` or `actual`, as numbers or texts such as `45%`;
    - a column per option, named in `answers`: `question_id`, `segment_id` and these columns, in
      the order of the options. An empty cell is not an option of the question;
    - a row per respondent, with the columns of the questions named in `answers`; or a row per
      respondent and question, with `respondent_id`, `question_id` and `option_label`; optionally
      with `weight`. Respondents are in the segment `segment_id`, or else in one for each value of
      all other columns, such as `gender:male`.

    All can have `round`, `sample_size`, `segment_attribute`, `segment_value` and labels of options
    (`option_label`, or lists in `options`). If segments have the labels of a question in different
    orders, all get the order of the first.

    Assumptions about a table, which `as_survey` reports in its `warnings`:

    - Options without `option_index` are ordered by their Enum, else by the numbers that all their
      labels begin with, else by the alphabet, whatever the order of the rows.
    - The scale follows from the name of the column, or for `actual` and a column per option from
      the sums: 1 are fractions, 100 percentages, other whole numbers counts. A `share` that always
      sums to 100 is a percentage, a `percent` that sums to 1 a fraction.
    - A comma in a number is a decimal one, unless the column can have counts and all its commas
      are as in `1,234`; then, except in `count`, unless decimal numbers sum to 1 or 100.
    - Sample sizes are the sums of counts, or the numbers of respondents who answered. An option
      without a count in a segment is 0.
    - Respondents without an answer, a segment or a usable weight are left out, and counted.

    Args:
        survey: The survey. It is read and checked at once.
        answers: Columns of a table with its answers: one for each option if it has `question_id`,
            else one for each question.
        normalised: Divide each distribution by its sum; otherwise shares are those of the table,
            or the percentages of a `Survey`.

    Returns:
        `round`, `question_id`, `segment_id`, `segment_attribute` (null without a category),
        `segment_value`, `sample_size` (null if unknown), `n_unanswered` (Int64, respondents of the
        segment without an answer; null without respondents), `n_options`, `options` (null without
        labels) and `actual` (List(Float64), by option index, or in the order of `options`), in the
        order of their first rows. Lazy if the survey is a LazyFrame.

    Raises:
        ContractError: Texts that are not numbers; rows that repeat; shares that are null, NaN,
            negative or do not sum to 1 or 100; options that are missing or have other labels in
            another segment; sample sizes that are not whole or differ; or no rows.
        MissingColumnsError: The table has none of these shapes.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> people = pl.DataFrame({"gender": ["f", "f", "m"], "hot": ["yes", "no", "yes"]})
        >>> columns = ["segment_id", "options", "actual", "sample_size"]
        >>> ef.survey.as_distributions(people, answers=["hot"]).select(columns).rows()
        [('gender:f', ['no', 'yes'], [0.5, 0.5], 2), ('gender:m', ['no', 'yes'], [0.0, 1.0], 1)]
    """
    nested, _ = distributions_of(survey, answers)
    if normalised:
        nested = nested.with_columns(pl.col("actual") / pl.col("actual").list.sum())
    return nested.lazy()


def distributions_of(
    survey: Survey | Frame, answers: Sequence[str] = ()
) -> tuple[pl.DataFrame, list[str]]:
    """The table of `as_distributions` with unchanged shares, and the assumptions about it."""
    notes: list[str] = []
    if isinstance(survey, Survey):
        if answers:
            raise ParameterError("a survey has its distributions; leave out ", Argument("answers"))
        nested = _nested(survey.responses, "percent")
    else:
        _check_answers(answers)
        table = _in_numbers(_with_round(lazy(survey), answers).collect())
        table = shaped(table, notes, answers)
        nested = _checked_lists(table) if "actual" in table.columns else _checked_long(table)
    return nested.select(DISTRIBUTIONS.keys()), notes


@like_survey
def as_long(survey: Survey | Frame) -> pl.LazyFrame:
    """A survey in any of its shapes as one row per question, segment and option.

    The inverse of `as_distributions`.

    Args:
        survey: As for `as_distributions`.

    Returns:
        `round`, `question_id`, `option_index` (from 0), `option_label`, `segment_id`,
        `segment_attribute`, `segment_value`, `sample_size`, `share` and `percent`. Sums of a
        distribution are those of the table. Lazy if the survey is a LazyFrame.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> table = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[25.0, 75.0]]}
        >>> ef.survey.as_long(pl.DataFrame(table)).select("option_index", "share", "percent").rows()
        [(0, 0.25, 25.0), (1, 0.75, 75.0)]
    """
    if isinstance(survey, Survey):
        return survey.responses.lazy()
    return long_of(distributions_of(survey)[0]).lazy()


def long_of(nested: pl.DataFrame) -> pl.DataFrame:
    """The long table of distributions with shares on the scale of their table."""
    in_percent = pl.col("actual").list.sum() > _BETWEEN_UNITS
    shares = pl.when(in_percent).then(pl.col("actual") / 100).otherwise("actual")
    percents = pl.when(in_percent).then("actual").otherwise(pl.col("actual") * 100)
    labels = pl.coalesce("options", pl.lit(None, pl.String).repeat_by("n_options"))
    long = nested.with_columns(
        option_index=pl.int_ranges("n_options"), option_label=labels, share=shares, percent=percents
    ).explode("option_index", "option_label", "share", "percent")
    return long.select(RESPONSES.keys())


def _check_answers(answers: Sequence[str]) -> None:
    if isinstance(answers, str):
        raise ParameterError(f"answers is a list of columns, got {answers!r}; write [{answers!r}]")
    if len({*answers}) < len(answers):
        raise ParameterError(f"a column is named twice in answers: {', '.join(answers)}")


def _with_round(table: pl.LazyFrame, answers: Sequence[str]) -> pl.LazyFrame:
    present = table.collect_schema().names()
    required = {"question_id", "segment_id"}
    if answers and "question_id" not in present:
        required = set()  # a column per question, and segments of the other columns
    elif RESPONDENT in present:
        required = {"question_id"}
    if missing := required - {*present}:
        error = MissingColumnsError.of("a survey", missing, present)
        if "question_id" in missing:
            hint = " If a row is a respondent, name the columns of the questions in "
            error.args = (*error.args, hint, Argument("answers"), ".")
        raise error
    return table if "round" in present else table.with_columns(round=pl.lit(ONE_ROUND))


def _in_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Lists of texts such as `45%` as lists of numbers; other texts are null, and refused."""
    dtype = table.schema.get("actual")
    if isinstance(dtype, pl.List) and dtype.inner == pl.String:
        return table.with_columns(pl.col("actual").list.eval(numbers_of(pl.element())))
    return table


def _checked_long(table: pl.DataFrame) -> pl.DataFrame:
    unit: Unit = "share" if "share" in table.columns else "percent"
    size = "sample_size" if "sample_size" in table.columns else None
    validate(table, survey_contract(share=unit, unit=unit, sample_size=size))
    return _nested(table, unit)


def _nested(long: pl.DataFrame, share: str) -> pl.DataFrame:
    """The long table as lists; distributions in the order of their first rows."""
    index = pl.col("option_index")
    have = [name for name in _OF_SEGMENTS if name in long.columns]
    columns = [pl.col(name).drop_nulls().first() for name in have]
    if "option_label" in long.columns:
        columns.append(pl.col("option_label").cast(pl.String).sort_by(index).alias("options"))
    shares = pl.col(share).sort_by(index).cast(pl.Float64).alias("actual")
    return _completed(long.group_by(KEYS, maintain_order=True).agg(*columns, shares))


def _checked_lists(table: pl.DataFrame) -> pl.DataFrame:
    dtype = table.schema["actual"]
    if isinstance(dtype, pl.Array):
        table, dtype = table.with_columns(pl.col("actual").arr.to_list()), pl.List(dtype.inner)
    if not (isinstance(dtype, pl.List) and (dtype.inner.is_numeric() or dtype.inner == pl.Null)):
        raise ParameterError(
            f"actual must be lists of shares (List(Float64)), but is {dtype}; a table of one row"
            " per option has 'option_index' and 'share' instead"
        )
    table = table.with_columns(pl.col("actual").cast(pl.List(pl.Float64)))
    if "options" in table.columns:
        table = table.with_columns(labels_of(table.schema["options"]))
    options, n_options, size = (
        name if name in table.columns else None for name in ("options", "n_options", "sample_size")
    )
    contract = distributions_contract(options=options, n_options=n_options, sample_size=size)
    validate(table, contract)
    return _completed(table.drop("n_options", strict=False))


def _completed(nested: pl.DataFrame) -> pl.DataFrame:
    """All columns of `DISTRIBUTIONS`; those that the table lacks are null."""
    absent = DISTRIBUTIONS.keys() - {*nested.columns}
    columns = {name: pl.lit(None, DISTRIBUTIONS[name]) for name in absent}
    columns["n_options"] = pl.col("actual").list.len().cast(pl.Int64)
    if "options" not in absent:
        nested = aligned(nested.with_columns(labels_of(nested.schema["options"])))
    if "sample_size" not in absent:
        columns["sample_size"] = pl.col("sample_size").cast(pl.Int64)
    if "segment_attribute" in absent:
        columns["segment_attribute"] = category(pl.col("segment_id").cast(pl.String))
    return nested.with_columns(**columns)


@like_survey
def population_marginals(survey: Survey | Frame) -> pl.LazyFrame:
    """The answers of all segments to each question, weighted by their respondents.

    A respondent counts once in each category with a segment that they belong to.

    Args:
        survey: As for `as_distributions`.

    Returns:
        `round`, `question_id` and `percent` (List(Float64), by option index): questions in the
        order of the survey. Null if no segment has respondents. Lazy if the survey is a LazyFrame.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = {"sample_size": [100, 300], "actual": [[20.0, 80.0], [40.0, 60.0]]}
        >>> survey = pl.DataFrame({"question_id": ["q"] * 2, "segment_id": ["a", "b"], **answers})
        >>> ef.survey.population_marginals(survey)["percent"].item().to_list()
        [35.0, 65.0]
    """
    question = ["round", "question_id"]
    size = pl.when(pl.col("sample_size") > 0).then("sample_size").cast(pl.Float64)
    options = as_long(survey).lazy().group_by(*question, "option_index", maintain_order=True)
    percent = (pl.col("percent") * size).sum() / size.sum()
    return (
        options.agg(percent=percent.fill_nan(None))
        .group_by(question, maintain_order=True)
        .agg(pl.col("percent").sort_by("option_index"))
        .with_columns(pl.when(pl.col("percent").list.first().is_not_null()).then("percent"))
    )
