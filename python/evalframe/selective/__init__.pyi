"""Public names of `evalframe.selective`, each with its module."""

from evalframe.selective.screening import (
    binary_metrics as binary_metrics,
)
from evalframe.selective.calibrators.cross_fitting import cross_fit as cross_fit
from evalframe.selective.calibrators.training import feature as feature, target as target
from evalframe.selective.calibrators.maps import Grouped as Grouped
from evalframe.selective.calibrators.scalar import fit_isotonic as fit_isotonic
from evalframe.selective.calibrators.linear import (
    fit_linear as fit_linear,
    fit_logistic as fit_logistic,
)
from evalframe.selective.calibrators.maps import (
    Calibrator as Calibrator,
    Isotonic as Isotonic,
    Linear as Linear,
    Temperature as Temperature,
)
from evalframe.selective.calibrators.saved import (
    read_calibration as read_calibration,
    to_artifact as to_artifact,
    write_calibration as write_calibration,
)
from evalframe.selective.calibrators.scalar import fit_temperature as fit_temperature
from evalframe.selective.calibrators.trainer import (
    train as train,
    train_verbalized as train_verbalized,
)
from evalframe.selective.common_coverage import compare_at_coverage as compare_at_coverage
from evalframe.selective.confidences import (
    check_signals as check_signals,
    confidence as confidence,
    requirements as requirements,
    select_variants as select_variants,
    signals_contract as signals_contract,
)
from evalframe.selective.contract import (
    binary_contract as binary_contract,
    items_contract as items_contract,
    loss as loss,
)
from evalframe.selective.curves import reliability_table as reliability_table
from evalframe.selective.curves import rc_curve as rc_curve
from evalframe.selective.total_score import (
    is_mdd as is_mdd,
    severity_tier as severity_tier,
)
from evalframe.selective.signals import (
    SIGNALS as SIGNALS,
    consistency as consistency,
    consistency_modal_confidence as consistency_modal_confidence,
    consistency_score_std as consistency_score_std,
    token_energy as token_energy,
    token_msp as token_msp,
    token_pe as token_pe,
)
from evalframe.selective.threshold_choice import thresholds as thresholds
from evalframe.selective.total_score import (
    total_score_metrics as total_score_metrics,
    total_scores as total_scores,
)

__all__: list[str]
