"""Tests, intervals and decompositions of scores."""
