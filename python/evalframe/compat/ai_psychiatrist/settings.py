"""Settings of the evaluation of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evalframe.compat.ai_psychiatrist import confidences as original
from evalframe.core.choices import Rules, check_choice
from evalframe.core.errors import ParameterError
from evalframe.resample.methods import Bootstrap
from evalframe.selective import confidences as sound
from evalframe.selective.conventions import fraction

if TYPE_CHECKING:
    from evalframe.selective.confidences import Calibration

RunLoss: TypeAlias = Literal["abs", "abs_norm"]

GRID = tuple(k / 10 for k in range(1, 10))
"""Default coverages at which a report gives the risk."""

PARTICIPANT = "participant_id"

_MOST = 10_000_000
"""Replicates that fit into memory."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of the evaluation of runs.

    Attributes:
        variants: Names of confidence variants, see `confidence`.
        loss: `abs` or `abs_norm` (divided by 3).
        coverage_grid: Coverages at which to give the risk, each in (0, 1].
        area_coverage: Upper end of the truncated areas, in (0, 1].
        n: Bootstrap replicates over participants; 0 for none, at most ten million.
        seed: Seed of the replicates, in [0, 2**32).
        intersection_only: True if two runs may have different participants.
        rules: `documented` or `reference`; the differences are listed at the head of `evaluation`.

    Examples:
        >>> from evalframe.compat.ai_psychiatrist import RunSettings
        >>> settings = RunSettings(variants=("verbalized",), coverage_grid=(0.5, 0.9), n=2000)
        >>> settings.signals()
        ['verbalized_confidence']
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
        check_choice("rules", self.rules, Rules)
        names = _listed("variants", self.variants)
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"variants must be names, each once, got {names}")
        _check_whole("n, the number of replicates,", self.n)
        if not 0 <= self.n <= _MOST:
            bound = "at least 0" if self.n < 0 else f"at most {_MOST:,}"
            raise ParameterError(f"n, the number of replicates, must be {bound}, got {self.n}")
        _check_whole("seed", self.seed)
        _ = self.bootstrap  # checks the range of the seed
        _fraction("area_coverage", self.area_coverage)
        self._check_grid()

    def _check_grid(self) -> None:
        grid = _listed("coverage_grid", self.coverage_grid)
        if not grid:
            raise ParameterError("the coverage grid is empty; name at least one coverage")
        labels = [f"{_fraction('a coverage of the grid', coverage):.2f}" for coverage in grid]
        twice = sorted({name for name in labels if labels.count(name) > 1})
        if twice and self.rules == "documented":
            raise ParameterError(
                f"two coverages of the grid are {twice[0]} to two decimals, which a report names "
                "them by; keep one of them"
            )

    @property
    def checked_variants(self) -> list[str]:
        """Variants whose signals are required; the original always requires evidence counts."""
        first = ["llm"] if self.rules == "reference" else []
        return list(dict.fromkeys([*first, *self.variants]))

    def signals(self, calibration: Calibration | None = None) -> list[str]:
        """The signals that these variants require of a run document."""
        needs = (
            self.confidences.requirements(name, calibration=calibration)
            for name in self.checked_variants
        )
        return sorted({need.column for each in needs for need in each})

    @property
    def confidences(self) -> Any:
        """The module of confidences that the rules choose."""
        return original if self.rules == "reference" else sound

    @property
    def bootstrap(self) -> Bootstrap | None:
        """The resampling, or None."""
        if not self.n:
            return None
        return Bootstrap(cluster=PARTICIPANT, n=self.n, seed=self.seed, interval="percentile")


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
