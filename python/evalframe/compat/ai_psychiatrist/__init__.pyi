"""Public names of `evalframe.compat.ai_psychiatrist`, each with its module."""

from evalframe.compat.ai_psychiatrist.artifact import (
    evaluation_artifact as evaluation_artifact,
    write_artifact as write_artifact,
)
from evalframe.compat.ai_psychiatrist.calibration import (
    fit_temperature as fit_temperature,
    read_calibration as read_calibration,
    train as train,
    train_verbalized as train_verbalized,
)
from evalframe.compat.ai_psychiatrist.confidences import (
    check_signals as check_signals,
    confidence as confidence,
    expected_calibration_error as expected_calibration_error,
    f1_score as f1_score,
    negative_log_likelihood as negative_log_likelihood,
    requirements as requirements,
)
from evalframe.compat.ai_psychiatrist.evaluation import (
    RunEvaluation as RunEvaluation,
    evaluate_runs as evaluate_runs,
)
from evalframe.compat.ai_psychiatrist.resampling import (
    compare as compare,
    evaluate as evaluate,
)
from evalframe.compat.ai_psychiatrist.run_error import (
    item_errors as item_errors,
    run_errors as run_errors,
    subject_errors as subject_errors,
)
from evalframe.compat.ai_psychiatrist.runs import (
    Run as Run,
    open_run as open_run,
    read_run as read_run,
    run_of_items as run_of_items,
)
from evalframe.compat.ai_psychiatrist.settings import RunSettings as RunSettings
from evalframe.compat.ai_psychiatrist.writer import (
    encode_run as encode_run,
    sample_document as sample_document,
    write_run as write_run,
)
from evalframe.core.errors import RunWarning as RunWarning

__all__: list[str]
