"""The names of the selective family, re-exported one by one."""

from evalframe.selective.artifact import evaluation_artifact, write_artifact
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
from evalframe.selective.confidences import confidence, select_variants
from evalframe.selective.contract import items_contract
from evalframe.selective.losses import loss
from evalframe.selective.reliability import reliability_table
from evalframe.selective.risk_coverage import rc_curve
from evalframe.selective.run_error import item_errors, run_errors, subject_errors
from evalframe.selective.run_evaluation import RunEvaluation, evaluate_runs
from evalframe.selective.run_settings import RunSettings
from evalframe.selective.runs import (
    Run,
    RunWarning,
    encode_run,
    open_run,
    read_run,
    run_of_items,
    write_run,
)
from evalframe.selective.severity import is_mdd, severity_tier
from evalframe.selective.signal_contract import check_signals, requirements, signals_contract
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
    "Run",
    "RunEvaluation",
    "RunSettings",
    "RunWarning",
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
    "encode_run",
    "evaluate_runs",
    "evaluation_artifact",
    "feature",
    "fit_isotonic",
    "fit_linear",
    "fit_logistic",
    "fit_temperature",
    "is_mdd",
    "item_errors",
    "items_contract",
    "loss",
    "open_run",
    "rc_curve",
    "read_calibration",
    "read_run",
    "reliability_table",
    "requirements",
    "run_errors",
    "run_of_items",
    "select_variants",
    "severity_tier",
    "signals_contract",
    "subject_errors",
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
    "write_artifact",
    "write_calibration",
    "write_run",
]
