"""The ladder: rules tried one by one, and candidates that are accepted as distributions.

A rule gets only rows that no earlier rule has read and that contain its pattern. So most responses
cost one search, and the slow rules see few rows. Results are gathered once at the end, since
`when/then` over all rules would evaluate every rule for every row.

A table of candidates has `row` (the index in the table of responses) and `vector` (List(Float64),
null for an unreadable number), in the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

Finder: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]

VECTOR = pl.List(pl.Float64())

NO_CANDIDATES = pl.DataFrame(schema={"row": pl.Int64(), "vector": VECTOR})

Length: TypeAlias = Literal["right", "other"]
"""Length of the vectors to search: that of the options, or any other."""

SLACK = 0.1
"""Relative distance of a sum from 100, or from 1: whole percentages of many options."""

_PLACE = "__place__"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to read an answer."""

    name: str
    vectors: Callable[[pl.DataFrame], pl.Series]  # a vector (List(Float64)) for each row, or null
    needs: str = ""  # a fast pattern in every text that the rule can read; it gets no others
    text: str = "text"  # the column that it reads as `text`

    @property
    def mark(self) -> str:
        """The name of the column that says where the pattern is."""
        return f"__{self.needs}__in__{self.text}__"


def first_found(rows: pl.DataFrame, rules: Sequence[Rule]) -> pl.DataFrame:
    """`predicted` and `parse_rule` of the first rule that reads a row, null if none does."""
    # A rule can itself call this function, and its rows then have the column already.
    left = rows.drop(_PLACE, strict=False).with_row_index(_PLACE)
    schema = {"row": left.schema[_PLACE], "predicted": VECTOR, "parse_rule": pl.String()}
    parts = [pl.DataFrame(schema=schema)]
    known: set[str] = set()
    for rule in rules:
        if rule.mark not in known:  # rules share their patterns: each is searched once
            left = left.with_columns(pl.col(rule.text).str.contains(rule.needs).alias(rule.mark))
            known.add(rule.mark)
        if not left[rule.mark].any():
            continue
        candidates = left.filter(rule.mark)
        vectors = rule.vectors(candidates.with_columns(text=rule.text))
        read = pl.DataFrame({"row": candidates[_PLACE], "predicted": vectors})
        result = read.drop_nulls().with_columns(parse_rule=pl.lit(rule.name))
        if result.is_empty():
            continue
        parts.append(result)
        left = left.filter(~pl.col(_PLACE).is_in(result["row"].implode()))
    return per_row(pl.concat(parts, rechunk=True), len(rows))


def completed(
    results: pl.DataFrame,
    settled: pl.Series,
    rows: pl.DataFrame,
    otherwise: Callable[[pl.DataFrame], pl.DataFrame],
) -> pl.DataFrame:
    """The results of `settled` rows, and for all other rows those of another function."""
    if settled.all():
        return results
    rest = otherwise(rows.filter(~settled))
    index = np.arange(len(rows))
    index[~settled.to_numpy()] = len(rows) + np.arange(len(rest))
    # Gathering lists out of several chunks takes ten times as long.
    return pl.concat([results, rest], rechunk=True).select(pl.all().gather(index))


def per_row(results: pl.DataFrame, rows: int) -> pl.DataFrame:
    """Rows by their index `row` as a table of all rows, null for the others."""
    index = np.full(rows, -1)
    index[results["row"].to_numpy()] = np.arange(len(results))
    has_result = pl.Series(index >= 0)
    return results.drop("row").select(pl.all().gather(pl.Series(index).set(~has_result, None)))


def last_accepted(
    rows: pl.DataFrame, *, find: Finder, length: Length, marked: bool = False, agreed: bool = False
) -> pl.Series:
    """The last candidate of each row that is accepted as a distribution, or null."""
    # `marked`: the text states that this is the answer, so one number is a vector. `agreed`: null
    # if several different candidates are accepted.
    candidates = find(rows)
    if candidates.is_empty():
        return candidates["vector"].clear(len(rows))
    n = rows["n"].gather(candidates["row"])
    matches = candidates.filter(accepted(candidates["vector"], n, length=length, marked=marked))
    if agreed:
        matches = matches.unique(["row", "vector"], maintain_order=True)
        matches = matches.filter(pl.len().over("row") == 1)
    last = matches.unique("row", keep="last", maintain_order=True)
    return per_row(last, len(rows))["vector"]


def accepted(
    vectors: pl.Series, n: pl.Series, *, length: Length = "right", marked: bool = False
) -> pl.Series:
    """True for vectors whose numbers are finite and not negative, with a sum of about 100 or 1."""
    # A `marked` vector of another length can have any sum.
    vector, size, total = pl.col("vector"), pl.col("size"), pl.col("total")
    is_share = (pl.element().is_finite() & (pl.element() >= 0)).fill_null(value=False)
    # As columns, since Polars evaluates an expression again at each use.
    sums = pl.DataFrame({"vector": vectors, "n": n}).select(
        "n",
        size=vector.list.len(),
        total=vector.list.sum(),
        sound=vector.list.eval(is_share).list.all(),
    )
    # Percentages or fractions; a single 1 is more likely a citation.
    plausible = total.is_between(100 * (1 - SLACK), 100 * (1 + SLACK)) | (
        total.is_between(1 - SLACK, 1 + SLACK) & (size > 1)
    )
    sound = pl.col("sound") & (size > 0)
    if length == "right":
        matches = sound & (size == pl.col("n")) & plausible
    elif marked:
        matches = sound & (size != pl.col("n"))
    else:
        matches = sound & (size != pl.col("n")) & (size > 1) & plausible
    return sums.select(matches.fill_null(value=False)).to_series()
