"""Selective prediction: how risk grows with coverage when a system may abstain.

Importing it registers the metrics of the family.
"""

from evalframe.selective import areas, oracle, working_points
from evalframe.selective.losses import loss
from evalframe.selective.rc_curve import rc_curve

__all__ = ["areas", "loss", "oracle", "rc_curve", "working_points"]
