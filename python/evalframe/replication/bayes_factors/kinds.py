"""Kinds of Bayes factors: formulas, conditions, priors, and the columns that each reads."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.contract import Rule
from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.bayes_factors import formulas
from evalframe.replication.effects.by_kind import n_of_f
from evalframe.replication.effects.kinds import Says, in_groups
from evalframe.replication.numbers import NO_NUMBER, number, raw_number

if TYPE_CHECKING:
    from evalframe.replication.bayes_factors.formulas import Conditions


class Prior(NamedTuple):
    """Widths that a prior can have."""

    usual: float
    least: float
    most: float

    def check(self, name: str, width: Any) -> None:
        """Raise ParameterError unless the width is a number in the range."""
        usable = isinstance(width, Real) and not isinstance(width, bool)
        if not usable or not self.least <= float(width) <= self.most:
            least = f"from {self.least:g} to" if self.least > _ABOVE_0 else "above 0 and up to"
            raise ParameterError(
                f"{name} must be a number {least} {self.most:g}, got {width!r}; usual is "
                f"{self.usual:g}"
            )


_ABOVE_0 = sys.float_info.min

CAUCHY = Prior(0.707, _ABOVE_0, 1e100)
"""Cauchy prior of t, z and U; three digits, not half the root of 2. Larger squares overflow."""

EFFECTS = Prior(0.5, _ABOVE_0, 1e100)
"""Prior of the effects of F."""

STRETCHED_BETA = Prior(1.0, 1e-3, 1e2)
"""Prior of a correlation, by default with every correlation equally likely."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of Bayes factor: from roles, and a width if it has a prior, to the logarithm."""

    log: Callable[..., pl.Expr]
    conditions: Callable[..., Conditions]
    prior: Prior | None = None

    def log_factor(
        self, roles: Sequence[IntoExpr | None], width: Any = None, name: str = "scale"
    ) -> pl.Expr:
        """The logarithm of the Bayes factor of columns; `name` is that of the width."""
        if self.prior is None:
            return self.log(*map(number, roles))
        self.prior.check(name, width)
        return self.log(*map(number, roles), width)


T = Kind(formulas.t, formulas.of_t, CAUCHY)
SCORE = Kind(formulas.t, formulas.of_score, CAUCHY)
R = Kind(formulas.r, formulas.of_r, STRETCHED_BETA)
F = Kind(formulas.f, formulas.of_f, EFFECTS)
U = Kind(formulas.u, formulas.of_u, CAUCHY)
CHI2 = Kind(formulas.chi2, formulas.of_chi2)
BINOMIAL = Kind(formulas.binomial, formulas.of_binomial)
BOUND = Kind(formulas.bound, formulas.of_p)
DIRECTIONAL_BOUND = Kind(formulas.directional_bound, formulas.of_directional_p)
VARIANCE_RATIO = Kind(formulas.variance_ratio, formulas.of_variance_ratio)

KINDS: dict[str, Kind] = {
    "t": T,
    "welch": Kind(formulas.t, formulas.of_welch, CAUCHY),
    "z": SCORE,
    "coefficient": SCORE,
    "wald": Kind(formulas.chi2, formulas.of_wald),
    "f": F,
    "correlation": R,
    "chi_square": CHI2,
    "rank": U,
    "binomial": BINOMIAL,
    "variance_ratio": VARIANCE_RATIO,
    "p_value": BOUND,
    "directional_p_value": DIRECTIONAL_BOUND,
}
"""Kinds of Bayes factors, by the names that `kind_of` gives."""

CELLS = formulas.CELLS
ROLES = (
    *("stat", "n1", "n2", "df1", "df2", "df", "n_total", "k", "n", "p0", *CELLS),
    *("independent", "p_value", "direction", "estimate", "std_error"),
)
"""Columns that Bayes factors are computed from."""

SOURCES = {
    "n": ("n", "n_total", "n1", "a", "b", "c", "d"),
    "n_total": ("n_total", "n", "df1", "df2"),
    "n1": ("n1", "n2", "independent"),
    "n2": ("n2", "independent"),
    "df1": ("df1", "df"),
    "k": ("k", "stat"),
    "p_value": ("p_value", "stat"),
}
"""Columns that stand in for others, in this order."""


def arguments(
    columns: Mapping[str, IntoExpr], agrees: pl.Expr, says: Says
) -> dict[str, list[pl.Expr]]:
    """Arguments of the Bayes factor of each kind, the statistic first, of columns by role."""
    stat = raw_number(columns.get("stat"))
    n1, n2, df1, df2, df, p0 = (
        number(columns.get(name)) for name in ("n1", "n2", "df1", "df2", "df", "p0")
    )
    everybody = _first_of(columns, "n_total", "n")
    observed = counted = _first_of(columns, "n", "n_total", "n1")
    # Pairs have no second group; independent samples without one are incomplete, not pairs.
    apart = in_groups(says, _independent(columns))
    second = pl.when(apart.fill_null(value=True)).then(n2)
    first = pl.when(~apart.fill_null(value=False) | n2.is_not_null()).then(n1)
    unsaid = n1.is_null() & n2.is_null() & apart.fill_null(value=True)
    half = pl.when(unsaid).then(everybody / 2.0)
    groups = [pl.coalesce(first, half), pl.coalesce(second, half)]
    all_groups = pl.coalesce(everybody, n1 + second, n1)
    association = stat
    if columns.keys() >= {*CELLS}:
        cells = [columns[name] for name in CELLS]
        counts = [number(cell) for cell in cells]
        counted = pl.coalesce(observed, pl.sum_horizontal(counts, ignore_nulls=False))
        association = pl.coalesce(stat, formulas.yates_chi_square(*cells))
    p = _first_of(columns, "p_value", "stat", read=raw_number)
    freedom = _first_of(columns, "df1", "df").fill_null(1.0)
    estimate, error = (number(columns.get(name)) for name in ("estimate", "std_error"))
    score = pl.coalesce(stat, pl.when(error > 0).then(estimate / error))
    endless = pl.lit(math.inf)
    return {
        "t": [stat, first, second, NO_NUMBER],
        "welch": [stat, n1, n2, df],
        "z": [stat, *groups, endless],
        "coefficient": [score, *groups, df.fill_null(math.inf)],
        "wald": [stat, freedom, all_groups],
        "f": [stat, df1, df2, n_from(columns, says)[0]],
        "correlation": [stat, observed],
        "chi_square": [association, freedom, counted],
        "rank": [stat, n1, n2],
        "binomial": [_first_of(columns, "k", "stat", read=raw_number), observed, p0.fill_null(0.5)],
        "variance_ratio": [stat, df1, df2],
        "p_value": [p],
        "directional_p_value": [p, agrees],
    }


def n_from(columns: Mapping[str, IntoExpr], says: Says) -> tuple[pl.Expr, pl.Expr]:
    """Observations of an F test; and true if they follow from its degrees of freedom only."""
    n1, n2, df1, df2 = (number(columns.get(name)) for name in ("n1", "n2", "df1", "df2"))
    second = pl.when(in_groups(says, _independent(columns)).fill_null(value=True)).then(n2)
    return n_of_f(_first_of(columns, "n_total", "n"), n1 + second, df1, df2, says)


def _independent(columns: Mapping[str, IntoExpr]) -> pl.Expr:
    if "independent" not in columns:
        return pl.lit(None, pl.Boolean)
    return as_expr(columns["independent"]).cast(pl.Boolean)


def _first_of(
    columns: Mapping[str, IntoExpr],
    *roles: str,
    read: Callable[[IntoExpr | None], pl.Expr] = number,
) -> pl.Expr:
    """The first of several columns that a row has."""
    there = [read(columns[role]) for role in roles if role in columns]
    return pl.coalesce(there) if there else NO_NUMBER


def possible_tests(
    kind: str, roles: Sequence[pl.Expr], columns: Mapping[str, str], types: Sequence[str]
) -> Iterator[Rule]:
    """Conditions on tests of a kind, as rules on rows; missing values break none."""
    first, *rest = roles
    stat = first.fill_nan(None)
    of_kind = KINDS[kind].conditions(stat, *rest)
    for rule in _rules(of_kind, kind, columns, types):
        yield Rule(rule.name, stat.is_null() | rule.holds, rule.columns, rule.remedy)


def possible_tables(
    is_table: pl.Expr, columns: Mapping[str, str], types: Sequence[str]
) -> Iterator[Rule]:
    """Conditions on the cells of chi-square tests, needed or not."""
    if cells := [number(columns[cell]) for cell in CELLS if cell in columns]:
        for rule in _rules(formulas.of_cells(cells), "chi_square", columns, types):
            yield Rule(rule.name, ~is_table | rule.holds, rule.columns, rule.remedy)


def _rules(
    of_kind: Conditions, kind: str, columns: Mapping[str, str], types: Sequence[str]
) -> Iterator[Rule]:
    role, column = next(iter(columns.items()))
    ending = column.removeprefix(role).removeprefix("_")
    of_side = f" ({ending})" if ending else ""
    for condition in of_kind:
        sources = dict.fromkeys(s for role in condition.roles for s in SOURCES.get(role, (role,)))
        read = (columns[name] for name in sources if name in columns)
        name = f"{condition.text}, in {kind.replace('_', ' ')} tests{of_side}"
        yield Rule(name, condition.holds, (*types, *read), condition.remedy)
