"""Selective prediction: how risk grows with coverage when a system may abstain."""
