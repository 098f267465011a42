"""Participants' responses: test statistics, and their replicates under resampling."""

from evalframe.replication.participants.replicates import resampled_statistics
from evalframe.replication.participants.statistics import participant_statistics
from evalframe.replication.participants.unmatched import unmatched_responses

__all__ = ["participant_statistics", "resampled_statistics", "unmatched_responses"]
