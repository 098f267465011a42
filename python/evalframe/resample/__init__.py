"""Uncertainty from additive states: draws, contraction, intervals. Knows states, knows no metric."""
