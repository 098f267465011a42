"""Whether a table is a whole state: a table is what people filter, store and send."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import polars.selectors as cs

from evalframe.core.errors import ParameterError, first_few
from evalframe.core.state import LEVEL, N_MISSING, N

BLOCK = ":block"
_ANEW = "make it anew with partial(...)"


def checked(state: pl.DataFrame, blocks: int, groups: Sequence[str]) -> pl.DataFrame:
    """The state with the number of each row's block, groups first and sums last, as Float64.

    Args:
        state: The table, of which `:block` is already a number.
        blocks: How many blocks there are.
        groups: The columns of keys and cluster.

    Raises:
        ParameterError: A column is missing, or one too many, or of another type; a row is of no
            block, or counts no whole number of rows.
    """
    units = [name for name in state.columns if name.startswith(":unit")]
    known = [*groups, *units, BLOCK, LEVEL]
    check_present(state, [*known, f":{N}", f":{N_MISSING}"])
    sums = [name for name in state.columns if name not in known]
    if others := [name for name in sums if not name.startswith(":")]:
        raise ParameterError(f"a state has no column {first_few(pl.Series(others))}; take it out")
    numbers = cs.by_name(LEVEL, *sums)
    wrong = state.select(numbers - (cs.integer() | cs.float() | cs.by_dtype(pl.Null)))
    if wrong.width:
        name, dtype = next(iter(wrong.schema.items()))
        raise ParameterError(f"{name!r} of the state is {dtype}, not a number; {_ANEW}")
    for name in (*groups, *units):
        if state.schema[name].is_object():
            raise ParameterError(f"{name!r} of the state holds Python objects; {_ANEW}")
    table = state.select(*known, *sums).with_columns(numbers.cast(pl.Float64))
    if not table[BLOCK].is_between(0, blocks - 1).fill_null(value=False).all():
        raise ParameterError(f"{BLOCK!r} of the state says of some rows nothing known; {_ANEW}")
    for name in (f":{N}", f":{N_MISSING}"):
        counts = table[name].drop_nulls()
        if not ((counts >= 0) & (counts < 2.0**53) & (counts % 1 == 0)).all():
            raise ParameterError(
                f"{name!r} of the state counts rows, but is not a whole number; {_ANEW}"
            )
    return table


def check_present(state: pl.DataFrame, names: Sequence[str]) -> None:
    """Raise ParameterError if a state lacks one of these columns."""
    if missing := [name for name in dict.fromkeys(names) if name not in state.columns]:
        raise ParameterError(f"the state has no column {first_few(pl.Series(missing))}; {_ANEW}")


def check_alike(states: Sequence[pl.DataFrame], groups: Sequence[str]) -> None:
    """Raise if a key, the cluster or a unit is text in one state and something else in another."""
    schemas = [state.schema for state in states]
    units = {name for schema in schemas for name in schema if name.startswith(":unit")}
    for name in (*groups, *sorted(units)):
        columns = [state.select(name).clear() for state in states if name in state.columns]
        dtypes = {column.schema[name] for column in columns} - {pl.Null()}
        text = {dtype for dtype in dtypes if dtype in (pl.String, pl.Categorical, pl.Enum)}
        try:
            pl.concat(columns, how="vertical_relaxed")
        except pl.exceptions.PolarsError:
            text = {pl.String()}
        if text and text != dtypes:
            raise ParameterError(
                f"{'the unit of a metric' if name in units else repr(name)} is "
                f"{' and '.join(sorted(map(str, dtypes)))} in different states; "
                "cast it to one type before partial(...)"
            )
