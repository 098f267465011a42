"""Stages of the derivation of legacy fields: numbers, reports, p-values, directions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.legacy import directions, p_values
from evalframe.compat.humanstudy_bench.legacy.p_values import Numbers
from evalframe.compat.humanstudy_bench.legacy.rates import level_of
from evalframe.compat.humanstudy_bench.legacy.reports import reported_p_value, reported_statistic
from evalframe.replication.effects.kinds import in_groups, is_form
from evalframe.replication.effects.numbers import number
from evalframe.replication.effects.types import SIDES

if TYPE_CHECKING:
    from collections.abc import Collection

    from evalframe.replication.effects.types import Side

KIND, SIDE = ":kind_of_test", ":side"
"""Working columns: kind of test, side of the alternative."""

_STATED = ("stat", "df1", "df2", "n1", "n2")
_NUMBERS = (*_STATED, "df", "n_total", "n", "k", "p0", "a", "b", "c", "d")
_MADE = ("p_value", "effect_size", "std_error")


class Given:
    """What a table of tests gives of both sides, and what follows from it, stage by stage.

    Args:
        present: The columns of the table.
    """

    def __init__(self, present: Collection[str]) -> None:
        self._numbers = {f"{name}_{side}": pl.Float64() for name in _NUMBERS for side in SIDES}
        self._made = {f"{name}_{side}": pl.Float64() for name in _MADE for side in SIDES}
        self._others: dict[str, pl.DataType] = {
            "expected_direction": pl.String(),
            "significance_level": pl.Float64(),
        }
        for side in SIDES:
            self._others[f"direction_{side}"] = pl.Int8()
            self._others[f"independent_{side}"] = pl.Boolean()
        self._reports = [side for side in SIDES if f"report_{side}" in present]
        reported = {f"{name}_{side}" for name in _STATED for side in self._reports}
        self._columns = {*present, *reported}
        self._present = {*present}

    @property
    def names(self) -> Collection[str]:
        """The columns that hold numbers of tests."""
        return self._numbers

    @property
    def read(self) -> list[str]:
        """The columns of these that the table has."""
        return [name for name in self._numbers if name in self._present]

    def __getitem__(self, name: str) -> pl.Expr:
        if name in self._columns:
            return pl.col(name)
        return pl.lit(None, (self._numbers | self._made | self._others)[name])

    def numbers(self) -> list[pl.Expr]:
        """All numbers that the table has, missing where they are none."""
        names = [name for name in (*self._numbers, *self._made) if name in self._present]
        return [number(name, "documented").alias(name) for name in names]

    def said(self) -> list[pl.Expr]:
        """What reports say."""
        level = self["significance_level"]
        return [
            said.alias(f":{what}_{side}")
            for side in self._reports
            for what, said in {
                "stated": reported_statistic(
                    f"report_{side}", independent=self[f"independent_{side}"]
                ),
                "p": reported_p_value(f"report_{side}", significance_level=level),
            }.items()
        ]

    def filled(self) -> list[pl.Expr]:
        """Numbers, with those that the columns lack taken from reports."""
        filled = []
        for side in self._reports:
            own = {name: self._own(f"{name}_{side}") for name in _STATED}
            unsized = own["n1"].is_null() & own["n2"].is_null()
            for name, value in own.items():
                stated: pl.Expr = pl.col(f":stated_{side}").struct.field(name)
                if name in ("n1", "n2"):
                    stated = pl.when(unsized).then(stated)
                filled.append(pl.coalesce(value, stated).alias(f"{name}_{side}"))
        return filled

    def p_values(self) -> list[pl.Expr]:
        """P-values from statistics."""
        names = ("stat", "n1", "n2", "df1", "df2", "k", "n", "p0", "independent")
        return [
            p_values.p_value_of_kind(
                pl.col(KIND),
                self._freed(side, Numbers._make(self[f"{name}_{side}"] for name in names)),
                pl.col(SIDE),
            ).alias(f":computed_{side}")
            for side in SIDES
        ]

    def derived(self) -> list[pl.Expr]:
        """P-values from all sources, significance and directions."""
        return [
            column
            for side in SIDES
            for column in (*self._significance(side), self._direction(side))
        ]

    def _freed(self, side: Side, numbers: Numbers) -> Numbers:
        """The numbers, with samples as types say, and degrees of freedom under another name."""
        apart = in_groups(partial(is_form, "test_type"), numbers.independent)
        numbers = numbers._replace(independent=apart)
        of_table = pl.when(pl.col(KIND) == "chi_square").then(self[f"df_{side}"])
        return numbers._replace(df1=pl.coalesce(numbers.df1, of_table))

    def _own(self, name: str) -> pl.Expr:
        return pl.col(name) if name in self._present else pl.lit(None, pl.Float64)

    def _significance(self, side: Side) -> list[pl.Expr]:
        own, computed = self[f"p_value_{side}"], pl.col(f":computed_{side}")
        known = pl.coalesce(own, computed)
        p, significant = known, known < level_of(self["significance_level"])
        if side in self._reports:
            said = pl.col(f":p_{side}").struct
            p = pl.coalesce(known, said.field("p_value"))
            significant = pl.coalesce(significant, said.field("is_significant"))
        return [p.alias(f"p_value_{side}"), significant.alias(f"is_significant_{side}")]

    def _direction(self, side: Side) -> pl.Expr:
        """The direction of a side; only of humans is it known to be the one that is expected."""
        names = ("stat", "n1", "n2", "k", "n", "p0")
        numbers = directions.Numbers._make(self[f"{name}_{side}"] for name in names)
        numbers = numbers._replace(n=pl.coalesce(numbers.n, numbers.n1))
        expected = pl.col(SIDE) if side == "human" else pl.lit(None, pl.Int8)
        cells = [self[f"{cell}_{side}"] for cell in "abcd"]
        kind = pl.col(KIND)
        derived = directions.direction_of_kind(kind, numbers, cells, expected)
        own = number(self[f"direction_{side}"], "reference").sign().cast(pl.Int8)
        return pl.coalesce(own, derived).alias(f"direction_{side}")
