"""The definition of a metric: sums that add up, and a finish.

A `State` names row-level expressions that are added up within a group (`sums`) and per ordered
level (`axes`), and computes the value from them (`finish`). Everything else follows from it:
expression, table, merged shards, bootstrap and jackknife.

Terms of an axis are elementwise expressions over four views of each sum:

* `at.x`: the sum over all levels up to and including this one (a running sum);
* `before.x`: the running sum over the levels before this one, 0 at the first;
* `own.x`: the sum of this level alone;
* `total.x`: the sum over the whole group (also of plain sums).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from evalframe.core.errors import did_you_mean

OWN, BEFORE, TOTAL = ":own", ":before", ":total"
LEVEL = ":level"
WEIGHT = "weight"
ONE = pl.lit(1.0)
"""The weight of a row when the caller gives none."""

N, N_MISSING = "n", "n_missing"


class View:
    """Named sums seen from a level: attribute access gives the expression.

    >>> str(before.mass)
    'col("mass:before")'
    """

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def __getattr__(self, name: str) -> pl.Expr:
        if name.startswith("__"):  # Python's own, such as `__signature__`
            raise AttributeError(name)
        return pl.col(name + self._suffix)


at, before, own, total = View(""), View(BEFORE), View(OWN), View(TOTAL)
level = pl.col(LEVEL)
"""The value of the level itself, as Float64."""


class Totals:
    """Argument of a finish: totals of all sums, and the added-up terms, by name."""

    def __init__(self, named: Mapping[str, pl.Expr]) -> None:
        self._named = named

    def __getattr__(self, name: str) -> pl.Expr:
        try:
            return self._named[name]
        except KeyError:
            raise AttributeError(
                f"no sum or term {name!r}.{did_you_mean(name, self._named)} "
                f"There are: {', '.join(self._named)}"
            ) from None


@dataclass(frozen=True)
class First:
    """The value at the first level at which a quantity that never falls reaches a bound.

    Attributes:
        rising: Elementwise expression over the views that never falls from level to level.
        bound: What it must reach: a number, or an expression over `total`.
        value: Elementwise expression over the views, taken there; null where it is not reached.
        earlier: A term of all levels before that one, added up and added to the value; where the
            bound is not reached, the term of all levels is what there is.
    """

    rising: pl.Expr
    bound: float | pl.Expr
    value: pl.Expr
    earlier: pl.Expr | None = None

    @property
    def exprs(self) -> tuple[pl.Expr, ...]:
        """The expressions that it reads."""
        parts = (self.rising, self.bound, self.value, self.earlier)
        return tuple(part for part in parts if isinstance(part, pl.Expr))


@dataclass(frozen=True)
class Axis:
    """Sums per ordered level.

    Attributes:
        level: Row-level expression to order by, a number.
        where: Row-level condition for a row to have a level.
        sums: Row-level expressions added up per level.
        terms: Elementwise expressions over the views, added up over the levels.
        maxima: The same, but the largest value is taken; NaN is ignored.
        firsts: Values at the first level that reaches a bound.
        descending: True if the running sums start at the highest level.
        regroup: Expression over the views: consecutive levels of equal value become one, with
            the value of the first, before the terms are computed. A level without mass must not
            separate two others, since a replicate can lack any level.
        hull: Abscissa and ordinate over the views: only the levels that are vertices of the lower
            convex hull stay before the terms are computed.
        centre: A pair (x, m) of sums: running sums of x are taken about the group's mean
            x.total / m.total, which keeps small differences of large values exact.

    Examples:
        The area under the Lorenz curve of losses, by trapezoids over the people that bear them:

        >>> import polars as pl, evalframe as ef
        >>> loss, weight = pl.col("loss"), pl.col("weight")
        >>> axis = ef.Axis(
        ...     level=loss,
        ...     sums={"mass": weight, "loss": weight * loss},
        ...     terms={"lorenz": ef.own.mass * (ef.at.loss + ef.before.loss) / 2},
        ... )
        >>> list(axis.results)
        ['lorenz']
    """

    level: pl.Expr
    sums: Mapping[str, pl.Expr]
    terms: Mapping[str, pl.Expr] = field(default_factory=dict)
    maxima: Mapping[str, pl.Expr] = field(default_factory=dict)
    firsts: Mapping[str, First] = field(default_factory=dict)
    where: pl.Expr = field(default_factory=lambda: pl.lit(value=True))
    descending: bool = False
    regroup: pl.Expr | None = None
    hull: tuple[pl.Expr, pl.Expr] | None = None
    centre: tuple[str, str] | None = None

    @property
    def results(self) -> dict[str, tuple[pl.Expr, ...]]:
        """The results of the levels by name, each with its expressions."""
        results: dict[str, tuple[pl.Expr, ...]] = {}
        results |= {name: (expr,) for name, expr in {**self.terms, **self.maxima}.items()}
        return results | {name: first.exprs for name, first in self.firsts.items()}

    @property
    def shape(self) -> tuple[str, ...]:
        """The changes of levels and sums before the terms, as text."""
        return (str(self.centre), str(self.regroup), *(str(part) for part in self.hull or ()))


@dataclass(frozen=True)
class State:
    """The additive state of a metric and its finish.

    Attributes:
        sums: Row-level expressions added up within a group.
        axes: Sums per ordered level.
        finish: From the totals of all sums and the added-up terms to the value.
        valid: Row-level condition; other rows are left out and counted in `n_missing`. By default
            no role may be null or NaN. A weight must always be finite and at least 0.
        left_out: Row-level expressions added up over the rows that are left out.

    Examples:
        The rows that a metric adds up, and what becomes of their totals:

        >>> import polars as pl, evalframe as ef
        >>> from types import SimpleNamespace
        >>> loss, weight = pl.col("loss"), pl.col("weight")
        >>> mean_loss = ef.State(
        ...     sums={"mass": weight, "loss": weight * loss},
        ...     finish=lambda t: ef.ratio(t.loss, t.mass),
        ... )
        >>> totals = SimpleNamespace(mass=pl.col("mass").sum(), loss=pl.col("loss").sum())
        >>> sums = pl.DataFrame({"mass": [1, 1], "loss": [0.5, 0.25]})
        >>> sums.select(mean_loss.finish(totals)).item()
        0.375
    """

    finish: Callable[[Totals], pl.Expr]
    sums: Mapping[str, pl.Expr] = field(default_factory=dict)
    axes: Sequence[Axis] = ()
    valid: pl.Expr | None = None
    left_out: Mapping[str, pl.Expr] = field(default_factory=dict)


def as_numbers(sums: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """What sums of a completed state add up, with 1 for true and 0 for nothing."""
    return {name: expr.cast(pl.Float64).fill_null(0.0) for name, expr in sums.items()}


def ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """The quotient, null where the denominator is 0.

    Args:
        numerator: A total, or an expression of several.
        denominator: The same.

    Returns:
        Float64, null where the denominator is 0 or either is null.

    Examples:
        >>> import polars as pl
        >>> from evalframe import ratio
        >>> pl.DataFrame({"a": [1.0, 0.0], "b": [2.0, 0.0]}).select(ratio(pl.col("a"), pl.col("b")))
        shape: (2, 1)
        ┌──────┐
        │ a    │
        │ ---  │
        │ f64  │
        ╞══════╡
        │ 0.5  │
        │ null │
        └──────┘
    """
    return pl.when(denominator != 0).then(numerator / denominator)
