"""Tables of surveys in their usual shapes, converted into one row per option.

Shares can be texts such as `45%`, counts, a column for each option, or answers of single
respondents. Every assumption, addition or omission is added to `notes` as a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.errors import (
    Argument,
    ContractError,
    MissingColumnsError,
    ParameterError,
    first_few,
)
from evalframe.survey.contract import HIGHEST, LOWEST
from evalframe.survey.surveys.respondents import (
    DISTRIBUTION,
    INDEX,
    LABEL,
    QUESTION,
    RESPONDENT,
    numbered,
    of_respondents,
)

UNITS = ("share", "percent", "count")
"""Names of a column of shares, besides `actual` and `predicted`."""

_ROW, _COUNT, _NUMBER = ":row", ":count", ":number"
_THOUSANDS = r"^[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?$"

_READ = {"share": "fractions", "percent": "percentages", "count": "counts"}


def shaped(
    table: pl.DataFrame,
    notes: list[str],
    answers: Sequence[str] = (),
    *,
    value: str = "actual",
    keys: Sequence[str] = DISTRIBUTION,
) -> pl.DataFrame:
    """The table with `option_index` and `share` or `percent`; lists in `value` stay unchanged."""
    has_options = bool({INDEX, LABEL} & {*table.columns})
    if value in table.columns and (table.schema[value].is_nested() or not has_options):
        if answers:
            raise ParameterError(
                f"{value!r} holds the shares already; leave out ", Argument("answers")
            )
        return table
    if missing := {*answers} - {*table.columns}:
        raise MissingColumnsError.of("a survey with these answers", missing, table.columns)
    name = next((name for name in (value, *UNITS) if name in table.columns), None)
    if answers and "question_id" in table.columns:
        table, name = _of_options(table, answers, value), value
    elif answers or (RESPONDENT in table.columns and name is None):
        return of_respondents(table, answers, notes)
    elif name is None:
        raise MissingColumnsError.saying(
            "a survey needs a column 'share', 'percent' or 'count' of each 'option_index' or"
            f" 'option_label', or lists in 'actual'; the table has {table.columns}.",
            ["share", "percent", "count"],
            " Where each option or question has a column, name these in ",
            Argument("answers"),
            ".",
        )
    elif not has_options:
        raise MissingColumnsError.of("a survey without lists in 'actual'", {INDEX}, table.columns)
    numbers, has_signs = _numbers(table, name, keys, notes)
    unit = "percent" if has_signs else _unit(numbers, name, keys, notes)
    if unit == "count":
        numbers = _shares_of_counts(numbers, name, keys, notes, has_sizes=value == "actual")
        name = unit = "share"
    shares = numbers.drop([other for other in UNITS if other != name], strict=False)
    # Labelled predictions are put into the order of the survey's options, whatever theirs is.
    return _numbered(shares.rename({name: unit}), notes if value == "actual" else [], keys)


def numbers_of(text: pl.Expr) -> pl.Expr:
    """Texts as numbers, also with a percent sign or a decimal comma; else null.

    >>> texts = pl.Series("x", ["45%", "45,5 %", "0.3", "", "half"])
    >>> texts.to_frame().select(numbers_of(pl.col("x"))).to_series().to_list()
    [45.0, 45.5, 0.3, None, None]
    """
    bare = text.str.strip_chars().str.strip_suffix("%").str.strip_chars()
    return bare.str.replace(r"^([-+]?[0-9]+),([0-9]+)$", "${1}.${2}").cast(pl.Float64, strict=False)


def _numbers(
    table: pl.DataFrame, name: str, keys: Sequence[str], notes: list[str]
) -> tuple[pl.DataFrame, bool]:
    """The shares as numbers, and whether they have percent signs."""
    # A comma is decimal unless all cells with commas read like `1,234` in a column that can have
    # counts, and as decimal numbers they do not sum to 1 or 100.
    if table.schema[name] != pl.String:
        is_null = table.schema[name] == pl.Null
        return table.cast({name: pl.Float64}) if is_null else table, False
    text = pl.col(name).str.strip_chars()
    read = table.with_columns(numbers_of(text).alias(_NUMBER))
    commas = table.filter(text.str.contains(",", literal=True))
    if (
        len(commas)
        and name not in ("share", "percent")
        and commas.select(text.str.contains(_THOUSANDS).all()).item()
        and (name == "count" or not _are_shares(read, keys))
    ):
        thousands = pl.when(text.str.contains(_THOUSANDS)).then(text.str.replace_all(",", ""))
        read = table.with_columns(numbers_of(pl.coalesce(thousands, text)).alias(_NUMBER))
        notes.append(
            f"commas in {len(commas):,} cells, such as {commas[name][0]!r}, were read as marks of"
            " thousands"
        )
    wrong = read.filter(text.is_not_null(), text != "", pl.col(_NUMBER).is_null())
    if len(wrong):
        raise ContractError(
            f"{name} is no number in {len(wrong):,} of {len(table):,} rows: "
            f"{first_few(wrong[name])}; write shares such as 0.45, 45% or counts"
        )
    signed = read.filter(pl.col(_NUMBER) != 0).select(text.str.ends_with("%")).to_series()
    if signed.any() and not signed.all():
        raise ContractError(
            f"{name} has a percent sign in {signed.sum():,} rows and none in {(~signed).sum():,};"
            " write all shares alike"
        )
    return read.with_columns(pl.col(_NUMBER).alias(name)).drop(_NUMBER), bool(signed.any())


def _are_shares(read: pl.DataFrame, keys: Sequence[str]) -> bool:
    """True if the numbers sum to 1 or to 100."""
    sums = read.group_by(keys).agg(pl.col(_NUMBER).sum())[_NUMBER]
    return _near(sums) or _near(sums * 100)


def _unit(long: pl.DataFrame, name: str, keys: Sequence[str], notes: list[str]) -> str:
    """The unit of the numbers: by their name, else by their sums."""
    if name == "count":
        return name
    sums = long.group_by(keys).agg(pl.col(name).sum())[name]
    if name in ("share", "percent"):
        other, factor = ("percent", 1) if name == "share" else ("share", 100)
        if not _near(sums * factor):
            return name
        notes.append(f"{name} sums to {100 // factor} and was read as {_READ[other]}")
        return other
    are_whole = long.select(((pl.col(name) % 1 == 0) & (pl.col(name) >= 0)).all()).item()
    if _near(sums * 100) or not (_near(sums) or are_whole):
        return "share"
    unit = "percent" if _near(sums) else "count"
    notes.append(f"{name} was read as {_READ[unit]}, by its sums")
    return unit


def _near(sums: pl.Series) -> bool:
    return bool(sums.is_between(LOWEST, HIGHEST).all())


def _of_options(table: pl.DataFrame, options: Sequence[str], value: str) -> pl.DataFrame:
    """A row per option, of a column for each; an empty cell is no option of the question."""
    are_texts = any(table.schema[name] == pl.String for name in options)
    cells = [pl.col(name).cast(pl.String if are_texts else pl.Float64) for name in options]
    others = [name for name in table.columns if name not in options]
    long = (
        table.select(*others, *cells)
        .with_row_index(_ROW)
        .unpivot([*options], index=[_ROW, *others], variable_name=LABEL, value_name=value)
    )
    cell = pl.col(value)
    filled = long.filter((cell.str.strip_chars() != "") if are_texts else cell.is_not_null())
    index = pl.int_range(pl.len()).over(_ROW).alias(INDEX)
    return filled.with_columns(index).sort(_ROW, INDEX).drop(_ROW)


def _shares_of_counts(
    long: pl.DataFrame, name: str, keys: Sequence[str], notes: list[str], *, has_sizes: bool
) -> pl.DataFrame:
    """Counts as shares, of a survey with their sums as sample sizes; labels not counted have 0."""
    count = pl.col(name).cast(pl.Float64)
    if len(wrong := long.filter(~(count.is_finite() & (count >= 0)).fill_null(value=False))):
        raise ContractError(
            f"{name} is no count in {len(wrong):,} of {len(long):,} rows: {first_few(wrong[name])};"
            " correct these cells"
        )
    if LABEL in long.columns and INDEX not in long.columns:
        long = _filled(long, name, keys, notes)
    total = count.sum().over(keys)
    if len(empty := long.filter(total == 0)):
        raise ContractError(
            f"nobody is counted in {empty.select(keys).n_unique():,} distributions, the first of"
            f" segment {empty['segment_id'][0]!r}; drop them"
        )
    shares = long.with_columns(share=count / total, **{_COUNT: total})
    if has_sizes and "sample_size" not in long.columns:
        if shares.select((pl.col(_COUNT) == pl.col(_COUNT).round()).all()).item():
            shares = shares.with_columns(sample_size=pl.col(_COUNT).cast(pl.Int64))
            notes.append("sample sizes are the sums of the counts")
        else:
            notes.append("counts are no whole numbers, so that sample sizes are not known")
    return shares.drop(_COUNT, *([name] if name != "share" else []))


def _filled(long: pl.DataFrame, name: str, keys: Sequence[str], notes: list[str]) -> pl.DataFrame:
    """Add a row with 0 for each option of the question that a segment lacks."""
    others = [other for other in long.columns if other not in (LABEL, name)]
    options = long.select(*QUESTION, LABEL).unique(maintain_order=True)
    complete = long.unique(keys, maintain_order=True).select(others)
    complete = complete.join(options, on=QUESTION, maintain_order="left")
    lacking = complete.join(long, on=[*keys, LABEL], how="anti")
    if lacking.is_empty():
        return long
    notes.append(f"{len(lacking):,} options that a segment has no count of were filled in with 0")
    zeros = lacking.with_columns(pl.lit(0).cast(long.schema[name]).alias(name))
    return pl.concat([long, zeros.select(long.columns)])


def _numbered(long: pl.DataFrame, notes: list[str], keys: Sequence[str]) -> pl.DataFrame:
    """Number the options by their labels if the table does not."""
    if INDEX in long.columns:
        return long
    if lost := long[LABEL].null_count():
        raise ContractError(f"{LABEL} is null in {lost:,} of {len(long):,} rows; name the options")
    repeated = long.filter(pl.struct(*keys, LABEL).is_duplicated())
    if len(repeated):
        question, segment, label = repeated.select("question_id", "segment_id", LABEL).row(0)
        raise ContractError(
            f"{len(repeated):,} rows repeat an option, the first {label!r} of question"
            f" {question!r} and segment {segment!r}; keep one of each, or, if they are answers of"
            f" respondents, add {RESPONDENT!r}"
        )
    numbers = numbered(long.select(*QUESTION, LABEL).unique(), notes)
    joined = long.join(numbers, on=[*QUESTION, LABEL], how="left", maintain_order="left")
    return joined.with_columns(pl.col(LABEL).cast(pl.String))
