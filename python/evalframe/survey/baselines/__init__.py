"""Baselines of a survey: what a score is worth."""
