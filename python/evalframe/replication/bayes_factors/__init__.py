"""Bayes factors of test statistics, as expressions and for complete tables."""
