"""Lists of numbers in brackets or outside of them, on one line, or one number a line.

Brackets are an answer by the text around them, not citations or intervals.
"""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import DASHES, QUOTES, may_have_references, text_where
from evalframe.survey.parsing.ladder import NO_CANDIDATES, VECTOR, per_row

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

_AND = r"(?:and\s+|&\s*)?"
_SEPARATOR = rf"(?:\s*[,;|]\s*{_AND}|\s+{_AND})"
_MANY = rf"{NUMBER}(?:{_SEPARATOR}{NUMBER})"

_DECORATION = rf"[{QUOTES}`*_~≈%\\\u{{200b}}\u{{feff}}]"
"""Decoration of a number: quotes, bold, percent, about."""

_WHOLE = rf"^\s*{_MANY}*[\s,;|.]*$"
_NO_WORD = r"[^\p{L}\p{N}]*"
_END = rf"{_NO_WORD}(?:respectively{_NO_WORD})?"
_SLASHED = rf"{NUMBER}(?:\s*/\s*{NUMBER})+"
_ABOUT = r"(?i-u:(?:about|around|approximately|roughly)\s+)?"
_LIST = rf"{_ABOUT}\(?({_MANY}+|{_SLASHED}){_END}$"
_OF_LINE = rf"^\s*(?:[-•·>+]\s+)?{_ABOUT}\(?(?:{_MANY}+|{_SLASHED}){_END}$"
_CUE = (
    r"(?:answer|distribut|predict|estimat|percent|share|split|guess|probabilit|response|proportion"
    r"|expect|final|result|say )"
)
_CUED = rf"(?i-u:{_CUE})[^\n0-9]*[0-9.]"

_SAYS = r"(?:predict|estimate|guess|expect|answer|say|split|distribution|prediction|percentages)"
_ANSWERS = (
    rf"(?i){_CUE}[^\n]*?(?::\s|=|\b(?:is|are|be|as)\s)\s*{_LIST}",
    rf"(?i)\b{_SAYS}[\s:]+{_LIST}",
)
_NO_ANSWER = (
    r"(?i)\b(?:between|from|aged?|ages|years?|sections?|chapters?|pages?|figures?|tables?|items?"
    r"|questions?|refs?|references?|sources?|intervals?|ranges?)\b"
)
_ALONE = rf"^\s*(?:[-•·>+]\s+)?({NUMBER})[\s,;.)\]}}]*$"

_BRACKETS = r"\[[^\[\]]+\]"


def plain(text: pl.Expr) -> pl.Expr:
    """The text without what decorates numbers."""
    return text.str.replace_all(_DECORATION, " ")


def with_points(text: pl.Expr) -> pl.Expr:
    """Decimal commas as points; null where there are none, or where they may be separators."""
    comma = text.str.contains("[0-9],[0-9]") & ~text.str.contains(",[0-9]+,[0-9]")
    return pl.when(comma).then(text.str.replace_all("([0-9]),([0-9])", "${1}.${2}"))


def numbers(column: str) -> pl.Expr:
    """All numbers of a list."""
    return pl.col(column).str.extract_all(NUMBER).cast(VECTOR)


def line_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Lists behind a word for the answer, else lines that are lists, or have one number each."""
    lines = text_lines(rows).filter(has_digit()).with_columns(line=plain(pl.col("line")))
    bare = lines.select("row", "place", pl.col("line").str.replace_all(_BRACKETS, ""))
    lists = _readings(bare, "place").filter(pl.col("line").str.contains(_OF_LINE))
    others = pl.concat([_columns_of_numbers(lines), lists.select("row", vector=numbers("line"))])
    answered = _answered(lines)
    n = rows["n"].gather(answered["row"])
    fits = answered.filter(pl.col("vector").list.len() == n)
    last = fits.unique("row", keep="last", maintain_order=True)
    rest = pl.concat([others, answered]).join(last, on="row", how="anti", maintain_order="left")
    return pl.concat([rest, last])


def text_lines(rows: pl.DataFrame) -> pl.DataFrame:
    """Lines with a letter or a digit: `row`, `place` (consecutive within a row) and `line`."""
    return (
        rows.select(pl.int_range(pl.len()).alias("row"), line=pl.col("text").str.split("\n"))
        .explode("line")
        .filter(pl.col("line").str.contains(r"[\p{L}\p{N}]"))
        .with_columns(place=pl.int_range(pl.len()))
    )


def has_digit() -> pl.Expr:
    """True if the line has a digit."""
    return pl.col("line").str.contains("[0-9]")


def new_block(broken: pl.Expr) -> pl.Expr:
    """True for the first line of a block: of a row, or after a break."""
    new_row = pl.col("row") != pl.col("row").shift()
    return (new_row | broken).fill_null(value=True)


def gap() -> pl.Expr:
    """True if another line is between this one and the previous one."""
    return pl.col("place") > pl.col("place").shift() + 1


def _answered(lines: pl.DataFrame) -> pl.DataFrame:
    """Lists that a line ends with, behind a word for the answer, `I predict 60%, 40%`."""
    line = pl.col("line")
    cued = lines.filter(line.str.contains(_CUED) & ~line.str.contains(_NO_ANSWER))
    bare = cued.select("row", "place", line.str.replace_all(_BRACKETS, ""))
    lists = [line.str.extract(pattern) for pattern in _ANSWERS]
    ends = _readings(bare, "place").select("row", end=pl.coalesce(lists)).drop_nulls()
    return ends.select("row", vector=numbers("end"))


def _readings(texts: pl.DataFrame, order: str) -> pl.DataFrame:
    """The column `line` in either reading of its commas."""
    decimal = texts.with_columns(with_points(pl.col("line")).alias("line")).drop_nulls()
    return pl.concat([decimal, texts]).sort(order, maintain_order=True)


def _columns_of_numbers(lines: pl.DataFrame) -> pl.DataFrame:
    read = pl.coalesce(with_points(pl.col("line")), "line")
    alone = lines.with_columns(number=read.str.extract(_ALONE).cast(pl.Float64)).drop_nulls()
    blocks = alone.group_by(new_block(gap()).cum_sum().alias("block"), maintain_order=True)
    return blocks.agg(pl.col("row").first(), vector="number").drop("block")


_MARKER = "DISTRIBUTION: ["
_ANY_MARKER = "(?i-u:distribution)"
_TWO_BRACKETS = r"(?s)\[.*\["
_COMMON_LIST = r"^[0-9.]+(?:, [0-9.]+)+$"


def common_forms(rows: pl.DataFrame, *, only: bool = False) -> pl.DataFrame:
    """`predicted`, `parse_rule` and `opened` (a byte) if the first bracket has a common form."""
    # That is the bracket of `DISTRIBUTION: [60, 40]`, or `[60, 40]` in a text without a marker in
    # any case; with `only` the text has no other bracket. It can be read in one way only if each
    # piece between `, ` is a finite number; a piece that is not is null.
    text, opened, closed, marker = (pl.col(name) for name in ("text", "opened", "closed", "marker"))
    offsets = rows.select(
        "text",
        opened=text.str.find("[", literal=True),
        closed=text.str.find("]", literal=True),
        marker=text.str.find(_MARKER, literal=True),
    )
    paired = opened < closed
    bare = marker.is_null() & ~text_where(marker.is_null() & paired).str.contains(_ANY_MARKER)
    marked = marker + (len(_MARKER) - 1) == opened
    if only:
        paired &= ~text.str.contains(_TWO_BRACKETS)
    # As columns, since Polars evaluates an expression again at each use.
    forms = offsets.with_columns(
        parse_rule=pl.when(marked).then(pl.lit("marker")).when(bare).then(pl.lit("bracket")),
        opened=pl.when(paired).then(opened),
    )
    begin = pl.when(pl.col("parse_rule").is_not_null()).then(opened + 1)
    inside = text.cast(pl.Binary).bin.slice(begin, closed - opened - 1).cast(pl.String)
    return forms.select(
        inside.str.split(", ").cast(VECTOR, strict=False).alias("predicted"), "parse_rule", "opened"
    )


def last_lists(rows: pl.DataFrame) -> pl.DataFrame:
    """`predicted` and `parse_rule` of a last line `60, 40` with the only numbers of a text."""
    # In plain ASCII without brackets and without a heading of references it can be read in one way
    # only.
    text, begin, listed = pl.col("text"), pl.col("begin"), pl.col("listed")
    offsets = rows.select("text", begin=text.str.find("[0-9]").cast(pl.Int64))
    data = text.cast(pl.Binary)
    lines = offsets.with_columns(
        listed=data.bin.slice(begin).cast(pl.String, strict=False),
        on_own_line=(begin == 0) | (data.bin.slice(begin - 1, 1) == b"\n"),
    )
    # Few texts have one, and only these are looked at closely.
    is_list = pl.col("on_own_line") & listed.str.contains(_COMMON_LIST)
    index = lines.select(is_list.arg_true()).to_series()
    is_ascii = text.str.len_bytes() == text.str.len_chars()
    one_way = is_ascii & ~text.str.contains("[", literal=True) & ~may_have_references(text)
    lists = lines.select(pl.col("text", "listed").gather(index)).with_columns(row=index)
    pieces = lists.filter(one_way).select(
        "row", predicted=listed.str.split(", ").cast(VECTOR, strict=False)
    )
    return per_row(pieces, len(rows)).with_columns(parse_rule=pl.lit("lines"))


_CITATION = (
    r"(?i-u:\b(?:refs?|references?|sources?|citations?|cited|bibliography|ci|intervals?|ranges?)\b)"
)
"""Words before brackets that are not an answer, also on the line before."""

# A search for few letters in both cases is several times as fast as one that ignores case.
_MAY_CITE = (
    "[Rr]ef|REF|[Ss]ourc|SOURC|[Cc]it[ae]|CI|[Bb]iblio|BIBLIO|[Ii]nterval|INTERVAL|[Rr]ange|RANGE"
)
_LEAD = 60
"""Characters before a bracket that are searched for a cue."""

_SEGMENTS = r"[^\[\]]*(?:\[[^\[\]]+\]|$)"
_BRACKET = r"(\[[^\[\]]+\])$"
_INTERVAL = r"^\[\s*0\s*[,;]\s*1(?:00)?%?\s*\]$"
_LETTER = f"[{QUOTES}][a-zA-Z][{QUOTES}]"
_LETTERS = rf"^\[\s*{_LETTER}(?:\s*,\s*{_LETTER})+\s*,?\s*\]$"

_LETTER_INDICES = {chr(ord("a") + index): index for index in range(26)}
_MOST_OPTIONS = 10_000

_BESIDE = rf"\s*_~#>•(){{}}{QUOTES}`$\\{DASHES}"
_CLOSING = rf"\s*_~.,;:!)}}{QUOTES}`$\\"
_CITED = rf"{_CITATION}(?:\s+(?:is|are|of|was|were))?[^\p{{L}}\p{{N}}]*$"
_CITED_HERE = (
    r"(?i)(?:\b(?:see|cf|between|from|figs?|figures?|tables?|sections?|chapters?|pages?|pp|notes?"
    r"|footnotes?|items?|study|studies|papers?|by|in)\b[^\p{L}\p{N}\n]*|[0-9]\s*%?[\s*_)]*)$"
)
_VERBS = (
    r"is|are|was|were|be|as|say|think|guess|give|gives|predict|predicts|estimate|expect|suggest|propose"
    r"|answer|distribution|prediction|percentages|shares|boxed"
)
_INTRODUCED = rf"(?i)(?:[:=→]|[{DASHES}]>|\b(?:{_VERBS}))[{_BESIDE}]*$"
_GOES_ON = (
    rf"(?i)^[{_CLOSING}]*(?:$|[,.;:!/#(={DASHES}→]"
    r"|(?:is|are|was|would|will|seems?|looks?|reflects?|represents?|based|since|because|for)\b)"
)
_ANSWER = (
    r"(?i)\b(?:answers?|predictions?|predicted|estimates?|estimated|final|response|output|forecast"
    rf"|distributions?|percentages|probabilities)\b[^\n0-9.!?:]{{0,40}}(?::|=|\b(?:is|are|was|were)\b)"
    rf"[{_BESIDE}]*$"
)


def is_last_line(rows: pl.DataFrame) -> pl.Series:
    """True if the only bracket is on the last line, without digits or a cue before it."""
    text, opened = pl.col("text"), pl.col("opened").cast(pl.Int64)
    # Cut before a bracket the bytes are text; cut anywhere else they need not be.
    head = text.cast(pl.Binary).bin.slice(0, opened).cast(pl.String)
    before = rows.select("text", "opened", lead=head.str.tail(_LEAD))
    last = text.str.ends_with("]") | text.str.ends_with("]\n")
    own_line = (opened == 0) | pl.col("lead").str.ends_with("\n")
    cue = pl.col("lead").str.contains(_MAY_CITE)
    no_digit = opened < text.str.find("[0-9]")
    return before.select(last & own_line & ~cue & no_digit).to_series()


def answer_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets after a word for the answer, `Final answer: [60, 40]`."""
    brackets = _brackets(rows)
    return _vectors(brackets.filter(pl.col("before").str.contains(_ANSWER) & ~_is_cited()))


def bracket_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets that are on a separate line or the answer of a sentence."""
    # `[0, 1]` and `[0, 100]` within a text are intervals.
    bracket, line = pl.col("bracket"), pl.col("line")
    brackets = _brackets(rows)
    at_start = line.str.contains(rf"^[{_BESIDE}]*$")
    alone = at_start & (pl.col("opens") | pl.col("after").str.contains(_GOES_ON))
    shares = bracket.str.contains(r"%|\.[0-9]")
    is_answer = alone | line.str.contains(_INTRODUCED) | shares
    interval = bracket.str.contains(_INTERVAL) & (pl.col("text").str.strip_chars() != bracket)
    return _vectors(brackets.filter(is_answer & ~_is_cited() & ~interval))


def bracketed_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Texts that are one bracket each, in either reading of their commas."""
    numbered = rows.select(pl.int_range(pl.len()).alias("row"), bracket="text")
    return _vectors(numbered)


def individual_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets of quoted letters, one for each simulated individual, as percentages."""
    brackets = _brackets(rows).filter(pl.col("bracket").str.contains(_LETTERS))
    if brackets.is_empty():
        return NO_CANDIDATES
    letter = pl.element().str.to_lowercase()
    lettered = brackets.select(
        "row", "n", letters=pl.col("bracket").str.extract_all("[a-zA-Z]").list.eval(letter)
    )
    last = pl.lit([*_LETTER_INDICES]).list.get(pl.col("n") - 1, null_on_oob=True)
    valid = lettered.filter(pl.col("letters").list.max() <= last.fill_null("z"))
    return shares_of_letters(valid)


def shares_of_letters(lettered: pl.DataFrame) -> pl.DataFrame:
    """Percentages by option of the `letters` that name one; rows without any are left out."""
    # A vector with a zero for each of very many options would fill the memory.
    lettered = lettered.filter(pl.col("n") <= _MOST_OPTIONS).with_row_index("place")
    index = pl.col("letters").replace_strict(_LETTER_INDICES, return_dtype=pl.Int64)
    counts = (
        lettered.explode("letters", empty_as_null=False)
        .select("place", "n", option=index)
        .filter(pl.col("option") < pl.col("n"))
        .group_by("place", "option")
        .len("count")
    )
    options = lettered.select("place", "row", option=pl.int_ranges("n")).explode("option")
    count = pl.col("count").fill_null(0)
    return (
        options.join(counts, on=["place", "option"], how="left", maintain_order="left")
        .with_columns(vector=count / count.sum().over("place") * 100.0)
        .group_by("place", "row", maintain_order=True)
        .agg("vector")
        .filter(pl.col("vector").list.first().is_finite())
        .drop("place")
    )


def _brackets(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets with the text `before` each, up to the previous one, and `after` it on its line."""
    # `line` is the text before on the line of the bracket; `opens` is true for the first of a text.
    segment, before = pl.col("segment"), pl.col("before")
    segments = (
        rows.select(
            pl.int_range(pl.len()).alias("row"),
            "n",
            "text",
            segment=pl.col("text").str.extract_all(_SEGMENTS),
        )
        .explode("segment")
        .with_columns(bracket=segment.str.extract(_BRACKET))
        .with_columns(before=segment.str.strip_suffix(pl.col("bracket").fill_null("")))
    )
    same_row = pl.col("row") == pl.col("row").shift(-1)
    after = pl.when(same_row).then(before.shift(-1)).otherwise(pl.lit(""))
    opens = (pl.col("row") != pl.col("row").shift()).fill_null(value=True)
    return segments.with_columns(
        after=after.fill_null("").str.extract(r"^([^\n]*)"),
        line=before.str.extract(r"([^\n]*)$"),
        opens=opens & before.str.contains(rf"^[{_BESIDE}]*$"),
    ).drop_nulls("bracket")


def _is_cited() -> pl.Expr:
    return pl.col("before").str.contains(_CITED) | pl.col("line").str.contains(_CITED_HERE)


def _vectors(brackets: pl.DataFrame) -> pl.DataFrame:
    """The contents of brackets with numbers only."""
    content = plain(pl.col("bracket").str.slice(1, pl.col("bracket").str.len_chars() - 2))
    # At most one of two readings has the right length, so their order does not matter.
    readings = _readings(brackets.select("row", line=content), "row")
    return readings.filter(pl.col("line").str.contains(_WHOLE)).select(
        "row", vector=numbers("line")
    )
