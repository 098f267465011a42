"""Each kind of Bayes factor by both rules, and one by either."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Prior(NamedTuple):
    """How wide a prior can be.

    Attributes:
        usual: Its width, unless it is given another.
        least: The least width.
        most: The largest one.
    """

    usual: float
    least: float
    most: float

    def check(self, name: str, width: Any, rules: Rules) -> None:
        """Raise where a width is none, or another than the usual one by the original's rules.

        Raises:
            ParameterError: It says what can be given.
        """
        usable = isinstance(width, Real) and not isinstance(width, bool)
        if not usable or not self.least <= float(width) <= self.most:
            least = f"from {self.least:g} to" if self.least > _ABOVE_0 else "above 0 and up to"
            raise ParameterError(
                f"{name} must be a number {least} {self.most:g}, got {width!r}; usual is "
                f"{self.usual:g}"
            )
        if rules == "reference" and width != self.usual:
            raise ParameterError(
                f'rules="reference" has a prior of its own; leave out {name}={width!r}, or use '
                'rules="documented"'
            )


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of Bayes factor.

    Args:
        documented: From roles, missing where null, to the logarithm.
        original: From roles, in which NaN stands apart, to the value.
        conditions: From roles to what is possible.
        prior: Its prior, if it has one that can be wider or narrower.
    """

    documented: Callable[..., pl.Expr]
    original: Callable[..., pl.Expr]
    conditions: Callable[..., Conditions]
    prior: Prior | None = None

    def factor(
        self,
        roles: Sequence[IntoExpr | None],
        rules: Rules,
        width: Any = None,
        name: str = "scale",
    ) -> Factor:
        """The Bayes factor of columns of numbers.

        Args:
            roles: The columns.
            rules: By which it is made.
            width: Of the prior, if the kind has one.
            name: What callers know it as.

        Raises:
            ParameterError: Unknown rules, or a width that is none.
        """
        check_rules(rules)
        settings: list[Any] = []
        if self.prior is not None:
            self.prior.check(name, width, rules)
            settings.append(width)
        if rules == "reference":
            return Factor(self.original(*map(number, roles)), in_logs=False)
        return Factor(self.documented(*map(known, roles), *settings), in_logs=True)


_ABOVE_0 = sys.float_info.min

CAUCHY = Prior(original.CAUCHY_SCALE, _ABOVE_0, 1e100)
"""Cauchy prior of t, z and U; its largest scale is one whose square is finite."""

EFFECTS = Prior(original.F_SCALE, _ABOVE_0, 1e100)
"""Prior of the effects of F."""

STRETCHED_BETA = Prior(1.0, 1e-3, 1e2)
"""Prior of a correlation, by default with every correlation equally likely."""

T = Kind(documented.t, original.t, domains.of_t, CAUCHY)
WELCH = Kind(documented.t, original.t, domains.of_welch, CAUCHY)
SCORE = Kind(documented.t, original.t, domains.of_score, CAUCHY)
R = Kind(documented.r, original.r, domains.of_r, STRETCHED_BETA)
F = Kind(documented.f, original.f, domains.of_f, EFFECTS)
U = Kind(documented.u, original.u, domains.of_u, CAUCHY)
CHI2 = Kind(documented.chi2, original.chi2, domains.of_chi2)
WALD = Kind(documented.chi2, original.chi2, domains.of_wald)
BINOMIAL = Kind(documented.binomial, original.binomial, domains.of_binomial)
BOUND = Kind(documented.bound, original.bound, domains.of_p)
DIRECTIONAL_BOUND = Kind(
    documented.directional_bound, original.directional_bound, domains.of_directional_p
)
VARIANCE_RATIO = Kind(documented.variance_ratio, original.variance_ratio, domains.of_variance_ratio)
