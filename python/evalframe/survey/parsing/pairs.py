"""Labels with their numbers: `a. Yes: 60%`, `**No** - 40`, `"Yes": 60`, `Yes 60%`, `60% Yes`.

Pairs are a frame of `row`, `place` (of the line), `label` and `value` (null for a range).
"""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import DASHES, QUOTES, without_asides
from evalframe.survey.parsing.lists import has_digit, text_lines
from evalframe.survey.parsing.tables import is_table_row

_ABOUT = r"(?i-u:(?:about|around|approximately|approx\.?|roughly|circa|ca\.)\s*)?"
_BESIDE = rf"[\s*_{QUOTES}`~≈]*"
_NUMBER = r"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)"
_RANGE = rf"\s*%?\s*(?:[{DASHES}]+>?|→|(?:to|or|and)\s)\s*[0-9][0-9.,]*"
_END = rf"(?:\s*%|[{QUOTES}*_`]*(?:[\s,;)}}\]|<(]|\.(?:\s|$)|$))"

_COLON = rf"(?:[:=]|→|\s[{DASHES}]{{1,2}}>?\s|\t|\.{{3,}}|…){_BESIDE}{_ABOUT}"
_PAIR = rf"(?:{_COLON}(?:{_NUMBER})(?:{_RANGE})?{_END})"
_IN_PARENTHESES = rf"\({_BESIDE}{_ABOUT}{_NUMBER}(?:{_RANGE})?\s*%{_BESIDE}\)"
_POINT = r"(?:\)\s*|\.\s+)"
_NUMBERED = (
    rf"(?:^|[\s,;(])(?:[a-zA-Z]|[0-9]{{1,2}}){_POINT}{_BESIDE}{_ABOUT}{_NUMBER}"
    r"(?:\s*%|\s*[,;]|\s*$)"
)
_LETTERED = rf"^[\s*_(-]*[a-zA-Z]\s+{_NUMBER}\s*%?\s*$"
_PAIRS = rf".*?(?:{_PAIR}|{_IN_PARENTHESES}|{_NUMBERED}|{_LETTERED})"
_BEHIND_LABEL = (
    rf"(?:{_COLON}|\({_BESIDE}{_ABOUT}|{_POINT}{_BESIDE}{_ABOUT}|\s+)"
    rf"{_NUMBER}(?:{_RANGE})?(?:{_END}|\s*%{_BESIDE}\)|\s*[,;]|\s*)$"
)

_CLOCK = r"^:[0-9]{2}[^0-9%]*$"

_LABEL_BEHIND = r"[^,;|/()\[\]0-9%]*\p{L}[^,;|/()\[\]0-9%]*"
_LABEL = r"(?:[^,;:/0-9%|]*?\p{L}[^,;:/0-9%|]*?)"
_SPACED = rf"(?:^|[,;/|])?{_LABEL}\s+\(?{_NUMBER}(?:{_RANGE})?\s*(?:%?\)|%|[,;/|]|$)"
_SPACED_PARTS = (
    rf"^[,;/|]?(?P<label>{_LABEL})\s+\(?(?P<number>{_NUMBER})(?P<range>{_RANGE})?\s*[%,;/|)]*$"
)
_OF_CSV = rf"^(?P<label>.*\p{{L}}[^,]*?),\s*(?P<number>{_NUMBER})(?P<range>{_RANGE})?\s*%?\s*$"
_SAY = r"(?i:(?:of\s+\S+\s+)?(?:would\s+)?(?:say|said|answer|answered|choose|chose|for)\s+)?"
_TO_LABEL = rf"(?:\s*%)?(?:\s*\(|\s*[{DASHES}:=]\s*|\s+)\s*"
_REVERSED = rf"{_NUMBER}(?:{_RANGE})?{_TO_LABEL}{_LABEL_BEHIND}"
_REVERSED_PARTS = (
    rf"^(?P<number>{_NUMBER})(?P<range>{_RANGE})?{_TO_LABEL}{_SAY}(?P<label>.*?)(?i:\s+and\s*)?$"
)

_RECORD = r"\{[^{}]*\}"
_TEXTS = r':\s*"([^"]*\p{L}[^"]*)"'
_SHARE = rf'(?i)"[^"]*(?:percent|share|probab|%)[^"]*"\s*:\s*"?({_NUMBER})\s*%?"?\s*[,}}]'
_MEMBER = rf'"\s*:\s*"?({_NUMBER})\s*%?"?\s*[,}}]'
_ALONE = rf"^[^\p{{L}}\p{{N}}+-]*({_NUMBER})\s*%?[^\p{{L}}\p{{N}}]*$"

_TOTAL = (
    r"(?i)^[^\p{L}\p{N}]*(?:(?:the\s+)?(?:grand\s+|overall\s+)?(?:totals?|sum)\b"
    r"|(?:sample(?: size)?|base|margin(?: of error)?|moe|ci|confidence(?: level| interval)?"
    r"|certainty|respondents|population)\W*$)"
)


def line_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """The pairs of lines that are not rows of a table."""
    # The label is all text from the number before it on. A range has no value. Totals are left out.
    pairs = (
        _lines_with_digits(rows)
        .select("row", "place", pair=pl.col("line").str.extract_all(_PAIRS))
        .explode("pair", empty_as_null=False)
        .with_columns(label=pl.col("pair").str.replace(_BEHIND_LABEL, ""))
    )
    # Groups of the whole pair would take three times as long as the numbers in its end.
    end, numbers = pl.col("end"), pl.col("numbers")
    undotted = (
        pl.when(end.str.starts_with("...")).then(end.str.strip_chars_start(".")).otherwise(end)
    )
    ends = pairs.with_columns(end=pl.col("pair").str.strip_prefix(pl.col("label"))).filter(
        end != ""
    )
    clock = ends["end"].str.contains(_CLOCK)
    if clock.any():
        ends = ends.filter(~(clock & ends["label"].str.contains("[0-9]$")))
    ends = ends.with_columns(numbers=undotted.str.extract_all(_NUMBER))
    value = pl.when(numbers.list.len() == 1).then(_value(numbers.list.first()))
    return _without_totals(ends.select("row", "place", "label", value=value))


def spaced_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Pairs with a space between, `Yes 60%`, or a comma, `Yes,60%`; labels must be known."""
    lines = _bare_lines(rows)
    line = pl.col("line")
    spaced = lines.with_columns(pair=line.str.extract_all(_SPACED)).explode("pair")
    separated = lines.filter(line.str.contains(_OF_CSV)).with_columns(pair="line")
    return pl.concat([_parted(separated, _OF_CSV), _parted(spaced, _SPACED_PARTS)])


def reversed_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Numbers with the label behind, `60% Yes`, `60 (Yes)`; labels must be known."""
    lines = _bare_lines(rows)
    pairs = lines.with_columns(pair=pl.col("line").str.extract_all(_REVERSED)).explode("pair")
    return _parted(pairs, _REVERSED_PARTS)


def record_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """JSON objects with a label and a number each, on as many lines as they like."""
    record = pl.col("record")
    records = (
        rows.select(
            pl.int_range(pl.len()).alias("row"), record=pl.col("text").str.extract_all(_RECORD)
        )
        .explode("record", empty_as_null=False)
        .filter(record.str.contains(_TEXTS))
        .with_columns(
            place=pl.int_range(pl.len()),
            label=record.str.extract(_TEXTS),
            members=record.str.extract_all(_MEMBER),
        )
    )
    single = pl.when(pl.col("members").list.len() == 1).then(record.str.extract(_MEMBER))
    number = pl.coalesce(record.str.extract(_SHARE), single)
    return _without_totals(records.select("row", "place", "label", value=_value(number)))


def heading_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Labels with the number on the next line, in places that follow upon each other."""
    line = pl.col("line")
    lines = text_lines(rows).with_columns(number=line.str.extract(_ALONE))
    same_row = pl.col("row") == pl.col("row").shift()
    heading = pl.when(same_row & pl.col("number").shift().is_null()).then(line.shift())
    pairs = lines.with_columns(label=heading).drop_nulls(["number", "label"])
    value = _value(pl.col("number"))
    index = pl.col("place") - pl.int_range(pl.len())
    return _without_totals(pairs.select("row", index, "label", value=value))


def _lines_with_digits(rows: pl.DataFrame) -> pl.DataFrame:
    """Those that are no rows of a table, without intervals and the like."""
    lines = text_lines(rows).filter(has_digit())
    if rows["text"].str.contains("|", literal=True).any():
        lines = lines.filter(~is_table_row())
    return without_asides(lines)


def _bare_lines(rows: pl.DataFrame) -> pl.DataFrame:
    bare = pl.col("line").str.replace_all(f"[{QUOTES}`*_~≈]", "")
    return _lines_with_digits(rows).with_columns(line=bare)


def _parted(pairs: pl.DataFrame, pattern: str) -> pl.DataFrame:
    """Pairs with their label and value, where the pattern holds."""
    parts = pairs.with_columns(parts=pl.col("pair").str.extract_groups(pattern)).unnest("parts")
    value = pl.when(pl.col("range").is_null()).then(_value(pl.col("number")))
    return _without_totals(parts.drop_nulls("number").select("row", "place", "label", value=value))


def _value(number: pl.Expr) -> pl.Expr:
    return number.str.replace(",", ".", literal=True).cast(pl.Float64)


def _without_totals(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(~pl.col("label").str.contains(_TOTAL))
