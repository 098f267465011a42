"""The public names, re-exported one by one."""

from evalframe import selective
from evalframe.comparison import compare
from evalframe.core.metric import metric, metric_set, variant
from evalframe.core.state import Axis, State, at, before, level, own, ratio, total
from evalframe.evaluation import evaluate, finish, merge, partial
from evalframe.resample.methods import Bootstrap, Jackknife, Linearized
from evalframe.selective.areas import (
    augrc,
    augrc_at,
    augrc_normalized,
    aurc,
    aurc_at,
    aurc_normalized,
)
from evalframe.selective.oracle import (
    achievable_gain_pct,
    augrc_gap_pct,
    augrc_optimal,
    aurc_achievable,
    aurc_gap_pct,
    aurc_optimal,
    eaugrc,
    eaurc,
)
from evalframe.selective.working_points import (
    achieved_coverage_at,
    coverage,
    coverage_at_risk,
    generalized_risk,
    risk_at,
    selective_risk,
)

__all__ = [
    "Axis",
    "Bootstrap",
    "Jackknife",
    "Linearized",
    "State",
    "achievable_gain_pct",
    "achieved_coverage_at",
    "at",
    "augrc",
    "augrc_at",
    "augrc_gap_pct",
    "augrc_normalized",
    "augrc_optimal",
    "aurc",
    "aurc_achievable",
    "aurc_at",
    "aurc_gap_pct",
    "aurc_normalized",
    "aurc_optimal",
    "before",
    "compare",
    "coverage",
    "coverage_at_risk",
    "eaugrc",
    "eaurc",
    "evaluate",
    "finish",
    "generalized_risk",
    "level",
    "merge",
    "metric",
    "metric_set",
    "own",
    "partial",
    "ratio",
    "risk_at",
    "selective",
    "selective_risk",
    "total",
    "variant",
]
