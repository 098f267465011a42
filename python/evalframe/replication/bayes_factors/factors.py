"""Each kind of Bayes factor by both rules, and one by either."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from evalframe.core.errors import ParameterError
from evalframe.core.rules import check_rules
from evalframe.replication.bayes_factors import documented, domains, original
from evalframe.replication.bayes_factors.columns import known, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr
    from evalframe.replication.bayes_factors.domains import Conditions


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A Bayes factor, held as its logarithm or as itself.

    Args:
        expr: One of the two.
        in_logs: Whether it is the logarithm, as it is by the documented rules. The original's
            values are themselves what must be reproduced.
    """

    expr: pl.Expr
    in_logs: bool

    def plain(self, name: str) -> pl.Expr:
        """The Bayes factor, under this name."""
        return (self.expr.exp() if self.in_logs else self.expr).alias(name)

    def log(self, name: str) -> pl.Expr:
        """Its natural logarithm, under this name."""
        return (self.expr if self.in_logs else self.expr.log()).alias(name)


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of Bayes factor.

    Args:
        documented: From roles, missing where null, to the logarithm.
        original: From roles, in which NaN stands apart, to the value.
        conditions: From roles to what is possible.
        scale: That of the original's prior, if it has one.
    """

    documented: Callable[..., pl.Expr]
    original: Callable[..., pl.Expr]
    conditions: Callable[..., Conditions]
    scale: float | None = None

    def factor(self, roles: Sequence[IntoExpr | None], rules: Rules, scale: Any = None) -> Factor:
        """The Bayes factor of columns of numbers, with the scale if the kind has one.

        Raises:
            ParameterError: Unknown rules, or a scale that is none.
        """
        check_rules(rules)
        settings: list[Any] = []
        if self.scale is not None:
            check_scale("scale", scale, rules, self.scale)
            settings.append(scale)
        if rules == "reference":
            return Factor(self.original(*map(number, roles), *settings), in_logs=False)
        return Factor(self.documented(*map(known, roles), *settings), in_logs=True)


def check_scale(name: str, scale: Any, rules: Rules, original: float) -> None:
    """Raise where a scale is none, or is not the original's where that must be reproduced.

    Raises:
        ParameterError: It is no number, not positive or too large to be squared, or the original
            has another.
    """
    usable = isinstance(scale, Real) and not isinstance(scale, bool)
    if not usable or not 0 < float(scale) <= _LARGEST_SCALE:
        raise ParameterError(
            f"{name} must be a number above 0 and up to {_LARGEST_SCALE:g}, got {scale!r}; usual "
            f"is {original}"
        )
    if rules == "reference" and scale != original:
        raise ParameterError(
            f'rules="reference" has the {name} {original}, got {scale!r}; leave it out, or use '
            'rules="documented"'
        )


_LARGEST_SCALE = 1e100
"""Far beyond any prior, and far from where its square is infinite."""

CAUCHY_SCALE = 0.707
"""Scale of the Cauchy prior of t, r and U: the original's three digits, not half the root of 2."""

F_SCALE = 0.5
"""Scale of the prior of F."""

T = Kind(documented.t, original.t, domains.of_t, CAUCHY_SCALE)
R = Kind(documented.r, original.r, domains.of_r, CAUCHY_SCALE)
F = Kind(documented.f, original.f, domains.of_f, F_SCALE)
U = Kind(documented.u, original.u, domains.of_u, CAUCHY_SCALE)
CHI2 = Kind(documented.chi2, original.chi2, domains.of_chi2)
BINOMIAL = Kind(documented.binomial, original.binomial, domains.of_binomial)
BOUND = Kind(documented.bound, original.bound, domains.of_p)
DIRECTIONAL_BOUND = Kind(
    documented.directional_bound, original.directional_bound, domains.of_directional_p
)
VARIANCE_RATIO = Kind(documented.variance_ratio, original.variance_ratio, domains.of_variance_ratio)
