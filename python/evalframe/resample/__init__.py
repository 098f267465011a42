"""Uncertainty from additive states: draws, contraction, intervals. Knows states, no metric."""
