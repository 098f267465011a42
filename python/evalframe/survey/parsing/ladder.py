"""Rules tried in turn: only rows that no earlier rule settled go on to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Finder: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]

VECTOR = pl.List(pl.Float64())

Length: TypeAlias = Literal["right", "other"]
"""Whether vectors of the right length are looked for, or those of any other."""

SLACK = 0.1
"""How far a sum may be from 100, or from 1, relatively: whole percentages of many options."""

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
    # A rule may itself try rules in turn.
    left = rows.drop(_PLACE, strict=False).with_row_index(_PLACE)
    # Rules share their patterns, and so do the rounds of rules: each is looked for but once.
    marks = {rule.mark: pl.col(rule.text).str.contains(rule.needs) for rule in rules}
    left = left.with_columns(**marks)
    schema = {"row": left.schema[_PLACE], "predicted": VECTOR, "parse_rule": pl.String()}
    parts = [pl.DataFrame(schema=schema)]
    for rule in rules:
        if not left[rule.mark].any():
            continue
        able = left.filter(rule.mark)
        vectors = rule.vectors(able.with_columns(text=rule.text))
        read = pl.DataFrame({"row": able[_PLACE], "predicted": vectors})
        found = read.drop_nulls().with_columns(parse_rule=pl.lit(rule.name))
        if found.is_empty():
            continue
        parts.append(found)
        left = left.filter(~pl.col(_PLACE).is_in(found["row"].implode()))
    return per_row(pl.concat(parts, rechunk=True), len(rows))


def completed(
    found: pl.DataFrame,
    settled: pl.Series,
    rows: pl.DataFrame,
    otherwise: Callable[[pl.DataFrame], pl.DataFrame],
) -> pl.DataFrame:
    """The results of `settled` rows, and for all other rows those of another function."""
    import numpy as np

    if settled.all():
        return found
    rest = otherwise(rows.filter(~settled))
    place = np.arange(len(rows))
    place[~settled.to_numpy()] = len(rows) + np.arange(len(rest))
    # Gathering lists out of several chunks takes ten times as long.
    return pl.concat([found, rest], rechunk=True).select(pl.all().gather(place))


def per_row(found: pl.DataFrame, rows: int) -> pl.DataFrame:
    """Rows by their index `row` as a table of all rows, null for the others."""
    import numpy as np

    place = np.full(rows, -1)
    place[found["row"].to_numpy()] = np.arange(len(found))
    known = pl.Series(place >= 0)
    return found.drop("row").select(pl.all().gather(pl.Series(place).set(~known, None)))


def last_accepted(
    rows: pl.DataFrame, *, find: Finder, length: Length, marked: bool = False, agreed: bool = False
) -> pl.Series:
    """The last candidate of each row that is accepted as a distribution, or null."""
    # `marked`: the text states that this is the answer, so one number is a vector. `agreed`: null
    # if several different candidates are accepted.
    found = find(rows)
    if found.is_empty():
        return found["vector"].clear(len(rows))
    n = rows["n"].gather(found["row"])
    counts = found.filter(accepted(found["vector"], n, length=length, marked=marked))
    if agreed:
        counts = counts.unique(["row", "vector"], maintain_order=True)
        counts = counts.filter(pl.len().over("row") == 1)
    last = counts.unique("row", keep="last", maintain_order=True)
    return per_row(last, len(rows))["vector"]


def accepted(
    vectors: pl.Series, n: pl.Series, *, length: Length = "right", marked: bool = False
) -> pl.Series:
    """True for vectors whose numbers are finite and not negative, with a sum of about 100 or 1."""
    # A `marked` vector of another length can have any sum.
    vector, size = pl.col("vector"), pl.col("size")
    # Columns of their own, as an expression is evaluated anew wherever it stands.
    told = pl.DataFrame({"vector": vectors, "n": n}).select(
        "n",
        size=vector.list.len(),
        total=vector.list.sum(),
        sound=vector.list.eval(_is_share()).list.all(),
    )
    plausible = _is_plausible(pl.col("total"), size)
    sound = pl.col("sound") & (size > 0)
    if length == "right":
        counts = sound & (size == pl.col("n")) & plausible
    elif marked:
        counts = sound & (size != pl.col("n"))
    else:
        counts = sound & (size != pl.col("n")) & (size > 1) & plausible
    return told.select(counts.fill_null(value=False)).to_series()


def no_candidates() -> pl.DataFrame:
    """An empty table of candidates."""
    return pl.DataFrame(schema={"row": pl.Int64(), "vector": VECTOR})


def _is_share() -> pl.Expr:
    return (pl.element().is_finite() & (pl.element() >= 0)).fill_null(value=False)


def _is_plausible(total: pl.Expr, size: pl.Expr) -> pl.Expr:
    """Percentages or fractions; a single 1 is more likely a citation."""
    percent = total.is_between(100 * (1 - SLACK), 100 * (1 + SLACK))
    return percent | (total.is_between(1 - SLACK, 1 + SLACK) & (size > 1))
