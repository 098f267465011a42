"""Brackets that are an answer by the text around them, not citations or intervals."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import DASHES, QUOTES
from evalframe.survey.parsing.ladder import VECTOR, no_candidates
from evalframe.survey.parsing.lists import is_list, numbers, plain, with_points

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

_ALPHABET = 26
_MOST_OPTIONS = 10_000

_DECORATION = rf"\s*_~#>•(){{}}{QUOTES}`$\\{DASHES}"
_CLOSING = rf"\s*_~.,;:!)}}{QUOTES}`$\\"
_CITED = rf"{_CITATION}(?:\s+(?:is|are|of|was|were))?[^\p{{L}}\p{{N}}]*$"
_CITED_HERE = (
    r"(?i)(?:\b(?:see|cf|between|from|figs?|figures?|tables?|sections?|chapters?|pages?|pp|notes?"
    r"|footnotes?|items?|study|studies|papers?|by|in)\b[^\p{L}\p{N}\n]*|[0-9]\s*%?[\s*_)]*)$"
)
_SAYS = (
    r"is|are|was|were|be|as|say|think|guess|give|gives|predict|predicts|estimate|expect|suggest|propose"
    r"|answer|distribution|prediction|percentages|shares|boxed"
)
_INTRODUCED = rf"(?i)(?:[:=→]|[{DASHES}]>|\b(?:{_SAYS}))[{_DECORATION}]*$"
_GOES_ON = (
    rf"(?i)^[{_CLOSING}]*(?:$|[,.;:!/#(={DASHES}→]"
    r"|(?:is|are|was|would|will|seems?|looks?|reflects?|represents?|based|since|because|for)\b)"
)
_ANSWER = (
    r"(?i)\b(?:answers?|predictions?|predicted|estimates?|estimated|final|response|output|forecast"
    rf"|distributions?|percentages|probabilities)\b[^\n0-9.!?:]{{0,40}}(?::|=|\b(?:is|are|was|were)\b)"
    rf"[{_DECORATION}]*$"
)


def stands_last(held: pl.DataFrame) -> pl.Series:
    """True if the only bracket is on the last line, without digits or a cue before it."""
    text, opened = pl.col("text"), pl.col("opened").cast(pl.Int64)
    # Cut before a bracket the bytes are text; cut anywhere else they need not be.
    head = text.cast(pl.Binary).bin.slice(0, opened).cast(pl.String)
    before = held.select("text", "opened", lead=head.str.tail(_LEAD))
    last = text.str.ends_with("]") | text.str.ends_with("]\n")
    own_line = (opened == 0) | pl.col("lead").str.ends_with("\n")
    cue = pl.col("lead").str.contains(_MAY_CITE)
    no_digit = opened < text.str.find("[0-9]")
    return before.select(last & own_line & ~cue & no_digit).to_series()


def answer_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets that a word for the answer stands before, `Final answer: [60, 40]`."""
    held = _brackets(rows)
    return _vectors(held.filter(pl.col("before").str.contains(_ANSWER) & ~_is_cited()))


def bracket_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets that stand alone or are the answer of a sentence."""
    # `[0, 1]` and `[0, 100]` within a text are intervals.
    bracket, line = pl.col("bracket"), pl.col("line")
    held = _brackets(rows)
    at_start = line.str.contains(rf"^[{_DECORATION}]*$")
    alone = at_start & (pl.col("opens") | pl.col("after").str.contains(_GOES_ON))
    shares = bracket.str.contains(r"%|\.[0-9]")
    stands = alone | line.str.contains(_INTRODUCED) | shares
    interval = bracket.str.contains(_INTERVAL) & (pl.col("text").str.strip_chars() != bracket)
    return _vectors(held.filter(stands & ~_is_cited() & ~interval))


def bracketed_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Texts that are one bracket each, in either reading of their commas."""
    numbered = rows.select(pl.int_range(pl.len()).alias("row"), bracket="text")
    return _vectors(numbered)


def individual_vectors(rows: pl.DataFrame) -> pl.DataFrame:
    """Brackets of quoted letters, one for each simulated individual, as percentages."""
    held = _brackets(rows).filter(pl.col("bracket").str.contains(_LETTERS))
    if held.is_empty():
        return no_candidates()
    letter = pl.element().str.to_lowercase()
    lettered = held.select(
        "row", "n", letters=pl.col("bracket").str.extract_all("[a-zA-Z]").list.eval(letter)
    )
    last = pl.lit([chr(ord("a") + k) for k in range(26)]).list.get(
        pl.col("n") - 1, null_on_oob=True
    )
    valid = lettered.filter(pl.col("letters").list.max() <= last.fill_null("z"))
    return shares_of_letters(valid)


def shares_of_letters(lettered: pl.DataFrame) -> pl.DataFrame:
    """Percentages by option of the `letters` that name one; rows without any are left out."""
    import numpy as np

    from evalframe.core import segments

    # A vector with a zero for each of very many options would fill the memory.
    lettered = lettered.filter(pl.col("n") <= _MOST_OPTIONS)
    options = lettered["n"].to_numpy()
    owner = np.repeat(np.arange(len(options)), lettered["letters"].list.len().to_numpy())
    letters = lettered["letters"].explode(empty_as_null=False).cast(pl.Binary)
    index = letters.bin.reinterpret(dtype=pl.UInt8).to_numpy().astype(np.int64) - ord("a")
    is_option = index < options[owner]
    counts = np.bincount(
        owner[is_option] * _ALPHABET + index[is_option], minlength=len(options) * _ALPHABET
    ).reshape(len(options), _ALPHABET)
    totals = counts.sum(axis=1)
    has_letters = totals > 0
    lengths = options[has_letters]
    starts = segments.starts_of(lengths)
    row = np.repeat(np.flatnonzero(has_letters), lengths)
    option = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    count = np.where(option < _ALPHABET, counts[row, np.minimum(option, _ALPHABET - 1)], 0)
    vectors = segments.listed(count / totals[row] * 100.0, lengths, np.ones(len(lengths), bool))
    return (
        lettered.select("row")
        .filter(pl.Series(has_letters))
        .with_columns(vector=vectors.cast(VECTOR))
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
        opens=opens & before.str.contains(rf"^[{_DECORATION}]*$"),
    ).drop_nulls("bracket")


def _is_cited() -> pl.Expr:
    return pl.col("before").str.contains(_CITED) | pl.col("line").str.contains(_CITED_HERE)


def _vectors(held: pl.DataFrame) -> pl.DataFrame:
    """The contents of brackets with numbers only."""
    content = plain(pl.col("bracket").str.slice(1, pl.col("bracket").str.len_chars() - 2))
    read = held.select("row", content=content)
    decimal = read.select("row", content=with_points(pl.col("content"))).drop_nulls()
    # Of two readings at most one has the right length, so that their order says nothing.
    readings = pl.concat([decimal, read]).sort("row", maintain_order=True)
    return readings.filter(is_list(pl.col("content"))).select("row", vector=numbers("content"))
