"""Calibrators: maps from signals to the probability that an item is right."""
