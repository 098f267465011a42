"""Participants' responses: test statistics, and their replicates under resampling."""
