"""How runs are evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.resample.methods import Bootstrap
from evalframe.selective.areas import fraction
from evalframe.selective.confidences import requirements

if TYPE_CHECKING:
    from evalframe.selective.signal_contract import Calibration

RunLoss: TypeAlias = Literal["abs", "abs_norm"]
Rules: TypeAlias = Literal["documented", "reference"]

GRID = tuple(k / 10 for k in range(1, 10))
"""Coverages at which a report gives the risk, unless told otherwise."""

PARTICIPANT = "participant_id"


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How runs are evaluated.

    Attributes:
        variants: Names of confidence variants, see `confidence`.
        loss: `abs` or `abs_norm` (divided by 3).
        coverage_grid: Coverages at which to give the risk, each in (0, 1].
        area_coverage: Upper end of the truncated areas, in (0, 1].
        n: Bootstrap replicates over participants, those of the original; 0 for none.
        seed: Of the replicates.
        intersection_only: Whether two runs may differ in their participants.
        rules: `documented` or `reference`; the differences are listed at the head of
            `run_evaluation`.

    Raises:
        ParameterError: A setting lies outside its domain.
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
        for name, known in (("loss", get_args(RunLoss)), ("rules", get_args(Rules))):
            if getattr(self, name) not in known:
                raise UnknownNameError.of(name, getattr(self, name), known)
        if not self.variants or len(set(self.variants)) < len(self.variants):
            raise ParameterError(f"variants must be names, each once, got {list(self.variants)}")
        if self.n < 0:
            raise ParameterError(f"n, the number of replicates, must be at least 0, got {self.n}")
        _ = self.bootstrap  # which checks the seed
        fraction("area_coverage", self.area_coverage)
        if not self.coverage_grid:
            raise ParameterError("the coverage grid is empty; name at least one coverage")
        shown = [f"{fraction('a coverage of the grid', c):.2f}" for c in self.coverage_grid]
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
        return Bootstrap(cluster=PARTICIPANT, n=self.n, seed=self.seed, rules=self.rules)
