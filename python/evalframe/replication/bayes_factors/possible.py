"""What is possible of tests, as rules on the rows of their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.contract import Rule
from evalframe.replication.bayes_factors.columns import known
from evalframe.replication.bayes_factors.domains import CELLS, of_cells
from evalframe.replication.bayes_factors.kinds import KINDS, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from evalframe.replication.bayes_factors.domains import Conditions


def possible_tests(
    kind: str, taken: Sequence[pl.Expr], columns: Mapping[str, str], types: Sequence[str]
) -> Iterator[Rule]:
    """What is possible of tests of a kind; what is missing breaks no rule.

    Args:
        kind: Of Bayes factor.
        taken: What it takes, as `kinds.arguments` has it; the first null for other kinds.
        columns: Of the side, by role.
        types: The columns that say what a test is.
    """
    first, *rest = taken
    stat = first.fill_nan(None)
    conditions = KINDS[kind].conditions(stat, *rest)
    for rule in _rules(conditions, kind, columns, types):
        yield Rule(rule.name, stat.is_null() | rule.holds, rule.columns, rule.remedy)


def possible_tables(
    is_table: pl.Expr, columns: Mapping[str, str], types: Sequence[str]
) -> Iterator[Rule]:
    """What is possible of the cells of chi-square tests, whether or not they are needed."""
    if cells := [known(columns[cell]) for cell in CELLS if cell in columns]:
        for rule in _rules(of_cells(cells), "chi_square", columns, types):
            yield Rule(rule.name, ~is_table | rule.holds, rule.columns, rule.remedy)


def _rules(
    conditions: Conditions, kind: str, columns: Mapping[str, str], types: Sequence[str]
) -> Iterator[Rule]:
    side = next(iter(columns.items()))
    ending = side[1].removeprefix(side[0]).removeprefix("_")
    of_side = f" ({ending})" if ending else ""
    for condition in conditions:
        text, holds, roles = condition
        sources = dict.fromkeys(s for role in roles for s in SOURCES.get(role, (role,)))
        shown = (columns[name] for name in sources if name in columns)
        name = f"{text}, in {kind.replace('_', ' ')} tests{of_side}"
        yield Rule(name, holds, (*types, *shown), condition.remedy)
