"""The items table that every reader of logs returns: its columns, its shape, and its counts.

A row is a sample, an epoch and a pair of scorer and score name. Columns that cost more to read are
there on request; metadata are read as JSON text and typed where all values of a name agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from evalframe.core.errors import UnknownNameError
from evalframe.logs.formats import FORMATS


class Column(NamedTuple):
    """A column of the items table; `extra` ones are there on request."""

    name: str
    dtype: pl.DataType
    meaning: str
    extra: bool = False


_TEXT, _INTEGER, _NUMBER, _TRUTH = pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()
_TIME = pl.Datetime("us", "UTC")

COLUMNS = (
    Column("log", _TEXT, "the file or folder, as given"),
    Column("format", _TEXT, " or ".join(FORMATS)),
    Column("run_id", _TEXT, "the run"),
    Column("log_id", _TEXT, "this log of the run"),
    Column("task", _TEXT, "the task"),
    Column("task_version", _TEXT, "its version"),
    Column("model", _TEXT, "the model"),
    Column("model_args", _TEXT, "arguments of the model, as JSON"),
    Column("dataset", _TEXT, "the dataset"),
    Column("scorer", _TEXT, "what scored"),
    Column("score_name", _TEXT, "which of its scores"),
    Column("sample_id", _TEXT, "the sample, always as text"),
    Column("epoch", _INTEGER, "the repetition of the sample, from 1"),
    Column("score", _NUMBER, "the score as a number; null if the sample has none"),
    Column("value", _TEXT, "the score as recorded, as JSON"),
    Column("answer", _TEXT, "the answer that was scored"),
    Column("target", _TEXT, "the right answer; several are joined by a comma"),
    Column("reason", _TEXT, "why there is no score, where the scorer says so"),
    Column("is_error", _TRUTH, "whether the sample failed"),
    Column("error", _TEXT, "why it failed"),
    Column("limit", _TEXT, "the limit that ended it, by its type"),
    Column("retries", _INTEGER, "failed attempts before this one"),
    Column("n_choices", _INTEGER, "number of choices; null if it is no multiple choice"),
    Column("input_tokens", _INTEGER, "tokens read, over all models"),
    Column("output_tokens", _INTEGER, "tokens written, over all models"),
    Column("total_tokens", _INTEGER, "tokens in all"),
    Column("total_time", _NUMBER, "seconds from start to end"),
    Column("working_time", _NUMBER, "seconds without waiting"),
    Column("started_at", _TIME, "when the sample was started"),
    Column("completed_at", _TIME, "when it was completed"),
    Column("uuid", _TEXT, "the sample's run, the same in copies of it"),
    Column("explanation", _TEXT, "the scorer's explanation", extra=True),
    Column("confidence", _NUMBER, "probability of the answer by the model", extra=True),
    Column("logprob", _NUMBER, "log probability of the completion", extra=True),
    Column("logprob_tokens", _INTEGER, "number of its tokens", extra=True),
    Column("invalidated", _TRUTH, "whether the sample was declared invalid", extra=True),
)
"""All columns of the items table, in order; metadata follow."""

EXTRA = tuple(column.name for column in COLUMNS if column.extra)
DTYPES = {column.name: column.dtype for column in COLUMNS}
CONSTANT = tuple(DTYPES)[:9]
"""Columns with one value per log, by which a query can leave out whole logs."""

COUNTS = {
    "replaced": "records that a later one of the same sample and epoch replaces",
    "not_numbers": "scores that are no numbers and count 0.0",
    "bad_times": "times that cannot be read and are null",
    "missing": "samples that the log says it has, beyond those it holds",
    "foreign": "records of another run than the log's; they are kept",
    "changed": "files whose checksum is another than the published one",
    "no_record": "samples without a record of their own, of which extra columns are null",
}
"""What readers count of a log, by name."""

METADATA = "metadata_"


@dataclass(frozen=True)
class Wanted:
    """The columns that a query reads.

    Attributes:
        columns: Names of columns of the table.
        metadata: Names of metadata; their columns are `metadata_` and the name.
        bookkeeping: Also rows of scores that are no metrics of quality.
        full: Columns that are read from full records, where a format has summaries too.
    """

    columns: frozenset[str]
    metadata: tuple[str, ...] = ()
    bookkeeping: bool = False
    full: frozenset[str] = frozenset()

    def any(self, *names: str) -> bool:
        """True if one of these columns is read."""
        return not self.columns.isdisjoint(names)


def wanted(extra: Iterable[str], metadata: Iterable[str]) -> Wanted:
    """All columns of a table with these on request; UnknownNameError for other names."""
    extra = [extra] if isinstance(extra, str) else [*extra]
    for name in extra:
        if name not in DTYPES:
            raise UnknownNameError.of("column", name, DTYPES)
    names = [metadata] if isinstance(metadata, str) else metadata
    columns = frozenset(c.name for c in COLUMNS if not c.extra or c.name in extra)
    return Wanted(columns, tuple(dict.fromkeys(names)), full=frozenset(extra))


def schema_of(wanted: Wanted) -> dict[str, pl.DataType]:
    """Columns and types of a table, with metadata as JSON text."""
    named = {name: dtype for name, dtype in DTYPES.items() if name in wanted.columns}
    return {**named, **{METADATA + name: pl.String() for name in wanted.metadata}}


def completed(part: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    """The wanted columns in order, null where a reader gives none; no score is NaN."""
    table = part.select(
        pl.col(name).cast(dtype) if name in part.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in schema_of(wanted).items()
    )
    return table.with_columns(pl.col("score").fill_nan(None)) if "score" in table.columns else table


class Score(NamedTuple):
    """One score of all samples of a log: `columns` has a row for each sample."""

    scorer: str | None
    score_name: str | None
    columns: pl.DataFrame


def rectangular(samples: pl.DataFrame, scores: Sequence[Score]) -> pl.DataFrame:
    """Every sample with every score, sample by sample; without scores each sample once.

    >>> samples = pl.DataFrame({"sample_id": ["a", "b"]})
    >>> exact = Score("exact", "exact", pl.DataFrame({"score": [1.0, None]}))
    >>> rectangular(samples, [exact, exact._replace(score_name="all")]).rows()
    [('a', 'exact', 'exact', 1.0), ('a', 'exact', 'all', 1.0),
     ('b', 'exact', 'exact', None), ('b', 'exact', 'all', None)]
    """
    scores = scores or [Score(None, None, pl.DataFrame())]
    blocks = [
        samples.with_columns(
            pl.lit(score.scorer, pl.String).alias("scorer"),
            pl.lit(score.score_name, pl.String).alias("score_name"),
            *score.columns,
        )
        for score in scores
    ]
    if len(blocks) == 1:
        return blocks[0]
    place = pl.int_range(len(samples) * len(blocks))
    order = pl.select(place % len(blocks) * len(samples) + place // len(blocks)).to_series()
    return pl.concat(blocks, rechunk=False)[order]


# Metadata, as JSON text.


def kinds_of(texts: pl.Series) -> set[str]:
    """The kinds of value that some JSON texts are; null is none."""
    text = pl.col("text")
    digits = text.str.contains(r"^-?\d+$")
    kind = (
        pl.when(text == "null")
        .then(None)
        .when(text.is_in(["true", "false"]))
        .then(pl.lit("truth"))
        .when(digits & text.str.to_integer(strict=False).is_not_null())
        .then(pl.lit("whole"))
        .when(~digits & text.str.contains(r"^(-?\d[\d.eE+-]*|NaN|-?Infinity)$"))
        .then(pl.lit("number"))
        .when(text.str.starts_with('"'))
        .then(pl.lit("text"))
        .when(text.is_not_null())
        .then(pl.lit("other"))
    )
    return {*texts.alias("text").to_frame().select(kind.unique().drop_nulls()).to_series()}


def typed(name: str, kinds: set[str]) -> pl.Expr:
    """Values of JSON text in the type that fits all of these kinds; else as they are.

    >>> texts = pl.DataFrame({"level": ["1", "2.5", None], "tag": ['"a"', "1", "null"]})
    >>> texts.select(typed(name, kinds_of(texts[name])) for name in texts.columns).rows()
    [(1.0, '"a"'), (2.5, '1'), (None, None)]
    """
    text = pl.col(name)
    known = pl.when(text != "null").then(text)
    match sorted(kinds):
        case ["truth"]:
            return known == "true"
        case ["whole"]:
            return known.str.to_integer(dtype=pl.Int64())
        case ["number"] | ["number", "whole"]:
            return known.cast(pl.Float64)
        case ["text"]:
            return known.str.json_decode(pl.String())
    return known
