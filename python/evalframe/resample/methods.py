"""How uncertainty is asked for: bootstrap, jackknife, or linearised standard errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, SupportsIndex, TypeAlias

from evalframe.core.errors import ParameterError
from evalframe.core.rules import check_choice, check_rules

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

Interval: TypeAlias = Literal["percentile", "basic", "normal", "bca"]
Draws: TypeAlias = Literal["reference", "counter", "poisson"]
Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """Resample whole clusters with replacement.

    Draws are made once for each number of clusters and shared by all metrics and all groups that
    have that number, so groups with the same clusters are resampled alike. Clusters are numbered
    in the order of their ids. Replicates in which a metric is undefined are dropped, and their
    share is reported as `drop_rate`.

    Attributes:
        cluster: What is drawn: participants, questions, studies; a column or an expression.
        n: Number of replicates.
        seed: Of the generator.
        interval: `percentile` (the default, of the selective system), `basic` (reflected),
            `normal` (estimate and standard error) or `bca` (bias-corrected and accelerated by the
            jackknife; the best calibrated for skewed metrics).
        level: Nominal coverage of the interval.
        draws: `reference`: numpy's legacy Mersenne Twister as the selective system calls it, so
            that its published intervals come out digit for digit. `counter`: each draw a hash of
            seed, replicate and slot, independent of chunks and order. `poisson`: Poisson(1)
            weights, each a hash of seed, replicate and cluster id, independent also of which
            other clusters there are, hence for shards that are resampled apart.
        rules: `documented`: an interval needs two valid replicates, or is null. `reference`: the
            original's fall-backs, that is the point or 0 for the interval and 0 for the standard
            error, and NaN replicates are kept and spoil the interval.
        progress: Called with replicates done and in all; by default long runs report on a
            terminal.

    Raises:
        ParameterError: A value lies outside its domain.
    """

    cluster: IntoExpr
    n: int = 1000
    seed: int = 42
    interval: Interval = "percentile"
    level: float = 0.95
    draws: Draws = "reference"
    rules: Rules = "documented"
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.n, SupportsIndex) or self.n < 1:
            raise ParameterError(
                f"n, the number of replicates, must be a whole number of at least 1, got {self.n!r}"
            )
        if not isinstance(self.seed, SupportsIndex) or not 0 <= self.seed < 2**32:
            raise ParameterError(f"seed must lie in [0, 2**32), got {self.seed!r}")
        check_choice("interval", self.interval, Interval)
        check_choice("draws", self.draws, Draws)
        check_rules(self.rules)
        _check_level(self.level)

    @property
    def lenient(self) -> bool:
        """Whether a single cluster is taken as it is, as the original does."""
        return self.rules == "reference"


@dataclass(frozen=True, kw_only=True)
class Jackknife:
    """Leave out one cluster at a time; normal intervals.

    Attributes:
        cluster: What is left out; a column or an expression.
        level: Nominal coverage of the interval.
        progress: Called with replicates done and in all.
    """

    cluster: IntoExpr
    level: float = 0.95
    progress: Progress | None = None
    lenient: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_level(self.level)


@dataclass(frozen=True, kw_only=True)
class Linearized:
    """Standard errors without resampling: the metric's derivative by each cluster's weight.

    For a mean this is the cluster-robust (sandwich) standard error, with the usual factor
    P / (P - 1) for P clusters; without a cluster, the naive one of independent rows. Null where
    the metric jumps, as `risk_at` does at a coverage that is just reached: use the bootstrap.

    Attributes:
        cluster: What is independent; None takes every row as a cluster of its own.
        level: Nominal coverage of the normal interval.
        progress: Called with replicates done and in all.
    """

    cluster: IntoExpr | None = None
    level: float = 0.95
    progress: Progress | None = None
    lenient: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_level(self.level)


Method: TypeAlias = Bootstrap | Jackknife | Linearized


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level must lie in (0, 1), got {level!r}; 0.95 is customary")
