"""How runs are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evalframe.core.errors import ParameterError
from evalframe.core.rules import Rules, check_choice, check_rules
from evalframe.resample.methods import Bootstrap
from evalframe.selective.areas import fraction
from evalframe.selective.confidences import requirements

if TYPE_CHECKING:
    from evalframe.selective.signal_contract import Calibration

RunLoss: TypeAlias = Literal["abs", "abs_norm"]

GRID = tuple(k / 10 for k in range(1, 10))
"""Coverages at which a report gives the risk, unless told otherwise."""

PARTICIPANT = "participant_id"

_MOST = 10_000_000
"""Replicates that can be held."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How runs are evaluated.

    Attributes:
        variants: Names of confidence variants, see `confidence`.
        loss: `abs` or `abs_norm` (divided by 3).
        coverage_grid: Coverages at which to give the risk, each in (0, 1].
        area_coverage: Upper end of the truncated areas, in (0, 1].
        n: Bootstrap replicates over participants, those of the original; 0 for none, at most ten
            million.
        seed: Of the replicates, in [0, 2**32).
        intersection_only: Whether two runs may differ in their participants.
        rules: `documented` or `reference`; the differences are listed at the head of
            `run_evaluation`.

    Raises:
        ParameterError: A setting lies outside its domain.

    Examples:
        >>> settings = RunSettings(variants=("verbalized",), coverage_grid=(0.5, 0.9), n=2000)
        >>> settings.loss, settings.bootstrap.cluster
        ('abs_norm', 'participant_id')
        >>> settings.signals()
        ['verbalized_confidence']
        >>> RunSettings(coverage_grid=(50,))
        Traceback (most recent call last):
        evalframe.core.errors.ParameterError: a coverage of the grid must lie in (0, 1], got
        50.0; 0.5 means half of all items
    """

    variants: tuple[str, ...] = ("llm", "total_evidence")
    loss: RunLoss = "abs_norm"
    coverage_grid: tuple[float, ...] = GRID
    area_coverage: float = 0.5
    n: int = 10_000
    seed: int = 42
    intersection_only: bool = False
    rules: Rules = "documented"

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, RunLoss)
        check_rules(self.rules)
        names = _listed("variants", self.variants)
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"variants must be names, each once, got {names}")
        _check_whole("n, the number of replicates,", self.n)
        if not 0 <= self.n <= _MOST:
            bound = "at least 0" if self.n < 0 else f"at most {_MOST:,}"
            raise ParameterError(f"n, the number of replicates, must be {bound}, got {self.n}")
        _check_whole("seed", self.seed)
        _ = self.bootstrap  # which checks the range of the seed
        _fraction("area_coverage", self.area_coverage)
        self._check_grid()

    def _check_grid(self) -> None:
        grid = _listed("coverage_grid", self.coverage_grid)
        if not grid:
            raise ParameterError("the coverage grid is empty; name at least one coverage")
        shown = [f"{_fraction('a coverage of the grid', coverage):.2f}" for coverage in grid]
        twice = sorted({name for name in shown if shown.count(name) > 1})
        if twice and self.rules == "documented":
            raise ParameterError(
                f"two coverages of the grid are {twice[0]} to two decimals, which a report names "
                "them by; keep one of them"
            )

    @property
    def needed(self) -> list[str]:
        """The variants whose signals must be there: the original counts evidence in any case."""
        first = ["llm"] if self.rules == "reference" else []
        return list(dict.fromkeys([*first, *self.variants]))

    def signals(self, calibration: Calibration | None = None) -> list[str]:
        """The signals that a run document must have for these variants."""
        asked = (
            requirements(name, calibration=calibration, rules=self.rules) for name in self.needed
        )
        return sorted({each.column for every in asked for each in every})

    @property
    def bootstrap(self) -> Bootstrap | None:
        """The resampling, if there is any."""
        if not self.n:
            return None
        return Bootstrap(
            cluster=PARTICIPANT,
            n=self.n,
            seed=self.seed,
            interval="percentile",
            rules=self.rules,
        )


def _listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ParameterError(f"{name} must be a tuple, got {value!r}")
    return list(value)


def _check_whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(f"{name} must be a whole number, got {value!r}")


def _fraction(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} must be a number in (0, 1], got {value!r}")
    return fraction(name, float(value))
