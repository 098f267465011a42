"""The public names, re-exported one by one."""

from evalframe import rag, selective
from evalframe.comparison import compare
from evalframe.core.errors import EvalframeError
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
from evalframe.selective.calibration_error import (
    adaptive_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    squared_calibration_error,
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
from evalframe.selective.roc import auroc
from evalframe.selective.score_error import (
    macro_mean_absolute_error,
    mean_absolute_error,
    pearson_correlation,
    root_mean_squared_error,
)
from evalframe.selective.scoring import (
    brier_reliability,
    brier_resolution,
    brier_score,
    brier_skill,
    brier_uncertainty,
    mean_confidence,
    negative_log_likelihood,
    overconfidence,
)
from evalframe.selective.screening import (
    accuracy,
    f1_score,
    false_negatives,
    false_positives,
    precision,
    recall,
    true_negatives,
    true_positives,
)
from evalframe.selective.severity import severity_tier_accuracy
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
    "EvalframeError",
    "Jackknife",
    "Linearized",
    "State",
    "accuracy",
    "achievable_gain_pct",
    "achieved_coverage_at",
    "adaptive_calibration_error",
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
    "auroc",
    "before",
    "brier_reliability",
    "brier_resolution",
    "brier_score",
    "brier_skill",
    "brier_uncertainty",
    "compare",
    "coverage",
    "coverage_at_risk",
    "eaugrc",
    "eaurc",
    "evaluate",
    "expected_calibration_error",
    "f1_score",
    "false_negatives",
    "false_positives",
    "finish",
    "generalized_risk",
    "level",
    "macro_mean_absolute_error",
    "maximum_calibration_error",
    "mean_absolute_error",
    "mean_confidence",
    "merge",
    "metric",
    "metric_set",
    "negative_log_likelihood",
    "overconfidence",
    "own",
    "partial",
    "pearson_correlation",
    "precision",
    "rag",
    "ratio",
    "recall",
    "risk_at",
    "root_mean_squared_error",
    "selective",
    "selective_risk",
    "severity_tier_accuracy",
    "squared_calibration_error",
    "total",
    "true_negatives",
    "true_positives",
    "variant",
]
