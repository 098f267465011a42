"""One table by several routes: they agree, or an error says where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.typing import Frame

if TYPE_CHECKING:
    from evalframe.core.tables import Keys


def agree(
    law: str,
    routes: Mapping[str, Frame],
    keys: Keys,
    rtol: float,
    columns: Sequence[str] = ("estimate",),
) -> None:
    """Raise an AssertionError if a route has another table than the first one.

    It names the law, the metric, the group and both numbers.
    """
    index = [*keys.names, "metric"]
    tables = {route: table.lazy().collect().sort(index) for route, table in routes.items()}
    first, expected = next(iter(tables.items()))
    for route, table in tables.items():
        if not table.select(index).equals(expected.select(index)):
            raise AssertionError(
                f"{law}: {route} has other groups than {first}:\n"
                f"{table.select(index)}\n{expected.select(index)}"
            )
        for column in set(columns) & set(table.columns):
            left, right = (each[column].cast(pl.Float64) for each in (table, expected))
            undefined = left.is_null() & right.is_null()
            wrong = ~left.is_close(right, rel_tol=rtol, abs_tol=rtol).fill_null(undefined)
            for row in wrong.arg_true().head(1):
                raise AssertionError(
                    f"{law}: {_at(table, index, row, column)} is {right[row]!r} by {first}, "
                    f"but {left[row]!r} by {route}"
                )


def _at(table: pl.DataFrame, index: Sequence[str], row: int, column: str) -> str:
    *group, metric = (table[name][row] for name in index)
    where = ", ".join(f"{name}={value!r}" for name, value in zip(index, group, strict=False))
    return f"{column} of {metric!r}" + (f" in the group {where}" if where else "")
