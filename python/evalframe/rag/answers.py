"""Answers of every published shape, as groups of aliases.

An answer is a string or a list of groups; every group is required. A group is a string or a list of
aliases, any of which suffices. So a flat list of strings requires all of them, unless it is
declared to be aliases.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import FlatAnswers, check_choice
from evalframe.core.errors import ContractError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr

OnInvalid: TypeAlias = Literal["raise", "null"]

ALIASES = pl.List(pl.String())
GROUPS = pl.List(ALIASES)

_UNIT = r"(?:[0-9abcefABCEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
_PAIR = r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
TEXT = rf'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?:{_UNIT}|{_PAIR})))*"'
"""A JSON string, as a regular expression without single surrogates."""

SPACE = " \t\r\n"
"""White space of JSON; that of regular expressions is wider."""

GAP = f"[{SPACE}]*"


def listed(element: str) -> str:
    """Regular expression of a JSON list of what `element` matches."""
    return rf"\[{GAP}(?:{element}{GAP}(?:,{GAP}{element}{GAP})*)?\]"


PUBLISHED_ALIASES = f"(?:{TEXT}|{listed(TEXT)})"
PUBLISHED_ANSWER = f"(?:{TEXT}|{listed(PUBLISHED_ALIASES)})"
"""An answer in JSON, as a regular expression."""

_FLAT = listed(TEXT)
_SEVERAL = rf"\[{GAP}{TEXT}(?:{GAP},{GAP}{TEXT})+{GAP}\]"

_SHAPES = (
    "An answer is a string, a list of strings ({flat}), a list of lists of aliases, or a mix of"
    " strings and lists"
)
_FLAT_MEANING = {"parts": "all of them required", "aliases": "any of which suffices"}
_ALIAS_SHAPES = "Aliases are a string or a list of strings"


def answer_groups(
    answers: IntoExpr = "answers",
    *,
    flat_answers: FlatAnswers = "parts",
    on_invalid: OnInvalid = "raise",
) -> pl.Expr:
    """Answers held as text or lists, as groups of aliases.

    For text in JSON see `answers_from_json`, for JSON among plain text `answers_from_text`. Empty
    lists stay: an answer can have no groups, a group no aliases.

    Args:
        answers: String: one group of one alias. List(String): as `flat_answers` says.
            List(List(String)): unchanged.
        flat_answers: Meaning of a flat list of strings: `parts`, all of them required, or
            `aliases`, any of which suffices.
        on_invalid: For an answer that is or contains null: `raise`, or `null`, so that the response
            has no label. RGB drops such an item silently.

    Returns:
        List(List(String)).

    Raises:
        ContractError: An answer is or contains null. Raised on evaluation.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import answer_groups
        >>> frame = pl.DataFrame({"answers": [["January 2 2022", "Kyiv"], ["medical"]]})
        >>> frame.select(answer_groups()).to_series().to_list()
        [[['January 2 2022'], ['Kyiv']], [['medical']]]
        >>> frame.select(answer_groups(flat_answers="aliases")).to_series().to_list()
        [[['January 2 2022', 'Kyiv']], [['medical']]]
    """
    return _grouped(answers, _groups, flat_answers, on_invalid)


def answers_from_json(
    answers: IntoExpr = "answers",
    *,
    flat_answers: FlatAnswers = "parts",
    on_invalid: OnInvalid = "raise",
) -> pl.Expr:
    """Answers held as JSON (a string, a list of strings or of lists, or a mix), as groups.

    Args:
        answers: JSON text.
        flat_answers: As for `answer_groups`.
        on_invalid: As for `answer_groups`, for any other value (null, numbers, deeper lists).

    Returns:
        List(List(String)).

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import answers_from_json
        >>> frame = pl.DataFrame({"answers": ['"medical"', '["Kyiv", ["2 May", "May 2"]]', "12"]})
        >>> frame.select(answers_from_json(on_invalid="null")).to_series().to_list()
        [[['medical']], [['Kyiv'], ['2 May', 'May 2']], None]
    """
    return _grouped(answers, _groups_of_json, flat_answers, on_invalid)


def answers_from_text(
    answers: IntoExpr = "answers",
    *,
    flat_answers: FlatAnswers = "parts",
    on_invalid: OnInvalid = "raise",
) -> pl.Expr:
    """Answers held as JSON or as plain text, row by row, as groups of aliases.

    Text is read as `answers_from_json` does if all of it is an answer in JSON. Any other text is
    plain, one group of one alias: so are numbers, broken JSON and lists of anything else.

    Args:
        answers: String: JSON or plain text. Lists are read by `answer_groups`.
        flat_answers: As for `answer_groups`, also in JSON.
        on_invalid: As for `answer_groups`.

    Returns:
        List(List(String)).

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import answers_from_text
        >>> frame = pl.DataFrame({"answers": ['["Kyiv", ["2 May", "May 2"]]', "Kyiv", "[a]", "12"]})
        >>> frame.select(answers_from_text()).to_series().to_list()
        [[['Kyiv'], ['2 May', 'May 2']], [['Kyiv']], [['[a]']], [['12']]]
    """
    return _grouped(answers, _groups_of_text, flat_answers, on_invalid)


def aliases(column: IntoExpr, *, on_invalid: OnInvalid = "raise") -> pl.Expr:
    """One group of aliases, such as a fake answer: a string or a list of strings.

    Args:
        column: String, or List(String).
        on_invalid: For a list that contains null: `raise` or `null`.

    Returns:
        List(String), null for null.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import aliases
        >>> pl.DataFrame({"fake": ["17%", None]}).select(aliases("fake")).to_series().to_list()
        [['17%'], None]
    """
    return _converted(column, _aliases, ALIASES, _ALIAS_SHAPES, on_invalid, nullable=True)


def aliases_from_json(column: IntoExpr, *, on_invalid: OnInvalid = "raise") -> pl.Expr:
    """One group of aliases held as JSON, a string or a list of strings.

    Args:
        column: JSON text.
        on_invalid: For any other value: `raise` or `null`.

    Returns:
        List(String), null for null.

    Examples:
        >>> import polars as pl
        >>> from evalframe.rag import aliases_from_json
        >>> frame = pl.DataFrame({"fakeanswer": ['"17%"', '["17%", "17 %"]', None]})
        >>> frame.select(aliases_from_json("fakeanswer")).to_series().to_list()
        [['17%'], ['17%', '17 %'], None]
    """
    decode = partial(_decoded, shape=PUBLISHED_ALIASES, dtype=ALIASES)
    return _converted(column, decode, ALIASES, _ALIAS_SHAPES, on_invalid, nullable=True)


def lists_as_groups(
    answers: pl.Expr, dtype: pl.DataType | None, flat_answers: FlatAnswers
) -> pl.Expr | None:
    """Lists as groups of aliases with their nulls; None for any other type."""
    match dtype:
        case pl.List(inner=pl.List(inner=pl.String() | pl.Null()) | pl.Null()) | pl.Null():
            return answers.cast(GROUPS)
        case pl.List(inner=pl.String()):
            parts = answers.list.eval(pl.concat_list(pl.element()))
            if flat_answers == "parts":
                return parts
            together = answers.list.eval(pl.element().implode())
            return pl.when(answers.list.len() > 0).then(together).otherwise(parts)
    return None


def is_flat(answers: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """True if an answer is a flat list of several texts, which can be parts or aliases."""
    match dtype:
        case pl.List(inner=pl.String()):
            return answers.list.len() > 1
        case pl.String():
            return answers.str.contains(f"^{GAP}{_SEVERAL}{GAP}$")
    return pl.lit(value=False)


def is_json(answers: pl.Expr) -> pl.Expr:
    """True if all of a text is an answer in JSON."""
    return answers.str.contains(f"^{GAP}{PUBLISHED_ANSWER}{GAP}$")


def _grouped(
    answers: IntoExpr,
    convert: Callable[..., pl.Series],
    flat_answers: FlatAnswers,
    on_invalid: OnInvalid,
) -> pl.Expr:
    check_choice("flat_answers", flat_answers, FlatAnswers)
    shapes = _SHAPES.format(flat=f"{_FLAT_MEANING[flat_answers]}, as {flat_answers=} has it")
    convert_flat = partial(convert, flat_answers=flat_answers)
    return _converted(answers, convert_flat, GROUPS, shapes, on_invalid)


def _converted(
    column: IntoExpr,
    convert: Callable[[pl.Series], pl.Series],
    dtype: pl.List,
    shapes: str,
    on_invalid: OnInvalid,
    *,
    nullable: bool = False,
) -> pl.Expr:
    """The converted column; values without a published shape raise or are null."""
    check_choice("on_invalid", on_invalid, OnInvalid)

    def checked(values: pl.Series) -> pl.Series:
        converted = convert(values)
        if on_invalid == "raise" and converted.null_count():
            _refuse(values, converted, shapes, nullable=nullable)
        return converted

    # An error names rows by their number in the table, so it needs the whole column.
    alone = on_invalid == "null"
    return as_expr(column).map_batches(checked, return_dtype=dtype, is_elementwise=alone)


def _groups(values: pl.Series, flat_answers: FlatAnswers) -> pl.Series:
    if values.dtype == pl.String:
        return _groups(_alone(values), "parts")
    groups = lists_as_groups(pl.first(), values.dtype, flat_answers)
    if groups is not None:
        return _without_holes(values.to_frame().select(groups).to_series())
    raise ParameterError(
        f"{values.name}: answers must be text, lists of text or lists of lists of text, but are"
        f" {values.dtype}. Cast numbers to String; put answers of mixed shapes into a column of"
        " JSON, and read it by answers_from_json"
    )


def _aliases(values: pl.Series) -> pl.Series:
    match values.dtype:
        case pl.List(inner=pl.String() | pl.Null()) | pl.Null():
            complete = pl.when(~pl.first().list.contains(None)).then(pl.first())
            return values.cast(ALIASES).to_frame().select(complete).to_series()
        case pl.String():
            return _aliases(_alone(values))
    raise ParameterError(
        f"{values.name}: aliases must be text or lists of text, but are {values.dtype}. Cast"
        " numbers to String"
    )


def _alone(texts: pl.Series) -> pl.Series:
    """Each text as a list of one element."""
    return texts.to_frame().select(pl.concat_list(pl.first())).to_series()


def _groups_of_json(values: pl.Series, flat_answers: FlatAnswers) -> pl.Series:
    groups = _decoded(values, PUBLISHED_ANSWER, GROUPS)
    if flat_answers == "parts":
        return groups
    flat = _decoded(values, _FLAT, ALIASES)
    return _groups(flat, flat_answers).zip_with(flat.is_not_null(), groups)


def _groups_of_text(values: pl.Series, flat_answers: FlatAnswers) -> pl.Series:
    plain = _groups(values, flat_answers)
    if values.dtype != pl.String:
        return plain
    decoded = _groups_of_json(values, flat_answers)
    return decoded.zip_with(decoded.is_not_null(), plain)


def _decoded(values: pl.Series, shape: str, dtype: pl.List) -> pl.Series:
    """JSON of this shape as lists, a string as a list of one; null for any other shape."""
    if values.dtype == pl.Null:
        return values.cast(dtype)
    if values.dtype != pl.String:
        raise ParameterError(
            f"{values.name} must be JSON text, but is {values.dtype}; lists go to answer_groups"
        )
    text = pl.first()
    shaped = pl.when(text.str.contains(f"^{GAP}{shape}{GAP}$")).then(text)
    return values.to_frame().select(shaped.str.json_decode(dtype)).to_series()


def _without_holes(groups: pl.Series) -> pl.Series:
    """The groups, null if a group or an alias is null."""
    inner = groups.explode(empty_as_null=False, keep_nulls=False)
    if not inner.null_count() and not inner.explode(empty_as_null=False).null_count():
        return groups
    answer, group = pl.first(), pl.element()
    complete = ~answer.list.eval(group.is_null() | group.list.contains(None)).list.any()
    return groups.to_frame().select(pl.when(complete).then(answer)).to_series()


def _refuse(values: pl.Series, converted: pl.Series, shapes: str, *, nullable: bool) -> None:
    """Raise ContractError for values that were not converted, except permitted nulls."""
    nulls = values.is_null()
    if values.dtype == pl.String:
        nulls |= values.str.strip_chars(SPACE) == "null"
    bad = converted.is_null() & ~(nulls.fill_null(value=True) & nullable)
    rows = bad.arg_true()
    if not len(rows):
        return
    examples = [f"  row {row}: {_shown(values[row])}" for row in rows.head(3).to_list()]
    raise ContractError(
        f"{values.name}: {len(rows):,} of {len(values):,} are of no published shape (rows are"
        " numbered from 0).\n" + "\n".join(examples) + f"\n{shapes}. Correct these rows; or,"
        " in Python, read them as null, by on_invalid='null'."
    )


def _shown(value: object) -> str:
    value = value.to_list() if isinstance(value, pl.Series) else value
    text = "null" if value is None else value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
