"""Rules tried in turn: only rows that no earlier rule settled go on to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VECTOR = pl.List(pl.Float64())

_PLACE = "__place__"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to read an answer.

    Args:
        name: Of the way of writing.
        vectors: Gives a vector (List(Float64)) for each row, or null.
        needs: A pattern, quick to find, in every text that the rule can read; it sees no others.
        text: The column that it reads as `text`.
    """

    name: str
    vectors: Callable[[pl.DataFrame], pl.Series]
    needs: str = ""
    text: str = "text"

    @property
    def mark(self) -> str:
        """The name of the column that says where the pattern is."""
        return f"__{self.needs}__in__{self.text}__"


def first_found(rows: pl.DataFrame, rules: Sequence[Rule]) -> pl.DataFrame:
    """The vector of the first rule that finds one, and the name of the rule.

    Args:
        rows: What the rules read.
        rules: In the order of preference.

    Returns:
        `predicted` and `parse_rule`, null where nothing is found; a row for each of `rows`.
    """
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
    """What is found where that settles it, and elsewhere what is found another way.

    Args:
        found: `predicted` and `parse_rule`, a row for each of `rows`.
        settled: Whether that is the answer.
        rows: What `otherwise` reads.
        otherwise: Gives both for all other rows.
    """
    import numpy as np

    if settled.all():
        return found
    rest = otherwise(rows.filter(~settled))
    place = np.arange(len(rows))
    place[~settled.to_numpy()] = len(rows) + np.arange(len(rest))
    # Gathering lists out of several chunks takes ten times as long.
    return pl.concat([found, rest], rechunk=True).select(pl.all().gather(place))


def per_row(found: pl.DataFrame, rows: int) -> pl.DataFrame:
    """What is known of some rows as columns with all of them, null for the others.

    Args:
        found: `row`, each at most once, and other columns.
        rows: How many rows there are.
    """
    import numpy as np

    place = np.full(rows, -1)
    place[found["row"].to_numpy()] = np.arange(len(found))
    known = pl.Series(place >= 0)
    return found.drop("row").select(pl.all().gather(pl.Series(place).set(~known, None)))
