"""The names of the selective family, re-exported one by one."""

from evalframe.selective.binary import binary_contract, binary_metrics
from evalframe.selective.calibrators import (
    Calibrator,
    Grouped,
    Isotonic,
    Linear,
    Temperature,
    cross_fit,
    feature,
    fit_isotonic,
    fit_linear,
    fit_logistic,
    fit_temperature,
    read_calibration,
    target,
    to_artifact,
    train,
    train_verbalized,
    write_calibration,
)
from evalframe.selective.common_coverage import compare_at_coverage
from evalframe.selective.confidences import (
    check_signals,
    confidence,
    requirements,
    select_variants,
    signals_contract,
)
from evalframe.selective.contract import items_contract
from evalframe.selective.losses import loss
from evalframe.selective.reliability import reliability_table
from evalframe.selective.risk_coverage import rc_curve
from evalframe.selective.severity import is_mdd, severity_tier
from evalframe.selective.signals import (
    SIGNALS,
    consistency,
    consistency_modal_confidence,
    consistency_score_std,
    token_energy,
    token_msp,
    token_pe,
)
from evalframe.selective.threshold_choice import thresholds
from evalframe.selective.total_score import total_score_metrics, total_scores

__all__ = [
    "SIGNALS",
    "Calibrator",
    "Grouped",
    "Isotonic",
    "Linear",
    "Temperature",
    "binary_contract",
    "binary_metrics",
    "check_signals",
    "compare_at_coverage",
    "confidence",
    "consistency",
    "consistency_modal_confidence",
    "consistency_score_std",
    "cross_fit",
    "feature",
    "fit_isotonic",
    "fit_linear",
    "fit_logistic",
    "fit_temperature",
    "is_mdd",
    "items_contract",
    "loss",
    "rc_curve",
    "read_calibration",
    "reliability_table",
    "requirements",
    "select_variants",
    "severity_tier",
    "signals_contract",
    "target",
    "thresholds",
    "to_artifact",
    "token_energy",
    "token_msp",
    "token_pe",
    "total_score_metrics",
    "total_scores",
    "train",
    "train_verbalized",
    "write_calibration",
]
