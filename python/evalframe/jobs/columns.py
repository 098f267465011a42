"""Columns by other names: the column of a table that plays a role.

A role is the name under which a family reads a column, such as `label`. If a job names another
column for it, every table with that column gains a copy under the role's name, which replaces a
column of this name. Readers of the tables need not know.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)

if TYPE_CHECKING:
    import polars as pl


Columns: TypeAlias = "Mapping[str, Sequence[str]]"
"""For each role the columns that play it; several where tables have different names for it."""


def check_columns(columns: Columns, roles: Collection[str]) -> None:
    """Raise unless all are roles of the family."""
    for role in columns:
        if role not in roles:
            raise UnknownNameError.of("column", role, roles)


def with_roles(table: pl.LazyFrame, columns: Columns) -> pl.LazyFrame:
    """Add copies of the named columns under the names of their roles."""
    import polars as pl

    present = table.collect_schema()
    copies = []
    for role, names in columns.items():
        matches = [name for name in names if name in present]
        if len(matches) > 1:
            raise ParameterError(
                f"a table has both {matches[0]!r} and {matches[1]!r} for {role}; name one of them"
            )
        copies += [pl.col(name).alias(role) for name in matches]
    return table.with_columns(copies)


def texts_of(roles: Collection[str], columns: Columns) -> list[str]:
    """Return the roles, followed by the columns named for them."""
    return [*roles, *(name for role in roles for name in columns.get(role, ()))]


def check_found(columns: Columns, what: str, *present: Collection[str]) -> None:
    """Raise if a named column is in no table."""
    if columns and not present:
        raise ParameterError(
            f"{what}: columns can be named for tables only, and files of the original have fixed "
            "names; leave them out"
        )
    everywhere = dict.fromkeys(name for table in present for name in table)
    for role, names in columns.items():
        if missing := [name for name in names if name not in everywhere]:
            raise MissingColumnsError(
                f"{what}: no column {missing[0]!r}, which is to be {role}; the table has "
                f"{[*everywhere]}.{did_you_mean(missing[0], everywhere)} Correct the name of the "
                f"column (--column {role}=NAME)"
            )


_FLAGS = 3
"""Number of flags in an error."""


@contextmanager
def naming_columns(columns: Columns, roles: Collection[str]) -> Iterator[None]:
    """Add to errors the flag that names a missing column, and the column named for a role."""
    try:
        yield
    except MissingColumnsError as error:
        advice = _advice(error.missing, roles)
        error.args = tuple(advice if part == error.ADVICE else part for part in error.args)
        raise
    except ContractError as error:
        for role, names in columns.items():
            if re.search(rf"\b{re.escape(role)}\b", str(error)):
                error.add_note(f"Column {role} is {' or '.join(map(repr, names))} in the file.")
        raise


def _advice(missing: Sequence[str], roles: Collection[str]) -> str:
    """How to name a column in place of a missing one."""
    absent = [name for name in missing if name in roles]
    if not absent:
        return " Rename the column in the file, or name another in by, key or cluster."
    flags = " ".join(f"--column {role}=NAME" for role in absent[:_FLAGS])
    more = " ..." * (len(absent) > _FLAGS)
    return (
        f' Name the column to use ({flags}{more}, or columns = {{ {absent[0]} = "NAME" }} in a job '
        "file), or rename it."
    )
