"""Selective prediction: how risk grows with coverage when a system may abstain."""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
