"""Calibrators: maps from signals to how likely an item is right, fitted, applied, kept as files.

`rules="documented"`, the default, is what the methods say, made sound; `rules="reference"` is what
the original program (ai-psychiatrist 36e9fba) computes. They differ in these points only:

| where | documented | reference |
|---|---|---|
| `fit_temperature` | the optimum of the likelihood, to 1e-9 | the best point of three grids |
| its likelihood | of the scaled probability | of it clipped to [1e-6, 1 - 1e-6] once more |
| its `correct` | 0 or 1, others are refused | cut to an integer |
| its confidence outside [0, 1] | refused | clipped |
| `train`, signal null or NaN | refused, with the number of rows | 0.0, or 3.0 for a confidence |
| `train`, no such column | refused | the same default for all rows |
| `read_calibration`, T <= 0 or NaN | an error | read; `apply` raises |
| its arrays of unequal lengths | an error | read; `apply` raises |
| its knots that do not ascend | an error | read; `apply` raises if those of x do not |
| its `features` of a temperature | read, must name one | ignored |
| its `features` of the same name | an error | read as if they were two |
| its `schema_version`, where there is one | must be "1" | ignored |

Differences that have no switch:

| where | here | original |
|---|---|---|
| `fit_logistic` | the exact optimum | lbfgs that stops early, up to 3e-3 away |
| `auc_roc` of one class | null | NaN, which is no JSON |
| NaN or null in a column that is calibrated | null | an error, or NaN |
| a scaler with std 0, NaN or infinity in an artifact | an error when read or applied | NaN |
| features of the same name | refused | fitted as if they were two |
| features of items that are true, false or text | numbers, read as such | an error |
| `train_verbalized`, a stated confidence that is true | an error of the reader | 1 |
| its items without a label | refused | an answer that is wrong |
| `validation_metrics` | in-sample; `folds` adds cross-validated ones | in-sample |

For signals given as `feature(name)` the original's defaults apply under both rules.
"""

from evalframe.selective.calibrators.artifacts import (
    read_calibration,
    to_artifact,
    write_calibration,
)
from evalframe.selective.calibrators.cross_fitting import cross_fit
from evalframe.selective.calibrators.features import feature, feature_default, target
from evalframe.selective.calibrators.grouped import Grouped
from evalframe.selective.calibrators.isotonic import fit_isotonic
from evalframe.selective.calibrators.linear import fit_linear, fit_logistic
from evalframe.selective.calibrators.maps import Calibrator, Isotonic, Linear, Temperature
from evalframe.selective.calibrators.scripts import train, train_verbalized
from evalframe.selective.calibrators.temperature import fit_temperature

__all__ = [
    "Calibrator",
    "Grouped",
    "Isotonic",
    "Linear",
    "Temperature",
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
