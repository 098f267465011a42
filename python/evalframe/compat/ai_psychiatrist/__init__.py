"""ai-psychiatrist (36e9fba): run documents, their evaluation, artifacts, calibrators.

The metrics, losses, signals, confidences and fits of `evalframe.selective` give the program's
values, except where this package has a function of the same name.
"""

from evalframe.compat.ai_psychiatrist.artifact import evaluation_artifact, write_artifact
from evalframe.compat.ai_psychiatrist.calibration import (
    fit_temperature,
    read_calibration,
    train,
    train_verbalized,
)
from evalframe.compat.ai_psychiatrist.confidences import check_signals, confidence, requirements
from evalframe.compat.ai_psychiatrist.evaluation import RunEvaluation, evaluate_runs
from evalframe.compat.ai_psychiatrist.metrics import (
    expected_calibration_error,
    f1_score,
    negative_log_likelihood,
)
from evalframe.compat.ai_psychiatrist.resampling import compare, evaluate
from evalframe.compat.ai_psychiatrist.run_error import item_errors, run_errors, subject_errors
from evalframe.compat.ai_psychiatrist.runs import Run, open_run, read_run, run_of_items
from evalframe.compat.ai_psychiatrist.sample import sample_document
from evalframe.compat.ai_psychiatrist.settings import RunSettings
from evalframe.compat.ai_psychiatrist.writer import encode_run, write_run
from evalframe.core.errors import RunWarning

__all__ = [
    "Run",
    "RunEvaluation",
    "RunSettings",
    "RunWarning",
    "check_signals",
    "compare",
    "confidence",
    "encode_run",
    "evaluate",
    "evaluate_runs",
    "evaluation_artifact",
    "expected_calibration_error",
    "f1_score",
    "fit_temperature",
    "item_errors",
    "negative_log_likelihood",
    "open_run",
    "read_calibration",
    "read_run",
    "requirements",
    "run_errors",
    "run_of_items",
    "sample_document",
    "subject_errors",
    "train",
    "train_verbalized",
    "write_artifact",
    "write_run",
]


def __dir__() -> list[str]:
    return __all__
