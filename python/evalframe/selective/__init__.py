"""Selective prediction: how risk grows with coverage when a system may abstain."""

from evalframe.selective.losses import loss
from evalframe.selective.rc_curve import rc_curve

__all__ = ["loss", "rc_curve"]
