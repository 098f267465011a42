"""Logs of evaluations that other programs wrote, read as one items table.

A row is a sample, an epoch and a score, whatever the format: Inspect, lm-evaluation-harness, HELM,
Every Eval Ever.
"""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
