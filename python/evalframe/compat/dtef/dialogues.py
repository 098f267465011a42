"""Aggregate tables of the Global Dialogues, read as a survey."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.compat.dtef.documents import LARGEST
from evalframe.core.choices import check_choice
from evalframe.core.errors import InputError, MissingColumnsError, ParameterError, naming
from evalframe.survey.surveys.assembling import WARNINGS, as_survey, read_csv
from evalframe.survey.surveys.segments import LEGACY, canonical_value, segment_id

if TYPE_CHECKING:
    from evalframe.survey.surveys.tables import Survey


SampleSizes: TypeAlias = Literal["question", "segment"]

ONBOARDING = (
    "preferred language",
    "how old are you",
    "what is your gender",
    "what best describes where you live",
    "what country or region",
    "what religious group",
    "how would you describe your feelings about AI",
)
"""Patterns of questions that ask for the segments, in any case; as in dtef-app."""

_FIXED = {"O1": "language", "O2": "ageGroup", "O3": "gender", "O4": "environment"}
_CONCERNS = {
    "equally concerned and excited",
    "more concerned than excited",
    "more excited than concerned",
}
_RELIGIONS = r"(?i)buddhis|christian|hindu|islam|judais|sikh|religious"

_ID, _TYPE, _TEXT, _OPTION = "Question ID", "Question Type", "Question", "Response"
_ASKED = "Poll Single Select"
_MEMBERS = re.compile(r"(O\d+): *(.+)")


def read_dialogues(
    aggregate: str | Path,
    counts: str | Path | None = None,
    *,
    round: str | None = None,
    prefixes: Sequence[str] = tuple(LEGACY),
    min_sample_size: int = 10,
    sample_sizes: SampleSizes = "question",
    excluded: Sequence[str] = ONBOARDING,
) -> Survey:
    """A round of the Global Dialogues from its aggregate table.

    The table has a row per question and option (`Question ID`, `Question Type`, `Question`,
    `Response`) and a column per segment, such as `O3: Female`, of percentages such as `45.5%`.
    Questions of type `Poll Single Select` are read, except those that ask for the segments
    themselves. O1 to O4 are language, age, gender and environment; later ones are recognised by
    their values as AI concern or religion, else they are countries. An option without a percentage
    has 0. As dtef-app 52d79c0, except for `sample_sizes`, for unanswered questions, to which it
    gives zeros, and for religions, of which it knows fewer spellings.

    Args:
        aggregate: The CSV file of percentages.
        counts: The CSV file of respondents, with `Question ID` and the same segment columns;
            without it, sample sizes are unknown.
        round: The name of the round; by default, the first part of the file name.
        prefixes: Prefixes of the segments to read; by default all but O1, language.
        min_sample_size: Segments with fewer respondents are left out, with a warning.
        sample_sizes: Respondents of each `question`, or one number for a `segment`, that of the
            first question that counts it, as in dtef-app.
        excluded: Patterns of texts of questions to leave out, in any case.

    Returns:
        The survey. A question without any answers of a segment has no distribution, but a
        warning, as has a question that `excluded` leaves out.

    Raises:
        InputError: A file that cannot be read, or has percentages or counts that are not numbers.
        ContractError: Percentages that are negative or do not sum to 100.
        ParameterError: A choice is unknown, a list is a string, or a pattern is invalid.

    Examples:
        >>> import tempfile, polars as pl, evalframe as ef
        >>> from pathlib import Path
        >>> about = {"Question ID": "q", "Question": "Hot?", "Question Type": "Poll Single Select"}
        >>> shares = {"O3: Male": ["60%", "40%"], "O3: Female": ["75%", "25%"]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "GD9_aggregate.csv")
        ...     pl.DataFrame({**about, "Response": ["Yes", "No"], **shares}).write_csv(path)
        ...     survey = ef.compat.dtef.read_dialogues(path)
        >>> survey.distributions().select("round", "segment_id", "actual").rows()
        [('GD9', 'gender:male', [0.6, 0.4]), ('GD9', 'gender:female', [0.75, 0.25])]
    """
    check_choice("sample_sizes", sample_sizes, SampleSizes)
    for name, strings in {"prefixes": prefixes, "excluded": excluded}.items():
        if isinstance(strings, str):
            raise ParameterError(f"{name} is a list of texts, got {strings!r}; write [{strings!r}]")
    _check_patterns(excluded)
    path = Path(aggregate)
    table = _texts(path, {_ID, _TYPE, _TEXT, _OPTION})
    members = _segments(table.columns, prefixes)
    if not len(members):
        raise InputError(f"{path}: no column of a segment, as 'O3: Female', for {list(prefixes)}")
    polls = table.filter(pl.col(_TYPE) == _ASKED)
    onboarding = pl.any_horizontal(
        pl.lit(value=False), *(pl.col(_TEXT).str.contains(f"(?i){pattern}") for pattern in excluded)
    )
    selected_questions = polls.filter(~onboarding)
    percents = _long(path, selected_questions, members, "percent")
    if counts is not None:
        percents = percents.join(
            _respondents(Path(counts), members, sample_sizes),
            on=["question_id", "column"],
            how="left",
            maintain_order="left",
        )
    else:
        percents = percents.with_columns(sample_size=pl.lit(None, pl.Int64))
    most = pl.col("sample_size").max().over("column")
    few = most.fill_null(0) < min_sample_size if counts is not None else pl.lit(value=False)
    silent = pl.col("percent").is_null().all().over("column", "question_id")
    selected = percents.filter(~few, ~silent)
    shares = selected.with_columns(
        pl.col("percent").fill_null(0.0), round=pl.lit(round or path.name.split("_")[0])
    )
    questions = selected_questions.select(question_id=_ID, question_text=_TEXT).unique(
        maintain_order=True
    )
    with naming(str(path)):
        survey = as_survey(shares, questions=questions)
    left_out = _left_out(path, polls.filter(onboarding), percents, few, silent, min_sample_size)
    return replace(survey, warnings=left_out)


def _check_patterns(patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            pl.Series([""]).str.contains(pattern)
        except (pl.exceptions.PolarsError, TypeError) as error:
            raise ParameterError(f"{pattern!r} in excluded is no pattern: {error}") from None


def _texts(path: Path, required: set[str]) -> pl.DataFrame:
    """Read a CSV file with all columns as text."""
    table = read_csv(path)
    if missing := required - {*table.columns}:
        raise MissingColumnsError.of(path.name, missing, table.columns)
    return table


def _segments(columns: Sequence[str], prefixes: Sequence[str]) -> pl.DataFrame:
    """Columns of segments: `column`, `segment_attribute`, `segment_value`, `segment_id`."""
    matches = [(name, *match.groups()) for name in columns if (match := _MEMBERS.fullmatch(name))]
    values: dict[str, list[str]] = {}
    for _, prefix, value in matches:
        values.setdefault(prefix, []).append(value.strip())
    categories = {prefix: _category(prefix, values[prefix]) for prefix in values}
    rows = [
        (name, categories[prefix], value) for name, prefix, value in matches if prefix in prefixes
    ]
    schema = ("column", "segment_attribute", "segment_value")
    table = pl.DataFrame(rows, schema=dict.fromkeys(schema, pl.String), orient="row")
    table = table.with_columns(canonical_value(pl.col("segment_value").str.strip_chars()))
    return table.with_columns(segment_id("segment_attribute", "segment_value"))


def _category(prefix: str, values: Sequence[str]) -> str:
    if prefix in _FIXED:
        return _FIXED[prefix]
    if any(value.lower() in _CONCERNS for value in values):
        return "aiConcern"
    return "religion" if any(re.search(_RELIGIONS, value) for value in values) else "country"


def _long(path: Path, table: pl.DataFrame, members: pl.DataFrame, target: str) -> pl.DataFrame:
    """One row per segment, question and option, with a number from the cells of the segments."""
    columns = members["column"].to_list()
    index = ["question_id", "option_index", "option_label"]
    long = table.select(
        question_id=_ID,
        option_index=pl.int_range(pl.len()).over(_ID),
        option_label=_OPTION,
        **{name: pl.col(name).str.strip_chars() for name in columns},
    ).unpivot(columns, index=index, variable_name="column", value_name="cell")
    return _numbers(path, long, target).join(
        members, on="column", how="left", maintain_order="left"
    )


_CELLS = {"percent": "numbers", "sample_size": "whole numbers"}


def _numbers(path: Path, long: pl.DataFrame, name: str) -> pl.DataFrame:
    text = pl.col("cell").str.strip_suffix("%").str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    is_valid = number.is_finite().fill_null(value=False)
    if name == "sample_size":
        is_valid &= (number == number.round()) & (number.abs() <= LARGEST)
    wrong = long.filter(text != "", ~is_valid)
    if len(wrong):
        row = wrong.row(0, named=True)
        raise InputError(
            f"{path}: {len(wrong):,} cells are no {_CELLS[name]}, the first {row['cell']!r} in"
            f" column {row['column']!r} of question {row['question_id']!r}; correct or empty them"
        )
    return long.with_columns(number.alias(name)).drop("cell")


def _respondents(path: Path, members: pl.DataFrame, sample_sizes: SampleSizes) -> pl.DataFrame:
    """Respondents by question and segment column; a count of 0 is unknown."""
    table = _texts(path, {_ID})
    columns = [name for name in members["column"] if name in table.columns]
    if not columns:
        raise InputError(f"{path}: none of the columns of segments, as {members['column'][0]!r}")
    long = table.select(
        question_id=_ID, **{name: pl.col(name).str.strip_chars() for name in columns}
    ).unpivot(columns, index="question_id", variable_name="column", value_name="cell")
    counted = pl.col("sample_size") > 0
    sizes = _numbers(path, long, "sample_size").with_columns(
        pl.when(counted).then(pl.col("sample_size")).cast(pl.Int64)
    )
    if sample_sizes == "segment":
        first = pl.col("sample_size").drop_nulls().first()
        sizes = sizes.with_columns(first.over("column"))
    return sizes.unique(["question_id", "column"], keep="first", maintain_order=True)


def _left_out(
    path: Path,
    excluded: pl.DataFrame,
    percents: pl.DataFrame,
    few: pl.Expr,
    silent: pl.Expr,
    least: int,
) -> pl.DataFrame:
    """A warning for each question, segment and distribution that is left out."""
    asking = excluded.select(path=_ID, text=_TEXT).unique("path", maintain_order=True)
    small = percents.filter(few).unique("column", maintain_order=True)
    message = pl.format("left out: fewer than {} respondents", pl.lit(least))
    lacking = percents.filter(silent, ~few)
    lacking = lacking.unique(["column", "question_id"], maintain_order=True)
    unanswered = pl.format("left out: no answers to question '{}'", "question_id")
    warnings = [
        asking.select("path", message=pl.format("left out: '{}' makes the segments", "text")),
        small.select(path="column", message=message),
        lacking.select(path="column", message=unanswered),
    ]
    return pl.concat(warnings).with_columns(file=pl.lit(str(path))).select(*WARNINGS)
