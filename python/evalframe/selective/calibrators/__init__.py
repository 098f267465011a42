"""Calibrators: maps from signals to the probability that an item is right."""

from evalframe.selective.calibrators.cross_fitting import cross_fit
from evalframe.selective.calibrators.features import check_present, feature, feature_default, target
from evalframe.selective.calibrators.grouped import Grouped
from evalframe.selective.calibrators.isotonic import fit_isotonic
from evalframe.selective.calibrators.linear import fit_linear, fit_logistic
from evalframe.selective.calibrators.maps import Calibrator, Isotonic, Linear, Temperature
from evalframe.selective.calibrators.saved import (
    read_calibration,
    to_artifact,
    write_calibration,
)
from evalframe.selective.calibrators.temperature import fit_temperature
from evalframe.selective.calibrators.trainer import train, train_verbalized

__all__ = [
    "Calibrator",
    "Grouped",
    "Isotonic",
    "Linear",
    "Temperature",
    "check_present",
    "cross_fit",
    "feature",
    "feature_default",
    "fit_isotonic",
    "fit_linear",
    "fit_logistic",
    "fit_temperature",
    "read_calibration",
    "target",
    "to_artifact",
    "train",
    "train_verbalized",
    "write_calibration",
]
